//! Packets as bytes: framing, checksums, escapes, run-length encoding and acknowledgements. No I/O.
//!
//! A packet is `$BODY#CS`, a notification `%BODY#CS`. `CS` is the sum of the body's bytes, modulo 256, in two hexadecimal digits. In the
//! body, `}` escapes the next byte, which is XORed with 0x20, and `*` repeats the byte before it: as often as the byte behind it says, less
//! 29. Repetition comes first: it repeats bytes as they are sent, which may be escaped ones.
//! (gdb manual, "Overview" of the appendix "Remote Protocol".)
//!
//! A [`Decoder`] takes bytes in pieces of any size and gives [`Event`]s. Its memory is bounded by the limit that it is made with: 192 bytes
//! of a run-length encoded packet may stand for 9 KB.

use std::collections::VecDeque;

/// The byte that interrupts the debuggee: Ctrl-C, outside of packets.
pub const INTERRUPT: u8 = 0x03;
/// The byte that says that a packet has come with the right checksum.
pub const ACK: u8 = b'+';
/// The byte that asks for a packet to be sent again.
pub const NAK: u8 = b'-';

/// What a [`Decoder`] has found in a stream of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The body of a packet, without escapes and repetitions.
    Packet(Vec<u8>),
    /// The body of a notification, without escapes and repetitions. It is never acknowledged.
    Notification(Vec<u8>),
    /// `+`
    Ack,
    /// `-`
    Nak,
    /// The byte 0x03 between packets. Clients send it; a decoder on a stub's side receives it.
    Interrupt,
    /// A packet whose checksum is wrong, that begins with a repetition, or that ends with an escape.
    Damaged,
    /// A packet or notification that is longer than the limit. The rest of it is skipped.
    TooLong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Packet,
    Notification,
}

/// The next byte's meaning.
#[derive(Clone, Copy, Debug)]
enum State {
    Between,
    Body,
    Repetitions,
    FirstDigit,
    SecondDigit(u8),
}

/// Makes events of bytes.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    checked: bool,
    state: State,
    kind: Kind,
    body: Vec<u8>,
    /// The last byte of the body as it was sent, which is what `*` repeats.
    last: Option<u8>,
    /// Whether the next byte is an escaped one.
    escaped: bool,
    sum: u8,
    damaged: bool,
    too_long: bool,
    junk: u64,
}

impl Decoder {
    /// A decoder of packets of at most `limit` bytes, counted without escapes and repetitions.
    #[must_use]
    pub fn new(limit: usize) -> Decoder {
        Decoder {
            limit,
            checked: true,
            state: State::Between,
            kind: Kind::Packet,
            body: Vec::new(),
            last: None,
            escaped: false,
            sum: 0,
            damaged: false,
            too_long: false,
            junk: 0,
        }
    }

    /// The limit of a packet's length, in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Ignores checksums from now on. Without acknowledgements nobody could ask for a packet again, and stubs may then send any checksum.
    pub fn ignore_checksums(&mut self) {
        self.checked = false;
    }

    /// How many bytes were outside of packets and had no meaning, or were in a packet that another one has cut short.
    #[must_use]
    pub fn junk(&self) -> u64 {
        self.junk
    }

    /// Takes the next bytes, and appends what they complete.
    pub fn decode(&mut self, mut bytes: &[u8], events: &mut VecDeque<Event>) {
        loop {
            bytes = &bytes[self.take_plain(bytes)..];
            let Some((first, rest)) = bytes.split_first() else {
                return;
            };
            if let Some(event) = self.take(*first) {
                events.push_back(event);
            }
            bytes = rest;
        }
    }

    /// Takes bytes of a body up to the first one that frames, escapes or repeats, and returns how many these are. None outside of a body, behind an
    /// escape, and in a packet that is too long.
    fn take_plain(&mut self, bytes: &[u8]) -> usize {
        if !matches!(self.state, State::Body) || self.escaped || self.too_long {
            return 0;
        }
        // A byte too much is for `append`, which tells that.
        let room = self.limit.saturating_sub(self.body.len()).min(bytes.len());
        let special = bytes[..room].iter().position(|byte| is_special(*byte));
        let plain = &bytes[..special.unwrap_or(room)];
        self.body.extend_from_slice(plain);
        self.last = plain.last().copied().or(self.last);
        self.sum = plain
            .iter()
            .fold(self.sum, |sum, byte| sum.wrapping_add(*byte));
        plain.len()
    }

