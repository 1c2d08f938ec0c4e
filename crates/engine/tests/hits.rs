//! Breakpoints that decide for themselves, in several threads at once and between stops: nothing is missed or counted twice.

mod support;

use dapple_engine::Event;
use dapple_engine::event::{ExitStatus, StopReason};
use dapple_engine::session::{BreakpointOptions, LineBreakpoint};
use support::{Debuggee, fixture};

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
    let text = |event: &Event| match event {
        Event::Logged(logged) => Some(logged.text.clone()),
        _ => None,
    };
    debuggee.seen.iter().filter_map(text).collect()
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
        // It may have ended meanwhile, which is what the loop is for.
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
    use dapple_engine::session::StepKind::Over;
    let next = debuggee.step(thread, Over);
    assert!(next.contains("visit(&point, i)"), "{next}");
    assert_eq!(debuggee.step(thread, Over), "head");
    let (_, place) = debuggee.run_to_breakpoint();
    assert_eq!(place, "print");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}
