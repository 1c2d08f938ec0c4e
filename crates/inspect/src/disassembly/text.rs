//! The text of an instruction, with the names of the symbols that it refers to: x86-64 in Intel's syntax by iced-x86, other machines in their
//! makers' by capstone.

use super::instructions::{Found, Meaning};
use crate::Address;
use crate::modules::Modules;
use capstone::Capstone;
use capstone::prelude::*;
use dapple_arch::code::Decoded;
use dapple_arch::{InstructionSet, Machine, Memory};
use dapple_symbols::module::demangle_short;
use iced_x86::{FlowControl, Formatter, Instruction, IntelFormatter, OpKind};
use std::fmt::Write;

/// Immediate values below this are taken for numbers, not addresses.
const LOWEST: u64 = 0x1_0000;

/// The most instructions of an `it` block of Thumb code, with `it` itself.
const MOST_IN_BLOCK: usize = 5;

/// Whether an instruction is followed by the symbol that an operand refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// No symbols.
    None,
    /// Symbols.
    Symbols,
}

/// Formats instructions.
pub(super) struct Text<'a> {
    modules: &'a Modules,
    memory: &'a dyn Memory,
    formatter: IntelFormatter,
    /// For the instruction sets of a machine other than x86-64.
    others: Vec<(InstructionSet, Capstone)>,
    /// The bytes from the last `it` of Thumb code on, which makes the instructions behind it conditional, and their end.
    block: (Vec<u8>, u64),
    names: Names,
    /// The symbol that was looked up last: its address, size and name.
    last: Option<(Address, u64, String)>,
}

