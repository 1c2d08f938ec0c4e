//! Lets a stub evaluate conditions of breakpoints that get no jump ([`super::jumps`]), so that a thread that need not stop costs no packets.
//!
//! As in a trampoline, the stub decides only "false": where the condition is true or has no value, the thread stops, and everything goes on as at
//! any breakpoint. So hits are counted and messages written here. A breakpoint that anything else than the user waits at has no condition.

use super::Owner;
use super::jumps::NoJump;
use crate::{Address, ThreadId};
use dapple_arch::decision::Truth;

impl Owner {
    /// Threads often pass a site without a stop, and there is no jump in it, because of `refused`: has the stub decide, if it can. Call while all
    /// threads are stopped.
    pub(super) fn leave_to_stub(&mut self, at: Address, refused: NoJump) -> Result<(), NoJump> {
        if !self.process().decides_conditions() {
            return Err(refused);
        }
        let left = self.condition_for_stub(at);
        tracing::debug!(%at, ?left, "a condition for the stub");
        left
    }

    fn condition_for_stub(&mut self, at: Address) -> Result<(), NoJump> {
        let ever = |reason: &str| Err(NoJump::Ever(reason.to_owned()));
        let now = |reason: &str| Err(NoJump::Now(reason.to_owned()));
        let Some(site) = self.site(at) else {
            return ever("the breakpoint is gone");
        };
        let users = site.users();
        if !site.is_only_users() {
            return now("a step needs the place at present");
        }
        let stopped = self.stopped_threads();
        let awaited = |owner: &mut Owner, thread: ThreadId| {
            let mut noted = owner.control(thread).comes_back.iter();
            noted.any(|noted| noted.0 == at)
        };
        if stopped.iter().any(|thread| awaited(self, *thread)) {
            return now("a thread comes to it whose hit was counted already");
        }
        let here = |owner: &mut Owner, thread: ThreadId| {
            owner.registers(thread).is_some_and(|it| it.pc() == at)
        };
        let Some(thread) = stopped.into_iter().find(|thread| here(self, *thread)) else {
            return now("no thread is there");
        };
        let wanted = self.wanted(thread, at, &users).map_err(NoJump::Ever)?;
        if wanted.truth == Truth::Constant(true) {
            return ever("it has no condition");
        }
        if wanted.own_id.is_some() {
            return ever("it has `$thread`");
        }
        let put = self.put_condition_in(at, &wanted.truth, wanted.decides);
        put.map_err(NoJump::Ever)
    }
}
