//! `dapple session`: sessions that outlive the shell command, each command a process of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::{Run, compile, dapple, line, scratch};

/// A user with a folder for sessions. All that are left are ended with it.
struct Shell {
    folder: PathBuf,
}

impl Shell {
    fn new(name: &str) -> Shell {
        let shell = Shell {
            folder: scratch(&format!("run-{name}")),
        };
        shell.run(&["end", "--all"]);
        shell
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = dapple();
        command.env("XDG_RUNTIME_DIR", &self.folder);
        command.env_remove("DAPPLE_SESSION");
        command.arg("session").args(words);
        command
    }

    fn run(&self, words: &[&str]) -> Run {
        Run::of(&mut self.command(words))
    }

    /// What a command prints that succeeds.
    #[track_caller]
    fn ok(&self, words: &[&str]) -> String {
        let run = self.run(words);
        assert_eq!(
            (run.code, &*run.stderr),
            (Some(0), ""),
            "{words:?}: {run:?}"
        );
        run.stdout
    }

    /// What a command says that fails with a code.
    #[track_caller]
    fn fails(&self, code: i32, words: &[&str]) -> String {
        let run = self.run(words);
        assert_eq!(run.code, Some(code), "{words:?}: {run:?}");
        run.stderr
    }

    fn socket(&self, name: &str) -> PathBuf {
        self.folder.join(format!("dapple/sessions/{name}.sock"))
    }

    /// The process of a session's host.
    fn host(&self) -> i32 {
        let status: Value =
            serde_json::from_str(&self.ok(&["list", "--json"])).expect("one session");
        let process = status["process"].as_i64().expect("a process");
        i32::try_from(process).expect("a process")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.run(&["end", "--all"]);
    }
}

fn program(fixture: &str) -> String {
    let program = scratch("sessions").join(format!("{fixture}-{:?}", std::thread::current().id()));
    compile(&format!("{fixture}.c"), &program);
    program.to_str().expect("a plain path").to_owned()
}

fn objects(text: &str) -> Vec<Value> {
    let objects = text.lines().map(serde_json::from_str);
    objects.collect::<Result<_, _>>().expect("an object a line")
}

#[test]
fn a_session_goes_on_from_shell_to_shell() {
    let shell = Shell::new("goes-on");
    let tour = program("tour");
    let begun = shell.ok(&[
        "start",
        "--name",
        "it",
        "--ex",
        "b classify",
        "--ex",
        "run",
        &tour,
    ]);
    let last = begun.lines().last().unwrap_or_default();
    assert!(last.starts_with("session `it`: "), "{begun}");
    let place = format!("classify at fixtures/tour.c:{}", line("tour.c", "cold") - 1);
    assert!(
        begun.contains("stopped at breakpoint 1") && begun.contains(&place),
        "{begun}"
    );
    let listed = shell.ok(&["list"]);
    assert!(
        listed.starts_with("it  ") && listed.contains("  stopped  "),
        "{listed}"
    );
    let one = shell.ok(&["exec", "--name", "it", "p celsius"]);
    assert!(one.starts_with("celsius = "), "{one}");
    let both = shell.ok(&["exec", "--session", "it", "up", "p 6 * 7"]);
    assert!(
        both.contains("(dapple) up\n") && both.ends_with("6 * 7 = 42\n"),
        "{both}"
    );
    // What is let run is waited for.
    assert!(shell.ok(&["exec", "c"]).contains("stopped at breakpoint 1"));
    let ended = shell.ok(&["exec", "delete all", "c"]);
    assert!(ended.contains("program exited with code 3"), "{ended}");
    assert_eq!(shell.ok(&["end"]), "session `it` has ended\n");
    assert_eq!(shell.ok(&["list"]), "there is no session\n");
    assert!(
        shell
            .fails(1, &["exec", "bt"])
            .contains("there is no session")
    );
    // Where there is nothing to debug, no session is promised.
    let none = shell.run(&["start", "no/such/program"]);
    let promised = none.stdout.contains("session `");
    assert_eq!((none.code, promised), (Some(126), false), "{none:?}");
    assert!(
        none.stderr.contains("can't debug no/such/program"),
        "{none:?}"
    );
}

#[test]
fn what_happens_between_two_shells_is_told_to_the_second() {
    let shell = Shell::new("between");
    shell.ok(&["start", "--ex", "b classify", &program("tour")]);
    let run = shell.ok(&["exec", "--no-wait", "run"]);
    assert!(!run.contains("stopped"), "{run}");
    let waited = shell.ok(&["wait"]);
    assert!(waited.contains("stopped at breakpoint 1"), "{waited}");
    assert_eq!(shell.ok(&["wait"]), "nothing new: the program is stopped\n");
    let stops = objects(&shell.ok(&["exec", "--json", "c"]));
    let kinds: Vec<&str> = stops
        .iter()
        .filter_map(|it| it["record"].as_str())
        .collect();
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "stop").count(),
        1,
        "{kinds:?}"
    );
    let last = stops.last().expect("the state");
    assert_eq!(last["state"], "stopped", "{last}");
}

