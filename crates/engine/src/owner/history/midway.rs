//! Recording a program from a stop on.

use super::History;
use crate::Error;
use crate::owner::Owner;
use dapple_inspect::inspect::Inspect;
use dapple_target::launch::CheckpointLimits;
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::linux::recording::Recorder;
use dapple_target::process::Process;
use dapple_target::process_info::Start;
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
        if self.debuggee.start != Start::Launched {
            return Err(refused(
                "it was attached to, and would be the parent of its checkpoints; launch it",
            ));
        }
        if self.has_undelivered_signal() {
            return Err(refused("a signal is about to be delivered; step first"));
        }
        self.drop_kept();
        self.leave_past();
        self.end_step();
        self.clean_for_stop();
        self.unpin_all();
        let live = self.recorded_process().map_err(|why| refused(&why))?;
        let journal = { live.recorder() }.map(|recorder| recorder.journal().clone());
        let process = Arc::clone(&live);
        self.exchange_process(process as Arc<dyn Process>);
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
        let recorder = Recorder::midway(id, &threads, first)?;
        Ok(Arc::new(process.recorded(recorder)))
    }
}
