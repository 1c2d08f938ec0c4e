//! What functions agree on with their callers (ABI §3.2).

use crate::registers::RBP;

/// DWARF numbers of the registers that a function must leave as it found them, besides the stack pointer: rbx, rbp, r12 to r15
/// (ABI §3.2.1).
pub const CALLEE_SAVED: [u16; 6] = [3, RBP, 12, 13, 14, 15];
