//! Lets a checkpoint run as its original was recorded.

use super::is_at_call;
use super::journal::{Again, Entry, Journal, Made, MappedFile, fingerprint};
use crate::ThreadId;
use crate::exit_status::ExitStatus;
use crate::linux::checkpoint::Checkpoint;
use crate::linux::injected::{self, lost};
use crate::linux::memory::ProcessMemory;
use crate::linux::{process, ptrace};
use crate::process::Resume;
use crate::wait_event::{WaitEvent, What};
use dapple_arch::registers::user::UserRegisters;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Lets a checkpoint of a process with one thread run.
///
/// Whoever runs it resumes it by [`Replayer::resume`], and passes each event to [`Replayer::event`].
#[derive(Debug)]
pub struct Replayer {
    checkpoint: Checkpoint,
    thread: ThreadId,
    memory: ProcessMemory,
    journal: Journal,
    /// How many things have come from outside so far.
    next: usize,
    /// The end is where so many have come.
    until: usize,
    /// The system call that it is in.
    within: Option<Within>,
    /// How far it runs.
    how: Resume,
    /// It runs for one instruction, which is a system call.
    steps_over_call: bool,
    /// Its last step was one over an instruction that was executed here, so that the kernel knows nothing of a step.
    feigned_step: bool,
    /// The signal that was delivered next, and at whose delivery it is stopped.
    due: Option<i32>,
}

/// A system call that was entered.
#[derive(Debug, Clone, Copy)]
struct Within {
    /// The registers at its entry.
    registers: UserRegisters,
    /// It is made.
    is_made: bool,
}

