//! Decides whether the breakpoints at an address stop a thread that has come there. The other threads run on meanwhile.
//!
//! A hit that doesn't stop the program costs one stop of the thread: wait, get registers, read memory, set registers, resume. Conditions
//! and messages are parsed once for each address, and evaluated in the innermost frame only.

use super::Owner;
use super::breakpoint_calls::{Ask, BACKWARDS, WITHIN_CALL, reason_of};
use crate::breakpoints::condition::Here;
use crate::breakpoints::log::Message;
use crate::breakpoints::model::{Model, Place};
use crate::breakpoints::options::{Act, Rules};
use crate::event::{Logged, StopReason};
use crate::stops::How;
use crate::{Address, Error, Event, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::live::Live;
use dapple_inspect::modules::Modules;
use dapple_target::process::Process;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::sync::Arc;

/// Reads the state of a stopped thread. `registers` is `None` if the thread no longer exists.
pub(super) struct Stopped<'a> {
    pub(super) process: &'a dyn Process,
    pub(super) registers: Option<UserRegisters>,
}

impl Live for Stopped<'_> {
    fn of(&self, thread: ThreadId) -> Option<(UserRegisters, Vec<u8>)> {
        let extended = self.process.extended_state(thread).unwrap_or_default();
        Some((self.registers?, extended))
    }
}

impl Owner {
    /// The site that a thread has run into, if it is sure without asking the kernel for the signal's information: the thread was not
    /// single-stepped, and is one byte after a site with a longer instruction. `None`: not sure, anything may have trapped. Moves the thread
    /// back to the site; the kernel gets the corrected instruction pointer only once it is known how the thread goes on.
    pub(super) fn ran_into(&mut self, thread: ThreadId) -> Option<Address> {
        if self.last_run(thread) != How::Continue || self.process().moves_back() {
            return None;
        }
        let mut registers = self.registers(thread)?;
        let trap = registers.pc().offset(-1);
        let at = match self.site_asking(thread, trap) {
            Some(site) => site,
            None if self.memory.is_unmistakable(trap) => trap,
            None => return None,
        };
        self.set_back(&mut registers, at);
        let control = self.control(thread);
        control.registers = Some(registers);
        control.unwritten = true;
        Some(at)
    }

    /// Writes a thread's registers to the kernel, if a change was noted that the kernel doesn't have yet.
    pub(super) fn write_back(&mut self, thread: ThreadId) {
        if let Some(registers) = self.unwritten_registers(thread) {
            self.set_registers(thread, registers);
        }
    }

    /// Why a thread that has come to `address` stops there. `None`: none of the user's breakpoints there, `users`, stops it. If one needs an
    /// inferior call first and no other stops the thread, the reason is a placeholder ([`StopReason::undecided_yet`]). Counts hits and
    /// writes messages, so call it only once each time that a thread comes there.
    pub(super) fn due(
        &mut self,
        thread: ThreadId,
        address: Address,
        users: &[i64],
    ) -> Option<StopReason> {
        if users.is_empty() {
            return None;
        }
        self.tell_logged();
        // No registers: the thread has died; its exit event follows.
        let kernels = self.registers(thread)?;
        self.take_counts_over();
        let asks = &mut self.control(thread).asks;
        asks.retain(|ask| matches!(ask, Ask::Access(_)));
        let mut stopping = Vec::new();
        let mut why: Option<String> = None;
        for &id in users {
            if !self.admits(id, thread, address) {
                continue;
            }
            let decided = self.act(thread, kernels, id, address, None);
            self.acted(id, thread, decided, &mut stopping, &mut why);
        }
        self.breakpoints.spend(&stopping);
        let asks = !self.control(thread).asks.is_empty();
        let undecided = asks.then(StopReason::undecided_yet);
        let reason = reason_of(stopping, why).or(undecided);
        if reason.is_none() {
            self.passed_site(thread, address, kernels.sp());
        }
        reason
    }

    /// The breakpoints that don't just stop, each with how often its condition has held.
    pub(super) fn deciding_breakpoints(&mut self) -> Vec<(i64, u64)> {
        let ids = self.breakpoints.deciding().into_iter();
        let counted = ids.map(|id| (id, self.rules(id).map_or(0, |rules| rules.count())));
        counted.collect()
    }

