//! Handles accesses to watched data (watchpoint hits).
//!
//! The processor traps after the accessing instruction. What the access did is found by comparing the value with its bytes at the
//! previous access.

use super::Owner;
use super::breakpoint_calls::{Ask, WITHIN_CALL};
use super::breakpoint_hits::Stopped;
use super::frame_ends::data_gone;
use super::watching::bytes_of;
use crate::Address;
use crate::ThreadId;
use crate::breakpoints::condition::Here;
use crate::breakpoints::data::{Access, DataHit, DataTarget};
use crate::breakpoints::options::Act;
use crate::event::StopReason;
use dapple_arch::registers::Registers;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::watch_slots::{HITS, SINGLE_STEP};
use dapple_inspect::inspect::Inspect;
use dapple_inspect::values::Contents;
use dapple_symbols::functions::SourcePosition;
use std::cell::OnceCell;
use std::sync::Arc;

impl Owner {
    /// A thread has trapped. `true`: a debug register was hit, and the trap is handled. `false`: none was hit, or a single step has ended
    /// with the same trap and the access stops nothing; the caller handles the trap.
    pub(super) fn accessed(&mut self, thread: ThreadId) -> bool {
        if self.control(thread).watched == 0 {
            return false;
        }
        let Ok(status) = self.process().take_watch_status(thread) else {
            return false;
        };
        if status & HITS == 0 {
            return false;
        }
        if self.is_running_backwards() {
            self.accessed_backwards(thread);
            return true;
        }
        self.comes_to_repeated_again(thread);
        if self.searched_data().is_some() {
            self.wrote_searched(thread, Some(status & HITS));
            return true;
        }
        if self.is_travelling()
            && let Some(registers) = self.registers(thread)
        {
            self.note_pass(registers.pc());
        }
        self.return_is_read(thread, status & HITS);
        self.state_is_touched(thread, status & HITS);
        if let Some(reason) = self.judge_accesses(thread, status & HITS) {
            self.leave_copy(thread);
            self.report(thread, reason);
            return true;
        }
        if status & SINGLE_STEP != 0 {
            // A single step has ended with the same trap.
            return false;
        }
        self.release(thread);
        true
    }

    /// For a thread that was stepped while no other ran: the reason to stop for the accesses of that step, if any. Unlike
    /// [`Owner::accessed`], neither reports it nor resumes the thread.
    pub(super) fn hits(&mut self, thread: ThreadId) -> Option<StopReason> {
        if self.control(thread).watched == 0 {
            return None;
        }
        let status = self.process().take_watch_status(thread).ok()?;
        if self.searched_data().is_some() {
            let goes_on = status & HITS == 0 || self.counts_write(thread, Some(status & HITS));
            return (!goes_on).then_some(StopReason::Step);
        }
        self.return_is_read(thread, status & HITS);
        self.state_is_touched(thread, status & HITS);
        self.judge_accesses(thread, status & HITS)
    }

    /// The debugger has emulated an instruction, whose accesses the debug registers don't see. A call writes the return address, which may
    /// be watched data. A return reads it, which a step may wait for.
    pub(super) fn emulated(
        &mut self,
        thread: ThreadId,
        before: UserRegisters,
        after: UserRegisters,
    ) {
        self.return_is_emulated(thread, before, after);
        if after.sp() != before.sp().wrapping_sub(8) {
            return;
        }
        let written = after.sp()..after.sp() + 8;
        let searched = self.searched_data();
        let slots = searched.as_ref().unwrap_or(self.watches.table.slots());
        let touched = slots.iter().enumerate().filter(|(_, slot)| {
            slot.is_some_and(|s| s.address < written.end && written.start < s.address + s.length)
        });
        let mask = touched.fold(0, |mask, (index, _)| mask | 1 << index);
        if mask == 0 {
            return;
        }
        if searched.is_some() {
            if !self.counts_write(thread, Some(mask)) {
                self.stop_all();
            }
        } else if let Some(reason) = self.judge_accesses(thread, mask) {
            self.report(thread, reason);
        }
    }

