//! Finds the function of C or C++ that contains a source line, by source positions alone: the last function that begins
//! at or before the line.
//!
//! In optimised code, addresses don't show which function contains a line, because rows of an inlined function often have
//! addresses in the caller's code.

use crate::dwarf::functions::Language;
use crate::dwarf::{DEPTH_LIMIT, Dwarf, Unit};
use gimli::{UnitOffset, constants as dw};
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::Arc;

/// The declarations, sorted by file and line, of a unit's functions that have code or were inlined, without lambdas.
pub(crate) type FunctionLines = Vec<(Arc<Path>, u32)>;

impl<'a> Dwarf<'a> {
    /// The line at which the function that contains `line` begins. `None`: no function of the file begins at or before
    /// `line`. Always `None` in Rust, where closures are not described inside the functions that contain them.
    pub fn written_in(&self, unit: &Unit<'a>, file: &Path, line: u32) -> Option<u32> {
        let begins = self
            .index(unit)
            .function_lines
            .get_or_init(|| self.find_function_lines(unit));
        let behind = begins.partition_point(|(path, begins)| (&**path, *begins) <= (file, line));
        let (path, begins) = begins.get(behind.checked_sub(1)?)?;
        (**path == *file).then_some(*begins)
    }

    fn find_function_lines(&self, unit: &Unit<'a>) -> FunctionLines {
        if !matches!(unit.language(), Language::C | Language::Cpp) {
            return Vec::new();
        }
        let mut walk = Walk::default();
        // Ignores entries behind one that can't be read.
        let _ = walk.run(unit);
        let mut lines = FunctionLines::new();
        for offset in walk.with_code {
            let chain = self.chain(unit, UnitOffset(offset));
            // Skip lambdas: a lambda is declared inside the function that contains it, although its code is described
            // beside it.
            let declared = chain.links.last().map(|(_, entry)| entry.offset().0);
            if declared.is_some_and(|declared| walk.inside.contains(&declared)) {
                continue;
            }
            if let Some(at) = self.declaration(&chain).filter(|at| at.line != 0) {
                lines.push((at.file, at.line));
            }
        }
        lines.sort();
        lines.dedup();
        lines
    }
}

/// The functions of a unit, by the offsets of their entries.
#[derive(Default)]
struct Walk {
    with_code: Vec<usize>,
    /// Functions that are declared inside another function.
    inside: FxHashSet<usize>,
}

impl Walk {
    fn run(&mut self, unit: &Unit<'_>) -> gimli::Result<()> {
        let mut raw = unit.dw().entries_raw(None)?;
        let mut function: Option<isize> = None;
        while !raw.is_empty() {
            let (offset, depth) = (raw.next_offset().0, raw.next_depth());
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            if depth > DEPTH_LIMIT {
                break;
            }
            function = function.filter(|around| *around < depth);
            let specs = abbreviation.attributes();
            if abbreviation.tag() == dw::DW_TAG_subprogram {
                let code = [dw::DW_AT_low_pc, dw::DW_AT_ranges, dw::DW_AT_inline];
                if specs.iter().any(|spec| code.contains(&spec.name())) {
                    self.with_code.push(offset);
                }
                if function.is_some() {
                    self.inside.insert(offset);
                }
                function = function.or(Some(depth));
            }
            raw.skip_attributes(specs)?;
        }
        Ok(())
    }
}
