//! Steps and searches backwards, about a second of running after the last checkpoint.
//!
//! A checkpoint is taken at each stop, and each second while the program runs. So the program runs for a little less than a second between
//! two stops: a search begins at the first of these.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::programs::{Work, scaled};
use super::report::{Goal, Report};
use super::{Bench, require_line, wait};
use crate::bench::median;
use crate::bench::run::dap::Dap;
use crate::bench::run::mi::Mi;
use crate::bench::run::session::{Breakpoint, Session};

/// How long the program runs, and how much less or more that may be.
const RUN: f64 = 0.95;
const TOLERANCE: f64 = 0.05;
/// How often it is tried to find work that takes so long.
const TRIES: usize = 8;
/// How many steps are taken, besides the first.
const STEPS: usize = 21;
/// How often a search is measured, each time in a session of its own: searches leave checkpoints to later ones.
const SEARCHES: usize = 3;

const STEP: Goal = Goal::AtMost(50.0);
const SEARCH: Goal = Goal::AtMost(3.0);

/// A session that has run for a second.
struct Ran {
    session: Dap,
    work: Work,
    time: f64,
}

/// Steps back from a breakpoint behind the computation, into its loop.
pub fn steps_from_breakpoint(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let mut ran = bench.ran()?;
    report.figure("ran since the last checkpoint", ran.time, "s");
    let end = ran.work.end;
    steps(report, bench, &mut ran.session, end)?;
    let Some((mut gdb, turns)) = bench.ran_in_gdb()? else {
        return Ok(());
    };
    let first = gdb.reverse_next()?;
    let rest = (0..STEPS).map(|_| gdb.reverse_next());
    let rest = median(rest.collect::<anyhow::Result<_>>()?);
    let what = format!("gdb, the first, after {turns} turns");
    report.figure(&what, milliseconds(first), "ms");
    report.figure("gdb, median of 21 more", milliseconds(rest), "ms");
    Ok(())
}

/// Steps back from where a pause has come, amid the loop.
pub fn steps_from_pause(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let work = bench.programs.compute.with(u32::MAX);
    let mut session = bench.recorded(&work.debuggee)?;
    session.run()?;
    let begin = Instant::now();
    wait(Duration::from_secs_f64(RUN))?;
    session.pause()?;
    let time = begin.elapsed().as_secs_f64();
    ensure!(time < 1.0, "the pause came after {time:.2} s, too late");
    report.figure("ran since the last checkpoint", time, "s");
    steps(report, bench, &mut session, work.end)
}

/// Measures steps back, and checks that each ends in the computation's code, before `end`.
fn steps(report: &mut Report, bench: &Bench, session: &mut Dap, end: i64) -> anyhow::Result<()> {
    let mut times = Vec::new();
    for _ in 0..=STEPS {
        times.push(session.step_back()?);
        let line = session.line()?;
        ensure!(
            (bench.programs.lines..end).contains(&line),
            "a step back has led to line {line}"
        );
    }
    let first = times.remove(0);
    report.figure("dapple dap, the first", milliseconds(first), "ms");
    let longest = times.iter().max().copied().unwrap_or_default();
    report.goal(
        "dapple dap, median of 21 more",
        milliseconds(median(times)),
        "ms",
        STEP,
    );
    report.figure(
        "dapple dap, the longest of them",
        milliseconds(longest),
        "ms",
    );
    Ok(())
}

/// Runs back to a breakpoint at the beginning of the second.
pub fn reverse(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let first = bench.programs.first;
    searches(bench, report, |session| {
        session.arm(&[(first, Breakpoint::Plain)])?;
        let time = session.reverse()?;
        require_line(session.line()?, first)?;
        Ok(time)
    })?;
    beside_gdb(bench, report, |gdb| {
        gdb.arm(&[(first, Breakpoint::Plain)])?;
        let time = gdb.reverse_continue()?;
        require_line(gdb.line()?, first)?;
        Ok(time)
    })
}

/// Finds a write at the beginning of the second.
pub fn who(bench: &Bench, report: &mut Report) -> anyhow::Result<()> {
    let first = bench.programs.first;
    searches(bench, report, |session| {
        let (write, time) = session.who("early")?;
        let frame = write.stack.first().context("the write has no stack")?;
        require_line(frame.line, first)?;
        Ok(time)
    })?;
    beside_gdb(bench, report, |gdb| {
        gdb.arm(&[])?;
        gdb.watch_by_steps("early")?;
        let time = gdb.reverse_continue()?;
        require_line(gdb.line()?, first)?;
        Ok(time)
    })
}

fn searches(
    bench: &Bench,
    report: &mut Report,
    mut search: impl FnMut(&mut Dap) -> anyhow::Result<Duration>,
) -> anyhow::Result<()> {
    let (mut ran_for, mut times) = (Vec::new(), Vec::new());
    for _ in 0..SEARCHES {
        let mut ran = bench.ran()?;
        ran_for.push(Duration::from_secs_f64(ran.time));
        times.push(search(&mut ran.session)?);
    }
    report.figure("ran for", median(ran_for).as_secs_f64(), "s");
    let time = median(times).as_secs_f64();
    report.goal("dapple dap, median of 3", time, "s", SEARCH);
    Ok(())
}

/// The same search in what gdb has recorded, extrapolated to as much as the program does in a second.
fn beside_gdb(
    bench: &Bench,
    report: &Report,
    search: impl FnOnce(&mut Mi) -> anyhow::Result<Duration>,
) -> anyhow::Result<()> {
    let Some((mut gdb, turns)) = bench.ran_in_gdb()? else {
        return Ok(());
    };
    let time = search(&mut gdb)?.as_secs_f64();
    let second = bench.programs.compute.lasting(Duration::from_secs(1))?;
    let all = time * f64::from(second.debuggee.argument) / f64::from(turns);
    let what = format!("gdb: over {turns} turns in {time:.3} s, over a second");
    report.figure(&what, all, "s (extrapolated)");
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    1000.0 * time.as_secs_f64()
}

impl Bench {
    /// A session that has run for a second, without a checkpoint in between.
    fn ran(&self) -> anyhow::Result<Ran> {
        let mut work = self
            .programs
            .compute
            .lasting(Duration::from_secs_f64(RUN))?;
        for _ in 0..TRIES {
            let mut session = self.recorded(&work.debuggee)?;
            session.arm(&[(work.end, Breakpoint::Plain)])?;
            let begin = Instant::now();
            session.go()?;
            let time = begin.elapsed().as_secs_f64();
            require_line(session.line()?, work.end)?;
            if (RUN - TOLERANCE..RUN + TOLERANCE).contains(&time) {
                return Ok(Ran {
                    session,
                    work,
                    time,
                });
            }
            work = work.with(scaled(work.debuggee.argument, RUN / time));
        }
        bail!("the machine is too busy: no run of {TRIES} took {RUN} s")
    }

    /// A session of gdb at the end of what it has recorded, with the count of turns. `None`: gdb isn't installed.
    fn ran_in_gdb(&self) -> anyhow::Result<Option<(Mi, u32)>> {
        let Some((turns, _)) = self.time_in_gdb()? else {
            return Ok(None);
        };
        let work = self.programs.compute.with(turns);
        let Some(mut gdb) = self.recorded_by_gdb(&work.debuggee)? else {
            return Ok(None);
        };
        gdb.arm(&[(work.end, Breakpoint::Plain)])?;
        gdb.go()?;
        require_line(gdb.line()?, work.end)?;
        Ok(Some((gdb, turns)))
    }
}
