//! Running backwards: a program that is recorded is shown as it was.

use crate::support::fixture::{Linking, Optimization};
use crate::support::running::kill;
use crate::support::{Fixture, PATIENCE, Session, Stopped};
use dapple_adapter::{
    Further, GoToMomentArguments, GoToMomentRequest, Moment, NamedMoment, StepBackFurtherArguments,
    StepBackFurtherRequest,
};
use dapple_dap::types::*;
use serde_json::json;
use std::time::Instant;

/// A recorded session, stopped at the first of the breakpoints.
fn recorded(fixture: &Fixture, stops: &[&str]) -> (Session, Stopped) {
    let session = Session::new();
    session.launch(fixture, json!({"record": true}));
    let can = session.wait_for::<CapabilitiesEvent>().capabilities;
    assert_eq!(can.supports_step_back, Some(true));
    session.set_breakpoints(fixture, stops);
    session.configured();
    let stop = session.stopped_at(fixture, stops[0], StoppedEventReason::Breakpoint);
    (session, stop)
}

/// Steps back, and checks where that ends.
#[track_caller]
fn back(session: &Session, fixture: &Fixture, from: &Stopped, name: &str) -> Stopped {
    session.ok::<StepBackRequest>(StepBackArguments::new(from.thread));
    session.stopped_at(fixture, name, StoppedEventReason::Step)
}

/// Runs back to a breakpoint.
#[track_caller]
fn reverse(session: &Session, fixture: &Fixture, from: &Stopped, name: &str) -> Stopped {
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(from.thread));
    session.stopped_at(fixture, name, StoppedEventReason::Breakpoint)
}

#[test]
fn a_program_runs_back_to_its_breakpoints_and_forward_again() {
    let fixture = Fixture::new("travelled.c");
    let (session, stop) = recorded(&fixture, &["returned", "last"]);
    assert_eq!(session.evaluate(&stop.top, "result"), "9");
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "returned", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "result"), "16");
    session.resume(stop.thread);
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&last.top, "table[7]"), "63");
    let when = session.evaluate(&last.top, "when");
    let stop = reverse(&session, &fixture, &last, "returned");
    assert_eq!(session.evaluate(&stop.top, "result"), "16");
    assert_eq!(session.evaluate(&stop.top, "table[7]"), "0");
    assert_eq!(session.evaluate(&stop.top, "steps"), "2");
    let stop = reverse(&session, &fixture, &stop, "returned");
    assert_eq!(session.evaluate(&stop.top, "result"), "9");
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
    let beginning = session.stopped(StoppedEventReason::Entry);
    session.resume(beginning.thread);
    for result in ["9", "16"] {
        let stop = session.stopped_at(&fixture, "returned", StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stop.top, "result"), result);
        session.resume(stop.thread);
    }
    // The present, from where it goes on.
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&last.top, "when"), when);
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "9 16 15 3\n");
}

#[test]
fn the_way_to_the_present_needs_no_breakpoint() {
    let fixture = Fixture::new("travelled.c");
    let (session, last) = recorded(&fixture, &["last"]);
    session.set_source(&fixture, vec![]);
    let before = back(&session, &fixture, &last, "put");
    // By a step to where the present is, and by running there.
    let last = session.next(&before, &fixture, "last");
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(last.thread));
    let beginning = session.stopped(StoppedEventReason::Entry);
    session.resume(beginning.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "9 16 15 3\n");
}

#[test]
fn steps_lead_back_line_by_line() {
    let fixture = Fixture::new("travelled.c");
    let (session, stop) = recorded(&fixture, &["summed"]);
    let mut stop = back(&session, &fixture, &stop, "loop");
    for i in [5, 4, 3, 2, 1] {
        stop = back(&session, &fixture, &stop, "body");
        assert_eq!(session.evaluate(&stop.top, "i"), i.to_string());
        assert_eq!(
            session.evaluate(&stop.top, "sum"),
            (i * (i - 1) / 2).to_string()
        );
        stop = back(&session, &fixture, &stop, "loop");
    }
    let stop = back(&session, &fixture, &stop, "sum_to");
    let stop = back(&session, &fixture, &stop, "sum");
    let stop = back(&session, &fixture, &stop, "second");
    let stop = back(&session, &fixture, &stop, "first");
    assert_eq!(session.evaluate(&stop.top, "steps"), "0");
    let stop = session.next(&stop, &fixture, "second");
    assert_eq!(session.evaluate(&stop.top, "first"), "9");
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "summed", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
}

