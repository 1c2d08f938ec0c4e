//! One ELF file and the debug information found for it.
//!
//! [`Module`] owns the bytes and everything decoded from them: a self-referencing cell in which the decoded
//! part (`Decoded`) borrows from the files beside it, so that nothing is copied and nothing counted.

mod code;
mod debug_information;
mod functions;
mod lines;
mod types;
mod variables;

use crate::companions::{Companion, Outcome, Search};
use crate::dwarf::Dwarf;
use crate::elf::Elf;
use crate::files::{ElfFile, Files};
use crate::mapping::Bytes;
use crate::{Error, FileAddress, locate, mini_debug_info};
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use crate::decoded::Decoded;
pub use crate::demangle::{demangle, demangle_short};
pub use crate::elf::{ModuleKind, Segment};
pub use crate::symbols::Symbol;

/// What debug information a module has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugInfo {
    /// DWARF units were found.
    Dwarf,
    /// No DWARF, a symbol table only.
    SymbolsOnly,
    /// Nothing.
    Stripped,
}

/// One ELF file with its debug information.
pub struct Module {
    cell: Cell,
    /// What is left of it, once a file has changed on disk.
    left: OnceLock<Box<Module>>,
}

self_cell::self_cell!(
    struct Cell {
        owner: Files,
        #[not_covariant]
        dependent: Decoded,
    }
);

impl Module {
    /// Opens and maps the file and reads its headers; no DWARF is decoded. Where the file has no DWARF, one that
    /// the distribution keeps for it (by build id or `.gnu_debuglink`) is opened, too.
    ///
    /// # Errors
    /// [`Error::Open`], [`Error::Unsupported`] for what isn't a 64-bit little-endian x86-64 ELF,
    /// [`Error::Malformed`] for truncated headers.
    pub fn open(path: &Path) -> Result<Module, Error> {
        let bytes = Bytes::open(path)?;
        let elf = Elf::parse(path, &bytes)?;
        let main = ElfFile::new(bytes, elf);
        let mut searches = Vec::new();
        let debug = locate::separate_debug_file(&main, &mut searches);
        let files = Files::new(main, debug, searches);
        files.warn_of_mismatches();
        Ok(Module::new(files))
    }

    /// As [`Module::open`], with debug information in a file that somebody else has found.
    ///
    /// # Errors
    /// As [`Module::open`]; [`Error::Unsupported`] where that file is of another build or has no debug information.
    pub fn open_with_debug_file(path: &Path, debug: &Path) -> Result<Module, Error> {
        let bytes = Bytes::open(path)?;
        let elf = Elf::parse(path, &bytes)?;
        let main = ElfFile::new(bytes, elf);
        let file = locate::debug_file_at(&main, debug).map_err(|outcome| Error::Unsupported {
            path: debug.to_owned(),
            reason: match outcome {
                Outcome::Mismatched(reason) | Outcome::Unusable(reason) => reason,
                Outcome::Missing => "no such file".to_owned(),
                Outcome::Found => "it can't be used".to_owned(),
            },
        })?;
        let searches = vec![Search {
            what: Companion::DebugFile,
            path: debug.to_owned(),
            outcome: Outcome::Found,
        }];
        let files = Files::new(main, Some(file), searches);
        files.warn_of_mismatches();
        Ok(Module::new(files))
    }

