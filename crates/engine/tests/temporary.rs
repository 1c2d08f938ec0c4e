//! Temporary breakpoints, which are removed when a thread stops at them.

use crate::support::{Debuggee, Fixture, Outcome, fixture, inline};
use dapple_engine::event::{ExitStatus, StopReason};
use dapple_engine::session::BreakpointOptions;
use dapple_engine::session::breakpoints::{TemporaryBreakpoint, TemporaryPlace};
use dapple_engine::{Error, Event};

/// A temporary breakpoint on a marked line.
fn line(fixture: &Fixture, name: &str) -> TemporaryBreakpoint {
    TemporaryBreakpoint::at(TemporaryPlace::Line {
        file: fixture.source.clone(),
        line: fixture.line(name),
        column: None,
    })
}

/// Waits for a stop at these breakpoints. Returns the place.
#[track_caller]
fn stopped(debuggee: &mut Debuggee<'_>, breakpoints: &[i64]) -> String {
    let stops = debuggee.expect_stop();
    assert_eq!(
        stops[0].reason,
        StopReason::Breakpoint(breakpoints.to_vec())
    );
    debuggee.place(stops[0].thread)
}

#[test]
fn it_stops_once_and_is_gone_and_leaves_others_alone() {
    let fixture = fixture("recursion.c", &[]);
    let mut debuggee = fixture.launch();
    let kept = debuggee.break_at(&["end"]).remove(0).id;
    let session = debuggee.session();
    let once = session
        .set_temporary_breakpoint(line(&fixture, "fact"))
        .unwrap();
    assert_eq!(
        once.position.as_ref().map(|p| p.line),
        Some(fixture.line("fact"))
    );
    assert_ne!(once.id, kept);
    // Replacing the lists of breakpoints doesn't remove the temporary one.
    session.set_function_breakpoints(Vec::new()).unwrap();
    session
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    let kept = debuggee.break_at(&["end"]).remove(0).id;
    debuggee.resume();
    assert_eq!(stopped(&mut debuggee, &[once.id]), "fact");
    debuggee.resume();
    assert_eq!(stopped(&mut debuggee, &[kept]), "end");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    let told = |event: &Event| matches!(event, Event::BreakpointChanged(_));
    assert!(!debuggee.seen.iter().any(told), "{:?}", debuggee.seen);
}

#[test]
fn in_a_frame_it_passes_deeper_calls_and_stops_when_the_frame_is_left() {
    let fixture = fixture("recursion.c", &[]);
    // The line is reached in the frame, after the inner calls have passed it.
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["fact"]);
    debuggee.run_to_breakpoint();
    let (thread, _) = debuggee.run_to_breakpoint();
    debuggee
        .session()
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    let frame = debuggee.session().stack(thread, 0..1).unwrap().frames[0].id;
    let argument = |debuggee: &Debuggee<'_>| {
        let (_, shown) = debuggee.session().evaluate("n", None).unwrap();
        shown.text
    };
    assert_eq!(argument(&debuggee), "4");
    let until = TemporaryBreakpoint {
        frame: Some(frame),
        ..line(&fixture, "multiply")
    };
    let once = debuggee.session().set_temporary_breakpoint(until).unwrap();
    debuggee.resume();
    assert_eq!(stopped(&mut debuggee, &[once.id]), "multiply");
    assert_eq!(argument(&debuggee), "4");

    // The line is never reached: the frame returns before it.
    let frame = debuggee.session().stack(thread, 0..1).unwrap().frames[0].id;
    let until = TemporaryBreakpoint {
        frame: Some(frame),
        ..line(&fixture, "add")
    };
    let once = debuggee.session().set_temporary_breakpoint(until).unwrap();
    debuggee.resume();
    stopped(&mut debuggee, &[once.id]);
    assert_eq!(argument(&debuggee), "5");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

#[test]
fn for_one_thread_it_lets_others_pass() {
    let fixture = fixture("threads.c", &["-O0"]);
    // Enough rounds that no thread finishes them before the next one starts.
    let mut debuggee = fixture.launch_with(&["1000000"]);
    debuggee.break_at(&["hit"]);
    let (first, _) = debuggee.run_to_breakpoint();
    let second = loop {
        let (thread, _) = debuggee.run_to_breakpoint();
        if thread != first {
            break thread;
        }
    };
    debuggee
        .session()
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    let mut wanted: Vec<_> = [second, first]
        .into_iter()
        .map(|thread| {
            let once = TemporaryBreakpoint {
                thread: Some(thread),
                ..line(&fixture, "leave")
            };
            let once = debuggee.session().set_temporary_breakpoint(once).unwrap();
            (thread, StopReason::Breakpoint(vec![once.id]))
        })
        .collect();
    while !wanted.is_empty() {
        debuggee.resume();
        for stop in debuggee.expect_stop() {
            let came = (stop.thread, stop.reason);
            assert!(wanted.contains(&came), "{came:?}, but wanted {wanted:?}");
            wanted.retain(|one| *one != came);
        }
    }
    debuggee.resume();
    assert!(matches!(debuggee.wait(), Outcome::Exited(_)));
}

