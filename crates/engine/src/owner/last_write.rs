//! Who wrote this? The last write of data before the present stop: a search in the past that the client doesn't see, because the session
//! shows the same stop afterwards.
//!
//! The copies that the search runs have their debug registers set for the data, in place of the user's data breakpoints. What system calls write
//! is known from the journal. For data on the stack, the word with the frame's return address is watched, too: the call that has written it has
//! made the frame, and what was written there before belonged to other variables.

use super::Owner;
use super::travel::{Goal, Travel};
use super::watching::bytes_of;
use crate::breakpoints::data::{DataPlace, DataTarget};
use crate::{Address, Error, ThreadId};
use dapple_arch::watch_slots::{SLOTS, Slot, pieces};
use dapple_inspect::inspect::Inspect;
use dapple_symbols::functions::SourcePosition;
use dapple_target::linux::alarm::Alarm;
use std::sync::Arc;
use std::time::Duration;

/// The most frames that are kept of the thread that wrote.
const MOST_FRAMES: usize = 64;
/// The longest time between two looks whether the search is cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Stands for the version of the table of watched data, while a search has its own. No table gets that far.
pub(super) const SEARCHED: u32 = u32::MAX;

/// Polled during a search; `true` ends it.
pub(crate) type Cancelled = Arc<dyn Fn() -> bool + Send + Sync>;

/// How a variable got the value that it has.
#[derive(Debug, Clone)]
pub enum LastWrite {
    /// It was written.
    By(Box<Write>),
    /// It is a variable on the stack that nothing has written since its function was called.
    NotSinceCall,
    /// Nothing has written it since the recording began.
    NotSinceBeginning,
}

/// A write of data, in the past.
#[derive(Debug, Clone)]
pub struct Write {
    /// What was written, as shown to the user.
    pub name: String,
    /// The thread that wrote it.
    pub thread: ThreadId,
    /// The value before. `None`: it had none, because its function had just been called.
    pub before: Option<String>,
    /// The value after. The same if the write changed nothing.
    pub after: String,
    /// The system call that wrote it, if one did.
    pub system_call: Option<String>,
    /// The thread's stack, the innermost frame first.
    pub stack: Vec<WriteFrame>,
    /// The bookmark of this moment. `None`: it couldn't be kept.
    pub bookmark: Option<u32>,
}

/// A function on the stack of a thread that wrote.
#[derive(Debug, Clone)]
pub struct WriteFrame {
    /// Its name; `None` if it isn't known.
    pub function: Option<String>,
    /// Where it was. That of the innermost function is the statement that wrote.
    pub position: Option<SourcePosition>,
    /// Whose code its source is, unless it is the user's.
    pub origin: Option<String>,
    /// Where it goes on.
    pub address: Address,
}

/// The search for a write.
#[derive(Debug)]
pub(super) struct Wanted {
    target: DataTarget,
    slots: Vec<Slot>,
    /// The word that a call has written which has made the frame, if it is watched.
    call: Option<Slot>,
    /// The bytes when they were last looked at.
    last: Vec<u8>,
    /// A write that ends where the search ends is before that: at a stop, it is; at a bookmark of a write, it is the one that is known.
    counts_last: bool,
    /// The last write was this call.
    is_call: bool,
    /// The one before was this call.
    is_first: bool,
    outcome: Option<Outcome>,
}

/// How a search for a write has ended.
#[derive(Debug)]
enum Outcome {
    /// The thread that is shown has just written. The bytes before.
    Found {
        thread: ThreadId,
        before: Vec<u8>,
        by_kernel: bool,
    },
    Beginning,
    Failed(String),
}

impl Wanted {
    fn new(target: DataTarget, counts_last: bool) -> Wanted {
        let slots = pieces(target.address.0, target.length, false, true);
        let call = target.frame.filter(|_| slots.len() < SLOTS);
        let call = call.map(|frame| Slot {
            address: frame.cfa.0.wrapping_sub(8) & !7,
            length: 8,
            reads: false,
        });
        Wanted {
            target,
            slots,
            call: call.filter(|call| call.address != 0),
            last: Vec::new(),
            counts_last,
            is_call: false,
            is_first: false,
            outcome: None,
        }
    }

    /// What the debug registers are set to, and by that order, what each bit of the hits means.
    fn registers(&self) -> [Option<Slot>; SLOTS] {
        let mut all = self.slots.iter().chain(&self.call).copied();
        std::array::from_fn(|_| all.next())
    }

