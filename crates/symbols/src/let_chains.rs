//! Where the bindings of Rust's let chains have a value.
//!
//! rustc gives what `if let Some(x) = a && x > 2` binds the block around the whole `if`: `x` is in scope before it is bound, and behind the
//! `if`, too. Such a variable is told by its block, which begins with its line or above it; a `let` opens its block when it is through. Without
//! optimisation it has a place of its own on the stack, so it has a value where each way from the function's beginning has
//! stored one there: where the `if` has failed, or is over, one hasn't.

use crate::blocks::{BlockKind, BlockVariable, Blocks};
use crate::dwarf::{Dwarf, Unit};
use crate::functions::{FunctionId, Language};
use crate::index::FunctionEntry;
use crate::plain_place::PlainPlace;
use crate::scopes::VariableKind;
use gimli::UnitOffset;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register,
};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::Range;

/// Larger functions are not followed, in bytes.
const LARGEST: u64 = 1 << 18;
/// Of how many variables that is known in one function: the bits of a number.
const MOST_VARIABLES: usize = 64;

/// A variable that may be in scope without a value, and the code where it has one.
#[derive(Debug)]
pub(crate) struct BoundInside {
    /// Its entry.
    pub offset: usize,
    pub bound: Vec<Range<u64>>,
}

/// Where a variable is, from a register on.
struct Slot {
    offset: usize,
    base: Register,
    from: i64,
    size: i64,
}

impl<'a> Dwarf<'a> {
    /// The variables of a function that have a value in a part of their scope only.
    pub(crate) fn bound_inside(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
        blocks: &Blocks,
    ) -> Vec<BoundInside> {
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
        flow.follow_all();
        let bound = |bit: usize| flow.ranges_with(1 << bit);
        let numbered = slots.iter().enumerate();
        numbered
            .map(|(bit, slot)| BoundInside {
                offset: slot.offset,
                bound: bound(bit),
            })
            .collect()
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
        let PlainPlace::RegisterOffset(register, from) = self.plain_place(&found, start)? else {
            return None;
        };
        // By their DWARF numbers (System V ABI for x86-64, figure 3.36).
        let base = match register {
            6 => Register::RBP,
            7 => Register::RSP,
            _ => return None,
        };
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
    /// The slots that it stores to, or takes the address of, by bits.
    stores: u64,
    control: FlowControl,
    target: u64,
    /// The slots that have been stored to on each way that leads here, once there is one.
    stored: Option<u64>,
}

/// A function's instructions and where they lead.
struct Flow {
    steps: Vec<Step>,
    by_address: FxHashMap<u64, usize>,
    /// What is stored at all jumps that lead nobody knows where.
    at_indirect: Option<u64>,
}

impl Flow {
    fn read(dwarf: &Dwarf<'_>, ranges: &[Range<u64>], slots: &[Slot]) -> Flow {
        let mut flow = Flow {
            steps: Vec::new(),
            by_address: FxHashMap::default(),
            at_indirect: None,
        };
        let mut info = InstructionInfoFactory::new();
        for range in ranges {
            let code = dwarf.code(range);
            for instruction in Decoder::with_ip(64, code, range.start, DecoderOptions::NONE) {
                flow.by_address.insert(instruction.ip(), flow.steps.len());
                flow.steps.push(Step {
                    code: instruction.ip()..instruction.next_ip(),
                    stores: stores(&instruction, slots, &mut info),
                    control: instruction.flow_control(),
                    target: instruction.near_branch_target(),
                    stored: None,
                });
            }
        }
        flow
    }

    /// What nothing leads to are the targets of indirect jumps, and where unwinding resumes.
    fn follow_all(&mut self) {
        for first in 0..self.steps.len() {
            if self.steps[first].stored.is_none() {
                let stored = self.at_indirect.filter(|_| first > 0);
                self.follow(first, stored.unwrap_or(0));
            }
        }
    }

    fn follow(&mut self, first: usize, stored: u64) {
        let mut queue = vec![(first, stored)];
        while let Some((at, stored)) = queue.pop() {
            let Some(step) = self.steps.get_mut(at) else {
                continue;
            };
            let on_all_ways = step.stored.map_or(stored, |before| before & stored);
            if step.stored.replace(on_all_ways) == Some(on_all_ways) {
                continue;
            }
            let behind = on_all_ways | step.stores;
            let target = self.by_address.get(&step.target).copied();
            let next = matches!(
                step.control,
                FlowControl::Next
                    | FlowControl::Call
                    | FlowControl::IndirectCall
                    | FlowControl::ConditionalBranch
            );
            let jumps = matches!(
                step.control,
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
            );
            if step.control == FlowControl::IndirectBranch {
                let before = self.at_indirect.unwrap_or(u64::MAX);
                self.at_indirect = Some(before & behind);
            }
            queue.extend(next.then_some((at + 1, behind)));
            queue.extend(target.filter(|_| jumps).map(|target| (target, behind)));
        }
    }

    fn ranges_with(&self, bit: u64) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let stored = |step: &&Step| step.stored.is_some_and(|stored| stored & bit != 0);
        for step in self.steps.iter().filter(stored) {
            match ranges.last_mut() {
                Some(last) if last.end == step.code.start => last.end = step.code.end,
                _ => ranges.push(step.code.clone()),
            }
        }
        ranges
    }
}

fn stores(instruction: &Instruction, slots: &[Slot], info: &mut InstructionInfoFactory) -> u64 {
    let base = instruction.memory_base();
    if !matches!(base, Register::RSP | Register::RBP) {
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
