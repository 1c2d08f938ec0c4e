//! `cargo xtask bench data`: measures how fast a stopped program can be inspected, next to other debuggers on the same programs.
//!
//! Each figure is the median of several inspections, each after a step, since nothing seen before a step may be reused after it. A debugger
//! that shows something other than requested (a map's own fields in place of its entries), or takes more than a minute, is not measured
//! there. The targets are ratios within one run, and a bound that keeps users from waiting.

mod dap;
mod mi;
mod programs;
mod session;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::ensure;

use super::run::session::Debuggee;
use super::run::{Contender, Driver, contenders, header, verdict};
use super::{build, median};
use programs::Programs;
use session::{Below, Look, Page};

/// How many inspections of each kind are measured, unless the time ends first.
const LOOKS: usize = 11;
/// The longest time for them.
const LOOKING: Duration = Duration::from_secs(10);
/// For how long evaluations are counted.
const EVALUATING: Duration = Duration::from_secs(2);
/// The depth of the deep stack.
const DEPTH: u32 = 10_000;
/// How many nodes the tree has.
const NODES: usize = 3000;
/// The longest that any inspection may take, in milliseconds.
const LONGEST: f64 = 100.0;

/// How many elements a page has.
const PAGE: u64 = 100;

/// A measure, and how many times better than lldb-dap Dapple has to be. It also has to be twice as good as the better of all others.
struct Measure {
    name: &'static str,
    unit: Unit,
    take: fn(&Contender, &Programs) -> anyhow::Result<f64>,
    better: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Less is better.
    Milliseconds,
    /// More is better.
    PerSecond,
}

/// How many times better than the better of the others Dapple has to be.
const BETTER_THAN_ALL: f64 = 2.0;

const fn milliseconds(
    name: &'static str,
    take: fn(&Contender, &Programs) -> anyhow::Result<f64>,
) -> Measure {
    Measure {
        name,
        unit: Unit::Milliseconds,
        take,
        better: 5.0,
    }
}

const MEASURES: [Measure; 15] = [
    milliseconds("locals, C++", |one, programs| one.locals(&programs.cpp)),
    milliseconds("locals, Rust", |one, programs| one.locals(&programs.rust)),
    milliseconds("array, first 100", |one, programs| {
        one.page(&programs.cpp, "array", Below::Elements, 0, "693")
    }),
    milliseconds("array, 100 from 50,000", |one, programs| {
        one.page(&programs.cpp, "array", Below::Elements, 50_000, "350693")
    }),
    milliseconds("Vec, 100 from 50,000", |one, programs| {
        one.page(&programs.rust, "vector", Below::Elements, 50_000, "350693")
    }),
    milliseconds("std::map, first 100", |one, programs| {
        one.page(&programs.cpp, "map", Below::Entries, 0, "value 99")
    }),
    milliseconds("std::map, 100 from 50,000", |one, programs| {
        one.page(&programs.cpp, "map", Below::Entries, 50_000, "value 50099")
    }),
    milliseconds("unordered_map, first 100", |one, programs| {
        one.page(&programs.cpp, "table", Below::Entries, 0, "value ")
    }),
    milliseconds("unordered_map, 100 from 50,000", |one, programs| {
        one.page(&programs.cpp, "table", Below::Entries, 50_000, "value ")
    }),
    milliseconds("HashMap, first 100", |one, programs| {
        one.page(&programs.rust, "map", Below::Entries, 0, "value ")
    }),
    milliseconds("HashMap, 100 from 50,000", |one, programs| {
        one.page(&programs.rust, "map", Below::Entries, 50_000, "value ")
    }),
    milliseconds("tree of 3,000 nodes", |one, programs| {
        one.walk(&programs.cpp)
    }),
    milliseconds("stack of 10,000, first 20", |one, programs| {
        one.stack(&programs.deep, Some(20))
    }),
    Measure {
        better: 10.0,
        ..milliseconds("stack of 10,000", |one, programs| {
            one.stack(&programs.deep, None)
        })
    },
    milliseconds("step from there, first 20", |one, programs| {
        one.step_from_deep(&programs.deep)
    }),
];

const EVALUATIONS: Measure = Measure {
    name: "evaluations",
    unit: Unit::PerSecond,
    take: |one, programs| one.evaluations(&programs.cpp),
    better: 20.0,
};