    /// Whether one of the registers in a mask watches the data; else they watch the word with the return address.
    fn is_data(&self, hits: u64) -> bool {
        hits & ((1 << self.slots.len()) - 1) != 0
    }

    pub(super) fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// The search has come to the beginning of the recording.
    pub(super) fn nothing_found(&mut self) {
        self.outcome = Some(Outcome::Beginning);
    }

    /// The search can't go on.
    pub(super) fn failed(&mut self, why: String) {
        self.outcome = Some(Outcome::Failed(why));
    }
}

impl Owner {
    /// Finds the last write of data before the present stop, or before a bookmark.
    pub(crate) fn last_write(
        &mut self,
        place: DataPlace,
        length: Option<u64>,
        before: Option<u32>,
        cancelled: Option<&Cancelled>,
    ) -> Result<LastWrite, Error> {
        self.require_stopped()?;
        self.require_history()?;
        let target = self.data_target(place, length)?;
        let mut write = match self.find_write(&target, before, cancelled)? {
            LastWrite::By(write) => write,
            nothing => return Ok(nothing),
        };
        if write.before.is_some()
            && target.frame.is_some()
            && let Some(bookmark) = write.bookmark
        {
            // What was there before is no value of this variable, if the call comes before that.
            let known = self.all_bookmarks();
            match self.find_write(&target, Some(bookmark), cancelled)? {
                LastWrite::NotSinceCall => write.before = None,
                LastWrite::By(earlier) => {
                    // Nobody has asked for this one yet.
                    let mut new = earlier.bookmark.into_iter();
                    if let Some(new) = new.find(|it| known.iter().all(|old| old.number != *it)) {
                        self.remove_bookmark(new)?;
                    }
                }
                LastWrite::NotSinceBeginning => {}
            }
        }
        Ok(LastWrite::By(write))
    }

    fn find_write(
        &mut self,
        target: &DataTarget,
        before: Option<u32>,
        cancelled: Option<&Cancelled>,
    ) -> Result<LastWrite, Error> {
        let thread = self.current();
        let wanted = Box::new(Wanted::new(target.clone(), before.is_none()));
        let Some(travel) = self.depart(thread, Goal::Write(wanted), before)? else {
            return Ok(LastWrite::NotSinceBeginning);
        };
        self.run_travel(travel);
        self.attend_search(cancelled);
        let mut travel = self.take_travel().ok_or(Error::Ended)?;
        let found = self.conclude_write(&mut travel);
        self.go_back(travel.left);
        found
    }

    /// Handles events until the search under way is over, or the session.
    fn attend_search(&mut self, cancelled: Option<&Cancelled>) {
        self.perform();
        let mut alarm = Alarm::default();
        alarm.ring_every(LOOK_EVERY);
        self.attend_until(|owner| {
            if owner.write_search().is_none_or(Wanted::is_over) {
                return true;
            }
            if cancelled.is_some_and(|asked| asked()) {
                owner.pause(None);
                owner.perform();
            }
            false
        });
        alarm.end();
    }

    fn conclude_write(&mut self, travel: &mut Travel) -> Result<LastWrite, Error> {
        let Goal::Write(wanted) = &mut travel.goal else {
            return Err(Error::Ended);
        };
        let (is_call, is_first) = (wanted.is_call, wanted.is_first);
        match wanted.outcome.take() {
            None => Err(Error::Ended),
            Some(Outcome::Failed(why)) => Err(Error::Refused(why)),
            Some(Outcome::Beginning) => Ok(LastWrite::NotSinceBeginning),
            Some(Outcome::Found { .. }) if is_call => Ok(LastWrite::NotSinceCall),
            Some(Outcome::Found {
                thread,
                before,
                by_kernel,
            }) => {
                let target = wanted.target.clone();
                let stands = target.frame.is_none_or(|frame| self.frame_stands(&frame));
                if !stands {
                    return Ok(LastWrite::NotSinceCall);
                }
                let call = match by_kernel {
                    true => self.history_live().and_then(|live| live.last_call()),
                    false => None,
                };
                let after = bytes_of(self.memory(), &target);
                let mut write = Write {
                    before: (!is_first).then(|| self.shown(&target, &before)),
                    after: self.shown(&target, &after),
                    name: target.name,
                    thread,
                    system_call: call,
                    stack: self.stack_of_write(thread, !by_kernel),
                    bookmark: None,
                };
                if let Some((number, inserted)) = self.bookmark_write(&write.name) {
                    write.bookmark = Some(number);
                    if let Some(index) = inserted {
                        travel.inserted(index);
                    }
                }
                Ok(LastWrite::By(Box::new(write)))
            }
        }
    }

