//! The registers of gdb's target descriptions (gdb manual, "i386 Features": `org.gnu.gdb.i386.core`, `.sse`, `.avx`, `.linux`, `.segments`), and
//! where the kernel's layouts have them. This is x86-64; for the others, see [`others`].

use super::user::REGISTER_WORDS;
use crate::Machine;

pub mod others;

/// The processor's name in a description, by BFD.
pub const ARCHITECTURE: &str = "i386:x86-64";

/// The name of each word of [`UserRegisters`](super::user::UserRegisters).
pub const GENERAL: [&str; REGISTER_WORDS] = [
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi",
    "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs",
    "gs",
];

/// Those without which a thread can't be debugged.
pub const REQUIRED: [&str; 4] = ["rip", "rsp", "rax", "r15"];

/// The program counter's name in descriptions.
pub fn program_counter(machine: Machine) -> &'static str {
    match machine {
        Machine::X86_64 => "rip",
        Machine::Aarch64 | Machine::Riscv64 | Machine::Arm => "pc",
    }
}

/// The value of a general register that a description doesn't have: no system call for `orig_rax`, else 0.
pub fn unknown(name: &str) -> u64 {
    match name {
        "orig_rax" => u64::MAX,
        _ => 0,
    }
}

/// The x87 unit's tag word: two bits for each register, 3 for an empty one.
pub const TAGS: &str = "ftag";
/// Where the state has a bit for each register that isn't empty (Intel SDM vol. 1, 10.5.1).
const USED: usize = 4;

/// The size of a state with the units below, in bytes.
const SIZE: usize = 832;

/// Which parts there are, in the format's masks of components.
const LEGACY: u64 = 3;
const ALL: u64 = 7;

/// A register's place in the state of the floating-point and vector units ([`super::extended`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name in descriptions.
    pub name: String,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// Its size there, in bytes.
    pub size: usize,
}

/// All registers of these units.
pub fn extended() -> impl Iterator<Item = Place> {
    let controls = [("fctrl", 0, 2), ("fstat", 2, 2), ("mxcsr", 24, 4)];
    let controls = controls.into_iter().map(|(name, offset, size)| Place {
        name: name.to_owned(),
        offset,
        size,
    });
    let stack = (0..8).map(|index| Place {
        name: format!("st{index}"),
        offset: super::extended::STACK + 16 * index,
        size: 10,
    });
    let of = |prefix: &'static str, suffix: &'static str, start: usize| {
        (0..16).map(move |index| Place {
            name: format!("{prefix}{index}{suffix}"),
            offset: start + 16 * index,
            size: 16,
        })
    };
    let vectors = of("xmm", "", super::extended::XMM);
    let upper = of("ymm", "h", super::extended::YMM_UPPER);
    controls.chain(stack).chain(vectors).chain(upper)
}

/// The state of a thread whose registers `value` gives by name.
pub fn state(value: impl Fn(&str) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut state = vec![0; SIZE];
    let mut parts = LEGACY;
    for place in extended() {
        if let Some(bytes) = value(&place.name) {
            let there = state.iter_mut().skip(place.offset).take(place.size);
            there.zip(bytes).for_each(|(there, byte)| *there = byte);
            if place.offset >= super::extended::YMM_UPPER {
                parts = ALL;
            }
        }
    }
    if let Some([low, high, ..]) = value(TAGS).as_deref() {
        let tags = u16::from_le_bytes([*low, *high]);
        let used = (0..8).filter(|register| tags >> (2 * register) & 3 != 3);
        state[USED] = used.fold(0, |used, register| used | 1 << register);
    }
    for mask in [super::extended::KEPT, super::extended::IN_USE] {
        state[mask..mask + 8].copy_from_slice(&parts.to_le_bytes());
    }
    state
}

/// The value of the x87 unit's tag word for a state. `now`: the present value, which is kept if it has the same registers empty.
pub fn tags(state: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    let used = *state.get(USED)?;
    let &[low, high, ..] = now else { return None };
    let now = u16::from_le_bytes([low, high]);
    let is_empty = |tags: u16, register: u32| tags >> (2 * register) & 3 == 3;
    let tags = (0..8).fold(0, |tags, register| {
        let tag = match used >> register & 1 {
            0 => 3,
            _ if is_empty(now, register) => 0,
            _ => now >> (2 * register) & 3,
        };
        tags | tag << (2 * register)
    });
    Some(tags.to_le_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::extended::Extended;
    use crate::registers::user::UserRegisters;

    #[test]
    fn names_are_those_of_the_kernels_words() {
        let mut words = [0; REGISTER_WORDS];
        let at = |name: &str| GENERAL.iter().position(|it| *it == name).expect("a name");
        words[at("rip")] = 0x1234;
        words[at("rsp")] = 0x5678;
        words[at("gs_base")] = 9;
        let registers = UserRegisters::from_words(words);
        assert_eq!((registers.pc().0, registers.sp()), (0x1234, 0x5678));
        assert!(registers.segments().contains(&("gs_base", 9)));
    }

    #[test]
    fn a_state_is_made_of_values() {
        let value = |name: &str| match name {
            "st0" => Some(vec![0, 0, 0, 0, 0, 0, 0, 0xc8, 0, 0x40]),
            // The top of the stack is register 5, the only one that isn't empty.
            "fstat" => Some((5u32 << 11).to_le_bytes().to_vec()),
            "ftag" => Some(0xf3ffu32.to_le_bytes().to_vec()),
            "xmm2" => Some(vec![7; 16]),
            "ymm15h" => Some(vec![1; 16]),
            _ => None,
        };
        let parsed = Extended::parse(&state(value)).expect("whole");
        assert_eq!(parsed.stack[0], Some(3.125));
        assert_eq!(parsed.stack[1], None);
        assert_eq!(parsed.xmm[2], u128::from_le_bytes([7; 16]));
        assert_eq!(
            parsed.upper.map(|upper| upper[15]),
            Some(u128::from_le_bytes([1; 16]))
        );
        let none = Extended::parse(&state(|_| None)).expect("whole");
        assert_eq!(none.upper, None);
        // Register 5 is in use, and register 4 was.
        let made = tags(&state(value), &0xfcffu32.to_le_bytes());
        assert_eq!(made, Some(vec![0xff, 0xf3]));
        assert_eq!(tags(&[], &[0, 0]), None);
    }
}
