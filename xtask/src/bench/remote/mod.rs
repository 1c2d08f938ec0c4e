//! `cargo xtask bench remote`: how fast a program behind a stub is debugged, next to gdb on the same stub, with the packets counted for both.
//!
//! Times are those of sessions that are connected to the stub directly. Runs of the two alternate. The packets are counted in one more session of each,
//! by a relay: where it stands between, each packet waits for one more process. The goal is twice gdb's speed in each row.

mod port;
mod relay;
mod session;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use port::Port;
use relay::Relay;
use session::{Adapter, Gdb, Session};

const SOURCE: &str = include_str!("programs/app.c");
/// How often each debugger goes through all of it.
const RUNS: usize = 9;
/// How many lines are stepped over.
const STEPS: u32 = 50;
/// How often the conditional breakpoint is passed before it stops.
const HITS: u32 = 1000;
/// How much faster than gdb we want to be.
const GOAL: f64 = 2.0;

/// A program that executes others as a stub.
struct Stub {
    name: &'static str,
    command: fn(&Path, u16) -> Command,
}

const STUBS: [Stub; 2] = [
    Stub {
        name: "gdbserver",
        command: |program, port| {
            let mut command = Command::new("gdbserver");
            command
                .args(["--once", &format!("127.0.0.1:{port}")])
                .arg(program);
            command
        },
    },
    Stub {
        name: "qemu-x86_64",
        command: |program, port| {
            let mut command = Command::new("qemu-x86_64");
            command.args(["-g", &port.to_string()]).arg(program);
            command
        },
    },
];

/// What is measured, in this order.
const ROWS: [&str; 4] = [
    "attach → first stop",
    "`next` with refresh",
    "a conditional hit",
    "a stack of 1000 frames",
];

/// How long one of a row took.
type Times = Vec<Duration>;
/// How many packets one of a row took.
type Packets = Vec<f64>;

/// The stub's process, which ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stub {
    /// Starts it with the program. It is to listen on the port.
    fn start(&self, app: &App, port: Port) -> anyhow::Result<Running> {
        let child = (self.command)(&app.program, port.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Running(child))
    }
}

struct App {
    program: PathBuf,
    source: PathBuf,
}

impl App {
    fn build(folder: &Path) -> anyhow::Result<App> {
        std::fs::create_dir_all(folder)?;
        let (source, program) = (folder.join("app.c"), folder.join("app"));
        std::fs::write(&source, SOURCE)?;
        let status = Command::new("gcc")
            .args(["-g", "-O0", "-o"])
            .args([&program, &source])
            .status()?;
        match status.success() {
            true => Ok(App { program, source }),
            false => bail!("the program can't be compiled"),
        }
    }

    fn line(&self, mark: &str) -> anyhow::Result<i64> {
        let mark = format!("/* {mark} */");
        let index = SOURCE.lines().position(|line| line.contains(&mark));
        Ok(index.context("no such mark")? as i64 + 1)
    }
}

