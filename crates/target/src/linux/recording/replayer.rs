//! Lets a checkpoint run as its original was recorded.
//!
//! Its threads take the turns that they took then: the thread of the journal's next entry runs, up to where that comes.

mod calls;
mod diverted;
mod signals;

use self::calls::{ends_at_call, map, map_memory};
use self::diverted::Diverted;
pub use self::diverted::Tried;
use super::journal::{Again, Entry, Journal, Made, TurnEnd, call_name, fingerprint};
use super::together::Together;
use super::turns::{INTERRUPTED, Place, Turns};
use super::{is_at_call, is_stopping_call, wait_for_end};
use crate::ThreadId;
use crate::linux::checkpoint::Checkpoint;
use crate::linux::injected::lost;
use crate::linux::memory::ProcessMemory;
use crate::linux::ptrace;
use crate::process::Resume;
use crate::wait_event::{WaitEvent, What};
use dapple_arch::registers::user::UserRegisters;
use rustc_hash::FxHashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Lets a checkpoint run. Threads have the ids here that they have in the recorded process.
///
/// Whoever runs it resumes threads by [`Replayer::resume`], asks them to stop by [`Replayer::interrupt`], calls [`Replayer::schedule`] before each
/// wait, and passes each event to [`Replayer::event`].
#[derive(Debug)]
pub struct Replayer {
    checkpoint: Checkpoint,
    memory: ProcessMemory,
    journal: Journal,
    /// How many things have come from outside so far.
    next: usize,
    /// The end is where so many have come.
    until: usize,
    /// Who runs when that many have come.
    last: Option<ThreadId>,
    threads: FxHashMap<ThreadId, Replayed>,
    turns: Turns,
    together: Together,
    /// Events of threads of the copy that their maker hasn't reported yet.
    early: FxHashMap<ThreadId, What>,
    parted: Option<Divergence>,
    /// Whoever runs the copy knows where the present turn ends.
    is_told: bool,
    /// Memory that is watched for writes by system calls.
    watched: Vec<Range<u64>>,
    /// It has come to the end, or has parted from the recording: nothing runs any more.
    is_over: bool,
    /// System calls that map memory are reported.
    reports_mappings: bool,
    /// Something new is done, in place of what was recorded.
    diverted: Option<Diverted>,
}

/// A thread that is replayed.
#[derive(Debug)]
struct Replayed {
    /// The thread of the copy.
    copy: ThreadId,
    /// The system call that it is in.
    within: Option<Within>,
    /// How far it runs.
    how: Resume,
    /// It runs for one instruction, which is a system call.
    steps_over_call: bool,
    /// Its last step was one over an instruction that was executed here, so that the kernel knows nothing of a step.
    feigned_step: bool,
    /// The signal at whose delivery it is stopped.
    due: Option<Due>,
    /// The signals that it blocks, while it has another mask for the delivery of that signal.
    own_mask: Option<u64>,
    /// It is behind the instruction of the system call that it is in.
    is_behind: bool,
    /// It was asked to stop while it ran.
    is_to_stop: bool,
    /// Its last system call has written watched memory, which is yet to be reported.
    has_written: bool,
    /// That has kept its present system call from being made (clone(2) isn't when something waits for the thread); the kernel makes it again.
    restarts: bool,
}

/// A signal that is about to be delivered.
#[derive(Debug, Clone, Copy)]
struct Due {
    number: i32,
    /// It counts as having come. Others may run before it is delivered.
    has_come: bool,
}

/// A system call that was entered.
#[derive(Debug, Clone, Copy)]
struct Within {
    /// The registers at its entry.
    registers: UserRegisters,
    /// It is made.
    is_made: bool,
    /// Others may run before it is over.
    is_long: bool,
}

/// Where and how a replay parts from the recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("after {after} things that came from outside: {what}")]
pub struct Divergence {
    /// How many things had come from outside.
    pub after: usize,
    /// What is different.
    pub what: String,
}

