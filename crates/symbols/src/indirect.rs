//! Finds the slots that hold the addresses of indirect functions.
//!
//! The symbol of an indirect function (`STT_GNU_IFUNC`) is at a resolver. The dynamic linker, or the startup code of a
//! static program, calls it; it returns the address of the implementation to use. That address is written to the slots of
//! two kinds of relocations (System V ABI for x86-64, §4.4): those of the module itself, which have the resolver as their
//! addend, and those of any module that refer to the name.

use crate::FileAddress;
use crate::elf::Section;
use crate::files::ElfFile;
use crate::linkage_stubs::{RELOCATION_SIZE, u64_at};
use object::elf;
use rustc_hash::FxHashMap;

/// A word of a module's memory that receives an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The address of the word.
    pub address: FileAddress,
    /// The initial value in the file: for lazily bound calls, an address in the linkage stub. 0 if the file has none.
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

/// The addresses in words of the global offset table that refer to this module itself (`R_X86_64_RELATIVE`), by the
/// word's address. They come from the relocations, because not all linkers write them to the words in the file.
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