#[test]
fn what_the_commands_of_a_breakpoint_show_is_told_with_its_stop() {
    let shell = Shell::new("commands");
    shell.ok(&["start", "--ex", "b classify", &program("tour")]);
    shell.ok(&["exec", "commands 1\np 6 * 7\nend"]);
    let run = shell.ok(&["exec", "run"]);
    assert!(
        run.contains("stopped at") && run.ends_with("6 * 7 = 42\n"),
        "{run}"
    );
    // Where they let it go on, its end is waited for.
    shell.ok(&["exec", "commands 1\np 3 * 7\ncontinue\nend"]);
    let end = shell.ok(&["exec", "c"]);
    assert!(
        end.contains("3 * 7 = 21\n") && end.contains("program exited with code 3"),
        "{end}"
    );
}

#[test]
fn a_program_that_runs_is_interrupted_from_another_shell() {
    let shell = Shell::new("interrupted");
    shell.ok(&["start", &program("runs_on")]);
    let late = shell.fails(124, &["exec", "--within", "1", "run"]);
    assert!(late.contains("the program runs on"), "{late}");
    let refused = shell.fails(125, &["exec", "bt"]);
    assert!(
        refused.contains("the program runs; `wait` waits"),
        "{refused}"
    );
    assert!(
        shell
            .fails(124, &["wait", "--within", "1"])
            .contains("the program runs on")
    );
    let mut waiting = shell.command(&["wait"]);
    let waiting = waiting
        .stdout(Stdio::piped())
        .spawn()
        .expect("a second shell");
    let stopped = shell.ok(&["exec", "interrupt"]);
    assert!(
        stopped.contains("stopped by a pause") || stopped.contains("paused"),
        "{stopped}"
    );
    let waited = waiting.wait_with_output().expect("the second shell");
    let waited = String::from_utf8_lossy(&waited.stdout).into_owned();
    assert!(
        waited.contains("stopped") || waited.contains("nothing new"),
        "{waited}"
    );
    assert!(shell.ok(&["exec", "bt"]).contains("main"));
}

#[test]
fn commands_that_fail_say_so_and_leave_the_session() {
    let shell = Shell::new("fail");
    let nothing = shell.fails(1, &["start", "--name", "a/b", "/bin/true"]);
    assert!(nothing.contains("can't be a session's name"), "{nothing}");
    shell.ok(&[
        "start",
        "--name",
        "one",
        "--ex",
        "b main",
        "--ex",
        "run",
        &program("tour"),
    ]);
    let twice = shell.fails(1, &["start", "--name", "one", "/bin/true"]);
    assert!(
        twice.contains("there is a session `one` already"),
        "{twice}"
    );
    let wrong = shell.fails(125, &["exec", "p nothing", "bogus"]);
    assert!(
        wrong.contains("`nothing`") && wrong.contains("no command `bogus`"),
        "{wrong}"
    );
    assert!(
        shell
            .fails(1, &["exec", "--session", "two", "bt"])
            .contains("no session `two`")
    );
    shell.ok(&[
        "start",
        "--name",
        "two",
        "--ex",
        "b main",
        "--ex",
        "run",
        &program("tour"),
    ]);
    assert!(shell.fails(1, &["exec", "bt"]).contains("one, two"));
    assert!(
        shell
            .ok(&["exec", "--session", "one", "bt"])
            .contains("main at")
    );
    // A block of lines is one command for the shell.
    shell.ok(&["exec", "--session", "two", "define twice\np 2 * 21\nend"]);
    assert!(
        shell
            .ok(&["exec", "--session", "two", "twice"])
            .contains("= 42")
    );
    let no_program = shell.fails(126, &["start", "--name", "three", "/nonexistent"]);
    assert!(no_program.contains("/nonexistent"), "{no_program}");
    // A session ends by `quit`, too.
    shell.run(&["exec", "--session", "one", "quit"]);
    assert!(!shell.ok(&["list"]).contains("one  "));
}

#[test]
fn a_process_that_was_attached_to_goes_on_after_the_session() {
    let shell = Shell::new("attached");
    let mut process = Command::new(program("runs_on"))
        .stdout(Stdio::null())
        .spawn()
        .expect("it runs");
    let id = process.id().to_string();
    shell.ok(&["start", "--attach", &id, "--ex", "bt"]);
    shell.ok(&["end"]);
    assert!(process.try_wait().expect("its state").is_none());
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it is there");
    assert!(status.contains("TracerPid:\t0\n"), "{status}");
    process.kill().expect("killed");
    process.wait().expect("ended");
}

