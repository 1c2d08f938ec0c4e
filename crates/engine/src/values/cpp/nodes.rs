//! libstdc++'s containers made of nodes, and those whose elements are spread: walked no further than asked.
//!
//! Node headers are part of libstdc++'s ABI: a tree's is colour, parent, left, right; a list's next and previous; a hash
//! table's and a forward list's next. The element follows at the next place that its alignment allows, here 8 bytes.

use super::{Limit, find, word};
use crate::Address;
use crate::values::view::{Entries, Entry, View};
use crate::values::{Contents, Number, Reader, Value, names};
use dapple_symbols::types::{Aggregate, TypeKind};

/// The most elements a container is believed to have.
const MAX_LENGTH: u64 = 1 << 40;
/// Elements counted one by one where the container doesn't know.
const MAX_COUNTED: usize = 100_000;

/// The element's type: what the allocator, the last argument, allocates. Gcc tells it of the allocator's base only.
fn element(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<Value> {
    let mut allocator = aggregate.type_arguments.last()?.1;
    for _ in 0..4 {
        let value = value.sibling(allocator, Contents::Memory(Address(0)));
        let resolved = reader.resolve(&value)?;
        let TypeKind::Aggregate(inner) = &resolved.type_.kind else {
            return None;
        };
        if let Some((_, element)) = inner.type_arguments.first() {
            return Some(value.sibling(*element, Contents::Memory(Address(0))));
        }
        allocator = Some(inner.members.iter().find(|member| member.base)?.type_id);
    }
    None
}

/// The entry of an element at an address: a map's is a pair.
fn entry(reader: &Reader<'_>, element: &Value, address: u64, is_map: bool) -> Option<Entry> {
    let mut value = element.clone();
    value.contents = Contents::Memory(Address(address));
    if is_map {
        let (key, value) = (
            reader.field(&value, "first")?,
            reader.field(&value, "second")?,
        );
        return Some(Entry {
            key: Some(key),
            value,
        });
    }
    Some(Entry { key: None, value })
}

fn is_map(path: &str) -> bool {
    matches!(
        path,
        "map" | "multimap" | "unordered_map" | "unordered_multimap"
    )
}

/// `map`, `set` and their siblings: a red-black tree, from its leftmost node on.
pub(super) fn tree(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Option<View> {
    let element = element(reader, value, aggregate)?;
    let header = reader.find(value, "_M_header")?;
    let length = word(reader, value, &["_M_node_count"]).filter(|n| *n <= MAX_LENGTH)?;
    let end = header.contents.address();
    let link = |contents: &Contents, slot: u64| reader.word(&contents.part(8 * slot, 8)).ok();
    let at = |node: u64| Contents::Memory(Address(node));
    let (parent_slot, left_slot, right_slot) = (1, 2, 3);
    let mut node = link(&header.contents, left_slot)?;
    let mut entries = Vec::new();
    while (entries.len() as u64) < length && entries.len() < limit.entries {
        entries.push(entry(
            reader,
            &element,
            node.checked_add(32)?,
            is_map(path),
        )?);
        let right = link(&at(node), right_slot)?;
        if right != 0 {
            node = right;
            // A tree of 64 levels has more nodes than there are addresses.
            for _ in 0..128 {
                match link(&at(node), left_slot)? {
                    0 => break,
                    left => node = left,
                }
            }
        } else {
            for _ in 0..128 {
                let parent = link(&at(node), parent_slot)?;
                let was_right = link(&at(parent), right_slot)? == node;
                node = parent;
                if !was_right || Some(Address(node)) == end {
                    break;
                }
            }
        }
    }
    Some(View::Entries(Entries { entries, length }))
}

/// What is linked: `list`, `forward_list`, and the hash tables, which keep their elements in one list.
pub(super) fn chain(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Option<View> {
    let element = element(reader, value, aggregate)?;
    let (first, length, offset) = match path {
        "list" => {
            let node = reader.find(value, "_M_node")?;
            (
                reader.find(&node, "_M_next")?,
                Some(word(reader, &node, &["_M_size"])?),
                16,
            )
        }
        "forward_list" => (reader.find(value, "_M_next")?, None, 8),
        _ => {
            let before = reader.find(value, "_M_before_begin")?;
            let count = word(reader, value, &["_M_element_count"])?;
            (reader.find(&before, "_M_nxt")?, Some(count), 8)
        }
    };
    if length.is_some_and(|length| length > MAX_LENGTH) {
        return None;
    }
    let mut node = reader.word(&first.contents).ok()?;
    let mut entries = Vec::new();
    let mut counted = 0;
    while node != 0
        && counted < MAX_COUNTED
        && length.is_none_or(|length| (counted as u64) < length)
    {
        if entries.len() < limit.entries {
            entries.push(entry(
                reader,
                &element,
                node.checked_add(offset)?,
                is_map(path),
            )?);
        } else if length.is_some() {
            break;
        }
        counted += 1;
        node = reader.word(&Contents::Memory(Address(node))).ok()?;
    }
    let length = length.unwrap_or(counted as u64);
    Some(View::Entries(Entries { entries, length }))
}

/// `deque`: blocks of equal size, from a cursor in the first to one in the last.
pub(super) fn deque(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let element = element(reader, value, aggregate)?;
    let size = reader.size_of(&element).filter(|size| *size > 0)?;
    let cursor = |name: &str| {
        let iterator = reader.find(value, name)?;
        let part = |name: &str| word(reader, &iterator, &[name]);
        Some((
            part("_M_cur")?,
            part("_M_first")?,
            part("_M_last")?,
            part("_M_node")?,
        ))
    };
    let (mut at, first, mut last, mut block) = cursor("_M_start")?;
    let (end, end_first, _, end_block) = cursor("_M_finish")?;
    let room = last.checked_sub(first).filter(|room| *room > 0)?;
    let blocks = end_block.checked_sub(block)? / 8;
    let bytes = match blocks {
        0 => end.checked_sub(at)?,
        blocks => (last.checked_sub(at)?)
            .checked_add((blocks - 1).checked_mul(room)?)?
            .checked_add(end.checked_sub(end_first)?)?,
    };
    let length = bytes / size;
    if length > MAX_LENGTH {
        return None;
    }
    let mut entries = Vec::new();
    while (entries.len() as u64) < length && entries.len() < limit.entries {
        if at >= last {
            block = block.checked_add(8)?;
            at = reader.word(&Contents::Memory(Address(block))).ok()?;
            last = at.checked_add(room)?;
        }
        entries.push(entry(reader, &element, at, false)?);
        at = at.checked_add(size)?;
    }
    Some(View::Entries(Entries { entries, length }))
}

/// `vector<bool>`: bits.
pub(super) fn bits(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    let edge = |name: &str| {
        let iterator = reader.find(value, name)?;
        let word = word(reader, &iterator, &["_M_p"])?;
        let offset = reader.find(&iterator, "_M_offset")?;
        let offset = reader.bytes(&offset.contents, 4).ok()?;
        let offset = u32::from_le_bytes(offset.try_into().ok()?);
        Some((word, u64::from(offset)))
    };
    let ((start, skip), (end, rest)) = (edge("_M_start")?, edge("_M_finish")?);
    let length = end
        .checked_sub(start)?
        .checked_mul(8)?
        .checked_add(rest)?
        .checked_sub(skip)?;
    if length > MAX_LENGTH {
        return None;
    }
    let mut entries = Vec::new();
    for bit in skip..skip + length.min(limit.entries as u64) {
        let at = Contents::Memory(Address(start.checked_add(bit / 8)?));
        let byte = reader.bytes(&at, 1).ok()?[0];
        let number = Contents::Number(Number::Bool(byte >> (bit % 8) & 1 == 1));
        entries.push(Entry {
            key: None,
            value: value.sibling(None, number),
        });
    }
    Some(View::Entries(Entries { entries, length }))
}

/// `variant`: the alternative held. It starts where the union of all of them does.
pub(super) fn variant(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let index = find(reader, value, &["_M_index"])?;
    let index = reader.bytes(&index.contents, 1).ok()?[0];
    if index == u8::MAX {
        return Some(View::Leaf("valueless".to_owned()));
    }
    let mut union = reader.find(value, "_M_u")?;
    for _ in 0..index {
        union = reader.field(&union, "_M_rest")?;
    }
    let held = reader.field(&union, "_M_first")?;
    let resolved = reader.resolve(&held)?;
    let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
        return None;
    };
    if names::base_name(&resolved.type_.name) != "_Uninitialized" {
        return None;
    }
    let type_ = aggregate.type_arguments.first()?.1;
    Some(View::Alias(held.sibling(type_, held.contents.clone())))
}
