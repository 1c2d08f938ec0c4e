//! Single steps by breakpoints: where the stub has none, and where a processor's step would keep an exclusive store from ever succeeding
//! ([`dapple_arch::successors`]).
//!
//! The thread runs to breakpoints at all places where it may be next. The engine knows nothing of these breakpoints. Other threads that are to run do so
//! meanwhile, since the thread may wait for them in the kernel. If one of them comes to such a breakpoint first, it makes a step, too, while the thread
//! whose breakpoint it is stands still.

use super::{Cause, Link, code, says_breakpoint};
use crate::ThreadId;
use crate::process::Resume as How;
use crate::wait_event::{WaitEvent, What};
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::successors::{Successor, behind_exclusive, successors};
use dapple_arch::{Address, Machine, code as instructions};
use dapple_gdb_remote::stop_reply::Stop;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What a thread has come to that has stopped at a breakpoint of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The end of its own step.
    Stepped,
    /// A breakpoint that is none of the engine's: it runs on.
    Passing,
}

/// A step that is being made.
#[derive(Debug, Clone)]
struct Step {
    from: u64,
    places: Vec<u64>,
    /// It is made in the kernel: before it has ended, the thread's program counter may be where it ends already.
    is_call: bool,
}

/// The steps that are made by breakpoints.
#[derive(Debug, Default)]
pub(super) struct SoftwareSteps {
    /// The stub was asked for a step, and doesn't know the packet.
    are_refused: bool,
    now: BTreeMap<ThreadId, Step>,
    /// Where threads have begun that step at the same time by the stub's steps.
    beside: BTreeMap<ThreadId, u64>,
    /// The breakpoints that were inserted for steps: those that the engine hasn't, or has with the condition that is kept here.
    inserted: BTreeMap<u64, Option<Vec<u8>>>,
    ended: Option<(ThreadId, End)>,
    /// Threads that have come to a breakpoint of others' steps, each with those others.
    passing: BTreeMap<ThreadId, Vec<ThreadId>>,
    /// Threads that make a step now to get past such a breakpoint, and aren't to stop behind it.
    led: BTreeSet<ThreadId>,
    /// Steps of calls of the kernel that have not ended.
    calls: BTreeMap<ThreadId, Step>,
    /// Places of instructions that the processor can step over.
    plain: BTreeSet<u64>,
}

impl SoftwareSteps {
    /// Memory has changed, and with it perhaps code.
    pub(super) fn code_changed(&mut self) {
        self.plain.clear();
    }
}

impl Link {
    /// Whether the stub has no single steps, as far as that is known.
    fn lacks_steps(&self) -> bool {
        self.software_steps.are_refused || self.client.has_steps() == Some(false)
    }

    /// Whether the stub's refusal of the last packet means that it has no steps. Then it is asked again, without steps.
    pub(super) fn lacks_steps_after_all(&mut self) -> bool {
        let steps = { self.schedule.threads() }.any(|thread| self.schedule.steps(thread));
        let is_new = steps && !self.lacks_steps();
        if is_new {
            self.software_steps.are_refused = true;
            self.schedule.rests();
        }
        is_new
    }

    /// Has threads make a step that have come to a breakpoint of others' steps; these others don't run now. `false`: there are none.
    pub(super) fn leads_past(&mut self, wishes: &mut Vec<(ThreadId, How, i32)>) -> bool {
        let mut passing = std::mem::take(&mut self.software_steps.passing);
        passing.retain(|thread, _| wishes.iter().any(|(wish, ..)| wish == thread));
        self.software_steps.led.clear();
        if passing.is_empty() {
            return false;
        }
        let waits = |thread: &ThreadId| {
            let mut of_others = passing.iter().filter(|(led, _)| *led != thread);
            of_others.any(|(_, others)| others.contains(thread))
        };
        wishes.retain(|(thread, ..)| passing.contains_key(thread) || !waits(thread));
        for (thread, how, _) in wishes {
            if passing.contains_key(thread) && *how != How::Step {
                *how = How::Step;
                self.software_steps.led.insert(*thread);
            }
        }
        true
    }