/// Where a thread is.
fn address(stop: &Stopped) -> String {
    let address = stop.top.instruction_pointer_reference.clone();
    address.expect("an address")
}

#[test]
fn steps_of_instructions_lead_back_over_calls_and_to_the_call() {
    let fixture = Fixture::new("travelled.c");
    let (session, begin) = recorded(&fixture, &["second"]);
    let instruction = SteppingGranularity::Instruction;
    let mut path = vec![address(&begin)];
    let mut stop = begin;
    // Over the call in the next line.
    while stop.top.line != fixture.line("sum") {
        let next = NextArguments::new(stop.thread).with_granularity(instruction.clone());
        session.ok::<NextRequest>(next);
        stop = session.stopped(StoppedEventReason::Step);
        path.push(address(&stop));
    }
    path.pop();
    while let Some(place) = path.pop() {
        let back = StepBackArguments::new(stop.thread).with_granularity(instruction.clone());
        session.ok::<StepBackRequest>(back);
        stop = session.stopped(StoppedEventReason::Step);
        assert_eq!(address(&stop), place);
    }
    // From the first instruction of a function to the call.
    let step = StepInArguments::new(stop.thread).with_granularity(instruction.clone());
    let mut before = address(&stop);
    while stop.top.name != "square" {
        before = address(&stop);
        session.ok::<StepInRequest>(step.clone());
        stop = session.stopped(StoppedEventReason::Step);
    }
    let back = StepBackArguments::new(stop.thread).with_granularity(instruction);
    session.ok::<StepBackRequest>(back);
    let stop = session.stopped(StoppedEventReason::Step);
    assert_eq!(address(&stop), before);
}

