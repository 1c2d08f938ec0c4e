//! `--on`: programs of another machine, reached by ssh or a command. The machine is this one, and its files are kept apart.

use crate::support;
use crate::support::Run;
use crate::support::elsewhere::Elsewhere;
use crate::support::running::Running;
use dapple_dap::client::Client;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// `fixtures/server.c`.
fn server() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let compile = || {
        let program = support::scratch("on").join(format!("server-{}", std::process::id()));
        support::compile("server.c", &program);
        program
    };
    PROGRAM.get_or_init(compile).clone()
}

/// A program that prints its process id, and waits.
fn waiting() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let compile = || {
        let text = "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n    int answer = 42;\n    printf(\"answer %d\\n\", answer);\n    \
                    fflush(stdout);\n    pause();\n    return 0;\n}\n";
        let source = support::write("on_waiting.c", text);
        let program = support::scratch("on").join(format!("waiting-{}", std::process::id()));
        let cc = Command::new("cc")
            .arg("-g")
            .arg(source)
            .arg("-o")
            .arg(&program)
            .status();
        assert!(cc.is_ok_and(|status| status.success()));
        program
    };
    PROGRAM.get_or_init(compile).clone()
}

fn has_all(run: &Run, parts: &[&str]) {
    for part in parts {
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(part), "{part}: {run:#?}");
    }
}

fn launches(there: &Elsewhere) {
    let commands = ["b on_waiting.c:5", "run", "p answer", "kill"];
    let run = Run::of(there.batch(&commands).arg(waiting()));
    assert_eq!(run.code, Some(0), "{run:#?}");
    has_all(
        &run,
        &["stopped at breakpoint 1", "printf(\"answer", "answer = 42"],
    );
    assert_eq!(there.temporary(), Vec::<PathBuf>::new(), "{run:#?}");
    // It is there only once, and for this user alone.
    let kept: Vec<_> = std::fs::read_dir(there.kept())
        .expect("what is kept")
        .collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let modes = Command::new("find")
        .arg(there.kept())
        .args(["-perm", "/077"])
        .output();
    assert_eq!(modes.expect("find runs").stdout, b"");
    let removed = Run::of(there.dapple().args(["on", &there.place, "--remove"]));
    has_all(&removed, &["removed ", "dapple/far"]);
    assert!(!there.kept().exists());
    let removed = Run::of(there.dapple().args(["on", &there.place, "--remove"]));
    has_all(&removed, &["nothing of dapple is kept there"]);
}

#[test]
fn a_program_is_launched_over_ssh_and_nothing_temporary_stays() {
    if let Some(there) = Elsewhere::by_ssh() {
        launches(&there);
    }
}

#[test]
fn a_program_is_launched_by_a_command_and_nothing_temporary_stays() {
    launches(&Elsewhere::by_command());
}

#[test]
fn a_process_is_attached_to_over_ssh_and_let_go() {
    let Some(there) = Elsewhere::by_ssh() else {
        return;
    };
    let mut server = Running::start(&server(), &[]);
    let pid = server.pid().to_string();
    let run = Run::of(there.batch(&["bt", "detach"]).args(["--attach", &pid]));
    assert_eq!(run.code, Some(0), "{run:#?}");
    has_all(
        &run,
        &["main at fixtures/server.c", "detached from the program"],
    );
    assert_eq!(server.ask("work"), "worked 1");
    let listed = Run::of(there.dapple().args(["on", &there.place, "processes"]));
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let mut listed = listed.as_array().expect("a list").iter();
    assert!(listed.any(|one| one["pid"] == server.pid()), "{listed:?}");
}

/// A client of `dapple dap --on`, which has begun a session.
fn client(there: &Elsewhere) -> TestClient {
    let client = Client::spawn(there.dapple().args(["dap", "--on", &there.place]));
    let client = TestClient::from(client.expect("dapple runs"));
    client.initialize();
    client
}

/// Kills the command that leads there, which is the proxy's only child.
fn kill_the_way(client: &TestClient) {
    let proxy = client.process_id().expect("a process");
    let children = format!("/proc/{proxy}/task/{proxy}/children");
    let mut children = std::fs::read_to_string(&children).unwrap_or_default();
    for entry in std::fs::read_dir(format!("/proc/{proxy}/task")).expect("its threads") {
        let path = entry.expect("a thread").path().join("children");
        children += &std::fs::read_to_string(path).unwrap_or_default();
    }
    let way = children.split_whitespace().next().expect("a child");
    support::running::kill("-KILL", way.parse().expect("a number"));
}

