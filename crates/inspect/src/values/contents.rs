//! A value's bytes: from memory, registers and constants, whole or in pieces.

use super::{Contents, Reader};
use crate::Address;
use crate::frame::{PhysicalFrame, SharedFrame};
use dapple_symbols::location::{Piece, Place, Unavailable};

/// The most bytes that are read at once. Of a larger value, only parts can be read.
const MAX_BYTES: usize = 1 << 20;

impl Contents {
    /// The contents of a value of `size` bytes (if known) at the pieces that [`dapple_symbols::Module::locate`] has found. If one piece in
    /// memory has the whole value, they are [`Contents::Memory`].
    pub fn of_pieces(pieces: Vec<Piece>, size: Option<u64>, frame: &SharedFrame) -> Contents {
        let has_all = |piece: &Piece| match (piece.bits, size) {
            (Some(bits), Some(size)) => bits >= size.saturating_mul(8),
            _ => true,
        };
        match pieces.as_slice() {
            [] => Contents::Unavailable(Unavailable::OptimizedOut),
            [only] if matches!(only.place, Place::Memory(_)) && has_all(only) => match only.place {
                Place::Memory(address) => Contents::Memory(Address(address)),
                _ => Contents::Unavailable(Unavailable::OptimizedOut),
            },
            all => {
                let reasons = all.iter().map(|piece| match &piece.place {
                    Place::Unavailable(reason) => Some(reason),
                    _ => None,
                });
                // If no piece is available, the value is unavailable, for the first piece's reason.
                match reasons.collect::<Option<Vec<_>>>() {
                    Some(reasons) => Contents::Unavailable(reasons[0].clone()),
                    None => Contents::Pieces(pieces.into(), frame.clone()),
                }
            }
        }
    }

    /// As [`Contents::of_pieces`], but for a location that doesn't depend on a frame, which has to be a single piece.
    pub(super) fn of_static(pieces: Vec<Piece>) -> Contents {
        let only = match <[Piece; 1]>::try_from(pieces) {
            Ok([only]) => only.place,
            Err(_) => Place::Unavailable(Unavailable::OptimizedOut),
        };
        match only {
            Place::Memory(address) => Contents::Memory(Address(address)),
            Place::Bytes(bytes) => Contents::Bytes(bytes.into()),
            Place::Unavailable(reason) => Contents::Unavailable(reason),
            Place::Register { .. } | Place::ImplicitPointer { .. } => {
                Contents::Unavailable(Unavailable::OptimizedOut)
            }
        }
    }

    /// The address, if the whole value is in memory at one address.
    pub fn address(&self) -> Option<Address> {
        match self {
            Contents::Memory(address) => Some(*address),
            _ => None,
        }
    }

    /// The `size` bytes at `offset`.
    pub(crate) fn part(&self, offset: u64, size: u64) -> Contents {
        match self {
            Contents::Memory(address) => Contents::Memory(Address(address.0.wrapping_add(offset))),
            Contents::Pieces(pieces, frame) => match part_of_pieces(pieces, offset, size) {
                Ok(pieces) => Contents::of_pieces(pieces, Some(size), frame),
                Err(reason) => Contents::Unavailable(reason),
            },
            Contents::Bytes(bytes) => {
                let end = offset
                    .checked_add(size)
                    .and_then(|end| usize::try_from(end).ok());
                let part = end.and_then(|end| bytes.get(offset as usize..end));
                match part {
                    Some(part) => Contents::Bytes(part.into()),
                    None => Contents::Unavailable(Unavailable::OptimizedOut),
                }
            }
            Contents::Number(_) => {
                Contents::Unavailable(Unavailable::Unsupported("a number has no parts".into()))
            }
            Contents::Made(_) => Contents::Unavailable(no_bytes()),
            Contents::Unavailable(reason) => Contents::Unavailable(reason.clone()),
        }
    }
}

