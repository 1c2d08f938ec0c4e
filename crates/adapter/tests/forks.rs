//! Programs that fork: a session for each child, debugging the child instead of its parent, and children that are detached.

use crate::support;
use crate::support::running::{Running, changed_text, kill, status};
use crate::support::{Fixture, PATIENCE, Session, is_alive};
use crossbeam_channel::{Receiver, unbounded};
use dapple_adapter::ServeOptions;
use dapple_dap::message::{Empty, Raw};
use dapple_dap::server::Failure;
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::net::UnixStream;

type Configuration = BTreeMap<String, Raw>;

/// A session whose client opens sessions for children: the channel receives the configurations of these sessions.
fn following(
    fixture: &Fixture,
    arguments: Value,
    stops: &[&str],
) -> (Session, Receiver<Configuration>) {
    let session = Session::serving(ServeOptions::default(), follows_forks());
    let children = children_of(&session);
    session.launch(fixture, arguments);
    session.set_breakpoints(fixture, stops);
    session.configured();
    (session, children)
}

fn follows_forks() -> InitializeRequestArguments {
    support::initialize_arguments().with_supports_start_debugging_request(true)
}

fn children_of(session: &Session) -> Receiver<Configuration> {
    let (sender, children) = unbounded();
    session.on::<StartDebuggingRequest>(move |arguments| {
        assert_eq!(
            arguments.request,
            StartDebuggingRequestArgumentsRequest::Attach
        );
        sender
            .send(arguments.configuration)
            .map_err(|_| Failure::new("the test is over"))?;
        Ok(Empty)
    });
    children
}

fn follow_both(mode: &[&str]) -> Value {
    json!({"args": mode, "followForks": "both"})
}

/// Opens the session for a child, as a client does, without `configurationDone`.
fn open(configuration: Configuration) -> (Session, Receiver<Configuration>) {
    let session = Session::serving(ServeOptions::default(), follows_forks());
    let children = children_of(&session);
    let mut arguments = AttachRequestArguments::new();
    arguments.other = configuration;
    session.ok::<AttachRequest>(arguments);
    session.wait_for::<InitializedEvent>();
    (session, children)
}

/// Opens the session for the next child, with breakpoints, and lets it run.
fn next_child(
    children: &Receiver<Configuration>,
    fixture: &Fixture,
    stops: &[&str],
) -> (Session, Receiver<Configuration>) {
    let configuration = children.recv_timeout(PATIENCE).expect("a child");
    let (session, grandchildren) = open(configuration);
    session.set_breakpoints(fixture, stops);
    session.configured();
    (session, grandchildren)
}

fn text(configuration: &Configuration, name: &str) -> Value {
    configuration[name].decode().expect("JSON")
}

#[test]
fn a_child_gets_a_session_of_its_own_and_both_stop_at_their_breakpoints() {
    let fixture = Fixture::new("forks.c");
    let (parent, children) = following(&fixture, follow_both(&["once"]), &["waited"]);
    let configuration = children.recv_timeout(PATIENCE).expect("a child");
    let pid = text(&configuration, "pid");
    let name = text(&configuration, "name");
    assert!(
        name.as_str()
            .is_some_and(|name| name.ends_with(&format!(" {pid}"))),
        "{name}"
    );
    let (child, _) = open(configuration);
    let breakpoints = child.set_breakpoints(&fixture, &["child", "work"]);
    let process = child.wait_for::<ProcessEvent>();
    assert_eq!(process.start_method, Some(ProcessEventStartMethod::Attach));
    assert_eq!(process.system_process_id, pid.as_i64());
    child.configured();
    let stop = child.stopped_at(&fixture, "child", StoppedEventReason::Breakpoint);
    assert_eq!(
        stop.event.hit_breakpoint_ids,
        Some(vec![breakpoints[0].id.unwrap()])
    );
    let names: Vec<String> = child
        .stack(stop.thread)
        .into_iter()
        .map(|f| f.name)
        .collect();
    assert!(names.contains(&"main".to_owned()), "{names:?}");
    child.resume(stop.thread);
    let stop = child.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    assert_eq!(
        stop.event.hit_breakpoint_ids,
        Some(vec![breakpoints[1].id.unwrap()])
    );
    child.resume(stop.thread);
    assert_eq!(child.exit_code(), 3);
    child.disconnect();
    let stop = parent.stopped_at(&fixture, "waited", StoppedEventReason::Breakpoint);
    parent.resume(stop.thread);
    assert_eq!(parent.exit_code(), 6);
    let output = parent.output(OutputEventCategory::Stdout);
    assert_eq!(
        output,
        "child: blocks 0, continued 0, dumpable 1\nparent: exited with 3, SIGCHLD 1, stops 0\n"
    );
    parent.disconnect();
}