/// Builds, measures and prints. Fails if a row misses the goal.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let dapple = super::build(root)?;
    let app = App::build(&root.join("target/bench/remote"))?;
    let adapter = [dapple.to_string_lossy().into_owned(), "dap".to_owned()];
    let version = super::gdb_version().context("gdb is not installed")?;
    let ours = |port| -> anyhow::Result<Box<dyn Session>> {
        let session = Adapter::start(&adapter, &app.program, &app.source, port)?;
        Ok(Box::new(session))
    };
    let theirs = |port| -> anyhow::Result<Box<dyn Session>> {
        let session = Gdb::start("gdb", &app.program, &app.source, port)?;
        Ok(Box::new(session))
    };
    let debuggers: [&Connect; 2] = [&ours, &theirs];
    let mut is_met = true;
    for stub in &STUBS {
        if Command::new(stub.name).arg("--version").output().is_err() {
            println!("{}: not installed, not measured", stub.name);
            continue;
        }
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..RUNS {
            for (times, connect) in times.iter_mut().zip(debuggers) {
                times.push(time(stub, &app, connect)?);
            }
        }
        let packets = [
            count(stub, &app, debuggers[0])?,
            count(stub, &app, debuggers[1])?,
        ];
        is_met &= print(stub.name, version, &times.map(medians), &packets);
    }
    Ok(match is_met {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Begins a session with the stub at a port.
type Connect<'a> = dyn Fn(u16) -> anyhow::Result<Box<dyn Session>> + 'a;

/// Measures how long each row takes with one debugger.
fn time(stub: &Stub, app: &App, connect: &Connect) -> anyhow::Result<Times> {
    let port = Port::unused()?;
    let _running = stub.start(app, port)?;
    port.wait_for_listener()?;
    let mut begun = Instant::now();
    let mut times = Times::new();
    go_through(
        app,
        || connect(port.0),
        |at| match at {
            At::Start => begun = Instant::now(),
            At::End(count) => times.push(begun.elapsed() / count),
        },
    )?;
    Ok(times)
}

/// Counts the packets of each row with one debugger.
fn count(stub: &Stub, app: &App, connect: &Connect) -> anyhow::Result<Packets> {
    let port = Port::unused()?;
    let _running = stub.start(app, port)?;
    port.wait_for_listener()?;
    let relay = Relay::start(port)?;
    let mut before = 0;
    let mut packets = Packets::new();
    go_through(
        app,
        || connect(relay.port),
        |at| match at {
            At::Start => before = relay.packets(),
            At::End(count) => packets.push((relay.packets() - before) as f64 / f64::from(count)),
        },
    )?;
    Ok(packets)
}

/// Where a session is.
enum At {
    /// Before a row.
    Start,
    /// After a row, in which something was done so many times.
    End(u32),
}

/// Goes through all rows, and says where each starts and ends.
fn go_through(
    app: &App,
    connect: impl FnOnce() -> anyhow::Result<Box<dyn Session>>,
    mut mark: impl FnMut(At),
) -> anyhow::Result<()> {
    mark(At::Start);
    let mut session = connect()?;
    session.break_at(app.line("step")?, None)?;
    session.go()?;
    mark(At::End(1));

    session.refresh()?;
    mark(At::Start);
    for _ in 0..STEPS {
        session.next()?;
        session.refresh()?;
    }
    mark(At::End(STEPS));

    session.break_at(app.line("hit")?, Some(&format!("turn == {HITS}")))?;
    mark(At::Start);
    session.go()?;
    mark(At::End(HITS));

    session.break_at(app.line("deep")?, None)?;
    session.go()?;
    mark(At::Start);
    let frames = session.stack()?;
    mark(At::End(1));
    match frames {
        1000.. => Ok(()),
        _ => bail!("only {frames} frames"),
    }
}

/// The median of each row.
fn medians(runs: Vec<Times>) -> Times {
    let of_row = |row: usize| {
        let mut times: Times = runs.iter().map(|run| run[row]).collect();
        times.sort();
        times[times.len() / 2]
    };
    (0..ROWS.len()).map(of_row).collect()
}

/// Prints the medians and the packets, ours first. Returns whether each row is good enough.
fn print(stub: &str, version: u32, times: &[Times; 2], packets: &[Packets; 2]) -> bool {
    println!("\n{stub}: median of {RUNS}, with the packets of one");
    println!("{:<26}{:>22}{:>22}", "", "dapple", format!("gdb {version}"));
    let mut is_met = true;
    for (row, name) in ROWS.iter().enumerate() {
        let [ours, theirs] = [0, 1].map(|debugger| times[debugger][row].as_secs_f64() * 1e3);
        let [our_text, their_text] = [(0, ours), (1, theirs)]
            .map(|(debugger, time)| format!("{time:.3} ms, {:.1}", packets[debugger][row]));
        let ratio = theirs / ours;
        is_met &= ratio >= GOAL;
        println!("{name:<26}{our_text:>22}{their_text:>22}  {ratio:.1} ×");
    }
    is_met
}
