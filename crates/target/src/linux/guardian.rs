//! Restores an attached process if the debugger is killed before it could detach.
//!
//! When a tracer dies, the kernel lets its tracees run at once, with all breakpoints still inserted. A launched process is killed then, but
//! an attached one must live on. So each such session has a *guardian*: a forked process that shares one piece of memory with the debugger
//! and sleeps. The debugger records each breakpoint byte there before it inserts the byte, and erases the record after it has removed the
//! byte. A record takes a few plain stores; a thread that hits a breakpoint changes no record. The guardian sleeps on a robust mutex in that
//! memory, which the tracer thread has locked as long as it lives. The kernel releases the mutex early in a thread's exit, before it detaches
//! the thread's tracees, whatever caused the exit (`get_robust_list(2)`). Then the guardian repairs the process (`repair`) and ends.
//!
//! The guardian is forked twice and has a session of its own, so that no process has to wait for it and it isn't killed with the debugger's
//! process tree or group. It keeps two descriptors: the process's memory, and its directory in `/proc`. Both refer to the process itself,
//! not to an id that another process may reuse.
//!
//! Where the guardian is late, a thread must at worst end by SIGTRAP, never compute something else. That is why the engine only peeks at a
//! stop until the thread that has hit a breakpoint is moved back to the breakpoint's address. Breakpoints that are still inserted, debug
//! registers and the trap flag of a single step would end the process if a thread ran into them before the repair: the process has a handler of
//! SIGTRAP for that ([`crate::linux::trap_handler`]). The guardian makes a thread leave the handler before it looks where the thread is, and
//! turns the handler off at the end. A thread in a copy of an instruction runs on correctly, because the copy ends with a jump back.
//!
//! Jumps to code that decides conditions inside of the program need more. An inserted jump is harmless as soon as that code decides nothing
//! any more, so that is seen to first: a switch in front of the code turns decisions off, and the `int3` of threads that ask becomes a `nop`
//! ([`Guardian::note_trampoline`]). The jumps themselves are replaced once all threads stand still. The engine writes and removes a jump
//! under an `int3`, so a thread never runs into half of one. The trampolines' memory stays: threads may be in it.
//!
//! For a moment, the engine also lets a thread of the program run its own way: through a system call, or through code that must not be
//! interrupted. The guardian gives such a thread its registers and its signal mask back ([`Guardian::lend`]).
//!
//! Threads of a process that is recorded can't read the processor's time. The guardian lets them again.
//!
//! Beyond the guardian's reach:
//! - A thread of a recorded process that reads the processor's time before the guardian has stopped it: it gets SIGSEGV.
//! - A stop that the tracer had not taken when it was killed, in a program that has a handler of SIGTRAP by itself or ignores the signal: the
//!   kernel gives the thread the SIGTRAP of that stop as soon as the tracer is gone. Other programs get a handler from the debugger, which
//!   moves the thread back ([`crate::linux::trap_handler`]).
//! - A signal at whose delivery a thread is stopped, once the tracer has taken the stop: the signal is lost.
//! - Children of `fork` that were not detached yet. A vfork child may be in a displaced copy of an instruction: the parent can't be stopped
//!   before it has its memory back, and until then the copies stay.
//! - A thread that has run into a fault of a decision (a condition on what can't be read), and whose stop the tracer had not taken.
//! - A child that is handed over between two tracers, if both are killed in those milliseconds: it sleeps for a minute and then runs on
//!   with all signals blocked ([`crate::linux::handover`]).

mod repair;

use crate::linux::memory::ProcessMemory;
use crate::linux::wait;
use crate::{Address, ThreadId};
use dapple_arch::displaced::ROOM;
use dapple_arch::jump_site::JUMP;
use dapple_arch::registers::user::{REGISTER_WORDS, UserRegisters};
use rustc_hash::FxHashMap;
use std::cell::UnsafeCell;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// How many processes the guardians of this debugger protect.
static GUARDED: AtomicUsize = AtomicUsize::new(0);

/// Whether this debugger has a guardian: it traces a process that must outlive it.
pub fn guards_any() -> bool {
    GUARDED.load(Ordering::SeqCst) > 0
}

