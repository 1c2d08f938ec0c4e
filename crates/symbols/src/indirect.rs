//! Finds the slots that hold the addresses of indirect functions.
//!
//! The symbol of an indirect function (`STT_GNU_IFUNC`) is at a resolver. The dynamic linker, or the startup code of a
//! static program, calls the resolver, which returns the address of the implementation to use. That address is written to
//! the slots of two kinds of relocations (System V ABI for x86-64, §4.4): relocations of the module itself whose addend is
//! the resolver, and relocations of any module that refer to the symbol's name.

use crate::FileAddress;
use crate::elf::Section;
use crate::files::ElfFile;
use crate::relocations;
use rustc_hash::FxHashMap;

/// A word of a module's memory that receives an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The address of the word.
    pub address: FileAddress,
    /// The word's value in the file: for lazily bound calls, an address in the linkage stub. 0 if the word isn't in the file.
    pub initial: u64,
}

/// For each word of the global offset table that gets an address in this module itself (`R_X86_64_RELATIVE` and the like): the word's
/// address, and the address that it gets. The latter comes from the relocation, because not all linkers write it to the
/// word in the file, too.
pub(crate) fn own_code(file: &ElfFile) -> FxHashMap<u64, u64> {
    let tables = file.elf.sections.iter();
    let tables: Vec<&Section> = tables.filter(|s| s.name.starts_with(".got")).collect();
    let relative = file.elf.relocations().relative;
    relocations::all(file)
        .filter(|relocation| relocation.kind == relative)
        .map(|relocation| (relocation.place, relocation.addend))
        .filter(|(slot, _)| {
            tables
                .iter()
                .any(|table| slot.wrapping_sub(table.address) < table.size)
        })
        .collect()
}
