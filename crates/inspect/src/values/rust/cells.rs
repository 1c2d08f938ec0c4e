//! Cells and locks: their contents, and their state in a note.

use super::{Flaw, OrUnknownLayout, argument_of, broken, held, variant_name};
use crate::values::view::{Field, Record, Style, View};
use crate::values::{Contents, Reader, Value, contents, names};
use dapple_symbols::location::Unavailable;

/// The bits of an `RwLock`'s futex word that count its readers. All of these bits set: a writer has the lock.
const READERS: u32 = (1 << 30) - 1;
/// States of `Once`, as implemented with a futex.
pub(super) const COMPLETE: u32 = 0;
pub(super) const RUNNING: u32 = 1;
pub(super) const POISONED: u32 = 2;

/// A record of type `name` with a single field, which has `value` without its wrappers ([`held`]).
pub(super) fn holding(
    reader: &Reader<'_>,
    name: &str,
    style: Style,
    field: &str,
    value: Value,
) -> View {
    View::Record(Record {
        name: Some(name.to_owned()),
        style,
        fields: vec![Field {
            name: field.to_owned(),
            value: held(reader, value),
            base: false,
            artificial: false,
        }],
        raw: true,
        statics: Vec::new(),
        reachable: style == Style::Named,
        whole: None,
    })
}

/// As [`holding`], for a cell without a value: `why` is shown instead.
fn holding_none(reader: &Reader<'_>, name: &str, value: &Value, why: &str) -> View {
    let reason = Unavailable::Unsupported(why.to_owned());
    let type_id = argument_of(reader, value);
    let none = value.sibling(type_id, Contents::Unavailable(reason));
    holding(reader, name, Style::Tuple, "0", none)
}

pub(super) fn cell(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let inside = reader.field(value, "value").known()?;
    Ok(holding(reader, "Cell", Style::Named, "value", inside))
}

pub(super) fn ref_cell(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let inside = reader.field(value, "value").known()?;
    reader.field(value, "borrow").known()?;
    Ok(holding(reader, "RefCell", Style::Named, "value", inside))
}

/// `Mutex` and `RwLock`.
pub(super) fn lock(reader: &Reader<'_>, value: &Value, path: &str) -> Result<View, Flaw> {
    let data = reader.field(value, "data").known()?;
    Ok(holding(
        reader,
        names::base_name(path),
        Style::Named,
        "data",
        data,
    ))
}

/// A thread's instance of a `thread_local!`. `value` is its storage, which has a state; `inside` is the storage's
/// field with the variable's value.
pub(super) fn thread_storage(
    reader: &Reader<'_>,
    value: &Value,
    inside: &Value,
) -> Result<View, Flaw> {
    let state = held(reader, reader.field(value, "state").known()?);
    let state = held(reader, reader.field(&state, "value").unwrap_or(state));
    let state = match variant_name(reader, &state) {
        Ok(name) => name,
        Err(_) => match reader.view(&state, crate::values::view::SHORT) {
            View::Leaf(name) => names::base_name(&name).to_owned(),
            _ => return Err(Flaw::Layout),
        },
    };
    let why = match state.as_str() {
        // `Initial`: the variable has the value of its constant initialiser, and hasn't been used yet.
        "Alive" | "Initial" => return Ok(View::Alias(held(reader, inside.clone()))),
        "Uninitialized" => "not set in this thread yet",
        "Destroyed" => "the thread has dropped it",
        _ => return Err(Flaw::Layout),
    };
    let reason = Unavailable::Unsupported(why.to_owned());
    let mut none = held(reader, inside.clone());
    none.contents = Contents::Unavailable(reason);
    Ok(View::Alias(none))
}

pub(super) fn once_cell(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let option = held(reader, reader.field(value, "inner").known()?);
    let name = "OnceCell";
    Ok(match super::payload(reader, &option) {
        Some(set) => holding(reader, name, Style::Tuple, "0", set),
        None => holding_none(reader, name, value, "not set"),
    })
}

pub(super) fn lazy_cell(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let state = held(reader, reader.field(value, "state").known()?);
    let name = "LazyCell";
    Ok(match variant_name(reader, &state)?.as_str() {
        "Init" => {
            let set = super::payload(reader, &state).known()?;
            holding(reader, name, Style::Tuple, "0", set)
        }
        "Uninit" => holding_none(reader, name, value, "not computed yet"),
        "Poisoned" => holding_none(reader, name, value, "its computation panicked"),
        _ => return Err(Flaw::Layout),
    })
}