/// The most bytes that can be inserted at a time.
const MOST_BYTES: usize = 1 << 18;
/// The most copies of instructions (for displaced stepping) at a time.
const MOST_COPIES: usize = 1 << 13;
/// The most trampolines at a time.
const MOST_TRAMPOLINES: usize = 1 << 14;

/// An inserted breakpoint byte, or jump; the address is 0 if the entry is free.
#[repr(C)]
struct Inserted {
    address: AtomicU64,
    /// The original bytes, the first one lowest: [`JUMP`] if there is a jump, else one.
    original: AtomicU64,
    /// The bytes of the jump that is inserted or is about to be; 0: there is only the breakpoint byte.
    jump: AtomicU64,
}

/// Code that decides conditions inside of the program; `switch` is 0 if the entry is free.
#[repr(C)]
struct Deciding {
    /// The address of the byte that is 0 if nothing is to be decided.
    switch: AtomicU64,
    /// The address of the `int3` of threads that ask.
    ask: AtomicU64,
}

/// A thread that runs the debugger's way; `thread` is 0 if there is none.
#[repr(C)]
struct Lent {
    thread: AtomicU64,
    /// The signals that it blocks by itself.
    mask: AtomicU64,
    /// Where it makes system calls for the debugger, if it has other registers for that than these; 0: it has its own.
    calls_at: AtomicU64,
    registers: [AtomicU64; REGISTER_WORDS],
}

/// A copy of an instruction, in memory that the program doesn't use; `start` is 0 if the entry is free.
#[repr(C)]
struct Copied {
    start: AtomicU64,
    /// The instruction's own address; 0 if no thread can be in the copy.
    original: AtomicU64,
    /// The length of the copy (low half) and of the original (high half).
    lengths: AtomicU64,
    /// The bytes at `start` before the copy was written, and the bytes written.
    before: [AtomicU64; ROOM / 8],
    written: [AtomicU64; ROOM / 8],
}

/// The memory that the debugger and the guardian share. All zeros is a valid state, except for the mutex.
#[repr(C)]
struct Shared {
    alive: UnsafeCell<libc::pthread_mutex_t>,
    /// How many entries of `inserted`, counted from the first, were ever in use; `copies` and `trampolines` likewise for `copied` and
    /// `deciding`.
    bytes: AtomicU32,
    copies: AtomicU32,
    trampolines: AtomicU32,
    /// Where the handler of SIGTRAP is ([`crate::linux::trap_handler`]); 0: there is none.
    handler: AtomicU64,
    /// Where threads can make a system call that lets them read the processor's time again; 0: they can read it.
    untraps_time: AtomicU64,
    lent: Lent,
    inserted: [Inserted; MOST_BYTES],
    copied: [Copied; MOST_COPIES],
    deciding: [Deciding; MOST_TRAMPOLINES],
}

/// The index of an inserted byte's entry.
#[derive(Debug, Clone, Copy)]
pub struct Note(u32);

/// The debugger's handle on a guardian. It belongs to the tracer thread, whose end the guardian waits for.
pub struct Guardian {
    /// Never unmapped except by `release`: the kernel accesses the mutex when the thread ends.
    shared: *mut Shared,
    free: Vec<Note>,
    copies: FxHashMap<u64, usize>,
    free_copies: Vec<usize>,
    /// The entries of trampolines, by the address of the switch.
    trampolines: FxHashMap<u64, usize>,
    free_trampolines: Vec<usize>,
}

// SAFETY: the memory is mapped for all threads and modified through atomics only. The mutex belongs to one thread, and an attempt of
// another thread to unlock it fails.
unsafe impl Send for Guardian {}

impl std::fmt::Debug for Guardian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guardian")
    }
}

impl Guardian {
    /// Starts a guardian for a process that the calling thread traces.
    ///
    /// # Errors
    /// The process's memory can't be opened, or the shared memory or the guardian's process can't be created.
    pub fn start(process: ThreadId) -> io::Result<Guardian> {
        let folder = File::open(format!("/proc/{process}"))?;
        let memory = ProcessMemory::open(process)?;
        let shared = share()?;
        GUARDED.fetch_add(1, Ordering::SeqCst);
        let guardian = Guardian {
            shared,
            free: Vec::new(),
            copies: FxHashMap::default(),
            free_copies: Vec::new(),
            trampolines: FxHashMap::default(),
            free_trampolines: Vec::new(),
        };
        let kept = Kept {
            memory: memory.as_raw_fd(),
            folder: folder.as_raw_fd(),
        };
        if let Err(error) = begin(shared, kept) {
            guardian.release();
            return Err(error);
        }
        Ok(guardian)
    }

