//! Finds the code in which the bindings of Rust's let chains have a value.
//!
//! rustc puts the binding of `if let Some(x) = a && x > 2` in a block around the whole `if`, so `x` is in scope before it
//! is bound, and also behind the `if`. Such a block starts on the line of the variable's declaration or above it; the block
//! of a plain `let` starts when its value is computed. Without optimisation the variable has its own stack slot. It has a
//! value where every path from the function's entry has stored to that slot. Behind the `if`, the paths on which the
//! condition was false have not stored.

use crate::dwarf::blocks::{BlockKind, BlockVariable, Blocks};
use crate::dwarf::fixed_location::FixedLocation;
use crate::dwarf::functions::{FunctionId, Language};
use crate::dwarf::index::FunctionEntry;
use crate::dwarf::scopes::VariableKind;
use crate::dwarf::{Dwarf, Unit};
use crate::indirect::own_code;
use dapple_arch::instructions::{FRAME_POINTER, STACK_POINTER, decoder, general};
use gimli::{UnitOffset, constants as dw};
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::Range;

/// In bytes; larger functions are not analysed.
const LARGEST: u64 = 1 << 18;
/// The maximum of analysed variables in one function: the bits of a `u64`.
const MOST_VARIABLES: usize = 64;

/// The maximum length of a jump table, in entries.
const LARGEST_TABLE: u64 = 1 << 12;

/// A variable that may be in scope without a value, and the code in which it has one.
#[derive(Debug)]
pub(crate) struct BindingRanges {
    /// The offset of the variable's entry in the unit.
    pub offset: usize,
    pub bound: Vec<Range<u64>>,
}

/// The stack slot of a variable: `size` bytes at `base + from`.
struct Slot {
    offset: usize,
    base: Register,
    from: i64,
    size: i64,
}

impl<'a> Dwarf<'a> {
    /// The variables of a Rust function that may have a value in only a part of their scope, and that part. Considers at
    /// most [`MOST_VARIABLES`], which must be on the stack. Empty for other languages, if the function is too large, and if
    /// a jump's targets are unknown.
    pub(crate) fn binding_ranges(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
        blocks: &Blocks,
    ) -> Vec<BindingRanges> {
        if unit.language() != Language::Rust {
            return Vec::new();
        }
        let variables = blocks.variables.iter();
        let slots: Vec<Slot> = variables
            .filter_map(|variable| self.slot_with_wide_scope(unit, function, blocks, variable))
            .take(MOST_VARIABLES)
            .collect();
        let sizes = function.ranges.iter().map(|code| code.end - code.start);
        if slots.is_empty() || sizes.sum::<u64>() > LARGEST {
            return Vec::new();
        }
        let mut flow = Flow::read(self, &function.ranges, &slots);
        if flow.follow().is_none() {
            return Vec::new();
        }
        let bound = |bit: usize| flow.ranges_with(1 << bit);
        let numbered = slots.iter().enumerate();
        numbered
            .map(|(bit, slot)| BindingRanges {
                offset: slot.offset,
                bound: bound(bit),
            })
            .collect()
    }

    /// The address that a call leads to. `None`: neither the instruction nor the file's global offset table has it.
    fn callee(&self, call: &Instruction) -> Option<u64> {
        if call.flow_control() == FlowControl::Call {
            return Some(call.near_branch_target());
        }
        if !call.is_ip_rel_memory_operand() {
            return None;
        }
        let own_code = self.own_code.get_or_init(|| own_code(&self.files.main));
        own_code.get(&call.ip_rel_memory_address()).copied()
    }

    /// Whether a call of the code at `target` may return. Functions that don't are marked (DWARF 5 §3.3.1); the code
    /// behind such a call is not reached from it.
    fn may_return(&self, target: u64) -> bool {
        self.function_entry_at(target).is_none_or(|(unit, entry)| {
            let chain = self.chain(unit, UnitOffset(entry.offset));
            chain.attribute(dw::DW_AT_noreturn).is_none()
        })
    }

    fn slot_with_wide_scope(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
        blocks: &Blocks,
        variable: &BlockVariable,
    ) -> Option<Slot> {
        let block = blocks.blocks.get(variable.block as usize)?;
        if variable.parameter || block.kind == BlockKind::Inlined {
            return None;
        }
        let start = block.ranges.iter().map(|range| range.start).min()?;
        let declaration = self.declaration(&self.chain(unit, UnitOffset(variable.offset)))?;
        let lines = self.lines(unit);
        let first = lines.row_at(start)?;
        let row = lines.rows.get(first)?;
        let before = lines.rows.get(..first)?;
        let begins_line = || {
            let before = before.iter().rev().find(|row| row.line != 0);
            before.is_none_or(|before| before.line != row.line || before.file != row.file)
        };
        let is_wide = match row.line.cmp(&declaration.line) {
            Ordering::Less => row.line != 0,
            Ordering::Equal => begins_line(),
            Ordering::Greater => false,
        };
        if !is_wide || self.file_numbered(unit, u64::from(row.file))? != declaration.file {
            return None;
        }
        let id = FunctionId {
            unit: unit.index,
            offset: function.offset,
        };
        let found = self.variable(unit, variable.offset, VariableKind::Local, 0, Some(id))?;
        let size = found.type_id.and_then(|id| self.type_size(id));
        let FixedLocation::RegisterOffset(register, from) = self.fixed_location(&found, start)?
        else {
            return None;
        };
        let base =
            general(register).filter(|base| matches!(*base, STACK_POINTER | FRAME_POINTER))?;
        Some(Slot {
            offset: variable.offset,
            base,
            from,
            size: i64::try_from(size?).ok().filter(|size| *size > 0)?,
        })
    }
}

