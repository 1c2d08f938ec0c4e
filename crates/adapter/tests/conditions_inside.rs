//! Conditions and counts of hits that the program decides by itself: the same stops as ever, and nobody can tell.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped, waits};
use dapple_adapter::{DecidedRequest, DecidedResponse};
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;

/// As many turns as by a stop for each would take ten seconds.
const MANY: i64 = 1_000_000;
/// More than the stops of a session here, and far fewer than the turns.
const FEW: u64 = 2_000;

/// Launches the program in a mode, with so many turns, and sets a breakpoint.
#[track_caller]
fn started(fixture: &Fixture, mode: &str, turns: i64, wanted: SourceBreakpoint) -> (Session, i64) {
    let turns = turns.to_string();
    started_with(fixture, json!({"args": [mode, turns]}), wanted)
}

/// Launches the program with these arguments of the launch, and sets a breakpoint.
#[track_caller]
fn started_with(
    fixture: &Fixture,
    arguments: serde_json::Value,
    wanted: SourceBreakpoint,
) -> (Session, i64) {
    let session = Session::new();
    session.launch(fixture, arguments);
    let [breakpoint] = &session.set_source(fixture, vec![wanted])[..] else {
        panic!("one breakpoint");
    };
    assert!(breakpoint.verified, "{breakpoint:?}");
    session.configured();
    let process = session.process_id();
    (session, process)
}

/// Waits for a stop at the marked line. The thread has hardly stopped before.
#[track_caller]
fn stopped(session: &(Session, i64), fixture: &Fixture, name: &str) -> Stopped {
    let (session, process) = session;
    let stop = session.stopped_at(fixture, name, StoppedEventReason::Breakpoint);
    let waited = waits(*process, stop.thread);
    assert!(waited < FEW, "the thread has stopped {waited} times");
    stop
}

