//! Channels: both ends show the messages that were sent and not yet received.
//!
//! The standard library's channels are laid out like those of `crossbeam-channel`: a list of blocks (unbounded),
//! a ring of slots (bounded), or no storage (capacity 0).

use super::tables::{MAX_STEPS, collected, offset, ordered, stuck};
use super::{Flaw, OrUnknownLayout, broken, held, pointed_to, shown, variant_name};
use crate::Address;
use crate::pages::PageCache;
use crate::values::entries::{Entry, Page};
use crate::values::view::{Limit, Sequence, View};
use crate::values::{Contents, Reader, Value, names};
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{Type, TypeKind};

/// The number of positions in a block of the list. The last position of a block has no message.
const LAP: u64 = 32;
/// How many low bits of a list's index are no part of the position: one, which is a flag.
const SHIFT: u32 = 1;
/// The flag in a slot's state that says that its message is complete.
const WRITTEN: u64 = 1;

/// The allocation that all ends of a channel share: the numbers of senders and receivers, and the channel.
fn counter(reader: &Reader<'_>, end: &Value) -> Result<Value, Flaw> {
    let flavor = reader.find(end, "flavor").known()?;
    let end = super::payload(reader, &flavor).known()?;
    pointed_to(reader, &reader.field(&end, "counter").known()?)
}

/// The view of an end of a channel: the queued messages.
pub(super) fn end(reader: &Reader<'_>, value: &Value, type_: &Type) -> Result<View, Flaw> {
    let channel = reader.field(&counter(reader, value)?, "chan").known()?;
    let name = names::base_name(&type_.name);
    let flavor = variant_name(reader, &reader.find(value, "flavor").known()?)?;
    Ok(match flavor.as_str() {
        // Messages are handed over directly, never queued.
        "Zero" => shown(name, Vec::new()),
        _ => shown(name, vec![("queued", channel)]),
    })
}

/// The numbers of a channel's ends.
pub(super) fn note(reader: &Reader<'_>, value: &Value) -> Option<String> {
    let counter = counter(reader, value).ok()?;
    let count = |name: &str| {
        let count = reader.find_integer(&reader.field(&counter, name)?)?;
        reader.word(&count.contents).ok()
    };
    let (senders, receivers) = (count("senders")?, count("receivers")?);
    Some(format!("senders {senders}, receivers {receivers}"))
}

/// The first integer in the part of `value` that is called `name`.
fn word(reader: &Reader<'_>, value: &Value, name: &str) -> Result<u64, Flaw> {
    let part = reader.find(value, name).known()?;
    let part = reader.find_integer(&part).known()?;
    Ok(reader.word(&part.contents)?)
}

/// An unbounded channel: blocks of messages, each with the address of the next block.
pub(super) fn list(reader: &Reader<'_>, value: &Value, limit: Limit) -> Result<View, Flaw> {
    let head = reader.field(value, "head").known()?;
    let tail = reader.field(value, "tail").known()?;
    let position = |end: &Value| -> Result<u64, Flaw> { Ok(word(reader, end, "index")? >> SHIFT) };
    let (mut at, end) = (position(&head)?, position(&tail)?);
    let before = |position: u64| position - position / LAP;
    let Some(length) = before(end).checked_sub(before(at)) else {
        return broken(format!("it is read at {at} and written at {end}"));
    };
    let block = reader.find(&head, "block").known()?;
    let pointer = reader.find_pointer(&block).known()?;
    let TypeKind::Pointer(_, type_id) = reader.resolve(&pointer).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    let mut block = reader.word(&pointer.contents)?;
    let layout = pointer.sibling(type_id, Contents::Memory(Address(0)));
    let next = offset(&reader.field(&layout, "next").known()?)?;
    let slots = reader.field(&layout, "slots").known()?;
    let TypeKind::Array { element, .. } = reader.resolve(&slots).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    let slot = slots.sibling(Some(element), slots.contents.clone());
    let stride = reader.size_of(&slot).known()?;
    let message = held(reader, reader.field(&slot, "msg").known()?);
    let (first, state) = (
        offset(&message)?,
        offset(&reader.field(&slot, "state").known()?)?,
    );
    let mut page = Page::new(limit, false);
    let pages = PageCache::new(reader.memory);
    let walk = reader.over(&pages);
    let mut flaw = None;
    for _ in 0..MAX_STEPS {
        if page.is_full(length) || at >= end {
            break;
        }
        let index = at % LAP;
        let rest = (LAP - 1 - index).min(end - at);
        if rest == 0 {
            match walk.words(block.wrapping_add(next)) {
                Ok([following]) if following != block => block = following,
                Ok(_) => {
                    flaw = Some(format!("its block at {block:#x} leads to itself"));
                    break;
                }
                Err(reason) => {
                    flaw = Some(stuck(reader, &pages, reason.into()));
                    break;
                }
            }
            at += 1;
            continue;
        }
        if rest <= page.before() {
            page.skip(rest);
            at += rest;
            continue;
        }
        let start = block.wrapping_add(index * stride);
        let mut value = message.clone();
        value.contents = match walk.words(start.wrapping_add(state)) {
            Ok([state]) if state & WRITTEN != 0 => {
                Contents::Memory(Address(start.wrapping_add(first)))
            }
            Ok(_) => Contents::Unavailable(Unavailable::Unsupported("being sent".to_owned())),
            Err(reason) => {
                flaw = Some(stuck(reader, &pages, reason.into()));
                break;
            }
        };
        page.next(|| Some(Entry { key: None, value })).known()?;
        at += 1;
    }
    Ok(ordered(collected(page, length, flaw)?))
}

/// A bounded channel: a ring of slots.
pub(super) fn ring(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let of = |name: &str| word(reader, value, name);
    let (capacity, mark, head, tail) = (of("cap")?, of("mark_bit")?, of("head")?, of("tail")?);
    if !mark.is_power_of_two() || capacity >= mark {
        return broken(format!("{capacity} messages, and the mark {mark:#x}"));
    }
    let (first, last) = (head & (mark - 1), tail & (mark - 1));
    let length = match last.checked_sub(first) {
        Some(0) if tail & !mark == head => 0,
        Some(0) => capacity,
        Some(length) => length,
        None => (capacity + last).saturating_sub(first),
    };
    let View::Sequence(slots) = reader.view(
        &reader.field(value, "buffer").known()?,
        crate::values::view::SHORT,
    ) else {
        return Err(Flaw::Layout);
    };
    if length > capacity || first >= capacity || slots.length != capacity {
        return broken(format!("{length} messages from {first} of {capacity}"));
    }
    let message = held(reader, reader.field(&slots.element, "msg").known()?);
    let size = reader.size_of(&message).known()?;
    Ok(View::Sequence(Sequence {
        element: message,
        size,
        length,
        ring: Some((first, capacity)),
        text: None,
        container: true,
        ..slots
    }))
}
