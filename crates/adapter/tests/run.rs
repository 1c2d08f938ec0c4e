//! Running programs: pausing, stepping, threads, recursion, signals, and badly timed requests.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::HashSet;

#[test]
fn a_busy_program_is_paused_and_goes_on() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("awake");
    let process = session.process_id();
    // The program may still be inside the call that writes `awake`.
    let stop = loop {
        session.ok::<PauseRequest>(PauseArguments::new(process));
        let stop = session.stopped(StoppedEventReason::Pause);
        assert_eq!(stop.thread, process);
        let stack = session.stack(stop.thread);
        if stack.iter().any(|frame| frame.name == "spin") {
            break stop;
        }
        assert!(stack.iter().any(|frame| frame.name == "main"), "{stack:?}");
        session.resume(stop.thread);
    };
    let before = session.evaluate(&stop.top, "turns");

    // Pausing a stopped program does nothing.
    session.ok::<PauseRequest>(PauseArguments::new(process));
    session.resume(stop.thread);
    session.ok::<PauseRequest>(PauseArguments::new(0));
    let stop = session.stopped(StoppedEventReason::Pause);
    let after = session.evaluate(&stop.top, "turns");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    assert!(number(&after) >= number(&before), "{before} then {after}");
    session.disconnect();
}

#[test]
fn requests_for_a_stopped_program_say_so_while_it_runs() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("awake");
    let thread = session.ok::<ThreadsRequest>(Default::default()).threads[0].id;
    let refusals = [
        session.refused::<ContinueRequest>(ContinueArguments::new(thread)),
        session.refused::<NextRequest>(NextArguments::new(thread)),
        session.refused::<StackTraceRequest>(StackTraceArguments::new(thread)),
        session.refused::<EvaluateRequest>(EvaluateArguments::new("turns")),
        session.refused::<VariablesRequest>(VariablesArguments::new(1)),
        session.refused::<ScopesRequest>(ScopesArguments::new(1)),
    ];
    for refusal in refusals {
        assert_eq!(
            refusal.message.as_deref(),
            Some("notStopped"),
            "{refusal:?}"
        );
    }
    session.disconnect();
}

#[test]
fn a_breakpoint_set_while_the_program_runs_is_hit() {
    let fixture = Fixture::new("sleepless.c");
    let session = Session::started(&fixture, json!({}), &[]);
    session.wait_for_output("awake");
    session.set_breakpoints(&fixture, &["spin"]);
    let stop = session.stopped_at(&fixture, "spin", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "spin", StoppedEventReason::Breakpoint);
    // Without the breakpoint, the program runs freely, even though it was stopped at it.
    session.set_breakpoints(&fixture, &[]);
    session.resume(stop.thread);
    session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
    session.stopped(StoppedEventReason::Pause);
    session.disconnect();
}

#[test]
fn no_thread_slips_past_a_breakpoint() {
    let fixture = Fixture::new("threads.c");
    let session = Session::started(&fixture, json!({"args": ["5"]}), &["hit"]);
    let mut hits = 0;
    let mut threads = HashSet::new();
    while session.ends_or_stops() {
        let stop = session.wait_for::<StoppedEvent>();
        assert_eq!(stop.reason, StoppedEventReason::Breakpoint);
        assert!(stop.hit_breakpoint_ids.is_some(), "{stop:?}");
        hits += 1;
        threads.insert(stop.thread_id);
        if stop.all_threads_stopped == Some(true) {
            // Threads that stopped at the same time are reported together, and then resumed together.
            let thread = stop.thread_id.expect("a thread");
            let also = session.untaken_events();
            let also = also
                .iter()
                .filter(|event| event.is::<StoppedEvent>())
                .count();
            for _ in 0..also {
                let other = session.wait_for::<StoppedEvent>();
                assert_eq!(other.all_threads_stopped, Some(false));
                // Reported like the first stop, with the same breakpoint.
                assert_eq!(other.reason, stop.reason);
                assert_eq!(other.description, stop.description);
                assert_eq!(other.hit_breakpoint_ids, stop.hit_breakpoint_ids);
                hits += 1;
                threads.insert(other.thread_id);
            }
            session.resume(thread);
        }
    }
    assert_eq!((hits, threads.len()), (20, 4));
    assert_eq!(session.exit_code(), 0);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "20 hits, 20 counted\n"
    );
    session.disconnect();
}

