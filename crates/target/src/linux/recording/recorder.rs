//! Records a process while it runs.
//!
//! Its threads run one at a time (`recording::turns`), so that what they do to each other's memory is the same again when they take the same turns. A
//! thread gives its turn away in a system call that may take long. What comes of that call is taken note of in the thread's next turn. From a
//! thread that makes no system call while others wait, the turn is taken; where it was then is kept.

mod beginning;
mod effects;
mod ends;
mod refusals;
mod thread;

use self::refusals::refusal;
use self::thread::{Recorded, Within};
use super::journal::{Delivered, Entry, Journal, Made, fingerprint};
use super::together::{Together, shows_affinity};
use super::turns::{Place, Turns};
use super::{is_at_call, is_stopping_call, start, wait_for_end};
use crate::linux::alarm::Alarm;
use crate::linux::checkpoint::{Checkpoint, Original};
use crate::linux::injected::{self, lost};
use crate::linux::memory::ProcessMemory;
use crate::linux::monotonic::Monotonic;
use crate::linux::system_calls::{Call, Kind};
use crate::linux::{process, ptrace, wait};
use crate::process::Resume;
use crate::wait_event::{WaitEvent, What};
use crate::{Address, ThreadId};
use rustc_hash::FxHashMap;
use std::io;
use std::ops::Range;
use std::time::Duration;

/// Records a process.
///
/// Whoever runs the process resumes its threads by [`Recorder::resume`], asks them to stop by [`Recorder::interrupt`], calls
/// [`Recorder::schedule`] before each wait, and passes each event to [`Recorder::event`].
#[derive(Debug)]
pub struct Recorder {
    process: ThreadId,
    memory: ProcessMemory,
    journal: Journal,
    threads: FxHashMap<ThreadId, Recorded>,
    turns: Turns,
    together: Together,
    /// When the present turn has begun.
    since: Monotonic,
    /// Wakes the wait where a turn may last too long.
    alarm: Alarm,
    /// Nothing is recorded any more, and all threads run as they like.
    is_over: bool,
    /// The program had run before it was recorded.
    is_midway: bool,
    /// The program must outlive the debugger.
    outlives: bool,
    /// Where the heap ends (brk(2)), once the program has asked.
    heap_end: Option<Address>,
    /// Where instructions are executed in place of those of the program.
    copies: Vec<Range<Address>>,
    /// Since when signals are held.
    holds_since: Option<Monotonic>,
    /// Whether what files have that are mapped is kept, unless they have a build id.
    keeps_contents: bool,
    /// The thread that has ended the process, or that had the turn when it was ended.
    ender: Option<ThreadId>,
}

/// How long a turn lasts that ends at a system call, if others wait.
const TURN: Duration = Duration::from_millis(20);
/// How long others may wait for a thread that makes no system call.
const PATIENCE: Duration = Duration::from_millis(100);
/// The first real-time signal of the kernel.
const FIRST_REAL_TIME: i32 = 32;
/// How long a signal is held for a system call of its thread.
const HELD: Duration = Duration::from_millis(20);
/// When it is tried again to stop a thread that may not be stopped where it is.
const SOON_AGAIN: Duration = Duration::from_millis(1);
/// How long a system call is waited for before others get the turn, unless its thread sleeps.
const SOON: Duration = Duration::from_millis(2);

impl Recorder {
    /// What was recorded so far.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Keeps what files have that are mapped, unless they have a build id: they may be others when this is replayed.
    pub fn keep_contents(&mut self) {
        self.keeps_contents = true;
    }

    /// Records nothing any more. `reason`: the end of a sentence that says why.
    pub fn end(&mut self, reason: String) {
        self.ends(reason);
    }

    /// Whether a thread is recorded, or was until something came that can't be.
    pub fn has(&self, thread: ThreadId) -> bool {
        self.threads.contains_key(&thread)
    }

