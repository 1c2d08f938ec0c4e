//! Rust's maps, sets and lists: hashbrown's table, the B-tree and the linked list, walked no further than asked.

use super::{Flaw, Known, argument, broken, held};
use crate::Address;
use crate::pages::Pages;
use crate::values::entries::{Entries, Entry, Page};
use crate::values::view::{Limit, SHORT, View};
use crate::values::{Contents, Reader, Value};
use dapple_symbols::types::{TypeId, TypeKind};

/// Control bytes read at most, for a summary and for a page.
const MAX_BUCKETS: (u64, u64) = (1 << 20, 1 << 26);
/// Control bytes read at once: at first, and when it is a long way.
const CHUNKS: (u64, u64) = (256, 1 << 16);
/// The control bytes behind the last, which repeat the first, so that a group can be read from any place.
const GROUP: u64 = 16;
/// A control byte of a bucket that was never used, or is free again.
const EMPTY: u8 = 0xff;
const DELETED: u8 = 0x80;
/// A B-tree of more levels would hold more than memory does.
const MAX_HEIGHT: u64 = 24;
/// A node's capacity is below this.
const MAX_KEYS: u64 = 64;
/// Nodes of a list that are visited at most.
const MAX_STEPS: u64 = 1 << 24;

/// What a walk has found. One that met fewer elements than there should be was through something else.
fn collected(page: Page, length: u64, flaw: Option<String>) -> Result<Entries, Flaw> {
    if page.is_full(length) {
        return Ok(page.of(length));
    }
    let short = || format!("it ends after {} of {length} elements", page.position());
    let why = flaw.unwrap_or_else(short);
    match page.until(length, &why) {
        Some(entries) => Ok(entries),
        None => broken(why),
    }
}

/// Why a walk can't go on.
fn stuck(reader: &Reader<'_>, pages: &Pages<'_>, flaw: Flaw) -> String {
    match flaw {
        Flaw::Unreadable(_) if pages.are_used_up() => "too far in to be walked to".to_owned(),
        Flaw::Unreadable(reason) => {
            let reason = reader.reason(&reason);
            reason.trim_matches(['<', '>']).to_owned()
        }
        Flaw::Contents(why) => why,
        Flaw::Layout => "it is laid out otherwise".to_owned(),
    }
}

/// Where an entry's key and value are, from its place.
struct Slots {
    key: Value,
    value: Option<Value>,
}

impl Slots {
    fn entry(&self, key: u64, value: u64) -> Entry {
        let at = |place: &Value, address| {
            let mut value = place.clone();
            value.contents = Contents::Memory(Address(address));
            value
        };
        match &self.value {
            Some(slot) => Entry {
                key: Some(at(&self.key, key)),
                value: at(slot, value),
            },
            None => Entry {
                key: None,
                value: at(&self.key, key),
            },
        }
    }
}

/// The offset of a part from what it is a part of, which is at address 0.
fn offset(part: &Value) -> Result<u64, Flaw> {
    Ok(part.contents.address().known()?.0)
}

/// `HashMap` and `HashSet`: the table is the first member whose type has `ctrl` in it.
pub(super) fn hash(
    reader: &Reader<'_>,
    value: &Value,
    is_set: bool,
    limit: Limit,
) -> Result<View, Flaw> {
    let table = reader.find(value, "table").known()?;
    let resolved = reader.resolve(&table).known()?;
    let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
        return Err(Flaw::Layout);
    };
    let element = table.sibling(argument(aggregate), Contents::Memory(Address(0)));
    let size = reader.size_of(&element).known()?;
    let slots = Slots {
        key: reader.field(&element, "__0").known()?,
        value: match is_set {
            true => None,
            false => Some(reader.field(&element, "__1").known()?),
        },
    };
    let key = offset(&slots.key)?;
    let held = match &slots.value {
        Some(value) => offset(value)?,
        None => 0,
    };
    let word = |name: &str| -> Result<u64, Flaw> {
        Ok(reader.word(&reader.find(&table, name).known()?.contents)?)
    };
    let control = reader.find(&table, "ctrl").known()?;
    let control = reader.word(&reader.find_pointer(&control).known()?.contents)?;
    let (mask, items) = (word("bucket_mask")?, word("items")?);
    let buckets = match mask.checked_add(1) {
        Some(buckets) if buckets.is_power_of_two() && items < buckets.max(2) => buckets,
        _ => return broken(format!("{items} entries in a table of {mask} + 1")),
    };
    let mut page = Page::new(limit, !is_set);
    let reach = match limit.entries <= SHORT.entries {
        true => MAX_BUCKETS.0,
        false => MAX_BUCKETS.1,
    };
    let reach = reach.min(buckets);
    let mut bucket = 0;
    if items > 0 {
        is_repeated(reader, control, buckets)?;
    }
    while bucket < reach && !page.is_full(items) {
        let chunk = match page.before() {
            0..256 => CHUNKS.0,
            _ => CHUNKS.1,
        };
        let count = (reach - bucket).min(chunk);
        let at = Address(control.wrapping_add(bucket));
        let bytes = reader.bytes(&Contents::Memory(at), count)?;
        if let Some(wrong) = bytes
            .iter()
            .find(|byte| **byte > DELETED && **byte != EMPTY)
        {
            return broken(format!("{wrong:#x} among its control bytes"));
        }
        // A set top bit: empty or deleted.
        let is_used = |byte: &u8| byte & 0x80 == 0;
        let used = bytes.iter().filter(|byte| is_used(byte)).count() as u64;
        if used <= page.before() {
            page.skip(used);
            bucket += count;
            continue;
        }
        for (offset, byte) in (0..).zip(&bytes) {
            if is_used(byte) && !page.is_full(items) {
                let back = (bucket + offset + 1).wrapping_mul(size);
                let start = control.wrapping_sub(back);
                let entry = || slots.entry(start.wrapping_add(key), start.wrapping_add(held));
                page.next(|| Some(entry())).known()?;
            }
        }
        bucket += count;
    }
    let flaw = (reach < buckets).then(|| "its table is too large to be looked through".to_owned());
    Ok(View::Entries(collected(page, items, flaw)?))
}

