//! Mutexes, locks, threads, and other synchronisation types.

use super::{find, integer};
use crate::Address;
use crate::values::view::{Shows, View};
use crate::values::{Contents, Reader, Value, contents};
use dapple_symbols::types::TypeKind;

/// The highest state of a mutex's futex: free, locked, locked with waiters.
const STATES: u64 = 2;

/// `mutex` and its variants: glibc's mutex stores its owner.
pub(super) fn mutex(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let number = |name| integer(reader, &reader.find(value, name)?);
    // libc++'s timed mutexes consist of a flag or a count, and a mutex that protects it.
    if let Some(is_locked) = reader.field(value, "__locked_") {
        return Some(View::Leaf(match integer(reader, &is_locked)? {
            0 => "unlocked".to_owned(),
            _ => "locked".to_owned(),
        }));
    }
    if let Some(count) = reader.field(value, "__count_") {
        return Some(View::Leaf(match integer(reader, &count)? {
            0 => "unlocked".to_owned(),
            1 => "locked".to_owned(),
            count => format!("locked {count} times"),
        }));
    }
    let (lock, owner) = (number("__lock")?, number("__owner")?);
    let count = number("__count")?;
    let text = match (lock, owner) {
        (0, 0) => "unlocked".to_owned(),
        (1..=STATES, 1..=0x7fff_ffff) if count > 1 => {
            format!("locked {count} times by thread {owner}")
        }
        (1..=STATES, 1..=0x7fff_ffff) => format!("locked by thread {owner}"),
        _ => return None,
    };
    Some(View::Leaf(text))
}

/// `lock_guard`, and `scoped_lock` of one mutex: the mutex.
pub(super) fn guard(reader: &Reader<'_>, value: &Value) -> Option<View> {
    Some(View::Alias(find(reader, value, &["_M_device", "__m_"])?))
}

/// `unique_lock` and `shared_lock`: their mutex, and whether they hold it.
pub(super) fn lock(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let pointer = find(reader, value, &["_M_device", "_M_pm", "__m_"])?;
    let owns = integer(reader, &find(reader, value, &["_M_owns", "__owns_"])?)?;
    let address = reader.word(&pointer.contents).ok()?;
    let TypeKind::Pointer(_, target) = reader.resolve(&pointer)?.type_.kind else {
        return None;
    };
    let state = match owns {
        0 => "not held",
        1 => "held",
        _ => return None,
    };
    Some(View::Pointer {
        address,
        target: Some(value.sibling(target, Contents::Memory(Address(address)))),
        note: None,
        shows: Shows::Counted(state.to_owned()),
    })
}

/// `thread` and `thread::id`.
pub(super) fn thread(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let id = find(reader, value, &["_M_thread", "__id_", "__t_"])?;
    Some(View::Leaf(match integer(reader, &id)? {
        0 => "no thread".to_owned(),
        id => format!("thread {id:#x}"),
    }))
}

fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// `shared_mutex`: glibc's lock stores the writer and the number of readers, libc++'s only the number.
pub(super) fn shared_mutex(reader: &Reader<'_>, value: &Value) -> Option<View> {
    /// glibc's `PTHREAD_RWLOCK_WRPHASE` and `PTHREAD_RWLOCK_WRLOCKED`, and the position of the number of readers.
    const WRITING: u64 = 3;
    const READERS: u32 = 3;
    /// libc++'s flag of a writer that has entered.
    const ENTERED: u64 = 1 << 31;
    let by = |readers: u64| format!("shared by {}", counted(readers, "reader", "readers"));
    let number = |name| integer(reader, &reader.find(value, name)?);
    let text = match number("__readers") {
        Some(state) if state & WRITING == WRITING => match number("__cur_writer")? {
            0 => "locked".to_owned(),
            writer => format!("locked by thread {writer}"),
        },
        Some(state) if state >> READERS > 0 => by(state >> READERS),
        Some(_) => "unlocked".to_owned(),
        None => match number("__state_").or_else(|| declared_state(reader, value))? {
            0 => "unlocked".to_owned(),
            ENTERED => "locked".to_owned(),
            state => by(state & (ENTERED - 1)),
        },
    };
    Some(View::Leaf(text))
}

/// The state of libc++'s own lock, if the lock's class is only declared. By the ABI, it comes after a mutex and two condition variables.
fn declared_state(reader: &Reader<'_>, value: &Value) -> Option<u64> {
    const STATE: u64 = 136;
    let base = reader.field(value, "__base_")?;
    let state = reader.bytes(&base.contents.part(STATE, 4), 4).ok()?;
    Some(contents::extract_bits(&state, 0, 32) as u64)
}

/// `condition_variable`: the number of waiters, which glibc stores above the three low bits of a word (`__wrefs`).
pub(super) fn condition(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let waiters = integer(reader, &reader.find(value, "__wrefs")?)? >> 3;
    Some(View::Leaf(match waiters {
        0 => "no thread waits".to_owned(),
        1 => "1 thread waits".to_owned(),
        waiters => format!("{waiters} threads wait"),
    }))
}

/// `once_flag`: glibc has two flags, for begun and for done; libc++'s number has all bits set when done.
pub(super) fn once(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let state = match reader.field(value, "_M_once") {
        Some(state) => integer(reader, &state)? & 3,
        None => integer(reader, &reader.field(value, "__state_")?)?,
    };
    Some(View::Leaf(
        match state {
            0 => "not called",
            1 => "being called",
            2 | u64::MAX => "called",
            _ => return None,
        }
        .to_owned(),
    ))
}

/// `stop_source` and `stop_token`. The state's lowest bit says whether a stop was requested; the sources are counted from the third bit
/// on, and without a source no stop is possible.
pub(super) fn stop(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let pointer = find(reader, value, &["_M_ptr", "__raw_ptr_"])?;
    let address = reader.word(&pointer.contents).ok()?;
    if address == 0 {
        return Some(View::Leaf("no stop state".to_owned()));
    }
    let TypeKind::Pointer(_, target) = reader.resolve(&pointer)?.type_.kind else {
        return None;
    };
    let state = value.sibling(target, Contents::Memory(Address(address)));
    let state = integer(reader, &find(reader, &state, &["_M_value", "__state_"])?)?;
    Some(View::Leaf(
        match state {
            state if state & 1 == 1 => "stop requested",
            state if state >> 2 == 0 => "no stop possible",
            _ => "no stop requested",
        }
        .to_owned(),
    ))
}

/// `counting_semaphore` and `latch`: the remaining count.
pub(super) fn counter(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let counter = find(reader, value, &["_M_counter", "_M_a", "__a_value"])?;
    Some(View::Alias(counter))
}

/// `atomic_flag`.
pub(super) fn flag(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let flag = integer(reader, &find(reader, value, &["_M_i", "__a_value"])?)?;
    Some(View::Leaf((flag != 0).to_string()))
}
