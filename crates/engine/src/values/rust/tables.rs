//! Rust's maps and sets: hashbrown's table and the B-tree, walked no further than asked.

use super::Limit;
use crate::Address;
use crate::values::entries::{Entries, Entry, Page};
use crate::values::pages::Pages;
use crate::values::view::{Sequence, View};
use crate::values::{Contents, Reader, Value};
use dapple_symbols::types::TypeKind;

/// Control bytes read at most.
const MAX_BUCKETS: u64 = 1 << 26;
/// Control bytes read at a time.
const CONTROL_BYTES: u64 = 4096;
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
    let mut page = Page::new(limit, !is_set);
    let mut bucket = 0;
    let buckets = (mask + 1).min(MAX_BUCKETS);
    while bucket < buckets && !page.is_full(items) {
        let count = (buckets - bucket).min(CONTROL_BYTES);
        let at = Address(control.wrapping_add(bucket));
        let bytes = reader.bytes(&Contents::Memory(at), count).ok()?;
        // A set top bit: empty or deleted.
        let is_used = |byte: &&u8| **byte & 0x80 == 0;
        let used = bytes.iter().filter(is_used).count() as u64;
        if used <= page.before() {
            page.skip(used);
            bucket += count;
            continue;
        }
        for (offset, byte) in (0..).zip(&bytes) {
            if !is_used(&byte) || page.is_full(items) {
                continue;
            }
            page.next(|| {
                let back = (bucket + offset + 1).wrapping_mul(size);
                let mut element = element.clone();
                element.contents = Contents::Memory(Address(control.wrapping_sub(back)));
                let key = reader.field(&element, "__0")?;
                Some(if is_set {
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
                })
            })?;
        }
        bucket += count;
    }
    Some(View::Entries(collected(page, items)?))
}

/// What a walk has found. One that met fewer elements than there should be was through something else.
fn collected(page: Page, length: u64) -> Option<Entries> {
    if page.is_full(length) {
        return Some(page.of(length));
    }
    let why = format!("it ends after {} of {length} elements", page.position());
    page.until(length, &why)
}

/// `BTreeMap` and `BTreeSet`.
pub(super) fn tree(reader: &Reader<'_>, value: &Value, is_set: bool, limit: Limit) -> Option<View> {
    let map = if is_set {
        reader.field(value, "map")?
    } else {
        value.clone()
    };
    let length = reader.word(&reader.field(&map, "length")?.contents).ok()?;
    let mut page = Page::new(limit, !is_set);
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
        let leaf = pointer.sibling(leaf, Contents::Memory(Address(0)));
        let pages = Pages::new(reader.memory);
        let walk = Walk {
            node: Node::of(reader, &leaf, limit)?,
            pages: Reader::new(&pages, reader.modules),
            reader,
            is_set,
            length,
        };
        walk.node(address, height.min(MAX_HEIGHT), &mut page)?;
    }
    Some(View::Entries(collected(page, length)?))
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

/// How a tree's nodes are laid out.
struct Node {
    /// Where a node's number of keys is, in bytes from its beginning.
    count: u64,
    keys: Sequence,
    values: Sequence,
    /// Where an inner node's edges are: it is a leaf with its edges behind it.
    edges: u64,
}

impl Node {
    /// Of a leaf at address 0, so that places in it are offsets.
    fn of(reader: &Reader<'_>, leaf: &Value, limit: Limit) -> Option<Node> {
        let array = |name: &str| {
            let field = reader.field(leaf, name)?;
            let type_ = reader.resolve(&field)?.type_;
            if !matches!(type_.kind, TypeKind::Array { .. }) {
                return None;
            }
            match reader.view(&field, limit) {
                View::Sequence(sequence) => Some(sequence),
                _ => None,
            }
        };
        let count = reader.field(leaf, "len")?.contents.address()?;
        Some(Node {
            count: count.0,
            keys: array("keys")?,
            values: array("vals")?,
            edges: reader.size_of(leaf)?.checked_next_multiple_of(8)?,
        })
    }
}

/// A walk through a B-tree, in order.
struct Walk<'a> {
    node: Node,
    pages: Reader<'a>,
    reader: &'a Reader<'a>,
    is_set: bool,
    length: u64,
}

impl Walk<'_> {
    /// One node and what is below it.
    fn node(&self, start: u64, height: u64, page: &mut Page) -> Option<()> {
        let count = Contents::Memory(Address(start.wrapping_add(self.node.count)));
        let count = self.pages.bytes(&count, 2).ok()?;
        let count = u64::from(u16::from_le_bytes([count[0], count[1]]));
        if count > MAX_KEYS {
            return None;
        }
        if height == 0 && count <= page.before() {
            page.skip(count);
            return Some(());
        }
        for position in 0..=count {
            if page.is_full(self.length) {
                return Some(());
            }
            if height > 0 {
                let slot = start
                    .wrapping_add(self.node.edges)
                    .wrapping_add(position * 8);
                let [child] = self.pages.words(slot).ok()?;
                self.node(child, height - 1, page)?;
            }
            if position < count && !page.is_full(self.length) {
                page.next(|| Some(self.entry(start, position)))?;
            }
        }
        Some(())
    }

    fn entry(&self, start: u64, position: u64) -> Entry {
        let at = |sequence: &Sequence| {
            let mut slot = sequence.at(position);
            slot.contents = slot.contents.part(start, sequence.size);
            held(self.reader, slot)
        };
        let key = at(&self.node.keys);
        if self.is_set {
            return Entry {
                key: None,
                value: key,
            };
        }
        Entry {
            value: at(&self.node.values),
            key: Some(key),
        }
    }
}