    fn shared(&self) -> &Shared {
        // SAFETY: mapped and initialised as long as this exists; everything but the mutex is atomic.
        unsafe { &*self.shared }
    }

    /// Records that the byte `original` at `address` is about to be replaced by a breakpoint. `None` if there are too many records.
    pub fn note(&mut self, address: Address, original: u8) -> Option<Note> {
        let note = match self.free.pop() {
            Some(note) => note,
            None => {
                let next = self.shared().bytes.load(Ordering::Relaxed);
                if next as usize >= MOST_BYTES {
                    return None;
                }
                self.shared().bytes.store(next + 1, Ordering::Release);
                Note(next)
            }
        };
        let entry = self.entry(note)?;
        entry.original.store(original.into(), Ordering::Release);
        entry.jump.store(0, Ordering::Release);
        entry.address.store(address.0, Ordering::Release);
        Some(note)
    }

    fn entry(&self, note: Note) -> Option<&Inserted> {
        self.shared().inserted.get(note.0 as usize)
    }

    /// Changes a recorded original byte. Call before the engine replaces the program's own byte under an inserted breakpoint.
    pub fn change(&self, note: Note, original: u8) {
        if let Some(entry) = self.entry(note) {
            entry.original.store(original.into(), Ordering::Release);
        }
    }

    /// Records that a jump is about to replace the instructions `original` at a breakpoint, whose byte is inserted.
    pub fn note_jump(&self, note: Note, original: &[u8; JUMP], jump: &[u8; JUMP]) {
        if let Some(entry) = self.entry(note) {
            entry.original.store(word(original), Ordering::Release);
            entry.jump.store(word(jump), Ordering::Release);
        }
    }

    /// Erases the record of a jump that was removed. Of the breakpoint, the byte is left.
    pub fn strike_jump(&self, note: Note) {
        if let Some(entry) = self.entry(note) {
            entry.jump.store(0, Ordering::Release);
        }
    }

    /// Records code that decides conditions inside of the program, before a jump leads to it. `switch`: the address of a byte; once that is 0,
    /// threads that come to the code decide nothing. `ask`: the address of the `int3` of threads that ask; a one-byte `nop` in its place makes
    /// them go on. Returns `false` if there are too many records.
    pub fn note_trampoline(&mut self, switch: Address, ask: Address) -> bool {
        // One at the same place, to which no jump could be written.
        self.strike_trampoline(switch);
        let index = self.free_trampolines.pop().unwrap_or_else(|| {
            let next = self.shared().trampolines.load(Ordering::Relaxed);
            self.shared()
                .trampolines
                .store((next + 1).min(MOST_TRAMPOLINES as u32), Ordering::Release);
            next as usize
        });
        let Some(entry) = self.shared().deciding.get(index) else {
            return false;
        };
        entry.ask.store(ask.0, Ordering::Release);
        entry.switch.store(switch.0, Ordering::Release);
        self.trampolines.insert(switch.0, index);
        true
    }

    /// Erases the record of a trampoline that no thread is in.
    pub fn strike_trampoline(&mut self, switch: Address) {
        if let Some(index) = self.trampolines.remove(&switch.0) {
            if let Some(entry) = self.shared().deciding.get(index) {
                entry.switch.store(0, Ordering::Release);
            }
            self.free_trampolines.push(index);
        }
    }

    /// Records that the process is about to get a handler of SIGTRAP, whose memory is at `page`.
    pub fn note_trap_handler(&self, page: Address) {
        self.shared().handler.store(page.0, Ordering::Release);
    }

    /// Erases the record of the handler of SIGTRAP, which was removed.
    pub fn strike_trap_handler(&self) {
        self.shared().handler.store(0, Ordering::Release);
    }

