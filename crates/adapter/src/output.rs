//! Decodes the program's output: chunks may end inside a character, but the protocol carries whole characters.
//!
//! An incomplete character at the end of a chunk waits for the next chunk. Invalid UTF-8 becomes replacement characters; it isn't left out.

use std::str;

/// Turns one stream's chunks into text.
#[derive(Debug, Default)]
pub struct TextStream {
    /// The beginning of a character: at most three bytes.
    pending: Vec<u8>,
}

impl TextStream {
    /// Adds a chunk. Returns the text of all complete characters.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - unfinished(&self.pending);
        let rest = self.pending.split_off(whole);
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending = rest;
        text
    }

    /// The remaining text at the end of the stream.
    pub fn finish(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending.clear();
        text
    }
}

/// The number of bytes at the end that may begin a character.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    (0..tail.len())
        .find(|&start| {
            matches!(str::from_utf8(&tail[start..]), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .map_or(0, |start| tail.len() - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_cut_anywhere_arrives_whole() {
        let text = "aé€😀z";
        for cut in 0..=text.len() {
            for second in cut..=text.len() {
                let mut stream = TextStream::default();
                let bytes = text.as_bytes();
                let mut got = stream.push(&bytes[..cut]);
                got += &stream.push(&bytes[cut..second]);
                got += &stream.push(&bytes[second..]);
                assert_eq!(got, text, "cut at {cut} and {second}");
                assert_eq!(stream.finish(), "");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_never_held_back() {
        let mut stream = TextStream::default();
        assert_eq!(stream.push(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(stream.push(b"\x80\x80"), "\u{fffd}\u{fffd}");
        assert_eq!(stream.push(b"ok\xe2\x82"), "ok");
        assert_eq!(stream.push(b"!"), "\u{fffd}!");
    }

    #[test]
    fn the_end_of_the_stream_gives_up_waiting() {
        let mut stream = TextStream::default();
        assert_eq!(stream.push(b"x\xf0\x9f"), "x");
        assert_eq!(stream.finish(), "\u{fffd}");
        assert_eq!(stream.finish(), "");
    }
}
