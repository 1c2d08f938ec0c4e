//! In the past, the ends of threads' turns amid their own code.
//!
//! A thread of a recorded process that made no system call has lost its turn somewhere. When it is run again, it has to be stopped there: a site
//! is at that address, where the thread's state is compared ([`super::past_jumps`]).

use super::Owner;
use super::past_jumps::Ahead;
use crate::breakpoints::site::Reason;
use crate::{Address, ThreadId};
use dapple_arch::instructions::SYSCALL;
use dapple_inspect::inspect::Inspect;
use dapple_target::linux::recording::journal::TurnEnd;
use std::sync::Arc;

impl Owner {
    /// A thread is about to run up to the end of its turn.
    pub(super) fn turn_ahead(&mut self, thread: ThreadId) {
        self.leave_trampoline(thread);
        self.remove_sites(Reason::Turn);
        if let Some((_, end)) = self.turn_end() {
            let at = end.registers.pc();
            self.remove_end_sites();
            if let Err(error) = self.insert_site(at, Reason::Turn) {
                tracing::warn!(%at, %error, "the end of a turn can't be looked for");
            }
            self.awaits_other_state(at);
            self.control(thread).passed.take_if(|passed| *passed == at);
        }
        self.release(thread);
    }

    /// Another state is waited for at a site than before: a jump there compares with the former one.
    fn awaits_other_state(&mut self, at: Address) {
        if self.has_jump(at) {
            self.counted_by_hand(at);
            self.take_jump_out(at);
        }
    }

    /// Whether the instruction at an address makes a system call.
    pub(super) fn is_call_at(&self, at: Address) -> bool {
        let mut code = [0; SYSCALL.len()];
        self.memory().read(at, &mut code).is_ok() && code == SYSCALL
    }

    fn turn_end(&self) -> Option<(ThreadId, Arc<TurnEnd>)> {
        self.history_live()?.turn_end()
    }

    /// Where the turn ends of the thread that runs.
    pub(super) fn turn_end_pc(&self) -> Option<Address> {
        self.turn_end().map(|(_, end)| end.registers.pc())
    }

    /// Whether a thread's turn may end at an address, amid its code, and that is yet to be looked for ([`Owner::turn_ahead`]).
    pub(super) fn may_end_turn(&self, thread: ThreadId, at: Address) -> bool {
        let is_untold = { self.history_live() }.is_some_and(|live| live.is_turn_end_untold());
        let end = self.turn_end().filter(|_| is_untold);
        end.is_some_and(|(turn, end)| turn == thread && end.registers.pc() == at)
    }

    /// The state in which the turn ends of the thread that runs.
    pub(super) fn turn_end_ahead(&self) -> Option<Ahead> {
        let (_, end) = self.turn_end()?;
        Some(Ahead {
            registers: end.registers,
            memory: end.memory.clone(),
        })
    }

    /// A thread has come to a site where a turn may end. Ends it, if it does. Returns whether it has.
    pub(super) fn comes_to_turn_end(&mut self, thread: ThreadId, at: Address) -> bool {
        let Some((turn, end)) = self.turn_end() else {
            self.remove_sites(Reason::Turn);
            return false;
        };
        let registers = self.registers(thread);
        let is_call = self.is_call_at(at);
        let is_there =
            turn == thread && registers.is_some_and(|it| it.runs_on_as(&end.registers, is_call));
        let has = |(at, bytes): &(Address, Box<[u8]>)| {
            let mut now = vec![0; bytes.len()];
            self.memory().read(*at, &mut now).is_ok() && *now == **bytes
        };
        let ends = is_there && end.memory.iter().all(has);
        if ends {
            if let Some(live) = self.history_live() {
                live.end_turn();
            }
            self.awaits_other_state(at);
            self.remove_site(at, Reason::Turn);
            self.insert_past_sites();
        } else {
            self.passed_other_state(at);
        }
        ends
    }
}
