//! Finds registers and parts of registers by the names that users write: `$eax`, `$zf`, `$st0`, `$xmm3.f32[1]`.
//!
//! Registers are identified by their DWARF numbers (ABI figure 3.36). The upper halves of the AVX registers have none, so they get numbers
//! of Dapple's own. All that is here is about x86-64; for the others, see [`others`].

use super::{FP, FS_BASE, NAMES, PC, SP};
use crate::Machine;
use std::ops::Range;

pub mod others;

/// The numbers of the low 16 bytes of the vector registers.
pub const VECTORS: Range<u16> = 17..33;
/// The numbers of the x87 register stack, from its top.
pub const STACK: Range<u16> = 33..41;
/// The flags.
pub const RFLAGS: u16 = 49;
/// The segment registers, and the bases of two, with their DWARF numbers.
pub const SEGMENTS: [(u16, &str); 8] = [
    (50, "es"),
    (51, "cs"),
    (52, "ss"),
    (53, "ds"),
    (54, "fs"),
    (55, "gs"),
    (FS_BASE, "fs_base"),
    (59, "gs_base"),
];
/// SSE's control and status register, and x87's control and status words, each with its number and its length in bits.
pub const WORDS: [(u16, &str, u64); 3] = [(64, "mxcsr", 32), (65, "fctrl", 16), (66, "fstat", 16)];
/// Numbers of Dapple's own for the upper halves of the AVX registers.
pub const UPPER: Range<u16> = 0x1000..0x1010;

/// The flags: bit number and name (Intel SDM vol. 1, 3.4.3).
pub const FLAGS: [(u32, &str); 13] = [
    (0, "CF"),
    (2, "PF"),
    (4, "AF"),
    (6, "ZF"),
    (7, "SF"),
    (8, "TF"),
    (9, "IF"),
    (10, "DF"),
    (11, "OF"),
    (14, "NT"),
    (16, "RF"),
    (18, "AC"),
    (21, "ID"),
];

/// A mask of the flags that users may set: CF, PF, AF, ZF, SF, DF, OF and AC. The other flags belong to the kernel, or the debugger uses them
/// to step.
pub const SETTABLE: u64 = 0x4_0cd5;

/// The ways to divide a vector into lanes: name, interpretation, bytes per lane, and other debuggers' names for it in `xmm` and `ymm`.
const LANES: [(&str, Holds, u64, [&str; 2]); 10] = [
    ("f32", Holds::Float, 4, ["v4_float", "v8_float"]),
    ("f64", Holds::Float, 8, ["v2_double", "v4_double"]),
    ("u8", Holds::Unsigned, 1, ["", ""]),
    ("i8", Holds::Signed, 1, ["v16_int8", "v32_int8"]),
    ("u16", Holds::Unsigned, 2, ["", ""]),
    ("i16", Holds::Signed, 2, ["v8_int16", "v16_int16"]),
    ("u32", Holds::Unsigned, 4, ["", ""]),
    ("i32", Holds::Signed, 4, ["v4_int32", "v8_int32"]),
    ("u64", Holds::Unsigned, 8, ["", ""]),
    ("i64", Holds::Signed, 8, ["v2_int64", "v4_int64"]),
];

/// How a register's bits are displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// An address.
    Address,
    /// One bit.
    Flag,
    /// An IEEE 754 float of 32 or 64 bits.
    Float,
    /// An x87 float of 80 bits.
    Extended,
}

/// A register, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Its DWARF number, or one of [`UPPER`].
    pub number: u16,
    /// The offset of the part in the register, in bits.
    pub skip: u64,
    /// The length of the part, in bits.
    pub bits: u64,
    /// How the bits are displayed.
    pub holds: Holds,
}

impl Named {
    /// The register called `name`, without `$`.
    pub fn find(machine: Machine, name: &str) -> Option<Named> {
        match machine {
            Machine::X86_64 => Named::find_on_x86(name),
            _ => others::find(machine, name),
        }
    }

