//! What functions agree on with their callers (ABI §3.2).

use crate::registers::RBP;

/// DWARF numbers of the registers that a function must leave as it found them, besides the stack pointer: rbx, rbp, r12 to r15
/// (ABI §3.2.1).
pub const CALLEE_SAVED: [u16; 6] = [3, RBP, 12, 13, 14, 15];

/// Whether a register, by its DWARF number, is one of [`CALLEE_SAVED`]. Unwinding asks for each register of each frame.
#[inline]
pub const fn is_callee_saved(register: u16) -> bool {
    const BITS: u32 = {
        let (mut bits, mut index) = (0, 0);
        while index < CALLEE_SAVED.len() {
            bits |= 1 << CALLEE_SAVED[index];
            index += 1;
        }
        bits
    };
    register < 32 && BITS >> register & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_callee_saved_where_the_list_has_it() {
        for register in (0..100).chain([u16::MAX]) {
            assert_eq!(
                is_callee_saved(register),
                CALLEE_SAVED.contains(&register),
                "{register}"
            );
        }
    }
}
