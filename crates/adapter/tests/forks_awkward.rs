//! Children that can't be followed, or whose parents are gone: none of them hangs.

use crate::support;
use crate::support::fixture::fixtures_folder;
use crate::support::running::kill;
use crate::support::{Fixture, PATIENCE, Session, is_alive};
use crossbeam_channel::{Receiver, unbounded};
use dapple_adapter::ServeOptions;
use dapple_dap::message::{Empty, Raw};
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

type Configuration = BTreeMap<String, Raw>;

/// The output of an undisturbed `forks.c once`.
const UNDISTURBED: &str =
    "child: blocks 0, continued 0, dumpable 1\nparent: exited with 3, SIGCHLD 1, stops 0\n";

/// A session whose client records the configurations of the children for which it is asked to open sessions.
fn session(options: ServeOptions) -> (Session, Receiver<Configuration>) {
    let arguments = support::initialize_arguments().with_supports_start_debugging_request(true);
    let session = Session::serving(options, arguments);
    let (sender, children) = unbounded();
    session.on::<StartDebuggingRequest>(move |arguments| {
        // The receiver may be gone when the test is over.
        let _ = sender.send(arguments.configuration);
        Ok(Empty)
    });
    (session, children)
}

fn attach(configuration: Configuration) -> AttachRequestArguments {
    let mut arguments = AttachRequestArguments::new();
    arguments.other = configuration;
    arguments
}

#[test]
fn a_child_whose_session_does_not_come_in_time_runs_free_and_that_is_said() {
    let fixture = Fixture::new("forks.c");
    let options = ServeOptions {
        child_patience: Duration::from_millis(1),
        ..ServeOptions::default()
    };
    let (session, children) = self::session(options);
    session.launch(&fixture, json!({"args": ["once"], "followForks": "both"}));
    session.set_breakpoints(&fixture, &["child"]);
    session.configured();
    children.recv_timeout(PATIENCE).expect("a child");
    session.wait_for_written(
        OutputEventCategory::Console,
        "runs without a debugger: no session has come for it within 0.001 seconds",
    );
    assert_eq!(session.exit_code(), 6);
    assert_eq!(session.output(OutputEventCategory::Stdout), UNDISTURBED);
}

#[test]
fn a_child_under_a_filter_of_system_calls_runs_free_and_both_sessions_say_why() {
    let (confined, program) = (Fixture::new("confined.c"), Fixture::new("forks.c"));
    let (parent, children) = session(ServeOptions::default());
    let arguments = ["filter", &program.program(), "once"];
    parent.launch(&confined, json!({"args": arguments, "followForks": "both"}));
    parent.configured();
    let configuration = children.recv_timeout(PATIENCE).expect("a child");
    let child = Session::new();
    let refused = child.refused::<AttachRequest>(attach(configuration));
    assert!(refused.sentence.contains("seccomp"), "{refused:?}");
    parent.wait_for_written(OutputEventCategory::Console, "seccomp");
    assert_eq!(parent.exit_code(), 6);
    assert_eq!(parent.output(OutputEventCategory::Stdout), UNDISTURBED);
}

/// Makes a named pipe and opens both its ends.
fn pipe(name: &str) -> (PathBuf, File) {
    let path = fixtures_folder().join(format!("{name}-{}.pipe", std::process::id()));
    // An earlier run of the tests may have had the same process id.
    let _ = std::fs::remove_file(&path);
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()));
    let file = File::options().read(true).write(true).open(&path);
    (path, file.expect("a pipe"))
}

/// Waits until a process has a child. Returns the child's process id.
fn child_of(process: i64) -> i64 {
    let path = format!("/proc/{process}/task/{process}/children");
    let start = Instant::now();
    loop {
        let children = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(child) = children.split_whitespace().next() {
            return child.parse().expect("a number");
        }
        assert!(start.elapsed() < PATIENCE, "no child of {process}");
        std::thread::yield_now();
    }
}

#[test]
fn a_child_of_vfork_goes_on_when_its_parent_is_killed() {
    let (fixture, program) = (Fixture::new("orphans.c"), Fixture::new("forks.c"));
    for follow in ["parent", "child", "both"] {
        let (place, mut pipe) = pipe(follow);
        let (session, children) = self::session(ServeOptions::default());
        let arguments: Value = json!({
            "args": [place, program.program()],
            "followForks": follow,
        });
        session.launch(&fixture, arguments);
        let process = session.process_id();
        session.set_breakpoints(&fixture, &["read"]);
        session.configured();
        session.wait_for_written(OutputEventCategory::Stdout, "here\n");
        let child = child_of(process);
        kill("-KILL", process as i32);
        assert_eq!(session.exit_code(), 128 + 9);
        pipe.write_all(b"x").expect("the child reads");
        // The child runs untraced past the places where breakpoints were, and executes another program.
        let start = Instant::now();
        while is_alive(child) {
            assert!(start.elapsed() < PATIENCE, "{follow}: {child} waits");
            std::thread::yield_now();
        }
        assert!(children.is_empty(), "{follow}");
        let _ = std::fs::remove_file(place);
    }
}

#[test]
fn many_threads_are_paused_while_one_waits_for_its_child() {
    let fixture = Fixture::new("crowd.c");
    let (place, mut pipe) = pipe("crowd");
    let (session, _children) = session(ServeOptions::default());
    session.launch(&fixture, json!({"args": [place]}));
    session.configured();
    session.wait_for_written(OutputEventCategory::Stdout, "here\n");
    let process = session.process_id();
    for _ in 0..3 {
        session.ok::<PauseRequest>(PauseArguments::new(process));
        let stop = session.stopped(StoppedEventReason::Pause);
        let threads = session.ok::<ThreadsRequest>(Empty {}).threads;
        assert_eq!(threads.len(), 21);
        session.resume(stop.thread);
    }
    pipe.write_all(b"x").expect("the child reads");
    assert_eq!(session.exit_code(), 7);
    let _ = std::fs::remove_file(place);
}
