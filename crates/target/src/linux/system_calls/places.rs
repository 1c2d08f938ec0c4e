//! From descriptions to ranges of memory.
//!
//! Before the call, each output becomes places: ranges that the kernel may write at most, from the arguments and from what those point at
//! (lengths, arrays of buffers), which the call may change. After the call, the result says how much of each place has been written.
//!
//! Arguments and memory are the debuggee's and may be anything: the numbers of buffers and places are bounded, and sums saturate.

use super::description::{Argument, Length, Output, Place, When};
use super::{Memory, Trouble};
use crate::Address;
use std::ops::Range;

/// The most buffers and messages that the kernel takes in one call (UIO_MAXIOV, readv(2)).
const MOST_BUFFERS: u64 = 1024;
/// The most places of one call.
const MOST_PLACES: usize = 16 * 1024;
/// The most bytes that the kernel moves in one call (MAX_RW_COUNT, read(2)).
const MOST_BYTES: u64 = 0x7fff_f000;
/// The most bytes of a place that are taken for written after an error.
const MOST_AFTER_ERROR: u64 = 1 << 20;
/// Sizes and offsets of `struct iovec`, `struct msghdr` and `struct mmsghdr` (recvmsg(2), recvmmsg(2)).
const IOVEC: u64 = 16;
const MESSAGE: u64 = 56;
const LONG_MESSAGE: u64 = 64;
const NAME_LENGTH: u64 = 8;
const CONTROL_LENGTH: u64 = 40;

/// A range that the kernel may write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Possible {
    start: u64,
    /// The most bytes.
    room: u64,
    share: Share,
    when: When,
}

/// How much of the room the kernel writes.
#[derive(Debug, Clone, Copy)]
enum Share {
    /// All of it.
    All,
    /// As many bytes as the result says, and a header.
    Result(u64),
    /// As many elements of this size as the result says.
    Elements(u64),
    /// The next bytes of as many as the result says in all; `true` begins anew.
    Stream(bool),
    /// The next bytes of as many as the 32-bit word at an address says; `true` begins anew. Only if the result is more than the index.
    StreamOf(bool, u64, i64),
    /// As many as the 32-bit word at this address says after the call.
    Word(u64),
    /// A header and as many elements as the 32-bit word at an address says after the call: header, address, size of an element.
    WordElements(u64, u64, u64),
    /// As [`Share::Word`], if the result is more than the index.
    WordOf(u64, i64),
    /// All of it, if the result is more than the index.
    AllOf(i64),
}

/// The places of an output.
pub(super) struct Collected<'m> {
    arguments: [u64; 6],
    memory: &'m Memory<'m>,
    when: When,
    places: Vec<Possible>,
}

/// Collects what a call with these outputs may write, before the call.
pub(super) fn collect(
    outputs: &[Output],
    arguments: [u64; 6],
    memory: &Memory<'_>,
) -> Result<Vec<Possible>, Trouble> {
    let mut collected = Collected {
        arguments,
        memory,
        when: When::Success,
        places: Vec::new(),
    };
    for output in outputs {
        collected.when = output.when;
        collected.output(output.place)?;
    }
    Ok(collected.places)
}

