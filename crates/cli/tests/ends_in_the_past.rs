//! A recorded program is run backwards many times, each time in a copy of it, and then ends, is left, or loses its debugger: no copy is left, no
//! zombie, and no file. (`DAPPLE_FORKS=2000` makes 10,000 copies and more.)

use crate::support;
use crate::support::pass;
use crate::support::running::{Running, kill};
use dapple_adapter::RecordRequest;
use dapple_dap::client::Client;
use dapple_dap::message::{Empty, Raw};
use dapple_dap::testing::{TestClient, launch_arguments};
use dapple_dap::types::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SOURCE: &str = "travelled.c";
const PATIENCE: Duration = Duration::from_secs(60);
/// The most copies that may be there at a time: checkpoints, the present, and what a search shows.
const MOST: usize = 64 + 8;

/// How often each program is run backwards. Each time takes at least one copy.
fn forks() -> u64 {
    let text = std::env::var("DAPPLE_FORKS").ok();
    text.map_or(40, |text| text.parse().expect("a number"))
}

/// How a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Disconnects,
    Leaves,
    ProgramEnds,
    ProgramKilled,
    /// While it rests in the past.
    DebuggerKilled,
    /// So long after it was asked to run backwards, in microseconds.
    DebuggerKilledAmid(u64),
}

/// The processes of a program, by the first letters of their states (`Z`: a zombie).
fn states(name: &str) -> Vec<char> {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let texts = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let state = |text: String| {
        let (before, fields) = text.rsplit_once(") ")?;
        let (_, found) = before.split_once('(')?;
        (found == name).then(|| fields.chars().next()).flatten()
    };
    texts.filter_map(state).collect()
}

