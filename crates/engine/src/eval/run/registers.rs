//! Registers by their names: the general ones, their parts, and the vectors.

use super::{Fault, Runner};
use crate::eval::suggest::nearest;
use crate::registers::NAMES;
use crate::values::{Number, Value};
use dapple_symbols::cfi::{RBP, RIP, RSP};

/// A register, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Register {
    /// DWARF's number.
    pub number: u16,
    /// The bits in front of the part.
    pub skip: u64,
    /// How many bits it has.
    pub bits: u64,
}

impl Register {
    /// The register called `name`, without `$`.
    pub(super) fn named(name: &str, at: usize) -> Result<Register, Fault> {
        let whole = |number| Register {
            number,
            skip: 0,
            bits: 64,
        };
        let by_name = |name: &str| {
            let mut known = (0u16..).zip(NAMES);
            known.find(|(_, known)| *known == name).map(|(n, _)| n)
        };
        let found = match name {
            "pc" => Some(whole(RIP)),
            "sp" => Some(whole(RSP)),
            "fp" => Some(whole(RBP)),
            _ => by_name(name).map(whole).or_else(|| {
                let (whole_name, skip, bits) = part(name)?;
                let number = by_name(&whole_name)?;
                Some(Register { number, skip, bits })
            }),
        };
        let vector = || {
            let number: u16 = name.strip_prefix("xmm")?.parse().ok()?;
            (number < 16).then_some(Register {
                number: 17 + number,
                skip: 0,
                bits: 128,
            })
        };
        found.or_else(vector).ok_or_else(|| {
            let near = nearest(name, NAMES.into_iter());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `${near}`?"));
            Fault::new(at, format!("there is no register `${name}`{hint}"))
        })
    }
}

/// The register that a part with a name of its own is of, and where it is (Intel SDM vol. 1, 3.4.1).
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

impl Runner<'_> {
    pub(super) fn plain_register(&self, name: &str, at: usize) -> Result<Value, Fault> {
        let register = Register::named(name, at)?;
        let physical = &self.frame.physical;
        let lost = || {
            let why = format!("register `${name}` was not saved in this frame");
            Fault::new(at, why)
        };
        if let Some(vector) = register.number.checked_sub(17) {
            let vectors = physical.vectors.as_deref().ok_or_else(lost)?;
            let vector = vectors.get(usize::from(vector)).ok_or_else(lost)?;
            return Ok(self.computed(Number::integer(vector.cast_signed(), 16, false)));
        }
        let value = physical.registers.get(register.number).ok_or_else(lost)?;
        Ok(self.computed(match register.number {
            RIP | RSP | RBP if register.bits == 64 => Number::Pointer {
                address: value,
                target: None,
            },
            _ => {
                let size = (register.bits / 8) as u8;
                Number::integer(i128::from(value >> register.skip), size, true)
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_registers_have_names() {
        let of =
            |name| Register::named(name, 0).map(|r| (NAMES[usize::from(r.number)], r.skip, r.bits));
        assert_eq!(of("eax"), Ok(("rax", 0, 32)));
        assert_eq!(of("ah"), Ok(("rax", 8, 8)));
        assert_eq!(of("bl"), Ok(("rbx", 0, 8)));
        assert_eq!(of("si"), Ok(("rsi", 0, 16)));
        assert_eq!(of("sil"), Ok(("rsi", 0, 8)));
        assert_eq!(of("r10d"), Ok(("r10", 0, 32)));
        assert_eq!(of("r8b"), Ok(("r8", 0, 8)));
        assert_eq!(of("eip"), Ok(("rip", 0, 32)));
        for name in ["", "e", "xyz", "rl", "xmm16", "r99d", "éx"] {
            assert!(Register::named(name, 0).is_err(), "{name}");
        }
    }
}
