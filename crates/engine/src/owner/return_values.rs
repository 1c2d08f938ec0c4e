//! Stores the return value of the function that a step has left, to be shown at the step's stop. It is read from the registers right after
//! the return, by the platform's calling convention (`values::results`).

use super::Owner;
use crate::event::{Stop, StopReason};
use crate::{Address, ThreadId};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::results::{self, ResultRegisters};

impl Owner {
    /// Stores the value that a thread has just returned from the function to which the address `left` belongs.
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

    /// The registers in which a thread has the result of the function from which it has just returned. `None`: the thread has died.
    pub(super) fn result_registers(&mut self, thread: ThreadId) -> Option<ResultRegisters> {
        let general = self.registers(thread)?.to_dwarf();
        let process = self.process();
        Some(ResultRegisters {
            general,
            vectors: process.vectors(thread).ok(),
            x87: process.x87_top(thread).ok(),
            room: None,
        })
    }

    /// Forgets the stored return value, unless the stops include the end of the step by its thread.
    pub(super) fn keep_returned(&mut self, stops: &[Stop]) {
        let ended = |thread: ThreadId| {
            stops
                .iter()
                .any(|stop| stop.thread == thread && stop.reason == StopReason::Step)
        };
        self.keep_returned_of(ended);
    }
}
