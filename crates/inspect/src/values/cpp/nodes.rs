//! Containers made of nodes: finds their element types and node layouts. The nodes are visited no further than requested.
//!
//! Node headers are part of each library's ABI. libstdc++: a tree's is colour, parent, left, right; a list's next and previous; a hash
//! table's and a forward list's next. libc++: a tree's is left, right, parent, colour; a list's previous and next; a hash table's next
//! and the hash; a forward list's next. The element follows at the next offset that its alignment allows.

use super::walks::{Chain, End, Tree};
use super::{Limit, find, nonsense, walks, word};
use crate::Address;
use crate::values::entries::{Entry, Page};
use crate::values::view::View;
use crate::values::{Contents, Reader, Value};
use dapple_symbols::types::{Aggregate, TypeKind};

/// The largest plausible number of elements.
pub(super) const MAX_LENGTH: u64 = 1 << 40;
/// How many elements are counted by walking, where the container doesn't store their number.
const MAX_COUNTED: u64 = 1 << 17;

/// The size of a node's header in libc++'s trees: three links, and a byte for the colour.
pub(super) const fn libcxx_tree(size: u64) -> u64 {
    3 * size + 1
}

/// The layout of a container's elements.
pub(super) struct Element {
    /// The element, or a map's value.
    value: Value,
    /// The offset of the value in the element.
    offset: u64,
    /// A map's key, at the element's beginning.
    key: Option<Value>,
    align: u64,
}

impl Element {
    /// The layout, from the type that the allocator (the last template argument) allocates. If that is unknown, from the other arguments.
    pub(super) fn of(
        reader: &Reader<'_>,
        value: &Value,
        aggregate: &Aggregate,
        is_map: bool,
    ) -> Option<Element> {
        let typed = |type_id| value.sibling(type_id, Contents::Memory(Address(0)));
        let whole = allocated(reader, value, aggregate);
        if !is_map {
            let value = match whole {
                Some(whole) => whole,
                None => typed(aggregate.type_arguments.first()?.1),
            };
            return Some(Element::alone(reader, value));
        }
        let pair = whole.and_then(|pair| {
            let value = reader.field(&pair, "second")?;
            Some((reader.field(&pair, "first")?, value))
        });
        let (key, value) = match pair {
            Some(pair) => pair,
            // The debug information lacks the pair: compute its layout.
            None => {
                let arguments = aggregate.type_arguments.get(..2)?;
                let (key, mut value) = (typed(arguments[0].1), typed(arguments[1].1));
                let offset = reader.size_of(&key)?;
                let offset = offset.checked_next_multiple_of(reader.align_of(&value))?;
                value.contents = Contents::Memory(Address(offset));
                (key, value)
            }
        };
        Some(Element {
            align: reader.align_of(&key).max(reader.align_of(&value)),
            offset: value.contents.address()?.0,
            value,
            key: Some(key),
        })
    }

    /// An element that is a single value.
    pub(super) fn alone(reader: &Reader<'_>, value: Value) -> Element {
        Element {
            align: reader.align_of(&value),
            value,
            offset: 0,
            key: None,
        }
    }

    /// The size of an element without a key.
    pub(super) fn size(&self, reader: &Reader<'_>) -> Option<u64> {
        reader.size_of(&self.value).filter(|size| *size > 0)
    }

    /// The element at an address, if it has no key.
    pub(super) fn whole(&self, address: u64) -> Value {
        let mut value = self.value.clone();
        value.contents = Contents::Memory(Address(address));
        value
    }

    /// The entry of the element at an address.
    pub(super) fn at(&self, address: u64) -> Option<Entry> {
        let at = |value: &Value, offset: u64| {
            let mut value = value.clone();
            value.contents = Contents::Memory(Address(address.checked_add(offset)?));
            Some(value)
        };
        Some(Entry {
            key: match &self.key {
                Some(key) => Some(at(key, 0)?),
                None => None,
            },
            value: at(&self.value, self.offset)?,
        })
    }

    /// The offset of the element in a node whose header has `header` bytes.
    pub(super) fn behind(&self, header: u64) -> u64 {
        header.next_multiple_of(self.align.max(1))
    }
}

