//! The state of a thread's x87, SSE and AVX units, as the kernel gives it: the format of the instruction XSAVE (Intel SDM vol. 1, 13.4).

use crate::values::from_extended;

/// Where the parts of that format begin, in bytes.
const MXCSR: usize = 24;
const STACK: usize = 32;
const XMM: usize = 160;
/// Which parts the system keeps; Linux puts that where the processor has nothing (`NT_X86_XSTATE`).
const KEPT: usize = 464;
/// Which parts are not as they are at the start.
const IN_USE: usize = 512;
const YMM_UPPER: usize = 576;
/// Of those two, the bit for the upper halves of the AVX registers.
const AVX: u64 = 1 << 2;

/// The registers of those units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Extended {
    /// The low 16 bytes of the vector registers.
    pub xmm: [u128; 16],
    /// The next 16 bytes; `None`: the processor has none.
    pub upper: Option<[u128; 16]>,
    pub mxcsr: u32,
    /// x87's stack from its top; `None`: nothing is in there.
    pub stack: [Option<f64>; 8],
    pub control: u16,
    pub status: u16,
}

impl Extended {
    /// Reads the format; `None` where it is cut short.
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
        // One bit for each register, whichever of them is the stack's top.
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
