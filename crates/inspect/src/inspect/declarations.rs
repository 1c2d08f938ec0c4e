//! Where in the source things are declared.

use super::Inspect;
use crate::frame::FrameId;
use crate::{Address, Error};
use dapple_symbols::functions::SourcePosition;

/// The declaration of a variable: the one at `index` in `list`, not counting variables that the linker has removed.
pub fn declaration(
    threads: &mut dyn Inspect,
    frame: FrameId,
    list: VariableList,
    index: usize,
) -> Result<Option<SourcePosition>, Error> {
    let frame = threads.frame(frame)?;
    if !frame.is_call() {
        return Ok(None);
    }
    let Some(loaded) = &frame.physical.module else {
        return Ok(None);
    };
    let lookup = loaded.to_file(frame.physical.lookup);
    let module = &loaded.module;
    let variables = match list {
        VariableList::Visible => module.variables_at(lookup, frame.inline_depth),
        VariableList::Statics => module.statics_at(lookup),
    };
    let mut shown = variables.into_iter().filter(|variable| !variable.dropped);
    let declaration = shown.nth(index);
    let declaration = declaration.and_then(|variable| variable.declaration);
    Ok(declaration.filter(|at| at.line != 0))
}

/// The declaration of the function that contains an address, or else the line of the address.
pub fn code_position(threads: &dyn Inspect, address: Address) -> Option<SourcePosition> {
    let loaded = threads.modules().at(address)?;
    let file = loaded.to_file(address);
    let function = loaded.module.function_at(file);
    let declaration = function.and_then(|function| function.declaration.clone());
    let row = || {
        let row = loaded.module.row_at(file)?;
        Some(SourcePosition {
            file: row.file,
            line: row.line,
            column: row.column,
        })
    };
    declaration.or_else(row).filter(|at| at.line != 0)
}

/// A list of a frame's variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableList {
    /// Parameters and local variables: [`crate::inspect::Inspect::variables`].
    Visible,
    /// Static variables: [`crate::inspect::Inspect::statics`].
    Statics,
}
