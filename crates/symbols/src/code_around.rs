//! Where code is known to begin and end: what a disassembler needs, as x86's instructions can't be read backwards.

use crate::cfi::Frames;
use crate::elf::Section;
use crate::symbols::SymbolTable;
use crate::{FileAddress, Module};
use std::ops::Range;

/// Narrows `range`, which covers `address`, by borders: those at or before the address, and those behind it.
pub(crate) fn narrow(range: &mut Range<u64>, address: u64, borders: impl IntoIterator<Item = u64>) {
    for border in borders {
        if border <= address {
            range.start = range.start.max(border);
        } else {
            range.end = range.end.min(border);
        }
    }
}

/// The section that covers `address`, or the gap between two.
fn in_sections(sections: &[Section], address: u64) -> Range<u64> {
    let mut range = 0..u64::MAX;
    for section in sections.iter().filter(|section| section.loaded()) {
        let end = section.address.saturating_add(section.size);
        narrow(&mut range, address, [section.address, end]);
    }
    range
}

impl Module {
    /// The piece of code around `address` that is known to be one: an instruction begins where it begins, and none goes beyond its end.
    /// A function, by the unwind table; elsewhere, what is between symbols; in a stripped module perhaps a whole section.
    /// `None` where no code is.
    pub fn code_around(&self, address: FileAddress) -> Option<Range<FileAddress>> {
        let segments = self.segments().iter();
        let mut segments = segments.filter(|segment| segment.executable);
        let segment = segments.find(|s| address.0.wrapping_sub(s.address.0) < s.size)?;
        let end = segment.address.0.saturating_add(segment.size);
        let sections = in_sections(&self.files().main.elf.sections, address.0);
        let mut range = sections;
        narrow(&mut range, address.0, [segment.address.0, end]);
        self.decoded(|decoded| {
            let frames: &Frames<'_> = decoded.frames();
            let covered = frames.code_around(&mut range, address.0);
            if !covered {
                let symbols: &SymbolTable<'_> = decoded.symbols();
                symbols.narrow(&mut range, address.0);
            }
        });
        Some(FileAddress(range.start)..FileAddress(range.end))
    }
}
