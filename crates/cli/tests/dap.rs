//! `dapple dap` as editors run it: a child process on stdio, or a server on a port.

use dapple_dap::client::Client;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn dapple() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dapple"));
    command.arg("dap");
    command
}

/// A server on a free port, and where it listens.
fn listening() -> (Child, String) {
    let mut child = dapple()
        .args(["--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("dapple runs");
    let mut line = String::new();
    let stderr = child.stderr.take().expect("a pipe");
    BufReader::new(stderr).read_line(&mut line).expect("a line");
    let address = line.trim_end().strip_prefix("listening on ");
    let address = address.unwrap_or_else(|| panic!("it says where: {line:?}"));
    (child, address.to_owned())
}

/// A program that runs until it is killed; its process id.
fn launch_endless(client: &TestClient) -> i64 {
    client.initialize();
    let arguments = json!({"program": "/bin/sh", "args": ["-c", "while :; do :; done"]});
    client.ok::<LaunchRequest>(launch_arguments(&arguments));
    client.ok::<ConfigurationDoneRequest>(Default::default());
    let process = client.wait_for::<ProcessEvent>();
    process.system_process_id.expect("its id")
}

fn is_alive(process: i64) -> bool {
    std::path::Path::new(&format!("/proc/{process}")).exists()
}

fn signal(name: &str, process: u32) {
    let status = Command::new("kill")
        .args([name, &process.to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()), "kill {name}");
}

#[test]
fn a_session_on_stdio_logs_its_messages_where_only_the_user_can_read_them() {
    let log = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("wire.log");
    std::fs::remove_file(&log).ok();
    let client = Client::spawn(dapple().arg("--log").arg(&log)).expect("dapple runs");
    let client = TestClient::from(client);
    assert_eq!(
        client.initialize().supports_configuration_done_request,
        Some(true)
    );
    client.disconnect();
    client
        .wait_closed(PATIENCE)
        .expect("dapple ends after `disconnect`");
    let mode = std::fs::metadata(&log).expect("a log").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&log).expect("a log");
    let starts: Vec<&str> = text.lines().map(|line| &line[..4]).collect();
    assert_eq!(starts, ["1 <-", "1 ->", "1 <-", "1 ->"], "{text}");
}

#[test]
fn a_signal_ends_the_session_and_the_program() {
    for name in ["-TERM", "-INT", "-HUP"] {
        let client = TestClient::from(Client::spawn(&mut dapple()).expect("dapple runs"));
        let process = launch_endless(&client);
        assert!(is_alive(process));
        signal(name, client.process_id().expect("dapple's id"));
        client.wait_closed(PATIENCE).expect("dapple ends");
        assert!(!is_alive(process), "{name}");
    }
}

#[test]
fn a_server_serves_until_a_signal_and_leaves_no_program_behind() {
    let (mut server, address) = listening();
    let clients = [0, 1].map(|_| TestClient::from(Client::connect(&*address).expect("connected")));
    let processes = clients.each_ref().map(launch_endless);
    clients[0].disconnect();
    clients[0].wait_closed(PATIENCE).expect("the session ends");
    assert_eq!(processes.map(is_alive), [false, true]);
    signal("-TERM", server.id());
    let status = server.wait().expect("the server ends");
    assert!(status.success(), "{status}");
    assert_eq!(processes.map(is_alive), [false, false]);
}

#[test]
fn an_address_others_can_reach_must_be_asked_for() {
    let mut child = dapple()
        .args(["--listen", "0.0.0.0:0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("dapple runs");
    let mut said = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(
        said.contains("0.0.0.0:0") && said.contains("--allow-remote"),
        "{said}"
    );
}
