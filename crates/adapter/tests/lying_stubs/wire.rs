//! Packets of gdb's remote protocol as they are on the wire, in a reading of its own, so that a stub of the tests doesn't share the client's mistakes.

/// What one side sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Packet(Vec<u8>),
    Interrupt,
}

/// Reads the bytes of one direction.
#[derive(Debug, Default)]
pub struct Wire {
    /// The bytes of a packet so far, with its frame.
    open: Vec<u8>,
}

impl Wire {
    /// Takes the next bytes. Returns what they complete; acknowledgements are left out.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for byte in bytes {
            match (self.open.is_empty(), byte) {
                (true, b'$') => self.open.push(*byte),
                (true, 3) => pieces.push(Piece::Interrupt),
                (true, _) => {}
                (false, _) => {
                    self.open.push(*byte);
                    let end = self.open.len().checked_sub(3);
                    if end.is_some_and(|end| self.open[end] == b'#') {
                        let end = self.open.len() - 3;
                        pieces.push(Piece::Packet(plain(&self.open[1..end])));
                        self.open.clear();
                    }
                }
            }
        }
        pieces
    }
}

/// A packet's body without escapes and repetitions.
fn plain(body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'}' => plain.extend(bytes.next().map(|escaped| escaped ^ 0x20)),
            b'*' => {
                let count = bytes.next().map_or(0, |count| count.saturating_sub(29));
                let last = plain.last().copied().unwrap_or(0);
                plain.extend(std::iter::repeat_n(last, count.into()));
            }
            byte => plain.push(*byte),
        }
    }
    plain
}

/// A packet with this body.
pub fn framed(body: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in body {
        match byte {
            b'#' | b'$' | b'}' | b'*' => escaped.extend([b'}', byte ^ 0x20]),
            byte => escaped.push(*byte),
        }
    }
    let sum = escaped
        .iter()
        .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    let mut packet = vec![b'$'];
    packet.append(&mut escaped);
    packet.extend(format!("#{sum:02x}").bytes());
    packet
}
