//! `cargo xtask bench`: measures how fast a session starts and steps, next to other debuggers on the same programs.
//!
//! It measures the time from the start of the debugger's process to its first stop at a breakpoint, the lines and instructions stepped per
//! second, and the size of Dapple's binary. Runs of different debuggers alternate, so that other load on the machine affects all of them
//! alike. A debugger that is not installed is reported as missing.

mod dap;
mod data;
mod mi;
mod programs;
mod remote;
mod run;
mod screen;
mod symbols;
mod trace;
mod travel;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, bail};

use programs::Program;

/// How many starts are measured for each debugger and program.
const STARTS: usize = 11;
/// How many steps are taken to measure their rate, unless the time ends first.
const STEPS: usize = 2000;
/// The longest time for which a rate is measured.
const STEPPING_TIME: Duration = Duration::from_secs(4);
/// How long an operation may take before the debugger counts as hung.
const PATIENCE: Duration = Duration::from_secs(30);

/// A debugger that can be measured.
struct Debugger {
    name: String,
    driver: Driver,
}

/// How to talk to it.
enum Driver {
    Dap(Vec<String>),
    Mi(String),
}

/// The rates of one session, in steps per second.
#[derive(Debug, Clone, Copy)]
struct Rates {
    lines: f64,
    instructions: f64,
}

