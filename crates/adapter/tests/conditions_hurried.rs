//! Breakpoints whose conditions the program decides change nothing in a program with many threads, signals, jumps out of handlers, children and
//! exceptions, whatever the user does meanwhile.

use crate::random_conditions::Numbers;
use crate::support::fixture::{Linking, Optimization, fixtures_folder};
use crate::support::{Fixture, PATIENCE, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

/// How often each of two threads passes the breakpoint that counts hits.
const TURNS: usize = 40_000;
/// Every hit of so many is logged, in half of the sessions.
const EACH: usize = 500;
/// Breakpoints with conditions that never hold.
const FALSE: [(&str, &str); 7] = [
    ("add", "i == -1"),
    ("canary", "turns_of_each == -1"),
    ("handler", "i < 0 || sum > 1000"),
    ("leaving", "sum < 0"),
    ("short", "right == 0"),
    ("caught", "sum == -1 && thrown > 0"),
    ("canary", "turns_of_each < 0 || wrong_canaries._M_i != 0"),
];

/// A session, with what is asked of it at random.
struct Hurry<'a> {
    session: Session,
    process: i64,
    fixture: &'a Fixture,
    numbers: Numbers,
    /// Of how many hits one is logged. If it is each, the program writes the messages.
    each: usize,
}

impl Hurry<'_> {
    /// Sets the breakpoint that counts, some with conditions that never hold, and one that stops, maybe.
    fn set(&mut self, stops: Option<(&str, String)>) {
        let at = |name: &str| SourceBreakpoint::new(self.fixture.line(name));
        let logs = at("counted").with_log_message("hit");
        let mut wanted = vec![match self.each {
            1 => logs,
            each => logs.with_hit_condition(format!("% {each}")),
        }];
        let mut used = BTreeSet::new();
        if let Some((name, condition)) = &stops {
            used.insert(*name);
            wanted.push(at(name).with_condition(condition.clone()));
        }
        for (name, condition) in FALSE {
            if self.numbers.below(4) > 0 && used.insert(name) {
                wanted.push(at(name).with_condition(condition));
            }
        }
        let source = Source::new().with_path(self.fixture.path());
        let arguments = SetBreakpointsArguments::new(source).with_breakpoints(wanted);
        for breakpoint in { self.session.ok::<SetBreakpointsRequest>(arguments) }.breakpoints {
            assert!(breakpoint.verified, "{breakpoint:?}");
        }
    }

    /// Waits for a stop, and skips the notices of threads that had stopped with the one before.
    #[track_caller]
    fn stopped(&self, reason: StoppedEventReason) -> Stopped {
        loop {
            let event = self.session.wait_for::<StoppedEvent>();
            if event.all_threads_stopped != Some(true) {
                continue;
            }
            let is_meant = event.reason == reason;
            assert!(is_meant, "{reason:?}: {}", described(&self.session, &event));
            let thread = event.thread_id.expect("a stop names its thread");
            let top = self.session.stack(thread).remove(0);
            return Stopped { thread, top, event };
        }
    }

    #[track_caller]
    fn pause(&self) -> Stopped {
        let pause = PauseArguments::new(self.process);
        self.session.ok::<PauseRequest>(pause);
        self.stopped(StoppedEventReason::Pause)
    }

    /// Lets a thread stop where its condition holds, and makes some steps there.
    fn stop_and_step(&mut self) {
        let turn = 100 + self.numbers.below(150);
        let (name, condition) = match self.numbers.below(4) {
            0 => ("leaving", format!("i == {turn}")),
            1 => ("canary", format!("turns_of_each == {TURNS}")),
            2 => ("caught", format!("thrown == {}", turn | 1)),
            _ => ("add", format!("i == {turn}")),
        };
        self.set(Some((name, condition)));
        let mut stop = self.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(
            stop.top.line,
            self.fixture.line(name),
            "{stop:?}",
            stop = stop.event
        );
        self.set(None);
        for _ in 0..self.numbers.below(5) {
            let mut arguments = NextArguments::new(stop.thread);
            if self.numbers.below(2) == 0 {
                arguments = arguments.with_granularity(SteppingGranularity::Instruction);
            }
            self.session.ok::<NextRequest>(arguments);
            stop = self.stopped(StoppedEventReason::Step);
        }
        self.session.resume(stop.thread);
    }

    fn act(&mut self) {
        match self.numbers.below(5) {
            0 => self.set(None),
            1 => self.stop_and_step(),
            choice => {
                let stop = self.pause();
                if choice == 2 {
                    for thread in { self.session.ok::<ThreadsRequest>(Empty) }.threads {
                        self.session.stack(thread.id);
                    }
                }
                if choice == 3 {
                    self.set(None);
                }
                self.session.resume(stop.thread);
            }
        }
    }
}

