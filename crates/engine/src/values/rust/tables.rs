//! Rust's maps and sets: hashbrown's table and the B-tree, walked no further than asked.

use super::Limit;
use crate::Address;
use crate::values::view::{Entries, Entry, View};
use crate::values::{Contents, Reader, Value};
use dapple_symbols::types::TypeKind;

/// Control bytes read at most.
const MAX_BUCKETS: u64 = 1 << 20;
/// A B-tree of more levels would hold more than memory does.
const MAX_HEIGHT: u64 = 24;
/// A node's capacity is below this.
const MAX_KEYS: u64 = 64;

/// `HashMap` and `HashSet`: the table is the first member whose type has `ctrl` in it.
pub(super) fn hash(reader: &Reader<'_>, value: &Value, is_set: bool, limit: Limit) -> Option<View> {
    let table = reader.find(value, "table")?;
    let resolved = reader.resolve(&table)?;
    let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
        return None;
    };
    let element = table.sibling(super::argument(aggregate), Contents::Memory(Address(0)));
    let size = reader.size_of(&element)?;
    let word = |name: &str| reader.word(&reader.find(&table, name)?.contents).ok();
    let control = reader.find_pointer(&reader.find(&table, "ctrl")?)?;
    let control = reader.word(&control.contents).ok()?;
    let (mask, items) = (word("bucket_mask")?, word("items")?);
    if mask.checked_add(1)? < items || !mask.wrapping_add(1).is_power_of_two() {
        return None;
    }
    let mut entries = Vec::new();
    let mut bucket = 0;
    let buckets = (mask + 1).min(MAX_BUCKETS);
    while bucket < buckets && entries.len() < limit.entries && (entries.len() as u64) < items {
        let count = (buckets - bucket).min(256);
        let at = Address(control.wrapping_add(bucket));
        let bytes = reader.bytes(&Contents::Memory(at), count).ok()?;
        for (offset, byte) in (0..).zip(bytes) {
            // A set top bit: empty or deleted.
            if byte & 0x80 == 0 && entries.len() < limit.entries {
                let back = (bucket + offset + 1).wrapping_mul(size);
                let mut element = element.clone();
                element.contents = Contents::Memory(Address(control.wrapping_sub(back)));
                let key = reader.field(&element, "__0")?;
                entries.push(if is_set {
                    Entry {
                        key: None,
                        value: key,
                    }
                } else {
                    let value = reader.field(&element, "__1")?;
                    Entry {
                        key: Some(key),
                        value,
                    }
                });
            }
        }
        bucket += count;
    }
    Some(View::Entries(Entries {
        entries,
        length: items,
    }))
}

/// `BTreeMap` and `BTreeSet`.
pub(super) fn tree(reader: &Reader<'_>, value: &Value, is_set: bool, limit: Limit) -> Option<View> {
    let map = if is_set {
        reader.field(value, "map")?
    } else {
        value.clone()
    };
    let length = reader.word(&reader.field(&map, "length")?.contents).ok()?;
    let mut entries = Vec::new();
    if length > 0 {
        let root = reader.field(&map, "root")?;
        let type_ = reader.resolve(&root)?.type_;
        let TypeKind::Aggregate(aggregate) = &type_.kind else {
            return None;
        };
        let Ok(View::Record(root)) = super::enum_view(reader, &root, &type_, aggregate) else {
            return None;
        };
        let root = &root.fields.first()?.value;
        let height = reader.word(&reader.find(root, "height")?.contents).ok()?;
        let pointer = reader.find_pointer(root)?;
        let TypeKind::Pointer(_, leaf) = reader.resolve(&pointer)?.type_.kind else {
            return None;
        };
        let address = reader.word(&pointer.contents).ok()?;
        let leaf = pointer.sibling(leaf, Contents::Memory(Address(address)));
        walk(
            reader,
            &leaf,
            height.min(MAX_HEIGHT),
            is_set,
            limit,
            &mut entries,
        )?;
    }
    Some(View::Entries(Entries { entries, length }))
}

/// What a slot that may be empty holds, out of its wrappers.
fn held(reader: &Reader<'_>, slot: Value) -> Value {
    let mut value = slot;
    for _ in 0..4 {
        let wrapper = reader.resolve(&value).is_some_and(|resolved| {
            let name = crate::values::names::base_name(&resolved.type_.name);
            matches!(name, "MaybeUninit" | "ManuallyDrop" | "MaybeDangling")
        });
        let inner = reader
            .field(&value, "value")
            .or_else(|| reader.field(&value, "__0"));
        match inner {
            Some(inner) if wrapper => value = inner,
            _ => break,
        }
    }
    value
}

/// One node and what is below it, in order.
fn walk(
    reader: &Reader<'_>,
    node: &Value,
    height: u64,
    is_set: bool,
    limit: Limit,
    entries: &mut Vec<Entry>,
) -> Option<()> {
    let start = node.contents.address()?;
    let count = reader.bytes(&reader.field(node, "len")?.contents, 2).ok()?;
    let count = u64::from(u16::from_le_bytes([count[0], count[1]]));
    if count > MAX_KEYS {
        return None;
    }
    let (keys, values) = (reader.field(node, "keys")?, reader.field(node, "vals")?);
    let is_array = |value: &Value| {
        let type_ = reader.resolve(value).map(|resolved| resolved.type_);
        type_.is_some_and(|type_| matches!(type_.kind, TypeKind::Array { .. }))
    };
    if !is_array(&keys) || !is_array(&values) {
        return None;
    }
    let (View::Sequence(keys), View::Sequence(values)) =
        (reader.view(&keys, limit), reader.view(&values, limit))
    else {
        return None;
    };
    // An inner node is a leaf with its edges behind it.
    let edges = reader.size_of(node)?.checked_next_multiple_of(8)?;
    for position in 0..=count {
        if entries.len() >= limit.entries {
            return Some(());
        }
        if height > 0 {
            let slot = start.0.wrapping_add(edges).wrapping_add(position * 8);
            let child = reader.word(&Contents::Memory(Address(slot))).ok()?;
            let mut below = node.clone();
            below.contents = Contents::Memory(Address(child));
            walk(reader, &below, height - 1, is_set, limit, entries)?;
        }
        if position < count && entries.len() < limit.entries {
            let key = held(reader, keys.at(position));
            entries.push(if is_set {
                Entry {
                    key: None,
                    value: key,
                }
            } else {
                let value = held(reader, values.at(position));
                Entry {
                    key: Some(key),
                    value,
                }
            });
        }
    }
    Some(())
}
