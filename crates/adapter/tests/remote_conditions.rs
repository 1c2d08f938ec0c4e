//! Conditions of breakpoints behind gdbserver, where it or the program decides them: the same stops as by a stop at each hit. gdbserver is found as for
//! the tests of `remote`.

use crate::remote::{attach, gdbserver, lldb_server, on_stdio, qemu};
use crate::support::{Fixture, Session, Stopped};
use dapple_adapter::{DecidedBreakpoint, DecidedRequest};
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;

/// A session with the program behind gdbserver, with these breakpoints.
fn started(server: &str, fixture: &Fixture, wanted: Vec<SourceBreakpoint>) -> Session {
    let session = Session::new();
    let target = on_stdio(server, &format!("- {}", fixture.program()));
    attach(&session, &json!({"target": target}));
    let set = session.set_source(fixture, wanted);
    assert!(set.iter().all(|it| it.verified), "{set:?}");
    session.configured();
    session
}

fn decided(session: &Session) -> Vec<DecidedBreakpoint> {
    session.ok::<DecidedRequest>(Empty {}).breakpoints
}

/// Stops at each hit, from now on to the end, and returns the values of `turn`, and how it is decided at the last stop, which is at the end.
fn turns(session: &Session, fixture: &Fixture) -> (Vec<i64>, Vec<DecidedBreakpoint>) {
    let mut turns = Vec::new();
    loop {
        let stop = session.stopped(StoppedEventReason::Breakpoint);
        if stop.top.line == fixture.line("end") {
            let decided = decided(session);
            session.resume(stop.thread);
            assert_eq!(session.exit_code(), 0);
            return (turns, decided);
        }
        let turn = session.evaluate(&stop.top, "turn");
        turns.push(turn.parse().expect("a number"));
        session.resume(stop.thread);
    }
}

/// Runs to the end. The condition at the mark has to hold for these turns, and is decided by the stub or in the program.
fn holds(server: &str, mark: &str, condition: &str, expected: impl Fn(i64) -> bool) {
    let fixture = Fixture::new("stub_conditions.c");
    let wanted = fixture.breakpoint(mark).with_condition(condition);
    let session = started(server, &fixture, vec![wanted, fixture.breakpoint("end")]);
    let (turns, decided) = turns(&session, &fixture);
    let last = if mark == "roomy" { 400 } else { 40 };
    let expected: Vec<i64> = (0..last).filter(|turn| expected(*turn)).collect();
    assert_eq!(turns, expected, "{condition}");
    let places = decided.iter().map(|it| (it.by_stub, it.in_program));
    let place = if mark == "roomy" { (0, 1) } else { (1, 0) };
    assert_eq!(places.collect::<Vec<_>>(), [place], "{decided:?}");
    session.disconnect();
}

#[test]
fn a_stub_decides_integers_of_all_widths_and_signs() {
    let Some(server) = gdbserver() else { return };
    let holds = |condition: &str, expected: &dyn Fn(i64) -> bool| {
        holds(&server, "narrow", condition, expected);
    };
    holds("small == -3", &|turn| turn == 17);
    holds("small < -18 || wide > 65533", &|turn| {
        turn < 2 || turn == 18 || turn == 19
    });
    holds("wide == 65535", &|turn| turn == 19);
    holds("(unsigned char)small > 250", &|turn| {
        (15..20).contains(&turn)
    });
    holds("unsigned_ > 4294967290", &|turn| (15..20).contains(&turn));
    holds("turn * 3 % 7 == 2 && turn / 5 >= 6", &|turn| {
        turn * 3 % 7 == 2 && turn / 5 >= 6
    });
    holds("(turn & 31) == 0 || (turn ^ 5) << 2 == 12", &|turn| {
        turn & 31 == 0 || (turn ^ 5) << 2 == 12
    });
    holds("node == 16", &|turn| turn == 30);
}

#[test]
fn the_program_decides_where_a_jump_fits() {
    let Some(server) = gdbserver() else { return };
    holds(&server, "roomy", "turn == 7 || turn == 350", |turn| {
        turn == 7 || turn == 350
    });
    holds(&server, "roomy", "turn % 100 == 99", |turn| {
        turn % 100 == 99
    });
}