impl Collected<'_> {
    fn output(&mut self, place: Place) -> Result<(), Trouble> {
        match place {
            Place::At(argument, length) => self.at(self.arguments[argument], length),
            Place::Nested(argument, offset, length) => {
                let structure = self.arguments[argument];
                if structure == 0 {
                    return Ok(());
                }
                let pointer = self.long(structure.saturating_add(offset))?;
                self.nested(structure, pointer, length)
            }
            Place::Buffers(array, count) => {
                let (array, count) = (self.arguments[array], self.arguments[count]);
                self.buffers(array, count, Share::Stream)
            }
            Place::Message(argument) => {
                let header = self.arguments[argument];
                self.add(header, MESSAGE, Share::All)?;
                self.message(header, Share::Word, Share::Stream)
            }
            Place::Messages(array, count) => self.messages(array, count),
            Place::SentLengths(array, count) => {
                for (index, header) in self.headers(array, count) {
                    self.add(header.saturating_add(MESSAGE), 4, Share::AllOf(index))?;
                }
                Ok(())
            }
        }
    }

    fn at(&mut self, start: u64, length: Length) -> Result<(), Trouble> {
        if start == 0 {
            return Ok(());
        }
        let argument = |argument: Argument| self.arguments[argument];
        let short = |argument: Argument| self.arguments[argument] & 0xffff_ffff;
        let (room, share) = match length {
            Length::Fixed(size) => (size, Share::All),
            Length::Argument(room) => (argument(room), Share::All),
            Length::Elements(size, count) => (short(count).saturating_mul(size), Share::All),
            Length::LongElements(size, count) => (argument(count).saturating_mul(size), Share::All),
            Length::Result(room) => (argument(room), Share::Result(0)),
            Length::ResultElements(size, count) => {
                (short(count).saturating_mul(size), Share::Elements(size))
            }
            Length::HeaderAndResult(header, room) => {
                (argument(room).saturating_add(header), Share::Result(header))
            }
            Length::Bits(count) => (short(count).div_ceil(64) * 8, Share::All),
            Length::Pages(length) => (argument(length).div_ceil(4096), Share::All),
            Length::InOut(length) => {
                let length = argument(length);
                (self.word(length)?, Share::Word(length))
            }
            Length::Counted(header, count, size) => {
                let count = self.word(start.saturating_add(count))?;
                (
                    count.saturating_mul(size).saturating_add(header),
                    Share::All,
                )
            }
            Length::Extents(header, count, size) => {
                let count = start.saturating_add(count);
                let room = self.word(count)?.saturating_mul(size);
                let written = count.saturating_sub(4);
                (room + header, Share::WordElements(header, written, size))
            }
            Length::ShortCounted(header, count, size) => {
                let count = self.word(start.saturating_add(count))? & 0xffff;
                (count * size + header, Share::All)
            }
            Length::Own(room) => (argument(room), Share::Word(start)),
            // Of nested places only.
            Length::NestedResult(_) | Length::NestedInOut(_) => return Ok(()),
        };
        self.add(start, room, share)
    }

    fn nested(&mut self, structure: u64, pointer: u64, length: Length) -> Result<(), Trouble> {
        match length {
            Length::NestedResult(room) => {
                let room = self.word(structure.saturating_add(room))?;
                self.add(pointer, room, Share::Result(0))
            }
            Length::NestedInOut(room) => {
                let place = structure.saturating_add(room);
                let room = self.word(place)?;
                self.add(pointer, room, Share::Word(place))
            }
            _ => self.at(pointer, length),
        }
    }

    /// The buffers of an iovec array. `share` is given whether the buffer is the array's first.
    fn buffers(
        &mut self,
        array: u64,
        count: u64,
        share: impl Fn(bool) -> Share,
    ) -> Result<(), Trouble> {
        if array == 0 || count > MOST_BUFFERS {
            // The kernel refuses it.
            return Ok(());
        }
        for index in 0..count {
            let entry = array.saturating_add(index * IOVEC);
            let (start, room) = (self.long(entry)?, self.long(entry.saturating_add(8))?);
            self.push(start, room, share(index == 0))?;
        }
        Ok(())
    }

    /// What a `struct msghdr` points at. `word`: the share of what has a length word; `stream`: that of a buffer.
    fn message(
        &mut self,
        header: u64,
        word: impl Fn(u64) -> Share,
        stream: impl Fn(bool) -> Share,
    ) -> Result<(), Trouble> {
        if header == 0 {
            return Ok(());
        }
        let field = |offset: u64| header.saturating_add(offset);
        let (name, room) = (self.long(header)?, self.word(field(NAME_LENGTH))?);
        self.add(name, room, word(field(NAME_LENGTH)))?;
        let (control, room) = (self.long(field(32))?, self.long(field(CONTROL_LENGTH))?);
        self.add(control, room, word(field(CONTROL_LENGTH)))?;
        let (array, count) = (self.long(field(16))?, self.long(field(24))?);
        self.buffers(array, count, stream)
    }

    fn messages(&mut self, array: Argument, count: Argument) -> Result<(), Trouble> {
        for (index, header) in self.headers(array, count) {
            let length = header.saturating_add(MESSAGE);
            self.add(header, LONG_MESSAGE, Share::AllOf(index))?;
            let collected = self.message(
                header,
                |at| Share::WordOf(at, index),
                |first| Share::StreamOf(first, length, index),
            );
            match collected {
                // The call ends with the message before.
                Err(Trouble::Unreadable) => break,
                collected => collected?,
            }
        }
        Ok(())
    }

    /// The index and the address of each `struct mmsghdr`.
    fn headers(
        &self,
        array: Argument,
        count: Argument,
    ) -> impl Iterator<Item = (i64, u64)> + use<> {
        let start = self.arguments[array];
        let count = (self.arguments[count] & 0xffff_ffff).min(MOST_BUFFERS);
        let count = if start == 0 { 0 } else { count };
        (0..count).map(move |index| {
            let header = start.saturating_add(index * LONG_MESSAGE);
            (index.cast_signed(), header)
        })
    }

    fn add(&mut self, start: u64, room: u64, share: Share) -> Result<(), Trouble> {
        if start == 0 || room == 0 {
            return Ok(());
        }
        self.push(start, room, share)
    }

    fn push(&mut self, start: u64, room: u64, share: Share) -> Result<(), Trouble> {
        if self.places.len() >= MOST_PLACES {
            return Err(Trouble::TooMany);
        }
        self.places.push(Possible {
            start,
            room: room.min(MOST_BYTES),
            share,
            when: self.when,
        });
        Ok(())
    }

    fn word(&self, at: u64) -> Result<u64, Trouble> {
        word(at, self.memory).ok_or(Trouble::Unreadable)
    }

    fn long(&self, at: u64) -> Result<u64, Trouble> {
        let mut bytes = [0; 8];
        (self.memory)(Address(at), &mut bytes)
            .then(|| u64::from_le_bytes(bytes))
            .ok_or(Trouble::Unreadable)
    }
}

