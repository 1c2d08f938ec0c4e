//! Programs whose first thread has ended, as with `pthread_exit` in `main`: attaching, stopping, ending.

use crate::support::running::{Running, changed_text, kill};
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

fn attached(fixture: &Fixture, running: &Running) -> Session {
    let session = Session::new();
    let arguments = serde_json::from_value(json!({"pid": running.pid()})).expect("an object");
    session.ok::<AttachRequest>(arguments);
    session.wait_for::<InitializedEvent>();
    session.set_breakpoints(fixture, &["work"]);
    session.configured();
    session
}

#[test]
fn a_process_without_its_first_thread_stops_and_goes_on_unharmed() {
    let fixture = Fixture::new("headless.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = attached(&fixture, &running);
    running.tell("work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stop.top, "worked"), "0");
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    assert_eq!(threads.len(), 1, "{threads:?}");
    session.resume(stop.thread);
    assert_eq!(running.line(), "worked 1");
    session.disconnect();
    assert_eq!(running.ask("work"), "worked 2");
    let thread = std::fs::read_dir(format!("/proc/{}/task", running.pid()))
        .expect("it lives")
        .filter_map(|task| task.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .max()
        .expect("a thread");
    assert_eq!(changed_text(thread), Vec::<String>::new());
}

#[test]
fn it_is_found_by_its_name() {
    let fixture = Fixture::new("headless.c").renamed("a-headless-program");
    let mut running = Running::start(&fixture.binary, &[]);
    let name = fixture
        .binary
        .file_name()
        .expect("a name")
        .to_string_lossy();
    let session = Session::new();
    let arguments = serde_json::from_value(json!({"program": name})).expect("an object");
    session.ok::<AttachRequest>(arguments);
    session.wait_for::<InitializedEvent>();
    session.configured();
    running.tell("quit 3");
    assert_eq!(session.exit_code(), 3);
    session.disconnect();
    std::fs::remove_file(&fixture.binary).expect("the copy is there");
}

#[test]
fn its_end_is_told_as_it_was() {
    let fixture = Fixture::new("headless.c");
    for (order, code) in [("quit 7", 7), ("end", 0), ("", 143)] {
        let mut running = Running::start(&fixture.binary, &[]);
        let session = attached(&fixture, &running);
        match order {
            "" => kill("-TERM", running.pid()),
            order => running.tell(order),
        }
        assert_eq!(session.exit_code(), code, "{order}");
        session.disconnect();
    }
}

#[test]
fn a_launched_program_goes_on_without_its_first_thread() {
    let fixture = Fixture::new("headless.c");
    let session = Session::started(&fixture, json!({"stdin": "console"}), &["work"]);
    session.wait_for_output("ready");
    let typed = |text: &str| {
        let arguments = EvaluateArguments::new(text).with_context(EvaluateArgumentsContext::Repl);
        session.ok::<EvaluateRequest>(arguments);
    };
    typed(">work");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.ok::<PauseRequest>(PauseArguments::new(stop.thread));
    session.resume(stop.thread);
    typed(">quit 5");
    assert_eq!(session.exit_code(), 5);
    session.disconnect();
}
