//! A process as the engine runs it: its threads' states, its memory, its events.
//!
//! [`Process`] is the interface between the engine, which decides, and whatever executes the program. A live process on this machine is
//! [`crate::linux::live_process::LiveProcess`], one behind a stub [`crate::remote::RemoteProcess`]. What the engine only looks at has an interface of its own, for
//! live processes and core files alike (`Inspect` in `dapple-inspect`).
//!
//! The methods take `&self`, because memory is read through shared references while the process is being controlled. Only the thread that
//! started or attached to the process may call them. A request to a thread that has died fails, and the thread's [`What::Exited`] follows.
//!
//! [`What::Exited`]: crate::wait_event::What::Exited

use crate::auxiliary_vector::AuxiliaryVector;
use crate::memory_map::Mapping;
use crate::signal_info::{SignalInfo, WholeSignal};
use crate::wait_event::WaitEvent;
use crate::{Address, ThreadId};
use dapple_arch::decision::Truth;
use dapple_arch::registers::Vectors;
use dapple_arch::registers::user::UserRegisters;
use dapple_arch::trap::TRAP;
use dapple_arch::watch_slots::{SLOTS, Slot};
use dapple_arch::{InstructionSet, Machine, Memory};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How far a resumed thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Until it has an event.
    Continue,
    /// As `Continue`, but entering or leaving a system call is an event, too.
    UntilSystemCall,
    /// One instruction.
    Step,
}

/// The result of a wait.
#[derive(Debug)]
pub enum Waited<T> {
    /// A thread has an event.
    Event(T),
    /// The wait was interrupted: a command or input has arrived.
    Woken,
    /// No thread is left to wait for.
    NoThreads,
}

/// An event that a thread has, and that was not taken yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peeked {
    /// The thread.
    pub thread: ThreadId,
    /// It is stopped before the delivery of SIGTRAP.
    pub is_trap: bool,
}

/// A process that can be run and stopped.
pub trait Process: Memory + Debug + Send + Sync {
    /// The process's id, which is its first thread's, too.
    fn id(&self) -> ThreadId;

    /// The processor that it runs on.
    fn machine(&self) -> Machine {
        Machine::X86_64
    }

    /// Whether it runs on this system: its ids, clocks and files are this system's.
    fn is_local(&self) -> bool {
        true
    }

    /// The process `id` as seen by the same debugger: this process after it has executed another program, or a forked child.
    ///
    /// # Errors
    /// Its memory can't be opened.
    fn reopen(&self, id: ThreadId) -> io::Result<Arc<dyn Process>>;

    // Events.

    /// Waits for the next event of any thread of this tracer, or only of `thread`, and takes it: the thread no longer has the event.
    ///
    /// # Errors
    /// The wait itself has failed.
    fn next_event(&self, thread: Option<ThreadId>) -> io::Result<Waited<WaitEvent>>;

    /// As [`Process::next_event`], but doesn't take the event: it stays until [`Process::take_event`] is called.
    ///
    /// # Errors
    /// The wait itself has failed.
    fn peek_event(&self, thread: Option<ThreadId>) -> io::Result<Waited<Peeked>>;

    /// Takes the event that [`Process::peek_event`] has returned for the thread. `None`: the thread was killed in its stop.
    fn take_event(&self, thread: ThreadId) -> Option<WaitEvent>;

    /// Called when all threads that are known have stopped: what has happened to threads without being told, where nothing tells it. New ones
    /// are stopped, too.
    fn find_threads(&self) -> Vec<WaitEvent> {
        Vec::new()
    }

    /// Whether any thread has an event.
    fn has_event(&self) -> bool;

    /// Takes an event that has come already, of any thread. Unlike [`Process::next_event`], never waits: also not where [`Process::has_event`] is true,
    /// because an event may be one that is recorded and no more.
    fn pending_event(&self) -> Option<WaitEvent>;

    /// Waits for the next event of one thread, and takes it; a waker does not interrupt this wait. `None`: there is no such thread.
    fn event_of(&self, thread: ThreadId) -> Option<WaitEvent>;

    /// As [`Process::event_of`], but the event stays until it is taken.
    fn peek_event_of(&self, thread: ThreadId) -> Option<Peeked>;

    /// Waits until a thread is stopped, for whatever reason, and takes the event. `false`: the thread has ended.
    fn wait_until_stopped(&self, thread: ThreadId) -> bool;

