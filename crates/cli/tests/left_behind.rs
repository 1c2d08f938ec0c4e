//! Programs that `dapple dap` launched and leaves running or stopped: they continue after the adapter's end.

use crate::support;
use crate::support::running::{changed_text, kill, status, wait_until_stopped};
use dapple_dap::client::Client;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::json;
use std::path::PathBuf;
use std::sync::OnceLock;

fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let compile = || {
        let name = format!("left_behind-{}", std::process::id());
        let program = support::scratch("left_behind").join(name);
        support::compile("left_behind.c", &program);
        program
    };
    PROGRAM.get_or_init(compile).clone()
}

/// Leaves a program that was launched with these additional arguments, and checks what happens to it.
fn leaves(name: &str, more: &serde_json::Value, suspend: bool) {
    let done = support::scratch("left_behind").join(format!("{name}-{}", std::process::id()));
    let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
    let client = TestClient::from(client);
    client.initialize();
    let mut arguments = json!({ "program": program(), "args": [done] });
    let is_debugged = more.get("noDebug").is_none();
    for (name, value) in more.as_object().expect("an object") {
        arguments[name] = value.clone();
    }
    client.ok::<LaunchRequest>(launch_arguments(&arguments));
    if is_debugged {
        let source = support::root().join("fixtures/left_behind.c");
        let source = Source::new().with_path(source.display().to_string());
        let line = SourceBreakpoint::new(support::line("left_behind.c", "wait"));
        let lines = SetBreakpointsArguments::new(source).with_breakpoints(vec![line]);
        client.ok::<SetBreakpointsRequest>(lines);
    }
    client.ok::<ConfigurationDoneRequest>(Default::default());
    let process = client.wait_for::<ProcessEvent>();
    let process = process.system_process_id.expect("a process") as i32;
    if is_debugged {
        client.wait_for::<StoppedEvent>();
    }
    let parent = status(process, "PPid");
    let leave = DisconnectArguments::new()
        .with_terminate_debuggee(false)
        .with_suspend_debuggee(suspend);
    client.ok::<DisconnectRequest>(leave);
    let how = match suspend {
        true => format!("process {process} is left stopped: `kill -CONT {process}` has it go on"),
        false => format!("process {process} is left running"),
    };
    client.wait_for_where::<OutputEvent>(|said| said.output.contains(&how));
    drop(client);
    // The adapter has ended when its child has another parent.
    while status(process, "PPid") == parent {
        std::thread::yield_now();
    }

    assert_eq!(status(process, "TracerPid"), "0");
    assert_eq!(changed_text(process), Vec::<String>::new());
    if suspend {
        wait_until_stopped(process);
        kill("-CONT", process);
    }
    for (round, signal) in [(1, "-USR1"), (2, "-USR2")] {
        kill(signal, process);
        let expected: String = (1..=round).map(|round| format!("{round}\n")).collect();
        while std::fs::read_to_string(&done).expect("its file") != expected {
            let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
            assert!(state.is_ok(), "{name}: it has ended in round {round}");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_program_left_stopped_goes_on_when_it_is_told_to() {
    leaves("stopped", &json!({}), true);
    leaves("stopped_terminal", &json!({ "pty": true }), true);
}

#[test]
fn a_program_left_running_can_write_as_much_as_it_likes() {
    leaves("running", &json!({}), false);
    leaves("running_terminal", &json!({ "pty": true }), false);
}

#[test]
fn a_program_that_was_not_debugged_is_left_in_the_same_way() {
    leaves("undebugged_stopped", &json!({ "noDebug": true }), true);
    leaves("undebugged_running", &json!({ "noDebug": true }), false);
}
