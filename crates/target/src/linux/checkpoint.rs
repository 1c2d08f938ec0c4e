//! Checkpoints: copies of a stopped process, to go back to later.
//!
//! A copy is a fork by a system call that a stopped thread is made to call. The kernel copies only this thread, so the others are made anew
//! in the copy, with their registers, vector state, signal masks and alternate signal stacks. Memory is shared with the original until one of
//! the two writes it. The copy has none of the original's open files: it must not keep a pipe open whose other end somebody waits for. Its
//! threads have other ids than the original's, and none is in a system call: whoever lets the copy run answers its system calls.
//!
//! A copy of the debugger's child is another one, so that its end is waited for here. A process that was attached to must not get children that it
//! doesn't know of, and neither must its parent: there, a copy is an orphan, which init(1) waits for. Each is killed with the debugger.

use crate::linux::injected::{self, lost};
use crate::linux::memory::ProcessMemory;
use crate::linux::{attach, process, ptrace, wait};
use crate::{Address, ThreadId};
use dapple_arch::abi::RED_ZONE;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;

/// The bytes below a thread's stack pointer that are its own, and room for what a call reads or writes.
const BELOW_STACK: u64 = RED_ZONE + 64;
/// The size of `stack_t` (sigaltstack(2)).
const STACK_SIZE: usize = 24;
/// Where its `ss_flags` are.
const FLAGS: usize = 8;
/// No alternate stack.
const NO_STACK: [u8; STACK_SIZE] = {
    let mut stack = [0; STACK_SIZE];
    stack[FLAGS] = libc::SS_DISABLE as u8;
    stack
};

/// A stopped copy of a process.
#[derive(Debug)]
pub struct Checkpoint {
    process: ThreadId,
    /// Means the process also when its id is another's.
    handle: OwnedFd,
    threads: Vec<(ThreadId, ThreadId)>,
    originals: Vec<Original>,
    /// Threads of the copy that have ended, which nobody has been told yet.
    ended: Vec<ThreadId>,
}

/// A thread to be copied, with what the kernel doesn't copy of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Original {
    /// Its id.
    pub thread: ThreadId,
    /// The address that the kernel clears when the thread ends (set_tid_address(2)). 0: none.
    pub cleared: u64,
    /// Its alternate signal stack, as `stack_t` (sigaltstack(2)). `None`: it has none.
    pub alternate: Option<[u8; STACK_SIZE]>,
}

impl Original {
    /// Asks a stopped thread, which is neither within a system call nor stopped before the delivery of a signal.
    ///
    /// # Errors
    /// The end of a sentence that says why it can't be asked.
    pub fn ask(thread: ThreadId) -> Result<Original, String> {
        let memory = ProcessMemory::open(thread).map_err(lost)?;
        with_room(thread, &memory, |room| {
            let get = [libc::PR_GET_TID_ADDRESS as u64, room.0, 0, 0, 0, 0];
            // A kernel without CONFIG_CHECKPOINT_RESTORE doesn't tell.
            let cleared = match injected::call(thread, libc::SYS_prctl, get, None)? {
                0 => read_word(&memory, room)?,
                _ => 0,
            };
            let get = [0, room.0, 0, 0, 0, 0];
            let answer = injected::call(thread, libc::SYS_sigaltstack, get, None)?;
            succeeded("its signal stack can't be read", answer)?;
            let mut stack = [0; STACK_SIZE];
            memory.read(room, &mut stack).map_err(unreadable)?;
            let is_none = i32::from(stack[FLAGS]) & libc::SS_DISABLE != 0;
            Ok(Original {
                thread,
                cleared,
                alternate: (!is_none).then_some(stack),
            })
        })
    }
}

impl Original {
    /// Has a thread without an alternate signal stack call sigaltstack(2) for that. Signal handlers are told flags that are others in a thread that
    /// has never called it, and in the copy of one.
    ///
    /// # Errors
    /// The end of a sentence that says why that can't be.
    pub fn tell_of_no_stack(&self) -> Result<(), String> {
        match self.alternate {
            None => set_alternate_stack(self.thread, NO_STACK),
            Some(_) => Ok(()),
        }
    }
}

impl Checkpoint {
    /// Copies the process of `threads`, which are all its threads. All are stopped; `maker` is the one that makes the copy: it must not be within a
    /// system call, nor stopped before the delivery of a signal. A copy of a thread that was interrupted in a system call calls again.
    ///
    /// # Errors
    /// The end of a sentence that says why it can't be copied. Nothing is left of the copy.
    pub fn take(threads: &[Original], maker: ThreadId) -> Result<Checkpoint, String> {
        // The child is to be waited for by the debugger alone, if it is the parent.
        let is_ours = attach::parent(maker) == Some(ThreadId(std::process::id() as i32));
        Checkpoint::forked(threads, || match is_ours {
            true => fork_sibling(maker),
            false => fork_orphan(maker),
        })
    }

