//! The names of registers, and of parts of them, on machines other than x86-64.

use super::{Holds, Named};
use crate::Machine;
use crate::registers::state::{FIRST_CONTROL, controls};

/// The number of Dapple's own for the flags (`pstate`, which stubs call `cpsr`).
pub const FLAGS: u16 = 0x2001;

/// The condition flags of aarch64 and arm: bit number and name (Arm Architecture Reference Manual, C5.2).
pub const CONDITIONS: [(u32, &str); 4] = [(31, "N"), (30, "Z"), (29, "C"), (28, "V")];

/// The register called `name`, without `$`.
pub(super) fn find(machine: Machine, name: &str) -> Option<Named> {
    let whole = |number, bits, holds| Named {
        number,
        skip: 0,
        bits,
        holds,
    };
    if let Some(number) = machine.named(name) {
        let is_address = [machine.pc(), machine.sp(), machine.fp()].contains(&number)
            || machine.link() == Some(number);
        return Some(whole(
            number,
            8 * machine.address_size(),
            if is_address {
                Holds::Address
            } else {
                Holds::Signed
            },
        ));
    }
    let mut words = (FIRST_CONTROL..).zip(controls(machine));
    if let Some((number, (_, bits))) = words.find(|(_, (known, _))| *known == name) {
        return Some(whole(number, *bits, Holds::Unsigned));
    }
    let first = machine.vectors().start;
    match machine {
        Machine::Riscv64 => {
            let index = (0..32).find(|index| machine.vector_name(*index) == name)?;
            Some(whole(first + index, 64, Holds::Float))
        }
        _ => {
            if matches!(name, "cpsr" | "pstate") {
                return Some(whole(FLAGS, 32, Holds::Unsigned));
            }
            if let Some((bit, _)) =
                { CONDITIONS.iter() }.find(|(_, known)| known.eq_ignore_ascii_case(name))
            {
                let flag = whole(FLAGS, 1, Holds::Flag);
                return Some(Named {
                    skip: (*bit).into(),
                    ..flag
                });
            }
            let numbered = |kind: &str| super::numbered(name, kind, 32);
            if machine == Machine::Arm {
                return float_of_arm(name);
            }
            if let Some(number) = numbered("w").filter(|number| *number < 31) {
                return Some(whole(number, 32, Holds::Signed));
            }
            if let Some(index) = numbered("d") {
                return Some(whole(first + index, 64, Holds::Float));
            }
            if let Some(index) = numbered("s") {
                return Some(whole(first + index, 32, Holds::Float));
            }
            let index = numbered("q").or_else(|| numbered("v"))?;
            Some(whole(first + index, 128, Holds::Unsigned))
        }
    }
}

/// arm's registers of 64 bits, and the halves of the first sixteen of them (Arm Architecture Reference Manual, A2.6.2).
fn float_of_arm(name: &str) -> Option<Named> {
    let first = Machine::Arm.vectors().start;
    let of = |index, skip, bits| Named {
        number: first + index,
        skip,
        bits,
        holds: Holds::Float,
    };
    if let Some(index) = super::numbered(name, "d", 32) {
        return Some(of(index, 0, 64));
    }
    let index = super::numbered(name, "s", 32)?;
    Some(of(index / 2, 32 * u64::from(index % 2), 32))
}

/// A vector register's index and its length in bytes.
pub(super) fn vector(machine: Machine, name: &str) -> Option<(u16, u64)> {
    match machine {
        Machine::Aarch64 => Some((super::numbered(name, "v", 32)?, 16)),
        _ => None,
    }
}