#[test]
fn input_that_is_no_request_is_refused_and_the_session_goes_on() {
    let shell = Shell::new("hostile");
    shell.ok(&[
        "start",
        "--name",
        "it",
        "--ex",
        "b main",
        "--ex",
        "run",
        &program("tour"),
    ]);
    let socket = shell.socket("it");
    let mode = |path: &std::path::Path| {
        std::fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
    };
    assert_eq!(mode(&socket) & 0o077, 0);
    assert_eq!(mode(socket.parent().expect("a folder")) & 0o077, 0);
    let frame = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let refused = [
        frame("{}"),
        frame("[1, 2"),
        frame(r#"{"do":"fly"}"#),
        frame(r#"{"do":"exec"}"#),
    ];
    for bytes in &refused {
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        stream.write_all(bytes.as_bytes()).expect("written");
        let mut reader = BufReader::new(stream);
        let mut header = String::new();
        reader.read_line(&mut header).expect("an answer");
        let length: usize = header
            .trim()
            .rsplit(' ')
            .next()
            .and_then(|it| it.parse().ok())
            .expect(&header);
        let mut body = vec![0; length + 2];
        reader.read_exact(&mut body).expect("the whole answer");
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(
            body.contains("this is no request of a session"),
            "{bytes:?}: {body}"
        );
    }
    let lost = [
        "\0\u{1}nonsense\r\n\r\n".repeat(50),
        "Content-Length: 99999999999\r\n\r\n".to_owned(),
        frame(r#"{"do":"wait"}"#),
    ];
    for bytes in &lost {
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        // Whoever sends too much may find that nobody reads on.
        let _ = stream.write_all(bytes.as_bytes());
    }
    assert!(shell.ok(&["exec", "bt"]).contains("main at"));
}

#[test]
fn a_session_whose_parts_are_killed_is_over_and_its_name_is_free() {
    let shell = Shell::new("killed");
    let begin = || {
        shell.ok(&[
            "start",
            "--name",
            "it",
            "--ex",
            "b main",
            "--ex",
            "run",
            &program("tour"),
        ])
    };
    begin();
    let host = shell.host();
    let debugger = children(host);
    kill(debugger[0]);
    let over = shell.run(&["exec", "bt"]);
    assert_ne!(over.code, Some(0), "{over:?}");
    begin();
    let host = shell.host();
    let mut waiting = shell.command(&["exec", "--no-wait", "delete all", "c"]);
    waiting
        .stdout(Stdio::piped())
        .spawn()
        .and_then(Child::wait_with_output)
        .expect("it runs on");
    kill(host);
    let mut gone = shell.run(&["list"]);
    // Until the kernel has ended it, it may still be found.
    while gone.stdout.starts_with("it  ") {
        gone = shell.run(&["list"]);
    }
    assert_eq!(gone.stdout, "there is no session\n");
    begin();
}

fn kill(process: i32) {
    let status = Command::new("kill")
        .args(["-KILL", &process.to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

fn children(process: i32) -> Vec<i32> {
    let path = format!("/proc/{process}/task/{process}/children");
    let text = std::fs::read_to_string(path).expect("the host is there");
    text.split_whitespace()
        .filter_map(|it| it.parse().ok())
        .collect()
}

#[test]
fn a_session_that_nobody_comes_to_ends_with_its_program() {
    let shell = Shell::new("idle");
    let start = ["start", "--idle", "0.01", "--ex", "b main", "--ex", "run"];
    shell.ok(&[&start[..], &[&program("tour")]].concat());
    // Looking doesn't count.
    while shell.ok(&["list"]) != "there is no session\n" {}
    assert!(!shell.socket("tour").exists());
    let wrong = shell.fails(1, &["start", "--idle", "-3", "/bin/true"]);
    assert!(wrong.contains("--idle"), "{wrong}");
}

#[test]
fn any_adapter_has_sessions() {
    let Some(adapter) = std::env::var_os("DAPPLE_LLDB_DAP") else {
        return;
    };
    let shell = Shell::new("lldb");
    let adapter = adapter.to_str().expect("a plain path");
    let begun = shell.ok(&[
        "start",
        "--adapter",
        adapter,
        "--ex",
        "b classify",
        "--ex",
        "run",
        &program("tour"),
    ]);
    assert!(begun.contains("classify at"), "{begun}");
    assert!(shell.ok(&["exec", "p celsius"]).contains("celsius = "));
}
