//! In the past, states amid a repeated string instruction (`rep movsb`).
//!
//! A thread that was interrupted there had done a part of its work. When it is run again, it isn't interrupted: it comes to the instruction's site
//! with all of the work before it. So the part up to the state that is waited for is done here, and the thread put into that state. If it turns out
//! that it was another pass of the instruction, nothing is lost: any thread may be amid it. Of what is watched, the processor has to tell: the thread
//! writes that itself, and comes to the site again behind it.

use super::Owner;
use crate::{Address, ThreadId};
use dapple_arch::instructions::LONGEST;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::repeated::{Part, Repeated, Repeats, repeated};
use dapple_arch::watch_slots::Slot;
use dapple_inspect::inspect::Inspect;
use std::ops::Range;

impl Owner {
    /// The repeated string instruction at an address.
    pub(super) fn repeated_at(&self, at: Address) -> Option<Repeated> {
        let mut code = [0; LONGEST];
        let count = self.memory().read_some(at, &mut code);
        repeated(at, &code[..count])
    }

    /// A thread has come to a site in the past. If it's a repeated instruction's, and a state amid that is waited for to which the thread comes by
    /// repeating it, brings the thread there.
    pub(super) fn repeat_up_to_state(&mut self, thread: ThreadId, at: Address) {
        if let Some((part, registers)) = self.repeats_ahead(thread, at) {
            self.repeat(thread, part, registers);
        }
    }

    /// Whether a thread in the past that is amid a repeated instruction comes to a state that is waited for by repeating it. Then it has to run into
    /// the site: in a copy of the instruction, it would do all of its work.
    pub(super) fn is_amid_repeated(&mut self, thread: ThreadId, at: Address) -> bool {
        self.repeats_ahead(thread, at).is_some()
    }

    /// What a thread at a repeated instruction does up to the state that is waited for there, or up to the first access to watched data; and its
    /// registers behind that.
    fn repeats_ahead(&mut self, thread: ThreadId, at: Address) -> Option<(Repeats, UserRegisters)> {
        if !self.is_in_past() || !self.is_awaited_at(at) {
            return None;
        }
        let instruction = self.repeated_at(at)?;
        let (now, ahead) = self.registers(thread).zip(self.awaited_at(at))?;
        let repeats = instruction.between(&now, &ahead.registers)?;
        // It may be another pass, and there may be much to copy.
        let written = repeats.written();
        let is_same = |(at, bytes): &(Address, Box<[u8]>)| {
            let end = at.offset(bytes.len() as i64);
            let mut now = vec![0; bytes.len()];
            let is_kept = *at >= written.end || end <= written.start;
            !is_kept || self.memory().read(*at, &mut now).is_ok() && *now == **bytes
        };
        if !ahead.memory.iter().all(is_same) {
            return None;
        }
        let watched = self.watched_now();
        let watched = watched.iter().flatten();
        let part = watched.fold(repeats, |part, slot| part.before(&range_of(slot)));
        match part == repeats {
            true => Some((part, ahead.registers)),
            false if part.is_empty() => None,
            false => Some((part, part.after(now))),
        }
    }

    /// Does a part of a repeated instruction's work, behind which the thread has these registers.
    fn repeat(&mut self, thread: ThreadId, part: Repeats, registers: UserRegisters) {
        for Part {
            from,
            to,
            mut bytes,
        } in part.parts()
        {
            let is_read = from.is_none_or(|from| self.memory().read(from, &mut bytes).is_ok());
            if !is_read || self.write_bytes(to, &bytes).is_err() {
                tracing::debug!(%to, "the memory of a repeated instruction is gone");
                return;
            }
        }
        self.set_registers(thread, registers);
    }

    /// A thread of the past has accessed watched data. If that was amid a repeated instruction, and a state amid that is waited for, it comes to the
    /// site again when it runs on.
    pub(super) fn comes_to_repeated_again(&mut self, thread: ThreadId) {
        if !self.is_in_past() {
            return;
        }
        self.leave_copy(thread);
        let Some(now) = self.registers(thread) else {
            return;
        };
        let at = now.pc();
        if !self.is_awaited_at(at) {
            return;
        }
        let Some(instruction) = self.repeated_at(at) else {
            return;
        };
        let is_ahead = self.awaited_at(at).is_some_and(|ahead| {
            let later = &ahead.registers;
            now.runs_on_as(later, false) || instruction.between(&now, later).is_some()
        });
        if is_ahead {
            self.control(thread).passed = None;
        }
    }
}

fn range_of(slot: &Slot) -> Range<Address> {
    Address(slot.address)..Address(slot.address.wrapping_add(slot.length))
}
