//! Breakpoints with conditions, hit counts and log messages, in several threads at once and between stops: no hit is missed or counted
//! twice.

use crate::support;
use crate::support::{Debuggee, fixture, inline};
use dapple_engine::event::{ExitStatus, StopReason};
use dapple_engine::session::StepKind::{Instruction, Into, Out, Over};
use dapple_engine::session::watching::{Access, DataBreakpoint, WatchedData};
use dapple_engine::session::{BreakpointOptions, LineBreakpoint, StepKind};
use dapple_engine::signals::SignalTable;
use dapple_engine::{Event, ThreadId};
use dapple_symbols::functions::Language;

fn options(condition: &str, hits: &str, log: &str) -> BreakpointOptions {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    BreakpointOptions {
        condition: given(condition),
        hits: given(hits),
        log: given(log),
    }
}

fn set(debuggee: &Debuggee<'_>, wanted: &[(&str, BreakpointOptions)]) -> Vec<i64> {
    let line = |(name, options): &(&str, BreakpointOptions)| LineBreakpoint {
        line: debuggee.fixture.line(name),
        options: options.clone(),
        ..LineBreakpoint::default()
    };
    let wanted = wanted.iter().map(line).collect();
    let set = debuggee
        .session()
        .set_line_breakpoints(&debuggee.fixture.source, wanted);
    set.unwrap().iter().map(|state| state.id).collect()
}

