//! `cargo xtask bench travel`: measures what recording costs a program, how fast it runs backwards, and how much memory that takes.
//!
//! Recording is compared with the same program without a debugger, and with the least that ptrace(2) allows for a system call
//! (`programs/limit.c`); recording and running backwards with gdb's `record full` and with rr. gdb records some thousand instructions a
//! second, so it gets as much of the work as it can do in a few seconds, and the line says what was extrapolated. Each goal is beside its
//! figure; the process fails if one is missed.

mod back;
mod dap;
mod memory;
mod mi;
mod programs;
mod report;
mod rr;
mod slowdown;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::ensure;

use super::run::dap::Dap;
use super::run::mi::Mi;
use super::run::session::Debuggee;
use super::{build, gdb_version};
use programs::Programs;
use report::Report;

/// What the measures need.
struct Bench {
    /// The command of Dapple's adapter.
    dapple: Vec<String>,
    /// gdb's version. `None`: it isn't installed.
    gdb: Option<u32>,
    programs: Programs,
}

/// Some figures that are taken together.
struct Measure {
    name: &'static str,
    take: fn(&Bench, &mut Report) -> anyhow::Result<()>,
}

const MEASURES: [Measure; 9] = [
    Measure {
        name: "recording one thread that computes",
        take: slowdown::one_thread,
    },
    Measure {
        name: "recording two threads that compute",
        take: slowdown::two_threads,
    },
    Measure {
        name: "recording system calls: getppid",
        take: |bench, report| slowdown::calls(bench, report, &bench.programs.calls),
    },
    Measure {
        name: "recording system calls: read of 16 bytes",
        take: |bench, report| slowdown::calls(bench, report, &bench.programs.reads),
    },
    Measure {
        name: "stepBack from a breakpoint",
        take: back::steps_from_breakpoint,
    },
    Measure {
        name: "stepBack from a pause",
        take: back::steps_from_pause,
    },
    Measure {
        name: "reverseContinue over a second",
        take: back::reverse,
    },
    Measure {
        name: "who over a second",
        take: back::who,
    },
    Measure {
        name: "memory of a session of 30 s",
        take: memory::heap,
    },
];

/// Builds, measures and prints. With words, only the measures with one of these words in their names.
pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<ExitCode> {
    let wanted = |measure: &&Measure| {
        words.is_empty() || words.iter().any(|word| measure.name.contains(word))
    };
    let dapple = build(root)?;
    let bench = Bench {
        dapple: vec![dapple.to_string_lossy().into_owned(), "dap".to_owned()],
        gdb: gdb_version(),
        programs: programs::build(&root.join("target/bench/travel"))?,
    };
    if bench.gdb.is_none() {
        println!("gdb: not installed, not measured");
    }
    if let Err(why) = bench.rr() {
        println!("rr: not measured: {why:#}");
    }
    let mut report = Report::new();
    for measure in MEASURES.iter().filter(wanted) {
        report.heading(measure.name);
        if let Err(error) = (measure.take)(&bench, &mut report) {
            report.missing(&error);
        }
    }
    Ok(match report.is_met() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

impl Bench {
    /// A session of Dapple that records, stopped where the program begins.
    fn recorded(&self, debuggee: &Debuggee) -> anyhow::Result<Dap> {
        let recorded = Debuggee {
            recorded: true,
            ..debuggee.clone()
        };
        Dap::start(&self.dapple, &recorded)
    }

    /// A session of gdb that records from where the program begins. `None`: gdb isn't installed.
    fn recorded_by_gdb(&self, debuggee: &Debuggee) -> anyhow::Result<Option<Mi>> {
        if self.gdb.is_none() {
            return Ok(None);
        }
        let mut gdb = Mi::start("gdb", debuggee)?;
        gdb.record_full()?;
        Ok(Some(gdb))
    }

    /// Checks that rr can record here.
    fn rr(&self) -> anyhow::Result<rr::Rr> {
        rr::Rr::find(&self.programs.folder)
    }
}

/// Lets a program run for this time, whose end is the event to wait for.
fn wait(time: Duration) -> anyhow::Result<()> {
    crossbeam_channel::after(time).recv()?;
    Ok(())
}

/// Checks that a session stands at a line.
fn require_line(line: i64, expected: i64) -> anyhow::Result<()> {
    ensure!(
        line == expected,
        "it has stopped at line {line} and not at {expected}"
    );
    Ok(())
}