/// Builds, measures and prints.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let dapple = build(root)?;
    let size = std::fs::metadata(&dapple)?.len();
    println!(
        "binary: {:.1} MB ({})",
        size as f64 / 1e6,
        relative(root, &dapple)
    );

    let (debuggers, missing) = find_debuggers(&dapple);
    for name in missing {
        println!("{name}: not installed, not measured");
    }
    for program in programs::build(&root.join("target/bench"))? {
        println!(
            "\n{}: start of the debugger → first stop at a breakpoint, median of {STARTS}",
            program.language
        );
        starts(&debuggers, &program)?;
        println!("{}: steps a second", program.language);
        rates(&debuggers, &program)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the same chore in a release build. An unoptimised client would spend measurable time itself, which weighs the more the faster the
/// debugger is.
pub fn in_release(root: &Path, words: &[&str]) -> anyhow::Result<ExitCode> {
    finish(
        cargo(root)
            .args(["run", "--release", "--quiet", "--package", "xtask", "--"])
            .args(words),
    )
}

pub use data::run as data;
pub use remote::run as remote;
pub use run::run as running;
pub use screen::run as screen;
pub use symbols::run as symbols;
pub use trace::run as trace;
pub use travel::run as travel;

/// Builds and runs the comparison of protocol crates. It is a package outside of the workspace, so that the crates it compares with are in
/// no other lock file.
pub fn protocol(root: &Path) -> anyhow::Result<ExitCode> {
    finish(
        cargo(root)
            .args(["run", "--release", "--locked", "--quiet"])
            .args(["--manifest-path", "benches/protocol/Cargo.toml"])
            .args(["--target-dir", "target/bench-protocol"]),
    )
}

fn cargo(root: &Path) -> Command {
    let name = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(name);
    cargo.current_dir(root);
    cargo
}

/// Runs a command and returns its success as the exit code.
fn finish(command: &mut Command) -> anyhow::Result<ExitCode> {
    Ok(match command.status()?.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn build(root: &Path) -> anyhow::Result<std::path::PathBuf> {
    let status = cargo(root)
        .args(["build", "--release", "-p", "dapple-cli"])
        .status()?;
    if !status.success() {
        bail!("the release build failed");
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    Ok(root.join(target).join("release/dapple"))
}

fn find_debuggers(dapple: &Path) -> (Vec<Debugger>, Vec<&'static str>) {
    let ours = Driver::Dap(vec![
        dapple.to_string_lossy().into_owned(),
        "dap".to_owned(),
    ]);
    let mut found = vec![Debugger {
        name: "dapple dap".to_owned(),
        driver: ours,
    }];
    let mut missing = Vec::new();
    match lldb_dap() {
        Some(name) => found.push(Debugger {
            driver: Driver::Dap(vec![name.clone()]),
            name,
        }),
        None => missing.push("lldb-dap"),
    }
    match gdb_version() {
        Some(version) if version >= 14 => found.push(Debugger {
            name: format!("gdb {version} -i dap"),
            driver: Driver::Dap(
                ["gdb", "-nx", "-q", "-i", "dap"]
                    .map(str::to_owned)
                    .to_vec(),
            ),
        }),
        Some(version) => found.push(Debugger {
            name: format!("gdb {version} -i mi (too old for dap)"),
            driver: Driver::Mi("gdb".to_owned()),
        }),
        None => missing.push("gdb"),
    }
    (found, missing)
}

/// The name of `lldb-dap`, possibly with the version that distributions append.
fn lldb_dap() -> Option<String> {
    let names = std::iter::once("lldb-dap".to_owned())
        .chain((14..=40).rev().map(|version| format!("lldb-dap-{version}")));
    let path = std::env::var_os("PATH")?;
    let directories: Vec<_> = std::env::split_paths(&path).collect();
    names.into_iter().find(|name| {
        directories
            .iter()
            .any(|directory| directory.join(name).is_file())
    })
}

fn gdb_version() -> Option<u32> {
    let output = Command::new("gdb").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().next()?.split_whitespace().last()?.to_owned();
    last.split('.').next()?.parse().ok()
}

fn starts(debuggers: &[Debugger], program: &Program) -> anyhow::Result<()> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); debuggers.len()];
    for _ in 0..STARTS {
        for (debugger, times) in debuggers.iter().zip(&mut times) {
            times.push(
                debugger
                    .start(program)
                    .with_context(|| format!("{} did not stop", debugger.name))?,
            );
        }
    }
    let medians: Vec<f64> = times
        .into_iter()
        .map(|times| median(times).as_secs_f64() * 1000.0)
        .collect();
    for (debugger, time) in debuggers.iter().zip(&medians) {
        println!(
            "  {:32} {time:9.1} ms  {:>6.1}×",
            debugger.name,
            time / medians[0]
        );
    }
    Ok(())
}

fn rates(debuggers: &[Debugger], program: &Program) -> anyhow::Result<()> {
    let mut first: Option<Rates> = None;
    for debugger in debuggers {
        let rates = debugger
            .rates(program)
            .with_context(|| format!("{} did not step", debugger.name))?;
        let ours = *first.get_or_insert(rates);
        println!(
            "  {:32} {:9.0} lines  {:>6.2}×   {:9.0} instructions  {:>6.2}×",
            debugger.name,
            rates.lines,
            rates.lines / ours.lines,
            rates.instructions,
            rates.instructions / ours.instructions
        );
    }
    Ok(())
}

impl Debugger {
    fn start(&self, program: &Program) -> anyhow::Result<Duration> {
        match &self.driver {
            Driver::Dap(command) => Ok(dap::Run::start(command, program)?.started_in),
            Driver::Mi(command) => Ok(mi::Run::start(command, program)?.started_in),
        }
    }

    fn rates(&self, program: &Program) -> anyhow::Result<Rates> {
        match &self.driver {
            Driver::Dap(command) => {
                let mut run = dap::Run::start(command, program)?;
                let lines = rate(|| run.next())?;
                let instructions = rate(|| run.step_instruction())?;
                Ok(Rates {
                    lines,
                    instructions,
                })
            }
            Driver::Mi(command) => {
                let mut run = mi::Run::start(command, program)?;
                let lines = rate(|| run.step("-exec-next"))?;
                let instructions = rate(|| run.step("-exec-step-instruction"))?;
                Ok(Rates {
                    lines,
                    instructions,
                })
            }
        }
    }
}

/// Steps per second, over [`STEPS`] steps or [`STEPPING_TIME`].
fn rate(mut step: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let begin = std::time::Instant::now();
    let mut steps = 0_u32;
    while (steps as usize) < STEPS && begin.elapsed() < STEPPING_TIME {
        step()?;
        steps += 1;
    }
    Ok(f64::from(steps) / begin.elapsed().as_secs_f64())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}