/// The text that will come out of a named pipe.
fn text_of(pipe: &Path) -> Receiver<std::io::Result<String>> {
    let (sender, receiver) = channel();
    let pipe = pipe.to_owned();
    std::thread::spawn(move || sender.send(std::fs::read_to_string(pipe)));
    receiver
}

/// Checks the results that the program has written.
#[track_caller]
fn assert_right(results: &Receiver<std::io::Result<String>>, about: &str) {
    let text = results.recv_timeout(PATIENCE).expect("it writes");
    let text = text.expect("a text");
    assert!(text.ends_with("right\n"), "{about}: {text}");
}

/// A stop, with what may explain it.
fn described(session: &Session, event: &StoppedEventBody) -> String {
    let stack = session.stack(event.thread_id.unwrap_or_default());
    let names: Vec<_> = stack.iter().map(|it| (&it.name, it.line)).collect();
    let own_turn = session.evaluate(&stack[0], "own_turn");
    format!("{event:?} in {names:?}, own_turn {own_turn}")
}

/// How a session ends.
#[derive(Debug, Clone, Copy)]
enum End {
    WithTheProgram,
    Terminating,
    LettingItRun,
}

fn hurry(optimization: Optimization, seed: u64, end: End) {
    let fixture = Fixture::built("hurried.cpp", optimization, Linking::Pie);
    let pipe = fixtures_folder().join(format!(
        "hurried-{}-{seed}-{optimization:?}",
        std::process::id()
    ));
    let _ = std::fs::remove_file(&pipe);
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let session = Session::new();
    session.launch(&fixture, json!({"args": [TURNS.to_string(), pipe]}));
    let mut hurry = Hurry {
        session,
        process: 0,
        fixture: &fixture,
        numbers: Numbers::new(seed),
        each: if seed.is_multiple_of(2) { EACH } else { 1 },
    };
    hurry.set(None);
    hurry.session.configured();
    hurry.process = hurry.session.process_id();
    for _ in 0..10 {
        hurry.act();
    }
    let stop = hurry.pause();
    let results = text_of(&pipe);
    let about = format!("{optimization:?} seed {seed} {end:?}");
    match end {
        End::Terminating => hurry.session.disconnect(),
        End::LettingItRun => {
            let session = hurry.session;
            session.evaluate(&stop.top, "may_end = 1");
            if seed.is_multiple_of(2) {
                session.resume(stop.thread);
            }
            let arguments = DisconnectArguments::new().with_terminate_debuggee(false);
            session.ok::<DisconnectRequest>(arguments);
            assert_right(&results, &about);
        }
        End::WithTheProgram => {
            let Hurry { session, each, .. } = hurry;
            session.evaluate(&stop.top, "may_end = 1");
            session.resume(stop.thread);
            while session.ends_or_stops() {
                let event = session.wait_for::<StoppedEvent>();
                // A thread may have stopped with another before.
                let is_new = event.all_threads_stopped == Some(true);
                assert!(!is_new, "{about}: {}", described(&session, &event));
            }
            assert_right(&results, &about);
            assert_eq!(session.exit_code(), 0, "{about}");
            let console = session.output(OutputEventCategory::Console);
            let hits = console.lines().filter(|line| *line == "hit").count();
            assert_eq!(hits, 2 * TURNS / each, "{about}");
            session.disconnect();
        }
    }
    let _ = std::fs::remove_file(&pipe);
}

/// The seeds of the sessions (`DAPPLE_SEEDS=100..150` has others).
fn seeds(few: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let given = std::env::var("DAPPLE_SEEDS").ok();
    let given = given.as_deref().and_then(|text| text.split_once(".."));
    let numbers = given.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    numbers.unwrap_or(few)
}

#[test]
fn a_hurried_program_ends_well_and_all_its_hits_are_counted() {
    for seed in seeds(0..2) {
        hurry(Optimization::None, seed, End::WithTheProgram);
    }
}

#[test]
fn an_optimized_hurried_program_ends_well_and_all_its_hits_are_counted() {
    for seed in seeds(0..2) {
        hurry(Optimization::Full, seed, End::WithTheProgram);
    }
}

#[test]
fn a_hurried_program_runs_on_by_itself() {
    for seed in seeds(0..2) {
        hurry(Optimization::None, seed + 5000, End::LettingItRun);
    }
}

#[test]
fn a_hurried_program_can_be_ended() {
    for seed in seeds(0..1) {
        hurry(Optimization::None, seed + 9000, End::Terminating);
    }
}
