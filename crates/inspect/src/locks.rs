//! Threads that wait for locks, for other threads to end, or to be woken: what each waits for, who holds it, and circles of threads that wait
//! for each other.
//!
//! A thread that waits is in the system call futex(2). The functions around the call tell what the address belongs to. The GNU C library's
//! mutexes store their owner's thread id. Locks of the Rust standard library and of parking_lot don't: `guards` looks for their guards among the
//! variables of all threads.

pub(crate) mod guards;

use crate::frame::Frame;
use crate::values::names;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_arch::registers::user::UserRegisters;
use dapple_symbols::functions::SourcePosition;
use std::collections::HashMap;

/// The operations of futex(2) that wait.
const WAITS: [i32; 4] = [
    libc::FUTEX_WAIT,
    libc::FUTEX_LOCK_PI,
    libc::FUTEX_WAIT_BITSET,
    libc::FUTEX_LOCK_PI2,
];
/// How many frames around the system call may belong to what waits.
const NEAR: usize = 12;
/// The offset of the owner in a mutex of the GNU C library (`__data.__owner`), which programs have compiled in (`PTHREAD_MUTEX_INITIALIZER`).
const MUTEX_OWNER: i64 = 8;
/// The offsets of the two words in a `pthread_rwlock_t` that threads wait at, and of the id of the thread that writes (`__cur_writer`).
const LOCK_WORDS: [i64; 2] = [8, 12];
const LOCK_WRITER: i64 = 24;

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitKind {
    /// A mutex of the C library; `std::mutex` of C++ is one.
    PthreadMutex,
    /// A read-write lock of the C library.
    PthreadLock,
    /// A mutex of the Rust standard library or of parking_lot.
    RustMutex,
    /// A read-write lock of the Rust standard library or of parking_lot.
    RustLock,
    /// A condition variable.
    Condition,
    /// A semaphore.
    Semaphore,
    /// A barrier.
    Barrier,
    /// An initialisation that another thread does.
    Once,
    /// Another thread's end.
    Join,
    /// To be unparked.
    Park,
}

impl WaitKind {
    /// What it is called.
    pub fn text(self) -> &'static str {
        match self {
            WaitKind::PthreadMutex | WaitKind::RustMutex => "a mutex",
            WaitKind::PthreadLock | WaitKind::RustLock => "a read-write lock",
            WaitKind::Condition => "a condition variable",
            WaitKind::Semaphore => "a semaphore",
            WaitKind::Barrier => "a barrier",
            WaitKind::Once => "an initialisation",
            WaitKind::Join => "the end of a thread",
            WaitKind::Park => "being unparked",
        }
    }

    /// Whether it may have a holder.
    pub fn is_lock(self) -> bool {
        matches!(
            self,
            WaitKind::PthreadMutex
                | WaitKind::PthreadLock
                | WaitKind::RustMutex
                | WaitKind::RustLock
        )
    }
}

/// How it is known that a thread holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The lock stores its owner.
    Owner,
    /// A variable of this function of the thread is a guard of the lock.
    Guard(String),
    /// The thread is the one that is joined.
    Joined,
}

/// The thread that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its id.
    pub thread: ThreadId,
    /// Whether the process still has it.
    pub exists: bool,
    /// How that is known.
    pub evidence: Evidence,
}

/// A thread that waits.
#[derive(Debug, Clone)]
pub struct ThreadWait {
    /// The thread.
    pub thread: ThreadId,
    /// Its name.
    pub name: String,
    /// What it waits for.
    pub kind: WaitKind,
    /// Where the lock is. `None`: it isn't known, or there is none.
    pub lock: Option<Address>,
    /// The static variable that the lock is in.
    pub variable: Option<String>,
    /// The function in the user's code that waits.
    pub function: Option<String>,
    /// Where in the user's code it waits.
    pub place: Option<SourcePosition>,
    /// Those that it waits for.
    pub holders: Vec<Holder>,
}