    /// A copy whose process `fork` makes.
    fn forked(
        threads: &[Original],
        fork: impl FnOnce() -> Result<ThreadId, String>,
    ) -> Result<Checkpoint, String> {
        let [first, others @ ..] = threads else {
            return Err("it has no threads".into());
        };
        let process = fork()?;
        // From here on the copy is killed if something fails.
        let mut copy = Checkpoint {
            process,
            handle: handle(process)?,
            threads: vec![(first.thread, process)],
            originals: threads.to_vec(),
            ended: Vec::new(),
        };
        settle(first.thread, process)?;
        let all = [0, u32::MAX.into(), 0, 0, 0, 0];
        let answer = injected::call(process, libc::SYS_close_range, all, None)?;
        succeeded("the copy's files can't be closed", answer)?;
        let cleared = [first.cleared, 0, 0, 0, 0, 0];
        injected::call(process, libc::SYS_set_tid_address, cleared, None)?;
        for original in others {
            let made = make_thread(process, original.cleared)?;
            copy.threads.push((original.thread, made));
            settle(original.thread, made)?;
        }
        for (original, (_, made)) in threads.iter().zip(&copy.threads) {
            // The first one has that of the thread that has made the copy.
            set_alternate_stack(*made, original.alternate.unwrap_or(NO_STACK))?;
        }
        Ok(copy)
    }

    /// Another copy, while this one is as it was taken. Its threads are named by the same originals.
    ///
    /// # Errors
    /// As [`Checkpoint::take`].
    pub fn copy(&self) -> Result<Checkpoint, String> {
        let threads = self.originals.iter().zip(&self.threads);
        let threads = threads.map(|(original, (_, thread))| Original {
            thread: *thread,
            ..*original
        });
        self.sibling(&threads.collect::<Vec<_>>())
    }

    /// A copy of this one as it is now, after it has run. All its threads are stopped, and none is within a system call or before the delivery of a
    /// signal. Its threads are named by the same originals.
    ///
    /// # Errors
    /// As [`Checkpoint::take`], and those of [`Original::ask`].
    pub fn now(&self) -> Result<Checkpoint, String> {
        let threads = self
            .threads
            .iter()
            .map(|(_, thread)| Original::ask(*thread));
        let threads = threads.collect::<Result<Vec<_>, String>>()?;
        self.sibling(&threads)
    }

    /// Another copy, of these threads of this one.
    fn sibling(&self, threads: &[Original]) -> Result<Checkpoint, String> {
        let mut copy = Checkpoint::forked(threads, || fork_sibling(self.process))?;
        copy.name_as(self);
        Ok(copy)
    }

    /// The copy has made a thread, which stands for one of the original.
    pub fn add(&mut self, original: ThreadId, made: ThreadId) {
        self.threads.push((original, made));
    }

    /// A thread of the copy has ended, and its end is yet to be reported.
    pub fn ends(&mut self, made: ThreadId) {
        self.threads.retain(|(_, copy)| *copy != made);
        self.ended.push(made);
    }

    /// A thread of the copy has ended.
    pub fn remove(&mut self, made: ThreadId) {
        self.threads.retain(|(_, copy)| *copy != made);
        self.ended.retain(|ended| *ended != made);
    }

    /// Names the threads by the originals of another checkpoint.
    pub fn name_as(&mut self, source: &Checkpoint) {
        for ((own, _), (original, _)) in self.threads.iter_mut().zip(&source.threads) {
            *own = *original;
        }
    }

    /// The process that is the copy.
    pub fn process(&self) -> ThreadId {
        self.process
    }

    /// The threads of the original, each with its copy. The first one is the copy's first thread.
    pub fn threads(&self) -> &[(ThreadId, ThreadId)] {
        &self.threads
    }
}

/// Gives a new thread of a copy the state of its original, and has it killed with the debugger.
fn settle(original: ThreadId, made: ThreadId) -> Result<(), String> {
    ptrace::kill_at_exit(made).map_err(lost)?;
    let state = ptrace::extended_state(original).map_err(lost)?;
    ptrace::set_extended_state(made, &state).map_err(lost)?;
    let mask = ptrace::signal_mask(original).map_err(lost)?;
    ptrace::set_signal_mask(made, mask).map_err(lost)?;
    let mut registers = ptrace::registers(original).map_err(lost)?;
    registers.call_again();
    registers.forget_system_call();
    ptrace::set_registers(made, &registers).map_err(lost)
}

impl Drop for Checkpoint {
    /// Kills the copy, and waits for its end.
    fn drop(&mut self) {
        if pidfd_send_signal(&self.handle, Signal::KILL).is_err() {
            return;
        }
        // The first thread's end is reported last.
        let threads = self.threads.iter().map(|(_, thread)| thread).rev();
        for thread in self.ended.iter().chain(threads) {
            wait_for_end(*thread);
        }
    }
}

