//! Programs that `dapple dap` runs without debugging: in a terminal of the client, with the privileges of set-user-ID files, and under an
//! adapter that is killed.

use crate::support;
use crate::support::terminal::Terminal;
use dapple_dap::client::Client;
use dapple_dap::message::Raw;
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// The user id of `nobody` on every system.
const NOBODY: u32 = 65534;

/// Compiles a program for one test.
fn compiled(name: &str, test: &str) -> PathBuf {
    let program = support::scratch("undebugged").join(format!("{test}-{}", std::process::id()));
    support::compile(name, &program);
    program
}

/// A client, and the terminal that it opens.
fn client(command: &mut Command) -> (Client, Arc<Mutex<Option<Terminal>>>) {
    let client = Client::spawn(command.arg("dap")).expect("dapple runs");
    let arguments =
        InitializeRequestArguments::new("dapple").with_supports_run_in_terminal_request(true);
    client
        .request::<InitializeRequest>(arguments)
        .expect("initialized");
    let terminal: Arc<Mutex<Option<Terminal>>> = Arc::default();
    let opened = Arc::clone(&terminal);
    client.on::<RunInTerminalRequest>(move |asked| {
        *opened.lock().expect("no panic") = Some(Terminal::run(&asked.args));
        Ok(RunInTerminalResponse::new())
    });
    (client, terminal)
}

/// Runs a program without debugging. Returns its process id.
fn run(client: &Client, program: &Path, arguments: Value) -> i64 {
    let mut arguments = arguments;
    arguments["program"] = json!(program);
    arguments["noDebug"] = json!(true);
    client
        .request::<LaunchRequest>(launch_arguments(&arguments))
        .expect("launched");
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    process(client)
}

fn process(client: &Client) -> i64 {
    let process = client.wait_for::<ProcessEvent>(PATIENCE, |_| true);
    let process = process.expect("it runs").system_process_id;
    process.expect("its id")
}

fn exit_code(client: &Client) -> i64 {
    let exited = client.wait_for::<ExitedEvent>(PATIENCE, |_| true);
    exited.expect("the end").exit_code
}

fn field(process: i64, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = |line: &str| {
        Some(
            line.strip_prefix(name)?
                .trim_start_matches(':')
                .trim()
                .to_owned(),
        )
    };
    status.lines().find_map(field).unwrap_or_default()
}

fn is_alive(process: i64) -> bool {
    !matches!(
        field(process, "State").as_str(),
        "" | "Z (zombie)" | "X (dead)"
    )
}

fn wait_for_end(process: i64) {
    while is_alive(process) {
        std::thread::yield_now();
    }
}

fn kill(process: i64) {
    let killed = Command::new("kill")
        .args(["-KILL", &process.to_string()])
        .status();
    assert!(killed.is_ok_and(|status| status.success()));
}

fn disconnect(client: &Client, arguments: DisconnectArguments) {
    client
        .request::<DisconnectRequest>(arguments)
        .expect("disconnected");
}

#[test]
fn it_has_the_clients_terminal_and_its_keys() {
    let program = compiled("server.c", "keys");
    let (client, terminal) = client(&mut support::dapple());
    let arguments = json!({"console": "integratedTerminal", "args": ["two words"]});
    let process = run(&client, &program, arguments);
    assert_eq!(field(process, "TracerPid"), "0");
    {
        let mut terminal = terminal.lock().expect("no panic");
        let terminal = terminal.as_mut().expect("it was opened");
        terminal.wait_for("ready");
        terminal.type_keys("args\n");
        terminal.wait_for("1: two words");
        terminal.type_keys("quit 6\n");
    }
    assert_eq!(exit_code(&client), 6);
    disconnect(&client, Default::default());
    // Ctrl-C goes to the program.
    let (client, terminal) = self::client(&mut support::dapple());
    run(&client, &program, json!({"console": "externalTerminal"}));
    {
        let mut terminal = terminal.lock().expect("no panic");
        let terminal = terminal.as_mut().expect("it was opened");
        terminal.wait_for("ready");
        terminal.type_keys("\x03");
    }
    assert_eq!(exit_code(&client), 128 + 2);
    disconnect(&client, Default::default());
}

