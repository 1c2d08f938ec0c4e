//! Records a process while it runs.

use super::is_at_call;
use super::journal::{Again, Entry, Journal, Made, MappedFile, Written, fingerprint};
use crate::linux::checkpoint::{Checkpoint, Original};
use crate::linux::injected::lost;
use crate::linux::memory::ProcessMemory;
use crate::linux::system_calls::{Call, Kind, Mapped};
use crate::linux::{process, ptrace};
use crate::process::Resume;
use crate::signal_info::WholeSignal;
use crate::wait_event::{WaitEvent, What};
use crate::{Address, ThreadId};
use dapple_arch::registers::user::UserRegisters;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

/// Records a process with one thread.
///
/// Whoever runs the process resumes it by [`Recorder::resume`], and passes each event to [`Recorder::event`].
#[derive(Debug)]
pub struct Recorder {
    thread: ThreadId,
    memory: ProcessMemory,
    journal: Journal,
    /// The system call that it is in.
    within: Option<Within>,
    /// The system call that was interrupted, and goes on with restart_syscall(2).
    interrupted: Option<Call>,
    /// How far it runs.
    how: Resume,
    /// It runs for one instruction, which is a system call.
    steps_over_call: bool,
    /// Its last step was one over an instruction that was executed here, so that the kernel knows nothing of a step.
    stepped_over_time: bool,
    /// Its registers behind the last system call: there, a signal can be delivered again.
    behind_call: Option<UserRegisters>,
    /// Signals that have come elsewhere, and wait for the next system call.
    held: VecDeque<WholeSignal>,
    /// The signal that was sent again for its delivery.
    sent_again: Option<WholeSignal>,
    /// Where the heap ends (brk(2)), once the program has asked.
    heap_end: Option<Address>,
}

/// A system call that was entered.
#[derive(Debug)]
struct Within {
    call: Call,
    /// Stands for the registers.
    registers: u64,
    /// It isn't made: the program is told that there is no such call.
    refused: bool,
}

/// What instructions that read the processor's time are.
const TIME: [u8; 2] = [0x0f, 0x31];
const TIME_AND_PROCESSOR: [u8; 3] = [0x0f, 0x01, 0xf9];
/// The most memory that one call may have written.
const MOST_WRITTEN: u64 = 1 << 30;

impl Recorder {
    /// Begins with a stopped thread, the only one of its process, that [`super::start::prepare`] has made ready.
    ///
    /// # Errors
    /// The end of a sentence that says why it can't be recorded.
    pub fn new(thread: ThreadId) -> Result<Recorder, String> {
        let registers = ptrace::registers(thread).map_err(lost)?;
        Ok(Recorder {
            thread,
            memory: ProcessMemory::open(thread).map_err(lost)?,
            journal: Journal::default(),
            within: None,
            interrupted: None,
            how: Resume::Continue,
            steps_over_call: false,
            stepped_over_time: false,
            behind_call: Some(registers),
            held: VecDeque::new(),
            sent_again: None,
            heap_end: None,
        })
    }

    /// What was recorded so far.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The thread.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// Resumes the thread, delivering `signal` unless 0.
    ///
    /// # Errors
    /// The thread has died.
    pub fn resume(&mut self, how: Resume, signal: i32) -> io::Result<()> {
        if signal != 0 {
            let whole = ptrace::whole_signal(self.thread)?;
            self.journal.note(Entry::Signal(Box::new(whole)));
        }
        self.how = how;
        self.stepped_over_time = false;
        self.steps_over_call =
            how == Resume::Step && signal == 0 && is_at_call(self.thread, &self.memory);
        match how {
            Resume::Step if !self.steps_over_call => ptrace::step(self.thread, signal),
            _ => ptrace::cont_to_system_call(self.thread, signal),
        }
    }

    /// A checkpoint of the stopped process.
    ///
    /// # Errors
    /// The end of a sentence that says why none can be taken here.
    pub fn checkpoint(&self) -> Result<Checkpoint, String> {
        if self.within.is_some() {
            return Err("it is within a system call".into());
        }
        Checkpoint::take(&[Original::ask(self.thread)?])
    }

    /// Whether the thread runs its own code, as far as is known.
    pub fn computes(&self) -> bool {
        self.within.is_none()
    }

    /// Whether the end of the last step was reported without the kernel.
    pub fn has_feigned_step(&self) -> bool {
        self.stepped_over_time
    }

