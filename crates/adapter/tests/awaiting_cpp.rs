//! Call stacks of C++20's coroutines: who awaits the one that runs is shown with the place and variables, though a scheduler has resumed it.

use crate::awaits::begun;
use crate::awaits_cpp::{OPTIMISED, fixtures, with_gcc};
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::types::*;

/// The frames before the scheduler's: names with the marks of their lines; texts between frames as they are.
fn stack(session: &Session, fixture: &Fixture, stop: &Stopped) -> Vec<(String, StackFrame)> {
    let frames = session.stack(stop.thread).into_iter();
    let label =
        |frame: &StackFrame| frame.presentation_hint == Some(StackFramePresentationHint::Label);
    let shown = frames.map(|frame| match label(&frame) {
        true => (frame.name.clone(), frame),
        false => {
            // In optimised code, it may not be known where a coroutine is suspended.
            let has_line = frame.line > 0;
            let mark = has_line.then(|| fixture.mark_of(frame.line));
            (
                format!("{} {}", frame.name, mark.unwrap_or_default()),
                frame,
            )
        }
    });
    let mut until = true;
    shown
        .take_while(|(name, _)| std::mem::replace(&mut until, name != "resumed by:"))
        .collect()
}

fn names(stack: &[(String, StackFrame)]) -> Vec<&str> {
    stack.iter().map(|(name, _)| &**name).collect()
}

#[test]
fn who_awaits_a_coroutine_is_in_its_stack_with_variables() {
    for fixture in fixtures() {
        let (session, first) = begun(&fixture, "nested", "nested", "depth == 3");
        session.set_breakpoints(&fixture, &["after"]);
        session.resume(first.thread);
        let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
        let found = stack(&session, &fixture, &stop);
        let expected = [
            "leaf after",
            "awaited by:",
            "nested innermost",
            "nested nested",
            "nested nested",
            "nested nested",
            "resumed by:",
        ];
        assert_eq!(names(&found), expected);
        let depths = found.iter().filter(|(name, _)| name.starts_with("nested"));
        let depths: Vec<String> = depths
            .map(|(_, frame)| session.evaluate(frame, "depth"))
            .collect();
        assert_eq!(depths, ["0", "1", "2", "3"]);
        // A variable of an awaiting coroutine is set where it is kept.
        let (_, outer) = &found[4];
        let set = SetExpressionArguments::new("depth", "7").with_frame_id(outer.id);
        session.ok::<SetExpressionRequest>(set);
        assert_eq!(session.evaluate(outer, "depth * 2"), "14");
        // What is no call can't be begun again; what is, can be seen behind those frames.
        let refused = session.refused::<RestartFrameRequest>(RestartFrameArguments::new(outer.id));
        let why = refused.to_string();
        assert!(why.contains("no call on the thread's stack"), "{why}");
        let all = session.stack(stop.thread);
        let main = all.iter().find(|frame| frame.name == "main").expect("main");
        let mode = session.evaluate(main, "mode");
        assert!(mode.ends_with("\"nested\""), "{mode}");
        session.disconnect();
    }
}

#[test]
fn arguments_and_locals_of_the_one_that_awaits_are_those_of_its_task() {
    for fixture in fixtures() {
        let (session, first) = begun(&fixture, "threads", "worker", "who == 2");
        session.set_breakpoints(&fixture, &["after"]);
        let mut seen = Vec::new();
        for _ in 0..4 {
            session.resume(first.thread);
            let stop = session.stopped_at(&fixture, "after", StoppedEventReason::Breakpoint);
            let found = stack(&session, &fixture, &stop);
            assert_eq!(
                names(&found),
                ["leaf after", "awaited by:", "worker worker", "resumed by:"]
            );
            let worker = &found[2].1;
            let own = session.evaluate(&found[0].1, "who");
            let all = ["who", "n", "i", "total"].map(|name| session.evaluate(worker, name));
            assert_eq!(own, all[0]);
            seen.push(all.join(" "));
            for name in ["total", "i"] {
                session.variable(worker, "Locals", name);
            }
        }
        seen.sort();
        // The number of turns is 2 for each; the first turn's value is added in the second.
        let turns: Vec<&str> = seen.iter().map(|one| &one[..5]).collect();
        assert_eq!(turns, ["1 2 0", "1 2 1", "2 2 0", "2 2 1"]);
        session.disconnect();
    }
}

/// clang's optimiser loses where the coroutine's frame is.
#[test]
fn in_optimised_code_of_gcc_they_are_there_too() {
    let fixture = with_gcc(&OPTIMISED);
    let (session, stop) = begun(&fixture, "nested", "nested", "-");
    session.set_breakpoints(&fixture, &["suspend"]);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "suspend", StoppedEventReason::Breakpoint);
    let found = stack(&session, &fixture, &stop);
    let awaiting = found.iter().filter(|(name, _)| name.starts_with("nested"));
    assert!(awaiting.count() >= 3, "{:?}", names(&found));
    session.disconnect();
}