/// Stops once, at the turn before the last ten, and ends well.
#[track_caller]
fn stops_once(fixture: &Fixture, condition: &str) {
    let wanted = fixture.breakpoint("turn").with_condition(condition);
    let running = started(fixture, "plain", MANY, wanted);
    let (session, _) = &running;
    let stop = stopped(&running, fixture, "turn");
    let i = MANY - 10;
    assert_eq!(
        session.evaluate(&stop.top, "i"),
        i.to_string(),
        "{condition}"
    );
    assert_eq!(
        session.evaluate(&stop.top, "sum"),
        (i * (i - 1)).to_string()
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn a_condition_that_is_false_costs_no_stop() {
    let fixture = Fixture::new("counted_turns.c");
    stops_once(&fixture, "i == 999990");
}

#[test]
fn every_hit_stops_the_thread_where_that_is_wanted() {
    let fixture = Fixture::new("counted_turns.c");
    let turns = FEW as i64 + 100;
    let wanted = fixture
        .breakpoint("turn")
        .with_condition(format!("i == {}", turns - 1));
    let arguments = json!({"args": ["plain", turns.to_string()], "conditionsInProgram": false});
    let (session, process) = started_with(&fixture, arguments, wanted);
    let stop = session.stopped_at(&fixture, "turn", StoppedEventReason::Breakpoint);
    let waited = waits(process, stop.thread);
    assert!(
        waited >= turns as u64,
        "the thread has stopped {waited} times"
    );
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn conditions_on_fields_thread_locals_and_fractions_cost_no_stops() {
    let fixture = Fixture::new("counted_turns.c");
    stops_once(
        &fixture,
        "i > 0 && outer->inner->weight == 999990L * 999989 && i != 0",
    );
    stops_once(&fixture, "own == 999990");
    stops_once(
        &fixture,
        "outer->ratio >= 499995.0 && outer->ratio < 499995.5",
    );
}

#[test]
fn hits_that_do_not_count_cost_no_stops() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture.breakpoint("turn").with_hit_condition("% 250000");
    let running = started(&fixture, "plain", MANY, wanted);
    let (session, _) = &running;
    for hit in 1..=4 {
        let stop = stopped(&running, &fixture, "turn");
        assert_eq!(
            session.evaluate(&stop.top, "i"),
            (hit * 250_000 - 1).to_string()
        );
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn only_hits_count_for_which_the_condition_holds() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture
        .breakpoint("turn")
        .with_condition("i % 3 == 0")
        .with_hit_condition("== 300001");
    let running = started(&fixture, "plain", MANY, wanted);
    let (session, _) = &running;
    let stop = stopped(&running, &fixture, "turn");
    assert_eq!(session.evaluate(&stop.top, "i"), "900000");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn a_threads_passes_are_counted_and_it_stops_at_a_certain_one() {
    let fixture = Fixture::new("counted_turns.c");
    // No other thread stops.
    let first = fixture.breakpoint("turn").with_hit_condition("== 1");
    let running = started(&fixture, "threads", MANY / 10, first);
    let (session, process) = &running;
    let stop = session.stopped_at(&fixture, "turn", StoppedEventReason::Breakpoint);
    // A place, a thread, and values of registers.
    let sp = session.evaluate(&stop.top, "$sp");
    let condition = format!("$thread == {} && $sp == {sp}", stop.thread);
    let breakpoint = fixture.breakpoint("turn");
    let breakpoint = breakpoint.with_condition(condition);
    let first = session.evaluate(&stop.top, "i").parse::<i64>().unwrap();
    session.set_source(&fixture, vec![breakpoint.with_hit_condition("== 50000")]);
    let is_decided = |answer: &DecidedResponse| answer.breakpoints[0].in_program == 1;
    session.resume(stop.thread);
    let decided = session.ok::<DecidedRequest>(Empty).breakpoints.remove(0);
    // It is counted up, and down to the hit on which it acts.
    let left = decided.skips.map_or(0, |skips| skips + 1);
    assert_eq!(decided.hits + left, 50_000);
    let stop = session.stopped_at(&fixture, "turn", StoppedEventReason::Breakpoint);
    assert!(waits(*process, stop.thread) < FEW);
    assert_eq!(
        session.evaluate(&stop.top, "i"),
        (first + 50_000).to_string()
    );
    let answer = session.ok::<DecidedRequest>(Empty);
    assert!(is_decided(&answer), "{answer:?}");
    let decided = &answer.breakpoints[0];
    assert_eq!((decided.hits, decided.skips), (50_000, None));
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn hits_of_all_threads_are_counted_once_each() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture
        .breakpoint("turn")
        .with_hit_condition("% 10000")
        .with_log_message("hit");
    let running = started(&fixture, "threads", MANY / 4, wanted);
    let (session, _) = &running;
    assert_eq!(session.exit_code(), 0);
    let text = session.output(OutputEventCategory::Console);
    assert_eq!(text.lines().filter(|line| *line == "hit").count(), 100);
    running.0.disconnect();
}

#[test]
fn hits_at_all_places_of_a_line_are_counted_together() {
    let fixture = Fixture::new("counted_places.c");
    let wanted = fixture.breakpoint("add").with_hit_condition("% 300003");
    let running = started_with(&fixture, json!({"args": [MANY.to_string()]}), wanted);
    let (session, _) = &running;
    for hit in 1..=3 {
        let stop = stopped(&running, &fixture, "add");
        let turn = hit * 300_003 - 1;
        let shown = if turn % 4 == 3 { turn } else { 2 * turn };
        assert_eq!(session.evaluate(&stop.top, "turn"), shown.to_string());
        if hit > 1 {
            let decided = session.ok::<DecidedRequest>(Empty).breakpoints.remove(0);
            let counted = (decided.in_program, decided.hits);
            assert_eq!(counted, (2, 300_003 * hit as u64));
        }
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn hits_in_the_next_program_are_counted_on() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture.breakpoint("turn").with_hit_condition("1500000");
    let running = started(&fixture, "executes", MANY, wanted);
    let (session, _) = &running;
    let stop = stopped(&running, &fixture, "turn");
    assert_eq!(session.evaluate(&stop.top, "i"), "499999");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn a_condition_on_the_thread_costs_no_stops() {
    let fixture = Fixture::new("counted_turns.c");
    stops_once(&fixture, "$thread == first && i == 999990");
    let wanted = fixture
        .breakpoint("turn")
        .with_condition("$thread != first && i == 200000")
        .with_log_message("thread {$thread}");
    let running = started(&fixture, "threads", MANY / 4, wanted);
    let (session, _) = &running;
    assert_eq!(session.exit_code(), 0);
    let text = session.output(OutputEventCategory::Console);
    let seen = text.lines().filter(|line| line.starts_with("thread "));
    assert_eq!(seen.collect::<std::collections::BTreeSet<_>>().len(), 4);
    running.0.disconnect();
}

#[test]
fn a_thread_that_the_library_does_not_know_has_its_own_id() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture
        .breakpoint("turn")
        .with_condition("$thread != first");
    let running = started(&fixture, "foreign", MANY / 100, wanted);
    let (session, process) = &running;
    for turn in ["0", "1", "2"] {
        let stop = stopped(&running, &fixture, "turn");
        assert_ne!(stop.thread, *process);
        assert_eq!(session.evaluate(&stop.top, "i"), turn);
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

/// Checks that the program decides a false condition at a place, after 10,000 turns at the end.
#[track_caller]
fn is_decided_inside(fixture: &Fixture, (place, end): (&str, &str), conditions: &[&str]) {
    // `compared` has one thread.
    let first = if end == "done" { "1" } else { "10000" };
    for condition in conditions {
        let session = Session::new();
        session.launch(
            fixture,
            json!({"args": [first, "10000"], "conditionsInProgram": true}),
        );
        let wanted = fixture.breakpoint(place).with_condition(*condition);
        session.set_source(fixture, vec![wanted, fixture.breakpoint(end)]);
        session.configured();
        session.stopped_at(fixture, end, StoppedEventReason::Breakpoint);
        let answer = session.ok::<DecidedRequest>(Empty);
        let decided = &answer.breakpoints[0];
        assert_eq!(decided.in_program, 1, "{condition}: {decided:?}");
        session.disconnect();
    }
}

#[test]
fn numbers_with_a_fraction_in_registers_cost_no_stops() {
    let fixture = Fixture::built("compared.c", Optimization::Full, Linking::Pie);
    is_decided_inside(
        &fixture,
        ("13", "done"),
        &["d > 40000", "f * 8 == 101 && d != 0"],
    );
}

#[test]
fn choices_sizes_and_casts_cost_no_stops() {
    let fixture = Fixture::new("compared.c");
    is_decided_inside(
        &fixture,
        ("13", "done"),
        &[
            "(b ? n : 3) > 100",
            "sizeof(struct outer) < sizeof first.bytes",
            "p->inner && ((struct inner *)(void *)p->inner)->depth == -500",
            "(p->inner ? p->inner->depth : 7) == -500",
            "&first == first.next",
            "(enum color)uc == LAST",
        ],
    );
}

#[test]
fn comparisons_with_variants_cost_no_stops() {
    let fixture = Fixture::new("compared.rs");
    is_decided_inside(
        &fixture,
        ("18", "done"),
        &[
            "choice == Some(500)",
            "outer.form == Form::Named { name: \"nobody\", sides: 3 }",
            "outer.form == Form::Round(1000) || outer.result == Ok(5000)",
            "choice.is_some() && choice.0 == 500",
            "outer.pair == (3, 1)",
            "outer.near == Some(\"nobody\")",
        ],
    );
}

#[test]
fn lengths_of_containers_cost_no_stops() {
    let cpp = [
        "tree.size() > 100 || table.size() == 21",
        "list.size() + words.size() > 150",
        "name == \"neither\" || longer.size() == 3",
        "view == \"ode\" || view.empty()",
    ];
    is_decided_inside(&Fixture::new("measured.cpp"), ("turn", "full"), &cpp);
    let rust = [
        "tree.len() > 100 || ordered.len() == 51",
        "table.len() + set.len() > 50",
        "queue.len() > 9 || queue.is_empty()",
        "near == Some(\"four\")",
    ];
    is_decided_inside(&Fixture::new("measured.rs"), ("turn", "full"), &rust);
}

#[test]
fn places_of_functions_with_jump_tables_cost_no_stops() {
    let fixture = Fixture::new("jump_tables.c");
    for place in ["before", "one", "behind"] {
        is_decided_inside(&fixture, (place, "end"), &["kind == 100 || i < 0"]);
    }
    let fixture = Fixture::built("jump_tables.c", Optimization::Full, Linking::Pie);
    is_decided_inside(&fixture, ("behind", "end"), &["i < 0"]);
}

#[test]
fn the_step_after_a_stop_goes_through_what_was_replaced() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture.breakpoint("turn").with_condition("i == 999990");
    let running = started(&fixture, "plain", MANY, wanted);
    let (session, _) = &running;
    let stop = stopped(&running, &fixture, "turn");
    let arguments = NextArguments::new(stop.thread);
    session.ok::<NextRequest>(arguments.with_granularity(SteppingGranularity::Instruction));
    let stop = session.stopped(StoppedEventReason::Step);
    assert_eq!(session.evaluate(&stop.top, "i"), "999990");
    let stop = session.next(&stop, &fixture, "behind");
    assert_eq!(session.evaluate(&stop.top, "sum"), "999981000090");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn reads_and_disassembly_show_the_programs_own_code() {
    let fixture = Fixture::new("counted_turns.c");
    let session = Session::new();
    session.launch(
        &fixture,
        json!({"args": ["plain", MANY.to_string()], "stopOnEntry": true}),
    );
    session.configured();
    let process = session.process_id();
    let running = (session, process);
    let (session, _) = &running;
    let entry = session.stopped(StoppedEventReason::Entry);
    let code = |stop: &Stopped| {
        let reference = session.evaluate(&stop.top, "&turns");
        let address = { reference.split_whitespace() }.find(|word| word.starts_with("0x"));
        let address = address
            .expect("an address")
            .trim_end_matches([':', ','])
            .to_owned();
        let memory = ReadMemoryArguments::new(address.clone(), 256);
        let memory = session.ok::<ReadMemoryRequest>(memory);
        let listed = DisassembleArguments::new(address, 60);
        let listed = session.ok::<DisassembleRequest>(listed).instructions;
        let listed: Vec<String> = listed.into_iter().map(|it| it.instruction).collect();
        (memory.data, listed)
    };
    let before = code(&entry);
    session.set_source(
        &fixture,
        vec![fixture.breakpoint("turn").with_condition("i == 999990")],
    );
    session.resume(entry.thread);
    let stop = stopped(&running, &fixture, "turn");
    assert_eq!(code(&stop), before);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn signal_handlers_run_return_and_jump_away() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture.breakpoint("turn").with_condition("i == -1");
    let running = started(&fixture, "signals", 3 * MANY, wanted);
    let (session, _) = &running;
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn children_have_the_programs_own_code() {
    let fixture = Fixture::new("counted_turns.c");
    let plain = std::process::Command::new(fixture.program())
        .arg("text")
        .output();
    let own = String::from_utf8(plain.expect("it runs").stdout).expect("text");
    let wanted = fixture.breakpoint("turn").with_condition("i == -1");
    let running = started(&fixture, "forks", MANY / 10, wanted);
    let (session, _) = &running;
    assert_eq!(session.exit_code(), 0);
    assert_eq!(session.output(OutputEventCategory::Stdout), own.repeat(10));
    running.0.disconnect();
}

#[test]
fn a_condition_that_cannot_be_read_stops_the_program_with_the_reason() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture
        .breakpoint("turn")
        .with_condition("outer->inner->weight == -1");
    let running = started(&fixture, "faults", MANY, wanted);
    let (session, _) = &running;
    for i in 0..3 {
        let stop = stopped(&running, &fixture, "turn");
        assert_eq!(session.evaluate(&stop.top, "i"), i.to_string());
        let text = stop.event.text.clone().unwrap_or_default();
        assert!(text.contains("can't be evaluated"), "{text}");
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn a_paused_thread_is_in_the_programs_own_code() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture
        .breakpoint("turn")
        .with_condition("i == -1 || outer->ratio < 0");
    let running = started(&fixture, "endless", 100, wanted);
    let (session, process) = &running;
    for _ in 0..50 {
        session.ok::<PauseRequest>(PauseArguments::new(*process));
        let stop = session.stopped(StoppedEventReason::Pause);
        assert_ne!(stop.top.name, "", "{:?}", stop.top);
        if stop.top.name == "turns" {
            assert_eq!(session.evaluate(&stop.top, "count"), "100");
        }
        session.resume(stop.thread);
    }
    // The condition can be replaced while the program runs, and the breakpoint taken away.
    session.set_source(
        &fixture,
        vec![fixture.breakpoint("turn").with_condition("i == 77")],
    );
    let stop = session.stopped_at(&fixture, "turn", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "i"), "77");
    session.set_source(&fixture, vec![]);
    session.resume(stop.thread);
    session.set_source(
        &fixture,
        vec![fixture.breakpoint("end").with_condition("count != 100")],
    );
    session.ok::<PauseRequest>(PauseArguments::new(*process));
    let stop = session.stopped(StoppedEventReason::Pause);
    session.set_source(&fixture, vec![]);
    session.evaluate(&stop.top, "running = 0");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn the_next_program_has_the_breakpoint_too() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture.breakpoint("turn").with_condition("i == 999990");
    let running = started(&fixture, "executes", MANY, wanted);
    let (session, _) = &running;
    for _ in 0..2 {
        let stop = stopped(&running, &fixture, "turn");
        assert_eq!(session.evaluate(&stop.top, "i"), "999990");
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    running.0.disconnect();
}

#[test]
fn what_a_condition_reads_is_no_access_to_watched_data() {
    let fixture = Fixture::new("counted_turns.c");
    let wanted = fixture.breakpoint("turn").with_condition("own == 500000");
    let running = started(&fixture, "plain", MANY, wanted);
    let (session, _) = &running;
    let stop = stopped(&running, &fixture, "turn");
    let arguments =
        DataBreakpointInfoArguments::new("outer->inner->weight").with_frame_id(stop.top.id);
    let info = session.ok::<DataBreakpointInfoRequest>(arguments);
    let id = info.data_id.expect("it can be watched");
    let watched = DataBreakpoint::new(id).with_access_type(DataBreakpointAccessType::ReadWrite);
    session.ok::<SetDataBreakpointsRequest>(SetDataBreakpointsArguments::new(vec![watched]));
    let condition = fixture
        .breakpoint("turn")
        .with_condition("outer->inner->weight == -1");
    session.set_source(&fixture, vec![condition]);
    session.resume(stop.thread);
    let written = fixture.line("behind") + 1;
    for _ in 0..100 {
        let stop = session.stopped(StoppedEventReason::DataBreakpoint);
        // The write is the only access: the thread is behind it, at the loop's end or its head.
        assert!(
            stop.top.line == written || stop.top.line == written - 6,
            "{:?}",
            stop.top
        );
        session.resume(stop.thread);
    }
    running.0.disconnect();
}
