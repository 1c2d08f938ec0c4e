//! Finds the end of functions' prologues, where the frame is set up and the arguments are where the debug information
//! says. This is the place for breakpoints on functions.
//!
//! LLVM marks the row that starts there, but an earlier one in three cases: if a large frame is first touched page by
//! page, if AddressSanitizer makes its own stack, and if Rust's patterns for arguments have yet to be destructured. gcc
//! marks no row.

use crate::dwarf::functions::Language;
use crate::dwarf::index::FunctionEntry;
use crate::dwarf::lines::{Lines, Row};
use crate::dwarf::{Dwarf, Reader, Unit};
use dapple_arch::code::{Flow, Instructions};
use dapple_arch::instructions::{FRAME_BASES, INTEGER_ARGUMENTS, SCRATCH, STACK_POINTER, decoder};
use dapple_arch::{Address, Machine};
use gimli::{AttributeValue, UnitOffset, constants as dw};
use iced_x86::{Code, FlowControl, Instruction, OpKind, Register};
use std::ops::Range;

/// How much of a function's beginning is read, in bytes.
const LONGEST: u64 = 4096;

impl<'a> Dwarf<'a> {
    /// The end of the prologue of the function at `entry`; `entry` itself if the end is unknown. LLVM marks the row that
    /// starts there. gcc doesn't: without optimisation, its second row starts behind the prologue (in DWARF 4 and 5 alike,
    /// as gdb assumes); with optimisation there is no such place, but location lists are valid from the entry on.
    pub(crate) fn after_prologue(&self, entry: u64) -> u64 {
        let found = self.function_entry_at(entry);
        let unit = found
            .map(|(unit, _)| unit)
            .or_else(|| self.units_at(entry).next());
        let Some((unit, lines)) = unit.map(|unit| (unit, self.lines(unit))) else {
            return entry;
        };
        let Some(sequence) = lines.sequence_at(entry) else {
            return entry;
        };
        // If the debug information has lines but no functions, a sequence that starts here counts as a function.
        let code = match found {
            Some((_, function)) => function
                .ranges
                .iter()
                .find(|range| range.contains(&entry))
                .cloned(),
            None => Some(sequence.start..sequence.end).filter(|code| code.start == entry),
        };
        let Some(code) = code else {
            return entry;
        };
        let rows = lines.rows_in(sequence, entry..code.end);
        let marked = rows.iter().position(|row| row.prologue_end);
        let is_llvms = unit.optimised().is_none() && !self.sets_up_frame_pointer(entry);
        if let Some(marked) = marked.or(is_llvms.then_some(0)) {
            let function = found.map(|(_, function)| function);
            return self
                .behind_marked(unit, function, rows, marked)
                .unwrap_or(entry);
        }
        if unit.optimised() == Some(true) {
            return entry;
        }
        rows.iter()
            .find(|row| row.address > entry && row.line != 0)
            .map_or(entry, |row| row.address)
    }

    /// Whether the code at a function's entry is `push rbp; mov rbp, rsp`.
    fn sets_up_frame_pointer(&self, entry: u64) -> bool {
        if self.machine() != Machine::X86_64 {
            return false;
        }
        const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
        let main = &self.files.main;
        let code = main.elf.bytes_at(&main.bytes, entry, 8);
        let code = code.strip_prefix(&ENDBR64).unwrap_or(code);
        code.starts_with(&[0x55, 0x48, 0x89, 0xe5]) || code.starts_with(&[0x55, 0x48, 0x8b, 0xec])
    }

    /// The end of the prologue, given the function's `rows`, and the index `marked` of the row that LLVM marks (0 if it
    /// marks none). `None`: there is no such row.
    fn behind_marked(
        &self,
        unit: &Unit<'a>,
        function: Option<&FunctionEntry>,
        rows: &[Row],
        marked: usize,
    ) -> Option<u64> {
        let (opening, mark) = (rows.first()?, rows.get(marked)?);
        let is_header = |row: &Row| {
            (row.file, row.line, row.column) == (opening.file, opening.line, opening.column)
        };
        let behind = rows[marked..]
            .iter()
            .find(|row| row.line != 0 && row.address > mark.address && !is_header(row));
        let in_place = || {
            let function = function.map(|function| self.parameters_at(unit, function.offset));
            function.is_some_and(|all| all.iter().any(|one| one.has_one_place))
        };
        if let Some(behind) = behind.filter(|_| is_header(mark))
            && self.is_set_up_late(opening.address, mark.address, behind.address)
            && in_place()
        {
            return Some(behind.address);
        }
        let function = function.filter(|_| unit.language() == Language::Rust);
        let body = function.and_then(|one| self.behind_patterns(unit, one, rows, marked));
        body.or(Some(mark.address))
    }