    /// Takes note of an event. Returns it unless it is only the recorder's, which then has resumed the thread. Also passes on events of other
    /// threads: those run unrecorded, and their reading of the processor's time traps all the same.
    pub fn event(&mut self, event: WaitEvent) -> Option<WaitEvent> {
        if event.what == What::Signal(libc::SIGSEGV) && self.reads_time(event.thread) {
            if event.thread == self.thread && self.how == Resume::Step {
                self.stepped_over_time = true;
                let what = What::Signal(libc::SIGTRAP);
                return Some(WaitEvent { what, ..event });
            }
            // If it has died, the next event says so.
            let _ = ptrace::cont_to_system_call(event.thread, 0);
            return None;
        }
        if event.thread != self.thread {
            return Some(event);
        }
        let is_mine = match event.what {
            What::SystemCall => {
                self.called();
                if self.steps_over_call {
                    // The kernel reports the step's end in place of the call's exit.
                    let _ = ptrace::step(self.thread, 0);
                    return None;
                }
                self.how != Resume::UntilSystemCall
            }
            What::Signal(libc::SIGTRAP) if self.steps_over_call => {
                self.steps_over_call = false;
                self.called();
                false
            }
            What::Signal(signal) => self.signalled(signal),
            What::NewThread(_) => {
                self.ends("it has made a thread".into());
                false
            }
            What::Executed { .. } => {
                self.ends("it has executed another program".into());
                false
            }
            What::Exited(status) => {
                self.journal.note(Entry::End(status));
                false
            }
            _ => false,
        };
        if !is_mine {
            return Some(event);
        }
        let _ = self.resume(self.how, 0);
        None
    }

    /// The thread is at the entry of a system call, or behind one.
    fn called(&mut self) {
        let done = match self.within.take() {
            None => self.entered(),
            Some(within) => self.left(within),
        };
        done.unwrap_or_else(|reason| self.ends(reason));
    }

    /// Nothing is recorded any more.
    fn ends(&mut self, reason: String) {
        self.journal.end_with(reason);
        for held in self.held.drain(..) {
            let _ = process::signal_thread(self.thread, held.number());
        }
    }

    fn entered(&mut self) -> Result<(), String> {
        let mut registers = ptrace::registers(self.thread).map_err(lost)?;
        let (number, arguments) = registers.system_call();
        let memory = &self.memory;
        let read = |at: Address, buffer: &mut [u8]| memory.read(at, buffer).is_ok();
        // The kernel would write the processor's number into the program's memory whenever it runs.
        let refused = number == libc::SYS_rseq.cast_unsigned();
        self.within = Some(Within {
            call: Call::entered(number, arguments, &read),
            registers: fingerprint(&registers),
            refused,
        });
        if refused {
            registers.forget_system_call();
            ptrace::set_registers(self.thread, &registers).map_err(lost)?;
        }
        Ok(())
    }

    fn left(&mut self, within: Within) -> Result<(), String> {
        let number = within.call.number();
        let mut registers = ptrace::registers(self.thread).map_err(lost)?;
        if within.refused {
            registers.set_answer(-i64::from(libc::ENOSYS), number);
            ptrace::set_registers(self.thread, &registers).map_err(lost)?;
        }
        self.behind_call = Some(registers);
        if !self.journal.goes_on() {
            return Ok(());
        }
        let answer = registers.answer();
        let read = |at: Address, buffer: &mut [u8]| self.memory.read(at, buffer).is_ok();
        let call = match within.call.continues_interrupted() {
            true => self.interrupted.take().unwrap_or(within.call),
            false => within.call,
        };
        let effects = call.effects(answer, &read);
        let effects = effects.map_err(|unknown| format!("it has called {unknown}"))?;
        self.note_mapped(&effects.what);
        let made = Made {
            number,
            registers: within.registers,
            answer,
            written: self.bytes_of(effects.written)?,
            again: self.again(effects.what, call.name())?,
        };
        self.interrupted = registers.goes_on_with_system_call().then_some(call);
        self.journal.note(Entry::Call(Box::new(made)));
        self.send_again();
        Ok(())
    }

    /// What the kernel has written.
    fn bytes_of(&self, written: Vec<Range<Address>>) -> Result<Written, String> {
        let mut all = Written::new();
        let mut size = 0_u64;
        for range in written {
            let length = range.end.0.saturating_sub(range.start.0);
            size = size.saturating_add(length);
            if size > MOST_WRITTEN {
                return Err("a system call has written too much".into());
            }
            let mut bytes = vec![0; length as usize];
            let length = self.memory.read_some(range.start, &mut bytes);
            bytes.truncate(length);
            if !bytes.is_empty() {
                all.push((range.start, bytes.into_boxed_slice()));
            }
        }
        Ok(all)
    }

