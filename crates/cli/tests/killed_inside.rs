//! The debugger of an attached program is killed at random moments, while the program decides conditions of breakpoints itself: its results are
//! right all the same, and nothing is left in its code.

use crate::support;
use crate::support::guarded::is_guarded;
use crate::support::pass;
use crate::support::running::{Running, changed_text, kill, status};
use dapple_adapter::{DecidedRequest, DecidedResponse};
use dapple_dap::client::Client;
use dapple_dap::message::Raw;
use dapple_dap::testing::TestClient;
use dapple_dap::types::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

const SOURCE: &str = "hurried.cpp";
/// How often each of two threads passes the breakpoint that counts hits, at a time.
const TURNS: &str = "10000";
/// The longest time to the kill.
const LONGEST: Duration = Duration::from_millis(400);
const PATIENCE: Duration = Duration::from_secs(60);
/// Breakpoints with conditions that never hold.
const FALSE: [(&str, &str); 6] = [
    ("add", "i == -1"),
    ("canary", "turns_of_each == -1"),
    ("handler", "i < 0 || sum > 1000"),
    ("leaving", "sum < 0"),
    ("short", "right == 0"),
    ("caught", "sum == -1 && thrown > 0"),
];

/// How often it is killed (`DAPPLE_KILLED_ROUNDS=500` makes it more).
fn rounds(usual: u64) -> u64 {
    let text = std::env::var("DAPPLE_KILLED_ROUNDS").ok();
    text.map_or(usual, |text| text.parse().expect("a number"))
}

/// Random numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn program(level: &str) -> PathBuf {
    let program = support::scratch("killed").join(format!("hurried{level}-{}", std::process::id()));
    let compiled = Command::new("c++")
        .args(["-g", "-pthread", level])
        .arg(support::root().join("fixtures").join(SOURCE))
        .arg("-o")
        .arg(&program)
        .status();
    assert!(compiled.is_ok_and(|status| status.success()));
    program
}

fn programs() -> &'static [PathBuf; 2] {
    static PROGRAMS: OnceLock<[PathBuf; 2]> = OnceLock::new();
    PROGRAMS.get_or_init(|| ["-O0", "-O2"].map(program))
}

/// Whether memory for code that decides is mapped in a process: breakpoints have become jumps, or did once.
fn has_decided(process: i32) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let mut lines = maps.lines();
    // A page is for the handler of SIGTRAP.
    let is_larger = |line: &str| {
        let (range, _) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(number(end)? - number(start)? > 4096)
    };
    lines.any(|line| {
        line.contains(" r-xp ")
            && line.trim_end().ends_with(" 00:00 0")
            && is_larger(line) == Some(true)
    })
}

/// Sets the breakpoint that counts, and some of the others. `None`: the debugger is gone.
fn set(client: &TestClient, numbers: &mut Numbers) -> Option<()> {
    let at = |name: &str| SourceBreakpoint::new(support::line(SOURCE, name));
    let mut wanted = vec![
        at("counted")
            .with_hit_condition("% 5000")
            .with_log_message("hit"),
    ];
    for (name, condition) in FALSE {
        if numbers.below(4) > 0 {
            wanted.push(at(name).with_condition(condition));
        }
    }
    let path = support::root().join("fixtures").join(SOURCE);
    let source = Source::new().with_path(path.display().to_string());
    let arguments = SetBreakpointsArguments::new(source).with_breakpoints(wanted);
    client.request::<SetBreakpointsRequest>(arguments).ok()?;
    Some(())
}

/// From when on the time is counted to the kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Since {
    Attaching,
    Configured,
    Decided,
}

/// What a user does, until the debugger is gone. Tells `begun` from when on the time is counted.
fn work(
    client: &TestClient,
    process: i32,
    numbers: &mut Numbers,
    since: Since,
    begun: &Sender<()>,
) -> Option<()> {
    let tell = |now: Since| (now == since).then(|| begun.send(()).ok());
    tell(Since::Attaching);
    let mut arguments = AttachRequestArguments::new();
    let mut argument = |name: &str, value: Raw| arguments.other.insert(name.to_owned(), value);
    argument("pid", Raw::new(&process).expect("a number"));
    argument("conditionsInProgram", Raw::new(&true).expect("a value"));
    client.request::<AttachRequest>(arguments).ok()?;
    set(client, numbers)?;
    client
        .request::<ConfigurationDoneRequest>(Default::default())
        .ok()?;
    tell(Since::Configured);
    if since == Since::Decided {
        let is_decided = |answer: DecidedResponse| {
            { answer.breakpoints.iter() }.any(|breakpoint| breakpoint.in_program > 0)
        };
        while !is_decided(client.request::<DecidedRequest>(Empty).ok()?) {}
        tell(Since::Decided);
    }
    loop {
        match numbers.below(3) {
            0 => set(client, numbers)?,
            1 => pause(client, process, numbers)?,
            // Threads pass the breakpoints until these become jumps.
            _ => {
                pass(Duration::from_millis(numbers.below(40)));
                client.request::<ThreadsRequest>(Empty).ok()?;
            }
        }
    }
}