/// The output of an undisturbed child and its parent.
fn undisturbed(child: &str) -> String {
    format!(
        "{child}: blocks 0, continued 0, dumpable 1\nparent: exited with 3, SIGCHLD 1, stops 0\n"
    )
}

/// The child's process id, which `forks.c idle` prints.
fn idle_child(session: &Session) -> i32 {
    session.wait_for_output("\n");
    let output = session.output(OutputEventCategory::Stdout);
    let id = output.trim_end().strip_prefix("child ").map(str::parse);
    id.unwrap_or_else(|| panic!("{output:?}")).expect("an id")
}

/// Checks that a process isn't traced and has no breakpoints in its code, then kills it.
fn assert_untraced(process: i32) {
    assert_eq!(status(process, "TracerPid"), "0");
    assert_eq!(changed_text(process), Vec::<String>::new());
    assert_eq!(status(process, "SigBlk"), "0000000000000000");
    kill("-KILL", process);
}

#[test]
fn all_registers_of_a_child_survive_that_it_is_handed_over() {
    let fixture = Fixture::new("forks.c");
    let (parent, children) = following(&fixture, follow_both(&["raw"]), &["parent"]);
    let (child, _) = next_child(&children, &fixture, &["raw child"]);
    let stop = child.stopped_at(&fixture, "raw child", StoppedEventReason::Breakpoint);
    child.resume(stop.thread);
    assert_eq!(child.exit_code(), 3);
    let stop = parent.stopped_at(&fixture, "parent", StoppedEventReason::Breakpoint);
    parent.resume(stop.thread);
    assert_eq!(parent.exit_code(), 6);
    let output = parent.output(OutputEventCategory::Stdout);
    assert_eq!(output, format!("changed 0\n{}", undisturbed("child")));
}

#[test]
fn a_client_without_start_debugging_is_told_once_and_children_run_free() {
    let fixture = Fixture::new("forks.c");
    let session = Session::started(
        &fixture,
        follow_both(&["threads", "4"]),
        &["of thread", "work", "parent"],
    );
    assert_eq!(session.exit_code(), 10 + 11 + 12 + 13);
    let told = session.output(OutputEventCategory::Console);
    assert_eq!(told.matches("without a debugger").count(), 1, "{told}");
    assert!(told.contains("supportsStartDebuggingRequest"), "{told}");
    session.disconnect();

    let session = Session::started(&fixture, follow_both(&["idle"]), &["child", "begin"]);
    let stop = session.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    let child = idle_child(&session);
    session.wait_for_written(OutputEventCategory::Console, "without a debugger");
    assert_untraced(child);
    assert_eq!(session.exit_code(), 6);
    session.wait_for_output("killed by 9");
}

#[test]
fn a_client_that_refuses_a_session_is_told_why_the_child_runs_free() {
    let fixture = Fixture::new("forks.c");
    let session = Session::serving(ServeOptions::default(), follows_forks());
    session.on::<StartDebuggingRequest>(|_| Err(Failure::new("no more windows")));
    session.launch(&fixture, follow_both(&["once"]));
    session.set_breakpoints(&fixture, &["child", "work"]);
    session.configured();
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    session.wait_for_written(OutputEventCategory::Console, "no more windows");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 6);
    assert_eq!(
        session.output(OutputEventCategory::Stdout),
        undisturbed("child")
    );
}