#[test]
fn conditions_and_watched_data_are_found_backwards() {
    let fixture = Fixture::new("travelled.c");
    let (session, last) = recorded(&fixture, &["last"]);
    session.set_source(
        &fixture,
        vec![fixture.breakpoint("body").with_condition("i == 4")],
    );
    let stop = reverse(&session, &fixture, &last, "body");
    assert_eq!(session.evaluate(&stop.top, "sum"), "6");
    session.set_source(&fixture, vec![]);
    session.watch(&stop.top, &["steps", "table[6]"]);
    let mut stop = stop;
    for steps in ["2", "1"] {
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
        stop = session.stopped(StoppedEventReason::DataBreakpoint);
        assert_eq!(session.evaluate(&stop.top, "steps"), steps);
        assert_eq!(stop.top.name, "square");
    }
    // Forward again, to the present and behind it.
    session.resume(stop.thread);
    stop = session.stopped(StoppedEventReason::DataBreakpoint);
    assert_eq!(session.evaluate(&stop.top, "steps"), "2");
    session.resume(stop.thread);
    stop = session.stopped(StoppedEventReason::DataBreakpoint);
    assert_eq!(session.evaluate(&stop.top, "table[6]"), "54");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn what_was_written_just_before_is_found_first() {
    let fixture = Fixture::new("diverted.c");
    let (session, stop) = recorded(&fixture, &["second"]);
    let mut stop = stop;
    while stop.top.line != fixture.line("freed") {
        session.ok::<StepBackRequest>(StepBackArguments::new(stop.thread));
        stop = session.stopped(StoppedEventReason::Step);
    }
    session.watch(&stop.top, &["level"]);
    let here = address(&stop);
    for change in ["from 2 to 3", "from 1 to 2"] {
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
        stop = session.stopped(StoppedEventReason::DataBreakpoint);
        let said = stop.event.description.clone().unwrap_or_default();
        assert!(said.ends_with(change), "{said}");
        // The first of them leads nowhere else.
        assert_eq!(address(&stop) == here, change == "from 2 to 3");
    }
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
    session.stopped(StoppedEventReason::Entry);
}

#[test]
fn hits_count_as_they_did_then() {
    let fixture = Fixture::new("travelled.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true}));
    let every_second = fixture.breakpoint("body").with_hit_condition("% 2");
    session.set_source(&fixture, vec![every_second.clone()]);
    session.configured();
    let number = |stop: &Stopped| session.evaluate(&stop.top, "i");
    let mut stop = session.stopped_at(&fixture, "body", StoppedEventReason::Breakpoint);
    assert_eq!(number(&stop), "2");
    let and_last = vec![every_second, fixture.breakpoint("last")];
    session.set_source(&fixture, and_last);
    for expected in ["4", "last"] {
        session.resume(stop.thread);
        stop = session.stopped(StoppedEventReason::Breakpoint);
        if expected != "last" {
            assert_eq!(number(&stop), expected);
        }
    }
    for (back, expected) in [(true, "4"), (true, "2"), (false, "4"), (true, "2")] {
        match back {
            true => stop = reverse(&session, &fixture, &stop, "body"),
            false => {
                session.resume(stop.thread);
                stop = session.stopped_at(&fixture, "body", StoppedEventReason::Breakpoint);
            }
        }
        assert_eq!(number(&stop), expected, "back: {back}");
    }
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
    stop = session.stopped(StoppedEventReason::Entry);
    for expected in ["2", "4"] {
        session.resume(stop.thread);
        stop = session.stopped_at(&fixture, "body", StoppedEventReason::Breakpoint);
        assert_eq!(number(&stop), expected);
    }
    session.resume(stop.thread);
    stop = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn a_call_in_the_present_is_the_beginning_of_its_history() {
    let fixture = Fixture::new("travelled.c");
    let (session, stop) = recorded(&fixture, &["sum", "last"]);
    session.resume(stop.thread);
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    let stop = reverse(&session, &fixture, &last, "sum");
    assert_eq!(session.evaluate(&stop.top, "steps"), "2");
    session.resume(stop.thread);
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&last.top, "square(5)"), "25");
    let back = ReverseContinueArguments::new(last.thread);
    let refusal = session.refused::<ReverseContinueRequest>(back);
    assert!(refusal.sentence.contains("beginning"), "{refusal:?}");
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn what_is_not_recorded_does_not_run_backwards() {
    let fixture = Fixture::new("travelled.c");
    let session = Session::started(&fixture, json!({}), &["sum"]);
    let stop = session.stopped_at(&fixture, "sum", StoppedEventReason::Breakpoint);
    let back = StepBackArguments::new(stop.thread);
    let refusal = session.refused::<StepBackRequest>(back);
    assert!(refusal.sentence.contains("record"), "{refusal:?}");
    let stop = session.next(&stop, &fixture, "depths");
    let back = ReverseContinueArguments::new(stop.thread);
    let refusal = session.refused::<ReverseContinueRequest>(back);
    assert!(refusal.sentence.contains("record"), "{refusal:?}");
}

/// The processes whose executable is this file.
fn processes_of(fixture: &Fixture) -> usize {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    all.filter(|entry| {
        std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == fixture.binary)
    })
    .count()
}

/// Waits until a process has ended that isn't waited for, and returns its status (`exit_code` of proc_pid_stat(5)).
#[track_caller]
fn exit_code(process: i64) -> i64 {
    let begin = Instant::now();
    loop {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it is there");
        let (_, fields) = text.rsplit_once(") ").expect("its fields");
        if fields.starts_with('Z') {
            let last = fields.split_whitespace().last().expect("a field");
            return last.parse().expect("a number");
        }
        assert!(begin.elapsed() < PATIENCE, "it runs on");
        std::thread::yield_now();
    }
}

#[test]
fn nothing_is_left_of_checkpoints_and_of_the_past() {
    // Another program than the other tests run at the same time.
    let fixture = Fixture::built("travelled.c", Optimization::None, Linking::Fixed);
    type End = fn(Session, i64);
    let ends: [End; 4] = [
        |session, _| session.disconnect(),
        |session, _| {
            session.ok::<TerminateRequest>(TerminateArguments::new());
            session.exit_code();
        },
        |session, process| {
            kill("-KILL", process as i32);
            session.exit_code();
        },
        |session, process| {
            let arguments = DisconnectArguments::new().with_terminate_debuggee(false);
            session.ok::<DisconnectRequest>(arguments);
            assert_eq!(exit_code(process), 0);
        },
    ];
    for (round, end) in ends.into_iter().enumerate() {
        for is_past in [false, true] {
            let (session, stop) = recorded(&fixture, &["sum", "last"]);
            let process = session.process_id();
            session.resume(stop.thread);
            let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
            if is_past {
                reverse(&session, &fixture, &last, "sum");
            }
            assert!(processes_of(&fixture) >= 3);
            end(session, process);
            let begin = Instant::now();
            while processes_of(&fixture) > 0 {
                assert!(begin.elapsed() < PATIENCE, "{round} {is_past}");
                std::thread::yield_now();
            }
        }
    }
}

#[test]
fn a_failed_assertion_leads_back_to_its_cause() {
    let fixture = Fixture::new("overrun.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true}));
    session.configured();
    let stop = session.stopped(StoppedEventReason::Exception);
    let used = { session.stack(stop.thread).into_iter() }.find(|frame| frame.name == "used");
    let used = used.expect("the frame of the assertion");
    assert_eq!(session.evaluate(&used, "settings.limit"), "0");
    session.watch(&used, &["settings.limit"]);
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::DataBreakpoint);
    let text = stop.event.description.clone().unwrap_or_default();
    assert!(text.contains("from 10 to 0"), "{text}");
    let names = { session.stack(stop.thread).into_iter() }.map(|frame| frame.name);
    assert!(names.collect::<Vec<_>>().contains(&"rename_to".to_owned()));
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 134);
}

