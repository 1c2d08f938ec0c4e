//! `dapple dap` is killed while it debugs an attached process, which must continue undisturbed.

use crate::support;
use crate::support::running;
use crate::support::running::{Running, changed_text, kill};
use crate::support::vfork_child::{Files, reading_at, reading_child, until};
use dapple_dap::client::Client;
use dapple_dap::message::Raw;
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// How often a test that depends on timing is repeated.
fn rounds(usual: u32) -> u32 {
    let text = std::env::var("DAPPLE_KILLED_ROUNDS").ok();
    text.map_or(usual, |text| text.parse().expect("a number"))
}

fn source() -> PathBuf {
    support::root().join("fixtures/server.c")
}

fn compiled(name: &str) -> PathBuf {
    let program = support::scratch("killed").join(format!("{name}-{}", std::process::id()));
    support::compile(&format!("{name}.c"), &program);
    program
}

fn server() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("server"))
}

fn registers(process: i32) -> Vec<(u64, bool, u64)> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    running::registers(PROGRAM.get_or_init(|| compiled("registers")), process)
}

fn line_of(marker: &str) -> i64 {
    support::line("server.c", marker)
}

/// The guardian processes of `process`.
fn guardians(process: i32) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc") {
        let path = entry.expect("an entry").path();
        let Ok(name) = std::fs::read_to_string(path.join("comm")) else {
            continue;
        };
        let descriptors = std::fs::read_dir(path.join("fd")).into_iter().flatten();
        let keeps = |fd: std::fs::DirEntry| {
            std::fs::read_link(fd.path())
                .is_ok_and(|to| to == Path::new(&format!("/proc/{process}/mem")))
        };
        if name == "debug guardian\n" && descriptors.flatten().any(keeps) {
            found.extend(
                path.file_name()
                    .and_then(|id| id.to_str()?.parse::<i32>().ok()),
            );
        }
    }
    found
}

/// A server program, and a client whose adapter is attached to it.
struct Debugged {
    server: Running,
    client: TestClient,
}

impl Debugged {
    fn new(commands: &[&str], breakpoints: &[SourceBreakpoint]) -> Debugged {
        let mut server = Running::start(server(), &[]);
        for command in commands {
            server.ask(command);
        }
        let client = client();
        let mut arguments = AttachRequestArguments::new();
        let pid = Raw::new(&server.pid()).expect("a number");
        arguments.other.insert("pid".to_owned(), pid);
        client.ok::<AttachRequest>(arguments);
        let place = Source::new().with_path(source().display().to_string());
        let set = SetBreakpointsArguments::new(place).with_breakpoints(breakpoints.to_vec());
        let set = client.ok::<SetBreakpointsRequest>(set);
        for breakpoint in set.breakpoints {
            assert!(breakpoint.verified, "{breakpoint:?}");
        }
        client.ok::<ConfigurationDoneRequest>(Default::default());
        // The guardian runs, but may not have set its name yet.
        while guardians(server.pid()).len() != 1 {
            std::thread::yield_now();
        }
        Debugged { server, client }
    }

    fn stopped(&self) -> i64 {
        let stop = self.client.wait_for::<StoppedEvent>();
        stop.thread_id.expect("a thread")
    }

    fn resume(&self, thread: i64) {
        self.client
            .ok::<ContinueRequest>(ContinueArguments::new(thread));
    }

    /// Sets a data breakpoint on a static variable. The process must be stopped.
    fn watch(&self, name: &str) {
        let asked = DataBreakpointInfoArguments::new(name);
        let info = self.client.ok::<DataBreakpointInfoRequest>(asked);
        let id = info
            .data_id
            .unwrap_or_else(|| panic!("{}", info.description));
        let wanted = vec![DataBreakpoint::new(id)];
        let set = self
            .client
            .ok::<SetDataBreakpointsRequest>(SetDataBreakpointsArguments::new(wanted));
        assert!(set.breakpoints[0].verified, "{:?}", set.breakpoints);
    }

    /// Kills the process that the client started.
    fn kill_adapter(&self) {
        kill("-KILL", self.client.process_id().expect("a process") as i32);
    }

    /// Kills the process that traces the server.
    fn kill_tracer(&self) {
        let tracer = self.server.status("TracerPid");
        kill("-KILL", tracer.parse().expect("a process"));
    }

    /// Kills either of the two.
    fn kill_some(&self, round: u32) {
        match round % 3 {
            0 => self.kill_adapter(),
            _ => self.kill_tracer(),
        }
    }

    /// Waits until the server has neither a tracer nor a guardian, and checks that no breakpoint is left in it.
    fn assert_released(&self) {
        let pid = self.server.pid();
        while self.server.status("TracerPid") != "0" || !guardians(pid).is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(changed_text(pid), Vec::<String>::new());
        for (control, trap, pc) in registers(pid) {
            assert_eq!((control, trap), (0, false), "at {pc:#x}");
        }
    }