    /// Records that instructions are about to trap in the process's threads that read the processor's time (`PR_SET_TSC`, prctl(2)). `calls`: where
    /// a `syscall` instruction is that stays there.
    pub fn note_time_trapped(&self, calls: Address) {
        self.shared().untraps_time.store(calls.0, Ordering::Release);
    }

    /// Erases that record.
    pub fn strike_time_trapped(&self) {
        self.shared().untraps_time.store(0, Ordering::Release);
    }

    /// Erases the records of everything that was inserted: all of it was taken out.
    pub fn strike_all(&mut self) {
        let shared = self.shared();
        for entry in shared.inserted.iter().take(used(&shared.bytes)) {
            entry.address.store(0, Ordering::Release);
        }
        for entry in shared.copied.iter().take(used(&shared.copies)) {
            entry.start.store(0, Ordering::Release);
        }
        for entry in shared.deciding.iter().take(used(&shared.trampolines)) {
            entry.switch.store(0, Ordering::Release);
        }
        for count in [&shared.bytes, &shared.copies, &shared.trampolines] {
            count.store(0, Ordering::Release);
        }
        self.free.clear();
        self.copies.clear();
        self.free_copies.clear();
        self.trampolines.clear();
        self.free_trampolines.clear();
    }

    /// Records that a stopped thread, which blocks the signals `mask`, is about to block others; and, if `calls` is given, that it is about to
    /// make system calls at this address, with other registers than these. The debugger's code there must be a `syscall` and a jump to itself.
    /// One thread at a time can be lent.
    ///
    /// If the debugger is killed, the thread gets its registers back where it is in that code, and its mask if it blocks all signals. Elsewhere
    /// it had them already: then it runs the program's code, and its old registers would make it do something twice.
    pub fn lend(&self, thread: ThreadId, mask: u64, calls: Option<(Address, &UserRegisters)>) {
        let lent = &self.shared().lent;
        lent.mask.store(mask, Ordering::Release);
        let words = calls.map(|(_, registers)| registers.to_words());
        for (to, from) in lent.registers.iter().zip(words.unwrap_or_default()) {
            to.store(from, Ordering::Release);
        }
        let calls_at = calls.map_or(0, |(place, _)| place.0);
        lent.calls_at.store(calls_at, Ordering::Release);
        let thread = u64::from(thread.0.unsigned_abs());
        lent.thread.store(thread, Ordering::Release);
    }

    /// Erases the record of the thread that was lent: it has its own signal mask and registers again.
    pub fn give_back(&self) {
        self.shared().lent.thread.store(0, Ordering::Release);
    }

    /// Erases the record of a breakpoint byte that was removed, or whose memory was unmapped.
    pub fn strike(&mut self, note: Note) {
        if let Some(entry) = self.entry(note) {
            entry.address.store(0, Ordering::Release);
            self.free.push(note);
        }
    }

    /// Records a copy of an instruction that is about to be made. Replaces the record of an earlier copy at the same address. Returns `false`
    /// if there are too many records.
    pub fn note_copy(&mut self, copy: &CopyNote<'_>) -> bool {
        let known = self.copies.get(&copy.start.0).copied();
        let Some(index) = known.or_else(|| self.free_copies.pop()).or_else(|| {
            let next = self.shared().copies.load(Ordering::Relaxed);
            self.shared()
                .copies
                .store((next + 1).min(MOST_COPIES as u32), Ordering::Release);
            Some(next as usize)
        }) else {
            return false;
        };
        let Some(entry) = self.shared().copied.get(index) else {
            return false;
        };
        entry.original.store(0, Ordering::Release);
        store(&entry.before, copy.before);
        store(&entry.written, copy.written);
        entry
            .lengths
            .store(copy.copied | copy.length << 32, Ordering::Release);
        entry.original.store(copy.original.0, Ordering::Release);
        entry.start.store(copy.start.0, Ordering::Release);
        self.copies.insert(copy.start.0, index);
        true
    }

