//! Futures, promises and tasks: their shared state, and whether it is ready.

use super::{find, integer};
use crate::Address;
use crate::values::view::View;
use crate::values::{Contents, Reader, Value};
use dapple_symbols::types::{Aggregate, TypeKind};

/// libc++'s flags of a state: it has a value; it is ready.
const CONSTRUCTED: u64 = 1;
const READY: u64 = 4;

/// `future`, `shared_future`, `promise`, `packaged_task`: the value, or the exception if there is one instead.
pub(super) fn view(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<View> {
    let leaf = |text: &str| Some(View::Leaf(text.to_owned()));
    let pointer = state_pointer(reader, value)?;
    let address = reader.word(&pointer.contents).ok()?;
    if address == 0 {
        return leaf("no state");
    }
    let TypeKind::Pointer(_, target) = reader.resolve(&pointer)?.type_.kind else {
        return None;
    };
    let state = value.sibling(target, Contents::Memory(Address(address)));
    let result = aggregate.type_arguments.first()?.1;
    let is_function = |id| {
        let result = value.sibling(id, Contents::Memory(Address(0)));
        let type_ = reader.resolve(&result).map(|resolved| resolved.type_);
        match type_.map(|type_| type_.kind.clone()) {
            Some(TypeKind::Function { result, .. }) => Some(result),
            _ => None,
        }
    };
    let result = is_function(result).unwrap_or(result);
    let of = |at: Option<u64>| Some(value.sibling(result, Contents::Memory(Address(at?))));
    let (failure, held) = match reader.find(&state, "_M_status") {
        Some(status) => {
            if integer(reader, &status)? & 1 == 0 {
                return leaf("not ready");
            }
            let result = reader.find_pointer(&reader.field(&state, "_M_result")?)?;
            let result = reader.word(&result.contents).ok()?;
            // `_Result<T>`: a vtable, an exception, and the value at the next address that its alignment allows.
            let align = reader.align_of(&of(Some(0))?).max(1);
            let held = of(result
                .checked_add(2 * reader.address_size())?
                .checked_next_multiple_of(align))?;
            let [failure] = reader
                .words(result.checked_add(reader.address_size())?)
                .ok()?;
            (failure, held)
        }
        None => {
            let (flags, failure) = libcxx_state(reader, &state, address)?;
            if flags & READY == 0 {
                return leaf("not ready");
            }
            if flags & CONSTRUCTED == 0 && failure == 0 {
                return None;
            }
            let held = match reader.field(&state, "__value_") {
                Some(held) => held.contents.address().map(|at| at.0),
                // The debug information has no member for the result.
                None => None,
            };
            (failure, of(Some(held.unwrap_or(0)))?)
        }
    };
    if failure != 0 {
        return super::owners::thrown_at(reader, failure, value);
    }
    if result.is_none() || reader.resolve(&held).is_none() {
        return leaf("ready");
    }
    Some(match held.contents.address() {
        Some(Address(0)) => View::Leaf("ready".to_owned()),
        _ => View::Alias(held),
    })
}

/// The flags and the exception of a libc++ state. If its class is only declared, they are where the ABI has them: the state consists of a
/// vtable's address and a count, the exception, a mutex and a condition variable, the flags.
fn libcxx_state(reader: &Reader<'_>, state: &Value, address: u64) -> Option<(u64, u64)> {
    const EXCEPTION: u64 = 16;
    const FLAGS: u64 = 112;
    if let Some(flags) = reader.find(state, "__state_") {
        let failure = reader.find(state, "__exception_")?;
        let failure = reader.word(&failure.contents).ok()?;
        return Some((integer(reader, &flags)?, failure));
    }
    let [failure] = reader.words(address.checked_add(EXCEPTION)?).ok()?;
    let [flags] = reader.words(address.checked_add(FLAGS)?).ok()?;
    Some((flags & u64::from(u32::MAX), failure))
}

/// The member that points to the shared state.
fn state_pointer(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    if let Some(state) = find(reader, value, &["_M_state", "_M_future"]) {
        return reader.find(&state, "_M_ptr");
    }
    let state = reader.find(value, "__state_")?;
    let is_pointer = matches!(reader.resolve(&state)?.type_.kind, TypeKind::Pointer(..));
    is_pointer.then_some(state)
}