/// The stop has to say that the condition can't be evaluated.
#[track_caller]
fn stops_undecided(session: &Session, turn: &str) -> Stopped {
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "turn"), turn);
    let text = stop.event.text.clone().unwrap_or_default();
    let text = text + stop.event.description.as_deref().unwrap_or_default();
    assert!(text.contains("can't be evaluated"), "{:?}", stop.event);
    stop
}

#[test]
fn memory_that_a_condition_cannot_read_stops_the_program_with_the_reason() {
    let Some(server) = gdbserver() else { return };
    for (mark, turn) in [("narrow", "30"), ("roomy", "300")] {
        let fixture = Fixture::new("stub_conditions.c");
        let wanted = fixture.breakpoint(mark).with_condition("node->value == 6");
        let session = started(&server, &fixture, vec![wanted]);
        let stop = stops_undecided(&session, turn);
        let decided = decided(&session);
        assert_eq!(decided[0].by_stub + decided[0].in_program, 1, "{decided:?}");
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 0);
        session.disconnect();
    }
}

#[test]
fn two_breakpoints_at_one_place_stop_where_either_condition_holds() {
    let Some(server) = gdbserver() else { return };
    let fixture = Fixture::new("stub_conditions.c");
    let line = |condition: &str| fixture.breakpoint("roomy").with_condition(condition);
    let session = Session::new();
    let target = on_stdio(&server, &format!("- {}", fixture.program()));
    attach(&session, &json!({"target": target}));
    session.set_source(
        &fixture,
        vec![line("turn == 20"), fixture.breakpoint("end")],
    );
    let on_function = |condition: Option<&str>| {
        let mut breakpoint = FunctionBreakpoint::new("roomy");
        breakpoint.condition = condition.map(str::to_owned);
        let arguments = SetFunctionBreakpointsArguments::new(vec![breakpoint]);
        session.ok::<SetFunctionBreakpointsRequest>(arguments);
    };
    on_function(Some("turn == 30"));
    session.configured();
    let at = |turn: &str, reason: StoppedEventReason| {
        let stop = session.stopped(reason);
        assert_eq!(session.evaluate(&stop.top, "turn"), turn);
        stop.thread
    };
    let by_line = || StoppedEventReason::Breakpoint;
    let by_function = || StoppedEventReason::FunctionBreakpoint;
    let thread = at("20", by_line());
    session.resume(thread);
    let thread = at("30", by_function());
    // One without a condition comes to it: each hit stops.
    on_function(None);
    session.resume(thread);
    let thread = at("31", by_function());
    session.resume(thread);
    let thread = at("32", by_function());
    // It gets another one, which has to be the one that counts.
    on_function(Some("turn == 390"));
    session.resume(thread);
    let thread = at("390", by_function());
    session.resume(thread);
    assert_eq!(turns(&session, &fixture).0, [0_i64; 0]);
    session.disconnect();
}

#[test]
fn hits_count_and_messages_are_written_where_a_stub_decides() {
    let Some(server) = gdbserver() else { return };
    let fixture = Fixture::new("stub_conditions.c");
    let counted = fixture
        .breakpoint("narrow")
        .with_condition("turn % 4 == 1")
        .with_hit_condition("% 3");
    let session = started(&server, &fixture, vec![counted, fixture.breakpoint("end")]);
    let (stops, decided) = turns(&session, &fixture);
    assert_eq!(stops, [9, 21, 33]);
    assert_eq!(
        (decided[0].by_stub, decided[0].hits),
        (1, 10),
        "{decided:?}"
    );
    session.disconnect();

    let logs = fixture
        .breakpoint("narrow")
        .with_condition("turn % 10 == 9")
        .with_log_message("turn {turn} has {small}");
    let session = started(&server, &fixture, vec![logs, fixture.breakpoint("end")]);
    assert_eq!(turns(&session, &fixture).0, [0_i64; 0]);
    let written = session.output(OutputEventCategory::Console);
    for line in [
        "turn 9 has -11",
        "turn 19 has -1",
        "turn 29 has 9",
        "turn 39 has 19",
    ] {
        assert_eq!(written.matches(line).count(), 1, "{line}: {written}");
    }
    session.disconnect();
}

