//! Texts of sources: files, and the disassembly of functions without a source.

use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;

fn of_reference(reference: i64) -> SourceArguments {
    let source = Source::new().with_source_reference(reference);
    SourceArguments::new(reference).with_source(source)
}

fn of_path(path: &str) -> SourceArguments {
    SourceArguments::new(0).with_source(Source::new().with_path(path))
}

/// The frame of a function without debug information, its source reference, and the text of its line.
#[track_caller]
fn through(session: &Session, stop: &Stopped) -> (StackFrame, i64, String) {
    let stack = session.stack(stop.thread);
    let frame = stack.into_iter().find(|frame| frame.name == "through");
    let frame = frame.expect("the function is on the stack");
    let source = frame.source.clone().expect("it has a source");
    assert_eq!(source.path, None);
    assert_eq!(source.name.as_deref(), Some("through (disassembly)"));
    let reference = source.source_reference.expect("a reference");
    let text = session.ok::<SourceRequest>(of_reference(reference)).content;
    let line = text.lines().nth(frame.line as usize - 1);
    let line = line.expect("the frame's line is in the text").to_owned();
    (frame, reference, line)
}

#[test]
fn a_frame_without_a_source_is_in_its_functions_disassembly() {
    let fixture = Fixture::new("unlined.c");
    let session = Session::started(&fixture, json!({}), &["called"]);
    let stop = session.stopped_at(&fixture, "called", StoppedEventReason::Breakpoint);
    let (frame, reference, line) = through(&session, &stop);
    assert!(
        line.contains("call 0x") && line.ends_with(" <called>"),
        "{line}"
    );
    let answer = session.ok::<SourceRequest>(of_reference(reference));
    let texts: Vec<&str> = answer
        .content
        .lines()
        .map(|line| line.split_once(">  ").expect("a distance").1)
        .collect();
    assert_eq!(texts[..2], ["push rbp", "mov edi, 0x14"]);
    assert_eq!(texts[3..], ["add eax, 1", "pop rbp", "ret"]);
    assert!(answer.content.starts_with("0x") && answer.content.contains(" <+0x0000>  push"));
    assert_eq!(answer.mime_type.as_deref(), Some("text/x-asm"));

    // Stops at the instruction behind the call, to which the thread returns.
    let behind = answer.content.lines().nth(frame.line as usize);
    let behind = behind.and_then(|line| line.split(' ').next());
    let wanted = vec![InstructionBreakpoint::new(behind.expect("an address"))];
    let arguments = SetInstructionBreakpointsArguments::new(wanted);
    session.ok::<SetInstructionBreakpointsRequest>(arguments);
    session.resume(stop.thread);
    let stop = session.stopped(StoppedEventReason::InstructionBreakpoint);
    assert_eq!(
        (&*stop.top.name, stop.top.line),
        ("through", frame.line + 1)
    );

    session.ok::<SetInstructionBreakpointsRequest>(SetInstructionBreakpointsArguments::new(vec![]));

    // A write elsewhere in memory doesn't invalidate the source.
    let at = stop.top.instruction_pointer_reference.clone();
    let code = ReadMemoryArguments::new(at.clone().expect("a reference"), 1);
    let code = session.ok::<ReadMemoryRequest>(code).data.expect("a byte");
    let same = WriteMemoryArguments::new(at.expect("a reference"), code);
    session.ok::<WriteMemoryRequest>(same);
    assert_eq!(through(&session, &stop).1, reference);

    // The source is the same at the next stop, and for the deprecated form of the request.
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "called", StoppedEventReason::Breakpoint);
    assert_eq!(through(&session, &stop).1, reference);
    let older = session.ok::<SourceRequest>(SourceArguments::new(reference));
    assert_eq!(older.content, answer.content);

    // A breakpoint on a line of the disassembly stops. A breakpoint on a line without an instruction is refused.
    let lines = [frame.line + 1, 77, frame.line + 3];
    let lines = lines.map(SourceBreakpoint::new).to_vec();
    let source = frame.source.clone().expect("a source");
    let set = SetBreakpointsArguments::new(source.clone()).with_breakpoints(lines);
    let set = session.ok::<SetBreakpointsRequest>(set).breakpoints;
    let verified: Vec<bool> = set.iter().map(|one| one.verified).collect();
    assert_eq!(verified, [true, false, true], "{set:?}");
    assert_eq!(set[0].line, Some(frame.line + 1));
    let in_it = set[0]
        .source
        .as_ref()
        .and_then(|source| source.source_reference);
    assert_eq!(in_it, Some(reference));
    assert!(
        set[1]
            .message
            .as_deref()
            .is_some_and(|why| why.contains("no instruction"))
    );
    // Setting instruction breakpoints doesn't remove these.
    session.ok::<SetInstructionBreakpointsRequest>(SetInstructionBreakpointsArguments::new(vec![]));
    for place in [0, 2] {
        session.resume(stop.thread);
        let hit = session.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(
            hit.event.hit_breakpoint_ids,
            set[place].id.map(|id| vec![id])
        );
        assert_eq!(Some(hit.top.line), set[place].line);
    }
    let none = SetBreakpointsArguments::new(source).with_breakpoints(vec![]);
    session.ok::<SetBreakpointsRequest>(none);

    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let refusal = session.refused::<SourceRequest>(of_reference(reference));
    assert_eq!(refusal.sentence, "the program has ended");
    session.disconnect();
}

#[test]
fn a_file_has_its_text_and_what_is_none_is_named() {
    let fixture = Fixture::new("unlined.c");
    let session = Session::new();
    let text = session
        .ok::<SourceRequest>(of_path(&fixture.path()))
        .content;
    assert_eq!(
        text,
        std::fs::read_to_string(fixture.path()).expect("the fixture")
    );
    for (arguments, part) in [
        (
            of_path("/nowhere/at/all.c"),
            "/nowhere/at/all.c can't be read: No such file",
        ),
        (
            of_path("/dev/zero"),
            "/dev/zero can't be read: it is no file",
        ),
        (of_reference(77), "there is no source 77"),
        (SourceArguments::new(0), "neither a path nor a reference"),
    ] {
        let message = session.refused::<SourceRequest>(arguments).sentence;
        assert!(message.contains(part), "{message}");
    }
    session.disconnect();
}
