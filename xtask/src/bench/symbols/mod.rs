//! `cargo xtask bench symbols`: measures how long programs with much debug information take to their first stop.
//!
//! There are two programs: one in Rust, from the public registry, and one in C++, generated; both are built once into a cache directory.
//! Measured alternately for each debugger: the time from the start of its process to the stop at a line and in a function, with its cache
//! empty and then filled, and its peak of anonymous memory until it is idle after that stop. All files are in the page cache. The limits
//! are printed next to these figures: reading the debug sections once, and the program's own start.

mod limits;
mod memory;
mod programs;
mod session;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::{build, gdb_version, lldb_dap, median};
use programs::Program;
use session::{Measured, Place};

/// How many starts are measured for each debugger, program and place.
const STARTS: usize = 5;

/// A debugger in one configuration.
struct Contender {
    name: String,
    driver: Driver,
    /// The directory of its index, if it keeps one.
    cache: Option<PathBuf>,
}

enum Driver {
    Dap {
        command: Vec<String>,
        /// Commands for lldb before it reads the program.
        init: Vec<String>,
    },
    Mi,
}

/// The measurements of one contender at one place.
struct Row {
    first: Vec<Measured>,
    second: Vec<Measured>,
}

/// Builds, measures and prints.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let dapple = build(root)?;
    let folder = programs::folder()?;
    let contenders = contenders(&dapple, &folder);
    let mut met = true;
    for program in programs::build(&folder)? {
        let limits = limits::measure(&program)?;
        println!(
            "\n{}: {:.0} MB, {:.0} MB of debug information",
            program.name,
            limits.file as f64 / 1e6,
            limits.debug as f64 / 1e6
        );
        println!(
            "  {:34} {:9.1} ms",
            "reading that once",
            milliseconds(limits.reading)
        );
        println!(
            "  {:34} {:9.1} ms",
            "the program's own start",
            milliseconds(limits.start)
        );
        for place in [
            Place::Line(program.line),
            Place::Function(program.function.clone()),
        ] {
            println!(
                "  start → stop at {place}, median of {STARTS}: first run, second run, peak anonymous memory"
            );
            met &= compare(&contenders, &program, &place)?;
        }
        if let Some(cache) = &contenders[0].cache {
            let size = limits::size_of(cache)?;
            println!(
                "  our index has {:.1} MB: {:.1} % of the debug information",
                size as f64 / 1e6,
                100.0 * size as f64 / limits.debug as f64
            );
            met &= target(
                "index, per cent of the DWARF, at most",
                20.0,
                100.0 * size as f64 / limits.debug as f64,
                false,
            );
        }
    }
    Ok(if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn contenders(dapple: &Path, folder: &Path) -> Vec<Contender> {
    let mut contenders = vec![Contender {
        name: "dapple dap".to_owned(),
        driver: Driver::Dap {
            command: vec![dapple.to_string_lossy().into_owned(), "dap".to_owned()],
            init: Vec::new(),
        },
        cache: Some(folder.join("dapple-index")),
    }];
    match lldb_dap() {
        Some(command) => {
            contenders.push(Contender {
                name: command.clone(),
                driver: Driver::Dap {
                    command: vec![command.clone()],
                    init: Vec::new(),
                },
                cache: None,
            });
            let cache = folder.join("lldb-index");
            contenders.push(Contender {
                name: format!("{command} with its index cache"),
                driver: Driver::Dap {
                    command: vec![command],
                    init: vec![
                        "settings set symbols.enable-lldb-index-cache true".to_owned(),
                        format!(
                            "settings set symbols.lldb-index-cache-path {}",
                            cache.display()
                        ),
                    ],
                },
                cache: Some(cache),
            });
        }
        None => println!("lldb-dap: not installed, not measured"),
    }
    match gdb_version() {
        Some(version) => contenders.push(Contender {
            name: format!("gdb {version} -i mi"),
            driver: Driver::Mi,
            cache: None,
        }),
        None => println!("gdb: not installed, not measured"),
    }
    contenders
}

/// Measures all contenders at one place. Returns whether Dapple meets its targets.
fn compare(contenders: &[Contender], program: &Program, place: &Place) -> anyhow::Result<bool> {
    let mut rows: Vec<Row> = contenders
        .iter()
        .map(|_| Row {
            first: Vec::new(),
            second: Vec::new(),
        })
        .collect();
    for _ in 0..STARTS {
        for (contender, row) in contenders.iter().zip(&mut rows) {
            let start = || {
                contender
                    .start(program, place)
                    .with_context(|| format!("{} did not stop", contender.name))
            };
            if let Some(cache) = &contender.cache {
                clear(cache)?;
            }
            row.first.push(start()?);
            row.second.push(start()?);
        }
    }
    let figures: Vec<[f64; 3]> = rows
        .iter()
        .map(|row| {
            let time = |runs: &[Measured]| {
                milliseconds(median(runs.iter().map(|run| run.stopped_in).collect()))
            };
            let peaks = row.first.iter().chain(&row.second);
            let peak = peaks.map(|run| run.peak).max().unwrap_or(0);
            [time(&row.first), time(&row.second), peak as f64 / 1e6]
        })
        .collect();
    for (contender, [first, second, peak]) in contenders.iter().zip(&figures) {
        println!(
            "  {:34} {first:9.1} ms {second:9.1} ms {peak:9.1} MB",
            contender.name
        );
    }
    let [ours, rest @ ..] = figures.as_slice() else {
        return Ok(true);
    };
    let mut met = true;
    if let [plain, cached, ..] = rest {
        met &= target("first run, times lldb-dap's", 6.0, plain[0] / ours[0], true);
        met &= target(
            "second run, times lldb-dap's",
            30.0,
            plain[1] / ours[1],
            true,
        );
        met &= target(
            "second run, times its cached one",
            15.0,
            cached[1] / ours[1],
            true,
        );
        met &= target(
            "memory, times less than lldb-dap",
            5.0,
            plain[2] / ours[2],
            true,
        );
    }
    Ok(met)
}

/// Prints a figure and its target. Returns whether the target is met.
fn target(what: &str, wanted: f64, reached: f64, at_least: bool) -> bool {
    let met = if at_least {
        reached >= wanted
    } else {
        reached <= wanted
    };
    let verdict = if met { "met" } else { "SHORT" };
    println!("    {what:40} {reached:6.1}  wanted {wanted:.0}  {verdict}");
    met
}

impl Contender {
    fn start(&self, program: &Program, place: &Place) -> anyhow::Result<Measured> {
        match &self.driver {
            Driver::Dap { command, init } => {
                session::dap(command, init, self.cache.as_deref(), program, place)
            }
            Driver::Mi => session::mi(program, place),
        }
    }
}

fn clear(cache: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(cache) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("can't clear {}", cache.display()))
        }
        _ => std::fs::create_dir_all(cache)
            .with_context(|| format!("can't create {}", cache.display())),
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
