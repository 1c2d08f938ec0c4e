//! Threads that are ended while the kernel is reporting one of their events in more than one stop.

use crate::support::fixture;
use dapple_engine::event::ExitStatus;
use dapple_engine::{Error, Event, ThreadId};

/// Ends one thread after the other while they create threads or children all the time.
fn end_makers(what: &str) {
    const ROUNDS: usize = 40;
    let fixture = fixture("makers.c", &[]);
    let rounds = ROUNDS.to_string();
    let mut debuggee = fixture.launch_with(&[what, &rounds]);
    debuggee.resume();
    let main = ThreadId(debuggee.session().process().pid);
    let mut refused = 0;
    for round in 0..ROUNDS {
        let maker = loop {
            match debuggee.next_event() {
                Event::ThreadStarted(thread) if thread != main => break thread,
                Event::Exited(status) => panic!("in round {round}: {status:?}"),
                _ => {}
            }
        };
        while let Err(error) = debuggee.session().end_threads(vec![maker]) {
            assert!(matches!(error, Error::Refused(_)), "{error}");
            refused += 1;
        }
        loop {
            match debuggee.next_event() {
                Event::ThreadExited(thread) if thread == maker => break,
                Event::ThreadExited(_) | Event::ThreadStarted(_) => {}
                other => panic!("in round {round}: {other:?}"),
            }
        }
    }
    println!("{what}: refused {refused} times");
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(7));
}

#[test]
fn a_thread_is_ended_in_the_middle_of_making_threads() {
    end_makers("clone");
}

#[test]
fn a_thread_is_ended_in_the_middle_of_forking() {
    end_makers("fork");
}

#[test]
fn a_thread_that_lends_its_memory_to_a_child_is_ended_when_it_has_that_back() {
    end_makers("vfork");
}
