//! The state of a thread's x87, SSE and AVX units in the kernel's format, which is that of the instruction XSAVE (Intel SDM vol. 1, 13.4).

use super::named::{STACK as X87, UPPER, VECTORS};
use crate::extended_floats::from_extended;

/// Offsets in that format, in bytes.
const MXCSR: usize = 24;
pub(super) const STACK: usize = 32;
pub(super) const XMM: usize = 160;
/// Offset of a bit mask of the components that the system saves. Linux stores it in bytes that the CPU leaves unused (`NT_X86_XSTATE`).
pub(super) const KEPT: usize = 464;
/// Offset of a bit mask of the components that aren't in their initial state (XSTATE_BV).
pub(super) const IN_USE: usize = 512;
pub(super) const YMM_UPPER: usize = 576;
/// The bits of these masks for x87, SSE, and the upper halves of the AVX registers.
const FPU: u64 = 1;
const SSE: u64 = 1 << 1;
const AVX: u64 = 1 << 2;

/// The registers of these units.
#[derive(Debug, Clone, PartialEq)]
pub struct Extended {
    /// The low 16 bytes of the vector registers.
    pub xmm: [u128; 16],
    /// The upper 16 bytes of the AVX registers; `None` if the CPU has none.
    pub upper: Option<[u128; 16]>,
    /// SSE's control and status register.
    pub mxcsr: u32,
    /// The x87 register stack from its top; `None` for an empty register.
    pub stack: [Option<f64>; 8],
    /// The x87 control word.
    pub control: u16,
    /// The x87 status word.
    pub status: u16,
}

impl Extended {
    /// Parses the format; `None` if it is cut short.
    pub fn parse(bytes: &[u8]) -> Option<Extended> {
        let kept = word(bytes, KEPT)?;
        let upper = match word(bytes, IN_USE) {
            Some(in_use) if kept & AVX != 0 => match in_use & AVX {
                0 => Some([0; 16]),
                _ => Some(vectors(bytes, YMM_UPPER)?),
            },
            _ => None,
        };
        let status = half(bytes, 2)?;
        // The tag word has one bit per physical register, not per position from the stack's top.
        let there = *bytes.get(4)?;
        let top = usize::from(status >> 11 & 7);
        let mut stack = [None; 8];
        for (index, value) in stack.iter_mut().enumerate() {
            let register = bytes.get(STACK + 16 * index..)?.first_chunk::<10>()?;
            let mut wide = [0; 16];
            wide[..10].copy_from_slice(register);
            let is_there = there >> ((top + index) % 8) & 1 == 1;
            *value = is_there.then(|| from_extended(u128::from_le_bytes(wide)));
        }
        Some(Extended {
            xmm: vectors(bytes, XMM)?,
            upper,
            mxcsr: u32::from_le_bytes(*bytes.get(MXCSR..)?.first_chunk()?),
            stack,
            control: half(bytes, 0)?,
            status,
        })
    }
}

/// A register's offset in the format, its length in bytes, and its component's bit.
fn place(number: u16) -> Option<(usize, usize, u64)> {
    let of = |first: u16| usize::from(number - first);
    Some(match number {
        _ if VECTORS.contains(&number) => (XMM + 16 * of(VECTORS.start), 16, SSE),
        _ if UPPER.contains(&number) => (YMM_UPPER + 16 * of(UPPER.start), 16, AVX),
        _ if X87.contains(&number) => (STACK + 16 * of(X87.start), 10, FPU),
        64 => (MXCSR, 4, SSE),
        65 => (0, 2, FPU),
        66 => (2, 2, FPU),
        _ => return None,
    })
}

/// Whether the format contains a register.
pub fn has(number: u16) -> bool {
    place(number).is_some()
}

/// The value of a register.
///
/// # Errors
/// Why there is no value: the rest of a sentence that begins with the register.
pub fn bits(state: &[u8], number: u16) -> Result<u128, &'static str> {
    let missing = "is not among what the system gives of this thread";
    let (at, length, part) = place(number).ok_or(missing)?;
    if word(state, KEPT).ok_or(missing)? & part == 0 {
        return Err("is one that this processor has not");
    }
    if part == AVX && word(state, IN_USE).is_some_and(|in_use| in_use & AVX == 0) {
        return Ok(0);
    }
    if X87.contains(&number) {
        let status = half(state, 2).ok_or(missing)?;
        let there = *state.get(4).ok_or(missing)?;
        let register = (status >> 11) + (number - X87.start);
        if there >> (register % 8) & 1 == 0 {
            return Err("is empty");
        }
    }
    let bytes = state.get(at..at + length).ok_or(missing)?;
    let mut wide = [0; 16];
    wide[..length].copy_from_slice(bytes);
    Ok(u128::from_le_bytes(wide))
}