    /// Has whoever executes the program carry out a command of its own. Returns what it says. Registers and memory may be others then.
    ///
    /// # Errors
    /// A sentence that says why not.
    fn monitor(&self, _command: &str) -> Result<String, String> {
        Err("the program is not behind a stub, whose commands these would be".into())
    }

    /// What whoever executes the program says of a thread's trap, which is a finding of its own: valgrind's text of an error in the use of memory.
    fn finding(&self, _thread: ThreadId) -> Option<String> {
        None
    }

    // Running.

    /// Whether the process can run backwards, because whoever executes it replays a recording.
    fn runs_backwards(&self) -> bool {
        false
    }

    /// Whether threads that are resumed from now on run backwards. Only for a process that can.
    fn set_backwards(&self, _backwards: bool) {}

    /// Has a stopped thread execute one instruction, forwards or backwards, and waits for that: no event tells of it. Only for a process that can run
    /// backwards.
    ///
    /// # Errors
    /// The process can't, or is lost.
    fn step_once(&self, _thread: ThreadId, _backwards: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Resumes a stopped thread, delivering `signal` unless 0.
    ///
    /// # Errors
    /// The thread has died.
    fn resume(&self, thread: ThreadId, how: Resume, signal: i32) -> io::Result<()>;

    /// Asks a running thread to stop.
    ///
    /// # Errors
    /// The thread has died.
    fn interrupt(&self, thread: ThreadId) -> io::Result<()>;

    /// Leaves a thread in its group stop until SIGCONT.
    ///
    /// # Errors
    /// The thread has died.
    fn stay_in_group_stop(&self, thread: ThreadId) -> io::Result<()>;

    /// Whether a thread is stopped, and not about to end.
    fn is_stopped(&self, thread: ThreadId) -> bool;

    /// Makes a stopped thread report no more events, and survive the debugger's end. Call this for all threads before the first one is detached.
    ///
    /// # Errors
    /// The thread has died.
    fn prepare_detach(&self, thread: ThreadId) -> io::Result<()>;

    /// Ends the control of a stopped thread, delivering `signal` unless 0.
    ///
    /// # Errors
    /// The thread has died.
    fn detach(&self, thread: ThreadId, signal: i32) -> io::Result<()>;

    /// Kills the process, after a failure of the engine itself, and takes all events of this tracer's threads up to the process's end.
    fn kill_after_failure(&self);

    // Signals.

    /// Sends a signal to this process, or to a child of it.
    ///
    /// # Errors
    /// There is no such process, or it is another user's.
    fn signal(&self, process: ThreadId, signal: i32) -> io::Result<()>;

    /// The signal at whose delivery a thread is stopped. If the thread is stopped at another event, this is SIGTRAP with the event in the code.
    ///
    /// # Errors
    /// The thread is not stopped, or has died.
    fn signal_info(&self, thread: ThreadId) -> io::Result<SignalInfo>;

    /// The signal of [`Process::signal_info`] with all its data, for [`Process::set_whole_signal`].
    ///
    /// # Errors
    /// As [`Process::signal_info`].
    fn whole_signal(&self, thread: ThreadId) -> io::Result<WholeSignal>;

    /// Replaces the signal at whose delivery a thread is stopped.
    ///
    /// # Errors
    /// As [`Process::signal_info`].
    fn set_whole_signal(&self, thread: ThreadId, signal: &WholeSignal) -> io::Result<()>;

    /// Changes the address (`si_addr`) of the fault at whose delivery a thread is stopped.
    ///
    /// # Errors
    /// As [`Process::signal_info`].
    fn set_fault_address(&self, thread: ThreadId, address: Address) -> io::Result<()>;

    /// Sends the whole process the signal at whose delivery a thread is stopped, because this thread won't receive it. A signal that was
    /// directed at this thread alone, or that an instruction of the thread has raised, isn't sent: it is lost.
    fn hand_back_signal(&self, thread: ThreadId, signal: i32);

    /// Whether a thread is stopped before the delivery of a signal, so that one can be delivered when it is resumed.
    fn is_before_signal(&self, thread: ThreadId) -> bool;

    /// Whether a thread is stopped inside a system call whose result the kernel has yet to write (fork, vfork, clone, exec).
    fn is_within_system_call(&self, thread: ThreadId) -> bool;

    /// The signals that a stopped thread blocks: one bit each, the lowest for signal 1.
    ///
    /// # Errors
    /// The thread has died.
    fn signal_mask(&self, thread: ThreadId) -> io::Result<u64>;

    /// Sets the signals that a stopped thread blocks; SIGKILL and SIGSTOP can't be blocked.
    ///
    /// # Errors
    /// The thread has died.
    fn set_signal_mask(&self, thread: ThreadId, mask: u64) -> io::Result<()>;

    /// Whether the program has a handler for `signal`.
    fn catches(&self, signal: i32) -> bool;

    /// Whether the program ignores `signal`.
    fn ignores(&self, signal: i32) -> bool;

    // Registers of a stopped thread. All fail if the thread has died.

    /// The general registers.
    ///
    /// # Errors
    /// The thread has died.
    fn registers(&self, thread: ThreadId) -> io::Result<UserRegisters>;

    /// Sets the general registers.
    ///
    /// # Errors
    /// The thread has died.
    fn set_registers(&self, thread: ThreadId, registers: &UserRegisters) -> io::Result<()>;

    /// The registers for floating-point numbers and vectors.
    ///
    /// # Errors
    /// The thread has died.
    fn vectors(&self, thread: ThreadId) -> io::Result<Vectors>;

    /// Sets the registers for floating-point numbers and vectors.
    ///
    /// # Errors
    /// The thread has died.
    fn set_vectors(&self, thread: ThreadId, vectors: &Vectors) -> io::Result<()>;

    /// The top of the x87 register stack.
    ///
    /// # Errors
    /// The thread has died.
    fn x87_top(&self, thread: ThreadId) -> io::Result<[u8; 10]>;

    /// The state of the units for floating-point numbers and vectors, in the format of [`dapple_arch::registers::state`].
    ///
    /// # Errors
    /// The thread has died.
    fn extended_state(&self, thread: ThreadId) -> io::Result<Vec<u8>>;

    /// Sets the state that [`Process::extended_state`] has read.
    ///
    /// # Errors
    /// The thread has died, or the state is not valid.
    fn set_extended_state(&self, thread: ThreadId, state: &[u8]) -> io::Result<()>;

    /// Makes a thread trap after accesses to these slots, and disables all others.
    ///
    /// # Errors
    /// The thread has died, or the kernel refuses an address.
    fn set_watch_slots(&self, thread: ThreadId, slots: &[Option<Slot>; SLOTS]) -> io::Result<()>;

    /// What the debug status register says since the last call (`watch_slots::HITS`, `watch_slots::SINGLE_STEP`). Clears the hits.
    ///
    /// # Errors
    /// The thread has died.
    fn take_watch_status(&self, thread: ThreadId) -> io::Result<u64>;

    /// Whether it is a copy that is replayed, which is killed with the debugger.
    fn is_copy(&self) -> bool;

    /// How many things have come from outside, for a process that is recorded or replayed. `None`: it is neither.
    fn position(&self) -> Option<usize>;

    /// Ends a replay when `position` things have come from outside and something more would ([`WaitEvent`] with
    /// [`What::ReplayEnds`](crate::wait_event::What::ReplayEnds)). `last`: the thread that runs when that many have come; `None`: none does.
    fn replay_until(&self, position: usize, last: Option<ThreadId>);

    /// How a replay has parted from the recording, as a sentence without a full stop. `None`: it hasn't, or this is none.
    fn parted(&self) -> Option<String>;

    /// Whether a thread has a shadow stack, so that each return must go to where a call has been.
    fn has_shadow_stack(&self, thread: ThreadId) -> bool;

    // Memory. Reading is `Memory`.

    /// Makes a stopped thread map `size` bytes of new memory for code at `address`, both multiples of a page. No code of the program runs. The thread
    /// must not be stopped before the delivery of a signal, nor within a system call. `call`: where a `syscall` instruction is; `None`: it is
    /// looked for in the program's code. In a copy that is replayed, the code may also write the memory.
    ///
    /// # Errors
    /// The end of a sentence that says why not: there is memory already, or the process may not map any, or it has died.
    fn map_code(
        &self,
        thread: ThreadId,
        address: Address,
        size: u64,
        call: Option<Address>,
    ) -> Result<(), String>;

    /// Makes a stopped thread map `size` bytes of new memory that the debugger shares, as [`Process::map_code`] does: zeros at first. Returns where
    /// they are, and the file of memory that has them, which can't become smaller. It outlives the process; children that the process forks don't have it.
    ///
    /// # Errors
    /// As of [`Process::map_code`].
    fn share(
        &self,
        thread: ThreadId,
        size: u64,
        call: Option<Address>,
    ) -> Result<(Address, File), String>;

    /// Writes all of `bytes`, whatever the page's protection.
    ///
    /// # Errors
    /// There is no memory at a part of the range.
    fn write(&self, address: Address, bytes: &[u8]) -> io::Result<()>;

    /// Whether breakpoints aren't seen in memory, because something else inserts them and hides them: then memory must not be written where
    /// one is but with the program's own bytes.
    fn hides_breakpoints(&self) -> bool {
        false
    }

    /// Whether a thread that has run into an inserted breakpoint is moved back to it. Else it is behind the breakpoint instruction.
    fn moves_back(&self) -> bool {
        false
    }

    /// Why the process can't be reached any more. Nothing that is asked of it succeeds then, and no event comes. `None`: it can.
    fn lost(&self) -> Option<String> {
        None
    }

    /// Tells by which instruction set the code at an address is decoded: only breakpoints there depend on it, where a machine has several.
    fn set_instruction_set(&self, _address: Address, _set: InstructionSet) {}

    /// Inserts a breakpoint instruction.
    ///
    /// # Errors
    /// There is no memory, or no breakpoint can be inserted there.
    fn insert_breakpoint(&self, address: Address) -> io::Result<()> {
        self.write(address, &[TRAP])
    }

    /// Removes a breakpoint instruction, below which is the byte `original`.
    ///
    /// # Errors
    /// There is no memory any more.
    fn remove_breakpoint(&self, address: Address, original: u8) -> io::Result<()> {
        self.write(address, &[original])
    }

    /// Whether a breakpoint instruction is at an address. In memory, it may be the program's own.
    fn has_breakpoint(&self, address: Address) -> bool {
        let mut byte = [0];
        self.read(address, &mut byte).is_ok() && byte[0] == TRAP
    }

    /// Whether whoever inserts the breakpoints can decide their conditions ([`Process::set_condition`]).
    fn decides_conditions(&self) -> bool {
        false
    }

    /// Lets threads go on at an inserted breakpoint for which `condition` is false. One for which it is true or has no value stops, and so does any
    /// whose memory can't be read. `None`: all stop. Removing the breakpoint removes its condition.
    ///
    /// # Errors
    /// Why the condition can't be decided, as a clause. Then all threads stop.
    fn set_condition(&self, _address: Address, condition: Option<&Truth>) -> Result<(), String> {
        match condition {
            Some(_) => Err("nobody but the debugger decides".to_owned()),
            None => Ok(()),
        }
    }

    /// Whether the breakpoint at an address has a condition.
    fn has_condition(&self, _address: Address) -> bool {
        false
    }

    /// A number that differs whenever memory may have changed, provided that no thread runs.
    fn changes(&self) -> u64;

    /// The memory map, sorted by address; empty if it can't be read.
    fn mappings(&self) -> Vec<Mapping>;

    /// The starts of those mappings that have memory of the process's own, including mappings of files that were written to.
    ///
    /// # Errors
    /// It can't be found out.
    fn own_mappings(&self) -> io::Result<BTreeSet<u64>>;

    // The program.

    /// The auxiliary vector in the kernel's format.
    ///
    /// # Errors
    /// It can't be read.
    fn auxiliary_bytes(&self) -> io::Result<Vec<u8>>;

    /// The entries of the auxiliary vector that locate modules.
    fn auxiliary_vector(&self) -> AuxiliaryVector {
        let bytes = self.auxiliary_bytes().unwrap_or_default();
        AuxiliaryVector::parse(self.machine(), &bytes)
    }

    /// The path of the executable; empty if it can't be found out.
    fn executable(&self) -> PathBuf;

    /// A path at which the executable can be opened, even if it was replaced or removed since the process started it.
    fn running_executable(&self) -> PathBuf;

    /// A path at which the debugger can open a file that is at `path` for the process, which may be in a container.
    fn visible(&self, path: &Path) -> PathBuf;

    /// The command line.
    fn command_line(&self) -> String;

    /// The name of a thread, of this process or of any other; empty if the thread has just ended.
    fn thread_name(&self, thread: ThreadId) -> String;
}