fn set_alternate_stack(thread: ThreadId, mut stack: [u8; STACK_SIZE]) -> Result<(), String> {
    let memory = ProcessMemory::open(thread).map_err(lost)?;
    // The kernel finds out by the stack pointer whether a thread is on it.
    stack[FLAGS] &= !(libc::SS_ONSTACK as u8);
    with_room(thread, &memory, |room| {
        memory
            .write(room, &stack)
            .map_err(|error| error.to_string())?;
        let set = [room.0, 0, 0, 0, 0, 0];
        // A thread that runs a handler on such a stack already may not set one (sigaltstack(2)): it is taken from there meanwhile.
        let registers = ptrace::registers(thread).map_err(lost)?;
        let mut elsewhere = registers;
        elsewhere.set_sp(0);
        ptrace::set_registers(thread, &elsewhere).map_err(lost)?;
        let answer = injected::call(thread, libc::SYS_sigaltstack, set, None);
        ptrace::set_registers(thread, &registers).map_err(lost)?;
        succeeded("its signal stack can't be set", answer?)
    })
}

/// Calls `act` with the address of some bytes below a thread's stack, which are as before afterwards.
fn with_room<T>(
    thread: ThreadId,
    memory: &ProcessMemory,
    act: impl FnOnce(Address) -> Result<T, String>,
) -> Result<T, String> {
    let sp = ptrace::registers(thread).map_err(lost)?.sp();
    let room = Address(sp.wrapping_sub(BELOW_STACK) & !15);
    let mut before = [0; STACK_SIZE];
    memory.read(room, &mut before).map_err(unreadable)?;
    let done = act(room);
    memory
        .write(room, &before)
        .map_err(|error| error.to_string())?;
    done
}

/// Waits for the end of a thread that was killed.
fn wait_for_end(thread: ThreadId) {
    while let Some(status) = wait::raw_status_of(thread) {
        if !libc::WIFSTOPPED(status) {
            return;
        }
        let _ = ptrace::cont(thread, 0);
    }
}

fn handle(process: ThreadId) -> Result<OwnedFd, String> {
    let id = Pid::from_raw(process.0).ok_or("the copy has no id")?;
    pidfd_open(id, PidfdFlags::empty()).map_err(|error| {
        let _ = process::signal(process, libc::SIGKILL);
        wait_for_end(process);
        error.to_string()
    })
}

/// Makes a thread fork. Returns the child of its process's parent, which has stopped.
fn fork_sibling(thread: ThreadId) -> Result<ThreadId, String> {
    make(thread, [libc::CLONE_PARENT as u64, 0, 0, 0, 0, 0])
}

/// Makes a thread fork. Returns the child of a child that has ended, which has stopped. The thread's process learns nothing of either.
fn fork_orphan(thread: ThreadId) -> Result<ThreadId, String> {
    /// `__WALL` (wait(2)): also a child whose end isn't signalled.
    const ALL: u64 = 0x4000_0000;
    // No signal tells of this one's end.
    let between = make(thread, [0; 6])?;
    let forked = ptrace::kill_at_exit(between)
        .map_err(lost)
        .and_then(|()| make(between, [0; 6]));
    let _ = process::signal(between, libc::SIGKILL);
    wait_for_end(between);
    let waited = [between.0.unsigned_abs().into(), 0, ALL, 0, 0, 0];
    let reaped = injected::call(thread, libc::SYS_wait4, waited, None);
    let forked = forked?;
    match reaped {
        // Another thread of the process has waited for all its children.
        Ok(_) => Ok(forked),
        Err(why) => {
            let _ = process::signal(forked, libc::SIGKILL);
            wait_for_end(forked);
            Err(why)
        }
    }
}

/// Makes a copy's first thread make another thread.
fn make_thread(process: ThreadId, cleared: u64) -> Result<ThreadId, String> {
    let flags = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM;
    let clears = match cleared {
        0 => 0,
        _ => libc::CLONE_CHILD_CLEARTID,
    };
    make(process, [(flags | clears) as u64, 0, 0, cleared, 0, 0])
}

fn make(thread: ThreadId, arguments: [u64; 6]) -> Result<ThreadId, String> {
    let (answer, made) = injected::call_making(thread, libc::SYS_clone, arguments, None)?;
    succeeded("the system refuses to copy it", answer.min(0))?;
    let made = made.ok_or("the copy isn't traced")?;
    match wait::until_stopped(made) {
        true => Ok(made),
        false => Err("its copy has ended".into()),
    }
}

fn succeeded(what: &str, answer: i64) -> Result<(), String> {
    match answer {
        0 => Ok(()),
        _ => Err(format!("{what}: {}", injected::refused(answer))),
    }
}

fn read_word(memory: &ProcessMemory, at: Address) -> Result<u64, String> {
    let mut bytes = [0; 8];
    memory.read(at, &mut bytes).map_err(unreadable)?;
    Ok(u64::from_le_bytes(bytes))
}

fn unreadable(at: Address) -> String {
    format!("its stack can't be read at {at}")
}