/// Waits until of a program's processes there are no more than so many, and no zombie.
#[track_caller]
fn wait_for_at_most(name: &str, most: usize, about: impl std::fmt::Debug) {
    let begin = Instant::now();
    loop {
        let states = states(name);
        if states.len() <= most && !states.contains(&'Z') {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{about:?}: {states:?} are left");
        std::thread::yield_now();
    }
}

fn stopped(client: &TestClient) -> i64 {
    let stop = client.wait_for::<StoppedEvent>();
    stop.thread_id.expect("a thread")
}

fn back(client: &TestClient, thread: i64) {
    client.ok::<StepBackRequest>(StepBackArguments::new(thread));
}

/// Ends a session that is in the past.
fn end(client: TestClient, thread: i64, how: End) {
    let front = client.process_id().expect("a process") as i32;
    match how {
        End::Disconnects => {
            client.ok::<DisconnectRequest>(DisconnectArguments::new());
        }
        End::Leaves => {
            let leave = DisconnectArguments::new().with_terminate_debuggee(false);
            client.ok::<DisconnectRequest>(leave);
        }
        End::ProgramEnds => {
            client.resume(thread);
            assert_eq!(client.wait_for::<ExitedEvent>().exit_code, 0);
        }
        End::ProgramKilled => {
            kill("-KILL", thread as i32);
            client.wait_for::<ExitedEvent>();
        }
        End::DebuggerKilled => kill("-KILL", front),
        End::DebuggerKilledAmid(after) => {
            let step = StepBackArguments::new(thread);
            let _asked = client.send::<StepBackRequest>(step);
            pass(Duration::from_micros(after));
            kill("-KILL", front);
        }
    }
    drop(client);
}

/// Runs a program backwards and forwards, and ends the session.
fn ends(program: &Path, folder: &Path, how: End) {
    let name = program.file_name().expect("its name").to_string_lossy();
    let client = Client::spawn(support::dapple().arg("dap").env("TMPDIR", folder));
    let client = TestClient::from(client.expect("dapple runs")).with_timeout(PATIENCE);
    client.initialize();
    client.ok::<LaunchRequest>(launch_arguments(&json!({
        "program": program,
        "record": true,
    })));
    let path = support::root().join("fixtures").join(SOURCE);
    let set = |mark: Option<&str>| {
        let source = Source::new().with_path(path.display().to_string());
        let lines = mark.map(|mark| SourceBreakpoint::new(support::line(SOURCE, mark)));
        let lines =
            SetBreakpointsArguments::new(source).with_breakpoints(lines.into_iter().collect());
        client.ok::<SetBreakpointsRequest>(lines);
    };
    set(Some("heap"));
    client.ok::<ConfigurationDoneRequest>(Default::default());
    let thread = stopped(&client);
    set(None);
    for _ in 0..forks() / 2 {
        for _ in 0..2 {
            back(&client, thread);
            stopped(&client);
        }
        client.ok::<NextRequest>(NextArguments::new(thread));
        stopped(&client);
        client.ok::<NextRequest>(NextArguments::new(thread));
        stopped(&client);
    }
    back(&client, thread);
    stopped(&client);
    wait_for_at_most(&name, MOST, how);
    end(client, thread, how);
    // The one that is left runs to its end.
    wait_for_at_most(&name, 0, how);
    let left: Vec<_> = { std::fs::read_dir(folder) }
        .expect("it is there")
        .collect();
    assert!(left.is_empty(), "{how:?}: {left:?}");
}

fn program(name: &str) -> PathBuf {
    // No longer than the kernel keeps of it.
    let number = std::process::id() % 100_000;
    let program = support::scratch("past").join(format!("{name}-{number}"));
    support::compile(SOURCE, &program);
    program
}

fn all_end(name: &str, ends_so: &[End]) {
    let program = program(name);
    for (index, how) in ends_so.iter().enumerate() {
        let folder = support::scratch("past").join(format!("{name}-tmp-{index}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        ends(&program, &folder, *how);
    }
}

#[test]
fn a_session_that_ends_in_the_past_leaves_nothing() {
    let ends = [End::Disconnects, End::Leaves, End::ProgramEnds];
    all_end("pastends", &ends);
}

#[test]
fn whoever_is_killed_leaves_nothing() {
    let ends = [
        End::ProgramKilled,
        End::DebuggerKilled,
        End::DebuggerKilledAmid(0),
        End::DebuggerKilledAmid(700),
        End::DebuggerKilledAmid(5000),
    ];
    all_end("pastkilled", &ends);
}

/// When the debugger of a recorded program is killed that was attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    AtRest,
    InThePast,
    AmidASearch,
    WhileItRuns,
}

/// Records a program that was attached to, and kills the debugger: the program works on, without copies.
fn works_on(program: &Path, killed: Killed) {
    const ATTACHED: &str = "recorded_attached.c";
    let name = program.file_name().expect("its name").to_string_lossy();
    let mut running = Running::start(program, &[]);
    let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
    let client = TestClient::from(client).with_timeout(PATIENCE);
    client.initialize();
    let front = client.process_id().expect("a process") as i32;
    let mut arguments = AttachRequestArguments::new();
    let pid = Raw::new(&running.pid()).expect("a number");
    arguments.other.insert("pid".to_owned(), pid);
    client.ok::<AttachRequest>(arguments);
    let path = support::root().join("fixtures").join(ATTACHED);
    let set = client.set_breakpoints(path, &[support::line(ATTACHED, "work")]);
    assert!(set.breakpoints[0].verified, "{:?}", set.breakpoints);
    client.ok::<ConfigurationDoneRequest>(Default::default());
    running.tell("work");
    let thread = stopped(&client);
    client.ok::<RecordRequest>(Empty);
    for worked in 1..4 {
        client.resume(thread);
        assert_eq!(running.line(), format!("worked {worked}"));
        running.tell("work");
        stopped(&client);
    }
    match killed {
        Killed::AtRest => kill("-KILL", front),
        Killed::InThePast => {
            back(&client, thread);
            stopped(&client);
            kill("-KILL", front);
        }
        Killed::AmidASearch => end(client, thread, End::DebuggerKilledAmid(1000)),
        Killed::WhileItRuns => {
            client.resume(thread);
            assert_eq!(running.line(), "worked 4");
            kill("-KILL", front);
        }
    }
    if killed != Killed::WhileItRuns {
        assert_eq!(running.line(), "worked 4");
    }
    for worked in 5..8 {
        assert_eq!(
            running.ask("work"),
            format!("worked {worked}"),
            "{killed:?}"
        );
    }
    wait_for_at_most(&name, 1, killed);
}

#[test]
fn a_program_that_was_attached_to_works_on_when_its_recorder_is_killed() {
    let number = std::process::id() % 100_000;
    let program = support::scratch("past").join(format!("attached-{number}"));
    support::compile("recorded_attached.c", &program);
    for killed in [
        Killed::AtRest,
        Killed::InThePast,
        Killed::AmidASearch,
        Killed::WhileItRuns,
    ] {
        works_on(&program, killed);
    }
}
