//! `cargo xtask bench run`: measures how fast a program runs, stops and steps under a debugger, next to other debuggers and to the system's
//! limit.
//!
//! Each measure is taken of all debuggers in turn, on the same programs, and compared with the most that ptrace(2), or a plain pipe for
//! output, allows (`programs/limit.c`). Each debugger gets as much work as it can do in a few seconds. The targets are ratios within one
//! run, since machines differ.

pub(super) mod awake;
pub(super) mod dap;
pub(super) mod mi;
pub(super) mod programs;
pub(super) mod session;
pub(super) mod wire;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::{build, gdb_version, lldb_dap, median};
use programs::{Limits, Loop, Programs};
use session::{Breakpoint, Debuggee, Session};

/// The approximate duration of one measure of one debugger.
const MEASURING: Duration = Duration::from_secs(3);
/// How many threads are stopped and resumed.
const THREADS: u32 = 500;
/// How often they are.
const PAUSES: usize = 11;
/// How many loop iterations are stepped over.
const TURNS: u32 = 1_000_000;
/// How many lines of output the program writes under a fast debugger, and under a slow one.
const LINES: (u32, u32) = (1_000_000, 100_000);

/// The most hits of a measure: the count of hits that is never reached is above.
const MOST_HITS: u32 = 2_000_000_000;

/// A debugger to be measured.
pub(super) struct Contender {
    pub(super) name: String,
    pub(super) driver: Driver,
}

/// How to talk to it.
pub(super) enum Driver {
    Dap(Vec<String>),
    Mi,
}

/// The figures of all contenders for one measure, Dapple's first; `None` if a contender can't do it.
type Figures = Vec<Option<f64>>;

/// A measure and its target.
struct Measure {
    name: &'static str,
    unit: &'static str,
    /// Whether more is better.
    rate: bool,
    take: Take,
    /// The limit, and how many times slower it may be.
    limit: fn(&Limits) -> Option<(f64, f64)>,
    /// How many times better than lldb-dap and gdb Dapple has to be.
    better_than: [Option<f64>; 2],
    /// If it is of two threads: the same of one.
    in_one: Option<Take>,
}

type Take = fn(&Contender, &Programs) -> anyhow::Result<f64>;

/// How many times slower than the limit of ptrace(2) or of a pipe it may be.
const OF_LIMIT: f64 = 2.5;
/// How many times slower than a call in the program itself.
const OF_CALLS: f64 = 10.0;
/// How many times faster than one thread two are.
const OF_ONE: f64 = 1.5;

