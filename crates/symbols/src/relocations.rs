//! The relocations that the dynamic linker applies, as far as they concern code.

use crate::elf::{Section, word_of};
use crate::files::ElfFile;
use object::elf;

/// A relocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relocation {
    /// The address of the word that it changes.
    pub place: u64,
    /// Its kind, as in [`crate::elf::Relocations`].
    pub kind: u32,
    /// The index of its symbol; 0 for none.
    pub symbol: usize,
    pub addend: u64,
}

/// The loaded sections with relocations.
pub(crate) fn sections(file: &ElfFile) -> impl Iterator<Item = &Section> {
    let sections = file.elf.sections.iter();
    sections.filter(|it| (is_with_addend(it) || it.kind == elf::SHT_REL.0) && it.loaded())
}

/// Those of one section.
pub(crate) fn of_section<'f>(
    file: &'f ElfFile,
    section: &Section,
) -> impl Iterator<Item = Relocation> + use<'f> {
    let data = file.bytes.get(section.file.clone()).unwrap_or(&[]);
    let word = file.elf.word_size();
    let with_addend = is_with_addend(section);
    let size = if with_addend { 3 * word } else { 2 * word };
    data.chunks_exact(size).map(move |record| {
        let place = word_of(&record[..word]);
        let info = word_of(&record[word..2 * word]);
        let (symbol, kind) = match word {
            4 => (info >> 8, info as u32 & 0xff),
            _ => (info >> 32, info as u32),
        };
        Relocation {
            place,
            kind,
            symbol: symbol as usize,
            addend: match with_addend {
                true => word_of(&record[2 * word..]),
                false => file.elf.word_at(&file.bytes, place),
            },
        }
    })
}

/// All of them.
pub(crate) fn all(file: &ElfFile) -> impl Iterator<Item = Relocation> {
    sections(file).flat_map(|section| of_section(file, section))
}

/// The other sections have the addend in the word that is changed.
fn is_with_addend(section: &Section) -> bool {
    section.kind == elf::SHT_RELA.0
}
