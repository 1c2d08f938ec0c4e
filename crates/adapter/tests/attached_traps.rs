//! SIGTRAP in a program that was attached to: the debugger gives the program a handler of it, and nobody notices.

use crate::support::running::{Running, kill};
use crate::support::{Fixture, PATIENCE, Session, Stopped};
use dapple_dap::types::*;
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::time::Instant;

const SIGTRAP: i32 = 5;

/// A session with the program, with a breakpoint where it works.
fn attached(running: &Running, fixture: &Fixture) -> Session {
    attached_following(running, fixture, "parent")
}

/// As [`attached`]; `which`: the process that is debugged after a fork.
fn attached_following(running: &Running, fixture: &Fixture, which: &str) -> Session {
    let session = Session::new();
    let arguments = json!({"pid": running.pid(), "followForks": which});
    let arguments = serde_json::from_value(arguments).expect("an object");
    session.ok::<AttachRequest>(arguments);
    session.wait_for::<InitializedEvent>();
    session.set_source(fixture, vec![fixture.breakpoint("work")]);
    session.configured();
    session
}

fn started() -> (Fixture, Running, Session) {
    let fixture = Fixture::new("traps.c");
    let running = Running::start(&fixture.binary, &[]);
    let session = attached(&running, &fixture);
    (fixture, running, session)
}

/// Has the program do something that meets the breakpoint, and lets it go on.
#[track_caller]
fn works(running: &mut Running, fixture: &Fixture, session: &Session, how: &str, count: u32) {
    running.tell(how);
    let stop = session.stopped_at(fixture, "work", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    assert_eq!(running.line(), format!("worked {count}"));
}

/// Whether a program handles SIGTRAP.
fn handles(running: &Running) -> bool {
    let caught = u64::from_str_radix(&running.status("SigCgt"), 16).expect("a mask");
    caught & 1 << (SIGTRAP - 1) != 0
}

/// Waits until the program handles SIGTRAP, or doesn't.
#[track_caller]
fn until_it_handles(running: &Running, wanted: bool) {
    let begin = Instant::now();
    while handles(running) != wanted {
        assert!(begin.elapsed() < PATIENCE, "it never does");
        std::thread::yield_now();
    }
}

/// What is mapped in a program, but its heap and stack.
fn mapped(running: &Running) -> Vec<String> {
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", running.pid())).expect("it lives");
    let lines = maps.lines().filter(|line| !line.ends_with(']'));
    lines.map(str::to_owned).collect()
}

fn stopped(session: &Session) -> Stopped {
    session.stopped(StoppedEventReason::Exception)
}

#[test]
fn a_program_that_is_left_has_nothing_of_the_handler() {
    let fixture = Fixture::new("traps.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let before = mapped(&running);
    for count in [1, 2] {
        let session = attached(&running, &fixture);
        works(&mut running, &fixture, &session, "work", count);
        assert!(handles(&running));
        session.disconnect();
        assert_eq!(running.status("TracerPid"), "0");
        assert!(!handles(&running));
        assert_eq!(mapped(&running), before);
    }
    running.tell("trap");
    assert_eq!(
        running.child.wait().expect("its end").signal(),
        Some(SIGTRAP)
    );
}

#[test]
fn a_handler_of_the_programs_own_stays_and_handles() {
    let (fixture, mut running, session) = started();
    works(&mut running, &fixture, &session, "work", 1);
    assert_eq!(running.ask("handle"), "handles");
    for (count, how) in (1..).zip(["raise", "raise"]) {
        running.tell(how);
        session.resume(stopped(&session).thread);
        assert_eq!(running.line(), format!("handled {count}"));
    }
    works(&mut running, &fixture, &session, "work", 2);
    session.disconnect();
    assert!(handles(&running));
    assert_eq!(running.ask("trap"), "handled 3");
    let session = attached(&running, &fixture);
    works(&mut running, &fixture, &session, "work", 3);
    session.disconnect();
    assert_eq!(running.ask("raise"), "handled 4");
}

#[test]
fn a_signal_from_outside_ends_the_program_as_ever() {
    let (fixture, mut running, session) = started();
    works(&mut running, &fixture, &session, "work", 1);
    kill("-TRAP", running.pid());
    session.resume(stopped(&session).thread);
    // As a shell says that it was killed by SIGTRAP.
    assert_eq!(
        session.wait_for::<ExitedEvent>().exit_code,
        128 + i64::from(SIGTRAP)
    );
}

#[test]
fn children_that_trap_end_by_that() {
    let (fixture, mut running, session) = started();
    works(&mut running, &fixture, &session, "work", 1);
    for how in ["fork", "vfork"] {
        assert_eq!(running.ask(how), "ended by 5", "{how}");
    }
    works(&mut running, &fixture, &session, "work", 2);
    session.disconnect();
    for how in ["fork", "vfork"] {
        assert_eq!(running.ask(how), "ended by 5", "{how}");
    }
}

#[test]
fn a_thread_that_blocks_signals_and_another_program_do_not_end_it() {
    let (fixture, mut running, session) = started();
    // The kernel forgets the handler when a thread traps that blocks the signal.
    works(&mut running, &fixture, &session, "wait", 1);
    works(&mut running, &fixture, &session, "work", 2);
    assert!(handles(&running));
    running.tell("again");
    running.is_ready();
    until_it_handles(&running, true);
    works(&mut running, &fixture, &session, "work", 1);
    session.disconnect();
    assert!(!handles(&running));
}

#[test]
fn a_child_that_is_followed_and_its_parent_have_nothing_of_the_handler() {
    let fixture = Fixture::new("traps.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let before = mapped(&running);
    let session = attached_following(&running, &fixture, "child");
    works(&mut running, &fixture, &session, "work", 1);
    running.tell("fork");
    // At its own trap instruction.
    stopped(&session);
    until_it_handles(&running, false);
    assert_eq!(mapped(&running), before);
    session.disconnect();
    assert_eq!(running.line(), "exited with 0");
}