/// What `hot_loop.c` computes in so many turns: the value, and the sum.
fn computed(turns: u64) -> (u64, u64) {
    let (mut value, mut sum) = (1_u64, 0);
    for turn in 0..turns {
        value = value
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(turn);
        value ^= value >> 29;
        sum += value & 7;
    }
    (value, sum)
}

#[test]
fn the_end_of_a_hot_loop_is_found_without_stops_in_all_its_turns() {
    const TURNS: u64 = 20_000_000;
    let fixture = Fixture::new("hot_loop.c");
    let (session, last) = recorded(&fixture, &["worked"]);
    // Line by line: the loop's head, its last turn, and into the one before.
    let mut stop = last;
    for (name, turns) in [
        ("head", TURNS),
        ("count", TURNS),
        ("sum", TURNS),
        ("call", TURNS - 1),
        ("head", TURNS - 1),
        ("count", TURNS - 1),
    ] {
        stop = back(&session, &fixture, &stop, name);
        let (value, _) = computed(turns);
        assert_eq!(
            session.evaluate(&stop.top, "value"),
            value.to_string(),
            "{name}"
        );
    }
    // Breakpoints that each turn passes.
    session.set_breakpoints(&fixture, &["next", "count"]);
    for (name, turns) in [
        ("next", TURNS - 2),
        ("count", TURNS - 2),
        ("next", TURNS - 3),
    ] {
        stop = reverse(&session, &fixture, &stop, name);
        let (value, sum) = computed(turns);
        let shown = ["value", "state->sum"].map(|it| session.evaluate(&stop.top, it));
        assert_eq!(shown, [value.to_string(), sum.to_string()], "{name}");
    }
    session.set_source(&fixture, vec![]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    let (value, sum) = computed(TURNS);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        format!("{value} {sum} {TURNS}\n")
    );
}

