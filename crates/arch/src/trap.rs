//! The instruction of a software breakpoint.

/// `int3`, in one byte (Intel SDM vol. 2, INT n/INTO/INT3).
pub const TRAP: u8 = 0xcc;
