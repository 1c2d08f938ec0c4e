//! `dapple dap` as editors run it: a child process on stdio, or a server on a port.

use dapple_dap::client::Client;
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::{Recording, Replay, TestClient, launch_arguments};
use dapple_dap::transport;
use dapple_dap::types::*;
use serde_json::json;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn dapple() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dapple"));
    command
        .arg("dap")
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

#[test]
fn the_schema_of_launch_configurations_is_printed() {
    let printed = dapple()
        .arg("--launch-schema")
        .output()
        .expect("dapple runs");
    assert!(printed.status.success(), "{printed:?}");
    let printed: serde_json::Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    let kept: serde_json::Value =
        serde_json::from_str(include_str!("../../adapter/launch-schema.json")).expect("JSON");
    assert_eq!(printed, kept);
    let program = &printed["definitions"]["launch"]["properties"]["program"];
    assert_eq!(
        program["description"],
        "The executable to debug; of a source file (`.c`, `.cpp`, `.rs`) or a folder with a `Cargo.toml`, its program is built first."
    );
}

#[test]
fn folders_of_adapters_that_were_killed_are_removed_and_no_others() {
    let base = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("abandoned");
    let _ = std::fs::remove_dir_all(&base);
    let mut gone = Command::new("true").spawn().expect("a process");
    gone.wait().expect("its end");
    let (gone, here) = (gone.id(), std::process::id());
    let old = base.join(format!("dapple-{gone}-0"));
    let used = base.join(format!("dapple-{here}-0"));
    let elsewhere = base.join("elsewhere");
    for folder in [&old, &used, &elsewhere] {
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(folder.join("run"), "exec true").expect("a file");
    }
    let link = base.join(format!("dapple-{gone}-1"));
    std::os::unix::fs::symlink(&elsewhere, &link).expect("a link");
    let output = dapple()
        .env("XDG_RUNTIME_DIR", &base)
        .stdin(Stdio::null())
        .output()
        .expect("dapple runs");
    assert!(output.status.success(), "{output:?}");
    assert!(!old.exists(), "nobody has it any more");
    assert!(used.join("run").exists(), "its process is there");
    assert!(
        link.is_symlink() && elsewhere.join("run").exists(),
        "a link is no folder"
    );
}

/// Starts a server on a free port. Returns its address, too.
fn listening() -> (Child, String) {
    listening_with(&[])
}

fn listening_with(arguments: &[&OsStr]) -> (Child, String) {
    let mut child = dapple()
        .args(["--listen", "127.0.0.1:0"])
        .args(arguments)
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

/// Launches a program that runs until it is killed. Returns its process id.
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
fn variables_that_are_no_text_reach_the_program_as_they_are() {
    let odd = OsStr::from_bytes(b"a\xffb");
    let client = Client::spawn(dapple().env("ODD", odd)).expect("dapple runs");
    let client = TestClient::from(client);
    client.initialize();
    let print = "printf %s \"$ODD\" | od -An -tx1";
    let arguments = json!({"program": "/bin/sh", "args": ["-c", print]});
    client.ok::<LaunchRequest>(launch_arguments(&arguments));
    client.ok::<ConfigurationDoneRequest>(Default::default());
    client.assert_output("stdout", "61 ff 62");
    client.disconnect();
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
    let recording = Recording::parse(&text).expect("a recording");
    let from: Vec<Side> = recording.entries.iter().map(|entry| entry.from).collect();
    assert_eq!(from, [Side::Client, Side::Adapter].repeat(2), "{text}");
}

#[test]
fn a_log_is_checked_by_the_schema_tools_and_replayed() {
    let log = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("replayed.log");
    std::fs::remove_file(&log).ok();
    // Twice, because editors append each session to the log.
    for _ in 0..2 {
        let client = Client::spawn(dapple().arg("--log").arg(&log)).expect("dapple runs");
        let client = TestClient::from(client);
        client.initialize();
        client.request::<ThreadsRequest>(Empty).ok();
        client.fails::<LaunchRequest>(launch_arguments(&json!({"program": "/no/such"})));
        client.disconnect();
        client.wait_closed(PATIENCE).expect("dapple ends");
    }
    let checked = Command::new(env!("CARGO_BIN_EXE_dapple"))
        .args(["schema", "validate"])
        .arg(&log)
        .output()
        .expect("dapple runs");
    assert!(checked.status.success(), "{checked:?}");
    let text = std::fs::read_to_string(&log).expect("a log");
    let recordings = Recording::parse_all(&text).expect("recordings");
    assert_eq!(recordings.len(), 2, "{text}");
    for recording in recordings {
        assert!(recording.entries.len() >= 8, "{recording}");
        let mut child = dapple()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("dapple runs");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let connection = transport::Options::new().streams(
            output.expect("a pipe"),
            input.expect("a pipe"),
            || {},
        );
        let differences = Replay::new(recording).as_client(connection);
        assert_eq!(differences, []);
        child.wait().expect("dapple ends");
    }
}

#[test]
fn each_session_of_a_server_is_told_from_the_others_in_its_log() {
    let log = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("server.log");
    std::fs::remove_file(&log).ok();
    let (mut server, address) = listening_with(&["--log".as_ref(), log.as_os_str()]);
    let clients = [0, 1].map(|_| TestClient::from(Client::connect(&*address).expect("connected")));
    for client in &clients {
        client.initialize();
    }
    for client in &clients {
        client.disconnect();
        client.wait_closed(PATIENCE).expect("the session ends");
    }
    signal("-TERM", server.id());
    server.wait().expect("the server ends");
    let text = std::fs::read_to_string(&log).expect("a log");
    let recordings = Recording::parse_all(&text).expect("recordings");
    let sessions: Vec<_> = recordings
        .iter()
        .map(|recording| {
            (
                recording.session.clone().unwrap_or_default(),
                recording.entries.len(),
            )
        })
        .collect();
    let expected = [1, 2].map(|number| (format!("{}-{number}", server.id()), 4));
    assert_eq!(sessions, expected, "{text}");
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
fn a_server_on_a_unix_socket_is_private_and_ends_when_nobody_has_used_it_for_a_while() {
    let path = std::env::temp_dir().join(format!("dapple-listen-{}", std::process::id()));
    let mut address = std::ffi::OsString::from("unix:");
    address.push(&path);
    let mut server = dapple()
        .arg("--listen")
        .arg(&address)
        .args(["--idle-timeout", "3"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("dapple runs");
    let mut line = String::new();
    let stderr = server.stderr.take().expect("a pipe");
    BufReader::new(stderr).read_line(&mut line).expect("a line");
    assert_eq!(line, format!("listening on unix:{}\n", path.display()));
    let mode = std::fs::metadata(&path).expect("the socket").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);

    let stream = std::os::unix::net::UnixStream::connect(&path).expect("connected");
    let connection = transport::Options::new()
        .unix(stream)
        .expect("a connection");
    let client = TestClient::from(Client::new(connection));
    let process = launch_endless(&client);
    // An idle session longer than the timeout doesn't end the server.
    let nothing_came = client.wait_closed(Duration::from_secs(4));
    assert!(nothing_came.is_err(), "{nothing_came:?}");
    assert!(is_alive(process));
    client.disconnect();
    client.wait_closed(PATIENCE).expect("the session ends");
    let status = server.wait().expect("the server ends by itself");
    assert!(status.success(), "{status}");
    assert!(!is_alive(process) && !path.exists());
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