#[test]
fn threads_are_listed_told_and_each_has_a_stack() {
    let fixture = Fixture::new("threads.c");
    let session = Session::started(&fixture, json!({"args": ["1"]}), &["hit"]);
    let stop = session.stopped_at(&fixture, "hit", StoppedEventReason::Breakpoint);
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    assert!(
        threads.iter().any(|thread| thread.id == stop.thread),
        "{threads:?}"
    );
    assert!(threads.len() >= 2, "{threads:?}");
    for thread in &threads {
        // All threads have the program's name.
        assert!(
            thread.name.ends_with(&format!(" ({})", thread.id)),
            "{threads:?}"
        );
        session.stack(thread.id);
    }
    let stack = session.stack(stop.thread);
    assert_eq!([&stack[0].name, &stack[1].name], ["pass", "run"]);
    let unknown =
        session.refused::<StackTraceRequest>(StackTraceArguments::new(i64::from(i32::MAX)));
    assert!(
        unknown.sentence.contains("no thread"),
        "{}",
        unknown.sentence
    );
    session.disconnect();
}

#[test]
fn a_step_over_a_recursive_call_comes_back_to_the_same_activation() {
    let fixture = Fixture::new("recursion.c");
    let session = Session::started(&fixture, json!({"args": ["6"]}), &["fact"]);
    let stop = session.stopped_at(&fixture, "fact", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "n"), "6");
    session.set_breakpoints(&fixture, &[]);
    let stop = session.next(&stop, &fixture, "multiply");
    assert_eq!(session.evaluate(&stop.top, "n"), "6");
    assert_eq!(session.evaluate(&stop.top, "smaller"), "120");
    session.disconnect();
}

#[test]
fn a_deep_stack_comes_in_windows() {
    let fixture = Fixture::new("recursion.c");
    let session = Session::started(&fixture, json!({"args": ["200"]}), &["bottom"]);
    let stop = session.stopped_at(&fixture, "bottom", StoppedEventReason::Breakpoint);
    let window = |start: i64, levels: i64| {
        let arguments = StackTraceArguments::new(stop.thread)
            .with_start_frame(start)
            .with_levels(levels);
        session.ok::<StackTraceRequest>(arguments)
    };
    let first = window(0, 1);
    assert_eq!(first.stack_frames.len(), 1);
    assert!(
        first.total_frames > Some(1),
        "there is more: {:?}",
        first.total_frames
    );
    let middle = window(100, 3).stack_frames;
    let values: Vec<String> = middle
        .iter()
        .map(|frame| session.evaluate(frame, "n"))
        .collect();
    assert_eq!(values, ["101", "102", "103"]);
    let all = session.stack(stop.thread);
    assert_eq!(all.iter().filter(|frame| frame.name == "fact").count(), 200);
    assert!(window(100_000, 5).stack_frames.is_empty(), "past the end");
    session.disconnect();
}

#[test]
fn a_fault_stops_with_its_signal_and_then_kills() {
    let fixture = Fixture::new("signals.c");
    let session = Session::started(&fixture, json!({"args": ["segv"]}), &[]);
    let stop = session.stopped_at(&fixture, "fault", StoppedEventReason::Exception);
    let text = stop.event.text.expect("what happened");
    assert!(text.contains("SIGSEGV") && text.contains("0x0"), "{text}");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 128 + 11);
    assert!(
        session
            .output(OutputEventCategory::Console)
            .contains("killed by SIGSEGV")
    );
    session.disconnect();
}

