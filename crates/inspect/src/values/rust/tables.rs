//! Rust's hash tables and linked lists, and the remaining items of iterators over them. A walk goes no further than the requested
//! elements.

use super::{Flaw, OrUnknownLayout, argument, broken};
use crate::Address;
use crate::pages::PageCache;
use crate::values::entries::{Entries, Entry, Page};
use crate::values::view::{Limit, SHORT, View};
use crate::values::{Contents, Reader, Value, contents, names};
use dapple_arch::Machine;
use dapple_symbols::types::{Type, TypeId, TypeKind};

/// How many control bytes are read at most, for a summary and for a page.
const MAX_BUCKETS: (u64, u64) = (1 << 20, 1 << 26);
/// How many control bytes are read at once: near the requested entries, and while there are many entries to skip.
const CHUNKS: (u64, u64) = (256, 1 << 16);
/// The size of a group, in control bytes. Behind the last bucket's control byte, as many bytes repeat the first ones, so that a group
/// can be read from any position. With SSE2 it has 16, other implementations use a word.
fn group_size(reader: &Reader<'_>) -> u64 {
    match reader.modules.machine() {
        Machine::X86_64 => 16,
        Machine::Aarch64 | Machine::Riscv64 => 8,
        Machine::Arm => 4,
    }
}

/// Which entries of a group an iterator has still to visit, from the bits that it keeps. With SSE2 there is a bit for each, in other implementations
/// the highest bit of a byte. `None`: it keeps something else.
fn left_in_group(reader: &Reader<'_>, bits: &Value) -> Option<u16> {
    let size = reader.size_of(bits)?;
    let bytes = reader.bytes(&bits.contents, size).ok()?;
    let word = contents::extract_bits(&bytes, 0, 8 * size.min(8)) as u64;
    match (group_size(reader), size) {
        (16, 2) => Some(word as u16),
        (8, 8) | (4, 4) => Some(
            (0..size)
                .map(|at| ((word >> (8 * at + 7) & 1) as u16) << at)
                .sum(),
        ),
        _ => None,
    }
}

/// Control bytes of a bucket that was never used, and of one that is free again.
const EMPTY: u8 = 0xff;
const DELETED: u8 = 0x80;
/// The most hash tables in one map.
const MAX_SHARDS: u64 = 1 << 12;
/// The most steps of a walk over nodes.
pub(super) const MAX_STEPS: u64 = 1 << 24;

/// The part of an entry to show: of a map, the whole entry; of a set, its key; of an iterator, what its type yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryPart {
    Entries,
    Keys,
    Values,
}

impl EntryPart {
    /// What an iterator over a map or a set yields, by the base name of the iterator's type. `None`: no such type is known.
    pub(super) fn by(iterator: &str, is_set: bool) -> Option<EntryPart> {
        Some(match iterator {
            "Iter" | "IterMut" | "IntoIter" | "Drain" | "Range" | "RangeMut" => match is_set {
                true => EntryPart::Keys,
                false => EntryPart::Entries,
            },
            "Keys" | "IntoKeys" => EntryPart::Keys,
            "Values" | "ValuesMut" | "IntoValues" => EntryPart::Values,
            _ => return None,
        })
    }
}