/// What has become of an event.
#[derive(Debug, PartialEq, Eq)]
pub enum Replayed {
    /// It was the replayer's: the thread runs on.
    Goes,
    /// It is for whoever runs the process.
    Event(WaitEvent),
    /// Nothing more was recorded: the thread is stopped at what came next.
    AtEnd,
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
        let thread = checkpoint.process();
        Ok(Replayer {
            memory: ProcessMemory::open(thread).map_err(lost)?,
            checkpoint,
            thread,
            journal,
            next: position,
            until: usize::MAX,
            within: None,
            how: Resume::Continue,
            steps_over_call: false,
            feigned_step: false,
            due: None,
        })
    }

    /// Ends the replay when `position` things have come from outside and something more would.
    pub fn end_at(&mut self, position: usize) {
        self.until = position;
    }

    /// The process that runs.
    pub fn process(&self) -> ThreadId {
        self.checkpoint.process()
    }

    /// How many things have come from outside so far.
    pub fn position(&self) -> usize {
        self.next
    }

    /// The thread of the copy that stands for one of the recorded process.
    pub fn copy_of(&self, original: ThreadId) -> Option<ThreadId> {
        let threads = self.checkpoint.threads().iter();
        { threads }.find_map(|(it, copy)| (*it == original).then_some(*copy))
    }

    /// The thread of the recorded process that one of the copy stands for.
    pub fn original_of(&self, copy: ThreadId) -> Option<ThreadId> {
        let threads = self.checkpoint.threads().iter();
        { threads }.find_map(|(original, it)| (*it == copy).then_some(*original))
    }

    /// Resumes the thread. If it is stopped at the delivery of a signal, that is delivered as it was then.
    ///
    /// # Errors
    /// The thread has died.
    pub fn resume(&mut self, how: Resume) -> io::Result<()> {
        self.how = how;
        self.feigned_step = false;
        let signal = match self.due.take() {
            Some(signal) => {
                self.next += 1;
                signal
            }
            None => 0,
        };
        self.steps_over_call =
            how == Resume::Step && signal == 0 && is_at_call(self.thread, &self.memory);
        match how {
            Resume::Step if !self.steps_over_call => ptrace::step(self.thread, signal),
            _ => ptrace::cont_to_system_call(self.thread, signal),
        }
    }

    /// A checkpoint of the copy, which is stopped.
    ///
    /// # Errors
    /// The end of a sentence that says why none can be taken here.
    pub fn checkpoint(&self) -> Result<Checkpoint, String> {
        if self.within.is_some() || self.due.is_some() || self.has_sent_signal() {
            return Err("it is within a system call, or about to get a signal".into());
        }
        self.checkpoint.now()
    }

    /// Whether the signal that was delivered next is on its way to the thread.
    fn has_sent_signal(&self) -> bool {
        let next = self.next_entry();
        matches!(next.as_deref(), Some(Entry::Signal(signal)) if !signal.is_of_instruction())
    }

    /// Whether the end of the last step was reported without the kernel.
    pub fn has_feigned_step(&self) -> bool {
        self.feigned_step
    }

    /// Takes an event, and gives the thread what came from outside then.
    ///
    /// # Errors
    /// The thread does something else than was recorded.
    pub fn event(&mut self, event: WaitEvent) -> Result<Replayed, Divergence> {
        let done = match event.what {
            What::SystemCall => self.called(event),
            What::Signal(signal) => self.signalled(event, signal),
            _ => Ok(Replayed::Event(event)),
        };
        done.map_err(|what| Divergence {
            after: self.next,
            what,
        })
    }

    fn called(&mut self, event: WaitEvent) -> Result<Replayed, String> {
        match self.within.take() {
            None if !self.entered()? => return Ok(Replayed::AtEnd),
            None => {}
            Some(within) => {
                self.left(within)?;
                if self.steps_over_call {
                    return Ok(self.step_is_over(event));
                }
            }
        }
        match self.how {
            Resume::UntilSystemCall => Ok(Replayed::Event(event)),
            _ => self.goes_on(),
        }
    }

    /// Reports the end of a step that the kernel knows nothing of.
    fn step_is_over(&mut self, event: WaitEvent) -> Replayed {
        self.feigned_step = true;
        self.steps_over_call = false;
        let what = What::Signal(libc::SIGTRAP);
        Replayed::Event(WaitEvent { what, ..event })
    }

    fn goes_on(&self) -> Result<Replayed, String> {
        ptrace::cont_to_system_call(self.thread, 0).map_err(lost)?;
        Ok(Replayed::Goes)
    }

    /// The thread is at the entry of a system call. `false`: nothing more was recorded.
    fn entered(&mut self) -> Result<bool, String> {
        let registers = ptrace::registers(self.thread).map_err(lost)?;
        let (number, _) = registers.system_call();
        let called = || system_call_name(number);
        let entry = self.next_entry();
        let call = match entry.as_deref() {
            None | Some(Entry::End(_)) => return Ok(false),
            Some(Entry::Call(call)) => call,
            Some(_) => return Err(format!("it calls {} early", called())),
        };
        if call.number != number {
            let then = system_call_name(call.number);
            return Err(format!("it calls {} and not {then}", called()));
        }
        if call.registers != fingerprint(&registers) {
            return Err(format!("it calls {} with other registers", called()));
        }
        let is_made = call.again == Again::All;
        if is_made {
            self.give_address(call, registers)?;
        } else {
            let mut skipped = registers;
            skipped.forget_system_call();
            ptrace::set_registers(self.thread, &skipped).map_err(lost)?;
        }
        self.within = Some(Within { registers, is_made });
        Ok(true)
    }

    /// What comes next from outside. `None`: nothing more.
    fn next_entry(&self) -> Option<Arc<Entry>> {
        (self.next < self.until).then(|| self.journal.entry(self.next))?
    }

    /// Has memory mapped at the address where it was.
    fn give_address(&self, call: &Made, mut registers: UserRegisters) -> Result<(), String> {
        let (number, mut arguments) = registers.system_call();
        let (flags, place) = match number.cast_signed() {
            libc::SYS_mmap => (3, 0),
            // The new address counts only with the flag.
            libc::SYS_mremap if arguments[3] & libc::MREMAP_MAYMOVE as u64 != 0 => (3, 4),
            _ => return Ok(()),
        };
        let fixed = match number.cast_signed() {
            libc::SYS_mmap => libc::MAP_FIXED as u64,
            // A mapping can't be moved to where it is.
            _ if arguments[0] == call.answer.cast_unsigned() => 0,
            _ => libc::MREMAP_FIXED as u64,
        };
        arguments[flags] |= fixed;
        if fixed != 0 {
            arguments[place] = call.answer.cast_unsigned();
        }
        registers.set_arguments(arguments);
        ptrace::set_registers(self.thread, &registers).map_err(lost)
    }

    /// The thread is behind a system call.
    fn left(&mut self, within: Within) -> Result<(), String> {
        let entry = within.registers;
        let call = self.journal.entry(self.next);
        let Some(Entry::Call(call)) = call.as_deref() else {
            return Err("the journal has no such call".into());
        };
        let mut registers = ptrace::registers(self.thread).map_err(lost)?;
        let name = system_call_name(call.number);
        if within.is_made && registers.answer() != call.answer && !has_own_answer(call) {
            let (now, then) = (registers.answer(), call.answer);
            return Err(format!("{name} returns {now} and not {then}"));
        }
        if let Again::Map(file) = &call.again {
            self.map(file, entry, call.answer)?;
        }
        if !returns_from_handler(call) {
            let (_, arguments) = entry.system_call();
            registers.set_arguments(arguments);
            registers.set_answer(call.answer, call.number);
            // Without a signal, the kernel knows nothing of a call that was interrupted.
            if registers.restarts_system_call()
                && let Some(Entry::Call(again)) = self.journal.entry(self.next + 1).as_deref()
            {
                registers.call_again();
                registers.set_call(again.number, arguments[0]);
            }
            ptrace::set_registers(self.thread, &registers).map_err(lost)?;
        }
        for (at, bytes) in &call.written {
            let done = self.memory.write(*at, bytes);
            done.map_err(|error| format!("what {name} wrote at {at} can't be written: {error}"))?;
        }
        self.next += 1;
        if let Some(Entry::Signal(signal)) = self.next_entry().as_deref()
            && !signal.is_of_instruction()
        {
            process::signal_thread(self.thread, signal.number()).map_err(lost)?;
        }
        Ok(())
    }

    /// Maps a file as it was mapped.
    fn map(&self, file: &MappedFile, entry: UserRegisters, answer: i64) -> Result<(), String> {
        let now = MappedFile::of(file.path.clone())?;
        if now != *file {
            return Err(format!("{} has changed", file.path.display()));
        }
        let (_, mut arguments) = entry.system_call();
        let path = CString::new(file.path.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
        let opened = injected::open(self.thread, &path)?;
        arguments[0] = answer.cast_unsigned();
        // Nobody else may see what is written there, nor the other way round.
        let kind = libc::MAP_TYPE as u64;
        arguments[3] = arguments[3] & !kind | (libc::MAP_PRIVATE | libc::MAP_FIXED) as u64;
        arguments[4] = opened;
        let mapped = injected::call(self.thread, libc::SYS_mmap, arguments, None)?;
        injected::call(self.thread, libc::SYS_close, [opened, 0, 0, 0, 0, 0], None)?;
        match mapped == answer {
            true => Ok(()),
            false => Err(format!(
                "{} can't be mapped: {}",
                file.path.display(),
                injected::refused(mapped)
            )),
        }
    }

    fn signalled(&mut self, event: WaitEvent, number: i32) -> Result<Replayed, String> {
        let mut registers = ptrace::registers(self.thread).map_err(lost)?;
        match self.next_entry().as_deref() {
            Some(Entry::Time(time, processor)) if number == libc::SIGSEGV => {
                registers.set_time(*time, *processor);
                ptrace::set_registers(self.thread, &registers).map_err(lost)?;
                self.next += 1;
                match self.how {
                    Resume::Step => Ok(self.step_is_over(event)),
                    _ => self.goes_on(),
                }
            }
            Some(Entry::Signal(signal)) if signal.number() == number => {
                let end = ExitStatus::Signal(number);
                let next = self.journal.entry(self.next + 1);
                if matches!(next.as_deref(), Some(Entry::End(status)) if *status == end) {
                    // The signal has ended it.
                    return Ok(Replayed::AtEnd);
                }
                if !signal.is_of_instruction() {
                    ptrace::set_whole_signal(self.thread, signal).map_err(lost)?;
                }
                self.due = Some(number);
                Ok(Replayed::Event(event))
            }
            None if number != libc::SIGTRAP => Ok(Replayed::AtEnd),
            _ if number == libc::SIGTRAP => Ok(Replayed::Event(event)),
            _ => Err(format!("signal {number} comes")),
        }
    }
}

/// Whether the copy's call may return something else: the copy's id, or a register of the code that a signal handler returns to.
fn has_own_answer(call: &Made) -> bool {
    returns_from_handler(call) || call.number.cast_signed() == libc::SYS_set_tid_address
}

fn returns_from_handler(call: &Made) -> bool {
    call.number.cast_signed() == libc::SYS_rt_sigreturn
}

fn system_call_name(number: u64) -> String {
    let name = crate::linux::system_calls::name(number);
    name.map_or_else(|| format!("system call {number}"), str::to_owned)
}
