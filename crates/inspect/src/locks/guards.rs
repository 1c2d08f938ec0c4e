//! Guards of locks among the variables of threads. They tell who holds a lock that doesn't store its owner.

use crate::Address;
use crate::frame::Frame;
use crate::tasks::parts;
use crate::values::{Reader, Value, names};
use dapple_symbols::sources;

/// The most frames of a thread whose variables are searched.
const MOST_FRAMES: usize = 60;

/// The types of guards, each with the field that refers to the lock, and the lock's field that threads wait at.
const GUARDS: [(&str, &str, &str); 11] = [
    ("std::sync::poison::mutex::MutexGuard", "lock", "inner"),
    ("std::sync::mutex::MutexGuard", "lock", "inner"),
    (
        "std::sync::poison::rwlock::RwLockWriteGuard",
        "lock",
        "inner",
    ),
    ("std::sync::rwlock::RwLockWriteGuard", "lock", "inner"),
    (
        "std::sync::poison::rwlock::RwLockReadGuard",
        "inner_lock",
        "",
    ),
    ("std::sync::rwlock::RwLockReadGuard", "inner_lock", ""),
    ("lock_api::mutex::MutexGuard", "mutex", "raw"),
    ("lock_api::mutex::ArcMutexGuard", "mutex", "raw"),
    ("lock_api::rwlock::RwLockReadGuard", "rwlock", "raw"),
    ("lock_api::rwlock::RwLockWriteGuard", "rwlock", "raw"),
    (
        "lock_api::rwlock::RwLockUpgradableReadGuard",
        "rwlock",
        "raw",
    ),
];

/// A guard that a function has.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    /// Where the lock is, and how large.
    lock: Address,
    size: u64,
    /// The function.
    pub function: String,
}

impl Guard {
    /// Whether the guard is that of the lock with a word at this address.
    pub fn is_of(&self, word: Address) -> bool {
        let end = self.lock.0.saturating_add(self.size.max(1));
        (self.lock.0..end).contains(&word.0)
    }
}

/// The guards in the variables of a thread with these frames, innermost first.
pub(crate) fn held(reader: &Reader<'_>, frames: &[Frame]) -> Vec<Guard> {
    let mut found = Vec::new();
    for frame in frames.iter().take(MOST_FRAMES) {
        let (Some(function), Some(at)) = (&frame.function, &frame.position) else {
            continue;
        };
        if sources::is_library_source(&at.file) {
            continue;
        }
        for variable in reader.variables(frame) {
            let is_guard = |path: &str| GUARDS.iter().any(|(guard, ..)| *guard == path);
            let guards = parts::all(reader, &variable.value, &is_guard, &|_| false);
            let locks = guards.iter().filter_map(|guard| lock_of(reader, guard));
            found.extend(locks.map(|(lock, size)| Guard {
                lock,
                size,
                function: function.clone(),
            }));
        }
    }
    found
}

/// The place and the size of the lock that a guard refers to.
fn lock_of(reader: &Reader<'_>, guard: &Value) -> Option<(Address, u64)> {
    let type_ = parts::type_of(reader, guard)?;
    let path = names::path_name(&type_.name);
    let (_, reference, inner) = GUARDS.iter().find(|(known, ..)| *known == path)?;
    let lock = parts::pointee(reader, &reader.find(guard, reference)?)?;
    let lock = match *inner {
        "" => lock,
        inner => reader.find(&lock, inner)?,
    };
    Some((lock.contents.address()?, reader.size_of(&lock)?))
}

/// The lock that a function of the lock's waits for, by its argument `self`: parking_lot's threads wait at an address of their own.
pub(crate) fn lock_of_method(reader: &Reader<'_>, frame: &Frame) -> Option<Address> {
    let variables = reader.variables(frame);
    let own = { variables.iter() }.find(|variable| variable.name == "self")?;
    parts::pointee(reader, &own.value)?.contents.address()
}