    /// Inserts breakpoints for the steps that are made by them: those threads are continued.
    pub(super) fn begin_software_steps(
        &mut self,
        wishes: &mut [(ThreadId, How, i32)],
    ) -> io::Result<()> {
        self.software_steps.beside.clear();
        for (thread, how, _) in wishes.iter_mut() {
            match how {
                How::Step if self.is_software_step(*thread)? => *how = How::Continue,
                How::Step => {}
                _ => {
                    self.software_steps.calls.remove(thread);
                }
            }
        }
        if self.software_steps.inserted.is_empty() {
            return Ok(());
        }
        for (thread, how, _) in wishes {
            if *how == How::Step {
                let from = self.general(*thread)?.pc().0;
                self.software_steps.beside.insert(*thread, from);
            }
        }
        Ok(())
    }

    /// Whether a thread's step is made by breakpoints. They are inserted then.
    pub(super) fn is_software_step(&mut self, thread: ThreadId) -> io::Result<bool> {
        let lacks_steps = self.lacks_steps();
        let has_exclusive = self.layout.machine() != Machine::X86_64;
        if !lacks_steps && !has_exclusive {
            return Ok(false);
        }
        let registers = self.general(thread)?;
        let from = registers.pc().0;
        if !lacks_steps && self.software_steps.plain.contains(&from) {
            return Ok(false);
        }
        let Some((step, places)) = self.step_from(thread, &registers, lacks_steps)? else {
            self.software_steps.plain.insert(from);
            return Ok(false);
        };
        let before: BTreeSet<u64> = self.software_steps.inserted.keys().copied().collect();
        for place in places {
            if let Err(error) = self.insert_for_step(place) {
                self.remove_breakpoints_of_steps_but(&before);
                return match lacks_steps {
                    true => Err(error),
                    false => Ok(false),
                };
            }
        }
        self.software_steps.now.insert(thread, step);
        Ok(true)
    }

    /// The step that a thread makes, and the places where it may end. `None`: the stub can make it.
    fn step_from(
        &mut self,
        thread: ThreadId,
        registers: &UserRegisters,
        lacks_steps: bool,
    ) -> io::Result<Option<(Step, Vec<Successor>)>> {
        let from = registers.pc();
        let set = registers.instruction_set();
        if let Some(call) = self.software_steps.calls.remove(&thread)
            && call.places.contains(&from.0)
        {
            // The kernel has yet to let the thread go on.
            let place = Successor { address: from, set };
            return Ok(Some((call, vec![place])));
        }
        let mut read = |at: Address, buffer: &mut [u8]| self.read(at.0, buffer);
        let found = match lacks_steps {
            true => successors(registers, &mut read),
            false => behind_exclusive(registers, &mut read),
        };
        match found {
            Some(found) => {
                let mut code = [0; 4];
                let count = self.read(from.0, &mut code);
                let decoded = instructions::decode(set, &code[..count], from);
                let step = Step {
                    from: from.0,
                    places: found.iter().map(|it| it.address.0).collect(),
                    is_call: decoded.is_some_and(|it| it.flow == instructions::Flow::Kernel),
                };
                Ok(Some((step, found)))
            }
            None if lacks_steps => Err(io::Error::other(format!(
                "the stub has no single steps, and it isn't known where the instruction at {from} leads"
            ))),
            None => Ok(None),
        }
    }

    fn insert_for_step(&mut self, place: Successor) -> io::Result<()> {
        let Successor { address, set } = place;
        let condition = self.breakpoints.get(&address.0).cloned();
        let is_there = condition.as_ref().is_some_and(Vec::is_empty);
        if is_there || self.software_steps.inserted.contains_key(&address.0) {
            return Ok(());
        }
        // Where nothing can be read, the thread faults before a breakpoint.
        if self.read(address.0, &mut [0]) == 0 {
            return Ok(());
        }
        if self.layout.machine() == Machine::Arm {
            self.instruction_sets.insert(address.0, set);
        }
        let stub_has = self.removed.remove(&address.0);
        if stub_has != Some(Vec::new()) {
            self.send_all_removed();
            self.send_inserted(address.0, &[])?;
        }
        self.software_steps.inserted.insert(address.0, condition);
        Ok(())
    }

    /// Whether a breakpoint is there for a step.
    pub(super) fn has_breakpoint_of_step(&self, address: u64) -> bool {
        self.software_steps.inserted.contains_key(&address)
    }