/// The entries that a walk has found in a container of `length` elements. `flaw` says why the walk ended early. Without a flaw, a walk
/// that ended before the requested elements has met a corrupt object.
pub(super) fn collected(page: Page, length: u64, flaw: Option<String>) -> Result<Entries, Flaw> {
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

/// The text for the flaw at which a walk ended.
pub(super) fn stuck(reader: &Reader<'_>, pages: &PageCache<'_>, flaw: Flaw) -> String {
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

/// The types and offsets of an entry's key and value: values that are placed as if the entry were at address 0.
pub(super) struct Slots {
    pub given: EntryPart,
    pub key: Value,
    /// `None` for a set.
    pub value: Option<Value>,
}

impl Slots {
    pub(super) fn entry(&self, key: u64, value: u64) -> Entry {
        let at = |place: &Value, address| {
            let mut value = place.clone();
            value.contents = Contents::Memory(Address(address));
            value
        };
        match (&self.value, self.given) {
            (Some(slot), EntryPart::Entries) => Entry {
                key: Some(at(&self.key, key)),
                value: at(slot, value),
            },
            (Some(slot), EntryPart::Values) => Entry {
                key: None,
                value: at(slot, value),
            },
            _ => Entry {
                key: None,
                value: at(&self.key, key),
            },
        }
    }

    /// The view of a container's or an iterator's entries. Keys or values that an iterator yields are a list in the iterator's order;
    /// the order of a hash table has no meaning.
    pub(super) fn shown(&self, entries: Entries, is_iterator: bool) -> View {
        match is_iterator && self.given != EntryPart::Entries {
            true => ordered(entries),
            false => View::Entries(entries),
        }
    }
}

/// The offset of `part`, a member of a value that was placed at address 0.
pub(super) fn offset(part: &Value) -> Result<u64, Flaw> {
    Ok(part.contents.address().known()?.0)
}

/// The layout of an entry that is a tuple of key and value, where a set's value is `()`.
fn pair(reader: &Reader<'_>, element: &Value, given: EntryPart) -> Result<Slots, Flaw> {
    Ok(Slots {
        given,
        key: reader.field(element, "__0").known()?,
        value: reader.field(element, "__1"),
    })
}

/// `HashMap` and `HashSet`.
pub(super) fn hash(
    reader: &Reader<'_>,
    value: &Value,
    is_set: bool,
    limit: Limit,
) -> Result<View, Flaw> {
    let table = reader.find(value, "table").known()?;
    let given = match is_set {
        true => EntryPart::Keys,
        false => EntryPart::Entries,
    };
    let table = Table::new(reader, &table, given)?;
    let mut page = Page::new(limit, !is_set);
    let flaw = table.walk(reader, table.items, limit, &mut page)?;
    let entries = collected(page, table.items, flaw)?;
    Ok(table.slots.shown(entries, false))
}

/// A map that consists of several hash tables, the elements of the slice `shards`: `dashmap::DashMap`.
pub(super) fn sharded(reader: &Reader<'_>, value: &Value, limit: Limit) -> Result<View, Flaw> {
    let shards = reader.field(value, "shards").known()?;
    let View::Sequence(shards) = reader.view(&shards, SHORT) else {
        return Err(Flaw::Layout);
    };
    if shards.length > MAX_SHARDS {
        return broken(format!("{} shards", shards.length));
    }
    let mut tables = Vec::new();
    for index in 0..shards.length {
        let is_table = |_: Option<&str>, type_: &Type| names::base_name(&type_.name) == "RawTable";
        let table = reader.search(&shards.at(index), 8, &is_table).known()?;
        tables.push(Table::new(reader, &table, EntryPart::Entries)?);
    }
    let items = tables.iter().map(|table| table.items);
    let items = items.fold(0, u64::saturating_add);
    let mut page = Page::new(limit, true);
    let (mut before, mut flaw) = (0, None);
    for table in &tables {
        before = table.items.saturating_add(before);
        if flaw.is_none() {
            flaw = table.walk(reader, before, limit, &mut page)?;
        }
    }
    collected(page, items, flaw).map(View::Entries)
}

/// A `RawTable`.
struct Table {
    buckets: Buckets,
    items: u64,
    slots: Slots,
    /// The offsets of the key and the value in a bucket.
    key: u64,
    held: u64,
}

impl Table {
    fn new(reader: &Reader<'_>, table: &Value, given: EntryPart) -> Result<Table, Flaw> {
        let resolved = reader.resolve(table).known()?;
        let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
            return Err(Flaw::Layout);
        };
        let element = table.sibling(argument(aggregate), Contents::Memory(Address(0)));
        let size = reader.size_of(&element).known()?;
        let slots = pair(reader, &element, given)?;
        let key = offset(&slots.key)?;
        let held = match &slots.value {
            Some(value) => offset(value)?,
            None => 0,
        };
        let word = |name: &str| -> Result<u64, Flaw> {
            Ok(reader.word(&reader.find(table, name).known()?.contents)?)
        };
        let control = reader.find(table, "ctrl").known()?;
        let control = reader.word(&reader.find_pointer(&control).known()?.contents)?;
        let (mask, items) = (word("bucket_mask")?, word("items")?);
        let count = match mask.checked_add(1) {
            Some(count) if count.is_power_of_two() && items < count.max(2) => count,
            _ => return broken(format!("{items} entries in a table of {mask} + 1")),
        };
        if items > 0 {
            is_repeated(reader, control, count)?;
        }
        let buckets = Buckets {
            control,
            data: control,
            count,
            size,
        };
        Ok(Table {
            buckets,
            items,
            slots,
            key,
            held,
        })
    }

    /// Offers the entries to the page, until it has `end` entries. Returns a reason if the table is too large to be walked to its end.
    fn walk(
        &self,
        reader: &Reader<'_>,
        end: u64,
        limit: Limit,
        page: &mut Page,
    ) -> Result<Option<String>, Flaw> {
        let entry = |start: u64| {
            self.slots
                .entry(start.wrapping_add(self.key), start.wrapping_add(self.held))
        };
        self.buckets.walk(reader, end, limit, page, &entry)
    }
}

/// Buckets of a hash table. Control bytes are at ascending addresses, and the buckets themselves at descending ones.
struct Buckets {
    /// The address of the first bucket's control byte.
    control: u64,
    /// The end address of the first bucket.
    data: u64,
    count: u64,
    /// The size of a bucket.
    size: u64,
}

impl Buckets {
    /// Offers the used buckets to the page. Returns a reason if the table is too large to be walked to its end.
    fn walk(
        &self,
        reader: &Reader<'_>,
        items: u64,
        limit: Limit,
        page: &mut Page,
        entry: &dyn Fn(u64) -> Entry,
    ) -> Result<Option<String>, Flaw> {
        let reach = match limit.entries <= SHORT.entries {
            true => MAX_BUCKETS.0,
            false => MAX_BUCKETS.1,
        };
        let reach = reach.min(self.count);
        let mut bucket = 0;
        while bucket < reach && !page.is_full(items) {
            let chunk = match page.before() {
                0..256 => CHUNKS.0,
                _ => CHUNKS.1,
            };
            let at = Address(self.control.wrapping_add(bucket));
            let read = |count: u64| {
                let bytes = reader.bytes(&Contents::Memory(at), count)?;
                let is_wrong = |byte: &u8| *byte > DELETED && *byte != EMPTY;
                match bytes.iter().find(|byte| is_wrong(byte)) {
                    Some(wrong) => broken(format!("{wrong:#x} among its control bytes")),
                    None => Ok(bytes),
                }
            };
            // If the large read fails, the unreadable bytes may be far behind those of interest: reads less.
            let bytes = read((reach - bucket).min(chunk))
                .or_else(|_| read((reach - bucket).min(CHUNKS.0)))?;
            let count = bytes.len() as u64;
            // The top bit is set in empty and deleted buckets.
            let is_used = |byte: &u8| byte & 0x80 == 0;
            let used = bytes.iter().filter(|byte| is_used(byte)).count() as u64;
            if used <= page.before() {
                page.skip(used);
                bucket += count;
                continue;
            }
            for (offset, byte) in (0..).zip(&bytes) {
                if is_used(byte) && !page.is_full(items) {
                    let back = (bucket + offset + 1).wrapping_mul(self.size);
                    let start = self.data.wrapping_sub(back);
                    page.next(|| Some(entry(start))).known()?;
                }
            }
            bucket += count;
        }
        let is_cut = reach < self.count;
        Ok(is_cut.then(|| "its table is too large to be looked through".to_owned()))
    }
}

/// Checks that the first control bytes are repeated after the last one.
fn is_repeated(reader: &Reader<'_>, control: u64, buckets: u64) -> Result<(), Flaw> {
    let group = group_size(reader);
    let read = |at: u64| reader.bytes(&Contents::Memory(Address(at)), group);
    let first = read(control)?;
    let last = read(control.wrapping_add(buckets))?;
    let repeated = buckets.min(group) as usize;
    // In a table smaller than a group, the repeated bytes begin a group behind the first ones. The bytes between are empty.
    let copy = match buckets < group {
        true => read(control.wrapping_add(group))?,
        false => last,
    };
    match first[..repeated] == copy[..repeated] {
        true => Ok(()),
        false => broken("its control bytes don't fit its size"),
    }
}

/// The remaining items of an iterator over a hash table: used buckets of the current group, and of the groups after it.
pub(super) fn rest_of_hash(
    reader: &Reader<'_>,
    value: &Value,
    given: EntryPart,
    limit: Limit,
) -> Result<View, Flaw> {
    let is_iter = |_: Option<&str>, type_: &Type| names::base_name(&type_.name) == "RawIter";
    let iter = reader.search(value, 8, &is_iter).known()?;
    let resolved = reader.resolve(&iter).known()?;
    let TypeKind::Aggregate(aggregate) = &resolved.type_.kind else {
        return Err(Flaw::Layout);
    };
    let element = iter.sibling(argument(aggregate), Contents::Memory(Address(0)));
    let size = reader.size_of(&element).known()?;
    let slots = pair(reader, &element, given)?;
    let key = offset(&slots.key)?;
    let held = slots.value.as_ref().map_or(Ok(0), offset)?;
    let word = |name: &str| -> Result<u64, Flaw> {
        let part = reader.find(&iter, name).known()?;
        let part = reader.find_pointer(&part).unwrap_or(part);
        Ok(reader.word(&part.contents)?)
    };
    let (control, end, data) = (word("next_ctrl")?, word("end")?, word("data")?);
    let items = word("items")?;
    let current = reader.find(&iter, "current_group").known()?;
    let current = reader.find_integer(&current).known()?;
    let used = left_in_group(reader, &current).ok_or(Flaw::Layout)?;
    let group = group_size(reader);
    let ahead = end.saturating_sub(control);
    if items > ahead.saturating_add(group) {
        return broken(format!(
            "{items} entries left, and {control:#x} to {end:#x}"
        ));
    }
    let mut page = Page::new(limit, given == EntryPart::Entries);
    let entry = |start: u64| slots.entry(start.wrapping_add(key), start.wrapping_add(held));
    for bit in (0..group).filter(|bit| used >> bit & 1 == 1) {
        if !page.is_full(items) {
            let start = data.wrapping_sub(size.wrapping_mul(bit + 1));
            page.next(|| Some(entry(start))).known()?;
        }
    }
    let behind = Buckets {
        control,
        data: data.wrapping_sub(size.wrapping_mul(group)),
        count: ahead.checked_next_multiple_of(group).known()?,
        size,
    };
    let pages = PageCache::new(reader.memory);
    let walked = behind.walk(&reader.over(&pages), items, limit, &mut page, &entry);
    let flaw = walked.unwrap_or_else(|flaw| Some(stuck(reader, &pages, flaw)));
    Ok(slots.shown(collected(page, items, flaw)?, true))
}

/// `LinkedList`, and iterators over one, which may be anywhere in it.
pub(super) fn list(
    reader: &Reader<'_>,
    value: &Value,
    is_iterator: bool,
    limit: Limit,
) -> Result<View, Flaw> {
    let length = reader.word(&reader.field(value, "len").known()?.contents)?;
    if length > super::MAX_OBJECT {
        return broken(format!("its length is {length}"));
    }
    let end = |name: &str| list_end(reader, value, name);
    let ((head, type_id), (tail, _)) = (end("head")?, end("tail")?);
    let mut page = Page::new(limit, false);
    let is_empty = |end: u64| (end == 0) == (length == 0);
    let fits = is_iterator || is_empty(head) && is_empty(tail);
    if !fits || length > 0 && head == 0 {
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
        given: EntryPart::Keys,
        key: element,
        value: None,
    };
    let pages = PageCache::new(reader.memory);
    let walk = reader.over(&pages);
    let mut before = (!is_iterator).then_some(0);
    let (mut place, mut flaw) = (head, None);
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
            Ok((_, following)) if following == place => {
                flaw = Some(format!("its node at {place:#x} leads to itself"));
                break;
            }
            Ok((back, following)) if before.is_none_or(|before| before == back) => {
                let address = place.wrapping_add(at);
                page.next(|| Some(slots.entry(address, address))).known()?;
                (before, place) = (Some(place), following);
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

/// The address of a list's first or last node, zero if there is none, and the nodes' type.
fn list_end(reader: &Reader<'_>, list: &Value, name: &str) -> Result<(u64, Option<TypeId>), Flaw> {
    let pointer = reader.find(list, name).known()?;
    let pointer = reader.search(&pointer, 8, &|_, type_| {
        matches!(type_.kind, TypeKind::Pointer(..))
    });
    // The field may be an `Option`: the pointer is in its variant `Some`.
    let pointer = match pointer {
        Some(pointer) => pointer,
        None => {
            let option = reader.field(list, name).known()?;
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
}

pub(super) fn ordered(mut entries: Entries) -> View {
    entries.is_list = true;
    View::Entries(entries)
}
