//! Corrects rows to which g++ gives the wrong line, when a line table is read.
//!
//! Without optimisation, g++ assigns some code of a statement to another line. Code for the elements of initializer lists
//! gets the line of the function's closing brace (seen with gcc 12), reads of variables that a lambda captures by value
//! get the lambda's opening line, and generated code of coroutines gets both. A step would jump to that line from the
//! middle of a statement, and a breakpoint on the statement would be behind its first half.
//!
//! Control flow identifies such stray rows: the brace's own code ends in the return, while the code of stray rows continues
//! into the statement. Here they get the statement's line. In a coroutine, the code at the entry that selects the resume
//! point gets the opening line, and the code behind the body gets the closing brace's.

use crate::dwarf::functions::Language;
use crate::dwarf::index::FunctionEntry;
use crate::dwarf::lines::{Lines, Row};
use crate::dwarf::{Dwarf, Unit};
use crate::instruction_sets::InstructionSets;
use crate::symbols::SymbolTable;
use dapple_arch::{InstructionSet, Machine};
use ends::{ends_in_call, goes_on, returns};
pub(crate) use ends::{jump, jump_before_last};
use gimli::{UnitOffset, UnitType, constants as dw};
use std::ops::Range;

mod ends;

/// What a row says besides the address: file, line, column.
type Says = (u32, u32, u32);

/// Consecutive rows of a function with the same file, line and column.
#[derive(Debug)]
struct Run {
    /// Indexes in [`Lines::rows`].
    rows: Range<usize>,
    says: Says,
    code: Range<u64>,
}

fn says(row: &Row) -> Says {
    (row.file, row.line, row.column)
}

/// Corrects a unit's rows if its compiler is g++ without optimisation.
pub(crate) fn correct<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, lines: &mut Lines) {
    let Some(first) = lines.sequences.first() else {
        return;
    };
    if unit.language() != Language::Cpp {
        return;
    }
    // A type unit has no code; its line table belongs to another unit.
    let is_types = matches!(
        unit.own.dw.header.type_(),
        UnitType::Type { .. } | UnitType::SplitType { .. }
    );
    let unit = match is_types {
        true => dwarf.units_at(first.start).next(),
        false => Some(unit),
    };
    let Some(unit) = unit.filter(|unit| unit.optimised() == Some(false)) else {
        return;
    };
    for function in &dwarf.index(unit).functions {
        let runs = runs(lines, function);
        if runs.len() < 3 {
            continue;
        }
        if is_coroutine(dwarf, unit, function, &runs) {
            correct_coroutine(dwarf, lines, &runs);
        } else {
            correct_function(dwarf, unit, lines, function, &runs);
        }
    }
}

fn runs(lines: &Lines, function: &FunctionEntry) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let Some(code) = function.ranges.first() else {
        return runs;
    };
    let Some(sequence) = lines.sequence_at(code.start) else {
        return runs;
    };
    let all = &lines.rows[sequence.rows.clone()];
    let first = sequence.rows.start + all.partition_point(|row| row.address < code.start);
    let end = sequence.rows.start + all.partition_point(|row| row.address < code.end);
    for index in first..end {
        let row = &lines.rows[index];
        match runs.last_mut() {
            Some(last) if last.says == says(row) => last.rows.end = index + 1,
            last => {
                if let Some(last) = last {
                    last.code.end = row.address;
                }
                runs.push(Run {
                    rows: index..index + 1,
                    says: says(row),
                    code: row.address..code.end.min(sequence.end),
                });
            }
        }
    }
    runs
}

/// Gives the rows of `run` another file, line and column.
fn give(lines: &mut Lines, run: &Run, other: Says) {
    for row in &mut lines.rows[run.rows.clone()] {
        (row.file, row.line, row.column) = other;
    }
}

impl<'a> Dwarf<'a> {
    /// The bytes of a code range in the file.
    pub(crate) fn code(&self, code: &Range<u64>) -> &[u8] {
        let main = &self.files.main;
        let length = usize::try_from(code.end.saturating_sub(code.start)).unwrap_or(0);
        main.elf.bytes_at(&main.bytes, code.start, length)
    }

    /// As [`Dwarf::code`], for what knows x86-64's instructions: empty for other machines.
    pub(crate) fn x86_code(&self, code: &Range<u64>) -> &[u8] {
        match self.machine() {
            Machine::X86_64 => self.code(code),
            _ => &[],
        }
    }