const MEASURES: [Measure; 18] = [
    Measure {
        name: "false conditions",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.one(), Breakpoint::False),
        limit: |limits| Some((limits.calls, OF_CALLS)),
        better_than: [Some(10_000.0), Some(10_000.0)],
        in_one: None,
    },
    Measure {
        name: "false conditions on a field",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.one(), Breakpoint::Field),
        limit: |limits| Some((limits.calls, OF_CALLS)),
        better_than: [Some(10_000.0), Some(10_000.0)],
        in_one: None,
    },
    Measure {
        name: "false conditions on a thread-local",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.one(), Breakpoint::ThreadLocal),
        limit: |limits| Some((limits.calls, OF_CALLS)),
        better_than: [Some(10_000.0), Some(10_000.0)],
        in_one: None,
    },
    Measure {
        name: "false conditions on a text",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.one(), Breakpoint::Text),
        limit: |limits| Some((limits.calls, 2.0 * OF_CALLS)),
        better_than: [None, Some(1_000.0)],
        in_one: None,
    },
    Measure {
        name: "false conditions in two threads",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.two(), Breakpoint::False),
        limit: |limits| Some((limits.calls_in_two, OF_CALLS)),
        better_than: [Some(10_000.0), Some(10_000.0)],
        in_one: Some(|contender, programs| {
            contender.hits(&programs.one_of_two(), Breakpoint::False)
        }),
    },
    Measure {
        name: "hit counts",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.one(), Breakpoint::Counted),
        limit: |limits| Some((limits.calls, 2.0 * OF_CALLS)),
        better_than: [Some(10_000.0), Some(10_000.0)],
        in_one: None,
    },
    Measure {
        name: "hit counts in two threads",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.two(), Breakpoint::Counted),
        limit: |limits| Some((limits.calls_in_two, 2.0 * OF_CALLS)),
        better_than: [Some(10_000.0), Some(10_000.0)],
        in_one: Some(|contender, programs| {
            contender.hits(&programs.one_of_two(), Breakpoint::Counted)
        }),
    },
    Measure {
        name: "false conditions, each by a stop",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.stopping(), Breakpoint::False),
        limit: |limits| Some((limits.hits, OF_LIMIT)),
        better_than: [Some(40.0), Some(8.0)],
        in_one: None,
    },
    Measure {
        name: "hit counts, each by a stop",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.stopping(), Breakpoint::Counted),
        limit: |limits| Some((limits.hits, OF_LIMIT)),
        better_than: [Some(40.0), Some(8.0)],
        in_one: None,
    },
    Measure {
        name: "log points",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.hits(&programs.one(), Breakpoint::Log),
        limit: |_| None,
        better_than: [None, None],
        in_one: None,
    },
    Measure {
        name: "next",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.steps(&programs.steps, |session| session.next()),
        limit: |_| None,
        better_than: [Some(8.0), None],
        in_one: None,
    },
    Measure {
        name: "next, with a full refresh",
        unit: "/s",
        rate: true,
        take: |contender, programs| {
            contender.steps(&programs.steps, |session| {
                session.next()?;
                session.refresh()
            })
        },
        limit: |_| None,
        better_than: [Some(4.0), None],
        in_one: None,
    },
    Measure {
        name: "next over 1,000,000 inlined turns",
        unit: "ms",
        rate: false,
        take: |contender, programs| contender.turns(programs),
        limit: |_| None,
        better_than: [Some(40.0), Some(40.0)],
        in_one: None,
    },
    Measure {
        name: "instruction steps",
        unit: "/s",
        rate: true,
        take: |contender, programs| {
            contender.steps(&programs.steps, |session| session.step_instruction())
        },
        limit: |limits| Some((limits.steps, OF_LIMIT)),
        better_than: [None, None],
        in_one: None,
    },
    Measure {
        name: "stops at a written variable",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.writes(programs),
        limit: |limits| Some((limits.writes, OF_LIMIT)),
        better_than: [None, None],
        in_one: None,
    },
    Measure {
        name: "pause of 500 threads",
        unit: "ms",
        rate: false,
        take: |contender, programs| Ok(contender.pauses(programs)?.0),
        limit: |limits| Some((limits.pause, OF_LIMIT)),
        better_than: [None, Some(4.0)],
        in_one: None,
    },
    Measure {
        name: "resume and stop of 500 threads",
        unit: "ms",
        rate: false,
        take: |contender, programs| Ok(contender.pauses(programs)?.1),
        limit: |limits| Some((limits.pause + limits.resume, OF_LIMIT)),
        better_than: [None, None],
        in_one: None,
    },
    Measure {
        name: "lines of output",
        unit: "/s",
        rate: true,
        take: |contender, programs| contender.output(programs),
        limit: |limits| Some((limits.lines, OF_LIMIT)),
        better_than: [Some(8.0), None],
        in_one: None,
    },
];

