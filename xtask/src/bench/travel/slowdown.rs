//! What recording costs a program: the time between two of its lines, beside the program's without a debugger.

use std::time::{Duration, Instant};

use anyhow::Context;

use super::programs::{Work, scaled};
use super::report::{Goal, Report};
use super::{Bench, require_line};
use crate::bench::median;
use crate::bench::run::session::{Breakpoint, Session};

/// How long the work takes without a debugger.
const WORK: Duration = Duration::from_secs(2);
/// How often each is measured, alternately.
const ROUNDS: usize = 5;
/// About how long gdb records.
const GDB: Duration = Duration::from_secs(3);
/// How many turns of the loop gdb records at first.
const FIRST_TURNS: u32 = 100;
/// How many system calls are recorded.
const CALLS: u32 = 100_000;

/// One thread, beside gdb and rr.
pub fn one_thread(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let work = bench.programs.compute.lasting(WORK)?;
    let [alone, recorded] = alternately([&mut || work.alone(), &mut || bench.time(&work)])?;
    report.figure("without a debugger", alone, "s");
    report.figure("dapple dap", recorded, "s");
    report.goal("recorded", recorded / alone, "×", Goal::AtMost(1.1));
    bench.beside_rr(report, &work, alone)?;
    let Some((turns, time)) = bench.time_in_gdb()? else {
        return Ok(());
    };
    let share = f64::from(turns) / f64::from(work.debuggee.argument);
    let all = time.as_secs_f64() / share;
    let what = format!(
        "gdb's record full: {turns} turns took {:.1} s, all",
        time.as_secs_f64()
    );
    report.figure(&what, all, "s (extrapolated)");
    report.goal(
        "times gdb's record full",
        all / recorded,
        "×",
        Goal::AtLeast(1000.0),
    );
    Ok(())
}

/// Two threads, beside one that does half of their work: a recorded process runs its threads one at a time.
pub fn two_threads(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let one = bench.programs.one_of_two.lasting(WORK)?;
    let two = bench.programs.two.with(one.debuggee.argument);
    let [half, both, recorded] =
        alternately([&mut || one.alone(), &mut || two.alone(), &mut || {
            bench.time(&two)
        }])?;
    report.figure("one thread with half of the work, no debugger", half, "s");
    report.figure("both threads, no debugger", both, "s");
    report.figure("dapple dap", recorded, "s");
    report.goal(
        "recorded, times one thread",
        recorded / half,
        "×",
        Goal::AtMost(2.2),
    );
    bench.beside_rr(report, &two, half)
}

/// Many system calls, beside the least that stopping at each costs.
pub fn calls(bench: &Bench, report: &mut Report, work: &Work) -> anyhow::Result<()> {
    let work = work.with(CALLS);
    let microseconds = 1e6 / f64::from(CALLS);
    let [alone, recorded] = alternately([&mut || work.alone(), &mut || bench.time(&work)])?;
    let limit = bench.programs.stops_of_a_call(CALLS)?;
    report.figure("without a debugger", alone * microseconds, "µs");
    report.figure("the limit: two stops by ptrace(2)", limit, "µs");
    let each = recorded * microseconds;
    report.goal("dapple dap", each, "µs", Goal::AtMost(25.0));
    report.figure("recorded, times the limit", each / limit, "×");
    if let Ok(rr) = bench.rr() {
        let time = rr.time(&work)?.as_secs_f64();
        report.figure("rr, with its start", time * microseconds, "µs");
    }
    Ok(())
}

/// The medians of several measures in seconds, each taken as often. They alternate, so that other load affects all alike.
fn alternately<const N: usize>(
    mut measures: [&mut dyn FnMut() -> anyhow::Result<Duration>; N],
) -> anyhow::Result<[f64; N]> {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for (measure, times) in measures.iter_mut().zip(&mut times) {
            times.push(measure()?);
        }
    }
    Ok(times.map(|times| median(times).as_secs_f64()))
}

impl Bench {
    /// How long the recorded program takes from its beginning to the end of its work.
    fn time(&self, work: &Work) -> anyhow::Result<Duration> {
        let mut session = self.recorded(&work.debuggee)?;
        session.arm(&[(work.end, Breakpoint::Plain)])?;
        let begin = Instant::now();
        session.go()?;
        let time = begin.elapsed();
        require_line(session.line()?, work.end)?;
        Ok(time)
    }

    /// How many turns of the computation gdb records in some seconds, and how long it takes for them. `None`: gdb isn't installed.
    pub(super) fn time_in_gdb(&self) -> anyhow::Result<Option<(u32, Duration)>> {
        let mut turns = FIRST_TURNS;
        loop {
            let work = self.programs.compute.with(turns);
            let Some(mut gdb) = self.recorded_by_gdb(&work.debuggee)? else {
                return Ok(None);
            };
            gdb.arm(&[(work.end, Breakpoint::Plain)])?;
            let begin = Instant::now();
            gdb.go().context("gdb did not record")?;
            let time = begin.elapsed();
            require_line(gdb.line()?, work.end)?;
            if time >= GDB / 3 {
                return Ok(Some((turns, time)));
            }
            turns = scaled(turns, GDB.as_secs_f64() / time.as_secs_f64());
        }
    }

    /// Prints the time of rr on the same work, if it can record here.
    fn beside_rr(&self, report: &Report, work: &Work, alone: f64) -> anyhow::Result<()> {
        if let Ok(rr) = self.rr() {
            let time = rr.time(work)?.as_secs_f64();
            report.figure("rr, with its start", time, "s");
            report.figure("recorded by rr", time / alone, "×");
        }
        Ok(())
    }
}