/// Changes the value of a register.
///
/// # Errors
/// As [`bits`], or the register doesn't accept this value.
pub fn set_bits(state: &mut [u8], number: u16, value: u128) -> Result<(), &'static str> {
    /// The upper half of `mxcsr` must be zero.
    const MXCSR_BITS: u128 = 0xffff;
    bits(state, number)?;
    let missing = "is not among what the system gives of this thread";
    let (at, length, part) = place(number).ok_or(missing)?;
    if at == MXCSR && value & !MXCSR_BITS != 0 {
        return Err("takes 16 bits only");
    }
    let in_use = word(state, IN_USE).ok_or(missing)?;
    if part == AVX && in_use & AVX == 0 {
        let upper = state.get_mut(YMM_UPPER..YMM_UPPER + 256).ok_or(missing)?;
        upper.fill(0);
    }
    let place = state.get_mut(at..at + length).ok_or(missing)?;
    for (byte, set) in place.iter_mut().zip(value.to_le_bytes()) {
        *byte = set;
    }
    let place = state.get_mut(IN_USE..IN_USE + 8).ok_or(missing)?;
    place.copy_from_slice(&(in_use | part).to_le_bytes());
    Ok(())
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn vectors(bytes: &[u8], at: usize) -> Option<[u128; 16]> {
    let (chunks, _) = bytes.get(at..at + 256)?.as_chunks::<16>();
    let mut vectors = [0; 16];
    for (vector, chunk) in vectors.iter_mut().zip(chunks) {
        *vector = u128::from_le_bytes(*chunk);
    }
    Some(vectors)
}

/// Sets the low 16 bytes of the vector registers in a state, as far as it has them.
pub fn set_vectors(state: &mut [u8], vectors: &[u128; 16]) {
    let places = state.iter_mut().skip(XMM);
    let bytes = vectors.iter().flat_map(|vector| vector.to_le_bytes());
    places.zip(bytes).for_each(|(to, from)| *to = from);
    if let Some(in_use) = word(state, IN_USE)
        && let Some(place) = state.get_mut(IN_USE..IN_USE + 8)
    {
        place.copy_from_slice(&(in_use | SSE).to_le_bytes());
    }
}

/// The top of the x87 register stack. `None`: the state is cut short.
pub fn x87_top(state: &[u8]) -> Option<[u8; 10]> {
    state.get(STACK..)?.first_chunk().copied()
}

/// Sets SSE's control and status register in a state.
///
/// # Errors
/// A clause that says why it can't be set.
pub fn set_mxcsr(state: &mut [u8], value: u32) -> Result<(), &'static str> {
    let place = state.get_mut(MXCSR..MXCSR + 4);
    let place = place.ok_or("the processor's state is cut short")?;
    place.copy_from_slice(&value.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read_and_set_in_their_places() {
        let mut state = vec![0; 832];
        state[KEPT] = 7;
        // The top of the x87 stack is register 5, and only that one isn't empty.
        state[2..4].copy_from_slice(&(5u16 << 11).to_le_bytes());
        state[4] = 1 << 5;
        assert_eq!(bits(&state, 33), Ok(0));
        assert_eq!(bits(&state, 34), Err("is empty"));
        assert_eq!(set_bits(&mut state, 34, 1), Err("is empty"));
        let all = [
            (33, 0x4000_c800_0000_0000_0000),
            (17, u128::MAX),
            (32, 3),
            (UPPER.start, 5),
            (UPPER.end - 1, 7),
            (64, 0x1f80),
            (65, 0x37f),
        ];
        for (number, value) in all {
            assert_eq!(set_bits(&mut state, number, value), Ok(()), "{number}");
        }
        for (number, value) in all {
            assert_eq!(bits(&state, number), Ok(value), "{number}");
        }
        assert_eq!(word(&state, IN_USE), Some(7));
        let parsed = Extended::parse(&state).expect("whole");
        assert_eq!(parsed.stack[0], Some(3.125));
        assert_eq!(parsed.upper.map(|upper| upper[15]), Some(7));
        assert_eq!(set_bits(&mut state, 64, 1 << 20), Err("takes 16 bits only"));
        state[KEPT] = 3;
        assert!(bits(&state, UPPER.start).is_err());
        assert!(bits(&state[..600], 17).is_ok());
        assert!(bits(&[], 17).is_err() && set_bits(&mut [], 17, 0).is_err());
        assert!(bits(&state, 3).is_err());
    }
}