/// What becomes of a thread after an event.
enum Then {
    /// It runs on.
    Goes,
    /// It gives its turn away until its system call is over.
    Calls,
    /// It is stopped, and this is reported.
    Stops(What),
}

impl Replayed {
    fn new(copy: ThreadId) -> Replayed {
        Replayed {
            copy,
            within: None,
            how: Resume::Continue,
            steps_over_call: false,
            feigned_step: false,
            due: None,
            own_mask: None,
            is_behind: false,
            is_to_stop: false,
            has_written: false,
            restarts: false,
        }
    }
}

impl Replayer {
    /// Begins with a checkpoint that was taken when `position` things had come from outside.
    ///
    /// # Errors
    /// The end of a sentence that says why not.
    pub fn new(
        checkpoint: Checkpoint,
        journal: Journal,
        position: usize,
    ) -> Result<Replayer, String> {
        let mut turns = Turns::default();
        let mut threads = FxHashMap::default();
        for (original, copy) in checkpoint.threads() {
            turns.add(*original);
            let mut thread = Replayed::new(*copy);
            let last = journal.last_of(*original, position);
            if matches!(last.as_deref(), Some(Entry::Enters(_))) {
                // Others run while it is in a system call.
                thread.is_behind = true;
                thread.within = Some(Within {
                    registers: ptrace::registers(*copy).map_err(lost)?,
                    is_made: false,
                    is_long: true,
                });
            }
            threads.insert(*original, thread);
        }
        Ok(Replayer {
            memory: ProcessMemory::open(checkpoint.process()).map_err(lost)?,
            checkpoint,
            journal,
            next: position,
            until: usize::MAX,
            last: None,
            threads,
            turns,
            together: Together::default(),
            early: FxHashMap::default(),
            parted: None,
            is_told: false,
            watched: Vec::new(),
            is_over: false,
            reports_mappings: false,
            diverted: None,
        })
    }

    /// Ends the replay when `position` things have come from outside and something more would. Then, `last` runs, if any thread does.
    pub fn end_at(&mut self, position: usize, last: Option<ThreadId>) {
        self.until = position;
        self.last = last;
    }

    /// Reports system calls that write this memory, or may map other memory there, by [`What::KernelWrote`].
    pub fn watch(&mut self, watched: Vec<Range<u64>>) {
        self.watched = watched;
    }

    /// Reports system calls that map memory, or doesn't, by [`What::KernelWrote`].
    pub fn report_mappings(&mut self, reports: bool) {
        self.reports_mappings = reports;
    }

    /// The name of the system call that came last from outside, if that is what came last.
    pub fn last_call(&self) -> Option<String> {
        let (_, last) = self.journal.entry(self.next.checked_sub(1)?)?;
        match last.as_ref() {
            Entry::Call(call) => Some(call_name(call.number)),
            _ => None,
        }
    }

    /// Whether what came last from outside is a system call that maps memory, or unmaps it.
    pub fn last_call_maps(&self) -> bool {
        let last = self.next.checked_sub(1);
        let last = last.and_then(|last| self.journal.entry(last));
        let last = last.as_ref().map(|(_, entry)| entry.as_ref());
        matches!(last, Some(Entry::Call(call)) if call.changes_mappings())
    }

    /// The process that runs.
    pub fn process(&self) -> ThreadId {
        self.checkpoint.process()
    }

    /// How many things have come from outside so far.
    pub fn position(&self) -> usize {
        self.next
    }

    /// How the replay has parted from the recording.
    pub fn parted(&self) -> Option<&Divergence> {
        self.parted.as_ref()
    }

    /// The thread of the copy that stands for one of the recorded process.
    pub fn copy_of(&self, original: ThreadId) -> Option<ThreadId> {
        self.threads.get(&original).map(|thread| thread.copy)
    }

    /// The thread of the recorded process that one of the copy stands for.
    fn original_of(&self, copy: ThreadId) -> Option<ThreadId> {
        let mut threads = self.threads.iter();
        threads.find_map(|(original, it)| (it.copy == copy).then_some(*original))
    }

