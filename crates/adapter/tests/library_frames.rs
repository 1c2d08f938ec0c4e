//! Frames of the standard libraries, even when their sources are installed: subtle in the stack, normal for a user who steps into the
//! library.

use crate::support;
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// The frames of a thread, with their presentation hints.
fn frames(session: &Session, thread: i64) -> Vec<StackFrame> {
    let arguments = StackTraceArguments::new(thread);
    session.ok::<StackTraceRequest>(arguments).stack_frames
}

fn is_aside(frame: &StackFrame) -> bool {
    let source = frame.source.as_ref();
    let hint = source.and_then(|source| source.presentation_hint.clone());
    let subtle = frame.presentation_hint == Some(StackFramePresentationHint::Subtle);
    assert_eq!(
        subtle,
        hint == Some(SourcePresentationHint::Deemphasize),
        "{frame:?}"
    );
    subtle
}

fn is_header(frame: &StackFrame) -> bool {
    support::file_of(frame).is_some_and(|file| file.starts_with("/usr/include/c++/"))
}

#[test]
fn frames_of_a_library_with_sources_are_shown_aside() {
    let fixture = Fixture::new("step.cpp");
    let session = Session::started(&fixture, json!({"skip": []}), &["predicate"]);
    let stop = session.stopped_at(&fixture, "predicate", StoppedEventReason::Breakpoint);
    let stack = frames(&session, stop.thread);
    assert!(!is_aside(&stack[0]), "{:?}", stack[0]);
    let library = stack.iter().filter(|frame| is_header(frame)).count();
    assert!(library > 1, "std::sort has called it: {stack:#?}");
    for frame in stack.iter().filter(|frame| is_header(frame)) {
        assert!(is_aside(frame), "{frame:?}");
    }
    let main = stack
        .iter()
        .find(|frame| frame.name == "main")
        .expect("it is there");
    assert!(!is_aside(main));

    // A user who steps into the library wants to see it.
    session.ok::<SetBreakpointsRequest>(SetBreakpointsArguments::new(
        Source::new().with_path(fixture.path()),
    ));
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    let stack = frames(&session, stop.thread);
    assert!(is_header(&stack[0]), "{:?}", stack[0]);
    assert!(!is_aside(&stack[0]), "{:?}", stack[0]);
    assert!(
        stack[1..]
            .iter()
            .filter(|frame| is_header(frame))
            .all(is_aside)
    );
    session.disconnect();
}

#[test]
fn what_was_not_wanted_there_is_shown_in_the_users_code() {
    let fixture = Fixture::new("step.cpp");
    let session = Session::started(&fixture, json!({"skip": []}), &["predicate"]);
    let stop = session.stopped_at(&fixture, "predicate", StoppedEventReason::Breakpoint);
    let arguments = session.scope(&stop.top, "Locals").variables_reference;
    let info = DataBreakpointInfoArguments::new("left").with_variables_reference(arguments);
    let watched = session.ok::<DataBreakpointInfoRequest>(info).data_id;
    let watched = DataBreakpoint::new(watched.expect("it can be watched"));
    let arguments = SetDataBreakpointsArguments::new(vec![watched]);
    let answers = session.ok::<SetDataBreakpointsRequest>(arguments);
    assert!(answers.breakpoints[0].verified, "{answers:?}");
    session.resume(stop.thread);
    let gone = session.stopped(StoppedEventReason::DataBreakpoint);
    assert_eq!(
        gone.event.text.as_deref(),
        Some("the function was left whose frame had `left`")
    );
    let stack = frames(&session, gone.thread);
    assert!(is_header(&stack[0]), "{:?}", stack[0]);
    let aside = stack.iter().take_while(|frame| is_aside(frame)).count();
    assert_eq!(stack[aside].name, "main", "{stack:#?}");
    session.disconnect();
}
