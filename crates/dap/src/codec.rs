//! Bytes to messages and back, without I/O.
//!
//! On the wire a message is `Content-Length: N`, an empty line, and N bytes of JSON. [`Decoder`] takes bytes in pieces of any size
//! and returns the text of whole messages; [`encode`] does the reverse. [`crate::envelope`] parses that text.
//!
//! Worth knowing: the decoder buffers only the bytes it was given and never allocates what a header merely claims. After bytes that
//! are not a message it resumes at the next `Content-Length:`, wherever that is; only a message over the limit ends the stream.

use serde::Serialize;
use std::io::{self, BufRead, Write};

use crate::envelope::{Envelope, Kind};
use crate::json;
#[cfg(feature = "transport")]
use crate::message::Raw;

/// The longest message accepted by default: 64 MiB.
pub const DEFAULT_LIMIT: usize = 64 << 20;

/// The longest block of headers accepted, in bytes. Real ones are below 100.
const HEADER_LIMIT: usize = 8 << 10;

/// The start of the header that every message has.
const LENGTH: &[u8] = b"Content-Length:";

/// What was wrong with the bytes of a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// A line in the header block is not a name, a colon and a value. The line is skipped or, if it contains a `Content-Length:`, the part
    /// before that.
    #[error("expected a header such as `Content-Length: 119`, found `{line}`; the line is skipped")]
    NotAHeader {
        /// The line, shortened.
        line: String,
    },
    /// The value of `Content-Length` is not a number of bytes. The input is skipped up to the next `Content-Length:`.
    #[error(
        "`Content-Length` must be a number of bytes, found `{value}`; what follows is skipped, up to the next one"
    )]
    BadLength {
        /// The header's value, shortened.
        value: String,
    },
    /// A header block gives two different lengths. The input is skipped up to the next `Content-Length:`.
    #[error(
        "`Content-Length` is given twice, as {first} and as {second}; what follows is skipped, up to the next one"
    )]
    TwoLengths {
        /// The first value.
        first: u64,
        /// The second, different one.
        second: u64,
    },
    /// A header block ended without a length. The input is skipped up to the next `Content-Length:`.
    #[error(
        "a message without `Content-Length`; what follows is skipped, up to the next one that has it"
    )]
    NoLength,
    /// A header block is longer than any real one. The input is skipped up to the next `Content-Length:`.
    #[error(
        "more than {HEADER_LIMIT} bytes of headers; what follows is skipped, up to the next `Content-Length`"
    )]
    HeadersTooLong,
    /// A message is longer than the limit. The stream ends here: such a length is an error of the sender, and waiting for that many
    /// bytes would hang.
    #[error("a message of {length} bytes is over the limit of {limit}; nothing more is read")]
    TooLong {
        /// The header's value, in bytes.
        length: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A message is not UTF-8. It is skipped.
    #[error("a message of {length} bytes is not UTF-8 from byte {offset} on; it is skipped")]
    NotUtf8 {
        /// The message's length in bytes.
        length: usize,
        /// The first byte that is not UTF-8.
        offset: usize,
    },
}

impl CodecError {
    /// True if nothing is read from the stream after this error.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::TooLong { .. })
    }

    /// True if the bytes after the error are skipped up to a `Content-Length:`.
    fn is_followed_by_garbage(&self) -> bool {
        matches!(
            self,
            Self::BadLength { .. }
                | Self::TwoLengths { .. }
                | Self::NoLength
                | Self::HeadersTooLong
        )
    }
}

/// Where in the stream the decoder is.
#[derive(Debug)]
enum Place {
    /// Between messages or within a header block, of which `bytes` bytes were read.
    Headers { length: Option<u64>, bytes: usize },
    /// At the start of a body of this length.
    Body { length: usize },
    /// In bytes that are skipped up to the next [`LENGTH`].
    Garbage,
    /// After a fatal error.
    Lost,
}

impl Place {
    const START: Self = Self::Headers {
        length: None,
        bytes: 0,
    };
}

