//! Disassembly: instructions around any address, as text that names what they refer to.
//!
//! Submodules find where instructions begin (`instructions`) and format them (`text`). The borders of code come from
//! [`dapple_symbols::Module::code_around`]. Breakpoint instructions don't show, because memory is read with the original bytes.

mod instructions;
#[cfg(test)]
mod tests;
mod text;

use crate::Address;
use crate::modules::{LoadedModule, Modules};
use dapple_arch::Memory;
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::lines::LineRow;
use instructions::{Code, Found};
use std::ops::Range;
use std::sync::Arc;
pub use text::Names;

/// The most instructions in one request, and the largest distance in instructions of the first one from the address.
pub const MOST_INSTRUCTIONS: usize = 1 << 16;

/// Which instructions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The address that instructions are counted from. An instruction begins here.
    pub address: Address,
    /// The first instruction, counted from `address`; may be negative.
    pub first: i64,
    /// The number of instructions.
    pub count: usize,
    /// Whether operands get the names of what they refer to.
    pub names: Names,
}

/// An instruction, or bytes that aren't one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Where it begins.
    pub address: Address,
    /// Its bytes; none where memory can't be read.
    pub bytes: Vec<u8>,
    /// Its text; in parentheses, why it is no instruction.
    pub text: String,
    /// Whether it is an instruction.
    pub is_valid: bool,
    /// The symbol that contains it, with the distance from the symbol's beginning: `main+0x1f`.
    pub symbol: Option<String>,
    /// Its source position.
    pub position: Option<SourcePosition>,
}

/// The instructions of a window, as many as requested, up to [`MOST_INSTRUCTIONS`]: where there are none, bytes take their places.
pub(crate) fn disassemble(
    window: &Window,
    modules: &Modules,
    memory: &dyn Memory,
) -> Vec<Instruction> {
    let code = Code { modules, memory };
    let at = window.address.0;
    let count = window.count.min(MOST_INSTRUCTIONS);
    let first = usize::try_from(window.first.unsigned_abs()).unwrap_or(usize::MAX);
    let first = first.min(MOST_INSTRUCTIONS);
    let found = if window.first < 0 {
        let mut found = code.before(at, first);
        match count.checked_sub(first) {
            Some(rest) => found.extend(code.from(at, rest)),
            None => found.truncate(count),
        }
        found
    } else {
        code.from(at, first + count).split_off(first)
    };
    described(&found, modules, memory, window.names)
}

/// The instructions of a piece of code, from at most [`MOST_INSTRUCTIONS`] bytes; they end where memory can't be read.
pub(crate) fn disassemble_range(
    range: Range<Address>,
    modules: &Modules,
    memory: &dyn Memory,
) -> Vec<Instruction> {
    let code = Code { modules, memory };
    let end = range.start.0.saturating_add(MOST_INSTRUCTIONS as u64);
    let found = code.within(range.start.0..range.end.0.min(end));
    described(&found, modules, memory, Names::Symbols)
}

fn described(
    found: &[Found],
    modules: &Modules,
    memory: &dyn Memory,
    names: Names,
) -> Vec<Instruction> {
    let mut describe = Describe {
        text: text::Text::new(modules, memory, names),
        modules,
        row: None,
    };
    let described = found.iter().map(|found| describe.instruction(found));
    described.collect()
}

/// The borders of the code around an address, if known: usually of a function.
pub(crate) fn code_around(address: Address, modules: &Modules) -> Option<Range<Address>> {
    let loaded = modules.at(address)?;
    let range = loaded.module.code_around(loaded.to_file(address))?;
    Some(loaded.to_process(range.start)..loaded.to_process(range.end))
}

/// Makes [`Instruction`]s. Reuses the symbol and the line row of the previous one, which neighbours often share.
struct Describe<'a> {
    text: text::Text<'a>,
    modules: &'a Modules,
    /// The line row of the previous instruction, with its module.
    row: Option<(Arc<LoadedModule>, LineRow)>,
}

impl Describe<'_> {
    fn instruction(&mut self, found: &Found) -> Instruction {
        let address = Address(found.address);
        Instruction {
            address,
            bytes: found.bytes().to_vec(),
            text: self.text.of(found),
            is_valid: found.instruction.is_some(),
            symbol: self.text.symbol(address),
            position: self.position(address),
        }
    }

    fn position(&mut self, address: Address) -> Option<SourcePosition> {
        let known = self.row.as_ref().is_some_and(|(loaded, row)| {
            loaded.contains(address) && row.range.contains(&loaded.to_file(address))
        });
        if !known {
            self.row = self.modules.at(address).and_then(|loaded| {
                let row = loaded.module.row_at(loaded.to_file(address))?;
                Some((Arc::clone(loaded), row))
            });
        }
        let (_, row) = self.row.as_ref().filter(|(_, row)| row.line != 0)?;
        Some(SourcePosition {
            file: Arc::clone(&row.file),
            line: row.line,
            column: row.column,
        })
    }
}
