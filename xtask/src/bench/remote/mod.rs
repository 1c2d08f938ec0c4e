//! `cargo xtask bench remote`: how fast a program behind a stub is debugged, next to gdb on the same stub, with the packets counted for both.
//!
//! Both are connected by a relay that counts. Runs of the two alternate. The goal is twice gdb's speed in each row.

mod relay;
mod session;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use relay::Relay;
use session::{Adapter, Gdb, Session};

const SOURCE: &str = include_str!("programs/app.c");
/// How often each debugger goes through all of it.
const RUNS: usize = 5;
/// How many lines are stepped over.
const STEPS: u32 = 50;
/// How often the conditional breakpoint is passed before it stops.
const HITS: u32 = 1000;
/// How much faster than gdb we want to be.
const GOAL: f64 = 2.0;

/// A program that executes others as a stub.
struct Stub {
    name: &'static str,
    start: fn(&Path, u16) -> Command,
}

const STUBS: [Stub; 2] = [
    Stub {
        name: "gdbserver",
        start: |program, port| {
            let mut command = Command::new("gdbserver");
            command
                .args(["--once", &format!("127.0.0.1:{port}")])
                .arg(program);
            command
        },
    },
    Stub {
        name: "qemu-x86_64",
        start: |program, port| {
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

/// One row of one run: how long one of it took, and how many packets that were.
#[derive(Clone, Copy)]
struct Figure {
    time: Duration,
    packets: f64,
}

/// The stub's process, which ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
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
    let ours = [dapple.to_string_lossy().into_owned(), "dap".to_owned()];
    let version = super::gdb_version().context("gdb is not installed")?;
    let mut is_met = true;
    for stub in &STUBS {
        if Command::new(stub.name).arg("--version").output().is_err() {
            println!("{}: not installed, not measured", stub.name);
            continue;
        }
        let mut all: [Vec<Vec<Figure>>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..RUNS {
            all[0].push(measure(stub, &app, |port| {
                let session = Adapter::start(&ours, &app.program, &app.source, port)?;
                Ok(Box::new(session))
            })?);
            all[1].push(measure(stub, &app, |port| {
                let session = Gdb::start("gdb", &app.program, &app.source, port)?;
                Ok(Box::new(session))
            })?);
        }
        is_met &= print(stub.name, version, &all);
    }
    Ok(match is_met {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Goes through all rows with one debugger.
fn measure(
    stub: &Stub,
    app: &App,
    connect: impl FnOnce(u16) -> anyhow::Result<Box<dyn Session>>,
) -> anyhow::Result<Vec<Figure>> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?
        .local_addr()?
        .port();
    let mut command = (stub.start)(&app.program, port);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _running = Running(command.spawn()?);
    let relay = Relay::start(port)?;
    let mut figures = Vec::new();
    let mut row = |begun: Instant, before: u64, count: u32| {
        figures.push(Figure {
            time: begun.elapsed() / count,
            packets: (relay.packets() - before) as f64 / f64::from(count),
        });
    };

    let begun = Instant::now();
    let mut session = connect(relay.port)?;
    session.break_at(app.line("step")?, None)?;
    session.go()?;
    row(begun, 0, 1);

    session.refresh()?;
    let (begun, before) = (Instant::now(), relay.packets());
    for _ in 0..STEPS {
        session.next()?;
        session.refresh()?;
    }
    row(begun, before, STEPS);

    session.break_at(app.line("hit")?, Some(&format!("turn == {HITS}")))?;
    let (begun, before) = (Instant::now(), relay.packets());
    session.go()?;
    row(begun, before, HITS);

    session.break_at(app.line("deep")?, None)?;
    session.go()?;
    let (begun, before) = (Instant::now(), relay.packets());
    let frames = session.stack()?;
    row(begun, before, 1);
    if frames < 1000 {
        bail!("only {frames} frames");
    }
    Ok(figures)
}

/// Prints the medians. Returns whether each is good enough.
fn print(stub: &str, version: u32, all: &[Vec<Vec<Figure>>; 2]) -> bool {
    println!("\n{stub}: median of {RUNS}, with the packets of one");
    println!("{:<26}{:>22}{:>22}", "", "dapple", format!("gdb {version}"));
    let mut is_met = true;
    for (index, name) in ROWS.iter().enumerate() {
        let [ours, theirs] = [0, 1].map(|debugger| {
            let mut figures: Vec<Figure> = all[debugger].iter().map(|run| run[index]).collect();
            figures.sort_by_key(|figure| figure.time);
            figures[figures.len() / 2]
        });
        let shown =
            |it: Figure| format!("{:.3} ms, {:.1}", it.time.as_secs_f64() * 1e3, it.packets);
        let ratio = theirs.time.as_secs_f64() / ours.time.as_secs_f64();
        is_met &= ratio >= GOAL;
        println!(
            "{name:<26}{:>22}{:>22}  {ratio:.1} ×",
            shown(ours),
            shown(theirs)
        );
    }
    is_met
}
