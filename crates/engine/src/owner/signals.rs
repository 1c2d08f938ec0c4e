//! Decides whether a signal that is about to be delivered stops the program, and describes the signal to the user.

use super::Owner;
use crate::event::StopReason;
use crate::{Event, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::exceptions::BreakMode;
use dapple_inspect::frame::PhysicalFrame;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::inspect::signals::{Explained, explain};
use dapple_inspect::unwind;
use dapple_target::linux::input::Input;
use dapple_target::signal_info::SignalInfo;
use dapple_target::signals::{self, SignalTable, When};
use std::sync::Arc;

impl Owner {
    pub(crate) fn set_signals(&mut self, table: SignalTable) {
        self.signals = table;
    }

    /// Called when a signal is about to be delivered to a thread. The debugger's own traps don't come here.
    pub(super) fn signalled(&mut self, thread: ThreadId, signal: i32) {
        self.leave_copy_at_signal(thread, signal);
        self.control(thread).signal = signal;
        if self.is_vfork_child(thread) {
            return self.release(thread);
        }
        if self.asks_to_end(thread, signal) {
            return self.release(thread);
        }
        let policy = self.signals.of(signal);
        let stops = match policy.stop {
            When::Never => false,
            When::Always => true,
            When::Fatal => self.is_fatal(thread, signal),
        };
        if policy.pass && !policy.print && !stops && signal != libc::SIGINT {
            return self.release(thread);
        }
        // No information: the thread has died; its exit event follows.
        let Ok(info) = self.process().signal_info(thread) else {
            return;
        };
        // In a pseudoterminal that the debugger has made, a Ctrl+C is typed for the program. In any other terminal it is meant for the
        // debugger.
        let own_terminal = self.link.input.as_ref().is_some_and(Input::is_terminal);
        if !own_terminal && signals::is_keyboard_interrupt(signal, info.code) {
            self.control(thread).signal = 0;
            return self.report(thread, StopReason::Pause);
        }
        if !policy.pass {
            self.control(thread).signal = 0;
        }
        if !stops && !policy.print {
            return self.release(thread);
        }
        let mut explained = self.explain_signal(thread, info);
        if !policy.pass {
            explained.description.push_str(" (kept from the program)");
        }
        if !stops {
            self.tell(Event::Signalled {
                thread,
                number: signal,
                description: explained.description,
            });
            return self.release(thread);
        }
        let mode = match self.is_fatal(thread, signal) && policy.pass {
            true => BreakMode::Unhandled,
            false => BreakMode::Always,
        };
        self.control(thread).exception = Some(Arc::new(explained.exception(info, mode)));
        self.report(
            thread,
            StopReason::Signal {
                number: signal,
                fault: explained.fault,
                description: explained.description,
            },
        );
    }

    /// Moves a thread out of a copied instruction before a signal is delivered. Of some faults, the kernel says at which instruction they were:
    /// the copy, which the program doesn't know.
    fn leave_copy_at_signal(&mut self, thread: ThreadId, signal: i32) {
        let place = |registers: Option<UserRegisters>| registers.map(|registers| registers.pc());
        let copied = place(self.registers(thread));
        self.leave_copy(thread);
        let original = place(self.registers(thread));
        if copied == original || ![libc::SIGFPE, libc::SIGILL].contains(&signal) {
            return;
        }
        let (Some(copied), Some(original)) = (copied, original) else {
            return;
        };
        let info = self.process().signal_info(thread);
        if info.is_ok_and(|info| info.code > 0 && info.address == copied.0) {
            let _ = self.process().set_fault_address(thread, original);
        }
    }

    /// Whether `signal` is the one by which the debugger itself asks the program to end. The same signal from another sender isn't.
    fn asks_to_end(&self, thread: ThreadId, signal: i32) -> bool {
        /// The `si_code` of a signal that a process has sent (sigaction(2)).
        const SI_USER: i32 = 0;
        self.leaving.ends_with == Some(signal)
            && self.process().signal_info(thread).is_ok_and(|info| {
                info.code == SI_USER && u32::try_from(info.sender) == Ok(std::process::id())
            })
    }

    /// Whether a signal that is about to be delivered ends the program: it has no handler, isn't ignored, and its default action isn't
    /// harmless.
    fn is_fatal(&self, thread: ThreadId, signal: i32) -> bool {
        const HARMLESS: [i32; 8] = [
            libc::SIGCHLD,
            libc::SIGCONT,
            libc::SIGURG,
            libc::SIGWINCH,
            libc::SIGSTOP,
            libc::SIGTSTP,
            libc::SIGTTIN,
            libc::SIGTTOU,
        ];
        if HARMLESS.contains(&signal) || self.process().catches(signal) {
            return false;
        }
        // A signal that the kernel has raised (`si_code` > 0) is mostly a fault. Even if the program ignores that signal, a fault ends it.
        !self.process().ignores(signal)
            || self
                .process()
                .signal_info(thread)
                .is_ok_and(|info| info.code > 0)
    }

    fn explain_signal(&mut self, thread: ThreadId, info: SignalInfo) -> Explained {
        let registers = self.registers(thread);
        let sender = (info.code <= 0 && info.sender > 0 && info.sender != self.process().id().0)
            .then(|| self.process().thread_name(ThreadId(info.sender)))
            .filter(|name| !name.is_empty());
        explain(self, self.process().id(), registers.as_ref(), info, sender)
    }

    /// The innermost frames of a stopped thread, `most` at most. Empty if the thread has died.
    pub(super) fn physical_frames(&mut self, thread: ThreadId, most: usize) -> Vec<PhysicalFrame> {
        match self.registers(thread) {
            Some(registers) => {
                unwind::frames(registers.to_dwarf(), self.modules(), self.memory(), most)
            }
            None => Vec::new(),
        }
    }
}