    /// The thread that has the turn, or had it last and would go on with code of its own. `None`: that one waits in a system call, or has ended.
    pub fn runner(&self) -> Option<ThreadId> {
        let last = self.turns.last()?;
        let is_within = self.threads.get(&last)?.within.is_some();
        let registers = ptrace::registers(last).ok();
        let restarts = registers.is_none_or(|registers| registers.restarts_system_call());
        (!is_within && !restarts).then_some(last)
    }

    /// Whether a thread runs code of its own now.
    pub fn computes(&self) -> bool {
        let mut threads = self.threads.iter();
        threads.any(|(thread, recorded)| {
            recorded.within.is_none() && self.turns.place(*thread) == Some(Place::Runs)
        })
    }

    /// A checkpoint of the stopped process.
    ///
    /// # Errors
    /// The end of a sentence that says why none can be taken here.
    pub fn checkpoint(&self) -> Result<Checkpoint, String> {
        if self.is_over {
            return Err("it isn't recorded any more".into());
        }
        let runner = self.runner().ok_or("its threads wait in system calls")?;
        let mut originals = Vec::new();
        for thread in self.turns.threads() {
            let recorded = self.threads.get(&thread).ok_or("a thread is gone")?;
            let is_still = self.turns.place(thread) == Some(Place::Stopped);
            if recorded.within.is_some() || recorded.signal != 0 || !is_still {
                return Err("a thread is within a system call, or about to get a signal".into());
            }
            originals.push(recorded.original);
        }
        // The process's first thread first.
        originals.sort_by_key(|original| original.thread != self.process);
        Checkpoint::take(&originals, runner)
    }

