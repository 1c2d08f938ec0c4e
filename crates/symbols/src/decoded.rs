//! The decoded parts of a module's files. Each part is decoded on first use.

use crate::cfi::Frames;
use crate::dwarf::Dwarf;
use crate::files::Files;
use crate::symbols::SymbolTable;
use std::sync::OnceLock;

pub(crate) struct Decoded<'a> {
    files: &'a Files,
    dwarf: OnceLock<Dwarf<'a>>,
    symbols: OnceLock<SymbolTable<'a>>,
    frames: OnceLock<Frames<'a>>,
}

impl<'a> Decoded<'a> {
    pub fn new(files: &'a Files) -> Decoded<'a> {
        Decoded {
            files,
            dwarf: OnceLock::new(),
            symbols: OnceLock::new(),
            frames: OnceLock::new(),
        }
    }

    pub fn files(&self) -> &'a Files {
        self.files
    }

    pub fn dwarf(&self) -> &Dwarf<'a> {
        self.dwarf.get_or_init(|| Dwarf::new(self.files))
    }

    /// As [`Decoded::dwarf`], but `None` if nothing has used the DWARF yet.
    pub fn dwarf_if_read(&self) -> Option<&Dwarf<'a>> {
        self.dwarf.get()
    }

    pub fn frames(&self) -> &Frames<'a> {
        self.frames.get_or_init(|| Frames::new(self.files))
    }

    pub fn symbols(&self) -> &SymbolTable<'a> {
        self.symbols.get_or_init(|| SymbolTable::new(self.files))
    }
}
