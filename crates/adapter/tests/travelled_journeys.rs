//! Random journeys in the past of recorded programs: back and forth, by steps of all kinds and to breakpoints that come and go. Wherever a
//! journey comes by, the program is as it was; its end is the present, from where it goes on as if nothing had been.
//!
//! `DAPPLE_SEEDS=100..150` makes others.

use crate::random_conditions::Numbers;
use crate::support::snapshot::{Snapshot, writable};
use crate::support::{Fixture, Session, Stopped};
use dapple_dap::client::ClientError;
use dapple_dap::message::Request;
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::Range;

/// How many moves a journey has.
const MOVES: usize = 24;
/// The lines that may have breakpoints.
const PLACES: [&str; 9] = [
    "body", "mixed", "depth", "deeper", "counts", "mixes", "visited", "text", "visits",
];

/// The seeds of the journeys of each program.
fn seeds() -> Range<u64> {
    let given = std::env::var("DAPPLE_SEEDS").ok();
    let given = given.as_deref().and_then(|text| text.split_once(".."));
    let numbers = given.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    numbers.unwrap_or(0..1)
}

/// What a journey does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    Next,
    NextInstruction,
    StepIn,
    StepOut,
    Continue,
    StepBack,
    StepBackInstruction,
    ReverseContinue,
}

const MOVES_OF_ALL_KINDS: [Move; 8] = [
    Move::Next,
    Move::NextInstruction,
    Move::StepIn,
    Move::StepOut,
    Move::Continue,
    Move::StepBack,
    Move::StepBackInstruction,
    Move::ReverseContinue,
];

impl Move {
    fn is_back(self) -> bool {
        matches!(
            self,
            Move::StepBack | Move::StepBackInstruction | Move::ReverseContinue
        )
    }
}

/// A recorded program in its past.
struct Journey<'a> {
    session: Session,
    fixture: &'a Fixture,
    writable: Vec<Range<u64>>,
    /// The states at the line `visited`, by the moment that the program counts.
    known: BTreeMap<u64, Snapshot>,
    /// The present.
    last: Snapshot,
    /// What was done, for the reader of a failed test.
    log: String,
}

impl Journey<'_> {
    /// Runs the program to its last line, and takes the state at each visit.
    fn recorded<'a>(fixture: &'a Fixture, what: &str, about: String) -> (Journey<'a>, Stopped) {
        let session = Session::new();
        session.launch(fixture, json!({"record": true, "args": [what]}));
        session.set_breakpoints(fixture, &["visited", "last"]);
        session.configured();
        let process = session.process_id();
        let mut states = Vec::new();
        let (mut stop, mut memory);
        loop {
            stop = session.stopped(StoppedEventReason::Breakpoint);
            memory = writable(process);
            if stop.top.line == fixture.line("last") {
                break;
            }
            let moment = moment_of(&session, &stop);
            states.push((moment, Snapshot::of(&session, &stop, &memory)));
            session.resume(stop.thread);
        }
        assert!(states.len() >= 6, "{} visits", states.len());
        let last = Snapshot::of(&session, &stop, &memory);
        let journey = Journey {
            session,
            fixture,
            writable: memory,
            known: states.into_iter().collect(),
            last,
            log: about,
        };
        (journey, stop)
    }

    /// Sets breakpoints at some of the lines.
    fn sets_breakpoints(&mut self, numbers: &mut Numbers) {
        let mut names: Vec<&str> = PLACES
            .into_iter()
            .filter(|_| numbers.below(4) == 0)
            .collect();
        self.log += &format!("\nbreakpoints at {names:?}");
        names.push("last");
        self.session.set_breakpoints(self.fixture, &names);
    }

    fn is_present(&self, stop: &Stopped) -> bool {
        stop.top.line == self.fixture.line("last") && stop.top.name == "main"
    }

    /// Makes a move. `None`: it is refused, and the program stays where it is.
    #[track_caller]
    fn moves(&mut self, stop: &Stopped, what: Move) -> Option<Stopped> {
        let thread = stop.thread;
        let instruction = SteppingGranularity::Instruction;
        let session = &self.session;
        let done = match what {
            Move::Next => asked::<NextRequest>(session, NextArguments::new(thread)),
            Move::NextInstruction => asked::<NextRequest>(
                session,
                NextArguments::new(thread).with_granularity(instruction),
            ),
            Move::StepIn => asked::<StepInRequest>(session, StepInArguments::new(thread)),
            Move::StepOut => asked::<StepOutRequest>(session, StepOutArguments::new(thread)),
            Move::Continue => {
                session.resume(thread);
                Ok(())
            }
            Move::StepBack => asked::<StepBackRequest>(session, StepBackArguments::new(thread)),
            Move::StepBackInstruction => asked::<StepBackRequest>(
                session,
                StepBackArguments::new(thread).with_granularity(instruction),
            ),
            Move::ReverseContinue => {
                asked::<ReverseContinueRequest>(session, ReverseContinueArguments::new(thread))
            }
        };
        if let Err(why) = done {
            self.log += &format!("\n{what:?}: {why}");
            return None;
        }
        let event = self.session.wait_for::<StoppedEvent>();
        let thread = event.thread_id.expect("a stop names its thread");
        let top = self.session.stack(thread).remove(0);
        self.log += &format!(
            "\n{what:?}: {:?} at {}:{} in thread {thread}",
            event.reason, top.name, top.line
        );
        assert_ne!(
            event.reason,
            StoppedEventReason::Pause,
            "{event:?} {}",
            self.log
        );
        Some(Stopped { thread, top, event })
    }

    /// Checks a state that is known.
    #[track_caller]
    fn checks(&self, stop: &Stopped) {
        let is_visit = stop.top.line == self.fixture.line("visited")
            && stop.event.reason == StoppedEventReason::Breakpoint;
        if is_visit {
            let moment = moment_of(&self.session, stop);
            let then = self.known.get(&moment);
            let then = then.unwrap_or_else(|| panic!("no visit had moment {moment}: {}", self.log));
            self.is_as(stop, then);
        }
        if self.is_present(stop) {
            self.is_as(stop, &self.last);
        }
    }

    #[track_caller]
    fn is_as(&self, stop: &Stopped, then: &Snapshot) {
        let now = Snapshot::of(&self.session, stop, &self.writable);
        assert_eq!(now.differences(then), "", "{}", self.log);
    }

    /// Goes an instruction forward and back, which leads to the same state.
    #[track_caller]
    fn there_and_back(&mut self, stop: Stopped) -> Stopped {
        let before = Snapshot::of(&self.session, &stop, &self.writable);
        let depth = self.session.stack(stop.thread).len();
        let Some(there) = self.moves(&stop, Move::NextInstruction) else {
            return stop;
        };
        if there.event.reason != StoppedEventReason::Step || there.thread != stop.thread {
            return there;
        }
        // A function may return to itself.
        let is_same_frame =
            there.top.name == stop.top.name && self.session.stack(there.thread).len() == depth;
        let Some(back) = self.moves(&there, Move::StepBackInstruction) else {
            return there;
        };
        if is_same_frame {
            self.is_as(&back, &before);
        }
        back
    }
}