fn word(at: u64, memory: &Memory<'_>) -> Option<u64> {
    let mut bytes = [0; 4];
    memory(Address(at), &mut bytes).then(|| u64::from(u32::from_le_bytes(bytes)))
}

/// Whether a result says that a signal has interrupted the call: EINTR, or the kernel's own numbers for a call that it will restart, which a
/// tracer sees (ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK of `include/linux/errno.h`).
pub(super) fn was_interrupted(result: i64) -> bool {
    result == -i64::from(libc::EINTR) || (-514..=-512).contains(&result) || result == -516
}

/// Whether a result is an error's number.
pub(super) fn is_error(result: i64) -> bool {
    // The kernel's numbers for restarts are among them.
    (-4095..=-1).contains(&result)
}

/// The ranges that were written, after the call.
pub(super) fn written(
    places: &[Possible],
    result: i64,
    memory: &Memory<'_>,
) -> Vec<Range<Address>> {
    let mut left = 0;
    let mut ranges = Vec::new();
    for place in places {
        let is_written = match place.when {
            When::Success => !is_error(result),
            When::Interrupted => !is_error(result) || was_interrupted(result),
            When::Always => true,
        };
        if !is_written {
            continue;
        }
        let mut size = size(place, result, &mut left, memory);
        if is_error(result) {
            size = size.min(MOST_AFTER_ERROR);
        }
        let end = place.start.saturating_add(size);
        if end > place.start {
            ranges.push(Address(place.start)..Address(end));
        }
    }
    ranges
}

/// How many bytes of a place were written. `left`: the bytes that are left for the next buffers.
fn size(place: &Possible, result: i64, left: &mut u64, memory: &Memory<'_>) -> u64 {
    let room = place.room;
    let count = u64::try_from(result).unwrap_or(0);
    let mut next = |is_first: bool, all: u64| {
        if is_first {
            *left = all;
        }
        let size = room.min(*left);
        *left -= size;
        size
    };
    // What can't be read now has not been written.
    let said = |at: u64| word(at, memory).unwrap_or(0);
    match place.share {
        Share::All => room,
        Share::Result(header) => room.min(count.saturating_add(header)),
        Share::Elements(size) => room.min(count.saturating_mul(size)),
        Share::Stream(is_first) => next(is_first, count),
        Share::StreamOf(is_first, at, index) if result > index => {
            next(is_first, if is_first { said(at) } else { 0 })
        }
        Share::Word(at) => room.min(said(at)),
        Share::WordElements(header, at, size) => room.min(header + said(at) * size),
        Share::WordOf(at, index) if result > index => room.min(said(at)),
        Share::AllOf(index) if result > index => room,
        Share::StreamOf(..) | Share::WordOf(..) | Share::AllOf(_) => 0,
    }
}
