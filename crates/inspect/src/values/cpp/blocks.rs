//! Containers with contiguous elements, in one block or in several, and containers of bits.

use super::nodes::{Element, MAX_LENGTH, too_long, walked};
use super::{Limit, MAX_OBJECT, find, integer, nonsense, word};
use crate::Address;
use crate::values::entries::{Entry, Page};
use crate::values::rust::is_readable;
use crate::values::view::{Sequence, View};
use crate::values::{Bits as BitField, Contents, Number, Reader, Value, names};
use dapple_symbols::types::{Aggregate, Type, TypeKind};
use std::sync::Arc;

/// `deque`: blocks of equal size, from an iterator into the first to one into the last.
pub(super) fn deque(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let element = Element::of(reader, value, aggregate, false)?;
    let size = element.size(reader)?;
    if reader.find(value, "__map_").is_some() {
        return libcxx_deque(reader, value, &element, size, limit);
    }
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
        let bytes = match end_block.checked_sub(block)? / reader.address_size() {
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

/// libc++'s `deque`, whose elements are counted from the beginning of the first block.
fn libcxx_deque(
    reader: &Reader<'_>,
    value: &Value,
    element: &Element,
    size: u64,
    limit: Limit,
) -> Option<View> {
    let map = reader.find(value, "__map_")?;
    let blocks = Blocks {
        map: word(reader, &map, &["__begin_"])?,
        per_block: libcxx_block(size),
        start: word(reader, value, &["__start_"])?,
        size,
        length: word(reader, value, &["__size_"])?,
    };
    if blocks.length > MAX_LENGTH || blocks.start > MAX_LENGTH {
        return Some(too_long(blocks.length));
    }
    Some(blocks.view(reader, element, limit))
}

/// How many elements of a size are in a block of libc++'s `deque`.
pub(super) fn libcxx_block(size: u64) -> u64 {
    if size < 256 { 4096 / size.max(1) } else { 16 }
}

/// Blocks of elements, and a table of the blocks' addresses.
struct Blocks {
    /// The address of the table.
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
        let slot = self
            .map
            .checked_add(number.checked_mul(reader.address_size())?)?;
        let [block] = reader.words(slot).ok()?;
        Some(block)
    }
}

/// A sequence of bits.
struct Bits {
    start: u64,
    /// How many bits at `start` precede the first one.
    skip: u64,
    length: u64,
}

impl Bits {
    fn view(&self, reader: &Reader<'_>, value: &Value, limit: Limit) -> View {
        let mut page = Page::new(limit, false);
        page.skip(page.before().min(self.length));
        let mut walk = Ok(());
        while !page.is_full(self.length) {
            let bit = self.skip + page.position();
            let byte = self.start.checked_add(bit / 8).and_then(|at| {
                let place = Contents::Memory(Address(at));
                let bytes = reader.bytes(&place, 1).ok()?;
                Some((place, *bytes.first()?))
            });
            let Some((storage, byte)) = byte else {
                walk = Err("its bits cannot be read".to_owned());
                break;
            };
            let number = Contents::Number(Number::Bool(byte >> (bit % 8) & 1 == 1));
            let mut value = value.sibling(None, number);
            // The location of the bit, for assignments.
            value.bits = Some(Arc::new(BitField {
                storage,
                skip: bit % 8,
                count: 1,
            }));
            if page.next(|| Some(Entry { key: None, value })).is_none() {
                break;
            }
        }
        walked(page, self.length, walk)
    }
}

/// `vector<bool>`: bits between two iterators, or a pointer to bits with their number.
pub(super) fn bits(reader: &Reader<'_>, value: &Value, limit: Limit) -> Option<View> {
    if let Some(start) = word(reader, value, &["__begin_"]) {
        let length = word(reader, value, &["__size_"])?;
        if length > MAX_LENGTH {
            return Some(too_long(length));
        }
        let bits = Bits {
            start,
            skip: 0,
            length,
        };
        return Some(bits.view(reader, value, limit));
    }
    let edge = |name: &str| {
        let iterator = reader.find(value, name)?;
        let word = word(reader, &iterator, &["_M_p"])?;
        let offset = integer(reader, &reader.find(&iterator, "_M_offset")?)?;
        Some((word, offset))
    };
    let ((start, skip), (end, rest)) = (edge("_M_start")?, edge("_M_finish")?);
    let length = end
        .checked_sub(start)
        .and_then(|bytes| bytes.checked_mul(8)?.checked_add(rest)?.checked_sub(skip));
    let Some(length) = length.filter(|length| *length <= MAX_LENGTH && skip < 64) else {
        return Some(nonsense("its end is not behind its beginning"));
    };
    let bits = Bits {
        start,
        skip,
        length,
    };
    Some(bits.view(reader, value, limit))
}

/// `bitset`: its text has the last bit first, as the library writes it.
pub(super) fn bitset(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    limit: Limit,
) -> Option<View> {
    /// The most bits in the text.
    const SHOWN: u64 = 128;
    let length = number_argument(type_, 0)?;
    let start = value.contents.address()?.0;
    let bits = Bits {
        start,
        skip: 0,
        length,
    };
    let view = bits.view(reader, value, limit);
    let View::Entries(mut entries) = view else {
        return Some(view);
    };
    let shown = length.min(SHOWN);
    let bytes = reader.bytes(&value.contents, shown.div_ceil(8)).ok()?;
    let bit = |at: u64| {
        bytes
            .get((at / 8) as usize)
            .map(|byte| byte >> (at % 8) & 1)
    };
    let digits = (0..shown).rev().filter_map(bit);
    let digits: String = digits.map(|bit| if bit == 1 { '1' } else { '0' }).collect();
    let mark = if shown < length { "…" } else { "" };
    entries.text = Some(format!("{mark}{digits}"));
    Some(View::Entries(entries))
}

/// `vector`.
pub(super) fn vector(reader: &Reader<'_>, value: &Value) -> Option<View> {
    let first = find(reader, value, &["_M_start", "__begin_"])?;
    let TypeKind::Pointer(_, element) = reader.resolve(&first)?.type_.kind else {
        return None;
    };
    let start = reader.word(&first.contents).ok()?;
    let end = word(reader, value, &["_M_finish", "__end_"])?;
    let room = word(
        reader,
        value,
        &["_M_end_of_storage", "__cap_", "__end_cap_"],
    )?;
    let element = value.sibling(element, Contents::Memory(Address(start)));
    let size = reader.size_of(&element).filter(|size| *size > 0)?;
    let Some(bytes) = end.checked_sub(start) else {
        return Some(nonsense("its end is before its beginning"));
    };
    if end > room || room - start > MAX_OBJECT || !bytes.is_multiple_of(size) {
        return Some(nonsense("its ends don't belong together"));
    }
    Some(contiguous(reader, element, start, size, bytes / size))
}

/// Contiguous elements from `start` on, where `element` is the first. If they can't be read, the view says so.
pub(super) fn contiguous(
    reader: &Reader<'_>,
    element: Value,
    start: u64,
    size: u64,
    length: u64,
) -> View {
    let bytes = length.saturating_mul(size);
    if !is_readable(reader, start, bytes) {
        let end = start.saturating_add(bytes);
        return nonsense(&format!(
            "its elements, {start:#x} to {end:#x}, cannot be read"
        ));
    }
    View::Sequence(Sequence {
        element,
        stride: size,
        size,
        length,
        ring: None,
        text: None,
        container: true,
    })
}

/// A numeric template argument: `array<int, 3UL>` → 3.
pub(super) fn number_argument(type_: &Type, position: usize) -> Option<u64> {
    let arguments = names::arguments(&type_.name);
    let number = arguments.get(position)?;
    number.trim_end_matches(['U', 'L']).parse().ok()
}

/// `array`. The member of an `array` without elements is not a C array.
pub(super) fn array(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let elements = find(reader, value, &["_M_elems", "__elems_"])?;
    let type_ = reader.resolve(&elements)?.type_;
    if let TypeKind::Array { .. } = type_.kind
        && let View::Sequence(sequence) = reader.view(&elements, limit)
        && number_argument(&reader.resolve(value)?.type_, 1) != Some(0)
    {
        return Some(View::Sequence(sequence));
    }
    let element = aggregate.type_arguments.first()?.1;
    let element = value.sibling(element, value.contents.clone());
    let size = reader.size_of(&element)?;
    Some(View::Sequence(Sequence {
        element,
        stride: size,
        size,
        length: 0,
        ring: None,
        text: None,
        container: false,
    }))
}