/// Whether the first control bytes stand behind the last once more.
fn is_repeated(reader: &Reader<'_>, control: u64, buckets: u64) -> Result<(), Flaw> {
    let read = |at: u64| reader.bytes(&Contents::Memory(Address(at)), GROUP);
    let first = read(control)?;
    let last = read(control.wrapping_add(buckets))?;
    let repeated = buckets.min(GROUP) as usize;
    // Small tables have empty bytes between.
    let copy = match buckets < GROUP {
        true => read(control.wrapping_add(GROUP))?,
        false => last,
    };
    match first[..repeated] == copy[..repeated] {
        true => Ok(()),
        false => broken("its control bytes don't fit its size"),
    }
}

/// How the nodes of a B-tree are laid out.
struct Tree {
    slots: Slots,
    count: u64,
    /// Where a node has the address of the one above.
    parent: u64,
    /// Where a node has its position among that one's edges.
    position: u64,
    keys: u64,
    key_stride: u64,
    values: u64,
    value_stride: u64,
    /// An inner node is a leaf with its edges behind it.
    edges: u64,
}

/// `BTreeMap` and `BTreeSet`.
pub(super) fn tree(
    reader: &Reader<'_>,
    value: &Value,
    is_set: bool,
    limit: Limit,
) -> Result<View, Flaw> {
    let map = match is_set {
        true => reader.field(value, "map").known()?,
        false => value.clone(),
    };
    let length = reader.word(&reader.field(&map, "length").known()?.contents)?;
    let mut page = Page::new(limit, !is_set);
    if length == 0 {
        return Ok(View::Entries(page.of(0)));
    }
    if length > super::MAX_OBJECT {
        return broken(format!("its length is {length}"));
    }
    let Some(root) = super::payload(reader, &reader.field(&map, "root").known()?) else {
        return broken(format!("{length} entries without a root"));
    };
    let height = reader.word(&reader.find(&root, "height").known()?.contents)?;
    if height > MAX_HEIGHT {
        return broken(format!("{height} levels"));
    }
    let pointer = reader.find_pointer(&root).known()?;
    let TypeKind::Pointer(_, leaf) = reader.resolve(&pointer).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    let tree = Tree::of(
        reader,
        &pointer.sibling(leaf, Contents::Memory(Address(0))),
        is_set,
    )?;
    let address = reader.word(&pointer.contents)?;
    let pages = Pages::new(reader.memory);
    let walk = reader.over(&pages);
    let root = Place {
        node: address,
        height,
        above: None,
    };
    let end = tree.walk(&walk, root, length, &mut page);
    let flaw = end.err().map(|flaw| stuck(reader, &pages, flaw));
    Ok(View::Entries(collected(page, length, flaw)?))
}

/// A node of a B-tree, and where a walk has come to it from.
struct Place {
    node: u64,
    /// Levels below it.
    height: u64,
    /// The node above, and the position among its edges.
    above: Option<(u64, u64)>,
}

impl Tree {
    /// From a leaf at address 0.
    fn of(reader: &Reader<'_>, leaf: &Value, is_set: bool) -> Result<Tree, Flaw> {
        let array = |name: &str| -> Result<(u64, u64, Value), Flaw> {
            let array = reader.field(leaf, name).known()?;
            let type_ = reader.resolve(&array).known()?.type_;
            let TypeKind::Array { element, .. } = &type_.kind else {
                return Err(Flaw::Layout);
            };
            let element = array.sibling(Some(*element), array.contents.clone());
            let stride = reader.size_of(&element).known()?;
            Ok((offset(&array)?, stride, held(reader, element)))
        };
        let (keys, key_stride, key) = array("keys")?;
        let (values, value_stride, value) = array("vals")?;
        Ok(Tree {
            slots: Slots {
                key,
                value: (!is_set).then_some(value),
            },
            count: offset(&reader.field(leaf, "len").known()?)?,
            parent: offset(&reader.field(leaf, "parent").known()?)?,
            position: offset(&reader.field(leaf, "parent_idx").known()?)?,
            keys,
            key_stride,
            values,
            value_stride,
            edges: reader
                .size_of(leaf)
                .and_then(|size| size.checked_next_multiple_of(8))
                .known()?,
        })
    }