    /// The reason to stop for accesses that these debug registers have caught (`registers` has a bit for each), if any.
    pub(super) fn judge_accesses(
        &mut self,
        thread: ThreadId,
        registers: u64,
    ) -> Option<StopReason> {
        self.judge(thread, Some(registers))
    }

    /// In the past: the reason to stop for what a system call of a thread has written or mapped, if any. Only changes are seen of that.
    pub(super) fn judge_call(&mut self, thread: ThreadId) -> Option<StopReason> {
        self.judge(thread, None)
    }

    /// `registers`: the debug registers that have caught an access; `None`: a system call may have changed something.
    fn judge(&mut self, thread: ThreadId, registers: Option<u64>) -> Option<StopReason> {
        let mut hits: Vec<(usize, Vec<u8>)> = Vec::new();
        for (index, watch) in self.watches.list.iter_mut().enumerate() {
            if registers.is_some_and(|all| self.watches.table.mask(&watch.slots) & all == 0) {
                continue;
            }
            let Some(target) = &watch.found else { continue };
            let now = bytes_of(&self.memory, target);
            let changed = now != watch.last;
            let old = std::mem::replace(&mut watch.last, now);
            let counts = match watch.wanted.access {
                Access::Change => changed,
                Access::Read => !changed && registers.is_some(),
                Access::Write | Access::ReadWrite => changed || registers.is_some(),
            };
            if counts {
                hits.push((index, old));
            }
        }
        if self.is_in_past() {
            // A copy may run code from before the frame was made: what is written there then belongs to others.
            hits.retain(|(index, _)| {
                let found = self.watches.list[*index].found.as_ref();
                let frame = found.and_then(|target| target.frame);
                frame.is_none_or(|frame| self.frame_stands(&frame))
            });
        } else if let Some(ended) = self.without_left_frames(&mut hits)
            && hits.is_empty()
        {
            return data_gone(ended);
        }
        if hits.is_empty() {
            return None;
        }
        let hits = self.due_accesses(thread, hits);
        if hits.is_empty() {
            return None;
        }
        self.leave_copy(thread);
        let position = self
            .registers(thread)
            .and_then(|r| self.statement_before(r.pc()));
        let hit = |(index, old, act): Hit| {
            let watch = &self.watches.list[index];
            let target = watch.found.as_ref()?;
            let asks = act == Act::Call;
            let undecided = match act {
                Act::Undecided(why) => Some(why),
                _ => None,
            };
            let hit = DataHit {
                breakpoint: watch.id,
                name: target.name.clone(),
                access: watch.wanted.access,
                old: (old != watch.last).then(|| self.shown(target, &old)),
                new: self.shown(target, &watch.last),
                undecided,
                position: position.clone(),
            };
            Some((hit, asks))
        };
        let hits: Vec<(DataHit, bool)> = hits.into_iter().filter_map(hit).collect();
        let (asking, due): (Vec<_>, Vec<_>) = hits.into_iter().partition(|(_, asks)| *asks);
        let asking = asking.into_iter();
        let asks = asking.map(|(hit, _)| Ask::Access(Box::new(hit)));
        self.control(thread).asks.extend(asks);
        Some(match due.is_empty() {
            true => StopReason::undecided_yet(),
            false => StopReason::Data(due.into_iter().map(|(hit, _)| hit).collect()),
        })
    }

