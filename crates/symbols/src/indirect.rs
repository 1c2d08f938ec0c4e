//! Where the addresses of indirect functions are kept once they are chosen.
//!
//! What stands at an indirect function's symbol (`STT_GNU_IFUNC`) is called by the dynamic linker, or by the start of a static
//! program, and gives the address of the code that is the function here. That goes to the places of two kinds of relocations
//! (System V ABI for x86-64, §4.4): those of the module itself, which have what chooses as their addend, and those of any
//! module that refer to the name.

use crate::FileAddress;
use crate::elf::Section;
use crate::files::ElfFile;
use crate::linkage_stubs::{RELOCATION_SIZE, u64_at};
use object::elf;
use rustc_hash::FxHashMap;

/// A word of a module's memory that gets an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Where it is.
    pub address: FileAddress,
    /// What the file has there, before anything is chosen: for calls that are bound late, an address in the linkage stub.
    pub initial: u64,
}

pub(crate) fn relocations(file: &ElfFile) -> impl Iterator<Item = (&Section, &[u8])> {
    let sections = file.elf.sections.iter();
    let of_relocations = sections.filter(|s| s.kind == elf::SHT_RELA.0 && s.loaded());
    of_relocations.map(|section| {
        let data = file.bytes.get(section.file.clone());
        (section, data.unwrap_or(&[]))
    })
}

/// What the words of the global offset table lead to that hold addresses of this module's own (`R_X86_64_RELATIVE`), by where they are.
/// Not all linkers write them to the file.
pub(crate) fn own_code(file: &ElfFile) -> FxHashMap<u64, u64> {
    let tables = file.elf.sections.iter();
    let tables: Vec<&Section> = tables.filter(|s| s.name.starts_with(".got")).collect();
    let records = relocations(file).flat_map(|(_, data)| data.chunks_exact(RELOCATION_SIZE));
    records
        .filter(|record| u64_at(record, 8) as u32 == elf::R_X86_64_RELATIVE.0)
        .map(|record| (u64_at(record, 0), u64_at(record, 16)))
        .filter(|(slot, _)| {
            tables
                .iter()
                .any(|table| slot.wrapping_sub(table.address) < table.size)
        })
        .collect()
}