#[test]
fn a_child_whose_session_never_comes_is_let_go_with_the_end_of_its_parents() {
    let fixture = Fixture::new("forks.c");
    for terminate in [true, false] {
        let (mut parent, children) = following(
            &fixture,
            follow_both(&["idle"]),
            &["begin", "child", "parent"],
        );
        let stop = parent.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
        let process = parent.process_id();
        parent.resume(stop.thread);
        let configuration = children.recv_timeout(PATIENCE).expect("a child");
        let child = text(&configuration, "pid").as_i64().expect("an id") as i32;
        assert_ne!(status(child, "TracerPid"), "0");
        let arguments = DisconnectArguments::new().with_terminate_debuggee(terminate);
        parent.ok::<DisconnectRequest>(arguments);
        parent.join();
        assert_untraced(child);
        if !terminate {
            while is_alive(process) {
                std::thread::yield_now();
            }
        }
        // The parent's session is gone.
        let late = Session::new();
        let mut arguments = AttachRequestArguments::new();
        arguments.other = configuration;
        let failure = late.refused::<AttachRequest>(arguments);
        assert!(
            failure.sentence.contains("the session that holds it"),
            "{failure:?}"
        );
    }
}

#[test]
fn a_child_whose_session_fails_in_the_middle_of_the_handover_is_let_go() {
    let fixture = Fixture::new("forks.c");
    // The client either disconnects at once, or after the message that says that the child waits for it.
    for listens in [false, true] {
        let (parent, children) = following(&fixture, follow_both(&["raw"]), &["work", "parent"]);
        let stop = parent.stopped_at(&fixture, "parent", StoppedEventReason::Breakpoint);
        parent.resume(stop.thread);
        let configuration = children.recv_timeout(PATIENCE).expect("a child");
        let place = text(&configuration, "_handedOver");
        let place = place.as_str().expect("a path");
        let mut socket = UnixStream::connect(place).expect("the parent's session waits");
        if listens {
            let mut first = [0];
            socket.read_exact(&mut first).expect("an answer");
        }
        drop(socket);
        let stop = parent.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
        parent.wait_for_written(
            OutputEventCategory::Console,
            "its session could not take it over",
        );
        parent.resume(stop.thread);
        assert_eq!(parent.exit_code(), 6);
        assert_eq!(
            parent.output(OutputEventCategory::Stdout),
            format!("changed 0\n{}", undisturbed("child")),
            "listens: {listens}"
        );
    }
}

#[test]
fn a_child_killed_while_it_waits_for_its_session_is_told_to_that() {
    let fixture = Fixture::new("forks.c");
    let (parent, children) = following(&fixture, follow_both(&["idle"]), &[]);
    let configuration = children.recv_timeout(PATIENCE).expect("a child");
    let child = text(&configuration, "pid").as_i64().expect("an id") as i32;
    kill("-KILL", child);
    // The parent gets SIGCHLD only after the tracer has seen the child's end.
    parent.wait_for_output("parent: killed by 9, SIGCHLD 1, stops 0");
    let late = Session::new();
    let mut arguments = AttachRequestArguments::new();
    arguments.other = configuration;
    let failure = late.refused::<AttachRequest>(arguments);
    assert!(
        failure.sentence.contains("has ended") || failure.sentence.contains("can't be reached"),
        "{failure:?}"
    );
    assert_eq!(parent.exit_code(), 6);
}

#[test]
fn a_signal_that_comes_while_a_child_waits_is_delivered_in_its_session() {
    let fixture = Fixture::new("forks.c");
    let (parent, children) = following(&fixture, follow_both(&["killed"]), &["parent"]);
    // The signal has been sent by now.
    let stop = parent.stopped_at(&fixture, "parent", StoppedEventReason::Breakpoint);
    let configuration = children.recv_timeout(PATIENCE).expect("a child");
    let (child, _) = open(configuration);
    child.configured();
    child.wait_for::<TerminatedEvent>();
    child.wait_for_written(OutputEventCategory::Console, "killed by SIGTERM");
    parent.resume(stop.thread);
    assert_eq!(parent.exit_code(), 6);
    let output = parent.output(OutputEventCategory::Stdout);
    assert_eq!(output, "parent: killed by 15, SIGCHLD 1, stops 0\n");
}

#[test]
fn a_childs_session_stops_at_the_signals_that_its_parents_was_to_stop_at() {
    let fixture = Fixture::new("forks.c");
    let mut arguments = follow_both(&["killed"]);
    arguments["signals"] = json!("SIGTERM");
    let (parent, children) = following(&fixture, arguments, &["parent"]);
    // The signal has been sent by now.
    let stop = parent.stopped_at(&fixture, "parent", StoppedEventReason::Breakpoint);
    let configuration = children.recv_timeout(PATIENCE).expect("a child");
    let (child, _) = open(configuration);
    child.configured();
    let event = child.wait_for::<StoppedEvent>();
    assert_eq!(
        event.text.as_deref().map(|text| text.contains("SIGTERM")),
        Some(true),
        "{event:?}"
    );
    child.resume(event.thread_id.expect("a thread"));
    child.wait_for::<TerminatedEvent>();
    parent.resume(stop.thread);
    assert_eq!(parent.exit_code(), 6);
}