    /// Removes the hits of data in frames that an exception or a jump has left, or whose thread has ended, and stops watching that data. Returns
    /// the ids and names of these breakpoints, if there are any. The places of the other hits in the list of watches are brought up to date.
    fn without_left_frames(
        &mut self,
        hits: &mut Vec<(usize, Vec<u8>)>,
    ) -> Option<Vec<(i64, String)>> {
        let mut gone = Vec::new();
        hits.retain(|(index, _)| {
            let watch = &self.watches.list[*index];
            let frame = watch.found.as_ref().and_then(|target| target.frame);
            let stands = frame.is_none_or(|frame| self.frame_stands(&frame));
            if !stands {
                gone.push(watch.id);
            }
            stands
        });
        if gone.is_empty() {
            return None;
        }
        let ids: Vec<i64> = hits
            .iter()
            .map(|(at, _)| self.watches.list[*at].id)
            .collect();
        let ended = self.stop_watching(|watch| gone.contains(&watch.id), "its function was left");
        let list = &self.watches.list;
        let now = ids
            .iter()
            .map(|id| list.iter().position(|watch| watch.id == *id));
        let kept = now.zip(std::mem::take(hits));
        *hits = kept.filter_map(|(at, (_, old))| Some((at?, old))).collect();
        Some(ended)
    }

    /// The accesses that stop the thread by the breakpoints' conditions and hit counts, and those about which an inferior call has yet to
    /// decide.
    fn due_accesses(&mut self, thread: ThreadId, hits: Vec<(usize, Vec<u8>)>) -> Vec<Hit> {
        let watches = &self.watches.list;
        let simple = hits
            .iter()
            .all(|(index, _)| watches[*index].rules.look_at_nothing());
        if !simple {
            // Symbols don't cover copied instructions.
            self.leave_copy(thread);
        }
        let registers = match simple {
            true => None,
            false => self.registers(thread),
        };
        let process = self.memory.process();
        let vectors = || process.vectors(thread).ok().map(Arc::new);
        let here = Here {
            thread,
            registers: registers.map_or(Registers::of(process.machine()), |r| r.to_dwarf()),
            vectors: &vectors,
            live: &Stopped { process, registers },
            not_entered: 0,
            modules: &self.modules,
            known: &self.known,
            memory: &self.memory,
            frame: OnceCell::new(),
        };
        let mut due = Vec::new();
        for (index, old) in hits {
            let rules = &mut self.watches.list[index].rules;
            let act = match rules.look_at_nothing() {
                true => rules.count_hit(None),
                false => rules.decide(&here, None, None),
            };
            match act {
                Act::GoOn | Act::Log(_) | Act::LogCalling => {}
                Act::Call if self.is_calling() => {
                    let why = format!("its condition can't be evaluated: {WITHIN_CALL}");
                    due.push((index, old, Act::Undecided(why)));
                }
                Act::Stop | Act::Undecided(_) | Act::Call => due.push((index, old, act)),
            }
        }
        due
    }

    /// The statement of the instruction that ends at `pc`. Wrong if a jump or call has made the access: that instruction is elsewhere.
    pub(super) fn statement_before(&self, pc: Address) -> Option<SourcePosition> {
        let module = self.modules().at(pc)?;
        let row = module.module.row_at(module.to_file(pc.offset(-1)))?;
        (row.line != 0).then_some(SourcePosition {
            file: row.file,
            line: row.line,
            column: row.column,
        })
    }

    pub(super) fn shown(&self, target: &DataTarget, bytes: &[u8]) -> String {
        match &target.value {
            Some(value) => {
                let contents = Contents::Bytes(bytes.into());
                let mut value = value.clone();
                value.contents = contents;
                self.reader().render(&value).text
            }
            None => in_hexadecimal(bytes),
        }
    }
}

/// A watch's index, its previous bytes, and the decision: stop, stop undecided, or make an inferior call first.
type Hit = (usize, Vec<u8>, Act);

/// The bytes as one number if they have a number's size, otherwise one by one.
fn in_hexadecimal(bytes: &[u8]) -> String {
    match bytes.len() {
        1 | 2 | 4 | 8 => {
            let number = bytes
                .iter()
                .rev()
                .fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
            format!("{number:#0width$x}", width = 2 + 2 * bytes.len())
        }
        _ => bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<Vec<_>>()
            .join(" "),
    }
}
