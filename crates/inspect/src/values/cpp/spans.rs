//! Views of contiguous elements in other objects, and containers made of other containers.

use super::blocks::{contiguous, number_argument};
use super::nodes::too_long;
use super::{MAX_OBJECT, find, nonsense, word};
use crate::Address;
use crate::values::entries::{Entry, Page};
use crate::values::view::{Limit, Sequence, View};
use crate::values::{Contents, Reader, Value, names};
use dapple_symbols::types::{Type, TypeKind};

/// The most dimensions of a view.
const MAX_RANK: usize = 16;

/// The address in a pointer, its target, and the target's size.
fn elements(reader: &Reader<'_>, pointer: &Value) -> Option<(u64, Value, u64)> {
    let TypeKind::Pointer(_, element) = reader.resolve(pointer)?.type_.kind else {
        return None;
    };
    let start = reader.word(&pointer.contents).ok()?;
    let element = pointer.sibling(element, Contents::Memory(Address(start)));
    let size = reader.size_of(&element).filter(|size| *size > 0)?;
    Some((start, element, size))
}

fn counted(reader: &Reader<'_>, pointer: &Value, length: u64) -> Option<View> {
    let (start, element, size) = elements(reader, pointer)?;
    if length
        .checked_mul(size)
        .is_none_or(|bytes| bytes > MAX_OBJECT)
    {
        return Some(too_long(length));
    }
    Some(contiguous(reader, element, start, size, length))
}

/// `span`, whose length is in its type or in the object.
pub(super) fn span(reader: &Reader<'_>, value: &Value, type_: &Type) -> Option<View> {
    let first = find(reader, value, &["_M_ptr", "__data_"])?;
    let length = match word(reader, value, &["_M_extent_value", "__size_", "__size"]) {
        Some(length) => length,
        None => number_argument(type_, 1)?,
    };
    counted(reader, &first, length)
}

/// `initializer_list`.
pub(super) fn list(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let first = find(reader, value, &["_M_array", "__begin_"])?;
    let length = word(reader, value, &["_M_len", "__size_"])?;
    counted(reader, &first, length)
}

/// `valarray`, which stores its length or its end.
pub(super) fn valarray(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let first = find(reader, value, &["_M_data", "__begin_"])?;
    if let Some(length) = word(reader, value, &["_M_size"]) {
        return counted(reader, &first, length);
    }
    let (start, _, size) = elements(reader, &first)?;
    match word(reader, value, &["__end_"])?.checked_sub(start) {
        Some(bytes) if bytes.is_multiple_of(size) => counted(reader, &first, bytes / size),
        _ => Some(nonsense("its ends don't belong together")),
    }
}

/// `mdspan`: rows, if it has two dimensions and rows are contiguous; else all its elements.
pub(super) fn mdspan(reader: &Reader<'_>, value: &Value, type_: &Type) -> Option<View> {
    let first = reader.find(value, "__ptr_")?;
    let (start, element, size) = elements(reader, &first)?;
    let extents = extents(reader, value, type_)?;
    let total = extents
        .iter()
        .try_fold(1, |all: u64, it| all.checked_mul(*it));
    let bytes = total.and_then(|total| total.checked_mul(size));
    let Some((total, bytes)) = total.zip(bytes).filter(|(_, bytes)| *bytes <= MAX_OBJECT) else {
        return Some(nonsense("its extents are too large"));
    };
    let is_by_rows = names::arguments(&type_.name)
        .get(2)
        .is_none_or(|layout| layout.ends_with("layout_right"));
    let row = extents.last().copied().filter(|row| *row > 0);
    let View::Sequence(sequence) = contiguous(reader, element, start, size, total) else {
        return Some(nonsense(&format!(
            "its elements, {start:#x} to {:#x}, cannot be read",
            start.saturating_add(bytes)
        )));
    };
    let Some(row) = row.filter(|_| is_by_rows && extents.len() == 2) else {
        return Some(View::Sequence(sequence));
    };
    let mut element = sequence.element.clone();
    element.repeated = Some(row);
    let bytes = row.checked_mul(size)?;
    Some(View::Sequence(Sequence {
        element,
        stride: bytes,
        size: bytes,
        length: total / row,
        ..sequence
    }))
}

/// The lengths of an `mdspan`'s dimensions: static ones are in the type, dynamic ones are stored in order.
fn extents(reader: &Reader<'_>, value: &Value, type_: &Type) -> Option<Vec<u64>> {
    const DYNAMIC: [&str; 2] = ["18446744073709551615", "4294967295"];
    let arguments = names::arguments(&type_.name);
    let known = names::arguments(arguments.get(1)?);
    let kept = reader.find(value, "__dyn_vals_");
    // If all lengths are static, this member is empty.
    let kept = kept.and_then(|all| reader.find(&all, "__vals_"));
    let kept = kept.map(|kept| reader.view(&kept, super::SHORT));
    let mut kept = kept.and_then(|view| match view {
        View::Sequence(kept) => Some((kept, 0)),
        _ => None,
    });
    let known = known.iter().skip(1).take(MAX_RANK);
    known
        .map(|extent| {
            let extent = extent.trim_end_matches(['U', 'L']);
            if !DYNAMIC.contains(&extent) && extent != "-1" {
                return extent.parse().ok();
            }
            let (kept, next) = kept.as_mut()?;
            let extent = super::integer(reader, &kept.at(*next))?;
            *next += 1;
            Some(extent)
        })
        .collect()
}

/// `flat_map`: keys and values in containers of their own, in the same order.
pub(super) fn flat_map(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let containers = reader.field(value, "__containers_")?;
    let side = |name: &str| match reader.view(&reader.field(&containers, name)?, limit) {
        View::Sequence(sequence) => Some(Ok(sequence)),
        broken @ View::Broken(_) => Some(Err(broken)),
        _ => None,
    };
    let (keys, values) = match (side("keys")?, side("values")?) {
        (Ok(keys), Ok(values)) => (keys, values),
        (Err(broken), _) | (_, Err(broken)) => return Some(broken),
    };
    if keys.length != values.length {
        return Some(nonsense("it has not as many keys as values"));
    }
    let mut page = Page::new(limit, true);
    page.skip(page.before().min(keys.length));
    while !page.is_full(keys.length) {
        let at = page.position();
        page.next(|| {
            Some(Entry {
                key: Some(keys.at(at)),
                value: values.at(at),
            })
        })?;
    }
    Some(View::Entries(page.of(keys.length)))
}