    /// One node and what is below it, in order. Each is asked whether it is where the walk came from, so that none is met twice.
    fn walk(
        &self,
        reader: &Reader<'_>,
        place: Place,
        length: u64,
        page: &mut Page,
    ) -> Result<(), Flaw> {
        let Place {
            node,
            height,
            above,
        } = place;
        let at = |offset: u64| Contents::Memory(Address(node.wrapping_add(offset)));
        let number = |offset: u64| -> Result<u64, Flaw> {
            let bytes = reader.bytes(&at(offset), 2)?;
            Ok(bytes
                .iter()
                .rev()
                .fold(0, |n, byte| n << 8 | u64::from(*byte)))
        };
        if let Some((parent, position)) = above
            && (reader.word(&at(self.parent))? != parent || number(self.position)? != position)
        {
            return broken(format!("its node at {node:#x} has another parent"));
        }
        let count = number(self.count)?;
        if count > MAX_KEYS || count == 0 {
            return broken(format!("{count} entries in a node"));
        }
        if height == 0 && count <= page.before() {
            page.skip(count);
            return Ok(());
        }
        let edges = match height {
            0 => Vec::new(),
            _ => reader.bytes(&at(self.edges), 8 * (count + 1))?,
        };
        let mut edges = edges.chunks_exact(8);
        for position in 0..=count {
            if page.is_full(length) {
                return Ok(());
            }
            if let Some(edge) = edges.next() {
                let below = Place {
                    node: edge
                        .iter()
                        .rev()
                        .fold(0, |at, byte| at << 8 | u64::from(*byte)),
                    height: height - 1,
                    above: Some((node, position)),
                };
                self.walk(reader, below, length, page)?;
            }
            if position < count && !page.is_full(length) {
                let key = self.keys + position * self.key_stride;
                let value = self.values + position * self.value_stride;
                let entry = || {
                    self.slots
                        .entry(node.wrapping_add(key), node.wrapping_add(value))
                };
                page.next(|| Some(entry())).known()?;
            }
        }
        Ok(())
    }
}

/// `LinkedList`.
pub(super) fn list(reader: &Reader<'_>, value: &Value, limit: Limit) -> Result<View, Flaw> {
    let length = reader.word(&reader.field(value, "len").known()?.contents)?;
    if length > super::MAX_OBJECT {
        return broken(format!("its length is {length}"));
    }
    let end = |name: &str| -> Result<(u64, Option<TypeId>), Flaw> {
        let pointer = reader.find(value, name).known()?;
        let pointer = reader.search(&pointer, 8, &|_, type_| {
            matches!(type_.kind, TypeKind::Pointer(..))
        });
        // The pointer is inside of the variant `Some`.
        let pointer = match pointer {
            Some(pointer) => pointer,
            None => {
                let option = reader.field(value, name).known()?;
                match super::payload(reader, &option) {
                    Some(some) => reader.find_pointer(&some).known()?,
                    None => return Ok((0, None)),
                }
            }
        };
        let TypeKind::Pointer(_, target) = reader.resolve(&pointer).known()?.type_.kind else {
            return Err(Flaw::Layout);
        };
        Ok((reader.word(&pointer.contents)?, target))
    };
    let ((head, type_id), (tail, _)) = (end("head")?, end("tail")?);
    let mut page = Page::new(limit, false);
    if (head == 0) != (length == 0) || (tail == 0) != (length == 0) {
        return broken(format!("{length} elements and the first at {head:#x}"));
    }
    if length == 0 {
        return Ok(ordered(page.of(0)));
    }
    let node = value.sibling(type_id, Contents::Memory(Address(0)));
    let element = reader.field(&node, "element").known()?;
    let part = |name: &str| offset(&reader.field(&node, name).known()?);
    let (next, previous, at) = (part("next")?, part("prev")?, offset(&element)?);
    let slots = Slots {
        key: element,
        value: None,
    };
    let pages = Pages::new(reader.memory);
    let walk = reader.over(&pages);
    let (mut place, mut before, mut flaw) = (head, 0, None);
    for _ in 0..MAX_STEPS.min(length) {
        if page.is_full(length) || place == 0 {
            break;
        }
        let word = |offset: u64| -> Result<u64, Flaw> {
            let [word] = walk.words(place.wrapping_add(offset))?;
            Ok(word)
        };
        let links = word(previous).and_then(|back| Ok((back, word(next)?)));
        match links {
            Ok((back, following)) if back == before => {
                let address = place.wrapping_add(at);
                page.next(|| Some(slots.entry(address, address))).known()?;
                (before, place) = (place, following);
            }
            Ok(_) => {
                flaw = Some(format!("its node at {place:#x} doesn't point back"));
                break;
            }
            Err(wrong) => {
                flaw = Some(stuck(reader, &pages, wrong));
                break;
            }
        }
    }
    Ok(ordered(collected(page, length, flaw)?))
}

fn ordered(mut entries: Entries) -> View {
    entries.is_list = true;
    View::Entries(entries)
}