struct Step {
    code: Range<u64>,
    /// The slots that the instruction stores to, or takes the address of, as bits.
    stores: u64,
    /// Whether control may continue at the next instruction.
    goes_on: bool,
    /// The jump targets; `None` if unknown.
    targets: Option<Vec<u64>>,
    /// The slots stored to on every path to this instruction, as bits; `None` until a path is found.
    stored: Option<u64>,
}

/// A function's instructions with their control flow.
struct Flow {
    steps: Vec<Step>,
    by_address: FxHashMap<u64, usize>,
}

impl Flow {
    fn read(dwarf: &Dwarf<'_>, ranges: &[Range<u64>], slots: &[Slot]) -> Flow {
        let mut flow = Flow {
            steps: Vec::new(),
            by_address: FxHashMap::default(),
        };
        let mut info = InstructionInfoFactory::new();
        let mut returns: FxHashMap<u64, bool> = FxHashMap::default();
        for range in ranges {
            let code = dwarf.x86_code(range);
            // The last address that the code has taken with an IP-relative `lea`; may be that of a jump table.
            let mut taken = None;
            for instruction in decoder(code, range.start) {
                if instruction.mnemonic() == Mnemonic::Lea && instruction.is_ip_rel_memory_operand()
                {
                    taken = Some(instruction.ip_rel_memory_address());
                }
                let target = instruction.near_branch_target();
                let control = instruction.flow_control();
                let targets = match control {
                    FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                        Some(vec![target])
                    }
                    FlowControl::IndirectBranch => {
                        taken.and_then(|table| jump_table(dwarf, table, ranges))
                    }
                    _ => Some(Vec::new()),
                };
                flow.by_address.insert(instruction.ip(), flow.steps.len());
                flow.steps.push(Step {
                    code: instruction.ip()..instruction.next_ip(),
                    stores: stores(&instruction, slots, &mut info),
                    goes_on: match control {
                        FlowControl::Next | FlowControl::ConditionalBranch => true,
                        FlowControl::Call | FlowControl::IndirectCall => {
                            dwarf.callee(&instruction).is_none_or(|target| {
                                *returns
                                    .entry(target)
                                    .or_insert_with(|| dwarf.may_return(target))
                            })
                        }
                        _ => false,
                    },
                    targets,
                    stored: None,
                });
            }
        }
        flow
    }

    /// Follows all paths from the function's entry. `None` if a jump target is unknown.
    fn follow(&mut self) -> Option<()> {
        let mut queue = vec![(0, 0)];
        while let Some((at, stored)) = queue.pop() {
            let Some(step) = self.steps.get_mut(at) else {
                continue;
            };
            let on_all_ways = step.stored.map_or(stored, |before| before & stored);
            if step.stored.replace(on_all_ways) == Some(on_all_ways) {
                continue;
            }
            let behind = on_all_ways | step.stores;
            queue.extend(step.goes_on.then_some((at + 1, behind)));
            let targets = step.targets.as_ref()?.iter();
            let targets = targets.filter_map(|target| self.by_address.get(target));
            queue.extend(targets.map(|target| (*target, behind)));
        }
        Some(())
    }

    /// The code where every path has stored to the slot, and the code that no path reaches, since only unwinding leads
    /// there.
    fn ranges_with(&self, bit: u64) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let stored = |step: &&Step| step.stored.is_none_or(|stored| stored & bit != 0);
        for step in self.steps.iter().filter(stored) {
            match ranges.last_mut() {
                Some(last) if last.end == step.code.start => last.end = step.code.end,
                _ => ranges.push(step.code.clone()),
            }
        }
        ranges
    }
}

/// The targets of the `jmp` behind `movslq (table,index,4), x; add table, x`. The table ends at the first target outside
/// of the function.
fn jump_table(dwarf: &Dwarf<'_>, table: u64, ranges: &[Range<u64>]) -> Option<Vec<u64>> {
    let bytes = dwarf.x86_code(&(table..table.saturating_add(4 * LARGEST_TABLE)));
    let entries = bytes.chunks_exact(4).map(|entry| {
        let distance = i32::from_le_bytes(entry.try_into().unwrap_or_default());
        table.wrapping_add_signed(distance.into())
    });
    let inside = |target: &u64| ranges.iter().any(|range| range.contains(target));
    let targets: Vec<u64> = entries.take_while(inside).collect();
    (!targets.is_empty()).then_some(targets)
}

fn stores(instruction: &Instruction, slots: &[Slot], info: &mut InstructionInfoFactory) -> u64 {
    let base = instruction.memory_base();
    if !matches!(base, STACK_POINTER | FRAME_POINTER) {
        return 0;
    }
    let place = instruction.memory_displacement64().cast_signed();
    let mut stored = 0;
    for (bit, slot) in slots.iter().enumerate() {
        let is_inside = |size: i64| {
            slot.base == base && place < slot.from + slot.size && slot.from < place + size.max(1)
        };
        let is_stored = match instruction.mnemonic() {
            Mnemonic::Lea => is_inside(1),
            _ => info.info(instruction).used_memory().iter().any(|used| {
                let writes = !matches!(
                    used.access(),
                    OpAccess::Read | OpAccess::CondRead | OpAccess::None | OpAccess::NoMemAccess
                );
                let size = i64::try_from(used.memory_size().size()).unwrap_or(1);
                writes && used.base() == base && is_inside(size)
            }),
        };
        stored |= u64::from(is_stored) << bit;
    }
    stored
}