    /// Checks that a server that was told to work a hundred times completes the rest, and that its busy threads continue.
    fn works_on(&mut self, threads: &str) {
        for worked in 2..=100 {
            assert_eq!(self.server.line(), format!("worked {worked}"));
        }
        let toiled = self.server.ask("toiled");
        while threads != "0" && self.server.ask("toiled") == toiled {}
    }
}

#[test]
fn a_process_that_runs_passes_where_breakpoints_were_in_all_threads() {
    let at =
        ["work", "idle", "mayfly", "quit"].map(|marker| SourceBreakpoint::new(line_of(marker)));
    for round in 0..rounds(10) {
        let mut debugged = Debugged::new(&["spawn 3"], &at);
        debugged.kill_some(round);
        debugged.assert_released();
        assert_eq!(debugged.server.ask("work"), "worked 1");
        assert_eq!(debugged.server.ask("spawn 3"), "spawned");
        assert_eq!(debugged.server.ask("churn"), "churning");
        debugged.server.tell("quit 3");
        assert_eq!(
            debugged.server.child.wait().expect("its end").code(),
            Some(3)
        );
    }
}

#[test]
fn data_is_watched_no_more() {
    for round in 0..rounds(10) {
        for running in [true, false] {
            let at = [SourceBreakpoint::new(line_of("work"))];
            let mut debugged = Debugged::new(&["spawn 3"], &at);
            debugged.server.tell("work");
            let thread = debugged.stopped();
            debugged.watch("worked");
            debugged.resume(thread);
            debugged.stopped();
            if running {
                debugged.resume(thread);
                assert_eq!(debugged.server.line(), "worked 1");
            }
            debugged.kill_some(round);
            if !running {
                assert_eq!(debugged.server.line(), "worked 1");
            }
            debugged.assert_released();
            assert_eq!(debugged.server.ask("work"), "worked 2");
            assert_eq!(debugged.server.ask("work"), "worked 3");
        }
    }
}

#[test]
fn a_thread_is_left_in_a_step_or_behind_one() {
    for round in 0..rounds(10) {
        for kind in ["line", "instruction", "over a wait"] {
            let at = [SourceBreakpoint::new(line_of("work"))];
            let mut debugged = Debugged::new(&["spawn 2"], &at);
            debugged.server.tell("work");
            let thread = debugged.stopped();
            match kind {
                "over a wait" => {
                    // Steps up to the line that waits for the next input.
                    debugged
                        .client
                        .ok::<StepOutRequest>(StepOutArguments::new(thread));
                    debugged.stopped();
                    while debugged.client.top_frame(thread).line != line_of("read") {
                        debugged
                            .client
                            .ok::<NextRequest>(NextArguments::new(thread));
                        debugged.stopped();
                    }
                    debugged
                        .client
                        .ok::<NextRequest>(NextArguments::new(thread));
                    while !debugged.server.status("State").starts_with('S') {
                        std::thread::yield_now();
                    }
                }
                _ => {
                    for _ in 0..1 + round % 3 {
                        let mut step = NextArguments::new(thread);
                        if kind == "instruction" {
                            step = step.with_granularity(SteppingGranularity::Instruction);
                        }
                        debugged.client.ok::<NextRequest>(step);
                        debugged.stopped();
                    }
                }
            }
            debugged.kill_some(round);
            assert_eq!(debugged.server.line(), "worked 1");
            debugged.assert_released();
            assert_eq!(debugged.server.ask("work"), "worked 2");
        }
    }
}

/// Kills the tracer during frequent breakpoint hits: the server continues unharmed, also where threads have run into a breakpoint and nobody has
/// taken their stops.
fn kill_tracer_in_a_storm(mut debugged: Debugged, threads: &str) {
    debugged.kill_tracer();
    let pid = debugged.server.pid();
    while !guardians(pid).is_empty() {
        std::thread::yield_now();
    }
    kill("-STOP", pid);
    while !all_stopped(pid) {
        let ended = debugged.server.child.try_wait().expect("its state");
        assert_eq!(ended, None);
    }
    debugged.assert_released();
    kill("-CONT", pid);
    debugged.works_on(threads);
}

/// Whether a stop signal has stopped each thread of a process. False if it has ended.
fn all_stopped(process: i32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let stopped = |task: std::io::Result<std::fs::DirEntry>| {
        let id = task.ok()?.file_name().to_str()?.parse().ok()?;
        Some(running::status(id, "State").starts_with('T'))
    };
    tasks.is_ok_and(|tasks| {
        let all: Vec<_> = tasks.map(stopped).collect();
        !all.is_empty() && all.iter().all(|one| *one == Some(true))
    })
}