/// Cuts a stream of bytes into messages.
///
/// ```
/// use dapple_dap::codec::Decoder;
///
/// let mut decoder = Decoder::new();
/// decoder.push(b"Content-Length: 2\r\n\r");
/// assert_eq!(decoder.next(), Ok(None));
/// decoder.push(b"\n{}Content-Le");
/// assert_eq!(decoder.next(), Ok(Some("{}".to_owned())));
/// assert_eq!(decoder.next(), Ok(None));
/// ```
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// How many bytes of `buffer` were consumed.
    start: usize,
    /// How many bytes of `buffer` were searched for the end of a line.
    searched: usize,
    place: Place,
    limit: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder at the start of a stream, with the default limit.
    pub fn new() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }

    /// A decoder that stops for good at a message longer than `limit` bytes ([`CodecError::TooLong`]).
    pub fn with_limit(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            place: Place::START,
            limit,
        }
    }

    /// Adds bytes that were read from the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.is_lost() {
            return;
        }
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.searched = 0;
            self.start = 0;
        } else if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.searched = self.searched.saturating_sub(self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The text of the next whole message, or `None` if more bytes have to be pushed first.
    ///
    /// After an error that is not [fatal](CodecError::is_fatal) the next call resumes after the bad bytes; after a fatal one
    /// there are no more messages.
    #[expect(
        clippy::should_implement_trait,
        reason = "`None` is not the end here, as it is for an iterator"
    )]
    pub fn next(&mut self) -> Result<Option<String>, CodecError> {
        let result = self.advance();
        if result
            .as_ref()
            .is_err_and(CodecError::is_followed_by_garbage)
        {
            self.place = Place::Garbage;
        }
        if result.as_ref().is_err_and(CodecError::is_fatal) {
            self.place = Place::Lost;
            self.buffer = Vec::new();
            self.start = 0;
        }
        result
    }

    /// True if a fatal error ended the stream.
    pub fn is_lost(&self) -> bool {
        matches!(self.place, Place::Lost)
    }

    /// True if the stream may end here: between two messages.
    pub fn is_between_messages(&self) -> bool {
        self.start == self.buffer.len()
            && matches!(
                self.place,
                Place::Headers {
                    length: None,
                    bytes: 0
                }
            )
    }

    /// How many of the bytes that follow belong to the current message for certain: those of its body, or up to the end of a line.
    fn wanted(&self, following: &[u8]) -> usize {
        let end_of_line = || following.iter().position(|&byte| byte == b'\n');
        match self.place {
            Place::Body { length } => length.saturating_sub(self.buffer.len() - self.start),
            _ => end_of_line().map_or(following.len(), |at| at + 1),
        }
        .min(following.len())
    }

    fn advance(&mut self) -> Result<Option<String>, CodecError> {
        loop {
            let available = self.buffer.len() - self.start;
            match self.place {
                Place::Lost => return Ok(None),
                Place::Garbage => {
                    let rest = &self.buffer[self.start..];
                    let Some(at) = position_of_length(rest) else {
                        // The buffer may end with the start of a `Content-Length:`.
                        self.start = self.buffer.len() - available.min(LENGTH.len() - 1);
                        return Ok(None);
                    };
                    self.start += at;
                    self.place = Place::START;
                }
                Place::Body { length } => {
                    if available < length {
                        return Ok(None);
                    }
                    let body = self.buffer[self.start..self.start + length].to_vec();
                    self.start += length;
                    self.place = Place::START;
                    return String::from_utf8(body).map(Some).map_err(|error| {
                        CodecError::NotUtf8 {
                            length,
                            offset: error.utf8_error().valid_up_to(),
                        }
                    });
                }
                Place::Headers { length, bytes } => {
                    let from = self.searched.max(self.start);
                    let Some(end) = self.buffer[from..].iter().position(|&byte| byte == b'\n')
                    else {
                        self.searched = self.buffer.len();
                        if bytes + available > HEADER_LIMIT {
                            return Err(CodecError::HeadersTooLong);
                        }
                        return Ok(None);
                    };
                    let line = self.start..from + end;
                    let bytes = bytes + line.len() + 1;
                    if bytes > HEADER_LIMIT {
                        // The line is not consumed: a message's header may stand at its end.
                        return Err(CodecError::HeadersTooLong);
                    }
                    self.start = line.end + 1;
                    self.header_line(line, length, bytes)?;
                }
            }
        }
    }

    /// Handles one line of the header block, without its line feed.
    fn header_line(
        &mut self,
        line: std::ops::Range<usize>,
        length: Option<u64>,
        bytes: usize,
    ) -> Result<(), CodecError> {
        let line_start = line.start;
        let line = &self.buffer[line];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return self.end_of_headers(length, bytes);
        }
        self.place = Place::Headers { length, bytes };
        let colon = line.iter().position(|&byte| byte == b':');
        let name = colon.map(|colon| line[..colon].trim_ascii());
        let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let header = colon.zip(name);
        let header = header.filter(|(_, name)| name.iter().all(is_token));
        let is_length = |name: &[u8]| name.eq_ignore_ascii_case(&LENGTH[..LENGTH.len() - 1]);
        // The rest of a broken message may stand in front of the next message's header, on the same line.
        let own = usize::from(header.is_some_and(|(_, name)| is_length(name)));
        let embedded = position_of_length(&line[own..]).map(|at| own + at);
        let (colon, name) = match (header, embedded) {
            (Some((colon, name)), None) => (colon, name),
            (Some((colon, name)), Some(_)) if is_length(name) => (colon, name),
            _ => {
                let error = CodecError::NotAHeader {
                    line: excerpt(line),
                };
                self.start = embedded.map_or(self.start, |at| line_start + at);
                return Err(error);
            }
        };
        if !is_length(name) {
            return Ok(());
        }
        let value = line[colon + 1..].trim_ascii();
        let Some(number) = decimal(value) else {
            let error = CodecError::BadLength {
                value: excerpt(value),
            };
            self.start = embedded.map_or(self.start, |at| line_start + at);
            return Err(error);
        };
        if let Some(first) = length.filter(|&first| first != number) {
            return Err(CodecError::TwoLengths {
                first,
                second: number,
            });
        }
        self.place = Place::Headers {
            length: Some(number),
            bytes,
        };
        Ok(())
    }

    fn end_of_headers(&mut self, length: Option<u64>, bytes: usize) -> Result<(), CodecError> {
        let Some(length) = length else {
            // Empty lines between messages do no harm.
            if bytes <= 2 {
                self.place = Place::START;
                return Ok(());
            }
            return Err(CodecError::NoLength);
        };
        match usize::try_from(length) {
            Ok(length) if length <= self.limit => {
                self.place = Place::Body { length };
                Ok(())
            }
            _ => Err(CodecError::TooLong {
                length,
                limit: self.limit,
            }),
        }
    }
}

