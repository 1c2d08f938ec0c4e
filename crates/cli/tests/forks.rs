//! Children in sessions of their own, served by the same adapter process or by another, and what remains when these processes are killed.

use crate::support;
use crossbeam_channel::{Receiver, unbounded};
use dapple_dap::client::Client;
use dapple_dap::message::Raw;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

type Configuration = BTreeMap<String, Raw>;

fn source() -> PathBuf {
    support::root().join("fixtures/forks.c")
}

/// Compiles `fixtures/forks.c` for one test.
fn compile(test: &str) -> PathBuf {
    let program = support::scratch("forks").join(format!("{test}-{}", std::process::id()));
    support::compile("forks.c", &program);
    program
}

fn line(name: &str) -> i64 {
    support::line("forks.c", name)
}

/// A session whose client records the sessions that it is asked to open for children.
struct Session {
    client: TestClient,
    children: Receiver<Configuration>,
}

impl Session {
    /// A session with an adapter process of its own.
    fn spawned() -> Session {
        Session::of(Client::spawn(support::dapple().arg("dap")).expect("dapple runs"))
    }

    fn of(client: Client) -> Session {
        let client = TestClient::from(client).with_timeout(PATIENCE);
        let (sender, children) = unbounded();
        client.on::<StartDebuggingRequest>(move |arguments| {
            let _ = sender.send(arguments.configuration);
            Ok(Default::default())
        });
        let arguments =
            InitializeRequestArguments::new("dapple").with_supports_start_debugging_request(true);
        client.ok::<InitializeRequest>(arguments);
        Session { client, children }
    }

    /// Launches and runs a program. Returns its process id.
    fn launch(&self, program: &PathBuf, mode: &str, stops: &[&str]) -> i32 {
        let arguments = json!({"program": program, "args": [mode], "followForks": "both"});
        self.client
            .ok::<LaunchRequest>(launch_arguments(&arguments));
        self.configure(stops)
    }

    /// Attaches to a child and runs it. Returns its process id.
    fn attach(&self, configuration: Configuration, stops: &[&str]) -> i32 {
        let mut arguments = AttachRequestArguments::new();
        arguments.other = configuration;
        self.client.ok::<AttachRequest>(arguments);
        self.configure(stops)
    }

    fn configure(&self, stops: &[&str]) -> i32 {
        self.client.wait_for::<InitializedEvent>();
        let lines: Vec<i64> = stops.iter().map(|name| line(name)).collect();
        let set = self.client.set_breakpoints(source(), &lines);
        assert!(set.breakpoints.iter().all(|breakpoint| breakpoint.verified));
        self.client
            .ok::<ConfigurationDoneRequest>(Default::default());
        let process = self.client.wait_for::<ProcessEvent>().system_process_id;
        process.expect("its id") as i32
    }

    fn next_child(&self) -> Configuration {
        self.children.recv_timeout(PATIENCE).expect("a child")
    }

    fn stopped_at(&self, name: &str) -> i64 {
        let (stopped, _) = self
            .client
            .assert_stopped_at("breakpoint", source(), line(name));
        stopped.thread_id.expect("a thread")
    }

    fn kill_adapter(&self) {
        kill(self.client.process_id().expect("dapple's id") as i32);
    }
}

