//! Containers whose elements lie apart: those made of nodes, and those made of blocks. Walked no further than asked.
//!
//! Node headers are part of each library's ABI. libstdc++: a tree's is colour, parent, left, right; a list's next and
//! previous; a hash table's and a forward list's next. The element follows at the next place that its alignment allows.

use super::walks::{Chain, End, Tree};
use super::{Limit, find, nonsense, walks, word};
use crate::Address;
use crate::values::entries::{Entry, Page};
use crate::values::view::View;
use crate::values::{Contents, Number, Reader, Value, names};
use dapple_symbols::types::{Aggregate, TypeKind};

/// The most elements a container is believed to have.
const MAX_LENGTH: u64 = 1 << 40;
/// Elements counted one by one where the container doesn't know.
const MAX_COUNTED: u64 = 1 << 17;

/// What a container holds.
pub(super) struct Element {
    /// The element, or a map's value.
    value: Value,
    /// Where the value is in the element.
    offset: u64,
    /// A map's key, at the element's beginning.
    key: Option<Value>,
    align: u64,
}

impl Element {
    /// The type: what the allocator, the last argument, allocates, or else what the container is of.
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
            return Some(Element {
                align: reader.align_of(&value),
                value,
                offset: 0,
                key: None,
            });
        }
        let pair = whole.and_then(|pair| {
            let value = reader.field(&pair, "second")?;
            Some((reader.field(&pair, "first")?, value))
        });
        let (key, value) = match pair {
            Some(pair) => pair,
            // Without the pair's own description: as it is laid out.
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

    /// The entry of the element at an address.
    fn at(&self, address: u64) -> Option<Entry> {
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

    /// Where it is in a node whose own part has so many bytes.
    fn behind(&self, header: u64) -> u64 {
        header.next_multiple_of(self.align.max(1))
    }
}

/// What a container's allocator allocates. Gcc tells it of the allocator's base only.
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

/// The entries that a walk has found, or why there are none.
fn walked(page: Page, length: u64, walk: Result<(), String>) -> View {
    match walk {
        Ok(()) => View::Entries(page.of(length)),
        Err(why) => match page.until(length, &why) {
            Some(entries) => View::Entries(entries),
            None => nonsense(&why),
        },
    }
}

fn too_long(length: u64) -> View {
    nonsense(&format!("its length would be {length}"))
}

/// `map`, `set` and their siblings: a red-black tree.
pub(super) fn tree(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Option<View> {
    let element = Element::of(reader, value, aggregate, is_map(path))?;
    let header = reader.find(value, "_M_header")?;
    let length = word(reader, value, &["_M_node_count"])?;
    if length > MAX_LENGTH {
        return Some(too_long(length));
    }
    let (parent, left, right) = (1, 2, 3);
    let root = reader.word(&header.contents.part(8 * parent, 8)).ok()?;
    let mut page = Page::new(limit, element.key.is_some());
    let tree = Tree {
        root,
        header: header.contents.address().map(|header| header.0),
        parent: parent as usize,
        left,
        right,
        length,
    };
    let offset = element.behind(32);
    let walk = walks::tree(reader, &tree, &mut page, &|node| {
        element.at(node.checked_add(offset)?)
    });
    Some(walked(page, length, walk))
}

/// What is linked: `list`, `forward_list`, and the hash tables, which keep their elements in one list.
pub(super) fn chain(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    path: &str,
    limit: Limit,
) -> Option<View> {
    let element = Element::of(reader, value, aggregate, is_map(path))?;
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
            let node = reader.find(value, "_M_node")?;
            let own = node.contents.address()?.0;
            let next = reader.find(&node, "_M_next")?;
            let list = Chain {
                first: reader.word(&next.contents).ok()?,
                next: 0,
                back: Some((1, own)),
                end: own,
                length: Some(word(reader, &node, &["_M_size"])?),
            };
            (list, 16)
        }
        "forward_list" => (plain(reader.find(value, "_M_next")?, None)?, 8),
        _ => {
            let before = reader.find(value, "_M_before_begin")?;
            let length = word(reader, value, &["_M_element_count"])?;
            (plain(reader.find(&before, "_M_nxt")?, Some(length))?, 8)
        }
    };
    if let Some(length) = list.length.filter(|length| *length > MAX_LENGTH) {
        return Some(too_long(length));
    }
    let offset = element.behind(header);
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

/// `deque`: blocks of equal size, from a cursor in the first to one in the last.
pub(super) fn deque(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let element = Element::of(reader, value, aggregate, false)?;
    let size = reader.size_of(&element.value).filter(|size| *size > 0)?;
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
    let (start, first, last, block) = cursor("_M_start")?;
    let (end, end_first, _, end_block) = cursor("_M_finish")?;
    let length = || {
        let room = last.checked_sub(first).filter(|room| *room > 0)?;
        let bytes = match end_block.checked_sub(block)? / 8 {
            0 => end.checked_sub(start)?,
            blocks => (last.checked_sub(start)?)
                .checked_add((blocks - 1).checked_mul(room)?)?
                .checked_add(end.checked_sub(end_first)?)?,
        };
        let skipped = start.checked_sub(first)?;
        (room.is_multiple_of(size) && skipped <= room).then_some((bytes / size, room, skipped))
    };
    let Some((length, room, skipped)) = length().filter(|(length, ..)| *length <= MAX_LENGTH)
    else {
        return Some(nonsense("its ends don't belong together"));
    };
    let blocks = Blocks {
        map: block,
        per_block: room / size,
        start: skipped / size,
        size,
        length,
    };
    Some(blocks.view(reader, &element, limit))
}

/// Blocks of elements, and a table of their addresses.
struct Blocks {
    /// The table's first word.
    map: u64,
    per_block: u64,
    /// The position of the first element in the first block.
    start: u64,
    size: u64,
    length: u64,
}

impl Blocks {
    fn view(&self, reader: &Reader<'_>, element: &Element, limit: Limit) -> View {
        let mut page = Page::new(limit, false);
        page.skip(page.before().min(self.length));
        let mut block = None;
        let mut walk = Ok(());
        while !page.is_full(self.length) {
            let position = self.start + page.position();
            let number = position / self.per_block;
            let start = match block {
                Some((known, start)) if known == number => Some(start),
                _ => self.block(reader, number),
            };
            let Some(start) = start else {
                walk = Err("its table of blocks cannot be read".to_owned());
                break;
            };
            block = Some((number, start));
            let offset = position % self.per_block * self.size;
            if page
                .next(|| element.at(start.checked_add(offset)?))
                .is_none()
            {
                walk = Err("its blocks make no sense".to_owned());
                break;
            }
        }
        walked(page, self.length, walk)
    }

    fn block(&self, reader: &Reader<'_>, number: u64) -> Option<u64> {
        let slot = self.map.checked_add(number.checked_mul(8)?)?;
        let [block] = reader.words(slot).ok()?;
        Some(block)
    }
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
        .checked_sub(start)
        .and_then(|bytes| bytes.checked_mul(8)?.checked_add(rest)?.checked_sub(skip));
    let Some(length) = length.filter(|length| *length <= MAX_LENGTH && skip < 64) else {
        return Some(nonsense("its end is not behind its beginning"));
    };
    let mut page = Page::new(limit, false);
    page.skip(page.before().min(length));
    let mut walk = Ok(());
    while !page.is_full(length) {
        let bit = skip + page.position();
        let byte = start.checked_add(bit / 8).and_then(|at| {
            let bytes = reader.bytes(&Contents::Memory(Address(at)), 1).ok()?;
            bytes.first().copied()
        });
        let Some(byte) = byte else {
            walk = Err("its bits cannot be read".to_owned());
            break;
        };
        let number = Contents::Number(Number::Bool(byte >> (bit % 8) & 1 == 1));
        let value = value.sibling(None, number);
        if page.next(|| Some(Entry { key: None, value })).is_none() {
            break;
        }
    }
    Some(walked(page, length, walk))
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