    /// The processor that the code is for.
    pub(crate) fn machine(&self) -> Machine {
        self.files.main.elf.machine
    }

    /// How the code at an address is decoded.
    pub(crate) fn instruction_set(&self, address: u64) -> InstructionSet {
        if self.machine() != Machine::Arm {
            return self.machine().into();
        }
        let read = || InstructionSets::read(self.files, &SymbolTable::new(self.files));
        self.instruction_sets.get_or_init(read).at(address)
    }

    fn first_parameter(&self, unit: &Unit<'a>, function: &FunctionEntry) -> Option<&'a [u8]> {
        let blocks = self.blocks(unit, function.offset);
        let first = blocks
            .variables
            .iter()
            .find(|v| v.parameter && v.block == 0)?;
        let chain = self.chain(unit, UnitOffset(first.offset));
        self.chain_text(&chain, dw::DW_AT_name)
    }
}

/// Whether code only reads through a pointer in the function's frame: `mov rax, [rbp-n]`, and a load into any register.
fn only_reads_capture(code: &[u8]) -> bool {
    let load = match code {
        [0x48 | 0x4c, 0x8b, base, _, load @ ..] if base & 0xc7 == 0x45 => load,
        [0x48 | 0x4c, 0x8b, base, _, _, _, _, load @ ..] if base & 0xc7 == 0x85 => load,
        _ => return false,
    };
    let load = match load {
        [0x66 | 0xf2 | 0xf3, load @ ..] => load,
        load => load,
    };
    let load = match load {
        [0x40..=0x4f, load @ ..] => load,
        load => load,
    };
    let place = match load {
        [0x8b, place @ ..] => place,
        // movups, movaps; movq; movzx, movsx.
        [
            0x0f,
            0x10 | 0x28 | 0x6f | 0x7e | 0xb6 | 0xb7 | 0xbe | 0xbf,
            place @ ..,
        ] => place,
        _ => return false,
    };
    // The memory operand has a base register, without an index.
    match place {
        [form, ..] if form & 7 == 4 => false,
        [form] => form & 0xc0 == 0,
        [form, _] => form & 0xc0 == 0x40,
        [form, _, _, _, _] => form & 0xc0 == 0x80,
        _ => false,
    }
}

/// Corrects a function that is no coroutine: stray rows of its closing brace and, in a lambda, of the opening line.
fn correct_function<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    lines: &mut Lines,
    function: &FunctionEntry,
    runs: &[Run],
) {
    let Some(last) = runs
        .iter()
        .position(|run| returns(dwarf.instruction_set(run.code.start), dwarf.code(&run.code)))
    else {
        return;
    };
    let (opening, closing) = (runs[0].says, runs[last].says);
    if opening == closing {
        return;
    }
    let captured = |run: &Run| {
        let (file, line, column) = run.says;
        (file, line) == (opening.0, opening.1)
            && column != opening.2
            && only_reads_capture(dwarf.x86_code(&run.code))
    };
    let mut lambda = None;
    let mut is_lambda = || {
        *lambda.get_or_insert_with(|| dwarf.first_parameter(unit, function) == Some(b"__closure"))
    };
    // From the last run to the first, so that adjacent stray runs all get the statement's line.
    let mut next = closing;
    for (index, run) in runs.iter().enumerate().take(last).skip(1).rev() {
        let stray = match run.says == closing {
            true => {
                goes_on(dwarf.instruction_set(run.code.start), dwarf.code(&run.code))
                    && !only_returns(dwarf, &runs[index + 1], &runs[last])
            }
            false => next.1 != run.says.1 && captured(run) && is_lambda(),
        };
        match stray {
            true => give(lines, run, next),
            false => next = run.says,
        }
    }
}

/// Whether a run only puts a function's result into its register and jumps to the return. Such code is behind the
/// destructors of the closing brace, and isn't stray.
fn only_returns(dwarf: &Dwarf<'_>, run: &Run, last: &Run) -> bool {
    /// In bytes: the longest move, followed by a jump.
    const LONGEST: usize = 16;
    let code = dwarf.code(&run.code);
    if code.len() > LONGEST {
        return false;
    }
    match jump(dwarf.instruction_set(run.code.start), code) {
        Some(distance) => last
            .code
            .contains(&run.code.end.wrapping_add_signed(distance)),
        None => run.code.end == last.code.start,
    }
}