    /// Whether the function's frame, or the place of its arguments, is only set up behind the mark. Two kinds of code
    /// show that: pages of the stack are touched behind the mark (`mov r11, rsp`, seen with LLVM 22), or code behind the
    /// mark stores the register of an argument that no earlier code has stored or changed.
    fn is_set_up_late(&self, entry: u64, mark: u64, behind: u64) -> bool {
        let code = self.x86_code(&(entry..behind.min(entry.saturating_add(LONGEST))));
        let mut left = INTEGER_ARGUMENTS.to_vec();
        for instruction in decoder(code, entry) {
            let is_late = instruction.ip() >= mark;
            let touches_pages = instruction.code() == Code::Mov_rm64_r64
                && instruction.op0_register() == SCRATCH
                && instruction.op1_register() == STACK_POINTER;
            if is_late && touches_pages {
                return true;
            }
            if is_late && instruction.flow_control() != FlowControl::Next {
                return false;
            }
            if let Some(stored) = stored_register(&instruction) {
                let stored = stored.full_register();
                if is_late && left.contains(&stored) {
                    return true;
                }
                left.retain(|register| *register != stored);
            } else if instruction.op_count() > 0 && instruction.op0_kind() == OpKind::Register {
                let changed = instruction.op0_register().full_register();
                left.retain(|register| *register != changed);
            }
        }
        false
    }

    /// The end of the code that destructures patterns of arguments, such as `|(key, value)|`; such an argument has no
    /// name itself. The code that moves the parts to their places is on the lines of these arguments and makes no calls.
    fn behind_patterns(
        &self,
        unit: &Unit<'a>,
        function: &FunctionEntry,
        rows: &[Row],
        marked: usize,
    ) -> Option<u64> {
        let mark = rows.get(marked)?;
        let parameters = self.parameters_at(unit, function.offset).into_iter();
        let patterns = parameters.filter(|one| one.is_pattern && one.has_one_place);
        let lines: Vec<u32> = patterns.filter_map(|one| one.line).collect();
        if !lines.contains(&mark.line) {
            return None;
        }
        let on_header = |row: &&Row| lines.contains(&row.line) && row.file == mark.file;
        let header = rows[marked..].iter().take_while(on_header).count();
        let next = rows.get(marked + header).map(|row| row.address);
        let end = next.or_else(|| Some(function.ranges.first()?.end))?;
        let blocks = self.blocks(unit, function.offset);
        let bound = blocks.variables.iter().filter(|variable| {
            !variable.parameter && {
                let chain = self.chain(unit, UnitOffset(variable.offset));
                let declaration = self.declaration(&chain);
                declaration.is_some_and(|declared| lines.contains(&declared.line))
            }
        });
        let starts = bound.filter_map(|variable| {
            let block = blocks.blocks.get(variable.block as usize)?;
            let ranges = block.ranges.iter().filter(|range| !range.is_empty());
            (block.parent == 0).then(|| ranges.map(|range| range.start).min())?
        });
        let body = starts.min()?;
        let moves = mark.address..body;
        let code = Instructions::flows(
            self.instruction_set(moves.start),
            self.code(&moves),
            Address(moves.start),
        );
        let only_moves = { code }.all(|instruction| instruction.flow == Flow::Next);
        (body > mark.address && body <= end && moves.end - moves.start <= LONGEST && only_moves)
            .then_some(body)
    }

    fn parameters_at(&self, unit: &Unit<'a>, function: usize) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let Ok(mut tree) = unit.dw().entries_tree(Some(UnitOffset(function))) else {
            return parameters;
        };
        let Ok(root) = tree.root() else {
            return parameters;
        };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            if entry.tag() != dw::DW_TAG_formal_parameter {
                continue;
            }
            let line = entry.attr_value(dw::DW_AT_decl_line);
            let location = entry.attr_value(dw::DW_AT_location);
            parameters.push(Parameter {
                line: line.and_then(|line| u32::try_from(line.udata_value()?).ok()),
                is_pattern: entry.attr_value(dw::DW_AT_name).is_none()
                    && entry.attr_value(dw::DW_AT_abstract_origin).is_none(),
                has_one_place: location.is_some_and(|location| is_on_stack(&location)),
            });
        }
        parameters
    }
}

/// Whether a location is one place in memory, as that of a variable on the stack, judged by its first operation: an offset from the frame base
/// or from a register. A location list or a register itself is none.
fn is_on_stack(location: &AttributeValue<Reader<'_>>) -> bool {
    let AttributeValue::Exprloc(expression) = location else {
        return false;
    };
    let first = expression.0.slice().first().map(|&first| dw::DwOp(first));
    first.is_some_and(|first| {
        first == dw::DW_OP_fbreg || (dw::DW_OP_breg0.0..=dw::DW_OP_breg31.0).contains(&first.0)
    })
}

/// A parameter according to its entry.
struct Parameter {
    line: Option<u32>,
    /// Whether the parameter has no name.
    is_pattern: bool,
    /// Whether the parameter stays at one place on the stack, as in unoptimised code.
    has_one_place: bool,
}

/// The register that an instruction stores on the stack.
fn stored_register(instruction: &Instruction) -> Option<Register> {
    let is_store = instruction.op0_kind() == OpKind::Memory
        && instruction.op1_kind() == OpKind::Register
        && FRAME_BASES.contains(&instruction.memory_base());
    let stored = is_store.then(|| instruction.op1_register())?;
    stored.is_gpr().then_some(stored)
}

impl Lines {
    /// The rows of a sequence in an address range.
    pub fn rows_in(
        &self,
        sequence: &crate::dwarf::lines::Sequence,
        addresses: Range<u64>,
    ) -> &[Row] {
        let rows = self.rows.get(sequence.rows.clone()).unwrap_or(&[]);
        let first = rows.partition_point(|row| row.address < addresses.start);
        let end = rows.partition_point(|row| row.address < addresses.end);
        rows.get(first..end).unwrap_or(&[])
    }
}