#[test]
fn it_has_conditions_and_can_be_taken_back() {
    let fixture = fixture("recursion.c", &[]);
    let mut debuggee = fixture.launch();
    let wanted = TemporaryBreakpoint {
        options: BreakpointOptions {
            condition: Some("n == 2".into()),
            ..BreakpointOptions::default()
        },
        ..TemporaryBreakpoint::at(TemporaryPlace::Function {
            name: "fact".into(),
        })
    };
    let session = debuggee.session();
    let once = session.set_temporary_breakpoint(wanted.clone()).unwrap();
    let never = session
        .set_temporary_breakpoint(line(&fixture, "end"))
        .unwrap();
    session.remove_temporary_breakpoint(never.id).unwrap();
    debuggee.resume();
    stopped(&mut debuggee, &[once.id]);
    let (_, shown) = debuggee.session().evaluate("n", None).unwrap();
    assert_eq!(shown.text, "2");
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

#[test]
fn where_it_cannot_be_it_is_refused_and_nothing_is_left() {
    let fixture = fixture("recursion.c", &[]);
    let mut debuggee = fixture.launch();
    let refusal =
        |wanted: TemporaryBreakpoint| match debuggee.session().set_temporary_breakpoint(wanted) {
            Err(Error::Refused(why)) => why,
            other => panic!("it was set: {other:?}"),
        };
    let nowhere = TemporaryPlace::Function {
        name: "no_such_thing".into(),
    };
    assert_eq!(
        refusal(TemporaryBreakpoint::at(nowhere)),
        "no module that is loaded has a function no_such_thing"
    );
    let unmapped = TemporaryPlace::Address(dapple_engine::Address(16));
    assert!(refusal(TemporaryBreakpoint::at(unmapped)).contains("no memory at 0x10"));
    let unreadable = TemporaryBreakpoint {
        options: BreakpointOptions {
            condition: Some("n ==".into()),
            ..BreakpointOptions::default()
        },
        ..line(&fixture, "fact")
    };
    assert!(refusal(unreadable).starts_with("the condition `n ==` can't be read"));
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
}

/// Runs to `start`, and from there to `never`, which the frame never reaches. Returns the place where that run ends, and the program's exit
/// status.
fn left_before(fixture: &Fixture, start: &str, never: &str) -> (String, ExitStatus) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&[start]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    session
        .set_line_breakpoints(&fixture.source, Vec::new())
        .unwrap();
    let frame = session.stack(thread, 0..1).unwrap().frames[0].id;
    let until = TemporaryBreakpoint {
        frame: Some(frame),
        ..line(fixture, never)
    };
    let once = session.set_temporary_breakpoint(until).unwrap();
    debuggee.resume();
    let place = stopped(&mut debuggee, &[once.id]);
    debuggee.resume();
    (place, debuggee.expect_exit())
}

#[test]
fn an_exception_that_leaves_its_frame_ends_it_where_that_is_caught() {
    let text = r#"
#include <cstdio>
static int drops;
struct Guard { ~Guard() { drops++; } };
static void throws(int deep) {
    Guard guard;
    if (deep) {
        throws(deep - 1);
        drops += 100; // stop: never
    }
    throw 1;
}
static void catches_own() {
    Guard guard;
    try { throws(2); } catch (char) {}
    drops += 100; // stop: nor here
}
static void passes() {
    Guard guard;
    try { throws(1); } catch (int) {} // stop: start
    catches_own(); // stop: again
    drops += 100; // stop: neither here
}
int main() {
    try { passes(); }
    catch (int) { // stop: catch
        drops += 10;
    }
    return drops; // stop: end
}
"#;
    let fixture = inline("left.cpp", text, &["-O0"]);
    let ended = (String::from("catch"), ExitStatus::Code(17));
    // An exception that is thrown and caught inside the frame doesn't leave it.
    assert_eq!(left_before(&fixture, "start", "neither here"), ended);
    assert_eq!(left_before(&fixture, "again", "neither here"), ended);
}

#[test]
fn a_jump_or_a_panic_that_leaves_its_frame_ends_it_there() {
    let text = r#"
#include <setjmp.h>
static jmp_buf outer, inner;
static volatile int count;
static void jumps(void) {
    if (!setjmp(inner)) // stop: start
        longjmp(inner, 1);
    count++;
    if (count)
        longjmp(outer, 1);
    count = 100; // stop: never
}
int main(void) {
    if (setjmp(outer) == 0) // stop: setjmp
        jumps();
    return count; // stop: end
}
"#;
    let fixture = inline("left.c", text, &["-O0"]);
    let ended = (String::from("setjmp"), ExitStatus::Code(1));
    assert_eq!(left_before(&fixture, "start", "never"), ended);
    let text = r#"
fn panics(n: i32) -> i32 {
    let text = n.to_string(); // stop: start
    assert!(n > 3, "{text}");
    n // stop: never
}
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(|| panics(1)); // stop: catch
    std::process::exit(result.is_err() as i32 + 4);
}
"#;
    let fixture = inline("left.rs", text, &[]);
    let (place, exit) = left_before(&fixture, "start", "never");
    assert!(place.contains("__rust_try"), "{place}");
    assert_eq!(exit, ExitStatus::Code(5));
}
