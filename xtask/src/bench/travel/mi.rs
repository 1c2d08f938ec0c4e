//! Running backwards in gdb, by its `record full`.

use std::time::{Duration, Instant};

use crate::bench::run::mi::Mi;
use crate::bench::run::session::Session;

impl Mi {
    /// Records from here, without a limit.
    pub fn record_full(&mut self) -> anyhow::Result<()> {
        // At the limit, gdb would forget the oldest instructions.
        self.ask("set record full insn-number-max unlimited")?;
        self.ask("record full")
    }

    /// Watches a variable by single steps. Backwards, gdb 13 misses writes by its hardware watchpoints: it runs past them to the beginning
    /// of what it has recorded.
    pub fn watch_by_steps(&mut self, variable: &str) -> anyhow::Result<()> {
        self.ask("-gdb-set can-use-hw-watchpoints 0")?;
        self.watch(variable)
    }

    /// Steps back over a line, and returns how long that took.
    pub fn reverse_next(&mut self) -> anyhow::Result<Duration> {
        self.backwards("-exec-next --reverse")
    }

    /// Runs backwards to a stop, and returns how long that took.
    pub fn reverse_continue(&mut self) -> anyhow::Result<Duration> {
        self.backwards("-exec-continue --reverse")
    }

    fn backwards(&mut self, command: &str) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        self.ask(command)?;
        self.stopped()?;
        Ok(begin.elapsed())
    }
}