fn logged(debuggee: &Debuggee<'_>) -> Vec<String> {
    let texts = |event: &Event| match event {
        Event::Logged(logged) => vec![logged.text.clone()],
        Event::LoggedLines(logged) => {
            let text = String::from_utf8_lossy(&logged.text);
            text.lines().map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    debuggee.seen.iter().flat_map(texts).collect()
}

#[test]
fn each_thread_is_asked_for_itself() {
    let threads = fixture("threads.c", &[]);
    let mut debuggee = threads.launch();
    let ids = set(
        &debuggee,
        &[
            ("hit", options("work->index == 2", "25", "")),
            ("round", options("", "", "{work->index} {round}")),
        ],
    );
    debuggee.resume();
    let stops = debuggee.expect_stop();
    assert_eq!(stops[0].reason, StopReason::Breakpoint(vec![ids[0]]));
    let own = debuggee.session().evaluate("work->own", None).unwrap();
    assert_eq!(own.1.text, "24");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    let mut wanted: Vec<String> = Vec::new();
    for index in 0..4 {
        wanted.extend((0..25).map(|round| format!("{index} {round}")));
    }
    let mut found = logged(&debuggee);
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn pauses_between_hits_lose_none() {
    let threads = fixture("threads.c", &[]);
    let mut debuggee = threads.launch_with(&["300"]);
    set(
        &debuggee,
        &[
            ("hit", options("work->own < 0", "", "")),
            ("hit", options("", "", "x")),
            ("round", options("", ">= 100000", "")),
        ],
    );
    debuggee.resume();
    let mut pauses = 0;
    loop {
        // Fails if the program has ended, which ends the loop.
        let _ = debuggee.session().pause(None);
        match debuggee.wait() {
            support::Outcome::Exited(status) => {
                assert_eq!(status, ExitStatus::Code(0), "{}", debuggee.stdout);
                break;
            }
            support::Outcome::Stopped(stops) => {
                assert_eq!(stops[0].reason, StopReason::Pause);
                pauses += 1;
                let _ = debuggee.session().resume();
            }
        }
    }
    assert!(pauses > 0, "it was never paused");
    assert_eq!(logged(&debuggee).len(), 4 * 300);
}

#[test]
fn a_step_over_a_loop_of_hits_ends_where_it_should() {
    let program = fixture("conditions.c", &[]);
    let mut debuggee = program.launch();
    set(
        &debuggee,
        &[
            ("visit", options("i == -1", "", "")),
            ("loop", options("", "1", "")),
            ("print", options("", "", "")),
        ],
    );
    let (thread, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "loop");
    let next = debuggee.step(thread, Over);
    assert!(next.contains("visit(&point, i)"), "{next}");
    assert_eq!(debuggee.step(thread, Over), "head");
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "print");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

/// Sets a data breakpoint on writes of `total`.
fn watch_total(debuggee: &Debuggee<'_>) {
    let wanted = DataBreakpoint {
        data: WatchedData::Static {
            name: "total".to_owned(),
            language: Language::C,
            length: None,
        },
        access: Access::Write,
        options: BreakpointOptions::default(),
    };
    let set = debuggee.session().set_data_breakpoints(vec![wanted]);
    assert_eq!(set.unwrap()[0].refused, None);
}

/// Runs to the next write of `total`. The thread then is at the breakpoints of the next line, which haven't been evaluated yet.
fn run_to_write(debuggee: &mut Debuggee<'_>) -> ThreadId {
    debuggee.resume();
    let stops = debuggee.expect_stop();
    assert!(
        matches!(stops[0].reason, StopReason::Data(_)),
        "{stops:?} at {}",
        debuggee.place(stops[0].thread)
    );
    assert_eq!(debuggee.place(stops[0].thread), "add-end");
    stops[0].thread
}

#[track_caller]
fn step_to(debuggee: &mut Debuggee<'_>, thread: ThreadId, kind: StepKind, place: &str) {
    let reached = debuggee.step(thread, kind);
    assert!(reached.ends_with(place), "{kind:?} to {reached}");
}

#[test]
fn what_a_thread_has_come_to_by_writing_acts_before_each_kind_of_step() {
    let watch = fixture("watch.c", &[]);
    let cases = [
        (Instruction, "}"),
        (Over, "}"),
        (Into, "}"),
        (Out, "begin-loop"),
    ];
    for (kind, place) in cases {
        let mut debuggee = watch.launch();
        let ids = set(
            &debuggee,
            &[
                ("add-end", options("", "", "total {total}")),
                ("add-end", options("", ">= 2", "")),
                ("add-end", options("total == 6", "", "")),
            ],
        );
        watch_total(&debuggee);

        let thread = run_to_write(&mut debuggee);
        assert_eq!(logged(&debuggee), [""; 0], "{kind:?}");
        step_to(&mut debuggee, thread, kind, place);
        assert_eq!(logged(&debuggee), ["total 1"], "{kind:?}");

        // A resumed thread stops at a breakpoint that is due where it stands. A thread that steps on has already shown the place, so it
        // doesn't.
        run_to_write(&mut debuggee);
        debuggee.resume();
        let stops = debuggee.expect_stop();
        assert_eq!(stops[0].reason, StopReason::Breakpoint(vec![ids[1]]));
        assert_eq!(logged(&debuggee), ["total 1", "total 3"], "{kind:?}");
        step_to(&mut debuggee, thread, kind, place);

        run_to_write(&mut debuggee);
        step_to(&mut debuggee, thread, kind, place);
        let all = ["total 1", "total 3", "total 6"];
        assert_eq!(logged(&debuggee), all, "{kind:?}");
        debuggee.session().set_data_breakpoints(vec![]).unwrap();
        debuggee.resume();
        assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
        assert_eq!(logged(&debuggee), all, "{kind:?}");
    }
}

/// A program that sends itself a signal by an instruction of its own, so that the signal arrives on the next line.
const RAISES: &str = r#"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int handled;
static void handler(int number) { handled += number > 0; }
int main(void) {
    int process = getpid();
    signal(SIGUSR1, handler);
    for (int round = 0; round < 3; round++) {
        __asm__ volatile("syscall" : : "a"(SYS_kill), "D"(process), "S"(SIGUSR1) : "rcx", "r11", "memory");
        handled += 10; // stop: next
        handled += 100; // stop: behind
    }
    return handled == 333 ? 0 : 1;
}
"#;

#[test]
fn what_a_thread_has_come_to_before_a_signal_acts_behind_the_handler() {
    let program = inline("raises.c", RAISES, &[]);
    let steps = [None, Some(Instruction), Some(Over), Some(Into), Some(Out)];
    for step in steps {
        let mut debuggee = program.launch();
        let ids = set(
            &debuggee,
            &[
                ("next", options("", "", "handled {handled}")),
                ("next", options("", "3", "")),
            ],
        );
        let mut table = SignalTable::default();
        table.change("SIGUSR1").unwrap();
        debuggee.session().set_signals(table).unwrap();
        debuggee.resume();
        for round in 0..3 {
            let stops = debuggee.expect_stop();
            let thread = stops[0].thread;
            assert!(
                matches!(stops[0].reason, StopReason::Signal { .. }),
                "{stops:?} at {}, {step:?}",
                debuggee.place(thread)
            );
            assert_eq!(debuggee.place(thread), "next", "{step:?}");
            let before: Vec<String> = (0..round)
                .map(|n| format!("handled {}", n * 111 + 1))
                .collect();
            assert_eq!(logged(&debuggee), before, "{step:?}");
            match step {
                None | Some(Out) => {}
                // Steps into the handler, and resumes there.
                Some(Instruction) => step_to(
                    &mut debuggee,
                    thread,
                    Instruction,
                    "{ handled += number > 0; }",
                ),
                Some(kind) => step_to(&mut debuggee, thread, kind, "behind"),
            }
            match step {
                Some(Out) => debuggee.session().step(thread, Out).unwrap(),
                _ => debuggee.resume(),
            }
        }
        // The third stop is omitted for a thread that has stepped to the place. A step out of `main` runs on.
        if matches!(step, None | Some(Instruction | Out)) {
            let stops = debuggee.expect_stop();
            assert_eq!(stops[0].reason, StopReason::Breakpoint(vec![ids[1]]));
            debuggee.resume();
        }
        assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0), "{step:?}");
        assert_eq!(
            logged(&debuggee),
            ["handled 1", "handled 112", "handled 223"]
        );
    }
}
