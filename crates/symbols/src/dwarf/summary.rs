//! Summaries of a module's units, debug sections and files, for users who want to know what debug information there is.

use crate::dwarf::functions::Language;
use crate::dwarf::{Dwarf, Unit};
use crate::elf::{Section, word_of};
use crate::files::ElfFile;
use gimli::{UnitType, constants as dw};
use object::elf;
use std::path::{Path, PathBuf};

/// A unit's root entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitSummary {
    /// The source file that was compiled, joined with the compilation directory; empty for type units.
    pub name: PathBuf,
    /// Its language.
    pub language: Language,
    /// The DWARF version of the unit, 2 to 5.
    pub version: u16,
    /// The compiler, with its command line if that is recorded; empty if unknown.
    pub producer: String,
    /// Whether the unit has a type for other units to refer to (`DW_TAG_type_unit`).
    pub is_type_unit: bool,
}

/// A section with debug information or symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugSection {
    /// The file that contains it.
    pub file: PathBuf,
    /// Its name, such as `.debug_info`.
    pub name: String,
    /// The size in the file, in bytes.
    pub file_size: u64,
    /// The inflated size according to its header, in bytes; `None` if it isn't compressed.
    pub inflated_size: Option<u64>,
}

impl<'a> Dwarf<'a> {
    pub(crate) fn summary_of(&self, unit: &Unit<'a>) -> UnitSummary {
        let dw = unit.dw();
        let root = dw.entry(dw.header.root_offset()).ok();
        let text = |name| {
            let value = root.as_ref()?.attr_value(name)?;
            Some(String::from_utf8_lossy(self.text(unit, value)?).into_owned())
        };
        let is_type_unit = matches!(
            dw.header.type_(),
            UnitType::Type { .. } | UnitType::SplitType { .. }
        );
        UnitSummary {
            name: text(dw::DW_AT_name)
                .map(|name| crate::paths::join(&[&unit.directory, Path::new(&name)]))
                .unwrap_or_default(),
            language: unit.language(),
            version: dw.header.version(),
            producer: text(dw::DW_AT_producer).unwrap_or_default(),
            is_type_unit,
        }
    }
}

/// Whether a section has debug information or symbols.
fn is_debug(section: &Section) -> bool {
    let prefixes = [".debug_", ".zdebug_", ".gnu_debug"];
    let others = [".symtab", ".strtab", ".eh_frame", ".gdb_index"];
    prefixes
        .iter()
        .any(|prefix| section.name.starts_with(prefix))
        || others.contains(&section.name.as_str())
}

pub(crate) fn sections_of(file: &ElfFile) -> impl Iterator<Item = DebugSection> {
    let present = |section: &&Section| is_debug(section) && !section.file.is_empty();
    file.elf.sections.iter().filter(present).map(|section| {
        let raw = file.bytes.get(section.file.clone()).unwrap_or(&[]);
        // The second field of `Elf32_Chdr` and `Elf64_Chdr`.
        let word = file.elf.word_size();
        let claimed = raw.get(word..2 * word).map(word_of);
        let compressed = section.flags & elf::SHF_COMPRESSED.0 != 0;
        DebugSection {
            file: file.elf.path.clone(),
            name: section.name.clone(),
            file_size: raw.len() as u64,
            inflated_size: claimed.filter(|_| compressed),
        }
    })
}