/// A step ends at the place, and goes on from there, whatever the condition is.
#[test]
fn steps_end_at_places_where_the_condition_is_false() {
    let Some(server) = gdbserver() else { return };
    for mark in ["roomy", "narrow"] {
        let fixture = Fixture::new("stub_conditions.c");
        let wanted = fixture
            .breakpoint(mark)
            .with_condition("turn == 10 || turn == 35");
        let session = started(&server, &fixture, vec![wanted]);
        let mut stop = session.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stop.top, "turn"), "10");
        // Round the loop, through the place for the next turn.
        let place = (stop.top.name.clone(), stop.top.line);
        for turn in ["11", "12"] {
            loop {
                session.ok::<StepInRequest>(StepInArguments::new(stop.thread));
                stop = session.stopped(StoppedEventReason::Step);
                if (stop.top.name.clone(), stop.top.line) == place {
                    break;
                }
            }
            assert_eq!(session.evaluate(&stop.top, "turn"), turn);
        }
        session.resume(stop.thread);
        let stop = session.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stop.top, "turn"), "35");
        session.disconnect();
    }
}

/// The same stops behind another stub.
fn stops_right(target: &str, fixture: &Fixture) -> Vec<DecidedBreakpoint> {
    let session = Session::new();
    attach(
        &session,
        &json!({"target": target, "program": fixture.program()}),
    );
    let narrow = fixture.breakpoint("narrow").with_condition("small == -3");
    let roomy = fixture.breakpoint("roomy");
    let roomy = roomy.with_condition("turn % 100 == 99 || node == 16");
    session.set_source(fixture, vec![narrow, roomy, fixture.breakpoint("end")]);
    session.configured();
    let (stops, decided) = turns(&session, fixture);
    assert_eq!(stops, [17, 99, 199, 299, 300, 399]);
    session.disconnect();
    decided
}

#[test]
fn conditions_are_decided_here_behind_qemu() {
    let fixture = Fixture::new("stub_conditions.c");
    let Some((mut qemu, place)) = qemu(&fixture.program()) else {
        return;
    };
    let decided = stops_right(&place, &fixture);
    qemu.wait().expect("reaped");
    assert_eq!(decided.len(), 2);
    for breakpoint in decided {
        let places = (breakpoint.by_stub, breakpoint.in_program);
        assert_eq!(places, (0, 0), "{breakpoint:?}");
        assert!(!breakpoint.by_stops.is_empty(), "{breakpoint:?}");
    }
}

/// Where a condition doesn't hold, QEMU need not make a step: the debugger does what the instruction would have done.
#[test]
fn registers_are_loaded_right_where_conditions_do_not_hold_behind_qemu() {
    const MARKS: [&str; 12] = [
        "tiny", "byte", "small", "half", "number", "natural", "wide", "copies", "pointer",
        "address", "indirect", "result",
    ];
    let fixture = Fixture::new("loads.c");
    let Some((mut qemu, place)) = qemu(&fixture.program()) else {
        return;
    };
    let session = Session::new();
    attach(
        &session,
        &json!({"target": place, "program": fixture.program()}),
    );
    let never = MARKS.map(|mark| fixture.breakpoint(mark).with_condition("turn == 1000"));
    let wanted = never.into_iter().chain([fixture.breakpoint("end")]);
    let set = session.set_source(&fixture, wanted.collect());
    assert!(set.iter().all(|it| it.verified), "{set:?}");
    session.configured();
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0, "the sum is right");
    session.disconnect();
    qemu.wait().expect("reaped");
}

#[test]
fn conditions_hold_behind_lldbs_stub() {
    let fixture = Fixture::new("stub_conditions.c");
    let Some((mut stub, place)) = lldb_server(&[&fixture.program()]) else {
        return;
    };
    stops_right(&place, &fixture);
    stub.wait().expect("reaped");
}
