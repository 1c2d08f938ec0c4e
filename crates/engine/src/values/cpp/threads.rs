//! Mutexes, what holds them, and threads.

use super::{find, integer};
use crate::Address;
use crate::values::view::{Shows, View};
use crate::values::{Contents, Reader, Value};
use dapple_symbols::types::TypeKind;

/// The states of a mutex's futex: free, taken, taken with others that wait.
const STATES: u64 = 2;

/// `mutex` and its kin: glibc's and musl's own mutex tells who has it.
pub(super) fn mutex(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let number = |name| integer(reader, &reader.find(value, name)?);
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

/// `unique_lock` and `shared_lock`, which may have let go of the mutex.
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
