//! Steps of one thread while other threads start and end threads, fork, spawn, send it signals, and run another program.

use crate::support::{Debuggee, Fixture, fixture};
use dapple_engine::ThreadId;
use dapple_engine::event::ExitStatus;
use dapple_engine::session::StepKind::{self, Instruction, Into, Out, Over};
use dapple_engine::session::{StepOptions, StepUnit};

/// The number of rounds.
const ROUNDS: usize = 12;

/// The steps of a round, and where each ends.
const ROUND: [(StepKind, &str); 11] = [
    (Into, "outer"),
    (Over, "outer last"),
    (Into, "inner"),
    (Over, "inner end"),
    (Out, "outer last"),
    (Over, "outer end"),
    (Out, "round"),
    (Over, "round end"),
    (Into, "inner"),
    (Out, "round end"),
    (Over, "for"),
];

fn step(debuggee: &mut Debuggee<'_>, thread: ThreadId, kind: StepKind, unit: StepUnit) -> String {
    let options = StepOptions {
        unit,
        ..StepOptions::default()
    };
    let session = debuggee.session();
    session.step_as(thread, kind, options).unwrap();
    let stops = debuggee.expect_stop();
    assert_eq!(stops[0].thread, thread, "{stops:?}");
    let place = debuggee.place(thread);
    match place.contains("for (") {
        true => "for".into(),
        false => place,
    }
}

fn at_round<'a>(fixture: &'a Fixture, rounds: &str) -> (Debuggee<'a>, ThreadId) {
    let mut debuggee = fixture.launch_with(&[rounds]);
    debuggee.break_at(&["round"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    debuggee.break_at(&[]);
    (debuggee, thread)
}

/// Runs to the end, and checks by the program's counts that it was not disturbed.
fn expect_all_well(mut debuggee: Debuggee<'_>) {
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(41));
    let counts = debuggee.stdout.split_whitespace().map(str::parse::<u32>);
    let counts: Vec<u32> = counts.map(Result::unwrap).collect();
    assert_eq!(counts.len(), 6, "{counts:?}");
    assert_eq!(counts[0], 0, "something went wrong: {counts:?}");
    assert!(counts[1..].iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn steps_end_where_they_would_without_company() {
    let fixture = fixture("stepping/company.c", &["-O0"]);
    let (mut debuggee, thread) = at_round(&fixture, &(ROUNDS + 1).to_string());
    for round in 0..ROUNDS {
        let unit = match round % 2 {
            0 => StepUnit::Line,
            _ => StepUnit::Statement,
        };
        let mut way = Vec::new();
        for (kind, expected) in ROUND {
            let place = step(&mut debuggee, thread, kind, unit);
            way.push(format!("{kind:?} → {place}"));
            assert_eq!(place, expected, "round {round}: {way:#?}");
        }
        // The `for` line has two statements.
        while step(&mut debuggee, thread, Over, unit) == "for" {}
        assert_eq!(debuggee.place(thread), "round");
    }
    expect_all_well(debuggee);
}

#[test]
fn instructions_lead_through_what_signals_interrupt() {
    let fixture = fixture("stepping/company.c", &["-O0"]);
    let (mut debuggee, thread) = at_round(&fixture, "2");
    let left =
        (0..50_000).any(|_| step(&mut debuggee, thread, Instruction, StepUnit::Line) == "over");
    assert!(left, "still in the loop");
    expect_all_well(debuggee);
}

#[test]
fn another_program_in_place_of_the_stepping_thread_runs_on() {
    let fixture = fixture("stepping/company.c", &["-O0"]);
    for kind in [Over, Into, Out] {
        let mut debuggee = fixture.launch_with(&["1"]);
        debuggee.break_at(&["another"]);
        let (thread, _) = debuggee.run_to_breakpoint();
        debuggee.session().step(thread, kind).unwrap();
        assert_eq!(debuggee.expect_exit(), ExitStatus::Code(41), "{kind:?}");
    }
}
