//! Where the addresses of indirect functions are kept once they are chosen.
//!
//! What stands at an indirect function's symbol (`STT_GNU_IFUNC`) is called by the dynamic linker, or by the start of a static
//! program, and gives the address of the code that is the function here. That goes to the places of two kinds of relocations
//! (System V ABI for x86-64, §4.4): those of the module itself, which have what chooses as their addend, and those of any
//! module that refer to the name.

use crate::elf::Section;
use crate::files::ElfFile;
use crate::linkage_stubs::{RELOCATION_SIZE, SymbolNames, u64_at};
use crate::{FileAddress, Module};
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

fn relocations(file: &ElfFile) -> impl Iterator<Item = (&Section, &[u8])> {
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

impl Module {
    /// The slots that get what is chosen at `chooser`, by relocations of this module (`R_X86_64_IRELATIVE`).
    pub fn indirect_slots(&self, chooser: FileAddress) -> Vec<Slot> {
        let file = &self.files().main;
        let records = relocations(file).flat_map(|(_, data)| data.chunks_exact(RELOCATION_SIZE));
        records
            .filter(|record| {
                u64_at(record, 8) as u32 == elf::R_X86_64_IRELATIVE.0
                    && u64_at(record, 16) == chooser.0
            })
            .map(|record| self.slot(u64_at(record, 0)))
            .collect()
    }

    /// The slots that get the address of the function of this linker's name, wherever it is defined.
    pub fn slots_of(&self, name: &str) -> Vec<Slot> {
        let file = &self.files().main;
        let mut slots = Vec::new();
        for (section, data) in relocations(file) {
            let symbols = SymbolNames::of(file, section);
            for record in data.chunks_exact(RELOCATION_SIZE) {
                let info = u64_at(record, 8);
                let kind = info as u32;
                let whole = kind == elf::R_X86_64_JUMP_SLOT.0
                    || kind == elf::R_X86_64_GLOB_DAT.0
                    || (kind == elf::R_X86_64_64.0 && u64_at(record, 16) == 0);
                if whole && symbols.name((info >> 32) as usize) == name.as_bytes() {
                    slots.push(self.slot(u64_at(record, 0)));
                }
            }
        }
        slots
    }

    fn slot(&self, address: u64) -> Slot {
        let initial = self.bytes_at(FileAddress(address), 8);
        Slot {
            address: FileAddress(address),
            initial: u64_at(initial, 0),
        }
    }
}