    /// Notes what memory a call has mapped.
    fn note_mapped(&mut self, what: &Kind) {
        match what {
            Kind::Maps(mapped) => self.journal.maps(mapped.range.clone()),
            Kind::Moves { to, .. } => self.journal.maps(to.clone()),
            Kind::Breaks(end) => {
                let before = self.heap_end.replace(*end).unwrap_or(*end);
                self.journal.maps(before.min(*end)..before.max(*end));
            }
            _ => {}
        }
    }

    /// What of a call is done again in a copy, given what it has done.
    fn again(&self, what: Kind, name: Option<&str>) -> Result<Again, String> {
        let name = name.unwrap_or("a system call");
        Ok(match what {
            Kind::Plain
            | Kind::MakesProcess(_)
            | Kind::RobustList(_)
            | Kind::Rseq(_)
            | Kind::EndsThread
            | Kind::EndsProcess => Again::Nothing,
            Kind::Moves { .. }
            | Kind::Breaks(_)
            | Kind::Unmaps(_)
            | Kind::Protects { .. }
            | Kind::Advises { .. }
            | Kind::ReturnsFromHandler
            | Kind::SignalState
            | Kind::Registers
            | Kind::ClearsAtEnd(_) => Again::All,
            Kind::Maps(mapped) => return self.maps(&mapped),
            Kind::Detaches(_) | Kind::MakesThread(_) | Kind::Executes | Kind::FiltersCalls => {
                return Err(format!("it has called {name}"));
            }
            Kind::NotRecordable(name) => return Err(format!("it has called {name}")),
        })
    }

    fn maps(&self, mapped: &Mapped) -> Result<Again, String> {
        let is_anonymous = mapped.flags as i32 & libc::MAP_ANONYMOUS != 0;
        if is_anonymous {
            return Ok(Again::All);
        }
        let is_writable = mapped.protection & libc::PROT_WRITE as u64 != 0;
        let file = mapped.file.ok_or("it shares memory with others")?;
        if mapped.is_shared_with_others() && is_writable {
            return Err("it shares memory with others".into());
        }
        let path = process::file(self.thread, file).ok_or("a file that it maps has no name")?;
        Ok(Again::Map(MappedFile::of(path)?))
    }

    /// Sends a signal again that was held, for it to be delivered behind the present system call.
    fn send_again(&mut self) {
        if self.sent_again.is_none()
            && let Some(signal) = self.held.pop_front()
        {
            let _ = process::signal_thread(self.thread, signal.number());
            self.sent_again = Some(signal);
        }
    }

    /// A signal is about to be delivered. Returns whether it must not be now.
    fn signalled(&mut self, signal: i32) -> bool {
        if !self.journal.goes_on() {
            return false;
        }
        let Ok(registers) = ptrace::registers(self.thread) else {
            return false;
        };
        if let Some(again) = self.sent_again.take_if(|again| again.number() == signal) {
            let _ = ptrace::set_whole_signal(self.thread, &again);
            return false;
        }
        let Ok(whole) = ptrace::whole_signal(self.thread) else {
            return false;
        };
        let is_behind_call =
            { self.behind_call }.is_some_and(|behind| behind.to_words() == registers.to_words());
        if whole.is_of_instruction() || is_behind_call {
            return false;
        }
        self.held.push_back(whole);
        true
    }

    /// If a thread has trapped because it reads the processor's time: does that for it.
    fn reads_time(&mut self, thread: ThreadId) -> bool {
        let (Ok(mut registers), Ok(info)) =
            (ptrace::registers(thread), ptrace::signal_info(thread))
        else {
            return false;
        };
        let mut code = [0; 3];
        let length = self.memory.read_some(registers.pc(), &mut code);
        if info.code != libc::SI_KERNEL {
            return false;
        }
        let processor = match &code[..length] {
            [a, b, ..] if [*a, *b] == TIME => None,
            code if *code == TIME_AND_PROCESSOR => Some(0),
            _ => return false,
        };
        let time = super::start::time();
        registers.set_time(time, processor);
        if thread == self.thread {
            self.journal.note(Entry::Time(time, processor));
        }
        ptrace::set_registers(thread, &registers).is_ok()
    }
}