#[test]
fn a_parent_that_ends_at_once_is_told_when_its_child_has_its_session() {
    let fixture = Fixture::new("forks.c");
    let (parent, children) = following(&fixture, follow_both(&["early"]), &[]);
    let process = parent.process_id();
    let configuration = children.recv_timeout(PATIENCE).expect("a child");
    while is_alive(process) {
        std::thread::yield_now();
    }
    let (child, _) = open(configuration);
    child.set_breakpoints(&fixture, &["forked", "child"]);
    child.configured();
    assert_eq!(parent.exit_code(), 9);
    parent.disconnect();
    let stop = child.stopped_at(&fixture, "forked", StoppedEventReason::Breakpoint);
    child.resume(stop.thread);
    let stop = child.stopped_at(&fixture, "child", StoppedEventReason::Breakpoint);
    child.resume(stop.thread);
    // The child writes to the pipe that its parent's session reads.
    assert_eq!(child.exit_code(), 3);
}

#[test]
fn a_childs_child_gets_a_session_too() {
    let fixture = Fixture::new("forks.c");
    let (parent, children) = following(&fixture, follow_both(&["nested"]), &["parent"]);
    let (child, grandchildren) = next_child(&children, &fixture, &["child"]);
    let (grandchild, _) = next_child(&grandchildren, &fixture, &["grandchild"]);
    let stop = grandchild.stopped_at(&fixture, "grandchild", StoppedEventReason::Breakpoint);
    grandchild.resume(stop.thread);
    assert_eq!(grandchild.exit_code(), 3);
    let stop = child.stopped_at(&fixture, "child", StoppedEventReason::Breakpoint);
    child.resume(stop.thread);
    assert_eq!(child.exit_code(), 3);
    let stop = parent.stopped_at(&fixture, "parent", StoppedEventReason::Breakpoint);
    parent.resume(stop.thread);
    assert_eq!(parent.exit_code(), 6);
}

#[test]
fn children_of_several_threads_each_get_a_session() {
    let fixture = Fixture::new("forks.c");
    let (parent, children) = following(&fixture, follow_both(&["threads", "3"]), &[]);
    let sessions: Vec<Session> = (0..3)
        .map(|_| next_child(&children, &fixture, &["of thread"]).0)
        .collect();
    let mut codes: Vec<i64> = sessions
        .iter()
        .map(|child| {
            let stop = child.stopped_at(&fixture, "of thread", StoppedEventReason::Breakpoint);
            assert_eq!(child.ok::<ThreadsRequest>(Empty).threads.len(), 1);
            child.resume(stop.thread);
            child.exit_code()
        })
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, [10, 11, 12]);
    assert_eq!(parent.exit_code(), 33);
}

#[test]
fn a_child_that_runs_another_program_has_its_breakpoints_there() {
    let fixture = Fixture::new("forks.c");
    let program = fixture.program();
    for mode in ["exec", "spawn"] {
        let (parent, children) = following(&fixture, follow_both(&[mode, &program]), &["parent"]);
        let (child, _) = next_child(&children, &fixture, &["program", "work"]);
        let stop = child.stopped_at(&fixture, "program", StoppedEventReason::Breakpoint);
        let names = child.stack(stop.thread).into_iter().map(|frame| frame.name);
        assert_eq!(names.take(1).collect::<Vec<_>>(), ["main"]);
        child.resume(stop.thread);
        let stop = child.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
        child.resume(stop.thread);
        assert_eq!(child.exit_code(), 3, "{mode}");
        let stop = parent.stopped_at(&fixture, "parent", StoppedEventReason::Breakpoint);
        parent.resume(stop.thread);
        assert_eq!(parent.exit_code(), 6, "{mode}");
        let output = parent.output(OutputEventCategory::Stdout);
        assert_eq!(output, undisturbed("program"), "{mode}");
    }
}