/// The threads that wait.
#[derive(Debug, Clone, Default)]
pub struct Locks {
    /// The threads.
    pub waits: Vec<ThreadWait>,
    /// Circles of threads that wait for each other, each with its threads in the order in which they wait.
    pub deadlocks: Vec<Vec<ThreadId>>,
    /// How many threads were not looked at, because there are too many or they run.
    pub skipped: usize,
}

/// The address that a thread waits at in futex(2).
pub(crate) fn waits_at(registers: &UserRegisters) -> Option<Address> {
    let [address, operation, _] = registers.call_arguments();
    // The operation is an `int`.
    let operation = operation as i32 & libc::FUTEX_CMD_MASK;
    let waits = registers.is_in_call(libc::SYS_futex) && WAITS.contains(&operation);
    waits.then_some(Address(address))
}

/// What a function waits for, by its name.
fn kind_of(function: &str) -> Option<WaitKind> {
    let path = names::path_name(function);
    let has = |part: &str| path.contains(part);
    if has("::") {
        let is_std = path.starts_with("std::sys");
        let is_parking = path.starts_with("parking_lot::");
        return match names::base_name(path) {
            "lock_contended" if is_std => Some(WaitKind::RustMutex),
            "read_contended" | "write_contended" if is_std => Some(WaitKind::RustLock),
            "lock_slow" if is_parking && has("raw_mutex") => Some(WaitKind::RustMutex),
            _ if is_parking && has("raw_rwlock") => Some(WaitKind::RustLock),
            _ if is_parking && has("condvar") => Some(WaitKind::Condition),
            _ if is_std && has("condvar") => Some(WaitKind::Condition),
            _ if is_std && has("park") => Some(WaitKind::Park),
            _ if is_std && has("once") => Some(WaitKind::Once),
            _ => None,
        };
    }
    const FUNCTIONS: [(&str, WaitKind); 12] = [
        ("pthread_mutex_lock", WaitKind::PthreadMutex),
        ("pthread_mutex_timedlock", WaitKind::PthreadMutex),
        ("pthread_mutex_clocklock", WaitKind::PthreadMutex),
        ("pthread_rwlock_", WaitKind::PthreadLock),
        ("pthread_cond_", WaitKind::Condition),
        ("pthread_barrier_", WaitKind::Barrier),
        ("pthread_once", WaitKind::Once),
        ("pthread_join", WaitKind::Join),
        ("pthread_clockjoin", WaitKind::Join),
        ("pthread_timedjoin", WaitKind::Join),
        ("sem_wait", WaitKind::Semaphore),
        ("sem_clockwait", WaitKind::Semaphore),
    ];
    let mut functions = FUNCTIONS.iter();
    let (_, kind) = functions.find(|(part, _)| has(part))?;
    Some(*kind)
}

/// What the thread with these frames, innermost first, waits for, and the frame that tells.
pub(crate) fn waited(frames: &[Frame]) -> Option<(WaitKind, &Frame)> {
    frames.iter().take(NEAR).find_map(|frame| {
        let kind = kind_of(frame.function.as_deref()?)?;
        Some((kind, frame))
    })
}

fn number_at(memory: &dyn Memory, address: Address) -> Option<u32> {
    let mut bytes = [0; 4];
    memory.read(address, &mut bytes).ok()?;
    Some(u32::from_le_bytes(bytes))
}

/// The id of the thread that the C library has stored as what a thread waits for.
pub(crate) fn stored_holder(memory: &dyn Memory, kind: WaitKind, at: Address) -> Option<ThreadId> {
    let id = match kind {
        WaitKind::PthreadMutex => number_at(memory, at.offset(MUTEX_OWNER))?,
        // The kernel clears the id when the thread has ended, which wakes who joins it.
        WaitKind::Join => number_at(memory, at)?,
        WaitKind::PthreadLock => {
            let mut starts = LOCK_WORDS.iter().map(|word| at.offset(-word));
            starts.find_map(|start| {
                let writer = number_at(memory, start.offset(LOCK_WRITER))?;
                (writer != 0).then_some(writer)
            })?
        }
        _ => return None,
    };
    // The highest bits of a futex of a mutex with priority inheritance are flags, futex(2).
    let id = i32::try_from(id & 0x3fff_ffff).ok()?;
    (id != 0).then_some(ThreadId(id))
}