/// Builds, measures and prints. With words, only the measures with one of these words in their names.
pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<ExitCode> {
    let wanted = |measure: &&Measure| {
        words.is_empty() || words.iter().any(|word| measure.name.contains(word))
    };
    let dapple = build(root)?;
    let contenders = contenders(&dapple);
    let programs = programs::build(&root.join("target/bench/data"))?;
    let mut met = true;
    println!("{:34}{}", "", header(&contenders, &[]));
    for measure in MEASURES.iter().chain([&EVALUATIONS]).filter(wanted) {
        let mut figures = Vec::new();
        for contender in &contenders {
            let figure = (measure.take)(contender, &programs);
            if let Err(error) = &figure {
                println!("  ({}: {error:#})", contender.name);
            }
            figures.push(figure.ok());
        }
        met &= measure.print(&contenders, &figures);
    }
    Ok(match met {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

impl Measure {
    /// Prints the figures and the target. Returns whether the target is met.
    fn print(&self, contenders: &[Contender], figures: &[Option<f64>]) -> bool {
        let unit = match self.unit {
            Unit::Milliseconds => "ms",
            Unit::PerSecond => "/s",
        };
        let columns: String = figures.iter().map(|figure| self.shown(*figure)).collect();
        println!("{:34}{columns}", format!("{} ({unit})", self.name));
        let Some(Some(ours)) = figures.first().copied() else {
            println!("    not measured: SHORT");
            return false;
        };
        let ratio = |other: f64| match self.unit {
            Unit::Milliseconds => other / ours,
            Unit::PerSecond => ours / other,
        };
        let mut met = true;
        let mut least = None;
        for (contender, figure) in contenders.iter().zip(figures).skip(1) {
            let Some(other) = *figure else { continue };
            let ratio = ratio(other);
            let wanted = matches!(contender.driver, Driver::Dap(_)).then_some(self.better);
            met &= verdict(&format!("times {}", contender.name), ratio, wanted);
            least = Some(least.map_or(ratio, |least: f64| least.min(ratio)));
        }
        if let Some(least) = least {
            met &= verdict("times the better", least, Some(BETTER_THAN_ALL));
        }
        if self.unit == Unit::Milliseconds && ours > LONGEST {
            println!("    longer than {LONGEST} ms: SHORT");
            met = false;
        }
        met
    }

    fn shown(&self, figure: Option<f64>) -> String {
        match (figure, self.unit) {
            (Some(figure), Unit::Milliseconds) => format!("{figure:16.3}"),
            (Some(figure), Unit::PerSecond) => format!("{figure:16.0}"),
            (None, _) => format!("{:>16}", "–"),
        }
    }
}

impl Contender {
    fn look(&self, debuggee: &Debuggee) -> anyhow::Result<Box<dyn Look>> {
        Ok(match &self.driver {
            Driver::Dap(command) => Box::new(super::run::dap::Dap::start(command, debuggee)?),
            Driver::Mi => {
                let gdb = if debuggee.rust { "rust-gdb" } else { "gdb" };
                Box::new(super::run::mi::Mi::start(gdb, debuggee)?)
            }
        })
    }

    /// The median time of `look`, in milliseconds, each time after a step and `prepare`. `check` tests its result outside of the measured
    /// time.
    fn looks<P, S>(
        &self,
        debuggee: &Debuggee,
        mut prepare: impl FnMut(&mut dyn Look) -> anyhow::Result<P>,
        mut look: impl FnMut(&mut dyn Look, P) -> anyhow::Result<S>,
        check: impl Fn(&mut dyn Look, S) -> anyhow::Result<()>,
    ) -> anyhow::Result<f64> {
        let mut session = self.look(debuggee)?;
        let first = Instant::now();
        let mut times = Vec::new();
        while times.is_empty() || (times.len() < LOOKS && first.elapsed() < LOOKING) {
            session.next()?;
            let prepared = prepare(&mut *session)?;
            let begin = Instant::now();
            let seen = look(&mut *session, prepared)?;
            times.push(begin.elapsed());
            check(&mut *session, seen)?;
        }
        Ok(1000.0 * median(times).as_secs_f64())
    }

    fn locals(&self, debuggee: &Debuggee) -> anyhow::Result<f64> {
        let look = |session: &mut dyn Look, ()| session.locals();
        let check = |_: &mut dyn Look, count| {
            ensure!(count >= 4, "{count} locals were shown");
            Ok(())
        };
        self.looks(debuggee, |_| Ok(()), look, check)
    }

    /// The time for a page of a local. The last element's text, or that of its parts, must contain `text`.
    fn page(
        &self,
        debuggee: &Debuggee,
        local: &str,
        below: Below,
        start: u64,
        text: &str,
    ) -> anyhow::Result<f64> {
        let open = |session: &mut dyn Look| session.open(local);
        let look =
            |session: &mut dyn Look, opened: String| session.page(&opened, below, start, PAGE);
        let check = |session: &mut dyn Look, page: Page| {
            let (count, last) = (page.count, session.last(&page)?);
            ensure!(
                count == PAGE && last.contains(text),
                "{count} elements of {local} came, the last one is {last}"
            );
            Ok(())
        };
        self.looks(debuggee, open, look, check)
    }

    fn walk(&self, debuggee: &Debuggee) -> anyhow::Result<f64> {
        let look = |session: &mut dyn Look, opened: String| session.walk(&opened);
        let check = |_: &mut dyn Look, count| {
            ensure!(count == NODES, "{count} of {NODES} nodes were found");
            Ok(())
        };
        self.looks(debuggee, |session| session.open("root"), look, check)
    }

    fn stack(&self, debuggee: &Debuggee, most: Option<i64>) -> anyhow::Result<f64> {
        let wanted = match most {
            Some(most) => usize::try_from(most)?,
            None => DEPTH as usize,
        };
        let look = |session: &mut dyn Look, ()| session.frames(most);
        let check = |_: &mut dyn Look, count| {
            ensure!(count >= wanted, "{count} frames came");
            Ok(())
        };
        self.looks(&debuggee.with(DEPTH), |_| Ok(()), look, check)
    }

    /// The time for a step from a stop at which the whole stack was requested, and for the first frames after it.
    fn step_from_deep(&self, debuggee: &Debuggee) -> anyhow::Result<f64> {
        let look = |session: &mut dyn Look, _| {
            session.next()?;
            session.frames(Some(20))
        };
        let check = |_: &mut dyn Look, count| {
            ensure!(count >= 20, "{count} frames came");
            Ok(())
        };
        let all = |session: &mut dyn Look| session.frames(None);
        self.looks(&debuggee.with(DEPTH), all, look, check)
    }

    fn evaluations(&self, debuggee: &Debuggee) -> anyhow::Result<f64> {
        let mut session = self.look(debuggee)?;
        session.open("root")?;
        let begin = Instant::now();
        let mut count = 0_u32;
        while begin.elapsed() < EVALUATING {
            let value = session.evaluate("array[5000] + root->left->key * 2")?;
            ensure!(value.contains("36500"), "the value came as {value}");
            count += 1;
        }
        Ok(f64::from(count) / begin.elapsed().as_secs_f64())
    }
}
