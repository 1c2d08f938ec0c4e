//! The state of a thread's units for floating-point numbers and vectors: on x86-64 in XSAVE's format ([`super::extended`]), on other machines in
//! one of Dapple's own: 32 registers of 16 bytes each, then the words of control of 8 bytes.

use super::extended;
use super::{Vectors, named};
use crate::Machine;

/// The size of a register in Dapple's own format.
const SIZE: usize = 16;
/// How many there are.
const COUNT: usize = 32;
/// Where the words of control begin.
const CONTROLS: usize = SIZE * COUNT;
/// The number of Dapple's own for the first word of control.
pub const FIRST_CONTROL: u16 = 0x2010;

const MISSING: &str = "is not among what the system gives of this thread";

/// The names of the words of control, each with its length in bits.
pub const fn controls(machine: Machine) -> &'static [(&'static str, u64)] {
    match machine {
        Machine::X86_64 => &[],
        Machine::Aarch64 => &[("fpsr", 32), ("fpcr", 32)],
        Machine::Riscv64 => &[("fflags", 32), ("frm", 32), ("fcsr", 32)],
        Machine::Arm => &[("fpscr", 32)],
    }
}

/// A state of a machine other than x86-64 in which all is 0.
pub fn empty(machine: Machine) -> Vec<u8> {
    vec![0; CONTROLS + 8 * controls(machine).len()]
}

/// Where a register is in Dapple's own format.
struct Place {
    /// The offset of its bytes, and how many they are.
    at: usize,
    size: usize,
    /// Which bits of these the register is: those of `mask`, moved up by `shift`.
    shift: u32,
    mask: u128,
}

impl Place {
    fn whole(at: usize, size: usize) -> Place {
        Place {
            at,
            size,
            shift: 0,
            mask: u128::MAX,
        }
    }

    /// All bits of the bytes.
    fn word(&self, state: &[u8]) -> Option<u128> {
        let bytes = state.get(self.at..self.at + self.size)?;
        let mut wide = [0; SIZE];
        wide[..self.size].copy_from_slice(bytes);
        Some(u128::from_le_bytes(wide))
    }
}

fn place(machine: Machine, number: u16) -> Option<Place> {
    if machine.vectors().contains(&number) {
        let at = SIZE * usize::from(number - machine.vectors().start);
        return Some(Place::whole(at, machine.vector_size()));
    }
    let index = usize::from(number.checked_sub(FIRST_CONTROL)?);
    if index >= controls(machine).len() {
        return None;
    }
    let word = |index| Place::whole(CONTROLS + 8 * index, 8);
    // Only fcsr is stored: the other two are its lowest bits (RISC-V ISA Manual, "Floating-Point Control and Status Register").
    let (shift, mask) = match (machine, index) {
        (Machine::Riscv64, 0) => (0, 0x1f),
        (Machine::Riscv64, 1) => (5, 0x7),
        _ => return Some(word(index)),
    };
    Some(Place {
        shift,
        mask,
        ..word(2)
    })
}

/// Whether the state has a register.
pub fn has(machine: Machine, number: u16) -> bool {
    match machine {
        Machine::X86_64 => extended::has(number),
        _ => place(machine, number).is_some(),
    }
}

/// The value of a register.
///
/// # Errors
/// Why there is no value: the rest of a sentence that begins with the register.
pub fn bits(machine: Machine, state: &[u8], number: u16) -> Result<u128, &'static str> {
    if machine == Machine::X86_64 {
        return extended::bits(state, number);
    }
    let place = place(machine, number).ok_or(MISSING)?;
    let word = place.word(state).ok_or(MISSING)?;
    Ok(word >> place.shift & place.mask)
}

/// Changes the value of a register.
///
/// # Errors
/// As [`bits`], or the register doesn't accept this value.
pub fn set_bits(
    machine: Machine,
    state: &mut [u8],
    number: u16,
    value: u128,
) -> Result<(), &'static str> {
    if machine == Machine::X86_64 {
        return extended::set_bits(state, number, value);
    }
    let place = place(machine, number).ok_or(MISSING)?;
    let mut word = place.word(state).ok_or(MISSING)?;
    if value & !place.mask != 0 {
        return Err("doesn't have that many bits");
    }
    word &= !(place.mask << place.shift);
    word |= value << place.shift;
    let there = &mut state[place.at..place.at + place.size];
    there.copy_from_slice(&word.to_le_bytes()[..place.size]);
    Ok(())
}

