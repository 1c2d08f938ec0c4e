//! Recording a program from a stop on.

use super::History;
use crate::Error;
use crate::breakpoints::site::Protection;
use crate::owner::Owner;
use dapple_inspect::inspect::Inspect;
use dapple_target::launch::CheckpointLimits;
use dapple_target::linux::injected;
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::recording::{Recorder, start};
use std::sync::Arc;
use std::time::Instant;

impl History {
    /// Of a process that isn't recorded yet.
    pub(in crate::owner) fn none(limits: CheckpointLimits) -> History {
        History {
            limits,
            ..History::default()
        }
    }
}

impl Owner {
    /// What keeps the process alive that is left for a copy.
    pub(in crate::owner) fn keep_protection(&mut self, left: Protection) {
        self.history.protection = left;
    }

    /// What keeps the process alive that was left for a copy, and is shown again.
    pub(in crate::owner) fn take_protection(&mut self) -> Protection {
        std::mem::take(&mut self.history.protection)
    }

    /// Tells the guardian that instructions are about to trap in the process that read the processor's time.
    fn time_will_trap(&self) {
        if let Some(guardian) = self.guardian()
            && let Some(calls) = injected::place_of_calls(self.process().id())
        {
            guardian.note_time_trapped(calls);
        }
    }

    /// Lets instructions of the stopped threads read the processor's time.
    pub(in crate::owner) fn untrap_time(&self) {
        for thread in self.stopped_threads() {
            if let Err(reason) = start::untrap_time(thread) {
                tracing::warn!(%reason, "instructions still trap that read the time");
            }
        }
        self.time_traps_no_more();
    }

    /// Tells the guardian that.
    fn time_traps_no_more(&self) {
        if let Some(guardian) = self.guardian() {
            guardian.strike_time_trapped();
        }
    }

    /// Records the process from this stop on: history begins here. What was recorded before, up to something that can't be, is forgotten.
    pub(crate) fn record_from_here(&mut self) -> Result<(), Error> {
        self.require_stopped()?;
        let refused = |why: &str| Error::Refused(format!("the program can't be recorded: {why}"));
        if self.no_history().is_none() {
            return Err(Error::Refused("the program is recorded already".into()));
        }
        if self.replays_file() {
            return Err(refused("it is a recording"));
        }
        if self.has_undelivered_signal() {
            return Err(refused("a signal is about to be delivered; step first"));
        }
        self.drop_kept();
        self.leave_past();
        self.end_step();
        self.clean_for_stop();
        self.unpin_all();
        let live = self.recorded_process().map_err(|why| {
            self.time_traps_no_more();
            refused(&why)
        })?;
        let journal = { live.recorder() }.map(|recorder| recorder.journal().clone());
        self.exchange_process(Arc::clone(&live));
        // What the program has counted itself is noted where its jumps go.
        self.take_counts_over();
        for copies in self.caves() {
            live.has_copies(copies);
        }
        for thread in self.stopped_threads() {
            // It may have been moved, out of what reads clocks.
            self.control(thread).registers = None;
        }
        self.history = History {
            journal,
            live: Some(Arc::clone(&live)),
            begun: Some(Instant::now()),
            ..History::none(self.history.limits)
        };
        let beside = self.beside();
        let kept = self.history.keep(beside);
        kept.map_err(|why| {
            let limits = self.history.limits;
            if let Some(mut recorder) = live.recorder() {
                recorder.end(why.clone());
            }
            self.leave_history();
            self.history = History::none(limits);
            refused(&why)
        })
    }

    /// The process, to be recorded from now on.
    fn recorded_process(&mut self) -> Result<Arc<LiveProcess>, String> {
        let id = self.process().id();
        let threads = self.stopped_threads();
        let first = self.current();
        let process = LiveProcess::open(id, self.waker());
        let process = process.map_err(|error| error.to_string())?;
        self.time_will_trap();
        let recorder = Recorder::midway(id, &threads, first, !self.dies_with_debugger())?;
        Ok(Arc::new(process.recorded(recorder)))
    }
}