pub(super) fn once_lock(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let name = "OnceLock";
    let inside = reader.field(value, "value").known()?;
    Ok(match once(reader, value)? {
        COMPLETE => holding(reader, name, Style::Tuple, "0", inside),
        RUNNING => holding_none(reader, name, value, "being set"),
        _ => holding_none(reader, name, value, "not set"),
    })
}

pub(super) fn lazy_lock(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let name = "LazyLock";
    let data = held(reader, reader.field(value, "data").known()?);
    let inside = reader.field(&data, "value").known()?;
    Ok(match once(reader, value)? {
        COMPLETE => holding(reader, name, Style::Tuple, "0", inside),
        RUNNING => holding_none(reader, name, value, "being computed"),
        POISONED => holding_none(reader, name, value, "its computation panicked"),
        _ => holding_none(reader, name, value, "not computed yet"),
    })
}

/// The state of the `Once` in a value, without the higher bits, which are for waiters.
pub(super) fn once(reader: &Reader<'_>, value: &Value) -> Result<u32, Flaw> {
    let state = reader.find(value, "state_and_queued").known()?;
    Ok(number(reader, &state)? as u32 & 3)
}

/// The target of the pointer in a `Ref` or in a similar type.
pub(super) fn behind(reader: &Reader<'_>, pointer: &Value) -> Result<View, Flaw> {
    match reader.view(pointer, crate::values::view::SHORT) {
        View::Pointer {
            target: Some(target),
            ..
        }
        | View::Alias(target) => Ok(View::Alias(target)),
        _ => {
            reader.word(&reader.find_pointer(pointer).known()?.contents)?;
            Err(Flaw::Layout)
        }
    }
}

/// The data of the lock that a guard refers to. `lock` is the guard's reference.
pub(super) fn guard(reader: &Reader<'_>, lock: &Value) -> Result<View, Flaw> {
    let View::Alias(lock) = reader.view(lock, crate::values::view::SHORT) else {
        return Err(Flaw::Layout);
    };
    Ok(View::Alias(reader.field(&lock, "data").known()?))
}

pub(super) fn atomic_bool(reader: &Reader<'_>, inside: &Value) -> Result<View, Flaw> {
    match number(reader, inside)? {
        0 => Ok(View::Leaf("false".to_owned())),
        1 => Ok(View::Leaf("true".to_owned())),
        other => broken(format!("the byte of a bool is {other}")),
    }
}

/// The first integer in a value, zero-extended.
fn number(reader: &Reader<'_>, value: &Value) -> Result<u64, Flaw> {
    let integer = reader.find_integer(value).known()?;
    let size = reader.size_of(&integer).known()?.min(8);
    let bytes = reader.bytes(&integer.contents, size)?;
    Ok(contents::extract_bits(&bytes, 0, 64) as u64)
}

/// Whether a thread has panicked while it held the lock.
pub(crate) fn is_poisoned(reader: &Reader<'_>, lock: &Value) -> bool {
    let failed = reader
        .field(lock, "poison")
        .and_then(|poison| reader.find(&poison, "failed"));
    failed.is_some_and(|failed| matches!(number(reader, &failed), Ok(1)))
}

/// The state of a cell or lock. `None`: it is neither borrowed, locked nor poisoned, or its state is unknown.
pub(super) fn note(reader: &Reader<'_>, value: &Value, path: &str) -> Option<String> {
    let number = |name: &str| number(reader, &reader.find(value, name)?).ok();
    if path == "core::cell::RefCell" {
        return match reader.signed(number("borrow")?) {
            0 => None,
            1 => Some("borrowed".to_owned()),
            count @ 2.. => Some(format!("borrowed {count} times")),
            -1 => Some("mutably borrowed".to_owned()),
            count => Some(format!("mutably borrowed {} times", count.unsigned_abs())),
        };
    }
    let inner = reader.field(value, "inner")?;
    let state = reader.find_integer(&inner)?;
    let state = self::number(reader, &state).ok()? as u32;
    let held = match (path.ends_with("Mutex"), state) {
        (_, 0) => None,
        (true, _) => Some("locked".to_owned()),
        (false, state) => match state & READERS {
            0 => None,
            1 => Some("locked for reading".to_owned()),
            READERS => Some("locked for writing".to_owned()),
            count => Some(format!("locked for reading {count} times")),
        },
    };
    let poisoned = number("failed") == Some(1);
    match (held, poisoned) {
        (Some(held), true) => Some(format!("{held}, poisoned")),
        (None, true) => Some("poisoned".to_owned()),
        (held, false) => held,
    }
}