    fn find_on_x86(name: &str) -> Option<Named> {
        let general = |(number, skip, bits)| {
            let holds = match (number, bits) {
                (PC | SP | FP, 64) => Holds::Address,
                _ => Holds::Signed,
            };
            Named {
                number,
                skip,
                bits,
                holds,
            }
        };
        let whole = |number, bits, holds| Named {
            number,
            skip: 0,
            bits,
            holds,
        };
        if let Some(found) = general_named(name) {
            return Some(general(found));
        }
        if let Some((_, bit)) = flag(name) {
            return Some(Named {
                number: RFLAGS,
                skip: bit.into(),
                bits: 1,
                holds: Holds::Flag,
            });
        }
        if matches!(name, "eflags" | "rflags") {
            return Some(whole(RFLAGS, 32, Holds::Unsigned));
        }
        let mut segments = SEGMENTS.iter();
        if let Some((number, _)) = segments.find(|(_, known)| *known == name) {
            return Some(match name.ends_with("_base") {
                true => whole(*number, 64, Holds::Address),
                false => whole(*number, 16, Holds::Unsigned),
            });
        }
        let mut words = WORDS.iter();
        if let Some((number, _, bits)) = words.find(|(_, known, _)| *known == name) {
            return Some(whole(*number, *bits, Holds::Unsigned));
        }
        if let Some(number) = numbered(name, "st", 8) {
            return Some(whole(STACK.start + number, 80, Holds::Extended));
        }
        let number = numbered(name, "xmm", 16)?;
        Some(whole(VECTORS.start + number, 128, Holds::Unsigned))
    }

    /// A lane of a vector register: `xmm3`, `f32`, 1.
    ///
    /// # Errors
    /// A sentence that says why there is no such lane. The result is `None` if the register is no vector register.
    pub fn lane(
        machine: Machine,
        register: &str,
        kind: &str,
        index: i128,
    ) -> Option<Result<Named, String>> {
        let (number, bytes) = vector(machine, register)?;
        let lanes = match lanes(machine, register, kind)? {
            Ok(lanes) => lanes,
            Err(why) => return Some(Err(why)),
        };
        let index = u64::try_from(index).ok();
        let at = index.and_then(|index| index.checked_mul(lanes.bytes));
        let Some(at) = at.filter(|at| *at < bytes) else {
            return Some(Err(format!("there is no such lane: {}", lanes.all)));
        };
        let (number, at) = match at {
            ..16 => (machine.vectors().start + number, at),
            _ => (UPPER.start + number, at - 16),
        };
        Some(Ok(Named {
            number,
            skip: at * 8,
            bits: lanes.bytes * 8,
            holds: lanes.hold,
        }))
    }
}

/// A way to divide a vector register into lanes.
pub struct Lanes {
    bytes: u64,
    hold: Holds,
    /// A sentence for the user that lists the lanes.
    pub all: String,
}

/// The lanes of a vector register that `kind` names; `None` if the register is no vector register. The error says that no lanes have this name.
pub fn lanes(machine: Machine, register: &str, kind: &str) -> Option<Result<Lanes, String>> {
    let (_, bytes) = vector(machine, register)?;
    let mut known = LANES.iter();
    let found = known.find(|(name, _, _, others)| *name == kind || others.contains(&kind));
    let Some((name, hold, size, _)) = found.filter(|_| !kind.is_empty()) else {
        let names: Vec<&str> = LANES.iter().map(|(name, ..)| *name).collect();
        return Some(Err(format!(
            "`${register}` has no lanes `{kind}`, but {}: `${register}.f32[0]`",
            names.join(", ")
        )));
    };
    let last = bytes / size - 1;
    Some(Ok(Lanes {
        bytes: *size,
        hold: *hold,
        all: format!("`${register}` has the lanes `${register}.{name}[0]` to `[{last}]`"),
    }))
}

