//! Threads in trampolines.
//!
//! Nobody else sees trampolines: a thread that stops in one is moved to the site or a replaced instruction at once, and back when it goes on.

use super::Owner;
use super::attached::Lent;
use crate::breakpoints::trampolines::Within;
use crate::stops::How;
use crate::{Address, ThreadId};
use dapple_arch::decision::{Saved, with_flags};
use dapple_arch::instructions::LONGEST;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::registers::{extended, named};
use dapple_inspect::inspect::Inspect;
use dapple_target::process::Resume;
use dapple_target::wait_event::{WaitEvent, What};

/// The most steps with which a thread is brought to the end of a trampoline.
const MOST_STEPS: usize = 200;

/// The signals that the kernel raises for an instruction.
const FAULTS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

impl Owner {
    /// The site of the trampoline whose trap a thread has run into, if the trap is at `trap`.
    pub(super) fn site_asking(&mut self, thread: ThreadId, trap: Address) -> Option<Address> {
        let trampoline = self.trampolines().at(trap)?;
        if trampoline.place_of(trap) != Some(Within::Asking) {
            return None;
        }
        let (site, why) = (trampoline.site, trampoline.code.why_slot);
        let sp = self.registers(thread)?.sp();
        let is_full = self.found_ring_full(sp, why);
        self.control(thread).found_full = is_full.then_some(site);
        Some(site)
    }

    /// Moves a thread that has stopped in a trampoline to the site or the replaced instruction that it counts as being at. Returns whether it
    /// was in one.
    pub(super) fn leave_trampoline(&mut self, thread: ThreadId) -> bool {
        if self.trampolines().is_empty() {
            return false;
        }
        let Some(registers) = self.registers(thread) else {
            return false;
        };
        let Some((_, within)) = self.within_trampoline(registers.pc()) else {
            return false;
        };
        if within == Within::Counted {
            self.step_out_of_counting(thread);
        }
        let Some(registers) = self.registers(thread) else {
            return true;
        };
        if let Some((site, within)) = self.within_trampoline(registers.pc())
            && let Some(registers) = self.outside(thread, site, &within, registers)
        {
            if self.dies_with_debugger() || registers.pc() == site {
                self.set_registers(thread, registers);
            } else {
                // For the kernel, the thread stays in the trampoline: if the debugger is killed, it must not go on behind the jump's first byte.
                let control = self.control(thread);
                control.registers = Some(registers);
                control.unwritten = true;
            }
        }
        true
    }

    /// Lets a thread whose hit may have been counted go on to one of the ends of its trampoline. Its signals wait meanwhile.
    fn step_out_of_counting(&mut self, thread: ThreadId) {
        let Ok(mask) = self.process().signal_mask(thread) else {
            return;
        };
        let all_but_traps = !(1 << (libc::SIGTRAP - 1));
        self.lend(thread, Lent::WithSignals);
        let _ = self.process().set_signal_mask(thread, all_but_traps);
        let mut late = Vec::new();
        for _ in 0..MOST_STEPS {
            let registers = self.registers(thread);
            let within = registers.and_then(|it| self.within_trampoline(it.pc()));
            let may_be_counted = within.is_some_and(|(_, within)| within == Within::Counted);
            if !may_be_counted || !self.step_within(thread, &mut late) {
                break;
            }
        }
        let _ = self.process().set_signal_mask(thread, mask);
        self.give_back();
        for event in late {
            self.handle_stop(event);
        }
    }

    fn within_trampoline(&self, pc: Address) -> Option<(Address, Within)> {
        let trampoline = self.trampolines().at(pc)?;
        Some((trampoline.site, trampoline.place_of(pc)?))
    }

    /// The registers with which a thread in the trampoline of `site` is shown. `None`: it has to go on by a step first.
    fn outside(
        &mut self,
        thread: ThreadId,
        site: Address,
        within: &Within,
        mut registers: UserRegisters,
    ) -> Option<UserRegisters> {
        match within {
            Within::Counted => return None,
            Within::Asking => registers.set_pc(site),
            Within::At(original, pushed) => {
                if *pushed > 0
                    && let Some(called) = self.jumped_from(&registers)
                {
                    // The return address stands where, before the call, something else may be: the call counts as made.
                    return Some(called);
                }
                if *original == site {
                    self.control(thread).passed = Some(site);
                }
                registers.set_pc(*original);
                registers.set_sp(registers.sp().wrapping_add(*pushed));
            }
            Within::Deciding(saved) => {
                self.restore_saved(thread, saved, &mut registers);
                registers.set_pc(site);
            }
        }
        Some(registers)
    }

    /// The registers behind the jump that a thread in a trampoline is about to execute.
    fn jumped_from(&mut self, registers: &UserRegisters) -> Option<UserRegisters> {
        let mut code = [0; LONGEST];
        let count = self.memory().read_some(registers.pc(), &mut code);
        self.emulated_at(registers.pc(), &code[..count], registers)
    }