fn kill(process: i32) {
    let status = Command::new("kill")
        .args(["-KILL", &process.to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// Waits until a process is gone or a zombie.
fn wait_for_end(process: i32) {
    loop {
        match state(process) {
            None | Some('Z' | 'X') => return,
            Some(_) => std::thread::yield_now(),
        }
    }
}

fn state(process: i32) -> Option<char> {
    field(process, "State")?.chars().next()
}

fn field(process: i32, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let value = |line: &str| {
        Some(
            line.strip_prefix(name)?
                .strip_prefix(':')?
                .trim()
                .to_owned(),
        )
    };
    text.lines().find_map(value)
}

/// Starts a server on a free port. Returns its address, too.
fn listening() -> (Child, String) {
    let mut child = support::dapple()
        .args(["dap", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("dapple runs");
    let mut said = String::new();
    let stderr = child.stderr.take().expect("a pipe");
    BufReader::new(stderr).read_line(&mut said).expect("a line");
    let address = said.trim_end().strip_prefix("listening on ");
    let address = address.expect("it says where").to_owned();
    (child, address)
}

#[test]
fn a_child_is_taken_over_by_another_process_of_the_adapter() {
    let program = compile("taken");
    let parent = Session::spawned();
    parent.launch(&program, "raw", &["waited"]);
    let child = Session::spawned();
    child.attach(parent.next_child(), &["raw child"]);
    let thread = child.stopped_at("raw child");
    child.client.resume(thread);
    assert_eq!(child.client.wait_for::<ExitedEvent>().exit_code, 3);
    let thread = parent.stopped_at("waited");
    parent.client.resume(thread);
    assert_eq!(parent.client.wait_for::<ExitedEvent>().exit_code, 6);
    parent.client.assert_output(
        "stdout",
        "changed 0\nchild: blocks 0, continued 0, dumpable 1\nparent: exited with 3, SIGCHLD 1, stops 0\n",
    );
    child.client.disconnect();
    parent.client.disconnect();
}

#[test]
fn a_launched_programs_child_ends_with_the_adapter_that_has_it() {
    let program = compile("ends");
    let parent = Session::spawned();
    let process = parent.launch(&program, "once", &["waited"]);
    let child = Session::spawned();
    child.attach(parent.next_child(), &["child"]);
    child.stopped_at("child");
    child.kill_adapter();
    let thread = parent.stopped_at("waited");
    parent
        .client
        .assert_output("stdout", "parent: killed by 9, SIGCHLD 1, stops 0");
    parent.client.resume(thread);
    assert_eq!(parent.client.wait_for::<ExitedEvent>().exit_code, 6);
    wait_for_end(process);

    // The other way round: the child belongs to the other adapter until that is killed, too.
    let parent = Session::spawned();
    let process = parent.launch(&program, "idle", &["parent"]);
    let child = Session::spawned();
    let orphan = child.attach(parent.next_child(), &[]);
    parent.stopped_at("parent");
    parent.kill_adapter();
    wait_for_end(process);
    assert!(!matches!(state(orphan), None | Some('Z' | 'X')));
    child.kill_adapter();
    wait_for_end(orphan);
}

#[test]
fn a_child_that_waits_for_its_session_ends_with_its_parents_adapter() {
    let program = compile("waits");
    let parent = Session::spawned();
    let process = parent.launch(&program, "idle", &["child"]);
    let configuration = parent.next_child();
    let child: i32 = configuration["pid"].decode().expect("a number");
    parent.kill_adapter();
    wait_for_end(process);
    wait_for_end(child);
}

#[test]
fn a_killed_server_leaves_nothing_behind_of_all_sessions_of_a_program() {
    let program = compile("server");
    let (mut server, address) = listening();
    let connect = || Session::of(Client::connect(&*address).expect("connected"));
    let parent = connect();
    let process = parent.launch(&program, "nested", &["parent"]);
    let child = connect();
    let second = child.attach(parent.next_child(), &["child"]);
    let grandchild = connect();
    let third = grandchild.attach(child.next_child(), &["grandchild"]);
    grandchild.stopped_at("grandchild");
    kill(server.id() as i32);
    server.wait().expect("it ends");
    for process in [process, second, third] {
        wait_for_end(process);
    }
}

#[test]
fn children_of_a_process_that_was_attached_to_survive_killed_adapters() {
    let program = compile("survives");
    for taken in [true, false] {
        let mut running = Command::new(&program)
            .arg("slow")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut output = BufReader::new(running.stdout.take().expect("its output")).lines();
        let mut next_line = || output.next().expect("a line").expect("text");
        assert_eq!(next_line(), "ready");
        let parent = Session::spawned();
        let configuration = BTreeMap::from([
            ("pid".to_owned(), Raw::new(&running.id()).expect("a number")),
            ("followForks".to_owned(), Raw::new("both").expect("a text")),
        ]);
        parent.attach(configuration, &["waited"]);
        drop(running.stdin.take());
        let configuration = parent.next_child();
        let pid: i32 = configuration["pid"].decode().expect("a number");
        if taken {
            let child = Session::spawned();
            child.attach(configuration, &["child"]);
            child.stopped_at("child");
            child.kill_adapter();
        } else {
            parent.client.ok::<PauseRequest>(PauseArguments::new(1));
            parent.client.wait_for::<StoppedEvent>();
            parent.kill_adapter();
        }
        assert_eq!(next_line(), "child: blocks 0, continued 0, dumpable 1");
        wait_for_end(pid);
        if taken {
            let thread = parent.stopped_at("waited");
            parent.client.resume(thread);
        }
        assert_eq!(next_line(), "parent: exited with 3, SIGCHLD 1, stops 0");
        assert_eq!(running.wait().expect("it ends").code(), Some(6));
    }
}

#[test]
fn the_terminal_follows_the_child_where_it_is_asked_to() {
    let program = compile("terminal");
    let run = |follow: &str| {
        let mut command = support::dapple();
        command.args(["debug", "--batch", "--follow-forks", follow]);
        let at = format!("b {}:{}", source().display(), line("child"));
        for line in [&*at, "run", "p child", "c"] {
            command.args(["--ex", line]);
        }
        support::Run::of(command.arg(&program).arg("once"))
    };
    let child = run("child");
    assert_eq!(child.code, Some(3), "{child:?}");
    assert!(child.stdout.contains("be_child(\"child\")"), "{child:?}");
    let parent = run("parent");
    assert!(!parent.stdout.contains("be_child(\"child\")"), "{parent:?}");
}
