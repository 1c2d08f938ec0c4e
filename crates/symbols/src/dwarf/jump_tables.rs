//! Finds the targets of the jumps of a `switch`, which compilers write as tables of code addresses or of offsets from the
//! table.
//!
//! The tables are read from the file. Nothing records their length, so a table ends where the next one begins, at the
//! bound that the code compares with, or at an entry that leads to no instruction of the function.

use crate::dwarf::Dwarf;
use dapple_arch::instructions::decoder;
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::ops::Range;

/// The maximum of entries read from one table.
const LONGEST: usize = 1024;
/// The maximum of tables tried for one jump, whose register may have been loaded with many addresses.
const TABLES: usize = 256;
/// The maximum of entries read for one function.
const MOST: usize = 1 << 14;
/// How many instructions before a jump are searched for the read of the table.
const LOOKED_AT: usize = 16;

/// The targets of each table jump, by the jump's address. Jumps that aren't understood are missing.
pub(crate) type Targets = FxHashMap<u64, Vec<u64>>;

/// The kind of entries in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entries {
    Addresses,
    /// 32-bit offsets from the start of the table.
    Distances,
}

enum Table {
    At(u64),
    /// The table's address is in a register.
    In(Register),
}

struct Jump {
    at: u64,
    table: Table,
    entries: Entries,
    /// The number of entries, if the code compares the index with it.
    bound: Option<usize>,
}

/// The result of a linear pass over a function's code.
#[derive(Default)]
struct Sweep {
    instructions: FxHashSet<u64>,
    /// The addresses outside of the code that are loaded into registers.
    loaded: Vec<(Register, u64)>,
    jumps: Vec<Jump>,
}

impl Dwarf<'_> {
    /// The targets of all table jumps in a function. `code` has the pieces of the function with their addresses.
    pub(crate) fn jump_targets(&self, code: &[(u64, &[u8])]) -> Targets {
        let mut sweep = Sweep::default();
        for (start, code) in code {
            sweep.look_through(*start, code);
        }
        let starts = sweep.starts();
        let mut targets = Targets::default();
        let mut left = MOST;
        for jump in &sweep.jumps {
            let tables: BTreeSet<u64> = match jump.table {
                Table::At(address) => BTreeSet::from([address]),
                Table::In(register) => {
                    let loaded = sweep.loaded.iter().filter(|(by, _)| *by == register);
                    loaded.map(|(_, address)| *address).take(TABLES).collect()
                }
            };
            let mut found = Vec::new();
            for table in tables {
                let end = end_of_table(&starts, table);
                let targets = self.entries(jump, table..end, &sweep.instructions, left);
                left = left.saturating_sub(targets.len().max(1));
                found.extend(targets);
            }
            found.sort_unstable();
            found.dedup();
            if !found.is_empty() {
                targets.insert(jump.at, found);
            }
        }
        targets
    }

    /// The targets of a function's first table jump, in the table's order. Empty if it isn't understood.
    pub(crate) fn first_jump_table(&self, start: u64, code: &[u8]) -> Vec<u64> {
        let mut sweep = Sweep::default();
        sweep.look_through(start, code);
        let Some(jump) = sweep.jumps.first() else {
            return Vec::new();
        };
        let table = match jump.table {
            Table::At(address) => Some(address),
            Table::In(register) => {
                let mut before = Sweep::default();
                let length = usize::try_from(jump.at - start).unwrap_or(code.len());
                before.look_through(start, code.get(..length).unwrap_or(code));
                let mut loaded = before.loaded.into_iter().rev();
                let last = loaded.find(|(by, _)| *by == register);
                last.map(|(_, address)| address)
            }
        };
        table.map_or(Vec::new(), |table| {
            let end = end_of_table(&sweep.starts(), table);
            self.entries(jump, table..end, &sweep.instructions, MOST)
        })
    }

    /// The targets of a table's entries, up to the table's bound or the first entry that leads to no instruction; at most
    /// `most`.
    fn entries(
        &self,
        jump: &Jump,
        table: Range<u64>,
        instructions: &FxHashSet<u64>,
        most: usize,
    ) -> Vec<u64> {
        let size: usize = match jump.entries {
            Entries::Addresses => 8,
            Entries::Distances => 4,
        };
        let room = usize::try_from((table.end - table.start) / size as u64).unwrap_or(usize::MAX);
        let count = jump.bound.unwrap_or(LONGEST).min(LONGEST);
        let count = count.min(room).min(most);
        let main = &self.files.main;
        let bytes = main
            .elf
            .bytes_at(&main.bytes, table.start, count.saturating_mul(size));
        let entries = bytes.chunks_exact(size).map(|entry| {
            let low = |at: usize| entry.get(at).copied().unwrap_or(0);
            match jump.entries {
                Entries::Addresses => u64::from_le_bytes(std::array::from_fn(low)),
                Entries::Distances => {
                    let distance = i32::from_le_bytes(std::array::from_fn(low));
                    table.start.wrapping_add_signed(i64::from(distance))
                }
            }
        });
        entries
            .take_while(|target| instructions.contains(target))
            .collect()
    }
}

