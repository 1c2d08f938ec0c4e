//! Keeps the return value of the function that a step has left: read from the registers at the return itself, by the platform's calling
//! convention (`values::results`).

use super::Owner;
use crate::event::{Stop, StopReason};
use crate::{Address, ThreadId};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::results::{self, ResultRegisters};

impl Owner {
    /// A thread has just returned from the function with code at `left`.
    pub(super) fn note_returned(&mut self, thread: ThreadId, left: Address) {
        let Some(general) = self.registers(thread).map(|registers| registers.to_dwarf()) else {
            return;
        };
        let Some(module) = self.modules().at(left).cloned() else {
            return;
        };
        let Some(function) = module.module.function_at(module.to_file(left)) else {
            return;
        };
        let registers = ResultRegisters {
            general,
            vectors: self
                .process()
                .vectors(thread)
                .ok()
                .map(|all| [all[0], all[1]]),
            x87: self.process().x87_top(thread).ok(),
        };
        let returned = results::returned(&module, &function, &registers);
        self.set_returned(returned.map(|value| (thread, value)));
    }

    /// Keeps the return value only if the step has ended with a stop of its own.
    pub(super) fn keep_returned(&mut self, stops: &[Stop]) {
        let ended = |thread: ThreadId| {
            stops
                .iter()
                .any(|stop| stop.thread == thread && stop.reason == StopReason::Step)
        };
        self.keep_returned_of(ended);
    }
}
