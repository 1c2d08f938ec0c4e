//! Somebody who puts a process right that was attached to, should the debugger be killed in the middle of its work.
//!
//! The kernel lets a dead tracer's processes run at once, with whatever was inserted into them. What was launched is killed then;
//! what was attached to is somebody else's. So beside each such session there is a *guardian*: a process that was forked, shares one
//! piece of memory with us, and sleeps. There we note each inserted byte before it is inserted, and strike it out after it was
//! taken out: plain stores, and none for a thread that runs into one. A robust mutex in that memory, which the tracing thread
//! holds as long as it lives, is what it sleeps on: the kernel gives that up early in a thread's exit, before it lets go of
//! what the thread has traced, however the end has come (`get_robust_list(2)`). Then the guardian works
//! (`repair`), and ends.
//!
//! It is forked twice and has a session of its own, so that it is nobody's child to be waited for or to be killed along with the tree
//! or the group of the debugger. It keeps two descriptors: the process's memory, and its folder in `/proc`; both are bound to the
//! process itself, not to an id that may become another's.
//!
//! What it can't do is in ARCHITECTURE.md.

mod repair;

use crate::linux::memory::ProcessMemory;
use crate::linux::wait;
use crate::{Address, ThreadId};
use rustc_hash::FxHashMap;
use std::cell::UnsafeCell;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// How many processes are guarded by this one.
static GUARDED: AtomicUsize = AtomicUsize::new(0);

/// Whether a process is traced that has to outlive this one.
pub fn guards_any() -> bool {
    GUARDED.load(Ordering::SeqCst) > 0
}

/// How many bytes can be inserted at a time.
const MOST_BYTES: usize = 1 << 18;
/// How many copies of instructions there can be.
const MOST_COPIES: usize = 1 << 13;
/// How long a copy is at most.
pub const COPY: usize = 32;

/// An inserted byte; the address is 0 where the entry is free.
#[repr(C)]
struct Inserted {
    address: AtomicU64,
    /// The original byte.
    original: AtomicU64,
}

/// A copy of an instruction in a place where nothing was; the start is 0 where the entry is free.
#[repr(C)]
struct Copied {
    start: AtomicU64,
    /// The instruction's own address; 0: no thread can be in the copy.
    original: AtomicU64,
    /// How long the copy is (low half) and how long the original.
    lengths: AtomicU64,
    /// What was there before, and what was written.
    before: [AtomicU64; COPY / 8],
    written: [AtomicU64; COPY / 8],
}

/// What both see. All zeros is a valid one, but for the mutex.
#[repr(C)]
struct Shared {
    alive: UnsafeCell<libc::pthread_mutex_t>,
    /// Entries that were ever used.
    bytes: AtomicU32,
    copies: AtomicU32,
    inserted: [Inserted; MOST_BYTES],
    copied: [Copied; MOST_COPIES],
}

/// Where an inserted byte is noted.
#[derive(Debug, Clone, Copy)]
pub struct Note(u32);

/// Our side of it. Belongs to the thread that traces, whose end is what the guardian waits for.
pub struct Guardian {
    /// Mapped for good unless released: the kernel looks at the mutex when the thread ends.
    shared: *mut Shared,
    free: Vec<Note>,
    copies: FxHashMap<u64, usize>,
    free_copies: Vec<usize>,
}

// SAFETY: the memory is there for all threads; what is in it is changed through atomics. The mutex belongs to one thread, and
// an attempt of another to unlock it fails.
unsafe impl Send for Guardian {}

impl std::fmt::Debug for Guardian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guardian")
    }
}

impl Guardian {
    /// Begins to guard a process that the calling thread traces.
    ///
    /// # Errors
    /// No memory or no process is to be had.
    pub fn start(process: ThreadId, memory: &ProcessMemory) -> io::Result<Guardian> {
        let folder = File::open(format!("/proc/{process}"))?;
        let shared = share()?;
        GUARDED.fetch_add(1, Ordering::SeqCst);
        let guardian = Guardian {
            shared,
            free: Vec::new(),
            copies: FxHashMap::default(),
            free_copies: Vec::new(),
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
        // SAFETY: mapped and initialised as long as this exists; all but the mutex is atomics.
        unsafe { &*self.shared }
    }

    /// A byte is about to be inserted. `None` when there are too many.
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
        entry.address.store(address.0, Ordering::Release);
        Some(note)
    }

    fn entry(&self, note: Note) -> Option<&Inserted> {
        self.shared().inserted.get(note.0 as usize)
    }

    /// The program is about to have another byte under the inserted one.
    pub fn change(&self, note: Note, original: u8) {
        if let Some(entry) = self.entry(note) {
            entry.original.store(original.into(), Ordering::Release);
        }
    }

    /// The byte was taken out, or its memory is gone.
    pub fn strike(&mut self, note: Note) {
        if let Some(entry) = self.entry(note) {
            entry.address.store(0, Ordering::Release);
            self.free.push(note);
        }
    }

    /// An instruction is about to be copied. False when there are too many.
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

    /// The memory of these copies is gone.
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

    /// Nothing is left to be put right: the guardian ends. Only by the thread that has started it; else it stays until that ends.
    pub fn release(self) {
        GUARDED.fetch_sub(1, Ordering::SeqCst);
        // SAFETY: a mutex that this thread has locked, in memory that is mapped; unmapped only once it is unlocked. The guardian
        // has a mapping of its own.
        unsafe {
            if libc::pthread_mutex_unlock((*self.shared).alive.get()) == 0 {
                libc::munmap(self.shared.cast(), size_of::<Shared>());
            }
        }
    }
}

/// A copy that is about to be made.
pub struct CopyNote<'a> {
    /// Where the copy is.
    pub start: Address,
    /// Where the instruction is that was copied.
    pub original: Address,
    /// How long the copy is without its jump.
    pub copied: u64,
    /// How long the original is.
    pub length: u64,
    /// What is there now; up to [`COPY`] bytes.
    pub before: &'a [u8],
    /// What will be there, as long as `before`.
    pub written: &'a [u8],
}

fn store(words: &[AtomicU64; COPY / 8], bytes: &[u8]) {
    for (index, word) in words.iter().enumerate() {
        let mut eight = [0; 8];
        for (to, from) in eight.iter_mut().zip(bytes.iter().skip(index * 8)) {
            *to = *from;
        }
        word.store(u64::from_le_bytes(eight), Ordering::Release);
    }
}

/// Memory for both, whose mutex this thread has locked.
fn share() -> io::Result<*mut Shared> {
    // SAFETY: a new mapping of zeros; pages are made where something is written. The mutex is initialised before it is used and
    // nobody else knows it.
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
    // SAFETY: what runs in the child only makes system calls, and locks the mutex, for which the C libraries need nothing but
    // its memory and the thread's id; it never returns.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above; the parent goes at once, so that the guardian is nobody's child.
            unsafe {
                match libc::fork() {
                    0 => repair::guard(shared, kept),
                    -1 => libc::_exit(*libc::__errno_location()),
                    _ => libc::_exit(0),
                }
            }
        }
        child => match wait::exit_code(ThreadId(child)) {
            // A host that waits for all its children may have been first.
            None | Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(error)),
        },
    }
}
