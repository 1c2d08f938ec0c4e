//! The instruction of a software breakpoint.

/// `int3`, in one byte (Intel SDM vol. 2, INT n/INTO/INT3).
pub const TRAP: u8 = 0xcc;

/// A one-byte instruction that does nothing (`nop`): in place of a breakpoint instruction, threads go on to what is behind it.
pub const NOP: u8 = 0x90;
