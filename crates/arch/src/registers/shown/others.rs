//! The registers of machines other than x86-64 for display.

use super::{Rest, ShownRegister, general_register, group, plain, spoken, vector, was_not_saved};
use crate::Machine;
use crate::registers::Registers;
use crate::registers::named::others::CONDITIONS;
use crate::registers::state::{FIRST_CONTROL, bits, controls};

/// The registers of a frame in groups. `rest` is `None` for all but the innermost frame.
pub(super) fn groups(
    machine: Machine,
    general: &Registers,
    rest: Option<&Rest<'_>>,
) -> Vec<ShownRegister> {
    let numbers = machine.general().chain([machine.pc()]);
    let shown = numbers.map(|number| general_register(general, number));
    let mut groups = vec![group("General", shown.collect())];
    if matches!(machine, Machine::Aarch64 | Machine::Arm) {
        groups.push(group(
            "Flags",
            flags(rest.map(|rest| rest.registers.flags())),
        ));
    }
    let first = machine.vectors().start;
    let floats = machine.vectors().map(|number| {
        let name = machine.vector_name(number - first);
        let value = rest.and_then(|rest| bits(machine, rest.extended, number).ok());
        match value {
            None => plain(&name, was_not_saved(&name)),
            Some(value) if machine.vector_size() == 16 => vector(&name, &value.to_le_bytes()),
            Some(value) if machine == Machine::Riscv64 => spoken(&name, float(value as u64)),
            Some(value) => spoken(&name, format!("{:?}", f64::from_bits(value as u64))),
        }
    });
    groups.push(group("Floating point", floats.collect()));
    if let Some(rest) = rest {
        let words = (FIRST_CONTROL..).zip(controls(machine));
        let words = words.filter_map(|(number, (name, _))| {
            let value = bits(machine, rest.extended, number).ok()?;
            Some(spoken(name, format!("{value:#x}")))
        });
        groups.push(group("Control", words.collect()));
    }
    groups
}

/// A number of 64 bits, or one of 32 bits that is marked as such by ones above it (RISC-V ISA manual, "NaN Boxing").
fn float(value: u64) -> String {
    match value >> 32 {
        0xffff_ffff => format!("{:?}", f32::from_bits(value as u32)),
        _ => format!("{:?}", f64::from_bits(value)),
    }
}

fn flags(flags: Option<u64>) -> Vec<ShownRegister> {
    let Some(flags) = flags else {
        return vec![plain("cpsr", was_not_saved("cpsr"))];
    };
    let mut cpsr = super::decoded("cpsr", flags, &CONDITIONS);
    for flag in &mut cpsr.parts {
        flag.expression = Some(format!("${}", flag.name.to_lowercase()));
    }
    vec![cpsr]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::state::{empty, set_bits};
    use crate::registers::user::UserRegisters;

    #[test]
    fn each_machine_shows_its_own() {
        let mut registers = UserRegisters::of(Machine::Aarch64);
        registers.set_flags(0x6000_0000);
        registers.set(30, 0x55_0000_1234);
        let mut state = empty(Machine::Aarch64);
        set_bits(
            Machine::Aarch64,
            &mut state,
            66,
            u128::from(2.5_f64.to_bits()),
        )
        .expect("set");
        let rest = Rest {
            registers: &registers,
            extended: &state,
        };
        let shown = groups(Machine::Aarch64, &registers.to_dwarf(), Some(&rest));
        let of = |group: usize, name: &str| {
            let found = shown[group].parts.iter().find(|it| it.name == name);
            found.expect(name).clone()
        };
        assert_eq!(of(0, "x30").text, "0x5500001234");
        assert_eq!(of(1, "cpsr").text, "0x60000000 [Z C]");
        assert_eq!(of(2, "v2").parts[1].text, "[2.5, 0.0]");
        assert_eq!(of(3, "fpcr").text, "0x0");
        assert_eq!(float(0xffff_ffff_3fc0_0000), "1.5");
        let outer = groups(Machine::Riscv64, &Registers::of(Machine::Riscv64), None);
        assert_eq!(outer[0].parts[1].text, "<register ra was not saved>");
        assert_eq!(outer[1].parts[10].text, "<register fa0 was not saved>");
    }
}
