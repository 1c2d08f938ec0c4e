//! Gives a process that was attached to a handler of SIGTRAP, and takes it back ([`dapple_target::linux::trap_handler`]): threads that stop at a
//! breakpoint at the moment when the debugger is killed must not end by that signal.

use super::Owner;
use crate::ThreadId;
use crate::breakpoints::trap_handling::Handling;
use dapple_target::linux::injected;
use dapple_target::linux::trap_handler::{self, TrapHandler, has_default_action};

impl Owner {
    /// Before threads run that may come to sites: gives the process the handler, if it needs one. Also again, if it has lost it: the kernel
    /// gives SIGTRAP its default action when a thread that blocks the signal runs into a breakpoint.
    pub(super) fn handle_traps(&mut self) {
        let handling = self.trap_handling();
        let needs = self.guardian().is_some()
            && self.has_sites()
            && handling != Handling::Impossible
            && has_default_action(self.process().id());
        if !needs {
            return;
        }
        let Some(thread) = self.thread_for_calls() else {
            return;
        };
        let handler = match handling {
            Handling::Installed(handler) => Ok(handler),
            _ => self.calling_system(thread, |_, call| TrapHandler::map(thread, call)),
        };
        let installed = handler.and_then(|handler| {
            self.set_trap_handling(Handling::Installed(handler));
            if let Some(guardian) = self.guardian() {
                guardian.note_trap_handler(handler.page());
            }
            self.calling_system(thread, |_, call| handler.install(thread, call))
        });
        if let Err(reason) = installed {
            tracing::warn!(%reason, "SIGTRAP can't be handled");
            self.set_trap_handling(Handling::Impossible);
        }
    }

    /// Takes the handler from the process, whose threads are stopped and are about to be let go. `is_shared`: a vfork child has the handler, too,
    /// and its memory.
    pub(super) fn handle_no_traps(&mut self, is_shared: bool) {
        let Handling::Installed(handler) = self.trap_handling() else {
            return;
        };
        // Also for children with the same memory, and if the calls fail.
        self.disarm_trap_handler();
        let Some(thread) = self.thread_for_calls() else {
            return;
        };
        let removed = self.calling_system(thread, |_, call| {
            handler.remove(thread, call)?;
            match is_shared {
                true => Ok(()),
                false => handler.unmap(thread, call),
            }
        });
        if let Err(reason) = removed {
            tracing::warn!(%reason, "a handler of SIGTRAP is left");
        }
    }

    /// Takes the handler from a forked child, which is stopped and has memory of its own.
    pub(super) fn handle_no_traps_in(&self, child: ThreadId) {
        let Handling::Installed(handler) = self.trap_handling() else {
            return;
        };
        let removed = { handler.remove(child, None) }.and_then(|()| handler.unmap(child, None));
        if let Err(reason) = removed {
            tracing::warn!(%child, %reason, "a handler of SIGTRAP is left");
        }
    }

    /// Before a vfork child gets the SIGTRAP of a trap instruction of its own: the handler, which it has from its parent, must not take this for
    /// the debugger's.
    pub(super) fn traps_by_itself(&self, vfork_child: ThreadId) {
        if matches!(self.trap_handling(), Handling::Installed(_)) {
            // Fails only if the child has died.
            let _ = trap_handler::own_signal(vfork_child);
        }
    }

    /// Whether a thread is in the handler, which raises a signal again that was not the debugger's.
    pub(super) fn raises_again(&mut self, thread: ThreadId) -> bool {
        let Handling::Installed(handler) = self.trap_handling() else {
            return false;
        };
        let registers = self.registers(thread);
        registers.is_some_and(|registers| handler.contains(registers.pc()))
    }

    /// As [`Owner::handle_traps`], for a program that a thread has just executed.
    pub(super) fn handle_traps_of_executed(&mut self, thread: ThreadId) {
        if self.guardian().is_some() && self.ends_call(thread) {
            self.handle_traps();
        }
    }

    /// A stopped thread that can make system calls for the debugger, rather one that was not interrupted in a system call of its own.
    fn thread_for_calls(&mut self) -> Option<ThreadId> {
        let (mut interrupted, mut calling) = (None, None);
        for thread in self.stopped_threads() {
            let is_held = self.is_vfork_child(thread)
                || self.waits_for_vfork_child(thread)
                || self.is_in_group_stop(thread)
                || self.control(thread).signal != 0;
            match self.registers(thread).filter(|_| !is_held) {
                Some(registers) if registers.may_be_calling() => calling = calling.or(Some(thread)),
                Some(registers) if registers.restarts_system_call() => {
                    interrupted = interrupted.or(Some(thread));
                }
                Some(_) => return Some(thread),
                None => {}
            }
        }
        interrupted.or_else(|| calling.filter(|thread| self.ends_call(*thread)))
    }

    /// Lets a thread end the system call within which an event has stopped it. `false`: that is not so.
    fn ends_call(&mut self, thread: ThreadId) -> bool {
        self.control(thread).registers = None;
        injected::end_call(thread).unwrap_or_default()
    }
}