    /// All threads, by their ids in the recorded process.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.turns.threads()
    }

    /// The thread that runs next. `None`: none does.
    pub fn runner(&self) -> Option<ThreadId> {
        match self.next_entry() {
            Some((thread, _)) => Some(thread),
            None => self.last.filter(|last| self.threads.contains_key(last)),
        }
    }

    /// A checkpoint of the copy, which is stopped.
    ///
    /// # Errors
    /// The end of a sentence that says why none can be taken here.
    pub fn checkpoint(&self) -> Result<Checkpoint, String> {
        if self.is_over || self.diverted.is_some() {
            return Err("it is at its end".into());
        }
        let live = |(original, _): &(&ThreadId, _)| self.turns.place(**original).is_some();
        for (original, thread) in self.threads.iter().filter(live) {
            let next = self.journal.next_of(*original, self.next);
            let is_sent = matches!(next.as_deref(), Some(Entry::Signal(signal)) if !signal.whole.is_of_instruction());
            let is_calling = thread.within.is_some() && !thread.is_behind;
            let is_still = self.turns.place(*original) == Some(Place::Stopped);
            if is_sent || is_calling || thread.due.is_some() || !is_still {
                return Err("it is within a system call, or about to get a signal".into());
            }
        }
        self.checkpoint.now()
    }

    /// Whether the end of a thread's last step was reported without the kernel.
    pub fn has_feigned_step(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread)
            .is_some_and(|thread| thread.feigned_step)
    }

    /// Lets a thread run when its turn comes. If it is stopped at the delivery of a signal, that is delivered as it was then.
    pub fn resume(&mut self, thread: ThreadId, how: Resume) -> io::Result<()> {
        let Some(replayed) = self.threads.get_mut(&thread) else {
            return Ok(());
        };
        replayed.how = how;
        if self.turns.place(thread) == Some(Place::Ends) {
            let copy = replayed.copy;
            ptrace::cont(copy, 0)?;
            wait_for_end(copy);
            // Its end may be reported after the next thread has stopped.
            self.turns.remove(thread);
            self.checkpoint.ends(copy);
            return Ok(());
        }
        self.turns.set(thread, Place::Ready(how, 0));
        Ok(())
    }

    /// Asks a thread to stop.
    ///
    /// # Errors
    /// The thread has died.
    pub fn interrupt(&mut self, thread: ThreadId) -> io::Result<()> {
        let Some(replayed) = self.threads.get_mut(&thread) else {
            return Ok(());
        };
        match self.turns.place(thread) {
            Some(Place::Ready(..) | Place::Calls) => {
                self.turns.stop(thread);
                Ok(())
            }
            place => {
                replayed.is_to_stop = place == Some(Place::Runs);
                ptrace::interrupt(replayed.copy)
            }
        }
    }

    /// Lets the next thread run, if none does. An event may come of that: [`Replayer::take_made_up`].
    pub fn schedule(&mut self) {
        if self.diverted.is_some() {
            return self.run_diverted();
        }
        while !self.turns.someone_runs() && !self.turns.has_made_up() {
            let next = self.runner();
            let is_ready = |thread: &ThreadId| {
                let place = self.turns.place(*thread);
                matches!(place, Some(Place::Ready(..) | Place::Calls))
            };
            match next.filter(is_ready).filter(|_| !self.is_over) {
                Some(thread) => self.give_turn(thread),
                None => {
                    if next.is_some_and(|next| self.turns.place(next).is_none()) {
                        let what = "a thread is missing".to_owned();
                        let after = self.next;
                        self.parted = Some(Divergence { after, what });
                    }
                    // Who would run next isn't to run: nobody can.
                    let is_stopped = next.and_then(|next| self.turns.place(next));
                    let calls = |thread: &ThreadId| self.turns.place(*thread) == Some(Place::Calls);
                    let waits = { self.turns.next() }.or_else(|| self.turns.threads().find(calls));
                    if let Some(waits) = waits.filter(|_| is_stopped != Some(Place::Ends)) {
                        self.turns.set(waits, Place::Stopped);
                        self.turns.make_up(waits, What::ReplayEnds);
                    }
                    return;
                }
            }
        }
    }

    /// Lets a thread run now that waits for its turn.
    pub fn give_turn(&mut self, thread: ThreadId) {
        if !matches!(
            self.turns.place(thread),
            Some(Place::Ready(..) | Place::Calls)
        ) {
            return;
        }
        if self.diverted.is_some() {
            return self.run_diverted();
        }
        if self.is_over {
            self.turns.set(thread, Place::Stopped);
            return self.turns.make_up(thread, What::ReplayEnds);
        }
        self.turns.begin(thread);
        self.turns.set(thread, Place::Runs);
        let then = self.begin(thread);
        if let Some(what) = self.follow(thread, then) {
            self.turns.make_up(thread, what);
        }
    }

    /// Where the turn of the thread that runs next ends, if that is amid its own code. Whoever runs the copy has to stop it there, and call
    /// [`Replayer::end_turn`].
    pub fn turn_end(&self) -> Option<(ThreadId, Arc<TurnEnd>)> {
        let (thread, entry) = self.next_entry()?;
        match entry.as_ref() {
            Entry::TurnEnd(end) => Some((thread, Arc::clone(end))),
            _ => None,
        }
    }

    /// Whether [`What::TurnAhead`] is yet to be reported for that.
    pub fn is_turn_end_untold(&self) -> bool {
        !self.is_told && self.turn_end().is_some()
    }

    /// The thread whose turn it is has come to its end.
    pub fn end_turn(&mut self) {
        let Some((thread, _)) = self.turn_end() else {
            return;
        };
        self.next += 1;
        self.is_told = false;
        // A signal may have come there.
        if let Some((turn, entry)) = self.next_entry()
            && turn == thread
            && let Entry::Signal(signal) = entry.as_ref()
        {
            // If it has died, the next event says so.
            let _ = self.send(thread, signal);
        }
    }

    /// What keeps its threads on the tracer's processor.
    pub(in crate::linux) fn together(&mut self) -> &mut Together {
        &mut self.together
    }

    /// Takes an event that was made up: of one thread, or of any.
    pub fn take_made_up(&mut self, thread: Option<ThreadId>) -> Option<WaitEvent> {
        self.turns.take_made_up(thread)
    }

    /// A thread gets the turn.
    fn begin(&mut self, thread: ThreadId) -> Result<Then, String> {
        let is_end = self.next_entry().is_none();
        let replayed = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        replayed.feigned_step = false;
        if let Some(within) = replayed.within.filter(|_| replayed.is_behind) {
            // Its call is over only after the end.
            if is_end {
                return Ok(Then::Stops(What::ReplayEnds));
            }
            replayed.within = None;
            replayed.is_behind = false;
            self.left(thread, within)?;
            return self.goes_on_behind(thread);
        }
        if std::mem::take(&mut replayed.has_written) {
            return Ok(Then::Stops(What::KernelWrote));
        }
        if let Some(due) = &mut replayed.due
            && !std::mem::replace(&mut due.has_come, true)
        {
            let how = replayed.how;
            self.next += 1;
            if self.runner() != Some(thread) {
                self.turns.set(thread, Place::Ready(how, 0));
                return Ok(Then::Goes);
            }
        }
        if self.turn_end().is_some() && !std::mem::replace(&mut self.is_told, true) {
            return Ok(Then::Stops(What::TurnAhead));
        }
        let replayed = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        let mut signal = replayed.due.take().map_or(0, |due| due.number);
        if signal != 0 {
            let (how, own_mask) = (replayed.how, replayed.own_mask.take());
            if let Some(own) = own_mask {
                let begins = self.deliver_with_mask(thread, signal, own)?;
                if begins && how == Resume::Step {
                    self.feigns_step(thread);
                    return Ok(Then::Stops(What::Signal(libc::SIGTRAP)));
                }
                signal = 0;
            }
        }
        let replayed = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        let (copy, how) = (replayed.copy, replayed.how);
        let steps_over_call = how == Resume::Step && signal == 0 && is_at_call(copy, &self.memory);
        replayed.steps_over_call = steps_over_call;
        let done = match how {
            Resume::Step if !steps_over_call => ptrace::step(copy, signal),
            _ => ptrace::cont_to_system_call(copy, signal),
        };
        // If it has died, the next event says so.
        let _ = done;
        Ok(Then::Goes)
    }

    fn feigns_step(&mut self, thread: ThreadId) {
        if let Some(replayed) = self.threads.get_mut(&thread) {
            replayed.feigned_step = true;
        }
    }

    /// What becomes of a thread that is behind a system call.
    fn goes_on_behind(&mut self, thread: ThreadId) -> Result<Then, String> {
        let replayed = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        if std::mem::take(&mut replayed.steps_over_call) {
            replayed.feigned_step = true;
            return Ok(Then::Stops(What::Signal(libc::SIGTRAP)));
        }
        match replayed.how {
            Resume::UntilSystemCall => Ok(Then::Stops(What::SystemCall)),
            _ if std::mem::take(&mut replayed.has_written) => Ok(Then::Stops(What::KernelWrote)),
            how => {
                // Another one may run next.
                self.turns.set(thread, Place::Ready(how, 0));
                Ok(Then::Goes)
            }
        }
    }

    /// Does with a thread what follows from an event. Returns what is to be reported.
    fn follow(&mut self, thread: ThreadId, then: Result<Then, String>) -> Option<What> {
        let is_to_stop = self.threads.get(&thread).is_some_and(|it| it.is_to_stop);
        let what = match then {
            Ok(Then::Goes) => match self.turns.place(thread) {
                Some(Place::Ready(..)) if is_to_stop => INTERRUPTED,
                _ => return None,
            },
            Ok(Then::Calls) if is_to_stop => INTERRUPTED,
            Ok(Then::Calls) => {
                self.turns.set(thread, Place::Calls);
                return None;
            }
            Ok(Then::Stops(what)) => what,
            Err(what) => {
                let after = self.next;
                self.parted = Some(Divergence { after, what });
                What::ReplayEnds
            }
        };
        self.is_over |= what == What::ReplayEnds;
        self.turns.set(thread, Place::Stopped);
        if let Some(replayed) = self.threads.get_mut(&thread) {
            replayed.is_to_stop = false;
        }
        Some(what)
    }

    /// Takes an event of the copy, and gives its thread what came from outside then. Returns what is to be reported: of the recorded process's
    /// threads, and of others as it is.
    pub fn event(&mut self, event: WaitEvent) -> Option<WaitEvent> {
        let Some(thread) = self.original_of(event.thread) else {
            return self.event_of_others(event);
        };
        let is_end = matches!(event.what, What::Exiting | What::Exited(_));
        let then = match event.what {
            what if self.diverted.is_some() && !is_end => self.happens_diverted(thread, what),
            What::SystemCall => self.called(thread),
            What::Signal(signal) => self.signalled(thread, signal),
            What::NewThread(made) => self.begins(thread, made),
            What::NewProcess { child, .. } => {
                // None was made by a recorded program that was: that call isn't made again.
                let _ = crate::linux::process::signal(child, libc::SIGKILL);
                Err("it makes a process".into())
            }
            What::Interrupted { .. } if self.restarts_call(thread) => Ok(Then::Goes),
            What::Exiting => {
                self.turns.set(thread, Place::Ends);
                return Some(WaitEvent {
                    thread,
                    what: event.what,
                });
            }
            What::Exited(_) => {
                self.turns.remove(thread);
                self.threads.remove(&thread);
                self.checkpoint.remove(event.thread);
                return Some(WaitEvent {
                    thread,
                    what: event.what,
                });
            }
            what => Ok(Then::Stops(what)),
        };
        let what = self.follow(thread, then)?;
        Some(WaitEvent { thread, what })
    }

    fn event_of_others(&mut self, event: WaitEvent) -> Option<WaitEvent> {
        match event.what {
            // Of the recorded process itself, which is stopped and can only be killed; or of a checkpoint.
            What::Exiting => {
                let _ = ptrace::cont(event.thread, 0);
                None
            }
            What::Interrupted { .. } => {
                self.early.insert(event.thread, event.what);
                None
            }
            _ => Some(event),
        }
    }

    fn called(&mut self, thread: ThreadId) -> Result<Then, String> {
        let replayed = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        let copy = replayed.copy;
        let restarts = |registers: UserRegisters| registers.restarts_system_call();
        match replayed.within.take() {
            None => self.entered(thread),
            Some(within) if within.is_made && ptrace::registers(copy).is_ok_and(restarts) => {
                replayed.restarts = true;
                ptrace::cont_to_system_call(copy, 0).map_err(lost)?;
                Ok(Then::Goes)
            }
            Some(within) if within.is_long => {
                self.next += usize::from(within.is_made);
                // It waits behind the instruction, with the registers that it had in front of it.
                ptrace::set_registers(copy, &within.registers).map_err(lost)?;
                replayed.within = Some(within);
                replayed.is_behind = true;
                Ok(Then::Calls)
            }
            Some(within) => {
                self.left(thread, within)?;
                self.goes_on_behind(thread)
            }
        }
    }

    /// A thread has stopped as it was asked to. If that has kept its system call from being made, lets it be made first.
    fn restarts_call(&mut self, thread: ThreadId) -> bool {
        let restarts = self.threads.get(&thread).is_some_and(|it| it.restarts);
        let copy = self.copy_of(thread).filter(|_| restarts);
        // If it has died, the next event says so.
        copy.is_some_and(|copy| ptrace::cont_to_system_call(copy, 0).is_ok())
    }

    /// The thread is at the entry of a system call.
    fn entered(&mut self, thread: ThreadId) -> Result<Then, String> {
        let replayed = self.threads.get(&thread).ok_or("a thread is gone")?;
        let (copy, how) = (replayed.copy, replayed.how);
        let registers = ptrace::registers(copy).map_err(lost)?;
        let (number, _) = registers.system_call();
        let called = || call_name(number);
        let Some((turn, entry)) = self.next_entry() else {
            return ends_at_call(copy, registers);
        };
        if turn != thread {
            return Err(format!("it calls {} out of turn", called()));
        }
        let within = match entry.as_ref() {
            Entry::End(_) => return ends_at_call(copy, registers),
            Entry::ThreadEnd if is_stopping_call(number) => {
                self.next += 1;
                ptrace::cont(copy, 0).map_err(lost)?;
                return Ok(Then::Goes);
            }
            Entry::Enters(then) => {
                is_same_call(*then, number)?;
                // Nobody else runs before a thread is made that may run next.
                let is_made = self.thread_made_next(thread).is_some();
                self.next += usize::from(!is_made);
                Within {
                    registers,
                    is_made,
                    is_long: true,
                }
            }
            Entry::Call(call) => {
                is_same_call(call.number, number)?;
                if call.registers != fingerprint(&registers) && !is_restart(call.number, number) {
                    return Err(format!("it calls {} with other registers", called()));
                }
                Within {
                    registers,
                    is_made: call.again == Again::All,
                    is_long: false,
                }
            }
            entry => {
                let first = entry.kind();
                return Err(format!("it calls {} early: {first} comes first", called()));
            }
        };
        match entry.as_ref() {
            Entry::Call(call) if within.is_made => self.give_address(copy, call, registers)?,
            _ if within.is_made => {}
            _ => {
                let mut skipped = registers;
                skipped.forget_system_call();
                ptrace::set_registers(copy, &skipped).map_err(lost)?;
            }
        }
        let replayed = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        replayed.within = Some(within);
        match how {
            Resume::UntilSystemCall if !std::mem::take(&mut replayed.restarts) => {
                Ok(Then::Stops(What::SystemCall))
            }
            _ => {
                replayed.restarts = false;
                ptrace::cont_to_system_call(copy, 0).map_err(lost)?;
                Ok(Then::Goes)
            }
        }
    }

    /// What comes next from outside, and to which thread. `None`: nothing more.
    fn next_entry(&self) -> Option<(ThreadId, Arc<Entry>)> {
        (self.next < self.until).then(|| self.journal.entry(self.next))?
    }

    /// The thread is behind a system call, which is the next thing that came.
    fn left(&mut self, thread: ThreadId, within: Within) -> Result<(), String> {
        let copy = self.copy_of(thread).ok_or("a thread is gone")?;
        let entry = within.registers;
        let noted = self.journal.entry(self.next);
        let call = match noted.as_ref().map(|(turn, entry)| (*turn, entry.as_ref())) {
            Some((turn, Entry::Call(call))) if turn == thread => call,
            _ => return Err("the journal has no such call".into()),
        };
        let mut registers = ptrace::registers(copy).map_err(lost)?;
        let name = call_name(call.number);
        if within.is_made && registers.answer() != call.answer && !has_own_answer(call) {
            let (now, then) = (registers.answer(), call.answer);
            return Err(format!("{name} returns {now} and not {then}"));
        }
        match &call.again {
            Again::Map(file) => map(copy, file, entry, call.answer)?,
            Again::Contents => map_memory(copy, entry, call.answer)?,
            Again::Nothing | Again::All => {}
        }
        if !returns_from_handler(call) {
            let (_, arguments) = entry.system_call();
            registers.set_arguments(arguments);
            registers.set_answer(call.answer, call.number);
            // Without a signal, the kernel knows nothing of a call that was interrupted.
            if registers.restarts_system_call()
                && let Some(number) = self.called_again(thread, registers)
            {
                registers.call_again();
                registers.set_call(number, arguments[0]);
            }
            ptrace::set_registers(copy, &registers).map_err(lost)?;
        }
        for (at, bytes) in &call.written {
            let done = self.memory.write(*at, bytes);
            done.map_err(|error| format!("what {name} wrote at {at} can't be written: {error}"))?;
        }
        let asks = self.reports_mappings || !self.watched.is_empty();
        let may_move = asks && call.changes_mappings();
        let has_written = may_move || self.writes_watched(call);
        if let Some(replayed) = self.threads.get_mut(&thread) {
            replayed.has_written = has_written;
        }
        self.next += 1;
        if let Some(Entry::Signal(signal)) = self.journal.next_of(thread, self.next).as_deref()
            && !signal.whole.is_of_instruction()
        {
            self.send(thread, signal)?;
        }
        Ok(())
    }

    fn writes_watched(&self, call: &Made) -> bool {
        let is_watched = |at: u64, end: u64| {
            let mut watched = self.watched.iter();
            watched.any(|range| at < range.end && range.start < end)
        };
        let mut written = call.written.iter();
        written.any(|(at, bytes)| is_watched(at.0, at.0 + bytes.len() as u64))
    }
}

/// Whether a call goes on with another one in the recording, and is made anew in the copy.
fn is_restart(then: u64, now: u64) -> bool {
    then != now && then == libc::SYS_restart_syscall.cast_unsigned()
}

/// Checks that a thread calls what it called then.
fn is_same_call(then: u64, now: u64) -> Result<(), String> {
    if then == now || is_restart(then, now) {
        return Ok(());
    }
    let [now, then] = [now, then].map(call_name);
    Err(format!("it calls {now} and not {then}"))
}

/// Whether the copy's call may return something else: the copy's id, that of its new thread, or a register of the code that a signal handler
/// returns to.
fn has_own_answer(call: &Made) -> bool {
    let number = call.number.cast_signed();
    returns_from_handler(call) || call.thread.is_some() || number == libc::SYS_set_tid_address
}

fn returns_from_handler(call: &Made) -> bool {
    call.number.cast_signed() == libc::SYS_rt_sigreturn
}