impl<'a> Text<'a> {
    pub fn new(modules: &'a Modules, memory: &'a dyn Memory, names: Names) -> Text<'a> {
        let mut formatter = IntelFormatter::new();
        let options = formatter.options_mut();
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_uppercase_hex(false);
        options.set_space_after_operand_separator(true);
        options.set_branch_leading_zeros(false);
        options.set_show_branch_size(false);
        Text {
            others: others(modules.machine()),
            block: (Vec::new(), 0),
            modules,
            memory,
            formatter,
            names,
            last: None,
        }
    }

    /// The instruction's text; for bytes that aren't one, the reason in parentheses.
    pub fn of(&mut self, found: &Found) -> String {
        let Some(instruction) = &found.instruction else {
            return match found.bytes() {
                [] => "(no memory)".to_owned(),
                _ => "(bad)".to_owned(),
            };
        };
        let mut text = String::new();
        let name = match instruction {
            Meaning::X86(instruction) => {
                self.formatter.format(instruction, &mut text);
                self.referred(instruction)
            }
            Meaning::Other(decoded) => {
                text = self.of_other(decoded, found.bytes());
                decoded.target().and_then(|target| self.name_of(target.0))
            }
        };
        if self.names == Names::Symbols
            && let Some(name) = name
        {
            // Writing to a `String` can't fail.
            let _ = write!(text, " <{name}>");
        }
        text
    }

    /// The text of an instruction of another machine; of one that capstone doesn't know, its bytes as data.
    fn of_other(&mut self, decoded: &Decoded, bytes: &[u8]) -> String {
        let set = self.modules.instruction_set(decoded.address);
        let code = match set {
            InstructionSet::Thumb => self.with_block(decoded, bytes),
            _ => bytes.to_vec(),
        };
        let start = decoded.next().0.wrapping_sub(code.len() as u64);
        let mut others = self.others.iter();
        let disassembled = others.find(|(of, _)| *of == set);
        let disassembled =
            disassembled.and_then(|(_, it)| it.disasm_count(&code, start, MOST_IN_BLOCK).ok());
        let last = disassembled.as_ref().and_then(|all| all.last());
        let last = last.filter(|last| last.address() == decoded.address.0);
        let Some(first) = last else {
            let digits: String = bytes
                .iter()
                .rev()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            return format!(".{}byte 0x{digits}", bytes.len());
        };
        let mnemonic = first.mnemonic().unwrap_or_default();
        let operands = first.op_str().unwrap_or_default();
        let target = decoded.target();
        let before = operands.rsplit_once(", ").map(|(before, _)| before);
        match (operands, target) {
            // capstone gives the distance.
            (_, Some(target)) if self.modules.machine() == Machine::Riscv64 => match before {
                Some(before) => format!("{mnemonic} {before}, {target}"),
                None => format!("{mnemonic} {target}"),
            },
            ("", _) => mnemonic.to_owned(),
            _ => format!("{mnemonic} {operands}"),
        }
    }

    /// An instruction of Thumb code with those before it from an `it` on, if it is conditional because of that.
    fn with_block(&mut self, decoded: &Decoded, bytes: &[u8]) -> Vec<u8> {
        // `it` and the like; hints have the same beginning.
        let begins = matches!(*bytes, [mask, 0xbf] if mask & 0xf != 0);
        let (code, end) = &mut self.block;
        let goes_on = decoded.is_conditional && *end == decoded.address.0;
        if begins || !goes_on {
            code.clear();
        }
        code.extend(bytes);
        *end = decoded.next().0;
        code.clone()
    }

    /// The symbol at an address, with the distance from its beginning.
    pub fn symbol(&mut self, address: Address) -> Option<String> {
        let known = self
            .last
            .as_ref()
            .is_some_and(|(start, size, _)| address.0.wrapping_sub(start.0) < *size);
        if !known {
            self.last = self.find(address);
        }
        let (start, _, name) = self.last.as_ref()?;
        Some(named(name, address.0.wrapping_sub(start.0)))
    }

    fn find(&self, address: Address) -> Option<(Address, u64, String)> {
        let loaded = self.modules.at(address)?;
        let file = loaded.to_file(address);
        if let Some(symbol) = loaded.module.symbol_at(file) {
            let start = loaded.to_process(symbol.address);
            return Some((start, symbol.size, demangle_short(&symbol.name)));
        }
        let function = loaded.module.function_at(file)?;
        let range = function.ranges.iter().find(|range| range.contains(&file))?;
        let start = loaded.to_process(range.start);
        let size = range.end.0 - range.start.0;
        Some((
            start,
            size,
            dapple_symbols::names::short_name(&function.name),
        ))
    }

    fn name_of(&self, address: u64) -> Option<String> {
        let (start, _, name) = self.find(Address(address))?;
        Some(named(&name, address.wrapping_sub(start.0)))
    }

    /// The symbol that an operand of the instruction refers to.
    fn referred(&self, instruction: &Instruction) -> Option<String> {
        for operand in 0..instruction.op_count() {
            let address = match instruction.op_kind(operand) {
                OpKind::NearBranch64 => instruction.near_branch64(),
                OpKind::Memory if instruction.is_ip_rel_memory_operand() => {
                    return self.referred_by_memory(instruction);
                }
                OpKind::Immediate64 => instruction.immediate64(),
                OpKind::Immediate32 => u64::from(instruction.immediate32()),
                _ => continue,
            };
            if let Some(name) = (address >= LOWEST).then(|| self.name_of(address)).flatten() {
                return Some(name);
            }
        }
        None
    }

    fn referred_by_memory(&self, instruction: &Instruction) -> Option<String> {
        let address = instruction.ip_rel_memory_address();
        let loaded = self.modules.at(Address(address))?;
        let section = loaded.module.section_at(loaded.to_file(Address(address)));
        // The address of the call's or jump's target, or of a symbol, is in this memory (the global
        // offset table).
        let goes_there = matches!(
            instruction.flow_control(),
            FlowControl::IndirectCall | FlowControl::IndirectBranch
        );
        if goes_there || section.is_some_and(|name| name.starts_with(".got")) {
            let target = self.memory.read_address(Address(address)).ok();
            if let Some(name) = target.and_then(|target| self.name_of(target)) {
                return Some(name);
            }
        }
        self.name_of(address)
    }
}

/// What disassembles code of a machine. None of x86-64, or where there is not enough memory.
fn others(machine: Machine) -> Vec<(InstructionSet, Capstone)> {
    let new = Capstone::new;
    let of_arm = |mode| {
        let extra = [arch::arm::ArchExtraMode::V8].into_iter();
        new().arm().mode(mode).extra_mode(extra).build().ok()
    };
    let all = match machine {
        Machine::X86_64 => vec![],
        Machine::Aarch64 => {
            let built = new().arm64().mode(arch::arm64::ArchMode::Arm).build();
            vec![(InstructionSet::Aarch64, built.ok())]
        }
        Machine::Riscv64 => {
            let mode = new().riscv().mode(arch::riscv::ArchMode::RiscV64);
            let extra = arch::riscv::ArchExtraMode::RiscVC;
            let built = mode.extra_mode([extra].into_iter()).build();
            vec![(InstructionSet::Riscv64, built.ok())]
        }
        Machine::Arm => vec![
            (InstructionSet::Arm, of_arm(arch::arm::ArchMode::Arm)),
            (InstructionSet::Thumb, of_arm(arch::arm::ArchMode::Thumb)),
        ],
    };
    let built = all.into_iter();
    built
        .filter_map(|(set, built)| Some((set, built?)))
        .collect()
}

fn named(name: &str, distance: u64) -> String {
    match distance {
        0 => name.to_owned(),
        distance => format!("{name}+{distance:#x}"),
    }
}