/// A vector register's index, and its length in bytes.
pub fn vector(machine: Machine, register: &str) -> Option<(u16, u64)> {
    if machine != Machine::X86_64 {
        return others::vector(machine, register);
    }
    let of = |kind, bytes| Some((numbered(register, kind, 16)?, bytes));
    of("xmm", 16).or_else(|| of("ymm", 32))
}

/// All names for completion, without parts of general registers and without other debuggers' names.
pub fn names(machine: Machine) -> Vec<String> {
    match machine {
        Machine::X86_64 => names_on_x86().collect(),
        _ => others::names(machine),
    }
}

fn names_on_x86() -> impl Iterator<Item = String> {
    let numbered = |kind: &'static str, count: u16| (0..count).map(move |n| format!("{kind}{n}"));
    let named = ["pc", "sp", "fp"].into_iter().chain(NAMES);
    let words = WORDS.iter().map(|(_, name, _)| *name);
    let plain = named
        .chain(["eflags"])
        .chain(SEGMENTS.iter().map(|(_, name)| *name))
        .chain(words);
    plain
        .map(str::to_owned)
        .chain(FLAGS.iter().map(|(_, name)| name.to_lowercase()))
        .chain(numbered("xmm", 16))
        .chain(numbered("ymm", 16))
        .chain(numbered("st", 8))
}

/// The names of lanes.
pub fn lane_names() -> impl Iterator<Item = &'static str> {
    LANES.iter().map(|(name, ..)| *name)
}

/// The name of a register by its number.
pub fn name_of(machine: Machine, number: u16) -> String {
    if machine != Machine::X86_64 {
        return others::name_of(machine, number);
    }
    let of = |range: Range<u16>, kind: &str| {
        let is_one = range.contains(&number);
        is_one.then(|| format!("{kind}{}", number - range.start))
    };
    let words = WORDS.iter().map(|(number, name, _)| (*number, *name));
    let mut all = (0..).zip(NAMES).chain(SEGMENTS).chain(words);
    let plain = all.find(|(known, _)| *known == number);
    plain
        .map(|(_, name)| name.to_owned())
        .or_else(|| (number == RFLAGS).then(|| "eflags".to_owned()))
        .or_else(|| of(VECTORS, "xmm"))
        .or_else(|| of(STACK, "st"))
        .or_else(|| of(UPPER, "ymm"))
        .unwrap_or_else(|| format!("number {number}"))
}

fn numbered(name: &str, kind: &str, count: u16) -> Option<u16> {
    let digits = name.strip_prefix(kind)?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() <= 2;
    digits.parse().ok().filter(|n| is_plain && *n < count)
}

/// A flag by its name, in lower or upper case.
fn flag(name: &str) -> Option<(&'static str, u32)> {
    let mut flags = FLAGS.iter();
    let (bit, known) = flags.find(|(_, known)| known.eq_ignore_ascii_case(name))?;
    Some((known, *bit))
}

/// A general register's number, and the offset and length of the named part in bits.
fn general_named(name: &str) -> Option<(u16, u64, u64)> {
    let by_name = |name: &str| {
        let mut known = (0u16..).zip(NAMES);
        known.find(|(_, known)| *known == name).map(|(n, _)| n)
    };
    let whole = match name {
        "pc" => Some(PC),
        "sp" => Some(SP),
        "fp" => Some(FP),
        _ => by_name(name),
    };
    if let Some(number) = whole {
        return Some((number, 0, 64));
    }
    let (whole, skip, bits) = part(name)?;
    Some((by_name(&whole)?, skip, bits))
}