/// Waits until a process is gone.
fn wait_for_end(pid: i32) {
    let process = rustix::process::Pid::from_raw(pid).expect("a process");
    let flags = rustix::process::PidfdFlags::empty();
    let Ok(handle) = rustix::process::pidfd_open(process, flags) else {
        return;
    };
    let mut ready = [rustix::event::PollFd::new(
        &handle,
        rustix::event::PollFlags::IN,
    )];
    let time = rustix::time::Timespec {
        tv_sec: 60,
        tv_nsec: 0,
    };
    let count = rustix::event::poll(&mut ready, Some(&time)).expect("a wait");
    assert_eq!(count, 1, "process {pid} lives");
}

fn killed_while_launched(there: &Elsewhere) {
    let client = client(there);
    client.ok::<LaunchRequest>(launch_arguments(
        &json!({"program": waiting(), "on": there.place}),
    ));
    client.ok::<ConfigurationDoneRequest>(Default::default());
    let process = client.wait_for::<ProcessEvent>().system_process_id;
    client.wait_for_where::<OutputEvent>(|said| said.output.contains("answer 42"));
    kill_the_way(&client);
    client.wait_for_where::<OutputEvent>(|said| said.output.contains("is gone: "));
    client.wait_for::<TerminatedEvent>();
    wait_for_end(process.expect("a process") as i32);
}

fn killed_while_attached(there: &Elsewhere) {
    let mut server = Running::start(&server(), &[]);
    let client = client(there);
    let mut arguments = AttachRequestArguments::new();
    let pid = dapple_dap::message::Raw::new(&server.pid()).expect("a number");
    arguments.other.insert("pid".to_owned(), pid);
    client.ok::<AttachRequest>(arguments);
    client.ok::<ConfigurationDoneRequest>(Default::default());
    kill_the_way(&client);
    client.wait_for::<TerminatedEvent>();
    while server.status("TracerPid") != "0" {
        std::thread::yield_now();
    }
    assert_eq!(server.ask("work"), "worked 1");
}