/// The registers themselves; `None` if the state is cut short.
pub fn vectors(machine: Machine, state: &[u8]) -> Option<Vectors> {
    if machine == Machine::X86_64 {
        return extended::Extended::parse(state).map(|it| widened(&it.xmm));
    }
    let mut vectors = Vectors::default();
    for (vector, number) in vectors.iter_mut().zip(machine.vectors()) {
        *vector = bits(machine, state, number).ok()?;
    }
    Some(vectors)
}

/// Replaces the registers, but for the words of control and what else a state has.
pub fn set_vectors(machine: Machine, state: &mut [u8], vectors: &Vectors) {
    if machine == Machine::X86_64 {
        return extended::set_vectors(state, &narrowed(vectors));
    }
    for (vector, number) in vectors.iter().zip(machine.vectors()) {
        let _ = set_bits(machine, state, number, *vector);
    }
}

/// x86-64's sixteen registers as those of any machine.
pub fn widened(vectors: &[u128; 16]) -> Vectors {
    let mut wide = Vectors::default();
    wide[..16].copy_from_slice(vectors);
    wide
}

/// The first sixteen: all that x86-64 has.
pub fn narrowed(vectors: &Vectors) -> [u128; 16] {
    vectors.first_chunk().copied().unwrap_or_default()
}

/// The value of the flags' register of a thread; the numbers are those of [`named`].
pub fn is_flags(machine: Machine, number: u16) -> bool {
    match machine {
        Machine::X86_64 => number == named::RFLAGS,
        _ => number == named::others::FLAGS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value that fits in each register, other than that of its neighbours.
    fn small(number: u16) -> u128 {
        match number.checked_sub(FIRST_CONTROL) {
            None => number.into(),
            Some(index) => u128::from(index) + 3,
        }
    }

    #[test]
    fn parts_of_a_word_of_control_agree_with_it() {
        let machine = Machine::Riscv64;
        let [fflags, frm, fcsr] = [0, 1, 2].map(|index| FIRST_CONTROL + index);
        let mut state = empty(machine);
        let all = |state: &[u8]| [fflags, frm, fcsr].map(|it| bits(machine, state, it));
        set_bits(machine, &mut state, fcsr, 0x23).expect("set");
        assert_eq!(all(&state), [Ok(3), Ok(1), Ok(0x23)]);
        set_bits(machine, &mut state, frm, 2).expect("set");
        assert_eq!(all(&state), [Ok(3), Ok(2), Ok(0x43)]);
        set_bits(machine, &mut state, fflags, 0x1f).expect("set");
        assert_eq!(all(&state), [Ok(0x1f), Ok(2), Ok(0x5f)]);
        let refused = set_bits(machine, &mut state, frm, 9);
        assert_eq!(refused, Err("doesn't have that many bits"));
        assert_eq!(all(&state), [Ok(0x1f), Ok(2), Ok(0x5f)]);
    }

    #[test]
    fn what_is_set_is_read_again() {
        for machine in [Machine::Aarch64, Machine::Riscv64] {
            let mut state = empty(machine);
            let numbers = machine.vectors().chain(FIRST_CONTROL..FIRST_CONTROL + 2);
            for number in numbers.clone() {
                assert!(has(machine, number));
                set_bits(machine, &mut state, number, small(number)).expect("set");
            }
            for number in numbers {
                assert_eq!(bits(machine, &state, number), Ok(small(number)));
            }
            let mut all = vectors(machine, &state).expect("whole");
            assert_eq!(all[31], u128::from(machine.vectors().end - 1));
            all[31] = 7;
            set_vectors(machine, &mut state, &all);
            assert_eq!(bits(machine, &state, machine.vectors().end - 1), Ok(7));
            assert!(!has(machine, FIRST_CONTROL + 3) && !has(machine, 0));
            assert!(bits(machine, &state[..8], machine.vectors().start + 1).is_err());
        }
    }
}
