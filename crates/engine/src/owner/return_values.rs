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
        let Some(registers) = self.result_registers(thread) else {
            return;
        };
        let Some(module) = self.modules().at(left).cloned() else {
            return;
        };
        let Some(function) = module.module.function_at(module.to_file(left)) else {
            return;
        };
        let returned = results::returned(&module, &function, &registers);
        self.set_returned(returned.map(|value| (thread, value)));
    }

    /// The registers in which a thread that has just returned has the function's result. `None`: it has died.
    pub(super) fn result_registers(&mut self, thread: ThreadId) -> Option<ResultRegisters> {
        let general = self.registers(thread)?.to_dwarf();
        let process = self.process();
        Some(ResultRegisters {
            general,
            vectors: process.vectors(thread).ok().map(|all| [all[0], all[1]]),
            x87: process.x87_top(thread).ok(),
        })
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