    fn stack_of_write(&mut self, thread: ThreadId, by_instruction: bool) -> Vec<WriteFrame> {
        let frames = self.frames_now(thread).take(MOST_FRAMES);
        let mut stack: Vec<WriteFrame> = frames
            .map(|frame| WriteFrame {
                function: frame.function.clone(),
                position: frame.position.clone(),
                origin: frame.origin(),
                address: frame.physical.pc,
            })
            .collect();
        // The thread is behind the instruction that wrote, which may be the last one of its line.
        if by_instruction
            && let Some(first) = stack.first_mut()
            && let Some(position) = self.statement_before(first.address)
            && { first.position.as_ref() }.is_none_or(|now| now.file == position.file)
        {
            first.position = Some(position);
        }
        stack
    }

    /// The search for a write that is under way.
    pub(super) fn write_search(&self) -> Option<&Wanted> {
        match &self.search()?.goal {
            Goal::Write(wanted) => Some(wanted),
            Goal::Stop | Goal::Places(_) => None,
        }
    }

    /// What the debug registers are set to for the search under way, if that looks for a write now.
    pub(super) fn searched_data(&self) -> Option<[Option<Slot>; SLOTS]> {
        let wanted = self.write_search()?;
        let travel = self.search()?;
        (!travel.run.is_blind()).then(|| wanted.registers())
    }

    /// A run of a search for a write begins.
    pub(super) fn begin_watching_write(&mut self) {
        let Some(wanted) = self.write_search() else {
            return;
        };
        let bytes = bytes_of(self.memory(), &wanted.target);
        let watched = match self.searched_data() {
            Some(_) => vec![wanted.target.range()],
            None => Vec::new(),
        };
        if let Some(live) = self.history_live() {
            live.watch_calls(watched);
        }
        if let Some(travel) = self.search_mut()
            && let Goal::Write(wanted) = &mut travel.goal
        {
            wanted.last = bytes;
            (wanted.is_call, wanted.is_first) = (false, false);
        }
    }

    /// In a replay, a system call has written data that is looked for, or may have mapped other memory there.
    pub(super) fn kernel_wrote(&mut self, thread: ThreadId) {
        let maps = self
            .history_live()
            .is_some_and(|live| live.last_call_maps());
        if maps {
            self.insert_past_sites();
        }
        let is_same = |wanted: &Wanted| bytes_of(self.memory(), &wanted.target) == wanted.last;
        match self.write_search() {
            // That memory is elsewhere.
            Some(wanted) if maps && is_same(wanted) => self.release(thread),
            Some(_) => self.wrote_searched(thread, None),
            None if self.is_quiet() => self.release(thread),
            None => match self.judge_call(thread) {
                Some(reason) => self.report(thread, reason),
                None => self.release(thread),
            },
        }
    }

    /// A thread has written data that is looked for. `hits`: the debug registers that have noticed it; `None`: a system call has written it.
    pub(super) fn wrote_searched(&mut self, thread: ThreadId, hits: Option<u64>) {
        match self.counts_write(thread, hits) {
            true => self.release(thread),
            false => self.stop_all(),
        }
    }

    /// Counts a write. Returns whether the search goes on.
    pub(super) fn counts_write(&mut self, thread: ThreadId, hits: Option<u64>) -> bool {
        self.leave_copy(thread);
        if let Some(registers) = self.registers(thread) {
            self.note_pass(registers.pc());
        }
        let Some(mut travel) = self.take_travel() else {
            return true;
        };
        let counts_last = matches!(&travel.goal, Goal::Write(wanted) if wanted.counts_last);
        let is_end = self.stands_at_end(&mut travel);
        if is_end {
            // The thread goes on from here without coming to the site of the end.
            travel.arrives();
        }
        let goes_on = match is_end && !counts_last && !travel.counts_at_end() {
            true => false,
            false => {
                let is_wanted = travel.counts_one();
                if let Goal::Write(wanted) = &mut travel.goal {
                    let now = bytes_of(self.memory(), &wanted.target);
                    let before = std::mem::replace(&mut wanted.last, now);
                    wanted.is_first = wanted.is_call;
                    wanted.is_call = hits.is_some_and(|hits| !wanted.is_data(hits));
                    wanted.outcome = is_wanted.then_some(Outcome::Found {
                        thread,
                        before,
                        by_kernel: hits.is_none(),
                    });
                }
                !is_wanted && !is_end
            }
        };
        self.begin_travel(travel);
        goes_on
    }
}