/// The type that a container's allocator allocates. Gcc gives the template argument only for the allocator's base class.
fn allocated(reader: &Reader<'_>, value: &Value, aggregate: &Aggregate) -> Option<Value> {
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

fn is_map(path: &str) -> bool {
    matches!(
        path,
        "map" | "multimap" | "unordered_map" | "unordered_multimap"
    )
}

/// The entries that a walk has found. If the walk failed, they are followed by the reason; if it found none, only the reason is shown.
pub(super) fn walked(page: Page, length: u64, walk: Result<(), String>) -> View {
    match walk {
        Ok(()) => View::Entries(page.of(length)),
        Err(why) => match page.until(length, &why) {
            Some(entries) => View::Entries(entries),
            None => nonsense(&why),
        },
    }
}

pub(super) fn too_long(length: u64) -> View {
    nonsense(&format!("its length would be {length}"))
}

/// `map`, `set` and their variants: red-black trees.
pub(super) fn tree(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Option<View> {
    let element = Element::of(reader, value, aggregate, is_map(path))?;
    let length = word(reader, value, &["_M_node_count", "__size_"])?;
    if length > MAX_LENGTH {
        return Some(too_long(length));
    }
    let size = reader.address_size();
    let (header, slot, tree) = match reader.find(value, "_M_header") {
        Some(header) => (header, 1, (1, 2, 3, 4 * size)),
        None => {
            let header = reader.find(value, "__end_node_")?;
            (header, 0, (2, 0, 1, libcxx_tree(size)))
        }
    };
    let (parent, left, right, own) = tree;
    let mut page = Page::new(limit, element.key.is_some());
    let tree = Tree {
        root: reader.word(&header.contents.part(size * slot, size)).ok()?,
        header: header.contents.address().map(|header| header.0),
        parent,
        left,
        right,
        length,
    };
    let offset = element.behind(own);
    let walk = walks::tree(reader, &tree, &mut page, &|node| {
        element.at(node.checked_add(offset)?)
    });
    Some(walked(page, length, walk))
}

/// Linked nodes: `list`, `forward_list`, and the hash tables, which link all their elements in one list.
pub(super) fn chain(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Option<View> {
    let element = Element::of(reader, value, aggregate, is_map(path))?;
    let size = reader.address_size();
    let plain = |first: Value, length| {
        Some(Chain {
            first: reader.word(&first.contents).ok()?,
            next: 0,
            back: None,
            end: 0,
            length,
        })
    };
    let (list, header) = match path {
        "list" => {
            let (node, next, back) = match reader.find(value, "_M_node") {
                Some(node) => (node, 0, 1),
                None => (reader.find(value, "__end_")?, 1, 0),
            };
            let own = node.contents.address()?.0;
            let list = Chain {
                first: reader.word(&node.contents.part(size * next, size)).ok()?,
                next: next as usize,
                back: Some((back, own)),
                end: own,
                length: Some(word(reader, value, &["_M_size", "__size_"])?),
            };
            (list, 2)
        }
        "forward_list" => (
            plain(find(reader, value, &["_M_next", "__next_"])?, None)?,
            1,
        ),
        _ => match reader.find(value, "_M_before_begin") {
            Some(before) => {
                let length = word(reader, value, &["_M_element_count"])?;
                (plain(reader.find(&before, "_M_nxt")?, Some(length))?, 1)
            }
            None => {
                let before = reader.find(value, "__first_node_")?;
                let length = word(reader, value, &["__size_"])?;
                (plain(reader.find(&before, "__next_")?, Some(length))?, 2)
            }
        },
    };
    if let Some(length) = list.length.filter(|length| *length > MAX_LENGTH) {
        return Some(too_long(length));
    }
    let offset = element.behind(size * header);
    let mut page = Page::new(limit, element.key.is_some());
    let walk = walks::chain(reader, &list, MAX_COUNTED, &mut page, &|node| {
        element.at(node.checked_add(offset)?)
    });
    match walk {
        Ok((length, end)) => {
            let mut entries = page.of(length);
            entries.is_longer = matches!(end, End::TooLong);
            Some(View::Entries(entries))
        }
        Err(why) => {
            let length = list.length.unwrap_or(page.position());
            Some(walked(page, length, Err(why)))
        }
    }
}
