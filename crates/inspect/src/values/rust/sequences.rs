//! Contiguous elements: vectors, slices, ring buffers, and the remaining items of iterators over them.

use super::{Flaw, MAX_OBJECT, OrUnknownLayout, argument, broken, held, pointed_to, tables, text};
use crate::Address;
use crate::values::entries::{Entry, Page};
use crate::values::view::{Limit, Sequence, View};
use crate::values::{Contents, Reader, Value};
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{Aggregate, TypeId, TypeKind};

/// A `Vec`.
pub(super) fn vec(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Result<View, Flaw> {
    let element = argument(aggregate);
    let size = element_size(reader, value, element)?;
    let (address, length) = vec_parts(reader, value, size)?;
    Ok(sequence(value, element, address, size, length, None))
}

/// A `Vec`'s address and length, checked for plausibility. `size` is that of an element.
pub(super) fn vec_parts(reader: &Reader<'_>, vec: &Value, size: u64) -> Result<(u64, u64), Flaw> {
    let buffer = reader.field(vec, "buf").known()?;
    let (address, capacity) = raw_vec_parts(reader, &buffer)?;
    let length = reader.word(&reader.field(vec, "len").known()?.contents)?;
    plausible(reader, address, length, capacity, size)?;
    Ok((address, length))
}

/// A `RawVec`'s address and capacity.
pub(super) fn raw_vec_parts(reader: &Reader<'_>, buffer: &Value) -> Result<(u64, u64), Flaw> {
    let pointer = reader.find_pointer(buffer).known()?;
    let capacity = reader.find(buffer, "cap").known()?;
    let capacity = reader.find_integer(&capacity).known()?;
    Ok((
        reader.word(&pointer.contents)?,
        reader.word(&capacity.contents)?,
    ))
}

fn element_size(reader: &Reader<'_>, value: &Value, element: Option<TypeId>) -> Result<u64, Flaw> {
    let element = value.sibling(element, Contents::Memory(Address(0)));
    reader.size_of(&element).known()
}

/// Checks a buffer at `address`, of `capacity` elements of `size` bytes each, of which `length` are in use: memory must be able to
/// contain it, and the first and last byte in use must be readable.
fn plausible(
    reader: &Reader<'_>,
    address: u64,
    length: u64,
    capacity: u64,
    size: u64,
) -> Result<(), Flaw> {
    if size == 0 {
        return match length <= MAX_OBJECT {
            true => Ok(()),
            false => broken(format!("its length is {length}")),
        };
    }
    if length > capacity {
        return broken(format!("length {length} beyond capacity {capacity}"));
    }
    let bytes = capacity.checked_mul(size);
    if bytes.is_none_or(|bytes| bytes > MAX_OBJECT) {
        return broken(format!("{capacity} elements are more than memory holds"));
    }
    if address == 0 {
        return broken("a null pointer");
    }
    let Some(last) = length.saturating_mul(size).checked_sub(1) else {
        return Ok(());
    };
    for at in [Some(address), address.checked_add(last)] {
        let Some(at) = at else {
            return broken(format!("{length} elements from {address:#x}"));
        };
        let read = reader.memory.read(Address(at), &mut [0]);
        read.map_err(|at| Unavailable::Unreadable(at.0))?;
    }
    Ok(())
}

/// Whether the first and the last of `length` bytes are readable; `true` if `length` is 0.
pub(crate) fn is_readable(reader: &Reader<'_>, address: u64, length: u64) -> bool {
    let Some(last) = length.checked_sub(1).map(|last| address.checked_add(last)) else {
        return true;
    };
    let Some(last) = last else {
        return false;
    };
    let readable = |at| reader.memory.read(Address(at), &mut [0]).is_ok();
    readable(address) && readable(last)
}

fn sequence(
    value: &Value,
    element: Option<TypeId>,
    address: u64,
    size: u64,
    length: u64,
    ring: Option<(u64, u64)>,
) -> View {
    View::Sequence(Sequence {
        element: value.sibling(element, Contents::Memory(Address(address))),
        stride: size,
        size,
        length,
        ring,
        text: None,
        container: true,
    })
}

/// The view of contiguous elements of a type.
pub(super) fn at(
    reader: &Reader<'_>,
    value: &Value,
    element: Option<TypeId>,
    address: u64,
    length: u64,
) -> Result<View, Flaw> {
    let size = element_size(reader, value, element)?;
    plausible(reader, address, length, length, size)?;
    Ok(sequence(value, element, address, size, length, None))
}

/// Whether the target of a pointer with a length is a slice or a string, not a struct that ends in one.
pub(super) fn is_slice(pointee: &str) -> bool {
    pointee.starts_with('[') || text::kind(pointee).is_some()
}

/// The view of a slice or a string.
pub(super) fn slice(
    reader: &Reader<'_>,
    value: &Value,
    pointee: &str,
    element: Option<TypeId>,
    (address, length): (u64, u64),
    limit: Limit,
) -> Result<View, Flaw> {
    if let Some(kind) = text::kind(pointee) {
        return text::of_kind(reader, kind, address, length, limit);
    }
    if !is_slice(pointee) {
        return Err(Flaw::Layout);
    }
    at(reader, value, element, address, length)
}

/// The remaining items of an iterator over contiguous elements. `end` is the name of the field with their end.
pub(super) fn remaining(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    end: &str,
) -> Result<View, Flaw> {
    let element = aggregate
        .type_arguments
        .iter()
        .find_map(|(_, type_)| *type_);
    let size = element_size(reader, value, element)?;
    let word = |name: &str| -> Result<u64, Flaw> {
        let field = reader.field(value, name).known()?;
        Ok(reader.word(&reader.find_pointer(&field).known()?.contents)?)
    };
    let (start, last) = (word("ptr")?, word(end)?);
    let bytes = last.checked_sub(start);
    let length = match (bytes, size) {
        // For zero-sized elements, the slice iterator stores the number of items instead of an end.
        (_, 0) if end == "end_or_len" => last,
        (Some(bytes), _) => bytes / size.max(1),
        (None, _) => return broken("its end is before its start"),
    };
    plausible(reader, start, length, length, size)?;
    Ok(sequence(value, element, start, size, length, None))
}

/// The remaining items of an iterator over a `VecDeque`, which are in two slices.
pub(super) fn rest_of_deque(
    reader: &Reader<'_>,
    value: &Value,
    limit: Limit,
) -> Result<View, Flaw> {
    let half = |name: &str| -> Result<View, Flaw> {
        Ok(reader.view(&reader.field(value, name).known()?, limit))
    };
    let (first, second) = match (half("i1")?, half("i2")?) {
        (View::Sequence(first), View::Sequence(second)) => (first, second),
        (broken @ View::Broken(_), _) | (_, broken @ View::Broken(_)) => return Ok(broken),
        _ => return Err(Flaw::Layout),
    };
    if second.length == 0 {
        return Ok(View::Sequence(first));
    }
    if first.length == 0 {
        return Ok(View::Sequence(second));
    }
    let length = first.length.saturating_add(second.length);
    let mut page = Page::new(limit, false);
    page.skip(page.before().min(length));
    while !page.is_full(length) {
        let value = match page.position().checked_sub(first.length) {
            None => first.at(page.position()),
            Some(position) => second.at(position),
        };
        page.next(|| Some(Entry { key: None, value })).known()?;
    }
    Ok(tables::ordered(page.of(length)))
}

/// The remaining items of a `VecDeque`'s `Drain`.
pub(super) fn drained_deque(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let word = |name: &str| -> Result<u64, Flaw> {
        Ok(reader.word(&reader.field(value, name).known()?.contents)?)
    };
    let deque = pointed_to(reader, &reader.field(value, "deque").known()?)?;
    let TypeKind::Aggregate(aggregate) = &reader.resolve(&deque).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    let element = argument(aggregate);
    let size = element_size(reader, value, element)?;
    let (address, capacity) = raw_vec_parts(reader, &reader.field(&deque, "buf").known()?)?;
    let head = reader.word(&reader.field(&deque, "head").known()?.contents)?;
    let (index, length) = (word("idx")?, word("remaining")?);
    plausible(reader, address, length, capacity, size)?;
    let ring = Some((head.wrapping_add(index), capacity));
    Ok(sequence(value, element, address, size, length, ring))
}

/// The remaining items of an array's iterator.
pub(super) fn rest_of_array(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let alive = reader.find(value, "alive").known()?;
    let data = reader.find(value, "data").known()?;
    let word = |name: &str| -> Result<u64, Flaw> {
        Ok(reader.word(&reader.field(&alive, name).known()?.contents)?)
    };
    let (start, end) = (word("start")?, word("end")?);
    if !matches!(
        reader.resolve(&data).known()?.type_.kind,
        TypeKind::Array { .. }
    ) {
        return Err(Flaw::Layout);
    }
    let View::Sequence(mut rest) = reader.view(&data, crate::values::view::SHORT) else {
        return Err(Flaw::Layout);
    };
    if start > end || end > rest.length {
        return broken(format!("elements {start} to {end} of {}", rest.length));
    }
    rest.element.contents = data
        .contents
        .part(start.saturating_mul(rest.stride), u64::MAX);
    let slot = std::mem::replace(&mut rest.element, value.clone());
    rest.element = held(reader, slot);
    rest.length = end - start;
    rest.container = true;
    Ok(View::Sequence(rest))
}

/// A `VecDeque`.
pub(super) fn deque(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
) -> Result<View, Flaw> {
    let element = argument(aggregate);
    let size = element_size(reader, value, element)?;
    let word = |name: &str| -> Result<u64, Flaw> {
        Ok(reader.word(&reader.field(value, name).known()?.contents)?)
    };
    let (address, capacity) = raw_vec_parts(reader, &reader.field(value, "buf").known()?)?;
    let (head, length) = (word("head")?, word("len")?);
    plausible(reader, address, length, capacity, size)?;
    if size > 0 && head >= capacity && length > 0 {
        return broken(format!("its first element is {head} of {capacity}"));
    }
    let ring = Some((head, capacity));
    Ok(sequence(value, element, address, size, length, ring))
}
