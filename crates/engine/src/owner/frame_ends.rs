//! Notices the end of stack frames that have watched data or that a temporary breakpoint is limited to: a return, an exception, a panic or
//! a `longjmp` that leaves the frame, or the end of its thread.
//!
//! A site is at the return address of each frame with watched data; a temporary breakpoint has one at its frame's among its own sites. While
//! there is a frame of either kind, the landing hooks have sites, too ([`super::landings`]). When a thread with such a frame comes to a
//! landing hook, the address where the thread will land gets a site.

use super::Owner;
use crate::breakpoints::data::{DataTarget, FrameOnStack};
use crate::breakpoints::site::Reason;
use crate::event::StopReason;
use crate::step;
use crate::{Address, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::unwind;
use dapple_target::memory_map::Mapping;

/// How many frames are searched at most for one in the user's code.
const MOST_FRAMES: usize = 200;

impl Owner {
    fn watched_frames(&self) -> impl Iterator<Item = FrameOnStack> {
        let found = |watch: &super::watching::Watch| watch.found.as_ref()?.frame;
        self.watches.list.iter().filter_map(found)
    }

    /// Inserts sites at the return addresses of frames with watched data. Inserts sites at the landing hooks if there are such frames, or
    /// frames that temporary breakpoints are limited to.
    pub(super) fn watch_frames(&mut self) {
        self.remove_sites(Reason::FrameEnd);
        self.remove_sites(Reason::FrameLeft);
        let frames: Vec<FrameOnStack> = self.watched_frames().collect();
        if frames.is_empty() && self.breakpoints.temporary_frames().next().is_none() {
            return;
        }
        self.insert_landing_hooks(Reason::FrameLeft, "watched frames");
        for frame in frames {
            let address = frame.return_to;
            if let Err(error) = self.insert_site(address, Reason::FrameEnd) {
                tracing::warn!(%address, %error, "the end of a frame can't be noticed");
            }
        }
    }

    /// Whether a thread has frames whose end has to be noticed.
    pub(super) fn has_watched_frames(&self, thread: ThreadId) -> bool {
        self.watched_frames().any(|frame| frame.thread == thread)
            || self.breakpoints.is_awaited_in(thread)
    }

    /// Stops watching the data of frames that a thread has left. Returns the reason to stop for that. `None`: it has left no such frame.
    pub(super) fn frames_ended(&mut self, thread: ThreadId) -> Option<StopReason> {
        if self.is_in_past() {
            // The frame may be made yet, and stands again further back.
            return None;
        }
        let framed =
            |frame: &Option<DataTarget>| frame.as_ref()?.frame.filter(|f| f.thread == thread);
        if !self
            .watches
            .list
            .iter()
            .any(|watch| framed(&watch.found).is_some())
        {
            return None;
        }
        let registers = self.registers(thread)?;
        let framed_all = { self.watches.list.iter() }.filter_map(|watch| framed(&watch.found));
        let left: Vec<Address> = framed_all
            .map(|frame| frame.cfa)
            .filter(|cfa| self.is_left(*cfa, &registers))
            .collect();
        let over =
            |found: &Option<DataTarget>| framed(found).filter(|frame| left.contains(&frame.cfa));
        let frame = self
            .watches
            .list
            .iter()
            .find_map(|watch| over(&watch.found))?;
        if !self.is_one_stack(frame.cfa, Address(registers.sp())) {
            // The thread runs a signal handler or coroutine on another stack: the frame still exists.
            return None;
        }
        let why = match registers.pc() == frame.return_to {
            true => "its function has returned",
            false => "its function was left",
        };
        let ended = self.stop_watching(|watch| over(&watch.found).is_some(), why);
        data_gone(ended)
    }

    /// Whether a thread with these registers has left the frame with a canonical frame address, provided that it runs on the same stack.
    pub(super) fn is_left(&self, cfa: Address, registers: &UserRegisters) -> bool {
        let sp = registers.sp();
        if registers.machine().link().is_none() || sp != cfa.0 {
            return sp >= cfa.0;
        }
        // The caller's stack pointer is where the frame begins. So is the function's own, if it uses no stack.
        let frame = unwind::innermost(registers.to_dwarf(), self.modules(), self.memory());
        frame.cfa.is_none_or(|own| own > cfa)
    }

    /// Whether a thread has frames in the user's own code. If it has none, as after `main` has returned or while the thread ends, a stop
    /// because data is gone would show only a library: then the thread isn't stopped for that, and only the breakpoint's change is reported.
    pub(super) fn leads_to_users(&mut self, thread: ThreadId) -> bool {
        self.frames_now(thread)
            .take(MOST_FRAMES)
            .any(|frame| frame.is_users())
    }

    /// The reason to stop a thread that an exception or jump has taken out of the frames that temporary breakpoints are limited to. `None`:
    /// the thread has left no such frame, or has landed in code that only runs destructors before the exception goes on.
    pub(super) fn temporaries_left(&mut self, thread: ThreadId) -> Option<StopReason> {
        if !self.breakpoints.is_awaited_in(thread) {
            return None;
        }
        let registers = self.registers(thread)?;
        let sp = Address(registers.sp());
        let over = |frame: &FrameOnStack| {
            frame.thread == thread
                && self.is_left(frame.cfa, &registers)
                && self.is_one_stack(frame.cfa, sp)
        };
        let left = self.breakpoints.temporary_frames();
        let left: Vec<i64> = left
            .filter(|(_, frame)| over(frame))
            .map(|(id, _)| id)
            .collect();
        if left.is_empty() || step::only_cleans_up(&self.context(registers)) {
            return None;
        }
        self.breakpoints.spend(&left);
        Some(StopReason::Breakpoint(left))
    }

    /// Whether two addresses are on one stack, as far as the mappings tell.
    pub(super) fn is_one_stack(&self, one: Address, other: Address) -> bool {
        let mappings = self.process().mappings();
        if mappings.is_empty() {
            // Not every stub tells them: then nothing is known of other stacks.
            return true;
        }
        let mut mappings = mappings.iter();
        // A mapping's end counts as within it, since the outermost frame's canonical frame address may be the end of the stack.
        let within = |at: Address, of: &Mapping| (of.start..=of.end).contains(&at.0);
        mappings.any(|mapping| within(one, mapping) && within(other, mapping))
    }

    /// Whether an expression names a variable of the frame, or a part of one, that is at other places (addresses or registers) in other parts
    /// of the function. The expression's first word is taken for the variable's name.
    pub(super) fn has_several_homes(&mut self, text: &str, frame: FrameId) -> bool {
        if text.contains("->") {
            return false;
        }
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let name = text
            .trim()
            .split(|c| !is_name(c))
            .next()
            .unwrap_or_default();
        let Ok(frame) = self.frame(frame) else {
            return false;
        };
        let Some(module) = &frame.physical.module else {
            return false;
        };
        let at = module.to_file(frame.physical.lookup);
        let variables = module.module.variables_at(at, frame.inline_depth);
        let found = variables.iter().rfind(|variable| variable.name == name);
        found.is_some_and(|variable| module.module.has_location_list(variable))
    }

    /// Called when a thread has ended, and all its frames with it. Stops watching their data, and removes the temporary breakpoints that are
    /// limited to them.
    pub(super) fn stack_ended(&mut self, thread: ThreadId) {
        if self.is_in_past() {
            return;
        }
        let temporaries = self.breakpoints.temporary_frames();
        let ended: Vec<i64> = temporaries
            .filter(|(_, frame)| frame.thread == thread)
            .map(|(id, _)| id)
            .collect();
        self.remove_temporaries(|id| ended.contains(&id));
        let on_it = |found: &Option<DataTarget>| {
            found
                .as_ref()
                .and_then(|target| target.frame)
                .is_some_and(|f| f.thread == thread)
        };
        if !self.watches.list.is_empty() {
            self.stop_watching(|watch| on_it(&watch.found), "its thread has ended");
        }
    }
}

pub(super) fn data_gone(ended: Vec<(i64, String)>) -> Option<StopReason> {
    if ended.is_empty() {
        return None;
    }
    let (breakpoints, names) = ended.into_iter().unzip();
    Some(StopReason::DataGone { breakpoints, names })
}
