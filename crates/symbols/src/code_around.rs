//! Finds where code is known to begin and end. A disassembler needs this, because x86 instructions can't be decoded
//! backwards.

use crate::elf::Section;
use std::ops::Range;

/// Narrows `range`, which contains `address`: to the closest border at or before the address, and to the closest one
/// behind it.
pub(crate) fn narrow(range: &mut Range<u64>, address: u64, borders: impl IntoIterator<Item = u64>) {
    for border in borders {
        if border <= address {
            range.start = range.start.max(border);
        } else {
            range.end = range.end.min(border);
        }
    }
}

/// The section that contains `address`, or the gap between two sections.
pub(crate) fn in_sections(sections: &[Section], address: u64) -> Range<u64> {
    let mut range = 0..u64::MAX;
    for section in sections.iter().filter(|section| section.loaded()) {
        let end = section.address.saturating_add(section.size);
        narrow(&mut range, address, [section.address, end]);
    }
    range
}
