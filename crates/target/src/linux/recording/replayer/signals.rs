//! Signals of a thread that is replayed.

use super::{Due, Replayer, Then};
use crate::exit_status::ExitStatus;
use crate::linux::injected::lost;
use crate::linux::recording::journal::{Delivered, Entry};
use crate::linux::recording::turns::Place;
use crate::linux::{process, ptrace, wait};
use crate::process::Resume;
use crate::wait_event::What;
use crate::{Address, ThreadId};
use dapple_arch::abi::SIGNAL_MASK_OF_CONTEXT;

impl Replayer {
    /// Has a signal come to a thread, as it came then.
    ///
    /// # Errors
    /// The end of a sentence that says why that can't be.
    pub(super) fn send(&mut self, thread: ThreadId, signal: &Delivered) -> Result<(), String> {
        let replayed = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        let copy = replayed.copy;
        if let Some(mask) = signal.mask {
            replayed.own_mask = Some(ptrace::signal_mask(copy).map_err(lost)?);
            ptrace::set_signal_mask(copy, mask).map_err(lost)?;
        }
        process::signal_thread(copy, signal.whole.number()).map_err(lost)
    }

    /// Delivers a signal that has come in a call with a mask of its own (sigsuspend(2)): that mask is in force in the handler, and `own` behind
    /// it. Returns whether there is a handler, at whose first instruction the thread is then.
    ///
    /// # Errors
    /// The end of a sentence that says why it can't be delivered.
    pub(super) fn deliver_with_mask(
        &self,
        thread: ThreadId,
        signal: i32,
        own: u64,
    ) -> Result<bool, String> {
        let copy = self.copy_of(thread).ok_or("a thread is gone")?;
        if !process::catches(copy, signal) {
            // It does nothing, or the recording ends there.
            ptrace::set_signal_mask(copy, own).map_err(lost)?;
            return Ok(false);
        }
        // It stops at the handler's first instruction. A step would show in the frames of later signals, as the last exception.
        ptrace::interrupt(copy).map_err(lost)?;
        ptrace::cont(copy, signal).map_err(lost)?;
        match wait::next_of(copy).map(|event| event.what) {
            Some(What::Interrupted { .. }) => {}
            other => return Err(format!("signal {signal} can't be delivered: {other:?}")),
        }
        // The kernel gives handlers their context as the third argument (rdx, as that of a system call), also those that don't ask for it.
        let (_, arguments) = ptrace::registers(copy).map_err(lost)?.system_call();
        let mask = Address(arguments[2].wrapping_add(SIGNAL_MASK_OF_CONTEXT));
        let written = self.memory.write(mask, &own.to_le_bytes());
        written.map_err(|error| format!("a signal's frame can't be written: {error}"))?;
        Ok(true)
    }

    /// A signal is about to be delivered to a thread.
    pub(super) fn signalled(&mut self, thread: ThreadId, number: i32) -> Result<Then, String> {
        if number == libc::SIGTRAP {
            return Ok(Then::Stops(What::Signal(number)));
        }
        let Some((turn, entry)) = self.next_entry() else {
            return Ok(Then::Stops(What::ReplayEnds));
        };
        if turn != thread {
            return Err(format!("signal {number} comes out of turn"));
        }
        let replayed = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        let copy = replayed.copy;
        match entry.as_ref() {
            Entry::Time(time, processor) if number == libc::SIGSEGV => {
                let mut registers = ptrace::registers(copy).map_err(lost)?;
                registers.set_time(*time, *processor);
                ptrace::set_registers(copy, &registers).map_err(lost)?;
                self.next += 1;
                if replayed.how == Resume::Step {
                    replayed.feigned_step = true;
                    return Ok(Then::Stops(What::Signal(libc::SIGTRAP)));
                }
                let how = replayed.how;
                // Others may run next, and its turn may end before something comes again.
                match self.runner() == Some(thread) && self.turn_end().is_none() {
                    true => ptrace::cont_to_system_call(copy, 0).map_err(lost)?,
                    false => self.turns.set(thread, Place::Ready(how, 0)),
                }
                Ok(Then::Goes)
            }
            Entry::Signal(signal) if signal.whole.number() == number => {
                let end = ExitStatus::Signal(number);
                let next = self.journal.entry(self.next + 1);
                let next = next.as_ref().map(|(_, entry)| entry.as_ref());
                if matches!(next, Some(Entry::End(status)) if *status == end) {
                    // The signal has ended it.
                    return Ok(Then::Stops(What::ReplayEnds));
                }
                if !signal.whole.is_of_instruction() {
                    ptrace::set_whole_signal(copy, &signal.whole).map_err(lost)?;
                }
                replayed.due = Some(Due {
                    number,
                    has_come: false,
                });
                Ok(Then::Stops(What::Signal(number)))
            }
            _ => {
                let pc = ptrace::registers(copy).map_err(lost)?.pc();
                Err(format!("signal {number} comes at {pc}"))
            }
        }
    }
}
