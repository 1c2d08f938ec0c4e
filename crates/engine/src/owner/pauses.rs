//! Where a pause stops a recorded program.
//!
//! A pause may come anywhere. Later searches end in its state, and find it by a jump at its address ([`super::past_jumps`]). Where no jump fits, for
//! example at the return of a small function, each pass of the address would stop the thread, which takes minutes. So the thread first goes on to an
//! instruction that a jump can replace; there is one nearby.

use super::Owner;
use crate::Address;
use dapple_arch::Machine;
use dapple_arch::instructions::{LONGEST, decode, is_repeatable};
use dapple_inspect::inspect::Inspect;
use dapple_target::process::Resume;
use dapple_target::wait_event::What;

/// The most instructions that the thread executes.
const MOST_STEPS: usize = 64;

impl Owner {
    /// All threads have stopped for a pause. Lets the one that runs code of its own go on to where a jump fits. Returns `false` if something else has
    /// happened to it meanwhile, which is handled next.
    pub(super) fn goes_to_jump_place(&mut self) -> bool {
        if !self.is_recorded() {
            return true;
        }
        let runner = self.moment_now().and_then(|now| now.thread());
        let Some(thread) = runner else {
            return true;
        };
        for _ in 0..MOST_STEPS {
            let Some(registers) = self.registers(thread) else {
                return true;
            };
            let at = registers.pc();
            if registers.restarts_system_call()
                || !self.can_step_over(at)
                || self.fits_jump(thread, at)
            {
                return true;
            }
            self.write_back(thread);
            let control = self.control(thread);
            (control.registers, control.passed) = (None, None);
            let resumed = self.process().resume(thread, Resume::Step, 0);
            let event = resumed.ok().and_then(|()| self.next_of(thread));
            match event {
                Some(event) if event.what == What::Signal(libc::SIGTRAP) => {}
                Some(event) => {
                    self.handle_stop(event);
                    return false;
                }
                None => return true,
            }
        }
        true
    }

    /// Whether a step over the instruction at an address is like running it: nothing waits there for a thread, and nothing comes from outside.
    fn can_step_over(&self, at: Address) -> bool {
        if self.site(at).is_some() || self.repeated_at(at).is_some() {
            return false;
        }
        let mut code = [0; LONGEST];
        let length = self.memory().read_some(at, &mut code);
        if self.process().machine() != Machine::X86_64 {
            return false;
        }
        let instruction = decode(at, &code[..length]);
        instruction.is_some_and(|it| is_repeatable(&it))
    }
}
