//! Temporary breakpoints. Each is removed once it has stopped a thread. One that is limited to a frame is also removed when the frame's
//! thread ends.

use super::Owner;
use crate::breakpoints::data::FrameOnStack;
use crate::breakpoints::temporary::Temporary;
use crate::breakpoints::wanted::{TemporaryBreakpoint, TemporarySet};
use crate::{Address, Error, Event, ThreadId, unwind};
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::Inspect;

impl Owner {
    pub(crate) fn set_temporary(
        &mut self,
        wanted: TemporaryBreakpoint,
    ) -> Result<TemporarySet, Error> {
        if let Some(thread) = wanted.thread.filter(|thread| !self.is_live(*thread)) {
            return Err(Error::NoSuchThread(thread));
        }
        let frame = wanted.frame.map(|id| self.frame_on_stack(id)).transpose()?;
        let temporary = Temporary {
            thread: wanted.thread,
            frame,
            spent: false,
        };
        let id =
            self.breakpoints
                .add_temporary(&wanted.place, wanted.options, temporary, &self.modules);
        for changed in self.arm_quietly() {
            self.tell(Event::BreakpointChanged(changed));
        }
        let set = self.breakpoints.temporary(id);
        if set.is_err() {
            self.remove_temporaries(|other| other == id);
        }
        self.watch_frames();
        set.map_err(Error::Refused)
    }

    /// Removes the temporary breakpoints that `gone` selects.
    pub(crate) fn remove_temporaries(&mut self, gone: impl Fn(i64) -> bool) {
        if self.breakpoints.remove_temporaries(gone) {
            self.arm();
            self.watch_frames();
        }
    }

    /// Whether a breakpoint may stop a thread that has come to `at`: a temporary one may be limited to a thread or a frame.
    pub(super) fn admits(&mut self, id: i64, thread: ThreadId, at: Address) -> bool {
        let Some(temporary) = self.breakpoints.temporary_of(id).cloned() else {
            return true;
        };
        let Some(registers) = self.registers(thread) else {
            return false;
        };
        let frame = || {
            let place = self.breakpoints.has_place(id, at);
            let frame = || unwind::innermost(registers.to_dwarf(), self.modules(), self.memory());
            place.then(frame)?.cfa
        };
        temporary.admits(thread, at, registers.sp(), frame)
    }

    fn frame_on_stack(&mut self, id: FrameId) -> Result<FrameOnStack, Error> {
        let frame = self.frame(id)?;
        let physical = &frame.physical;
        let caller = unwind::caller(physical, self.modules(), self.memory());
        match (physical.cfa, caller) {
            (Some(cfa), Some(caller)) => Ok(FrameOnStack {
                thread: id.thread,
                cfa,
                return_to: caller.pc,
            }),
            _ => Err(Error::Refused(
                "where the frame ends on the stack is not known".into(),
            )),
        }
    }
}