#[test]
fn a_child_of_vfork_that_runs_no_program_of_its_own_is_not_followed() {
    let fixture = Fixture::new("forks.c");
    for follow in ["both", "child"] {
        let arguments = json!({"args": ["vfork"], "followForks": follow});
        let (parent, children) = following(&fixture, arguments, &["work"]);
        let stop = parent.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
        parent.resume(stop.thread);
        assert_eq!(parent.exit_code(), 6);
        let output = parent.output(OutputEventCategory::Stdout);
        assert_eq!(output, "parent: exited with 5, SIGCHLD 1, stops 0\n");
        assert!(children.try_recv().is_err());
    }
}

#[test]
fn a_child_that_forbids_tracing_still_does_after_it_was_handed_over() {
    let fixture = Fixture::new("forks.c");
    let (parent, children) = following(&fixture, follow_both(&["hidden"]), &[]);
    let (child, _) = next_child(&children, &fixture, &["child"]);
    let stop = child.stopped_at(&fixture, "child", StoppedEventReason::Breakpoint);
    child.resume(stop.thread);
    assert_eq!(child.exit_code(), 3);
    assert_eq!(parent.exit_code(), 6);
    let output = parent.output(OutputEventCategory::Stdout);
    assert_eq!(
        output,
        undisturbed("child").replace("dumpable 1", "dumpable 0")
    );
}

#[test]
fn a_childs_session_is_left_without_harm_or_with_its_end() {
    let fixture = Fixture::new("forks.c");
    // `terminateDebuggee`, and the child's end as its parent sees it.
    for (terminate, ended) in [
        (Some(false), "exited with 3"),
        (Some(true), "killed by 9"),
        (None, "killed by 9"),
    ] {
        let (parent, children) = following(&fixture, follow_both(&["once"]), &["waited"]);
        let (mut child, _) = next_child(&children, &fixture, &["work", "child"]);
        child.stopped_at(&fixture, "child", StoppedEventReason::Breakpoint);
        let mut arguments = DisconnectArguments::new();
        arguments.terminate_debuggee = terminate;
        child.ok::<DisconnectRequest>(arguments);
        child.join();
        let stop = parent.stopped_at(&fixture, "waited", StoppedEventReason::Breakpoint);
        let output = parent.output(OutputEventCategory::Stdout);
        assert!(output.contains(ended), "{terminate:?}: {output}");
        parent.resume(stop.thread);
        assert_eq!(parent.exit_code(), 6);
    }
}

#[test]
fn a_parents_session_may_be_left_before_its_childs() {
    let fixture = Fixture::new("forks.c");
    let (mut parent, children) = following(&fixture, follow_both(&["once"]), &["parent"]);
    let process = parent.process_id();
    let (child, _) = next_child(&children, &fixture, &["child"]);
    let stop = child.stopped_at(&fixture, "child", StoppedEventReason::Breakpoint);
    parent.stopped_at(&fixture, "parent", StoppedEventReason::Breakpoint);
    parent.ok::<DisconnectRequest>(Default::default());
    parent.join();
    assert!(!is_alive(process));
    child.resume(stop.thread);
    assert_eq!(child.exit_code(), 3);
}

#[test]
fn children_of_a_process_that_was_attached_to_are_followed_and_neither_is_harmed() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let parent = Session::serving(ServeOptions::default(), follows_forks());
    let children = children_of(&parent);
    let arguments = json!({"pid": running.pid(), "followForks": "both"});
    parent.ok::<AttachRequest>(serde_json::from_value(arguments).expect("an object"));
    parent.wait_for::<InitializedEvent>();
    parent.configured();
    for leave_first in [true, false] {
        running.tell("fork");
        let (child, _) = next_child(&children, &fixture, &["work"]);
        let stop = child.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
        if leave_first {
            child.disconnect();
            assert_eq!(running.line(), "child exited with 1");
        } else {
            child.resume(stop.thread);
            child.exit_code();
            assert_eq!(running.line(), "child exited with 1");
        }
    }
    parent.disconnect();
    assert_eq!(status(running.pid(), "TracerPid"), "0");
    assert_eq!(changed_text(running.pid()), Vec::<String>::new());
    assert_eq!(running.ask("work"), "worked 1");
}