    /// Whether the end of a thread's last step was reported without the kernel.
    pub fn has_feigned_step(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread)
            .is_some_and(|thread| thread.feigned_step)
    }

    /// Lets a thread run when its turn comes, delivering `signal` unless 0.
    ///
    /// # Errors
    /// The thread has died.
    pub fn resume(&mut self, thread: ThreadId, how: Resume, signal: i32) -> io::Result<()> {
        let Some(recorded) = self.threads.get_mut(&thread) else {
            return Ok(());
        };
        let signal = match signal {
            0 => std::mem::take(&mut recorded.signal),
            _ => signal,
        };
        if self.is_over || self.turns.place(thread) == Some(Place::Ends) {
            return self.run(thread, how, signal);
        }
        self.turns.set(thread, Place::Ready(how, signal));
        Ok(())
    }

    /// Asks a thread to stop.
    ///
    /// # Errors
    /// The thread has died.
    pub fn interrupt(&mut self, thread: ThreadId) -> io::Result<()> {
        match self.turns.place(thread).filter(|_| !self.is_over) {
            Some(Place::Ready(_, signal)) => {
                if let Some(recorded) = self.threads.get_mut(&thread) {
                    recorded.signal = signal;
                }
                self.turns.stop(thread);
                Ok(())
            }
            Some(Place::Returned(what)) => {
                self.comes_back_to_stop(thread, what);
                Ok(())
            }
            place => {
                if let Some(recorded) = self.threads.get_mut(&thread) {
                    recorded.is_to_stop = matches!(place, Some(Place::Calls | Place::Runs));
                }
                ptrace::interrupt(thread)
            }
        }
    }

    /// Gives the turn to the next thread, if none has it. An event may come of that: [`Recorder::take_made_up`].
    pub fn schedule(&mut self) {
        while !self.is_over && !self.turns.someone_runs() {
            let Some(thread) = self.next_turn() else {
                break;
            };
            self.give_turn(thread);
            if self.turns.has_made_up() {
                break;
            }
        }
        self.watch_turn();
    }

    /// Gives the turn to a thread that waits for it.
    pub fn give_turn(&mut self, thread: ThreadId) {
        match self.turns.place(thread).filter(|_| !self.is_over) {
            Some(Place::Ready(how, signal)) => {
                self.switch_to(thread);
                // If it has died, the next event says so.
                let _ = self.run(thread, how, signal);
            }
            Some(Place::Returned(what)) => {
                self.switch_to(thread);
                self.turns.set(thread, Place::Runs);
                if let Some(event) = self.happens(WaitEvent { thread, what }) {
                    self.turns.make_up(thread, event.what);
                }
            }
            _ => {}
        }
    }

    /// Takes an event that was made up: of one thread, or of any.
    pub fn take_made_up(&mut self, thread: Option<ThreadId>) -> Option<WaitEvent> {
        self.turns.take_made_up(thread)
    }

    /// The wait for events was interrupted: a turn may last too long.
    pub fn tick(&mut self) {
        if self.holds_since.is_some_and(|since| since.elapsed() > HELD) {
            self.holds_since = Some(Monotonic::now());
            let runner = self.turns.last().filter(|_| self.turns.someone_runs());
            let holds = |thread: &ThreadId| {
                let held = self.threads.get(thread).map(|it| !it.held.is_empty());
                held.unwrap_or_default()
            };
            match runner.filter(holds) {
                // It makes no system call: it gets the signal where it is.
                Some(runner) => {
                    let _ = ptrace::interrupt(runner);
                }
                None if !self.threads.keys().any(holds) => self.holds_since = None,
                None => {}
            }
        }
        let lasts = self.turns.someone_runs() && self.turns.someone_waits();
        let runner = self.turns.last().filter(|_| lasts && !self.is_over);
        if let Some(runner) = runner
            && self.since.elapsed() > PATIENCE
            && self.turns.place(runner) == Some(Place::Runs)
        {
            self.turns.pass();
            // If it has died, the next event says so.
            let _ = ptrace::interrupt(runner);
        }
    }

    /// Sets or ends the alarm.
    fn watch_turn(&mut self) {
        let every = match () {
            () if self.is_over => None,
            () if self.holds_since.is_some() => Some(HELD),
            () => self.turns.someone_waits().then_some(PATIENCE),
        };
        match every {
            Some(every) => {
                self.alarm.ring_every(every);
            }
            None => self.alarm.end(),
        }
    }

    /// A thread gets the turn. The one that had it last may have run code since it was last taken note of.
    fn switch_to(&mut self, thread: ThreadId) {
        let last = self.turns.last().filter(|last| *last != thread);
        if let Some(last) = last
            && let Some(recorded) = self.threads.get_mut(&last)
            && std::mem::take(&mut recorded.has_run)
        {
            match &recorded.within {
                Some(within) => {
                    let number = within.call.number();
                    self.journal.note(last, Entry::Enters(number));
                }
                None => self.note_turn_end(last),
            }
        }
        if last.is_some() || self.turns.last().is_none() {
            self.since = Monotonic::now();
        }
        self.turns.begin(thread);
    }

    /// Lets a thread run now.
    fn run(&mut self, thread: ThreadId, how: Resume, signal: i32) -> io::Result<()> {
        if self.turns.place(thread) != Some(Place::Ends) {
            self.turns.set(thread, Place::Runs);
        }
        if signal != 0 && !self.is_over {
            let whole = ptrace::whole_signal(thread)?;
            let own = ptrace::signal_mask(thread)?;
            let mask = process::blocked_signals(thread).filter(|mask| *mask != own);
            let delivered = Delivered { whole, mask };
            self.journal
                .note(thread, Entry::Signal(Box::new(delivered)));
        }
        let is_at_call = how == Resume::Step && signal == 0 && is_at_call(thread, &self.memory);
        let Some(recorded) = self.threads.get_mut(&thread) else {
            return Ok(());
        };
        recorded.how = how;
        recorded.feigned_step = false;
        recorded.steps_over_call = is_at_call && !self.is_over;
        recorded.has_run |= recorded.within.is_none();
        let within = recorded.within.as_ref();
        let waits = within.is_some_and(|within| within.is_long);
        let is_free = self.is_over && recorded.within.is_none();
        match how {
            Resume::Step if !recorded.steps_over_call => ptrace::step(thread, signal),
            Resume::Continue if is_free => ptrace::cont(thread, signal),
            _ => ptrace::cont_to_system_call(thread, signal),
        }?;
        let is_last = self.turns.last() == Some(thread) && !self.is_over;
        match self.turns.place(thread) {
            Some(Place::Ends) if is_last => {
                wait_for_end(thread);
                self.turns.remove(thread);
            }
            // It was stopped in a call that may take long, and goes on in there.
            Some(Place::Runs) if waits && !self.is_over => self.turns.set(thread, Place::Calls),
            _ => {}
        }
        Ok(())
    }

    /// What keeps its threads on the tracer's processor. `None`: nothing is recorded any more, or they would stay there if the debugger were killed.
    pub(in crate::linux) fn together(&mut self) -> Option<&mut Together> {
        (!self.is_over && !self.outlives).then_some(&mut self.together)
    }

    /// Takes note of an event. Returns it unless it is only the recorder's. Also passes on events of other threads: those run unrecorded, and
    /// their reading of the processor's time traps all the same.
    pub fn event(&mut self, event: WaitEvent) -> Option<WaitEvent> {
        match self.turns.place(event.thread) {
            Some(Place::Calls) if !self.is_over => self.comes_back(event),
            _ => self.happens(event),
        }
    }

    /// An event of a thread that has no turn.
    fn comes_back(&mut self, event: WaitEvent) -> Option<WaitEvent> {
        let WaitEvent { thread, what } = event;
        let is_to_stop = { self.threads.get(&thread) }.is_some_and(|it| it.is_to_stop);
        match what {
            What::SystemCall | What::Signal(libc::SIGTRAP) if !is_to_stop => {
                self.turns.set(thread, Place::Returned(what));
                if self.since.elapsed() > TURN {
                    self.turns.pass();
                }
                self.watch_turn();
                None
            }
            What::SystemCall => {
                self.comes_back_to_stop(thread, what);
                None
            }
            _ => self.happens(event),
        }
    }

    /// A thread comes back from a system call only to be stopped: it runs no code.
    fn comes_back_to_stop(&mut self, thread: ThreadId, what: What) {
        self.turns.set(thread, Place::Calls);
        let Some(recorded) = self.threads.get_mut(&thread) else {
            return;
        };
        recorded.is_to_stop = false;
        if what != What::SystemCall || recorded.steps_over_call {
            if let Some(event) = self.happens(WaitEvent { thread, what }) {
                self.turns.make_up(thread, event.what);
            }
            return;
        }
        if let Some(within) = recorded.within.take() {
            let done = self.left(thread, within, true);
            done.unwrap_or_else(|reason| self.ends(reason));
        }
        // The stop made the kernel forget an interrupt. If the thread has died, the next event says so.
        let _ = ptrace::interrupt(thread);
        let _ = ptrace::cont_to_system_call(thread, 0);
    }

    /// An event of a thread that has the turn, or that needs none.
    fn happens(&mut self, event: WaitEvent) -> Option<WaitEvent> {
        let thread = event.thread;
        if event.what == What::Signal(libc::SIGSEGV) && self.reads_time(thread) {
            let recorded = self.threads.get_mut(&thread);
            if let Some(recorded) = recorded.filter(|recorded| recorded.how == Resume::Step) {
                recorded.feigned_step = true;
                self.turns.set(thread, Place::Stopped);
                let what = What::Signal(libc::SIGTRAP);
                return Some(WaitEvent { what, ..event });
            }
            // If it has died, the next event says so.
            let _ = ptrace::cont_to_system_call(thread, 0);
            return None;
        }
        if !self.threads.contains_key(&thread) {
            return Some(event);
        }
        let is_mine = match event.what {
            What::SystemCall => return self.called(event),
            What::Signal(libc::SIGTRAP) => self.stepped_over_call(thread),
            What::Signal(signal) => self.signalled(thread, signal),
            // It has executed an instruction that traps, and the trap follows: no turn ends in between, where its address is behind that.
            What::Interrupted { trap_pending: true } => true,
            What::Interrupted {
                trap_pending: false,
            } => match self.interrupted(thread) {
                Ok(stays) => stays,
                Err(other) => return self.happens(other),
            },
            What::NewThread(made) => {
                self.begins(thread, made);
                false
            }
            What::Executed { .. } => {
                self.executed(thread);
                false
            }
            What::Exiting => {
                if !self.ends_alone(thread) {
                    self.ender = self.ender.or(self.turns.last());
                }
                self.turns.set(thread, Place::Ends);
                return Some(event);
            }
            What::Exited(status) => {
                if thread == self.process {
                    let ender = self.ender.unwrap_or(thread);
                    self.journal.note(ender, Entry::End(status));
                }
                self.turns.remove(thread);
                self.threads.remove(&thread);
                return Some(event);
            }
            _ => false,
        };
        if is_mine {
            let how = { self.threads.get(&thread) }.map_or(Resume::Continue, |it| it.how);
            let _ = self.run(thread, how, 0);
            return None;
        }
        self.turns.set(thread, Place::Stopped);
        if let Some(recorded) = self.threads.get_mut(&thread) {
            recorded.is_to_stop = false;
        }
        Some(event)
    }

    /// Notes where whoever runs the process has copies of instructions. A turn doesn't end there.
    pub fn has_copies(&mut self, copies: Range<Address>) {
        self.copies.push(copies);
    }

    /// A thread has trapped: perhaps behind a system call, over which it was stepped.
    fn stepped_over_call(&mut self, thread: ThreadId) -> bool {
        if let Some(recorded) = self.threads.get_mut(&thread)
            && std::mem::take(&mut recorded.steps_over_call)
            && let Some(within) = recorded.within.take()
        {
            let done = self.left(thread, within, false);
            done.unwrap_or_else(|reason| self.ends(reason));
        }
        false
    }

    /// A thread is at the entry of a system call, or behind one.
    fn called(&mut self, event: WaitEvent) -> Option<WaitEvent> {
        let thread = event.thread;
        let recorded = self.threads.get_mut(&thread)?;
        let goes_on = match recorded.within.take() {
            None => self.entered(thread),
            Some(within) => {
                let yields = within.call.number() == libc::SYS_sched_yield.cast_unsigned();
                let done = self.left(thread, within, false);
                let is_long = yields || self.since.elapsed() > TURN;
                done.map(|()| match is_long && self.turns.someone_waits() {
                    true => Next::Waits,
                    false => Next::Runs,
                })
            }
        };
        let next = goes_on.unwrap_or_else(|reason| {
            self.ends(reason);
            Next::Runs
        });
        let recorded = self.threads.get_mut(&thread)?;
        let how = recorded.how;
        if recorded.is_to_stop {
            // The stop at the call made the kernel forget that.
            let _ = ptrace::interrupt(thread);
        }
        if recorded.steps_over_call && recorded.within.is_some() {
            // The kernel reports the step's end in place of the call's exit.
            let _ = ptrace::step(thread, 0);
        } else if how == Resume::UntilSystemCall {
            self.turns.set(thread, Place::Stopped);
            return Some(event);
        } else if next == Next::Waits && !recorded.is_to_stop {
            self.turns.set(thread, Place::Ready(how, 0));
            self.turns.pass();
            return None;
        } else {
            recorded.has_run |= recorded.within.is_none();
            let _ = ptrace::cont_to_system_call(thread, 0);
        }
        match next {
            Next::Calls => self.calls_alone(thread),
            Next::Waits | Next::Runs => None,
        }
    }

    /// A thread is in a system call that may take long: others may run meanwhile, unless it comes back at once.
    fn calls_alone(&mut self, thread: ThreadId) -> Option<WaitEvent> {
        let since = Monotonic::now();
        while self.turns.someone_waits() && since.elapsed() < SOON {
            // On one processor, it makes its call meanwhile.
            std::thread::yield_now();
            if let Some(event) = wait::take(thread) {
                return self.happens(event);
            }
            if process::sleeps(thread) {
                break;
            }
        }
        self.turns.set(thread, Place::Calls);
        None
    }

    /// Nothing is recorded any more, and no thread waits for its turn.
    fn ends(&mut self, reason: String) {
        tracing::debug!(reason, "the recording ends");
        self.journal.end_with(reason);
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        self.alarm.end();
        self.together.ends();
        let threads: Vec<ThreadId> = self.turns.threads().collect();
        for thread in threads {
            let held = self
                .threads
                .get_mut(&thread)
                .map(|it| std::mem::take(&mut it.held));
            for held in held.into_iter().flatten() {
                let _ = process::signal_thread(thread, held.number());
            }
            match self.turns.place(thread) {
                Some(Place::Ready(how, signal)) => {
                    let _ = self.run(thread, how, signal);
                }
                Some(Place::Returned(what)) => {
                    self.turns.set(thread, Place::Runs);
                    if let Some(event) = self.happens(WaitEvent { thread, what }) {
                        self.turns.make_up(thread, event.what);
                    }
                }
                _ => {}
            }
        }
    }

    /// The process executes another program in place of this one.
    fn executed(&mut self, thread: ThreadId) {
        self.ends("it has executed another program".into());
        // Instructions that read the processor's time would trap there, too.
        let untrapped = injected::end_call(thread).and_then(|_| start::untrap_time(thread));
        if let Err(reason) = untrapped {
            tracing::warn!(%reason, "instructions still trap that read the time");
        }
        let gone: Vec<ThreadId> = { self.turns.threads() }
            .filter(|one| *one != thread)
            .collect();
        for gone in gone {
            self.turns.remove(gone);
            self.threads.remove(&gone);
        }
    }

    /// A thread has made another one.
    fn begins(&mut self, maker: ThreadId, made: ThreadId) {
        let maker = self.threads.get_mut(&maker);
        let cleared = maker.map_or(0, |maker| {
            maker.made = Some(made);
            let within = maker.within.as_ref();
            within.map_or(0, |within| within.call.cleared_of_new())
        });
        let original = Original {
            thread: made,
            cleared,
            alternate: None,
        };
        self.threads.insert(made, Recorded::new(original));
        self.turns.add(made);
    }

    fn entered(&mut self, thread: ThreadId) -> Result<Next, String> {
        let mut registers = ptrace::registers(thread).map_err(lost)?;
        let (number, arguments) = registers.system_call();
        let memory = &self.memory;
        let read = |at: Address, buffer: &mut [u8]| memory.read(at, buffer).is_ok();
        let refused = refusal(number, &arguments, self.is_midway).filter(|_| !self.is_over);
        let call = Call::entered(number, arguments, &read);
        if shows_affinity(number) {
            self.together.let_all_go();
        }
        let is_long = call.may_block() && !self.turns.is_alone() && !self.is_over;
        let recorded = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        recorded.within = Some(Within {
            call,
            registers: fingerprint(&registers),
            refused,
            is_long,
        });
        if refused.is_some() {
            registers.forget_system_call();
            ptrace::set_registers(thread, &registers).map_err(lost)?;
        }
        if is_stopping_call(number) {
            recorded.has_run = false;
            self.journal.note(thread, Entry::ThreadEnd);
            return Ok(Next::Runs);
        }
        if !is_long {
            return Ok(Next::Runs);
        }
        recorded.has_run = false;
        self.journal.note(thread, Entry::Enters(number));
        Ok(Next::Calls)
    }

    /// A thread is behind a system call. `stops`: it runs no code now.
    fn left(&mut self, thread: ThreadId, within: Within, stops: bool) -> Result<(), String> {
        let number = within.call.number();
        let mut registers = ptrace::registers(thread).map_err(lost)?;
        if let Some(error) = within.refused {
            registers.set_answer(-i64::from(error), number);
            ptrace::set_registers(thread, &registers).map_err(lost)?;
        }
        let recorded = self.threads.get_mut(&thread).ok_or("a thread is gone")?;
        recorded.behind_call = Some(registers);
        if !self.journal.goes_on() {
            return Ok(());
        }
        let answer = registers.answer();
        let read = |at: Address, buffer: &mut [u8]| self.memory.read(at, buffer).is_ok();
        let call = match within.call.continues_interrupted() {
            true => recorded.interrupted.take().unwrap_or(within.call),
            false => within.call,
        };
        let made = recorded.made.take();
        let effects = call.effects(answer, &read);
        let effects = effects.map_err(|unknown| format!("it has called {unknown}"))?;
        let signal_stack = call.signal_stack(answer, &read);
        recorded.interrupted = registers.goes_on_with_system_call().then(|| call.clone());
        if let Some(stack) = signal_stack {
            recorded.original.alternate = stack;
        }
        if let Kind::ClearsAtEnd(cleared) = effects.what {
            recorded.original.cleared = cleared.0;
        }
        self.note_mapped(&effects.what);
        let mut written = effects.written;
        let made = Made {
            number,
            registers: within.registers,
            answer,
            again: self.again(thread, effects.what, call.name(), &mut written)?,
            written: self.bytes_of(written)?,
            thread: made,
        };
        if stops && !made.written.is_empty() {
            // Others may have run up to where they see it.
            self.switch_to(thread);
        }
        self.journal.note(thread, Entry::Call(Box::new(made)));
        if let Some(recorded) = self.threads.get_mut(&thread) {
            recorded.has_run = false;
        }
        self.send_again(thread);
        Ok(())
    }

    /// Sends a signal again that was held, for it to be delivered behind the present system call.
    fn send_again(&mut self, thread: ThreadId) {
        if let Some(recorded) = self.threads.get_mut(&thread)
            && recorded.sent_again.is_none()
            && let Some(signal) = recorded.held.pop_front()
        {
            let _ = process::signal_thread(thread, signal.number());
            recorded.sent_again = Some(signal);
        }
    }

    /// A signal is about to be delivered. Returns whether it must not be now.
    fn signalled(&mut self, thread: ThreadId, signal: i32) -> bool {
        if !self.journal.goes_on() {
            return false;
        }
        let Ok(registers) = ptrace::registers(thread) else {
            return false;
        };
        let is_elsewhere = self.is_elsewhere(registers.pc());
        let Some(recorded) = self.threads.get_mut(&thread) else {
            return false;
        };
        let is_behind_call = { recorded.behind_call }
            .is_some_and(|behind| behind.to_words() == registers.to_words());
        let again = { &mut recorded.sent_again }.take_if(|it| it.number() == signal);
        let is_again = again.is_some();
        let whole = match again {
            Some(again) => {
                let _ = ptrace::set_whole_signal(thread, &again);
                again
            }
            None => match ptrace::whole_signal(thread) {
                Ok(whole) => whole,
                Err(_) => return false,
            },
        };
        if whole.is_of_instruction() || is_behind_call {
            return false;
        }
        if is_again && !is_elsewhere {
            // It is found there again as the end of a turn is.
            self.note_turn_end(thread);
            return false;
        }
        // As the kernel does with signals that wait, but for real-time signals.
        let waits = { recorded.held.iter() }.any(|held| held.number() == signal);
        if !waits || signal >= FIRST_REAL_TIME {
            recorded.held.push_back(whole);
        }
        self.holds_since.get_or_insert_with(Monotonic::now);
        self.watch_turn();
        true
    }

    /// If a thread has trapped because it reads the processor's time: does that for it.
    fn reads_time(&mut self, thread: ThreadId) -> bool {
        let Some((time, processor)) = start::read_time(thread, &self.memory) else {
            return false;
        };
        if self.threads.contains_key(&thread) {
            self.journal.note(thread, Entry::Time(time, processor));
        }
        true
    }
}

/// What a thread does at a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It runs on.
    Runs,
    /// It is in a call that may take long.
    Calls,
    /// It is behind the call, and waits for its next turn.
    Waits,
}