/// Where a table ends at the latest: where the next one may begin.
fn end_of_table(starts: &BTreeSet<u64>, table: u64) -> u64 {
    let next = starts.range((Excluded(table), Unbounded)).next();
    next.map_or(u64::MAX, |next| *next)
}

impl Sweep {
    /// The addresses at which tables may begin.
    fn starts(&self) -> BTreeSet<u64> {
        self.loaded.iter().map(|(_, address)| *address).collect()
    }

    fn look_through(&mut self, start: u64, code: &[u8]) {
        let end = start.saturating_add(code.len() as u64);
        let mut decoder = decoder(code, start);
        let mut before = VecDeque::with_capacity(LOOKED_AT);
        while decoder.can_decode() {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                continue;
            }
            self.instructions.insert(instruction.ip());
            if let Some((register, address)) = loaded(&instruction)
                && !(start..end).contains(&address)
            {
                self.loaded.push((register, address));
            }
            if instruction.flow_control() == FlowControl::IndirectBranch {
                self.jumps
                    .extend(jump(&instruction, before.make_contiguous()));
            }
            if before.len() == LOOKED_AT {
                before.pop_front();
            }
            before.push_back(instruction);
        }
    }
}

/// The register into which an instruction loads an address of the file, and the address.
fn loaded(instruction: &Instruction) -> Option<(Register, u64)> {
    let address = match instruction.mnemonic() {
        Mnemonic::Lea if instruction.is_ip_rel_memory_operand() => {
            instruction.ip_rel_memory_address()
        }
        Mnemonic::Mov if instruction.op0_kind() == OpKind::Register => match instruction.op1_kind()
        {
            OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64 => {
                instruction.immediate(1)
            }
            _ => return None,
        },
        _ => return None,
    };
    Some((instruction.op0_register().full_register(), address))
}

/// Decodes a jump and the instructions before it, if it goes through a table.
fn jump(instruction: &Instruction, before: &[Instruction]) -> Option<Jump> {
    let (from, behind) = match instruction.op0_kind() {
        OpKind::Memory => (instruction, before),
        OpKind::Register => {
            let target = instruction.op0_register().full_register();
            let by = reads_table(target, before)?;
            (before.get(by)?, before.get(..by)?)
        }
        _ => return None,
    };
    let entries = match from.memory_index_scale() {
        _ if from.memory_index() == Register::None => return None,
        8 => Entries::Addresses,
        4 if from.mnemonic() == Mnemonic::Movsxd => Entries::Distances,
        _ => return None,
    };
    let table = match (from.memory_base(), from.memory_displacement64()) {
        (Register::None, address) => Table::At(address),
        (register, 0) => {
            let register = register.full_register();
            loaded_just_before(register, behind).map_or(Table::In(register), Table::At)
        }
        _ => return None,
    };
    Some(Jump {
        at: instruction.ip(),
        table,
        entries,
        bound: bound(from.memory_index().full_register(), behind),
    })
}

/// The address that the straight code before the read of a table loads into a register. `None`: it writes the register in another way, or
/// not at all.
fn loaded_just_before(register: Register, before: &[Instruction]) -> Option<u64> {
    let straight = before.iter().rev().take_while(|instruction| {
        matches!(
            instruction.flow_control(),
            FlowControl::Next | FlowControl::ConditionalBranch
        )
    });
    let mut writes = straight.filter(|instruction| {
        writes_first(instruction) && instruction.op0_register().full_register() == register
    });
    let (_, address) = loaded(writes.next()?)?;
    Some(address)
}

/// The index of the instruction in `before` that reads the table's entry into `target`, the jump's register. The code
/// between may add another register. `None`: there is no such instruction.
fn reads_table(target: Register, before: &[Instruction]) -> Option<usize> {
    let mut wanted = vec![target];
    for (at, instruction) in before.iter().enumerate().rev() {
        let written = instruction.op0_register().full_register();
        if instruction.op_count() < 2 || !writes_first(instruction) || !wanted.contains(&written) {
            continue;
        }
        match (instruction.mnemonic(), instruction.op1_kind()) {
            (Mnemonic::Add, OpKind::Register) => {
                wanted.push(instruction.op1_register().full_register());
            }
            (Mnemonic::Mov | Mnemonic::Movsxd, OpKind::Memory) => return Some(at),
            _ => return None,
        }
    }
    None
}

fn writes_first(instruction: &Instruction) -> bool {
    let mut factory = InstructionInfoFactory::new();
    let access = factory.info(instruction).op0_access();
    instruction.op0_kind() == OpKind::Register
        && matches!(access, OpAccess::Write | OpAccess::ReadWrite)
}

/// The number of entries in a table, if the code before the read of the entry branches away for larger indexes.
fn bound(index: Register, before: &[Instruction]) -> Option<usize> {
    let compared = |pair: &[Instruction]| match pair {
        [compare, jump]
            if compare.mnemonic() == Mnemonic::Cmp && jump.mnemonic() == Mnemonic::Ja =>
        {
            let by_number = !matches!(compare.op1_kind(), OpKind::Register | OpKind::Memory);
            let this = compare.op0_register().full_register() == index;
            (by_number && this).then(|| usize::try_from(compare.immediate(1)).ok())?
        }
        _ => None,
    };
    let last = before.windows(2).rev().find_map(compared)?;
    last.checked_add(1)
}