/// Whether the function is the one with which g++ resumes or destroys a coroutine.
fn is_coroutine<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    function: &FunctionEntry,
    runs: &[Run],
) -> bool {
    // The opening line recurs, and the only parameter is the coroutine's frame.
    runs[1..].iter().any(|run| run.says == runs[0].says)
        && dwarf.first_parameter(unit, function) == Some(b"frame_ptr")
        && dwarf
            .chain(unit, UnitOffset(function.offset))
            .flag(dw::DW_AT_artificial)
}

fn correct_coroutine(dwarf: &Dwarf<'_>, lines: &mut Lines, runs: &[Run]) {
    let opening = runs[0].says;
    // The run behind the first, which has the opening line, has the closing brace's line: its code selects the resume
    // point.
    let Some(closing) = runs.get(1).map(|run| run.says) else {
        return;
    };
    let is_stray = |run: &&Run| run.says == opening || run.says == closing;
    let first = runs.iter().position(|run| !is_stray(&run));
    let last = runs.iter().rposition(|run| !is_stray(&run));
    let (Some(first), Some(last)) = (first, last) else {
        return;
    };
    let statements = |lines: &mut Lines, run: &Run, count: usize| {
        for row in lines.rows[run.rows.clone()].iter_mut().skip(count) {
            row.is_stmt = false;
        }
    };
    for (index, run) in runs[..first].iter().enumerate() {
        give(lines, run, opening);
        statements(lines, run, usize::from(index < 2));
    }
    let mut next = runs[last].says;
    for (index, run) in runs[first..last].iter().enumerate().rev() {
        // What stores a call's result is the end of the call's statement.
        let called = (first + index).checked_sub(1).and_then(|at| runs.get(at));
        let called = called.filter(|before| {
            run.says == closing
                && !is_stray(before)
                && ends_in_call(
                    dwarf.instruction_set(before.code.start),
                    dwarf.code(&before.code),
                )
        });
        if !is_stray(&run) {
            next = run.says;
        } else if let Some(called) = called {
            give(lines, run, called.says);
            statements(lines, run, 0);
        } else if goes_on(dwarf.instruction_set(run.code.start), dwarf.code(&run.code)) {
            give(lines, run, next);
        } else {
            let before = runs[first..first + index]
                .iter()
                .rev()
                .find(|run| !is_stray(run));
            give(lines, run, before.map_or(next, |run| run.says));
            statements(lines, run, 0);
        }
    }
    // Keep only one statement, at the end of the body. The code behind it also runs when the coroutine suspends.
    for (index, run) in runs[last + 1..].iter().enumerate() {
        give(lines, run, closing);
        statements(lines, run, usize::from(index == 0));
    }
}

#[cfg(test)]
mod tests {
    use super::only_reads_capture;

    #[test]
    fn a_capture_is_read_by_two_loads() {
        // mov rax, [rbp-0x18]; mov edx, [rax]
        assert!(only_reads_capture(&[0x48, 0x8b, 0x45, 0xe8, 0x8b, 0x10]));
        // mov rax, [rbp-0x28]; mov rax, [rax+0x20]
        let this = [0x48, 0x8b, 0x45, 0xd8, 0x48, 0x8b, 0x40, 0x20];
        assert!(only_reads_capture(&this));
        // mov rax, [rbp-0x200]; movsd xmm0, [rax+0x100]
        let double = [
            0x48, 0x8b, 0x85, 0x00, 0xfe, 0xff, 0xff, 0xf2, 0x0f, 0x10, 0x80, 0x00, 0x01, 0, 0,
        ];
        assert!(only_reads_capture(&double));
        // With an instruction behind it: add eax, 1. Or with a computed address: [rax+rcx*4].
        let more = [0x48, 0x8b, 0x45, 0xe8, 0x8b, 0x00, 0x83, 0xc0, 0x01];
        assert!(!only_reads_capture(&more));
        assert!(!only_reads_capture(&[
            0x48, 0x8b, 0x45, 0xe8, 0x8b, 0x04, 0x88
        ]));
        // A call's argument: mov rax, [rbp-8]; mov rdi, rax.
        assert!(!only_reads_capture(&[
            0x48, 0x8b, 0x45, 0xf8, 0x48, 0x89, 0xc7
        ]));
        assert!(!only_reads_capture(&[]));
    }
}