    /// The process has stopped: takes the breakpoints of steps out, and notes whose steps have ended.
    pub(super) fn end_software_steps(&mut self, stop: &Stop) {
        self.software_steps.ended = None;
        let steps = std::mem::take(&mut self.software_steps.now);
        if self.software_steps.inserted.is_empty() && steps.is_empty() {
            return;
        }
        let told = match stop.thread {
            Some(thread) => self.ids.known(thread),
            None => steps.keys().next().copied(),
        };
        let is_trap = self.of_stub(stop.signal) == libc::SIGTRAP
            && (stop.reason.is_none() || says_breakpoint(stop));
        let at = told.filter(|thread| is_trap && self.is_at_breakpoint(*thread));
        let of_steps = self.remove_breakpoints_of_steps();
        if let Some(thread) = at
            && let Ok(registers) = self.general(thread)
        {
            let pc = registers.pc().0;
            let end = self.end_of_step(thread, pc, &steps, &of_steps);
            self.software_steps.ended = end.map(|end| (thread, end));
        }
        for (thread, step) in steps {
            if at != Some(thread) {
                self.end_beside(thread, step, told);
            }
        }
    }

    /// What a thread has come to that has stopped at a breakpoint.
    fn end_of_step(
        &mut self,
        thread: ThreadId,
        pc: u64,
        steps: &BTreeMap<ThreadId, Step>,
        of_steps: &BTreeSet<u64>,
    ) -> Option<End> {
        let own = steps.get(&thread);
        let is_own = own.is_some_and(|step| step.places.contains(&pc));
        let beside = self.software_steps.beside.get(&thread);
        let has_stepped = is_own || beside.is_some_and(|from| *from != pc);
        if has_stepped && self.schedule.steps(thread) {
            return Some(End::Stepped);
        }
        if !of_steps.contains(&pc) {
            return None;
        }
        if !is_own {
            let others = steps.iter().filter(|(_, step)| step.places.contains(&pc));
            let others = others.map(|(other, _)| *other).collect();
            self.software_steps.passing.insert(thread, others);
        }
        Some(End::Passing)
    }

    /// A thread's step is cut off by another's stop, or by one of its own for something else. It may have ended at the same moment, which the stub
    /// doesn't tell any more.
    fn end_beside(&mut self, thread: ThreadId, step: Step, told: Option<ThreadId>) {
        if step.is_call {
            self.software_steps.calls.insert(thread, step);
            return;
        }
        if told == Some(thread) || !self.schedule.steps(thread) {
            return;
        }
        let Ok(registers) = self.general(thread) else {
            return;
        };
        let pc = registers.pc().0;
        if pc == step.from || !step.places.contains(&pc) {
            return;
        }
        let cause = Cause {
            signal: libc::SIGTRAP,
            code: code::STEP,
            hits: 0,
        };
        self.causes.insert(thread, cause);
        self.schedule.also_stopped(WaitEvent {
            thread,
            what: What::Signal(libc::SIGTRAP),
        });
    }

    /// Takes the breakpoints of steps out, and returns where the engine has none.
    pub(super) fn remove_breakpoints_of_steps(&mut self) -> BTreeSet<u64> {
        self.software_steps.now.clear();
        self.remove_breakpoints_of_steps_but(&BTreeSet::new())
    }

    fn remove_breakpoints_of_steps_but(&mut self, kept: &BTreeSet<u64>) -> BTreeSet<u64> {
        let inserted = std::mem::take(&mut self.software_steps.inserted);
        let mut removed = BTreeSet::new();
        for (address, condition) in inserted {
            match condition {
                condition if kept.contains(&address) => {
                    self.software_steps.inserted.insert(address, condition);
                }
                // The engine's breakpoint stays, with its condition.
                Some(condition) => {
                    let _ = self.send_inserted(address, &condition);
                }
                None => {
                    self.removed.insert(address, Vec::new());
                    removed.insert(address);
                }
            }
        }
        removed
    }

    /// What a thread has come to that has just stopped, if that is of a step.
    pub(super) fn take_end_of_software_step(&mut self, thread: ThreadId) -> Option<End> {
        let (_, end) = self.software_steps.ended.take_if(|(it, _)| *it == thread)?;
        Some(end)
    }

    /// Whether a thread has just made a step by which it was led past a breakpoint. `says_breakpoint`: the stub says that it is at one.
    pub(super) fn was_led(&mut self, thread: ThreadId, says_breakpoint: bool) -> bool {
        self.software_steps.led.remove(&thread)
            && !says_breakpoint
            && !self.is_at_breakpoint(thread)
    }
}