    fn take(&mut self, byte: u8) -> Option<Event> {
        match (self.state, byte) {
            (State::Between, _) => return self.take_between(byte),
            (State::FirstDigit, _) => self.state = State::SecondDigit(byte),
            (State::SecondDigit(first), _) => return self.end(first, byte),
            // A packet was cut short, and another begins: neither byte may be in a body.
            (State::Body | State::Repetitions, b'$') => {
                self.junk = self.junk.saturating_add(1 + self.body.len() as u64);
                self.begin(Kind::Packet);
            }
            (State::Body | State::Repetitions, b'#') => {
                self.damaged |= self.escaped || matches!(self.state, State::Repetitions);
                self.state = State::FirstDigit;
            }
            (State::Body, b'*') => {
                self.sum = self.sum.wrapping_add(byte);
                self.state = State::Repetitions;
            }
            (State::Body, _) => {
                self.sum = self.sum.wrapping_add(byte);
                self.last = Some(byte);
                return self.append(byte, 1);
            }
            (State::Repetitions, _) => {
                self.sum = self.sum.wrapping_add(byte);
                self.state = State::Body;
                return match (self.last, byte.checked_sub(29)) {
                    (Some(last), Some(count)) => self.append(last, usize::from(count)),
                    _ => {
                        self.damaged = true;
                        None
                    }
                };
            }
        }
        None
    }

    fn take_between(&mut self, byte: u8) -> Option<Event> {
        match byte {
            b'$' => self.begin(Kind::Packet),
            b'%' => self.begin(Kind::Notification),
            ACK => return Some(Event::Ack),
            NAK => return Some(Event::Nak),
            INTERRUPT => return Some(Event::Interrupt),
            _ => self.junk = self.junk.saturating_add(1),
        }
        None
    }

    fn begin(&mut self, kind: Kind) {
        self.state = State::Body;
        self.kind = kind;
        self.body.clear();
        self.last = None;
        self.escaped = false;
        self.sum = 0;
        self.damaged = false;
        self.too_long = false;
    }

    /// Appends a byte of the stream to the body, `count` times.
    fn append(&mut self, byte: u8, count: usize) -> Option<Event> {
        for _ in 0..count {
            if self.too_long {
                return None;
            }
            if self.escaped {
                self.escaped = false;
                self.body.push(byte ^ 0x20);
            } else if byte == b'}' {
                self.escaped = true;
                continue;
            } else {
                self.body.push(byte);
            }
            if self.body.len() > self.limit {
                self.too_long = true;
                self.body = Vec::new();
                return Some(Event::TooLong);
            }
        }
        None
    }

    /// Ends a packet by the digits of its checksum.
    fn end(&mut self, first: u8, second: u8) -> Option<Event> {
        self.state = State::Between;
        let sum = crate::hex::decode(&[first, second]);
        if self.too_long {
            return None;
        }
        if self.damaged || (self.checked && sum != Some(vec![self.sum])) {
            self.body.clear();
            // A damaged notification is dropped: nobody asks for it again.
            return (self.kind == Kind::Packet).then_some(Event::Damaged);
        }
        let body = std::mem::take(&mut self.body);
        Some(match self.kind {
            Kind::Packet => Event::Packet(body),
            Kind::Notification => Event::Notification(body),
        })
    }
}

/// Whether a byte of a packet has to be escaped.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'#' | b'$' | b'}' | b'*')
}

/// How many bytes a byte of a packet's body takes when it is sent: 1 or 2.
#[must_use]
pub fn encoded_length(byte: u8) -> usize {
    1 + usize::from(is_special(byte))
}

/// Frames a body as a packet: escapes it, and adds the checksum.
///
/// ```
/// use dapple_gdb_remote::packet;
///
/// assert_eq!(packet::encode(b"m7fff,4"), b"$m7fff,4#36");
/// ```
#[must_use]
pub fn encode(body: &[u8]) -> Vec<u8> {
    framed(b'$', body)
}

/// Frames a body as a notification. Stubs send these.
#[must_use]
pub fn encode_notification(body: &[u8]) -> Vec<u8> {
    framed(b'%', body)
}

fn framed(start: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len() + 4);
    bytes.push(start);
    for byte in body {
        match is_special(*byte) {
            true => bytes.extend([b'}', byte ^ 0x20]),
            false => bytes.push(*byte),
        }
    }
    let sum = bytes[1..]
        .iter()
        .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.push(b'#');
    crate::hex::append(&[sum], &mut bytes);
    bytes
}

#[cfg(test)]
mod tests;