#[test]
fn a_killed_ssh_leaves_nothing_that_was_launched_and_an_attached_process_unharmed() {
    if let Some(there) = Elsewhere::by_ssh() {
        killed_while_launched(&there);
        killed_while_attached(&there);
        let of_session = |path: &PathBuf| path.exists();
        while there.temporary().iter().any(of_session) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_killed_command_leaves_nothing_that_was_launched_and_an_attached_process_unharmed() {
    let there = Elsewhere::by_command();
    killed_while_launched(&there);
    killed_while_attached(&there);
}

/// The thread that stops first after a launch.
fn stopped_thread(client: &TestClient, arguments: &Value) -> i64 {
    client.ok::<LaunchRequest>(launch_arguments(arguments));
    client.ok::<ConfigurationDoneRequest>(Default::default());
    let stop = client.wait_for::<StoppedEvent>();
    stop.thread_id.expect("a thread")
}

#[test]
fn a_client_gets_the_text_of_a_source_and_sets_breakpoints_in_it() {
    let there = Elsewhere::by_command();
    let client = client(&there);
    let arguments = json!({"program": waiting(), "on": there.place, "stopAtEntry": true});
    let thread = stopped_thread(&client, &arguments);
    let stack = client.ok::<StackTraceRequest>(StackTraceArguments::new(thread));
    let source = stack.stack_frames[0].source.clone().expect("a source");
    let reference = source.source_reference.expect("a reference");
    let asked = SourceArguments::new(reference).with_source(source.clone());
    let text = client.ok::<SourceRequest>(asked).content;
    assert!(text.contains("int answer = 42;"), "{text}");
    let lines = SetBreakpointsArguments::new(source.clone());
    let lines = lines.with_breakpoints(vec![SourceBreakpoint::new(5)]);
    let set = client.ok::<SetBreakpointsRequest>(lines).breakpoints;
    assert!(set[0].verified, "{set:?}");
    // A client may still know another file by that reference, of an earlier session: its path says which it is.
    let stale = Source::new().with_path("/of/an/earlier.c".to_owned());
    let stale = stale.with_source_reference(reference);
    let none = SetBreakpointsArguments::new(stale).with_breakpoints(Vec::new());
    client.ok::<SetBreakpointsRequest>(none);
    client.ok::<ContinueRequest>(ContinueArguments::new(thread));
    client.wait_for::<StoppedEvent>();
    let stack = client.ok::<StackTraceRequest>(StackTraceArguments::new(thread));
    let frame = &stack.stack_frames[0];
    assert_eq!(frame.line, 5, "{frame:?}");
    let again = frame.source.as_ref().and_then(|it| it.source_reference);
    assert_eq!(again, Some(reference), "{frame:?}");
    // A file that the client has itself is opened by its path.
    let path = Source::new().with_path(source.path.expect("a path"));
    let lines = SetBreakpointsArguments::new(path);
    let lines = lines.with_breakpoints(vec![SourceBreakpoint::new(6)]);
    client.ok::<SetBreakpointsRequest>(lines);
    let stack = client.ok::<StackTraceRequest>(StackTraceArguments::new(thread));
    let source = stack.stack_frames[0].source.as_ref().expect("a source");
    assert_eq!(source.source_reference, None, "{source:?}");
    client.ok::<DisconnectRequest>(Default::default());
}

#[test]
fn what_the_user_has_mapped_is_on_the_clients_machine() {
    let there = Elsewhere::by_command();
    let client = client(&there);
    let from = support::scratch("sources");
    let map = json!({from.to_str().expect("a path"): "/only/here"});
    let arguments = json!({"program": waiting(), "sourceMap": map, "stopAtEntry": true});
    let thread = stopped_thread(&client, &arguments);
    let stack = client.ok::<StackTraceRequest>(StackTraceArguments::new(thread));
    let source = stack.stack_frames[0].source.as_ref().expect("a source");
    assert_eq!(source.path.as_deref(), Some("/only/here/on_waiting.c"));
    assert_eq!(source.source_reference, None);
    client.ok::<DisconnectRequest>(Default::default());
}

#[test]
fn a_place_that_cannot_be_reached_is_told_with_the_reason() {
    let Some(there) = Elsewhere::by_ssh() else {
        return;
    };
    let sentence = "ssh://127.0.0.1:1 can't be reached: `ssh -T -o ConnectTimeout=20 -o BatchMode=yes -p 1 127.0.0.1 sh` has ended with exit code 255: \
                    ssh: connect to host 127.0.0.1 port 1: Connection refused";
    let mut command = there.dapple();
    command.args(["debug", "--batch", "--on", "ssh://127.0.0.1:1", "a.out"]);
    let run = Run::of(&mut command);
    run.assert_cannot_begin(&format!("dapple: the adapter did not start: {sentence}\n"));
    // An editor gets it as the failure of its first request.
    let client = Client::spawn(there.dapple().args(["dap", "--on", "ssh://127.0.0.1:1"]));
    let client = client.expect("dapple runs");
    let error = client.request::<InitializeRequest>(InitializeRequestArguments::new("dapple"));
    assert_eq!(error.expect_err("no adapter").to_string(), sentence);
}

#[test]
fn a_command_that_is_not_there_is_told() {
    let run = Run::of(support::dapple().args(["on", "exec:no-such-command-here"]));
    run.assert_fails(
        "dapple: can't start `no-such-command-here`, which leads to the other machine; is it on PATH?: No such file or directory (os error 2)\n",
    );
}

#[test]
fn another_processor_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    support::script(
        &folder.path().join("uname"),
        "#!/bin/sh\necho Linux aarch64\n",
    );
    let path = format!("PATH={}:/usr/bin:/bin", folder.path().display());
    let place = serde_json::to_string(&["env", &path]).expect("words");
    let run = Run::of(support::dapple().args(["on", &place]));
    run.assert_fails(&format!(
        "dapple: dapple runs on Linux x86_64, and exec:env {path} is Linux aarch64\n"
    ));
}

#[test]
fn an_executable_that_does_not_run_there_is_told_with_what_to_do() {
    let there = Elsewhere::by_command();
    let wrong = support::scratch("on").join("wrong");
    support::script(&wrong, "#!/bin/sh\necho 'no libraries' >&2\nexit 127\n");
    let mut command = there.dapple();
    command.args(["on", &there.place, "--far-binary"]);
    let run = Run::of(command.arg(&wrong));
    assert_eq!(run.code, Some(1), "{run:#?}");
    has_all(
        &run,
        &[
            "doesn't run on",
            ": no libraries. ",
            "--far-binary (or DAPPLE_FAR_BINARY)",
        ],
    );
}

#[test]
fn a_temporary_folder_keeps_it_where_no_home_can_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let temporary = format!("TMPDIR={}", folder.path().display());
    let place = ["env", "XDG_CACHE_HOME=/proc/none", &temporary];
    let place = serde_json::to_string(&place).expect("words");
    let run = Run::of(support::dapple().args(["on", &place]));
    assert_eq!(run.code, Some(0), "{run:#?}");
    let user = rustix::process::geteuid().as_raw();
    let kept = folder.path().join(format!("dapple-{user}/far"));
    assert!(kept.is_dir(), "{run:#?}");
    Run::of(support::dapple().args(["on", &place, "--remove"]));
    assert!(!kept.exists());
    // A folder of somebody else's, or a link to one, isn't used.
    std::os::unix::fs::symlink("/tmp", kept.parent().expect("a folder")).expect("a link");
    let run = Run::of(support::dapple().args(["on", &place]));
    assert_eq!(run.code, Some(1), "{run:#?}");
    has_all(
        &run,
        &["you can't write to the folders /proc/none/dapple and "],
    );
}