/// Reads the text of the next message from a blocking stream; `None` at the stream's end. Takes no bytes beyond the message.
///
/// This is for streams of which one can expect messages. To go on in a stream behind bytes that are no message, use a [`Decoder`],
/// which remembers what it skips.
///
/// ```
/// let mut input = &b"Content-Length: 2\r\n\r\n{}Content-Length: 7\r\n\r\n"[..];
/// assert_eq!(dapple_dap::codec::read(&mut input)?.as_deref(), Some("{}"));
/// let error = dapple_dap::codec::read(&mut input).unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The stream's. [`UnexpectedEof`](io::ErrorKind::UnexpectedEof): the stream ends within a message.
/// [`InvalidData`](io::ErrorKind::InvalidData) with a [`CodecError`]: the bytes are not a message, or it is longer than
/// [`DEFAULT_LIMIT`].
pub fn read(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut decoder = Decoder::new();
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        if available.is_empty() {
            return match decoder.is_between_messages() {
                true => Ok(None),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        let count = decoder.wanted(available);
        decoder.push(&available[..count]);
        input.consume(count);
        match decoder.next() {
            Ok(None) => {}
            Ok(text) => return Ok(text),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
}

/// Writes a message, with its header, to a blocking stream, and flushes it.
///
/// # Errors
/// The stream's. [`InvalidData`](io::ErrorKind::InvalidData): a value cannot be written as JSON; nothing was written then.
pub fn write(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes =
        encode(message).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    output.write_all(&bytes)?;
    output.flush()
}

/// The offset of the next `Content-Length:` header.
fn position_of_length(bytes: &[u8]) -> Option<usize> {
    let mut windows = bytes.windows(LENGTH.len());
    windows.position(|window| window.eq_ignore_ascii_case(LENGTH))
}

/// A number of bytes, in digits only: `-1`, `+1`, `1e3` and an empty value are not lengths. `None` also beyond 64 bits.
fn decimal(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// At most 60 bytes of the input, printable, for an error message.
fn excerpt(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(60)];
    let mut text = String::from_utf8_lossy(shown).escape_debug().to_string();
    if shown.len() < bytes.len() {
        text.push('…');
    }
    text
}

/// The bytes of one message: its header and its JSON.
///
/// # Errors
/// What the value's `Serialize` reports, such as a map with keys that are not strings.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::with_capacity(256);
    encode_into(&mut bytes, message)?;
    Ok(bytes)
}

/// As [`encode`], but appends the message to `bytes`: for a buffer that is reused. After an error `bytes` is unchanged.
///
/// # Errors
/// As [`encode`].
pub fn encode_into(bytes: &mut Vec<u8>, message: &impl Serialize) -> Result<(), serde_json::Error> {
    framed(bytes, |bytes| json::write(bytes, message))
}

/// Appends a whole message with a typed payload to `bytes`; the payload is serialized straight into the buffer. A payload
/// that serializes to `null`, such as [`Empty`](crate::message::Empty), is left out. After an error `bytes` is unchanged.
///
/// ```
/// use dapple_dap::codec::encode_envelope;
/// use dapple_dap::envelope::{Envelope, Kind};
/// use dapple_dap::types::{StoppedEventBody, StoppedEventReason};
///
/// let body = StoppedEventBody::new(StoppedEventReason::Step);
/// let stopped = Envelope { seq: 7, kind: Kind::Event { event: "stopped".into(), body: Some(&body) } };
/// let mut bytes = Vec::new();
/// encode_envelope(&mut bytes, &stopped)?;
/// assert!(bytes.ends_with(br#"{"seq":7,"type":"event","event":"stopped","body":{"reason":"step"}}"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// As [`encode`].
pub fn encode_envelope<P: Serialize>(
    bytes: &mut Vec<u8>,
    envelope: &Envelope<'_, P>,
) -> Result<(), serde_json::Error> {
    framed(bytes, |bytes| {
        write_json(bytes, envelope.seq, &envelope.kind, json::write)
    })
}

/// The JSON of a message.
pub(crate) fn envelope_text<P: Serialize>(
    envelope: &Envelope<'_, P>,
) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    write_json(&mut bytes, envelope.seq, &envelope.kind, json::write)?;
    Ok(text(bytes))
}

/// JSON that was written here, so it is UTF-8.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// As [`encode_envelope`], for a payload that is JSON already, which cannot fail.
#[cfg(feature = "transport")]
pub(crate) fn encode_outgoing(bytes: &mut Vec<u8>, seq: i64, message: &Kind<'_, Raw>) {
    let Ok(()) = framed(bytes, |bytes| write_json(bytes, seq, message, copy_raw));
}

/// The JSON of a message whose payload is JSON already.
#[cfg(feature = "transport")]
pub(crate) fn outgoing_text(seq: i64, message: &Kind<'_, Raw>) -> String {
    let payload = message.payload().map_or(0, |raw| raw.text().len());
    let mut bytes = Vec::with_capacity(128 + payload);
    let Ok(()) = write_json(&mut bytes, seq, message, copy_raw);
    text(bytes)
}

#[cfg(feature = "transport")]
fn copy_raw(bytes: &mut Vec<u8>, raw: &Raw) -> Result<(), std::convert::Infallible> {
    bytes.extend_from_slice(raw.text().as_bytes());
    Ok(())
}

/// Appends the JSON of a message, whose payload `write` appends. A payload that is `null` is left out. After an error `bytes` has
/// a part of the message.
fn write_json<P, E>(
    bytes: &mut Vec<u8>,
    seq: i64,
    kind: &Kind<'_, P>,
    write: impl FnOnce(&mut Vec<u8>, &P) -> Result<(), E>,
) -> Result<(), E> {
    bytes.extend_from_slice(b"{\"seq\":");
    json::write_integer(bytes, seq);
    let key = match kind {
        Kind::Request { command, .. } => {
            bytes.extend_from_slice(b",\"type\":\"request\",\"command\":");
            json::write_string(bytes, command);
            &b",\"arguments\":"[..]
        }
        Kind::Response {
            request_seq,
            success,
            command,
            message,
            ..
        } => {
            bytes.extend_from_slice(b",\"type\":\"response\",\"request_seq\":");
            json::write_integer(bytes, *request_seq);
            bytes.extend_from_slice(match success {
                true => b",\"success\":true,\"command\":",
                false => b",\"success\":false,\"command\":",
            });
            json::write_string(bytes, command);
            if let Some(message) = message {
                bytes.extend_from_slice(b",\"message\":");
                json::write_string(bytes, message);
            }
            &b",\"body\":"[..]
        }
        Kind::Event { event, .. } => {
            bytes.extend_from_slice(b",\"type\":\"event\",\"event\":");
            json::write_string(bytes, event);
            &b",\"body\":"[..]
        }
    };
    if let Some(payload) = kind.payload() {
        let before = bytes.len();
        bytes.extend_from_slice(key);
        write(bytes, payload)?;
        if &bytes[before + key.len()..] == b"null" {
            bytes.truncate(before);
        }
    }
    bytes.push(b'}');
    Ok(())
}

/// Appends a header and the body that `write` appends. After an error `bytes` is unchanged.
fn framed<E>(
    bytes: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    // Room for a length of three digits, which most messages have. If the length has another number of digits, the body is moved.
    const GUESS: &[u8] = b"Content-Length: 100\r\n\r\n";
    let start = bytes.len();
    let body = start + GUESS.len();
    bytes.extend_from_slice(GUESS);
    if let Err(error) = write(bytes) {
        bytes.truncate(start);
        return Err(error);
    }
    let mut header = Vec::with_capacity(GUESS.len() + 17);
    write_header(&mut header, bytes.len() - body);
    if header.len() == GUESS.len() {
        bytes[start..body].copy_from_slice(&header);
    } else {
        bytes.splice(start..body, header);
    }
    Ok(())
}

/// Writes the header block for a body of `length` bytes.
pub(crate) fn write_header(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend_from_slice(b"Content-Length: ");
    json::write_integer(bytes, length);
    bytes.extend_from_slice(b"\r\n\r\n");
}