    /// How often the condition of each breakpoint in code has held.
    pub(super) fn counts_in_code(&self) -> FxHashMap<i64, u64> {
        self.breakpoints.counts().collect()
    }

    /// Whether a breakpoint in code acts on some of its hits only.
    pub(super) fn counts_hits_in_code(&self) -> bool {
        self.breakpoints.counts_hits()
    }

    /// From now on, so many hits of each were before.
    pub(super) fn count_in_code_from(&mut self, count: impl Fn(i64) -> u64) {
        self.breakpoints.count_from(count);
    }

    /// The options of a user's breakpoint, with its count of hits.
    pub(super) fn rules(&mut self, id: i64) -> Option<&mut Rules> {
        self.breakpoints.rules(id)
    }

    /// What a breakpoint does with a thread that has come to it. `kernels`: the thread's registers. `holds`: the condition's value, if it
    /// was evaluated by inferior calls.
    pub(super) fn act(
        &mut self,
        thread: ThreadId,
        kernels: UserRegisters,
        id: i64,
        address: Address,
        holds: Option<Result<bool, Error>>,
    ) -> (Act, Option<Place>) {
        let passes = self.memory.trampolines.passes_of(id);
        self.looking(thread, kernels, |breakpoints, modules, here| {
            breakpoints.decide(id, address, modules, here, holds, passes.as_deref())
        })
    }

    /// Calls `ask` with the user's breakpoints, and with what describes a stopped thread to them. `kernels`: the thread's registers.
    pub(super) fn looking<T>(
        &mut self,
        thread: ThreadId,
        kernels: UserRegisters,
        ask: impl for<'a> FnOnce(&mut Model, &Modules, &dyn Fn(&Place) -> Here<'a>) -> T,
    ) -> T {
        let process = self.memory.process();
        let live = Stopped {
            process,
            registers: Some(kernels),
        };
        let registers = kernels.to_dwarf();
        let vectors = || process.vectors(thread).ok().map(Arc::new);
        let (modules, known, memory) = (&self.modules, &self.known, &self.memory);
        let here = |place: &Place| Here {
            thread,
            registers,
            vectors: &vectors,
            live: &live,
            not_entered: place.not_entered,
            modules,
            known,
            memory,
            frame: OnceCell::new(),
        };
        ask(&mut self.breakpoints, modules, &here)
    }

    /// Does what was decided for a breakpoint. If it stops the thread, adds its id to `stopping`. If its condition can't be evaluated, it
    /// stops the thread, and `why` gets the reason unless it has one. If it needs an inferior call, notes that for the thread. During another
    /// inferior call that can't be: a condition then counts as one that can't be evaluated, and the reason is written in place of a message.
    pub(super) fn acted(
        &mut self,
        id: i64,
        thread: ThreadId,
        (act, place): (Act, Option<Place>),
        stopping: &mut Vec<i64>,
        why: &mut Option<String>,
    ) {
        match act {
            Act::GoOn => {}
            Act::Stop => stopping.push(id),
            Act::Log(_) | Act::LogCalling
                if self.is_travelling() || self.is_running_backwards() => {}
            Act::Log(Message { text, values }) => self.tell(Event::Logged(Logged {
                breakpoint: id,
                thread,
                position: place.and_then(|place| place.position),
                text,
                values,
            })),
            Act::Undecided(reason) => {
                stopping.push(id);
                why.get_or_insert(reason);
            }
            Act::Call if self.is_running_backwards() => {
                stopping.push(id);
                why.get_or_insert(format!("its condition can't be evaluated: {BACKWARDS}"));
            }
            Act::Call if self.is_calling() => {
                stopping.push(id);
                why.get_or_insert(format!("its condition can't be evaluated: {WITHIN_CALL}"));
            }
            Act::Call => self.control(thread).asks.push(Ask::Condition(id)),
            Act::LogCalling if self.is_calling() => self.tell(Event::Logged(Logged {
                breakpoint: id,
                thread,
                position: place.and_then(|place| place.position),
                text: format!("the log message can't be written: {WITHIN_CALL}"),
                values: Vec::new(),
            })),
            Act::LogCalling => self.control(thread).asks.push(Ask::Message(id)),
        }
    }
}