#[test]
fn a_program_is_sent_and_kept() {
    let there = Elsewhere::by_command();
    let mut command = there.dapple();
    command.args(["on", &there.place, "--put"]).arg(server());
    let (first, second) = (Run::of(&mut command), Run::of(&mut command));
    assert_eq!(
        (first.code, &first.stdout),
        (Some(0), &second.stdout),
        "{first:#?}"
    );
    let sent = std::fs::read(first.stdout.trim()).expect("it is there");
    assert!(sent == std::fs::read(server()).expect("the program"));
}

#[test]
fn cargo_builds_here_and_the_program_runs_there() {
    let there = Elsewhere::by_command();
    let project = tempfile::tempdir().expect("a folder");
    let manifest = "[package]\nname = \"sent\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let source =
        "fn main() {\n    let total: u32 = (1..=4).sum();\n    println!(\"total {total}\");\n}\n";
    std::fs::create_dir(project.path().join("src")).expect("a folder");
    std::fs::write(project.path().join("Cargo.toml"), manifest).expect("a file");
    std::fs::write(project.path().join("src/main.rs"), source).expect("a file");
    let mut command = there.batch(&["b main.rs:3", "run", "p total", "info source", "c"]);
    command.args(["--cargo", "run", "--", "an argument"]);
    command.current_dir(project.path());
    command.env("CARGO_TARGET_DIR", project.path().join("target"));
    let run = Run::of(&mut command);
    assert_eq!(run.code, Some(0), "{run:#?}");
    has_all(
        &run,
        &[
            "println!(\"total {total}\")",
            "total = 10",
            "4 lines, at line 3",
        ],
    );
    let mut kept = Command::new("find");
    kept.arg(there.kept()).args(["-name", "sent"]);
    let kept = kept.output().expect("find runs").stdout;
    assert_eq!(kept.iter().filter(|byte| **byte == b'\n').count(), 1);
    // Nothing is left to build where cargo has failed.
    std::fs::write(project.path().join("src/main.rs"), "fn main() {").expect("a file");
    let run = Run::of(&mut command);
    assert_eq!(run.code, Some(126), "{run:#?}");
    has_all(&run, &["unclosed delimiter"]);
}

#[test]
fn an_adapter_that_is_here_refuses_a_launch_elsewhere() {
    let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
    let client = TestClient::from(client);
    client.initialize();
    let arguments = launch_arguments(&json!({"program": waiting(), "on": "ssh://board"}));
    let failure = client.fails::<LaunchRequest>(arguments);
    assert!(failure.contains("dapple dap --on PLACE"), "{failure}");
}