#[test]
fn threads_are_where_they_were() {
    let fixture = Fixture::new("travelled_threads.c");
    let (session, mut stop) = recorded(&fixture, &["added", "joined"]);
    let threads = || {
        let all = session.ok::<ThreadsRequest>(Empty).threads;
        let mut ids: Vec<i64> = all.iter().map(|thread| thread.id).collect();
        ids.sort_unstable();
        ids
    };
    let seen = |stop: &Stopped| {
        let values = ["total", "turn", "own", "round"];
        let values = values.map(|value| session.evaluate(&stop.top, value));
        (stop.thread, values, threads())
    };
    let mut states = Vec::new();
    while states.len() < 12 {
        states.push(seen(&stop));
        session.resume(stop.thread);
        if states.len() < 12 {
            stop = session.stopped_at(&fixture, "added", StoppedEventReason::Breakpoint);
        }
    }
    let last = session.stopped_at(&fixture, "joined", StoppedEventReason::Breakpoint);
    let mut stop = last;
    for state in states.iter().rev() {
        stop = reverse(&session, &fixture, &stop, "added");
        assert_eq!(seen(&stop), *state);
        // The line before is this thread's, whatever others did in between.
        let before = back(&session, &fixture, &stop, "mine");
        assert_eq!(before.thread, stop.thread);
        let turn = session.evaluate(&before.top, "turn");
        assert_eq!(turn, (state.1[1].parse::<i32>().unwrap() - 1).to_string());
        stop = before;
    }
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(stop.thread));
    let beginning = session.stopped(StoppedEventReason::Entry);
    assert_eq!(threads().len(), 1);
    // Forwards again, and on from the present.
    stop = beginning;
    for state in &states {
        session.resume(stop.thread);
        stop = session.stopped_at(&fixture, "added", StoppedEventReason::Breakpoint);
        assert_eq!(seen(&stop), *state);
    }
    session.resume(stop.thread);
    let last = session.stopped_at(&fixture, "joined", StoppedEventReason::Breakpoint);
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
    let total = (0..12).fold(0, |total, turn| total * 2 + turn % 3);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        format!("{total}\n")
    );
}

#[test]
fn threads_that_spin_are_where_they_were() {
    let fixture = Fixture::new("travelled_spins.c");
    let (session, mut stop) = recorded(&fixture, &["passed", "joined"]);
    let seen = |session: &Session, stop: &Stopped| {
        let values = ["turn", "own", "round", "value", "results[0]", "results[1]"];
        (
            stop.thread,
            values.map(|value| session.evaluate(&stop.top, value)),
        )
    };
    let mut states = vec![seen(&session, &stop)];
    while states.len() < 6 {
        session.resume(stop.thread);
        stop = session.stopped_at(&fixture, "passed", StoppedEventReason::Breakpoint);
        states.push(seen(&session, &stop));
    }
    session.resume(stop.thread);
    stop = session.stopped_at(&fixture, "joined", StoppedEventReason::Breakpoint);
    for state in states.iter().rev() {
        stop = reverse(&session, &fixture, &stop, "passed");
        assert_eq!(seen(&session, &stop), *state);
        stop = back(&session, &fixture, &stop, "computed");
        assert_eq!(session.evaluate(&stop.top, "turn"), state.1[0]);
    }
    session.set_source(&fixture, vec![]);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), "1\n");
}

