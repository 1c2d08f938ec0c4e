//! Wakers and contexts of futures, shown as what they wake.

use super::{Flaw, OrUnknownLayout, objects, pointed_to, shown};
use crate::Address;
use crate::values::view::View;
use crate::values::{Contents, Reader, Value, names};

/// The path of the wake function of a waker that was made from an `Arc<impl Wake>`.
const WAKE: &str = "alloc::task::raw_waker::wake";

/// `Waker`: the value of the `Arc` that it was made from. If it was made from anything else, or the value's type isn't found:
/// the waker's data and wake function.
pub(super) fn waker(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let raw = reader.field(value, "waker").known()?;
    let data = reader.field(&raw, "data").known()?;
    let table = pointed_to(reader, &reader.field(&raw, "vtable").known()?)?;
    let wake = reader.field(&table, "wake").known()?;
    let function = reader.word(&reader.find_pointer(&wake).known()?.contents)?;
    let name = reader.function_name(function).unwrap_or_default();
    let address = reader.word(&reader.find_pointer(&data).known()?.contents)?;
    let woken = match names::path_name(&name) == WAKE {
        true => names::first_argument(&name).and_then(|name| objects::named(value, name)),
        false => None,
    };
    Ok(match woken {
        Some(mut woken) => {
            woken.contents = Contents::Memory(Address(address));
            shown("Waker", vec![("wakes", woken)])
        }
        None => shown("Waker", vec![("data", data), ("wake", wake)]),
    })
}

/// `Context`: its waker.
pub(super) fn context(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let waker = reader.field(value, "waker").known()?;
    Ok(shown("Context", vec![("waker", waker)]))
}