/// The register that a named part belongs to, and the part's offset and length in bits (Intel SDM vol. 1, 3.4.1).
fn part(name: &str) -> Option<(String, u64, u64)> {
    let numbered = |suffix: char| {
        let head = name.strip_suffix(suffix)?;
        let digits = head.strip_prefix('r')?;
        digits.parse::<u8>().ok()?;
        Some(head.to_owned())
    };
    if let Some(whole) = numbered('d') {
        return Some((whole, 0, 32));
    }
    if let Some(whole) = numbered('w') {
        return Some((whole, 0, 16));
    }
    if let Some(whole) = numbered('b') {
        return Some((whole, 0, 8));
    }
    let letters = name.len();
    Some(match (name.strip_prefix('e'), letters) {
        (Some(rest), 3) => (format!("r{rest}"), 0, 32),
        (_, 2) if name.ends_with(['x', 'i', 'p']) => (format!("r{name}"), 0, 16),
        (_, 2) if name.ends_with('l') => (format!("r{}x", name.get(..1)?), 0, 8),
        (_, 2) if name.ends_with('h') => (format!("r{}x", name.get(..1)?), 8, 8),
        (_, 3) if name.ends_with('l') => (format!("r{}", name.get(..2)?), 0, 8),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_registers_have_names() {
        let of = |name: &str| {
            Named::find(Machine::X86_64, name)
                .map(|r| (name_of(Machine::X86_64, r.number), r.skip, r.bits))
        };
        let is = |name: &str, skip, bits| Some((name.to_owned(), skip, bits));
        assert_eq!(of("eax"), is("rax", 0, 32));
        assert_eq!(of("ah"), is("rax", 8, 8));
        assert_eq!(of("bl"), is("rbx", 0, 8));
        assert_eq!(of("si"), is("rsi", 0, 16));
        assert_eq!(of("sil"), is("rsi", 0, 8));
        assert_eq!(of("r10d"), is("r10", 0, 32));
        assert_eq!(of("r8b"), is("r8", 0, 8));
        assert_eq!(of("eip"), is("rip", 0, 32));
        assert_eq!(of("zf"), is("eflags", 6, 1));
        assert_eq!(of("DF"), is("eflags", 10, 1));
        assert_eq!(of("st7"), is("st7", 0, 80));
        assert_eq!(of("gs_base"), is("gs_base", 0, 64));
        let unknown = [
            "", "e", "xyz", "rl", "xmm16", "ymm0", "st8", "st", "xmm+1", "r99d", "éx",
        ];
        for name in unknown {
            assert!(Named::find(Machine::X86_64, name).is_none(), "{name}");
        }
    }

    #[test]
    fn lanes_are_counted_from_the_low_end_over_both_halves() {
        let of = |register: &str, kind: &str, index| {
            let lane = Named::lane(Machine::X86_64, register, kind, index)?.ok()?;
            Some((
                name_of(Machine::X86_64, lane.number),
                lane.skip,
                lane.bits,
                lane.holds,
            ))
        };
        let is = |name: &str, skip, bits, holds| Some((name.to_owned(), skip, bits, holds));
        assert_eq!(of("xmm3", "f32", 1), is("xmm3", 32, 32, Holds::Float));
        assert_eq!(of("xmm3", "u8", 15), is("xmm3", 120, 8, Holds::Unsigned));
        assert_eq!(of("ymm9", "f64", 1), is("xmm9", 64, 64, Holds::Float));
        assert_eq!(of("ymm9", "f64", 3), is("ymm9", 64, 64, Holds::Float));
        assert_eq!(of("ymm9", "v8_int32", 4), is("ymm9", 0, 32, Holds::Signed));
        for (register, kind, index) in [
            ("xmm3", "f32", 4),
            ("xmm3", "f32", -1),
            ("xmm3", "f33", 0),
            ("xmm3", "", 0),
            ("ymm3", "u8", 32),
            ("ymm3", "u64", i128::MAX),
            ("rax", "u8", 0),
        ] {
            assert_eq!(of(register, kind, index), None, "{register} {kind} {index}");
        }
    }

    #[test]
    fn only_the_flags_of_the_program_may_be_set() {
        let all = FLAGS.iter().filter(|(bit, _)| SETTABLE >> bit & 1 == 1);
        let names: Vec<&str> = all.map(|(_, name)| *name).collect();
        assert_eq!(names, ["CF", "PF", "AF", "ZF", "SF", "DF", "OF", "AC"]);
    }
}
