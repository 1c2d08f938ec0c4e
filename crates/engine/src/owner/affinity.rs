//! Pins threads to the tracer's processor while they stop often, because a stop is four times cheaper there.
//!
//! `dapple_target::linux::affinity` decides when pinning is worth it, and hides it from the program. This module tells that one how threads
//! run and stop. Threads of a process that was attached to are never pinned: if the debugger were killed, they would stay on that
//! processor.

use super::Owner;
use crate::ThreadId;
use crate::stops::{How, Mode};
use dapple_arch::instructions::{decode, enters_kernel};
use dapple_inspect::inspect::Inspect;
use dapple_target::linux::affinity::Run;
use dapple_target::process_info::Start;
use dapple_target::wait_event::{WaitEvent, What};

impl Owner {
    /// Tells the pinning that a thread has stopped.
    pub(super) fn noticed(&mut self, event: WaitEvent) {
        let Some((pinning, pace)) = self.threads.pacing(event.thread) else {
            return;
        };
        let trapped = event.what == What::Signal(libc::SIGTRAP);
        pace.stopped(trapped);
        if event.what == What::SystemCall {
            pinning.calls(event.thread, pace);
        }
    }

    /// Pins a thread that is about to run, if that is worth it and the program can't observe it. `true`: the thread must be resumed so that
    /// it stops at its next system call.
    pub(super) fn pin_for_run(&mut self, thread: ThreadId, how: How) -> bool {
        if self.debuggee.start != Start::Launched || self.replays_file() {
            // It would stay pinned if the debugger were killed; or has an id that isn't the kernel's.
            return false;
        }
        let run = match how {
            How::Continue => Run::On,
            How::Step if self.is_before_call(thread) => Run::MaybeCall,
            How::Step => Run::Instruction,
        };
        let pacing = self.threads.pacing(thread);
        pacing.is_some_and(|(pinning, pace)| pinning.before(thread, run, pace))
    }

    /// Whether the debuggee runs and one of its threads is expected to stop soon.
    pub(crate) fn stops_soon(&self) -> bool {
        self.mode() == Mode::Running && self.threads.pinning.stops_soon()
    }

    /// Gives pinned threads that have been running for long their own affinity back. Pinning them has not paid, so each is pinned less often
    /// afterwards.
    pub(super) fn unpin_long_running(&mut self) {
        for thread in self.threads.pinning.tick() {
            if let Some(control) = self.threads.get_mut(thread) {
                control.pace.was_in_vain();
            }
        }
    }

    /// Gives all threads their own affinity back.
    pub(super) fn unpin_all(&mut self) {
        self.threads.pinning.let_all_go();
    }

    /// Whether a stopped thread's next instruction is a system call. Also `true` if that can't be found out.
    fn is_before_call(&mut self, thread: ThreadId) -> bool {
        let Some(registers) = self.registers(thread) else {
            return true;
        };
        let pc = registers.pc();
        let at = match self.original_of(pc) {
            Some((_, original)) => original,
            None => pc,
        };
        let mut code = [0; 16];
        let length = self.memory().read_some(at, &mut code);
        decode(at, &code[..length]).is_none_or(|instruction| enters_kernel(instruction.code()))
    }
}