fn asked<R: Request>(session: &Session, arguments: R::Arguments) -> Result<(), String> {
    match session.request::<R>(arguments) {
        Ok(_) => Ok(()),
        Err(ClientError::Failed(failure)) => Err(failure.sentence.clone()),
        Err(other) => panic!("{other}"),
    }
}

/// How many moments the program has counted.
#[track_caller]
fn moment_of(session: &Session, stop: &Stopped) -> u64 {
    let value = session.evaluate(&stop.top, "*(unsigned long *)&moment");
    value.parse().unwrap_or_else(|_| panic!("{value}"))
}

/// Makes journeys in a program's past.
fn journeys_of(what: &str) {
    let fixture = Fixture::new("journey.c");
    for seed in seeds() {
        let about = format!("journey.c {what}, seed {seed}");
        let mut numbers = Numbers::new(seed);
        let (mut journey, mut stop) = Journey::recorded(&fixture, what, about);
        let mut moment = moment_of(&journey.session, &stop);
        for _ in 0..MOVES {
            if numbers.below(3) == 0 {
                journey.sets_breakpoints(&mut numbers);
            }
            if journey.is_present(&stop) {
                // Forwards is out of the past.
                let back = [
                    Move::StepBack,
                    Move::ReverseContinue,
                    Move::StepBackInstruction,
                ];
                let back = back[numbers.below(back.len())];
                match journey.moves(&stop, back) {
                    Some(there) => stop = there,
                    None => continue,
                }
                moment = moment.min(moment_of(&journey.session, &stop));
                continue;
            }
            let is_beginning = stop.event.reason == StoppedEventReason::Entry;
            if !is_beginning && numbers.below(6) == 0 {
                stop = journey.there_and_back(stop);
                moment = moment_of(&journey.session, &stop);
                continue;
            }
            let next = match is_beginning {
                true => Move::Continue,
                false => MOVES_OF_ALL_KINDS[numbers.below(MOVES_OF_ALL_KINDS.len())],
            };
            let Some(there) = journey.moves(&stop, next) else {
                continue;
            };
            let now = moment_of(&journey.session, &there);
            let is_in_order = match next.is_back() {
                true => now <= moment,
                false => now >= moment,
            };
            assert!(
                is_in_order,
                "moment {moment} and then {now}: {}",
                journey.log
            );
            journey.checks(&there);
            (stop, moment) = (there, now);
        }
        let Journey { session, .. } = &journey;
        session.set_breakpoints(&fixture, &["last"]);
        if !journey.is_present(&stop) {
            stop = journey.moves(&stop, Move::Continue).expect("it runs");
            assert!(journey.is_present(&stop), "{}", journey.log);
        }
        journey.is_as(&stop, &journey.last);
        journey.session.resume(stop.thread);
        assert_eq!(journey.session.exit_code(), 0, "{}", journey.log);
        let output = journey.session.output(OutputEventCategory::Stdout);
        assert_eq!(
            output,
            format!("{} moments\n", moment_in_the_end(&journey)),
            "{}",
            journey.log
        );
    }
}

fn moment_in_the_end(journey: &Journey<'_>) -> u64 {
    journey
        .known
        .keys()
        .next_back()
        .copied()
        .unwrap_or_default()
}

#[test]
fn journeys_in_the_past_of_one_thread_end_in_the_present() {
    journeys_of("alone");
}

#[test]
fn journeys_in_the_past_of_several_threads_end_in_the_present() {
    journeys_of("threads");
}

#[test]
fn journeys_in_the_past_of_a_program_with_signals_end_in_the_present() {
    journeys_of("signals");
}