#[test]
fn everyday_signals_reach_the_program_unseen() {
    let fixture = Fixture::new("signals.c");
    let session = Session::started(&fixture, json!({}), &["handler"]);
    for _ in 0..2 {
        let stop = session.stopped_at(&fixture, "handler", StoppedEventReason::Breakpoint);
        let stack = session.stack(stop.thread);
        assert!(
            stack.iter().any(|frame| frame.name == "ordinary"),
            "through the signal frame: {stack:?}"
        );
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    assert!(
        session
            .output(OutputEventCategory::Stdout)
            .contains("2 handled, ticked")
    );
    session.disconnect();
}

#[test]
fn a_trap_of_the_programs_own_is_told_and_passed() {
    let fixture = Fixture::new("signals.c");
    let session = Session::started(&fixture, json!({"args": ["trap"]}), &[]);
    let stop = session.stopped(StoppedEventReason::Exception);
    assert!(
        session
            .stack(stop.thread)
            .iter()
            .any(|frame| frame.name == "main")
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert!(
        session
            .output(OutputEventCategory::Stdout)
            .contains("past the trap")
    );
    session.disconnect();
}

#[test]
fn a_program_killed_from_outside_ends_the_session_in_order() {
    for stopped in [false, true] {
        let fixture = Fixture::new("sleepless.c");
        let session = Session::started(&fixture, json!({}), if stopped { &["main"] } else { &[] });
        if stopped {
            session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
        } else {
            session.wait_for_output("awake");
        }
        let process = session.process_id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-KILL", &process])
            .status();
        assert!(kill.is_ok_and(|status| status.success()));
        assert_eq!(session.exit_code(), 128 + 9, "stopped: {stopped}");
        assert!(
            session
                .output(OutputEventCategory::Console)
                .contains("killed by SIGKILL")
        );
        assert_eq!(session.ok::<ThreadsRequest>(Default::default()).threads, []);
        let failure = session.refused::<ContinueRequest>(ContinueArguments::new(1));
        assert!(failure.sentence.contains("ended"), "{}", failure.sentence);
        session.disconnect();
    }
}

#[test]
fn a_step_over_the_end_of_the_program_ends_it() {
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, json!({"args": ["7", "exit"]}), &["exit"]);
    let stop = session.stopped_at(&fixture, "exit", StoppedEventReason::Breakpoint);
    session.ok::<NextRequest>(NextArguments::new(stop.thread));
    assert_eq!(session.exit_code(), 7);
    session.disconnect();
}

#[test]
fn both_streams_come_whole_before_the_exit() {
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, json!({"args": ["1", "thread"]}), &[]);
    assert_eq!(session.exit_code(), 1);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        "to stdout\nfarewell\n"
    );
    assert_eq!(session.output(OutputEventCategory::Stderr), "to stderr\n");
    session.disconnect();
}

#[test]
fn a_step_by_instruction_moves_by_one() {
    let fixture = Fixture::new("step.c");
    let session = Session::started(&fixture, json!({}), &["start"]);
    let stop = session.stopped_at(&fixture, "start", StoppedEventReason::Breakpoint);
    let arguments =
        NextArguments::new(stop.thread).with_granularity(SteppingGranularity::Instruction);
    session.ok::<NextRequest>(arguments);
    let after = session.stopped(StoppedEventReason::Step);
    let at = |frame: &StackFrame| frame.instruction_pointer_reference.clone();
    assert_ne!(at(&stop.top), at(&after.top));
    session.disconnect();
}

#[test]
fn a_step_out_to_code_of_no_line_is_at_the_line_of_the_call_and_a_step_goes_on_in_its_function() {
    let fixture = Fixture::new("stepping/lineless.rs");
    let session = Session::started(&fixture, json!({}), &["greater"]);
    let stop = session.stopped_at(&fixture, "greater", StoppedEventReason::Breakpoint);
    let stop = session.step_in(&stop, &fixture, "written");
    let stop = session.step_out(&stop, &fixture, "greater");
    assert_eq!(session.evaluate(&stop.top, "number"), "3");
    let stop = session.next(&stop, &fixture, "chosen end");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}