    /// Takes the values of registers from the frame of a trampoline. Those that aren't general registers are set at once.
    fn restore_saved(&self, thread: ThreadId, saved: &Saved, registers: &mut UserRegisters) {
        let slot = |offset: u64| Address(registers.sp().wrapping_add(offset));
        let mut before = *registers;
        for (number, offset) in &saved.general {
            if let Ok(value) = self.memory().read_u64(slot(*offset)) {
                before.set(*number, value);
            }
        }
        let mut flags = [0; 2];
        if let Some(offset) = saved.flags
            && self.memory().read(slot(offset), &mut flags).is_ok()
        {
            before.set_flags(with_flags(registers.flags(), flags));
        }
        before.set_sp(registers.sp().wrapping_add(saved.stack));
        if !saved.sse.is_empty() || saved.mxcsr.is_some() {
            self.restore_vectors(thread, saved, slot);
        }
        *registers = before;
    }

    fn restore_vectors(&self, thread: ThreadId, saved: &Saved, slot: impl Fn(u64) -> Address) {
        let Ok(mut state) = self.process().extended_state(thread) else {
            return;
        };
        for (number, offset) in &saved.sse {
            let mut bytes = [0; 16];
            if self.memory().read(slot(*offset), &mut bytes).is_ok() {
                let number = named::VECTORS.start + u16::from(*number);
                let _ = extended::set_bits(&mut state, number, u128::from_le_bytes(bytes));
            }
        }
        let mut bytes = [0; 4];
        if let Some(offset) = saved.mxcsr
            && self.memory().read(slot(offset), &mut bytes).is_ok()
        {
            let _ = extended::set_mxcsr(&mut state, u32::from_le_bytes(bytes));
        }
        let _ = self.process().set_extended_state(thread, &state);
    }

    /// Lets a thread go at most one instruction on. `false`: it has ended, or can't. `late`: gets events that have to be handled when the thread
    /// is where it is shown to be.
    fn step_within(&mut self, thread: ThreadId, late: &mut Vec<WaitEvent>) -> bool {
        self.write_back(thread);
        self.control(thread).registers = None;
        let stepped = self.process().resume(thread, Resume::Step, 0).ok();
        let event = stepped.and_then(|()| self.process().event_of(thread));
        let Some(event) = event else {
            return false;
        };
        match event.what {
            // An interrupt that was requested before the thread stopped for another reason.
            What::Signal(libc::SIGTRAP) | What::Interrupted { .. } => true,
            // Its frame or the ring is gone.
            What::Signal(signal) if FAULTS.contains(&signal) => {
                late.push(event);
                false
            }
            // SIGSTOP can't be blocked.
            What::Signal(_) | What::Group(_) => {
                late.push(event);
                true
            }
            _ => {
                self.handle_stop(event);
                false
            }
        }
    }

    /// Before a thread runs: if it counts as being at an instruction that a jump has replaced, moves it to where that instruction is now. A
    /// thread that is at the site has yet to come there: a single step must run into an `int3`, because it ends in front of a decision.
    pub(super) fn enter_trampoline(&mut self, thread: ThreadId, how: How) {
        if self.trampolines().is_empty() {
            return;
        }
        let Some(mut registers) = self.registers(thread) else {
            return;
        };
        let Some(trampoline) = self.trampoline_for(registers.pc()) else {
            return;
        };
        let site = trampoline.site;
        if self.is_lost(site) {
            // The program has written something else there.
            return self.forget_site(site);
        }
        if site == registers.pc() {
            if how == How::Step {
                self.take_jump_out(site);
            }
            return;
        }
        if let Some(entry) = trampoline.entry_of(registers.pc()) {
            registers.set_pc(entry);
            self.set_registers(thread, registers);
        }
    }

    /// Before a signal is delivered: its handler returns to where the thread is, so that a jump that has replaced this instruction is taken out.
    pub(super) fn will_be_interrupted(&mut self, thread: ThreadId) {
        let Some(registers) = self.registers(thread) else {
            return;
        };
        let pc = registers.pc();
        let sp = registers.sp();
        self.interruptions().add(thread, pc, sp);
        let inner = self.trampoline_for(pc);
        if inner.is_some_and(|trampoline| trampoline.site != pc) {
            self.take_jump_out(pc);
        }
    }

    /// Whether a thread's signal is a fault of a decision that it makes in a trampoline: it can't read what the condition reads. If so, the
    /// thread is moved back to the site, as if it had run into an `int3` there.
    pub(super) fn fault_in_decision(&mut self, thread: ThreadId, signal: i32) -> Option<Address> {
        if !FAULTS.contains(&signal) || self.trampolines().is_empty() {
            return None;
        }
        let registers = self.registers(thread)?;
        let (site, within) = self.within_trampoline(registers.pc())?;
        let is_deciding = matches!(within, Within::Deciding(_));
        let info = self.process().signal_info(thread).ok()?;
        // Signals that processes send have a code that isn't positive (sigaction(2)).
        if !is_deciding || info.code <= 0 {
            return None;
        }
        let registers = self.outside(thread, site, &within, registers)?;
        self.set_registers(thread, registers);
        Some(site)
    }
}