/// The circles of threads that wait for each other.
pub(crate) fn deadlocks(waits: &[ThreadWait]) -> Vec<Vec<ThreadId>> {
    let by_thread: HashMap<ThreadId, &ThreadWait> =
        waits.iter().map(|wait| (wait.thread, wait)).collect();
    let mut done: HashMap<ThreadId, usize> = HashMap::new();
    let mut circles = Vec::new();
    for (round, start) in waits.iter().enumerate() {
        // The path from `start`, each with the holders that are yet to be followed.
        let mut path: Vec<(ThreadId, std::slice::Iter<'_, Holder>)> = Vec::new();
        let mut next = Some(start.thread);
        loop {
            if let Some(thread) = next.take()
                && let Some(wait) = by_thread.get(&thread)
                && !done.contains_key(&thread)
            {
                done.insert(thread, round);
                path.push((thread, wait.holders.iter()));
            }
            let Some((_, holders)) = path.last_mut() else {
                break;
            };
            let Some(holder) = holders.next() else {
                path.pop();
                continue;
            };
            match path.iter().position(|(thread, _)| *thread == holder.thread) {
                Some(at) => {
                    let circle = path.iter().skip(at).map(|(thread, _)| *thread);
                    circles.push(circle.collect());
                }
                None => next = Some(holder.thread),
            }
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(thread: i32, holders: &[i32]) -> ThreadWait {
        let holder = |thread: &i32| Holder {
            thread: ThreadId(*thread),
            exists: true,
            evidence: Evidence::Owner,
        };
        ThreadWait {
            thread: ThreadId(thread),
            name: String::new(),
            kind: WaitKind::PthreadMutex,
            lock: None,
            variable: None,
            function: None,
            place: None,
            holders: holders.iter().map(holder).collect(),
        }
    }

    fn circles(waits: &[ThreadWait]) -> Vec<Vec<i32>> {
        let found = deadlocks(waits);
        found
            .iter()
            .map(|circle| circle.iter().map(|thread| thread.0).collect())
            .collect()
    }

    #[test]
    fn circles_are_found_once_and_without_those_who_wait_for_them() {
        let waits = [
            wait(9, &[1]),
            wait(1, &[2]),
            wait(2, &[3]),
            wait(3, &[1]),
            wait(4, &[5]),
        ];
        assert_eq!(circles(&waits), [[1, 2, 3]]);
        assert_eq!(circles(&[wait(1, &[1])]), [[1]]);
        assert_eq!(circles(&[wait(1, &[2, 3]), wait(3, &[1])]), [[1, 3]]);
        assert_eq!(circles(&[wait(1, &[2]), wait(2, &[])]), [[0; 0]; 0]);
    }

    #[test]
    fn functions_tell_what_is_waited_for() {
        let known = [
            ("___pthread_mutex_lock", Some(WaitKind::PthreadMutex)),
            ("__GI___pthread_rwlock_rdlock", Some(WaitKind::PthreadLock)),
            ("__pthread_clockjoin_ex", Some(WaitKind::Join)),
            ("__pthread_cond_wait_common", Some(WaitKind::Condition)),
            (
                "std::sys::sync::mutex::futex::Mutex::lock_contended",
                Some(WaitKind::RustMutex),
            ),
            (
                "std::sys::sync::rwlock::futex::RwLock::write_contended",
                Some(WaitKind::RustLock),
            ),
            (
                "parking_lot::raw_mutex::RawMutex::lock_slow",
                Some(WaitKind::RustMutex),
            ),
            ("std::sys::pal::unix::futex::futex_wait", None),
            ("syscall", None),
            ("my::pthread_mutex_lock", None),
        ];
        for (function, kind) in known {
            assert_eq!(kind_of(function), kind, "{function}");
        }
    }
}