fn part_of_pieces(pieces: &[Piece], offset: u64, size: u64) -> Result<Vec<Piece>, Unavailable> {
    let mut skip = offset.saturating_mul(8);
    let mut take = size.saturating_mul(8);
    let mut part = Vec::new();
    for piece in pieces {
        let length = piece.bits.unwrap_or(u64::MAX);
        if skip >= length {
            skip -= length;
            continue;
        }
        let bits = take.min(length - skip);
        let whole_bytes = || {
            if skip.is_multiple_of(8) {
                Ok(skip / 8)
            } else {
                Err(Unavailable::Unsupported(
                    "its pieces are cut inside a byte".into(),
                ))
            }
        };
        let place = match &piece.place {
            Place::Memory(address) => Place::Memory(address.wrapping_add(whole_bytes()?)),
            Place::Register {
                register,
                bit_offset,
            } => Place::Register {
                register: *register,
                bit_offset: bit_offset.saturating_add(skip),
            },
            Place::Bytes(bytes) => {
                let start = usize::try_from(whole_bytes()?).unwrap_or(usize::MAX);
                Place::Bytes(bytes.get(start..).unwrap_or_default().to_vec())
            }
            Place::ImplicitPointer { .. } if skip == 0 && bits == 64 => piece.place.clone(),
            Place::ImplicitPointer { .. } => Place::Unavailable(no_address()),
            Place::Unavailable(reason) => Place::Unavailable(reason.clone()),
        };
        part.push(Piece {
            bits: Some(bits),
            place,
        });
        skip = 0;
        take -= bits;
        if take == 0 {
            break;
        }
    }
    Ok(part)
}

impl Reader<'_> {
    /// The first `size` bytes of `contents`.
    pub fn bytes(&self, contents: &Contents, size: u64) -> Result<Vec<u8>, Unavailable> {
        let length = usize::try_from(size).unwrap_or(usize::MAX);
        if length > MAX_BYTES {
            return Err(Unavailable::Unsupported(format!(
                "{size} bytes are too large to read"
            )));
        }
        let mut buffer = vec![0; length];
        match contents {
            Contents::Memory(address) => self
                .memory
                .read(*address, &mut buffer)
                .map_err(|at| Unavailable::Unreadable(at.0))?,
            Contents::Pieces(pieces, frame) => self.assemble(pieces, frame, &mut buffer)?,
            Contents::Bytes(bytes) => {
                let bytes = bytes.get(..length).ok_or(Unavailable::OptimizedOut)?;
                buffer.copy_from_slice(bytes);
            }
            Contents::Number(number) => {
                let bytes = number.to_bytes();
                let shared = length.min(bytes.len());
                buffer[..shared].copy_from_slice(&bytes[..shared]);
            }
            Contents::Made(_) if length == 0 => {}
            Contents::Made(_) => return Err(no_bytes()),
            Contents::Unavailable(reason) => return Err(reason.clone()),
        }
        Ok(buffer)
    }

    fn assemble(
        &self,
        pieces: &[Piece],
        frame: &PhysicalFrame,
        buffer: &mut [u8],
    ) -> Result<(), Unavailable> {
        let total = buffer.len() as u64 * 8;
        let mut at = 0;
        for piece in pieces {
            let bits = piece.bits.unwrap_or(u64::MAX).min(total - at);
            if bits == 0 {
                continue;
            }
            let (source, skip) = self.piece_bytes(&piece.place, bits, frame)?;
            copy_bits(&source, skip, buffer, at, bits);
            at += bits;
        }
        if at < total {
            return Err(Unavailable::OptimizedOut);
        }
        Ok(())
    }

    /// The bytes that contain a piece, and the number of bits in them before the piece.
    fn piece_bytes(
        &self,
        place: &Place,
        bits: u64,
        frame: &PhysicalFrame,
    ) -> Result<(Vec<u8>, u64), Unavailable> {
        match place {
            Place::Memory(address) => {
                let mut bytes = vec![0; bits.div_ceil(8) as usize];
                self.memory
                    .read(Address(*address), &mut bytes)
                    .map_err(|at| Unavailable::Unreadable(at.0))?;
                Ok((bytes, 0))
            }
            Place::Register {
                register,
                bit_offset,
            } => {
                let index = frame.registers.machine().vector_index(*register);
                let bytes = match (frame.vectors.as_deref(), index) {
                    (Some(vectors), Some(index)) => vectors[index].to_le_bytes().to_vec(),
                    _ => frame
                        .registers
                        .get(*register)
                        .ok_or(Unavailable::RegisterLost(*register))?
                        .to_le_bytes()
                        .to_vec(),
                };
                let width = bytes.len() as u64 * 8;
                if bit_offset.saturating_add(bits) > width {
                    return Err(Unavailable::Unsupported("wider than its register".into()));
                }
                Ok((bytes, *bit_offset))
            }
            Place::Bytes(bytes) => {
                // Compilers write constants in as few bytes as possible: the bytes that are left out are zero.
                let mut bytes = bytes.clone();
                bytes.resize(bits.div_ceil(8) as usize, 0);
                Ok((bytes, 0))
            }
            Place::ImplicitPointer { .. } => Err(no_address()),
            Place::Unavailable(reason) => Err(reason.clone()),
        }
    }
}