    /// A module from bytes that are in no file, such as the vDSO read from a process. `name` is used in messages.
    ///
    /// # Errors
    /// As [`Module::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Module, Error> {
        let elf = Elf::parse(Path::new(name), &bytes)?;
        let main = ElfFile::new(Bytes::Owned(bytes.into_boxed_slice()), elf);
        Ok(Module::new(Files::new(main, None, Vec::new())))
    }

    fn new(files: Files) -> Module {
        let cell = Cell::new(files, |files| Decoded::new(files));
        Module {
            cell,
            left: OnceLock::new(),
        }
    }

    /// This, or what is left of it where a file of it has changed on disk. What was decoded before would be read on from
    /// a file of another build, so all of it is left behind.
    fn current(&self) -> &Module {
        let mut current = self;
        while let Some(left) = current.left.get() {
            current = left;
        }
        let files = current.cell.borrow_owner();
        if !files.have_changed() {
            return current;
        }
        current.left.get_or_init(|| {
            let left = Module::new(files.without_changed());
            if let Some(cache) = files.index_cache.get() {
                left.use_index_cache(cache);
            }
            Box::new(left)
        })
    }

    pub(crate) fn decoded<T>(&self, ask: impl for<'a> FnOnce(&Decoded<'a>) -> T) -> T {
        let cell = &self.current().cell;
        cell.with_dependent(|_, decoded| ask(decoded))
    }

    pub(crate) fn dwarf<T>(&self, ask: impl for<'a> FnOnce(&Dwarf<'a>) -> T) -> T {
        self.decoded(|decoded| ask(decoded.dwarf()))
    }

    pub(crate) fn files(&self) -> &Files {
        self.current().cell.borrow_owner()
    }

    fn elf(&self) -> &Elf {
        // Headers stay what they were.
        &self.cell.borrow_owner().main.elf
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.elf().path
    }

    /// How it is loaded.
    pub fn kind(&self) -> ModuleKind {
        self.elf().kind
    }

    /// What debug information there is.
    pub fn debug_info(&self) -> DebugInfo {
        let files = self.files();
        let has = |name| {
            files.main.has(name) || files.debug.as_ref().is_some_and(|debug| debug.has(name))
        };
        if has(".debug_info") {
            DebugInfo::Dwarf
        } else if has(".symtab") || has(mini_debug_info::SECTION) {
            DebugInfo::SymbolsOnly
        } else {
            DebugInfo::Stripped
        }
    }

    /// Whether its debug information is in a file of its own, as distributions keep it for their packages.
    pub fn has_detached_debug_info(&self) -> bool {
        self.files().debug.is_some()
    }

    /// How many bytes its compressed debug sections say they have inflated; 0 where none is compressed.
    pub fn compressed_size(&self) -> u64 {
        self.files().with_dwarf().compressed_size()
    }

    /// Inflates the compressed debug sections that nobody has needed so far. Several threads may call this, and share them; whoever needs
    /// one meanwhile waits for it. How many bytes this call has inflated.
    pub fn inflate(&self) -> u64 {
        self.files().with_dwarf().inflate()
    }

    /// The entry point (`e_entry`).
    pub fn entry(&self) -> FileAddress {
        FileAddress(self.elf().entry)
    }

    /// The program interpreter (`PT_INTERP`); `None` when static.
    pub fn interpreter(&self) -> Option<&Path> {
        self.elf().interpreter.as_deref()
    }

    /// The address and size of the dynamic section (`PT_DYNAMIC`).
    pub fn dynamic(&self) -> Option<(FileAddress, u64)> {
        self.elf()
            .dynamic
            .map(|(address, size)| (FileAddress(address), size))
    }

    /// The build id note's bytes.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.elf().build_id.as_deref()
    }

    /// The loadable segments by address.
    pub fn segments(&self) -> &[Segment] {
        &self.elf().segments
    }

    /// The file's own bytes at `address` (from its segments), as many of `length` as the file has there.
    pub fn bytes_at(&self, address: FileAddress, length: usize) -> &[u8] {
        self.elf()
            .bytes_at(&self.files().main.bytes, address.0, length)
    }

    /// The symbol that covers `address`, or the nearest function symbol before it in the same section when sizes are missing.
    /// A stub of the procedure linkage table is named for what it calls: `puts@plt`.
    pub fn symbol_at(&self, address: FileAddress) -> Option<Symbol> {
        let sections = &self.elf().sections;
        let section_of = |address| {
            sections
                .iter()
                .position(|section| section.contains(address))
        };
        self.decoded(|decoded| decoded.symbols().at(address.0, section_of))
    }

    /// The defined symbol of this exact (mangled) name.
    pub fn symbol_named(&self, name: &str) -> Option<Symbol> {
        self.decoded(|decoded| decoded.symbols().named(name))
    }

    /// The offset in this module's thread-local storage of the variable of this exact (mangled) name, by its symbol.
    pub fn thread_local_named(&self, name: &str) -> Option<u64> {
        self.decoded(|decoded| decoded.symbols().thread_local_named(name))
    }

    /// The functions whose (mangled) names have `text` in them, by address.
    pub fn functions_with(&self, text: &str) -> Vec<Symbol> {
        self.decoded(|decoded| {
            let found = decoded
                .symbols()
                .functions_with(text.as_bytes())
                .into_iter();
            found
                .map(|found| Symbol {
                    name: String::from_utf8_lossy(found.name).into_owned(),
                    address: FileAddress(found.address),
                    size: found.size,
                    function: true,
                    indirect: found.indirect,
                })
                .collect()
        })
    }

    /// Whether a name is among those that the dynamic linker goes by, defined here or not, or the end of one. That is told without looking
    /// at the symbols, and there are few of them in a program.
    pub fn has_dynamic_name(&self, name: &str) -> bool {
        self.decoded(|decoded| decoded.symbols().has_dynamic_name(name.as_bytes()))
    }

    /// The name of the section that holds `address`, such as `.plt`.
    pub fn section_at(&self, address: FileAddress) -> Option<&str> {
        self.elf()
            .section_at(address.0)
            .map(|section| section.name.as_str())
    }

    /// Problems met so far in this module's debug information, each once: what was left out and why.
    pub fn warnings(&self) -> Vec<Error> {
        self.files().warnings()
    }

    /// How many [`Module::warnings`] there are so far.
    pub fn warning_count(&self) -> usize {
        self.files().warning_count()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}