#[test]
fn signals_come_amid_the_turns_of_a_loop_where_they_came() {
    let fixture = Fixture::new("travelled_timer.c");
    let (session, mut stop) = recorded(&fixture, &["handled", "last"]);
    let seen = |session: &Session, stop: &Stopped| {
        ["signals", "count"].map(|value| session.evaluate(&stop.top, value))
    };
    let mut states = vec![seen(&session, &stop)];
    while states.len() < 4 {
        session.resume(stop.thread);
        stop = session.stopped_at(&fixture, "handled", StoppedEventReason::Breakpoint);
        states.push(seen(&session, &stop));
    }
    session.resume(stop.thread);
    stop = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    let last = seen(&session, &stop);
    for state in states.iter().rev() {
        stop = reverse(&session, &fixture, &stop, "handled");
        assert_eq!(seen(&session, &stop), *state);
    }
    session.set_breakpoints(&fixture, &["last"]);
    session.resume(stop.thread);
    stop = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(seen(&session, &stop), last);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn threads_that_mostly_wait_can_be_paused_run_back_and_go_on() {
    let fixture = Fixture::new("travelled_endless.c");
    let (session, begins) = recorded(&fixture, &["begins"]);
    let number = |stop: &Stopped| -> u32 { session.evaluate(&stop.top, "number").parse().unwrap() };
    session.set_source(&fixture, vec![]);
    session.resume(begins.thread);
    let mut before = 0;
    for _ in 0..4 {
        // Both have to come to work meanwhile, however slow the machine is.
        let now = loop {
            session.ok::<PauseRequest>(PauseArguments::new(begins.thread));
            let stop = session.stopped(StoppedEventReason::Pause);
            // A replay that fails has this reason, too.
            assert_eq!(stop.event.text, None);
            let now = number(&stop);
            if now > before + 2 {
                break now;
            }
            session.resume(stop.thread);
        };
        before = now;
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(begins.thread));
        let beginning = session.stopped(StoppedEventReason::Entry);
        assert_eq!(number(&beginning), 0);
        session.resume(beginning.thread);
    }
}

/// Of `beside_sleeper.c`: what has come from outside.
fn sums(session: &Session, stop: &Stopped) -> [String; 2] {
    ["sum", "got"].map(|name| session.evaluate(&stop.top, name))
}

#[test]
fn stops_where_another_thread_came_back_from_its_sleep_are_come_to_again() {
    let fixture = Fixture::new("beside_sleeper.c");
    let (session, first) = recorded(&fixture, &["time", "signal"]);
    let mut seen = vec![sums(&session, &first)];
    for name in ["signal", "time", "signal", "time"] {
        session.resume(first.thread);
        let stop = session.stopped_at(&fixture, name, StoppedEventReason::Breakpoint);
        seen.push(sums(&session, &stop));
    }
    seen.pop();
    for name in ["signal", "time", "signal", "time"] {
        session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(first.thread));
        let stop = session.stopped_at(&fixture, name, StoppedEventReason::Breakpoint);
        assert_eq!(Some(sums(&session, &stop)), seen.pop());
    }
}