/// Pauses the program, looks at its threads, makes steps, and lets it go on.
fn pause(client: &TestClient, process: i32, numbers: &mut Numbers) -> Option<()> {
    let news = client.subscribe();
    let stopped = || {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let event = news.recv_timeout(Duration::from_millis(20));
            let stop = event.ok().and_then(|event| event.body::<StoppedEvent>());
            if let Some(thread) = stop.and_then(|stop| stop.thread_id) {
                return Some(thread);
            }
            if client.is_closed() {
                return None;
            }
        }
        None
    };
    let pause = PauseArguments::new(process.into());
    client.request::<PauseRequest>(pause).ok()?;
    let mut thread = stopped()?;
    for of_all in client.request::<ThreadsRequest>(Empty).ok()?.threads {
        let arguments = StackTraceArguments::new(of_all.id);
        client.request::<StackTraceRequest>(arguments).ok()?;
    }
    for _ in 0..numbers.below(3) {
        let mut step = NextArguments::new(thread);
        if numbers.below(2) == 0 {
            step = step.with_granularity(SteppingGranularity::Instruction);
        }
        client.request::<NextRequest>(step).ok()?;
        thread = stopped()?;
    }
    let arguments = ContinueArguments::new(thread);
    client.request::<ContinueRequest>(arguments).ok()?;
    Some(())
}

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    /// The process that the client has started.
    Front,
    /// The process that traces the program.
    Tracer,
}

/// Debugs the program, kills the debugger, and checks that the program is none the worse for it. Returns whether it had decided conditions.
fn lives_on(program: &Path, seed: u64, killed: Killed) -> bool {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut running = Running::start(program, &[TURNS, "/dev/stdout", "alone"]);
    let process = running.pid();
    let client = Client::spawn(support::dapple().arg("dap")).expect("dapple runs");
    let client = TestClient::from(client).with_timeout(PATIENCE);
    client.initialize();
    let front = client.process_id().expect("a process") as i32;
    let since = [Since::Attaching, Since::Configured, Since::Decided][seed as usize / 2 % 3];
    let (begun, begins) = channel();
    let after = Duration::from_micros(numbers.below(LONGEST.as_micros() as u64));
    let killer = std::thread::spawn(move || {
        let tracer = || status(process, "TracerPid").parse::<i32>().unwrap_or(0);
        while tracer() == 0 {
            std::thread::yield_now();
        }
        let _ = begins.recv();
        pass(after);
        kill(
            "-KILL",
            if killed == Killed::Front {
                front
            } else {
                tracer()
            },
        );
    });
    work(&client, process, &mut numbers, since, &begun);
    drop(begun);
    killer.join().expect("it kills");
    while status(process, "TracerPid") != "0" || is_guarded(process) {
        let ended = running.child.try_wait().expect("its state");
        assert!(
            ended.is_none(),
            "seed {seed}, {after:?} since {since:?}: {ended:?}"
        );
        std::thread::yield_now();
    }
    let has_decided = has_decided(process);
    if running.child.try_wait().expect("its state").is_none() {
        let changed = changed_text(process);
        assert_eq!(
            changed,
            Vec::<String>::new(),
            "seed {seed}, {after:?} since {since:?}"
        );
        kill("-USR1", process);
    }
    let ended = running.child.wait().expect("its end");
    let text = [(); 3].map(|()| running.line());
    let about = format!("seed {seed}, {after:?} since {since:?}: {ended:?}: {text:?}");
    assert!(ended.success(), "{about}");
    assert_eq!(text[2], "right", "{about}");
    has_decided
}

fn survivors(killed: Killed) {
    let rounds = rounds(6);
    let program = |seed: u64| &programs()[(seed % 2) as usize];
    let decided = (0..rounds).filter(|seed| lives_on(program(*seed), *seed, killed));
    let decided = decided.count();
    println!("{killed:?} killed: {rounds} live on, {decided} had decided conditions");
}

#[test]
fn a_client_that_kills_the_adapter_leaves_results_right() {
    survivors(Killed::Front);
}

#[test]
fn a_debugger_that_is_killed_leaves_results_right() {
    survivors(Killed::Tracer);
}