/// All names for completion.
pub(super) fn names(machine: Machine) -> Vec<String> {
    let uses = ["pc", "sp", "fp", "lr"].into_iter();
    let uses = uses.filter(|name| machine.named(name).is_some());
    let plain = uses.chain(machine.names().iter().copied());
    let plain = plain.chain(controls(machine).iter().map(|(name, _)| *name));
    let mut names: Vec<String> = plain.map(str::to_owned).collect();
    names.extend((0..32).map(|index| machine.vector_name(index)));
    if machine == Machine::Arm {
        names.push("cpsr".to_owned());
        names.extend((0..32).map(|index| format!("s{index}")));
    }
    if machine == Machine::Aarch64 {
        names.push("cpsr".to_owned());
        names.extend((0..31).map(|index| format!("w{index}")));
        for kind in ["d", "s", "q"] {
            names.extend((0..32).map(|index| format!("{kind}{index}")));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The name of a register by its number.
pub(super) fn name_of(machine: Machine, number: u16) -> String {
    if let Some(name) = machine.name_of(number) {
        return name.to_owned();
    }
    if machine.vectors().contains(&number) {
        return machine.vector_name(number - machine.vectors().start);
    }
    let mut words = (FIRST_CONTROL..).zip(controls(machine));
    match words.find(|(known, _)| *known == number) {
        Some((_, (name, _))) => (*name).to_owned(),
        None if number == FLAGS => "cpsr".to_owned(),
        None if number == machine.thread_pointer() => "thread pointer".to_owned(),
        None => format!("number {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_found_by_the_names_of_each_machine() {
        let of = |machine, name: &str| {
            let found = Named::find(machine, name)?;
            Some((
                super::name_of(machine, found.number),
                found.skip,
                found.bits,
                found.holds,
            ))
        };
        let is = |name: &str, skip, bits, holds| Some((name.to_owned(), skip, bits, holds));
        let long = Machine::Aarch64;
        assert_eq!(of(long, "x3"), is("x3", 0, 64, Holds::Signed));
        assert_eq!(of(long, "lr"), is("x30", 0, 64, Holds::Address));
        assert_eq!(of(long, "w3"), is("x3", 0, 32, Holds::Signed));
        assert_eq!(of(long, "d9"), is("v9", 0, 64, Holds::Float));
        assert_eq!(of(long, "s31"), is("v31", 0, 32, Holds::Float));
        assert_eq!(of(long, "z"), is("cpsr", 30, 1, Holds::Flag));
        assert_eq!(of(long, "fpcr"), is("fpcr", 0, 32, Holds::Unsigned));
        for unknown in ["x31", "w31", "rax", "v32", "d32", "eflags", "é"] {
            assert_eq!(of(long, unknown), None, "{unknown}");
        }
        let riscv = Machine::Riscv64;
        assert_eq!(of(riscv, "s0"), is("fp", 0, 64, Holds::Address));
        assert_eq!(of(riscv, "x11"), is("a1", 0, 64, Holds::Signed));
        assert_eq!(of(riscv, "fa0"), is("fa0", 0, 64, Holds::Float));
        assert_eq!(of(riscv, "frm"), is("frm", 0, 32, Holds::Unsigned));
        let arm = Machine::Arm;
        assert_eq!(of(arm, "r3"), is("r3", 0, 32, Holds::Signed));
        assert_eq!(of(arm, "lr"), is("lr", 0, 32, Holds::Address));
        assert_eq!(of(arm, "d31"), is("d31", 0, 64, Holds::Float));
        assert_eq!(of(arm, "s3"), is("d1", 32, 32, Holds::Float));
        assert_eq!(of(arm, "C"), is("cpsr", 29, 1, Holds::Flag));
        assert_eq!(of(arm, "w3"), None);
        for machine in [long, riscv, arm] {
            for name in names(machine) {
                assert!(
                    find(machine, &name).is_some() || vector(machine, &name).is_some(),
                    "{name}"
                );
            }
        }
        let lane = Named::lane(long, "v2", "f32", 3).and_then(Result::ok);
        assert_eq!(lane.map(|lane| (lane.number, lane.skip)), Some((66, 96)));
        assert!(Named::lane(riscv, "fa0", "f32", 0).is_none());
    }
}
