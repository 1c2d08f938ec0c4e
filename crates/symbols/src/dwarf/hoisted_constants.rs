//! Corrects rows of constants that rustc stores at a function's entry, but under the lines that declare them.
//!
//! Without optimisation, rustc keeps `let text = "…"` as a constant if it is used once. For debuggers, it also stores the
//! constant at the function's entry, under the line of the `let`, however far down that is. The prologue would end there,
//! and a thread would stop in the middle of the function before any of it has run. Such rows become part of the prologue.
//! Constants with which the function really begins keep their lines.

use crate::dwarf::blocks::BlockVariable;
use crate::dwarf::functions::Language;
use crate::dwarf::lines::{Lines, Row};
use crate::dwarf::{Dwarf, Unit};
use dapple_arch::instructions::{FRAME_POINTER, STACK_POINTER, decoder};
use gimli::{AttributeValue, UnitOffset, constants as dw};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::ops::Range;

/// The maximum of rows examined behind the end of a prologue.
const MOST_ROWS: usize = 256;

/// Corrects a unit's rows if its compiler is rustc.
pub(crate) fn correct<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, lines: &mut Lines) {
    if unit.language() != Language::Rust {
        return;
    }
    for sequence in &lines.sequences {
        let Some(rows) = lines.rows.get_mut(sequence.rows.clone()) else {
            continue;
        };
        let marks: Vec<usize> = (1..rows.len())
            .filter(|&at| rows[at].prologue_end)
            .collect();
        for mark in marks {
            correct_function(dwarf, unit, rows, mark, sequence.end);
        }
    }
}

/// Corrects one function; `mark` is the row that ends its prologue.
fn correct_function<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    rows: &mut [Row],
    mark: usize,
    end: u64,
) {
    let code = |rows: &[Row], at: usize| {
        let next = rows.get(at + 1).map_or(end, |next| next.address);
        rows[at].address..next
    };
    let only_constants = |rows: &[Row], at: usize| stores_constants(dwarf, &code(rows, at));
    let limit = rows.len().min(mark + MOST_ROWS);
    let constants = (mark..limit).take_while(|&at| only_constants(rows, at));
    let behind = mark + constants.count();
    let opening = rows[..mark].iter().rev().find(|row| row.line != 0).copied();
    let Some(opening) = opening.filter(|_| behind > mark && behind < limit) else {
        return;
    };
    let is_own = |row: &&Row| row.file == opening.file && row.line >= opening.line;
    let Some(first) = rows[behind..limit].iter().find(is_own).copied() else {
        return;
    };
    let is_hoisted = |row: &Row| !(is_own(&row) && row.line <= first.line);
    if !rows[mark..behind].iter().any(is_hoisted) {
        return;
    }
    let declared = declarations(dwarf, unit, opening.address);
    let mut before = opening;
    let mut body = None;
    for (at, row) in rows[..=behind].iter_mut().enumerate().skip(mark) {
        let is_constant = || declared.contains(&(row.file, row.line));
        if at < behind && is_hoisted(row) && is_constant() {
            (row.file, row.line, row.column) = (before.file, before.line, before.column);
            (row.is_stmt, row.prologue_end) = (false, false);
        } else {
            before = *row;
            body.get_or_insert(at);
        }
    }
    if let Some(body) = body {
        rows[body].prologue_end = true;
    }
}

/// The file numbers and lines of the declarations of a function's variables that have a fixed location, including those
/// of inlined calls.
fn declarations<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, address: u64) -> Vec<(u32, u32)> {
    let Some(function) = dwarf.index(unit).function_at(address) else {
        return Vec::new();
    };
    let blocks = dwarf.blocks(unit, function.offset);
    let declaration = |variable: &BlockVariable| {
        let chain = dwarf.chain(unit, UnitOffset(variable.offset));
        let (_, location) = chain.attribute(dw::DW_AT_location)?;
        let (_, file) = chain.attribute(dw::DW_AT_decl_file)?;
        let (_, line) = chain.attribute(dw::DW_AT_decl_line)?;
        let AttributeValue::Exprloc(_) = location else {
            return None;
        };
        let file = match file {
            AttributeValue::FileIndex(number) => u32::try_from(number).ok()?,
            other => u32::try_from(other.udata_value()?).ok()?,
        };
        Some((file, u32::try_from(line.udata_value()?).ok()?))
    };
    blocks.variables.iter().filter_map(declaration).collect()
}

/// Whether code only stores constants on the stack.
fn stores_constants(dwarf: &Dwarf<'_>, code: &Range<u64>) -> bool {
    let bytes = dwarf.x86_code(code);
    let mut constants: Vec<Register> = Vec::new();
    let mut stores = false;
    for instruction in decoder(bytes, code.start) {
        if instruction.is_invalid() || instruction.flow_control() != FlowControl::Next {
            return false;
        }
        if is_constant(&instruction) {
            constants.push(instruction.op0_register().full_register());
            continue;
        }
        let is_move = matches!(
            instruction.mnemonic(),
            Mnemonic::Mov | Mnemonic::Movss | Mnemonic::Movsd | Mnemonic::Movaps | Mnemonic::Movups
        );
        let is_on_stack = instruction.op0_kind() == OpKind::Memory
            && matches!(instruction.memory_base(), STACK_POINTER | FRAME_POINTER)
            && instruction.memory_index() == Register::None;
        let stored = match instruction.op1_kind() {
            OpKind::Register => constants.contains(&instruction.op1_register().full_register()),
            OpKind::Memory => false,
            _ => true,
        };
        if !is_move || !is_on_stack || !stored {
            return false;
        }
        stores = true;
    }
    stores
}

/// Whether an instruction loads a constant, or the address of one, into a register.
fn is_constant(instruction: &Instruction) -> bool {
    if instruction.op_count() != 2 || instruction.op0_kind() != OpKind::Register {
        return false;
    }
    let from_file =
        instruction.op1_kind() == OpKind::Memory && instruction.is_ip_rel_memory_operand();
    match instruction.mnemonic() {
        Mnemonic::Lea => from_file,
        Mnemonic::Mov => {
            from_file || !matches!(instruction.op1_kind(), OpKind::Memory | OpKind::Register)
        }
        Mnemonic::Movss | Mnemonic::Movsd | Mnemonic::Movaps | Mnemonic::Movups => from_file,
        Mnemonic::Xor | Mnemonic::Xorps => {
            instruction.op1_kind() == OpKind::Register
                && instruction.op0_register() == instruction.op1_register()
        }
        _ => false,
    }
}