#[test]
fn the_child_is_debugged_in_place_of_its_parent() {
    let fixture = Fixture::new("forks.c");
    let arguments = json!({"args": ["once"], "followForks": "child"});
    let session = Session::started(&fixture, arguments, &["begin", "child", "work", "parent"]);
    let stop = session.stopped_at(&fixture, "begin", StoppedEventReason::Breakpoint);
    let parent = session.process_id();
    session.resume(stop.thread);
    // In the parent, before the fork.
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    assert_eq!(stop.thread, parent);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "child", StoppedEventReason::Breakpoint);
    let child = session.process_id();
    assert_ne!(child, parent);
    assert_eq!(stop.thread, child);
    let threads = session.ok::<ThreadsRequest>(Empty).threads;
    let threads: Vec<i64> = threads.iter().map(|thread| thread.id).collect();
    assert_eq!(threads, [child]);
    assert!(session.evaluate(&stop.top, "parent") == parent.to_string());
    // The parent isn't traced, and waits for the child.
    let free = i32::try_from(parent).expect("an id");
    assert_eq!(status(free, "TracerPid"), "0");
    assert_eq!(changed_text(free), Vec::<String>::new());
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    assert_eq!(stop.thread, child);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 3);
    let output = session.output(OutputEventCategory::Stdout);
    assert!(
        output.starts_with("child: blocks 0, continued 0, dumpable 1\n"),
        "{output}"
    );
    while is_alive(parent) {
        std::thread::yield_now();
    }
    session.disconnect();
}

#[test]
fn a_step_over_fork_ends_in_the_child_that_is_followed() {
    let fixture = Fixture::new("forks.c");
    let arguments = json!({"args": ["once"], "followForks": "child"});
    let session = Session::started(&fixture, arguments, &["fork"]);
    let stop = session.stopped_at(&fixture, "fork", StoppedEventReason::Breakpoint);
    let parent = session.process_id();
    let stop = session.next(&stop, &fixture, "forked");
    assert_ne!(stop.thread, parent);
    assert_eq!(session.evaluate(&stop.top, "child"), "0");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 3);
}

#[test]
fn the_child_that_is_followed_may_run_another_program() {
    let fixture = Fixture::new("forks.c");
    let program = fixture.program();
    for mode in ["exec", "spawn"] {
        let arguments = json!({"args": [mode, &program], "followForks": "child"});
        let session = Session::started(&fixture, arguments, &["program", "parent", "work"]);
        let stop = session.stopped_at(&fixture, "program", StoppedEventReason::Breakpoint);
        session.resume(stop.thread);
        let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
        session.resume(stop.thread);
        assert_eq!(session.exit_code(), 3, "{mode}");
    }
}

#[test]
fn a_thread_that_forks_is_left_for_its_child() {
    let fixture = Fixture::new("forks.c");
    let arguments = json!({"args": ["threads", "5"], "followForks": "child"});
    let session = Session::started(&fixture, arguments, &["of thread"]);
    let stop = session.stopped_at(&fixture, "of thread", StoppedEventReason::Breakpoint);
    assert_eq!(session.ok::<ThreadsRequest>(Empty).threads.len(), 1);
    session.resume(stop.thread);
    assert!((10..15).contains(&session.exit_code()));
}

#[test]
fn a_process_that_was_attached_to_is_left_for_its_child_unharmed() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    let arguments = json!({"pid": running.pid(), "followForks": "child"});
    session.ok::<AttachRequest>(serde_json::from_value(arguments).expect("an object"));
    session.wait_for::<InitializedEvent>();
    session.set_breakpoints(&fixture, &["work"]);
    session.configured();
    running.tell("fork");
    let stop = session.stopped_at(&fixture, "work", StoppedEventReason::Breakpoint);
    assert_ne!(stop.thread, i64::from(running.pid()));
    assert_eq!(status(running.pid(), "TracerPid"), "0");
    assert_eq!(changed_text(running.pid()), Vec::<String>::new());
    session.disconnect();
    assert_eq!(running.line(), "child exited with 1");
    assert_eq!(running.ask("work"), "worked 1");
}

#[test]
fn what_to_follow_is_named_where_it_is_wrong() {
    let fixture = Fixture::new("forks.c");
    let session = Session::new();
    let arguments = json!({"program": fixture.program(), "followForks": "children"});
    let failure =
        session.refused::<LaunchRequest>(serde_json::from_value(arguments).expect("an object"));
    assert_eq!(
        failure.sentence,
        "launch: `followForks` must be \"parent\", \"child\" or \"both\", not \"children\""
    );
}