#[test]
fn turns_end_again_behind_a_reading_of_the_time_and_in_a_handler() {
    let fixture = Fixture::new("beside_sleeper.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true, "args": ["computes"]}));
    session.set_breakpoints(&fixture, &["last"]);
    session.configured();
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    let seen = sums(&session, &last);
    session.ok::<ReverseContinueRequest>(ReverseContinueArguments::new(last.thread));
    let beginning = session.stopped(StoppedEventReason::Entry);
    session.resume(beginning.thread);
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(sums(&session, &last), seen);
}

#[test]
fn steps_lead_back_into_functions_and_out_to_their_calls() {
    let fixture = Fixture::new("steps_back.c");
    let (session, last) = recorded(&fixture, &["last"]);
    let step = |from: &Stopped, how: Further, name: &str| {
        session.ok::<StepBackFurtherRequest>(StepBackFurtherArguments {
            thread_id: from.thread,
            how,
        });
        session.stopped_at(&fixture, name, StoppedEventReason::Step)
    };
    // A library's function (printf) is gone over; one that is called by a pointer isn't.
    let mut stop = last;
    for name in ["prints", "next_left", "next_end", "next", "pointer"] {
        stop = step(&stop, Further::Into, name);
    }
    // Of two calls in a line, the one that was made last comes first.
    stop = step(&stop, Further::Into, "second_left");
    assert_eq!(session.evaluate(&stop.top, "a"), "5");
    stop = back(&session, &fixture, &stop, "sum");
    stop = back(&session, &fixture, &stop, "adds");
    stop = step(&stop, Further::Into, "next_left");
    stop = step(&stop, Further::Out, "second");
    stop = step(&stop, Further::Into, "second");
    stop = step(&stop, Further::Into, "next_left");
    assert_eq!(session.evaluate(&stop.top, "r"), "2");
    // At the call, and not at the beginning of its line.
    stop = step(&stop, Further::Out, "nested");
    stop = back(&session, &fixture, &stop, "nested");
    back(&session, &fixture, &stop, "begin");
    session.ok::<GoToMomentRequest>(GoToMomentArguments {
        to: Moment::Named(NamedMoment::Present),
    });
    stop = session.stopped_at(&fixture, "last", StoppedEventReason::Goto);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn a_recorded_program_that_becomes_another_runs_on() {
    let fixture = Fixture::new("runs_on.c");
    let session = Session::new();
    session.launch(&fixture, json!({"record": true, "args": ["exec"]}));
    session.configured();
    assert_eq!(session.exit_code(), 5);
    assert_eq!(session.output(OutputEventCategory::Stdout), "other\n");
}

/// Runs for some seconds without a stop, and counts the copies that were made of the process.
fn copies_of_long_run(settings: serde_json::Value) -> (usize, Session, Fixture, Stopped) {
    let fixture = Fixture::built("long_run.c", Optimization::None, Linking::Fixed);
    let mut arguments = json!({"record": true});
    let given = settings.as_object().expect("an object").clone();
    arguments.as_object_mut().expect("an object").extend(given);
    let session = Session::started(&fixture, arguments, &["begin", "last"]);
    let stop = session.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    // Besides the program itself.
    let copies = processes_of(&fixture) - 1;
    (copies, session, fixture, last)
}

#[test]
fn a_program_that_runs_long_leaves_checkpoints_on_its_way_as_many_as_the_launch_allows() {
    let (copies, session, fixture, last) = copies_of_long_run(json!({}));
    // At the beginning and at two stops; and while it ran.
    assert!((5..=8).contains(&copies), "{copies}");
    let stop = back(&session, &fixture, &last, "looks");
    let value = session.evaluate(&stop.top, "value");
    let turns = session.evaluate(&stop.top, "turns");
    let stop = back(&session, &fixture, &stop, "loops");
    let stop = back(&session, &fixture, &stop, "counts");
    let before: u64 = session
        .evaluate(&stop.top, "turns")
        .parse()
        .expect("a number");
    assert_eq!(turns, (before + 1).to_string());
    session.resume(stop.thread);
    let last = session.stopped_at(&fixture, "last", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&last.top, "value"), value);
    session.set_source(&fixture, vec![]);
    session.resume(last.thread);
    assert_eq!(session.exit_code(), 0);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        format!("{value}\n")
    );
    // As many as the launch allows.
    for (settings, expected) in [
        (json!({"checkpoints": 2}), 2..=2),
        (json!({"checkpointMemory": 1}), 3..=8),
    ] {
        let (copies, session, fixture, last) = copies_of_long_run(settings);
        assert!(expected.contains(&copies), "{copies}");
        back(&session, &fixture, &last, "looks");
        session.disconnect();
        let begin = Instant::now();
        while processes_of(&fixture) > 0 {
            assert!(begin.elapsed() < PATIENCE);
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_step_back_from_a_panic_is_one_of_the_users_code() {
    let fixture = Fixture::new("panics.rs");
    let session = Session::new();
    session.launch(
        &fixture,
        json!({"record": true, "args": ["plain", "equal"]}),
    );
    session.configured();
    let (panic, said) = stopped_at_panic(&session);
    let place = format!("panics.rs:{}:", fixture.line("equal"));
    assert!(said.contains(&place), "{said}");
    let line = back(&session, &fixture, &panic, "equal");
    let before = back(&session, &fixture, &line, "before_equal");
    session.resume(before.thread);
    // It says the same of it again.
    assert_eq!(stopped_at_panic(&session).1, said);
    session.disconnect();
}

/// Where the program has panicked, and what is said of that.
#[track_caller]
fn stopped_at_panic(session: &Session) -> (Stopped, String) {
    let stop = session.stopped(StoppedEventReason::Exception);
    let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(stop.thread));
    (stop, info.description.expect("a description"))
}