#[test]
fn in_a_terminal_it_is_started_again_ended_and_let_go() {
    let program = compiled("server.c", "again");
    let (client, terminal) = client(&mut support::dapple());
    let first = run(&client, &program, json!({"console": "integratedTerminal"}));
    client
        .request::<RestartRequest>(RestartArguments::new())
        .expect("started again");
    let second = process(&client);
    assert!(!is_alive(first) && first != second);
    client
        .request::<TerminateRequest>(Default::default())
        .expect("asked");
    assert_eq!(exit_code(&client), 128 + 15);
    disconnect(&client, Default::default());
    drop(terminal);

    let (client, terminal) = self::client(&mut support::dapple());
    let third = run(&client, &program, json!({"console": "integratedTerminal"}));
    disconnect(
        &client,
        DisconnectArguments::new().with_terminate_debuggee(false),
    );
    client.wait_closed(PATIENCE).expect("the adapter ends");
    {
        let mut terminal = terminal.lock().expect("no panic");
        let terminal = terminal.as_mut().expect("it was opened");
        terminal.type_keys("work\n");
        terminal.wait_for("worked 1");
    }
    assert!(is_alive(third));
    drop(terminal);

    // A program that can't be started in the terminal is reported.
    let (client, _terminal) = self::client(&mut support::dapple());
    let long = "x".repeat(200_000);
    let arguments = json!({"program": "/bin/true", "noDebug": true, "args": [long], "console": "integratedTerminal"});
    client
        .request::<LaunchRequest>(launch_arguments(&arguments))
        .expect("launched");
    let error = client.request::<ConfigurationDoneRequest>(Default::default());
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("too long"), "{error}");
}

#[test]
fn an_adapter_that_is_killed_takes_it_with_it_and_not_what_was_let_go() {
    let program = compiled("sleepless.c", "killed");
    for console in ["internalConsole", "integratedTerminal"] {
        let (client, _terminal) = client(support::dapple().env("KILLED", console));
        let process = run(&client, &program, json!({"console": console}));
        // All processes of the adapter, including the one that serves the session.
        let front = i64::from(client.process_id().expect("a process"));
        let all = serving(front);
        assert!(all.len() >= 2, "{all:?}");
        all.into_iter().for_each(kill);
        wait_for_end(process);
    }
    let (client, _) = client(&mut support::dapple());
    let process = run(&client, &program, json!({}));
    disconnect(
        &client,
        DisconnectArguments::new().with_terminate_debuggee(false),
    );
    client.wait_closed(PATIENCE).expect("the adapter ends");
    drop(client);
    assert!(is_alive(process));
    kill(process);
}

/// The processes of an adapter that was started with an environment of its own: the one that was started, and the one that serves the
/// session.
fn serving(front: i64) -> Vec<i64> {
    let environment = |process: i64| std::fs::read(format!("/proc/{process}/environ")).ok();
    let entries = std::fs::read_dir("/proc").expect("/proc");
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i64>().ok());
    ids.filter(|id| field(*id, "Name") == "dapple" && environment(*id) == environment(front))
        .collect()
}

#[test]
fn a_program_with_privileges_has_them_and_under_the_debugger_it_says_that_it_lost_them() {
    let own = std::fs::metadata("/proc/self").expect("this process");
    let folder = std::env::temp_dir().join(format!("dapple-privileges-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("ours");
    };
    mode(&folder, 0o755);
    let (program, dapple) = (folder.join("privileges"), folder.join("dapple"));
    support::compile("privileges.c", &program);
    support::install(Path::new(env!("CARGO_BIN_EXE_dapple")), &dapple, 0o755);
    mode(&program, 0o4755);
    // Root has all privileges anyway, so the debugger then runs as another user. For a user who isn't root, the program is the user's own,
    // so there is no difference.
    let command = || {
        let mut command = Command::new(&dapple);
        command.current_dir("/");
        if own.uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    let effective = |client: &Client| {
        let output =
            client.wait_for::<OutputEvent>(PATIENCE, |output| output.output.starts_with("real "));
        output.expect("it writes").output
    };
    let (client, _) = client(&mut command());
    run(&client, &program, json!({}));
    let user = own.uid();
    let real = if user == 0 { NOBODY } else { user };
    assert_eq!(
        effective(&client),
        format!("real {real}, effective {user}\n")
    );
    disconnect(&client, Default::default());

    let (client, _) = self::client(&mut command());
    let arguments = Raw::new(&program).expect("a path");
    let mut launch = LaunchRequestArguments::new();
    launch.other.insert("program".to_owned(), arguments);
    client.request::<LaunchRequest>(launch).expect("launched");
    if user == 0 {
        let told = client.wait_for::<OutputEvent>(PATIENCE, |output| {
            output.category == Some(OutputEventCategory::Console)
        });
        let told = told.expect("it is told").output;
        assert!(
            told.contains("runs without the privileges of user 0 that its file gives it")
                && told.contains("sudo"),
            "{told}"
        );
    }
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .expect("running");
    assert_eq!(
        effective(&client),
        format!("real {real}, effective {real}\n")
    );
    disconnect(&client, Default::default());
    std::fs::remove_dir_all(&folder).expect("ours");
}
