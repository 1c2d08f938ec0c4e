//! The debuggee's memory, in pieces that fit the stub's packets.

use super::{Client, not_supported};
use crate::connection::Deadline;
use crate::error::{Error, Result};
use crate::features::Feature;
use crate::hex;
use crate::packet::encoded_length;

/// How a command is written before its data: the longest `X` with an address, a length and punctuation.
const HEAD: usize = 1 + 16 + 1 + 16 + 1;

impl Client {
    /// Reads memory (`x` if the stub has it, else `m`). Gives how many bytes were read; that is less than asked for where the rest isn't readable.
    ///
    /// # Errors
    ///
    /// If nothing could be read: those of [`Client::query`], [`Error::Unexpected`] and [`Error::NotSupported`]. Errors of the connection in any case.
    pub fn read_memory(&mut self, address: u64, buffer: &mut [u8]) -> Result<usize> {
        let whole = self.whole_deadline();
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.checked_add(done as u64) else {
                break;
            };
            let (packet, asked) = self.reading(at, rest.len());
            let deadline = self.next_deadline(whole);
            let read = match self.read_piece(&packet, asked, deadline) {
                Ok(read) => read,
                Err(Error::Stub { .. }) if done > 0 => break,
                Err(error) => return Err(error),
            };
            if let Some(part) = rest.get_mut(..read.len()) {
                part.copy_from_slice(&read);
            }
            done += read.len();
            if read.len() < asked {
                break;
            }
        }
        Ok(done)
    }

    /// The packet that reads memory, and for how many bytes at most it is.
    pub(super) fn reading(&self, address: u64, length: usize) -> (String, usize) {
        let (letter, most) = match self.has(Feature::BinaryUpload) {
            // A byte may take two when it is sent.
            true => ('x', self.room().saturating_sub(1) / 2),
            false => ('m', self.room() / 2),
        };
        let length = length.min(most.max(1));
        (format!("{letter}{address:x},{length:x}"), length)
    }

    /// Reads at most `length` bytes, by a packet.
    fn read_piece(&mut self, packet: &str, length: usize, deadline: Deadline) -> Result<Vec<u8>> {
        let asked = packet.as_bytes();
        let answer = self
            .query_until(asked, deadline)?
            .ok_or_else(|| not_supported(asked))?;
        let read = match self.has(Feature::BinaryUpload) {
            true => answer.strip_prefix(b"b").map(<[u8]>::to_vec),
            false => hex::decode(&answer),
        };
        match read {
            Some(read) if read.len() <= length => Ok(read),
            Some(read) => Err(Error::wrong(
                asked,
                format!("{} bytes of memory", read.len()),
            )),
            None => Err(Error::unexpected(asked, &answer)),
        }
    }

    /// Writes memory (`X` if the stub has it, else `M`). Gives how many bytes were written; that is less than asked for where the rest isn't writable.
    ///
    /// # Errors
    ///
    /// If nothing could be written: those of [`Client::command`] and [`Error::NotSupported`]. Errors of the connection in any case.
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<usize> {
        let whole = self.whole_deadline();
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.checked_add(done as u64) else {
                break;
            };
            let deadline = self.next_deadline(whole);
            match self.write_piece(at, rest, deadline) {
                Ok(written) => done += written,
                Err(Error::Stub { .. }) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Writes as much as fits one packet.
    fn write_piece(&mut self, address: u64, bytes: &[u8], deadline: Deadline) -> Result<usize> {
        let room = self.room().saturating_sub(HEAD).max(2);
        if !self.lacks_binary_write {
            let piece = escaped_prefix(bytes, room);
            let mut packet = format!("X{address:x},{:x}:", piece.len()).into_bytes();
            packet.extend_from_slice(piece);
            match self.query_until(&packet, deadline)? {
                Some(answer) if answer == b"OK" => return Ok(piece.len()),
                Some(answer) => return Err(Error::unexpected(&packet, &answer)),
                None => self.lacks_binary_write = true,
            }
        }
        let piece = bytes.get(..room / 2).unwrap_or(bytes);
        let packet = format!("M{address:x},{:x}:{}", piece.len(), hex::encode(piece));
        match self.query_until(packet.as_bytes(), deadline)? {
            Some(answer) if answer == b"OK" => Ok(piece.len()),
            Some(answer) => Err(Error::unexpected(packet.as_bytes(), &answer)),
            None => Err(not_supported(packet.as_bytes())),
        }
    }
}

/// The bytes at the front that take at most `room` bytes when they are sent; one at least.
fn escaped_prefix(bytes: &[u8], room: usize) -> &[u8] {
    let mut length = 0;
    let count = bytes
        .iter()
        .take_while(|byte| {
            length += encoded_length(**byte);
            length <= room
        })
        .count();
    bytes.get(..count.max(1)).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_counted_with_their_escapes() {
        assert_eq!(escaped_prefix(b"ab##cd", 5), b"ab#");
        assert_eq!(escaped_prefix(b"####", 1), b"#");
        assert_eq!(escaped_prefix(b"ab", 9), b"ab");
        assert_eq!(escaped_prefix(b"", 9), b"");
    }
}