/// Builds, measures and prints. With words, only the measures with one of these words in their names.
pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<ExitCode> {
    let wanted = |measure: &&Measure| {
        words.is_empty() || words.iter().any(|word| measure.name.contains(word))
    };
    let dapple = build(root)?;
    let contenders = contenders(&dapple);
    let programs = programs::build(&root.join("target/bench/run"))?;
    let limits = programs.limits(LINES.0)?;
    let mut met = true;
    println!("{:34}{}", "", header(&contenders, &["the limit"]));
    for measure in MEASURES.iter().filter(wanted) {
        let mut figures = Figures::new();
        for contender in &contenders {
            let figure = (measure.take)(contender, &programs);
            if let Err(error) = &figure {
                println!("  ({}: {error:#})", contender.name);
            }
            figures.push(figure.ok());
        }
        met &= measure.print(&contenders, &figures, &limits);
        if let (Some(in_one), Some(ours), Some(Some(in_two))) =
            (measure.in_one, contenders.first(), figures.first())
        {
            let times = in_two / in_one(ours, &programs)?;
            met &= verdict("times one thread", times, Some(OF_ONE));
        }
    }
    Ok(if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Dapple and the other installed debuggers.
pub(super) fn contenders(dapple: &Path) -> Vec<Contender> {
    let ours = vec![dapple.to_string_lossy().into_owned(), "dap".to_owned()];
    let mut contenders = vec![Contender {
        name: "dapple dap".to_owned(),
        driver: Driver::Dap(ours),
    }];
    match lldb_dap() {
        Some(command) => contenders.push(Contender {
            name: command.clone(),
            driver: Driver::Dap(vec![command]),
        }),
        None => println!("lldb-dap: not installed, not measured"),
    }
    match gdb_version() {
        Some(version) => contenders.push(Contender {
            name: format!("gdb {version} mi"),
            driver: Driver::Mi,
        }),
        None => println!("gdb: not installed, not measured"),
    }
    contenders
}

/// The heading of the columns.
pub(super) fn header(contenders: &[Contender], others: &[&str]) -> String {
    let names = contenders.iter().map(|one| one.name.as_str());
    let columns = names.chain(others.iter().copied());
    columns.map(|name| format!("{name:>16}")).collect()
}

impl Measure {
    /// Prints the figures and the target. Returns whether the target is met.
    fn print(&self, contenders: &[Contender], figures: &Figures, limits: &Limits) -> bool {
        let limit = (self.limit)(limits);
        let of_limit = limit.map(|(limit, _)| limit);
        let columns = figures.iter().chain([&of_limit]);
        let columns: String = columns.map(|figure| self.shown(*figure)).collect();
        println!("{:34}{columns}", format!("{} ({})", self.name, self.unit));
        let Some(Some(ours)) = figures.first().copied() else {
            println!("    not measured: SHORT");
            return false;
        };
        let ratio = |other: f64| match self.rate {
            true => ours / other,
            false => other / ours,
        };
        let mut met = true;
        for (contender, figure) in contenders.iter().zip(figures).skip(1) {
            let Some(other) = *figure else { continue };
            let wanted = match contender.driver {
                Driver::Dap(_) => self.better_than[0],
                Driver::Mi => self.better_than[1],
            };
            met &= verdict(&format!("times {}", contender.name), ratio(other), wanted);
        }
        if let Some((limit, slower)) = limit {
            met &= verdict("of the limit", ratio(limit), Some(1.0 / slower));
        }
        met
    }

    fn shown(&self, figure: Option<f64>) -> String {
        match figure {
            Some(figure) if self.rate => format!("{figure:16.0}"),
            Some(figure) => format!("{figure:16.2}"),
            None => format!("{:>16}", "–"),
        }
    }
}

/// Prints a ratio and its target. Returns whether the target is met.
pub(super) fn verdict(what: &str, reached: f64, wanted: Option<f64>) -> bool {
    let met = wanted.is_none_or(|wanted| reached >= wanted);
    let wanted = wanted.map_or(String::new(), |wanted| {
        format!(
            "  wanted {wanted:.1}  {}",
            if met { "met" } else { "SHORT" }
        )
    });
    println!("    {reached:8.2} {what}{wanted}");
    met
}

impl Contender {
    fn start(&self, debuggee: &Debuggee) -> anyhow::Result<Box<dyn Session>> {
        Ok(match &self.driver {
            Driver::Dap(command) => Box::new(dap::Dap::start(command, debuggee)?),
            Driver::Mi => Box::new(mi::Mi::start("gdb", debuggee)?),
        })
    }

    /// Hits of a breakpoint per second. Each round has as many hits as are likely to take as long as a measure, until one does.
    fn hits(&self, loop_: &Loop, kind: Breakpoint) -> anyhow::Result<f64> {
        let mut count = 500;
        loop {
            let mut session = self.start(&loop_.debuggee.with(count))?;
            session.arm(&[(loop_.body, kind), (loop_.end, Breakpoint::Plain)])?;
            let begin = Instant::now();
            session.go()?;
            let time = begin.elapsed();
            let line = session.line()?;
            if line != loop_.end {
                bail!("it has stopped at line {line} and not behind the loop");
            }
            if kind == Breakpoint::Log && session.logged() < count as usize {
                bail!("{} of {count} messages came", session.logged());
            }
            let rate = f64::from(count) / time.as_secs_f64();
            if time > MEASURING / 3 || count == MOST_HITS {
                return Ok(rate);
            }
            count = (rate * MEASURING.as_secs_f64()).min(f64::from(MOST_HITS)) as u32;
        }
    }

    /// How often an operation that ends in a stop can be done per second.
    fn steps(
        &self,
        debuggee: &Debuggee,
        mut step: impl FnMut(&mut dyn Session) -> anyhow::Result<()>,
    ) -> anyhow::Result<f64> {
        let mut session = self.start(debuggee)?;
        let begin = Instant::now();
        let mut count = 0_u32;
        while begin.elapsed() < MEASURING {
            step(&mut *session)?;
            count += 1;
        }
        Ok(f64::from(count) / begin.elapsed().as_secs_f64())
    }

    /// Milliseconds for a step over a line with a million loop iterations. For a debugger that would take minutes, a thousand times the
    /// time for a thousand iterations.
    fn turns(&self, programs: &Programs) -> anyhow::Result<f64> {
        let short = self.turns_of(programs, TURNS / 1000)?;
        match short < 10.0 {
            true => self.turns_of(programs, TURNS),
            false => Ok(1000.0 * short),
        }
    }

    fn turns_of(&self, programs: &Programs, count: u32) -> anyhow::Result<f64> {
        let mut session = self.start(&programs.turns.with(count))?;
        let [turning, behind] = programs.turning;
        session.next()?;
        let begun = session.line()?;
        if begun != turning {
            bail!("it is at line {begun} and not at the loop");
        }
        let begin = Instant::now();
        session.next()?;
        let time = begin.elapsed();
        let line = session.line()?;
        if line != behind {
            bail!("it has stopped at line {line} and not behind the loop");
        }
        Ok(1000.0 * time.as_secs_f64())
    }

    fn writes(&self, programs: &Programs) -> anyhow::Result<f64> {
        let mut session = self.start(&programs.hits.with(100_000_000))?;
        session.arm(&[])?;
        session.watch("total")?;
        let begin = Instant::now();
        let mut count = 0_u32;
        while begin.elapsed() < MEASURING {
            session.go()?;
            count += 1;
        }
        Ok(f64::from(count) / begin.elapsed().as_secs_f64())
    }

    /// Milliseconds for a pause, and for a resume with the pause that follows.
    fn pauses(&self, programs: &Programs) -> anyhow::Result<(f64, f64)> {
        let mut session = self.start(&programs.threads.with(THREADS))?;
        let (mut pauses, mut both) = (Vec::new(), Vec::new());
        for _ in 0..PAUSES {
            let begin = Instant::now();
            session.run()?;
            let running = begin.elapsed();
            let pause = session.pause()?;
            pauses.push(pause);
            both.push(running + pause);
        }
        let milliseconds = |times| 1000.0 * median(times).as_secs_f64();
        Ok((milliseconds(pauses), milliseconds(both)))
    }

    fn output(&self, programs: &Programs) -> anyhow::Result<f64> {
        let lines = match self.driver {
            Driver::Dap(_) => LINES.0,
            Driver::Mi => LINES.1,
        };
        let mut session = self.start(&programs.lines.with(lines))?;
        session.arm(&[])?;
        let begin = Instant::now();
        let came = session.lines_to_end()?;
        let time = begin.elapsed();
        if came != lines as usize {
            return Err(anyhow::anyhow!("{came} of {lines} lines came"))
                .context("the output is not complete");
        }
        Ok(f64::from(lines) / time.as_secs_f64())
    }
}