    /// Erases the records of copies whose memory was unmapped; `gone` says of a copy's address whether it was.
    pub fn strike_copies(&mut self, gone: impl Fn(Address) -> bool) {
        let struck: Vec<(u64, usize)> = self
            .copies
            .iter()
            .filter(|(start, _)| gone(Address(**start)))
            .map(|(start, index)| (*start, *index))
            .collect();
        for (start, index) in struck {
            if let Some(entry) = self.shared().copied.get(index) {
                entry.start.store(0, Ordering::Release);
            }
            self.copies.remove(&start);
            self.free_copies.push(index);
        }
    }

    /// Ends the guardian, because nothing is left to restore. Only the thread that started it can do that. If another thread calls this, the
    /// guardian stays until the thread that started it ends, and then restores what is still recorded.
    pub fn release(self) {
        GUARDED.fetch_sub(1, Ordering::SeqCst);
        // SAFETY: the mutex is in mapped memory, and unlocking fails unless this thread has locked it. The memory is unmapped only after it
        // is unlocked; the guardian has a mapping of its own.
        unsafe {
            if libc::pthread_mutex_unlock((*self.shared).alive.get()) == 0 {
                libc::munmap(self.shared.cast(), size_of::<Shared>());
            }
        }
    }
}

/// A copy of an instruction that is about to be made.
pub struct CopyNote<'a> {
    /// The copy's address.
    pub start: Address,
    /// The address of the original instruction.
    pub original: Address,
    /// The copy's length without the jump that follows it, in bytes.
    pub copied: u64,
    /// The original's length, in bytes.
    pub length: u64,
    /// The bytes at `start` now; up to [`ROOM`] of them.
    pub before: &'a [u8],
    /// The bytes that will be written, as many as in `before`.
    pub written: &'a [u8],
}

/// How many entries are in use.
fn used(count: &AtomicU32) -> usize {
    count.load(Ordering::Relaxed) as usize
}

/// The bytes as a number, the first one lowest.
fn word(bytes: &[u8; JUMP]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

fn store(words: &[AtomicU64; ROOM / 8], bytes: &[u8]) {
    for (index, word) in words.iter().enumerate() {
        let mut eight = [0; 8];
        for (to, from) in eight.iter_mut().zip(bytes.iter().skip(index * 8)) {
            *to = *from;
        }
        word.store(u64::from_le_bytes(eight), Ordering::Release);
    }
}

/// Maps the shared memory and locks its mutex for this thread.
fn share() -> io::Result<*mut Shared> {
    // SAFETY: a new mapping of zeros, in which a page is allocated on its first write. The mutex is initialised before it is used, and no
    // other thread knows it.
    unsafe {
        let shared = libc::mmap(
            std::ptr::null_mut(),
            size_of::<Shared>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        if shared == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let shared = shared.cast::<Shared>();
        let mut attributes: libc::pthread_mutexattr_t = std::mem::zeroed();
        let attributes = &raw mut attributes;
        let alive = (*shared).alive.get();
        let steps = [
            libc::pthread_mutexattr_init(attributes),
            libc::pthread_mutexattr_setpshared(attributes, libc::PTHREAD_PROCESS_SHARED),
            libc::pthread_mutexattr_setrobust(attributes, libc::PTHREAD_MUTEX_ROBUST),
            libc::pthread_mutex_init(alive, attributes),
            libc::pthread_mutexattr_destroy(attributes),
            libc::pthread_mutex_lock(alive),
        ];
        if let Some(error) = steps.into_iter().find(|step| *step != 0) {
            libc::munmap(shared.cast(), size_of::<Shared>());
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok(shared)
    }
}

/// The descriptors that a guardian keeps.
#[derive(Clone, Copy)]
struct Kept {
    memory: RawFd,
    folder: RawFd,
}

/// Forks the guardian.
fn begin(shared: *mut Shared, kept: Kept) -> io::Result<()> {
    // SAFETY: the child only makes system calls and locks the mutex, for which the C libraries need nothing but its memory and the thread's
    // id; it never returns.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above; the parent ends at once, so that the guardian is reparented to init.
            unsafe {
                match libc::fork() {
                    0 => repair::guard(shared, kept),
                    -1 => libc::_exit(*libc::__errno_location()),
                    _ => libc::_exit(0),
                }
            }
        }
        child => match wait::exit_code(ThreadId(child)) {
            // A host program that waits for all its children may have taken the status.
            None | Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(error)),
        },
    }
}