/// A server that hits breakpoints thousands of times a second, as fast as possible.
fn with_frequent_hits(threads: &str) -> Debugged {
    let at = ["work", "toil"]
        .map(|marker| SourceBreakpoint::new(line_of(marker)).with_condition("toiled == -1"));
    let mut debugged = Debugged::new(&[&format!("toil {threads}")], &at);
    for _ in 0..100 {
        debugged.server.tell("work");
    }
    debugged.server.line();
    debugged
}

#[test]
fn a_client_that_kills_the_adapter_harms_nobody_in_a_storm_of_hits() {
    for threads in ["0", "1", "2"] {
        for _ in 0..rounds(5) {
            let mut debugged = with_frequent_hits(threads);
            debugged.kill_adapter();
            debugged.assert_released();
            debugged.works_on(threads);
        }
    }
}

#[test]
fn a_tracer_that_is_killed_harms_nobody_in_a_storm_of_hits() {
    for threads in ["0", "1", "2"] {
        for _ in 0..rounds(5) {
            kill_tracer_in_a_storm(with_frequent_hits(threads), threads);
        }
    }
}

/// An initialized client of `dapple dap`.
fn client() -> TestClient {
    let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
    let client = TestClient::from(client);
    client.initialize();
    client
}

fn lender() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("lent"))
}

/// Sets breakpoints on the system call in which the child of `lent.c` waits, and on the instruction after it.
fn break_where_the_child_waits(client: &TestClient) {
    let functions = vec![FunctionBreakpoint::new("wait_for")];
    let arguments = SetFunctionBreakpointsArguments::new(functions);
    let set = client.ok::<SetFunctionBreakpointsRequest>(arguments);
    let call = &set.breakpoints[0].instruction_reference;
    let call = call.as_deref().expect("where it is");
    let wanted = [0, 2].map(|offset| InstructionBreakpoint::new(call).with_offset(offset));
    let arguments = SetInstructionBreakpointsArguments::new(wanted.into());
    let set = client.ok::<SetInstructionBreakpointsRequest>(arguments);
    for breakpoint in set.breakpoints {
        assert!(breakpoint.verified, "{breakpoint:?}");
    }
}

#[test]
fn a_child_in_the_memory_of_a_process_goes_on_from_the_copy_of_an_instruction() {
    for _ in 0..rounds(2) {
        let files = Files::new();
        let started = Command::new(lender()).args(files.args()).spawn();
        let mut program = started.expect("it starts");
        let process = program.id() as i32;
        until("it is not ready", || reading_at(process));
        let client = client();
        let mut arguments = AttachRequestArguments::new();
        let pid = Raw::new(&process).expect("a number");
        arguments.other.insert("pid".to_owned(), pid);
        client.ok::<AttachRequest>(arguments);
        break_where_the_child_waits(&client);
        client.ok::<ConfigurationDoneRequest>(Default::default());
        files.send();
        let (child, at) = reading_child(process);
        let tracer = running::status(child, "TracerPid");
        assert_eq!(tracer, running::status(process, "TracerPid"));
        until("there is no guardian", || {
            (guardians(process).len() == 1).then_some(())
        });
        kill("-KILL", tracer.parse().expect("a process"));
        until("it is still traced", || {
            (running::status(child, "TracerPid") == "0").then_some(())
        });
        // The displaced copy is still there, and jumps back by itself. The guardian waits for the parent, which waits for the child.
        assert_eq!(reading_at(child), Some(at));
        files.send();
        assert_eq!(files.result(), "0x300");
        assert_eq!(program.wait().expect("its end").code(), Some(3));
    }
}

#[test]
fn a_child_in_the_memory_of_what_was_launched_ends_with_that() {
    let files = Files::new();
    let client = client();
    let arguments = serde_json::json!({"program": lender(), "args": [&files.fifo, &files.result]});
    client.ok::<LaunchRequest>(launch_arguments(&arguments));
    break_where_the_child_waits(&client);
    client.ok::<ConfigurationDoneRequest>(Default::default());
    let process = client.wait_for::<ProcessEvent>().system_process_id;
    let process = process.expect("an id") as i32;
    files.send();
    let (child, _) = reading_child(process);
    let tracer = running::status(child, "TracerPid");
    kill("-KILL", tracer.parse().expect("a process"));
    for gone in [process, child] {
        until("it goes on", || {
            let state = running::status(gone, "State");
            (state.is_empty() || state.starts_with('Z')).then_some(())
        });
    }
    let result = std::fs::read_to_string(&files.result);
    assert_eq!(result.expect("the result"), "");
}