fn no_bytes() -> Unavailable {
    Unavailable::Unsupported("what an expression makes has no bytes of its own".into())
}

fn no_address() -> Unavailable {
    Unavailable::Unsupported("points to something that has no address".into())
}

/// Copies `bits` bits, from bit `skip` of `source` to bit `at` of `target`. Bit 0 is the least significant one of the first byte. The bits
/// in `target` must be zero before.
fn copy_bits(source: &[u8], skip: u64, target: &mut [u8], at: u64, bits: u64) {
    if skip.is_multiple_of(8) && at.is_multiple_of(8) && bits.is_multiple_of(8) {
        let (from, to, length) = ((skip / 8) as usize, (at / 8) as usize, (bits / 8) as usize);
        target[to..to + length].copy_from_slice(&source[from..from + length]);
        return;
    }
    for bit in 0..bits {
        let from = skip + bit;
        let to = at + bit;
        let set = source[(from / 8) as usize] >> (from % 8) & 1;
        target[(to / 8) as usize] |= set << (to % 8);
    }
}

/// The `size` bits from `offset` of little-endian `bytes`, as a number.
pub fn extract_bits(bytes: &[u8], offset: u64, size: u64) -> u128 {
    let mut value = 0u128;
    for bit in 0..size.min(128) {
        let from = offset + bit;
        let byte = bytes.get((from / 8) as usize).copied().unwrap_or(0);
        value |= u128::from(byte >> (from % 8) & 1) << bit;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_copied_across_bytes() {
        let mut target = [0; 2];
        copy_bits(&[0b1010_0000, 0b11], 5, &mut target, 3, 5);
        assert_eq!(target, [0b1110_1000, 0]);
        assert_eq!(extract_bits(&[0b1010_0000, 0b11], 5, 5), 0b11101);
    }

    #[test]
    fn what_no_piece_covers_is_optimized_out() {
        let piece = |bits| Piece {
            bits,
            place: Place::Memory(0x100),
        };
        let frame = SharedFrame::from(PhysicalFrame {
            level: 0,
            pc: Address(0),
            lookup: Address(0),
            registers: dapple_arch::registers::Registers::of(dapple_arch::Machine::X86_64),
            cfa: None,
            module: None,
            signal_trampoline: false,
            vectors: None,
            unsaved: None,
        });
        let of = |bits, size| Contents::of_pieces(vec![piece(bits)], size, &frame);
        // A slice's pointer, whose length is optimized out.
        let slice = of(Some(64), Some(16));
        assert_eq!(slice.address(), None);
        assert_eq!(slice.part(0, 8).address(), Some(Address(0x100)));
        assert!(matches!(
            slice.part(8, 8),
            Contents::Unavailable(Unavailable::OptimizedOut)
        ));
        assert!(matches!(slice.part(4, 8), Contents::Pieces(..)));
        assert_eq!(of(Some(128), Some(16)).address(), Some(Address(0x100)));
        assert_eq!(of(None, Some(16)).address(), Some(Address(0x100)));
    }

    #[test]
    fn parts_of_pieces_keep_their_places() {
        let pieces = [
            Piece {
                bits: Some(64),
                place: Place::Memory(0x100),
            },
            Piece {
                bits: Some(64),
                place: Place::Register {
                    register: 3,
                    bit_offset: 0,
                },
            },
        ];
        let part = part_of_pieces(&pieces, 4, 8).expect("whole bytes");
        assert_eq!(
            part,
            [
                Piece {
                    bits: Some(32),
                    place: Place::Memory(0x104),
                },
                Piece {
                    bits: Some(32),
                    place: Place::Register {
                        register: 3,
                        bit_offset: 0,
                    },
                },
            ]
        );
    }
}
