//! One ELF file and the debug information found for it.
//!
//! [`Module`] owns the files' bytes and everything decoded from them. It is a self-referencing cell whose decoded part
//! (`Decoded`) borrows from the files, so it needn't copy their bytes. If a file changes on disk, a new module of the
//! unchanged files takes its place.

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
    /// Only a symbol table (`.symtab`, or the compressed one of `.gnu_debugdata`), no DWARF.
    SymbolsOnly,
    /// Neither DWARF nor a symbol table.
    Stripped,
}

/// One ELF file with its debug information.
pub struct Module {
    cell: Cell,
    /// The replacement, without the changed files, after a file has changed on disk.
    replacement: OnceLock<Box<Module>>,
}

self_cell::self_cell!(
    struct Cell {
        owner: Files,
        #[not_covariant]
        dependent: Decoded,
    }
);

impl Module {
    /// Maps the file and reads its headers; decodes no DWARF. If the file has no DWARF, searches for its separate debug
    /// information file by build id and `.gnu_debuglink`, and opens that, too.
    ///
    /// # Errors
    /// [`Error::Open`], [`Error::Unsupported`] for anything but a little-endian ELF file for a [`dapple_arch::Machine`],
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

    /// Like [`Module::open`], but with the given debug information file.
    ///
    /// # Errors
    /// As [`Module::open`]; [`Error::Unsupported`] if the file `debug` is missing, can't be read, is of another build, or has
    /// no debug information.
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

    /// A module from bytes that are in no file, such as the vDSO read from a process. Messages use `name` as its path.
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
            replacement: OnceLock::new(),
        }
    }

    /// This module or, if one of its files has changed on disk, its replacement without the changed files. The replacement
    /// decodes everything again: what was decoded so far may come from the changed file.
    fn current(&self) -> &Module {
        let mut current = self;
        while let Some(replacement) = current.replacement.get() {
            current = replacement;
        }
        let files = current.cell.borrow_owner();
        if !files.have_changed() {
            return current;
        }
        current.replacement.get_or_init(|| {
            let replacement = Module::new(files.without_changed());
            if let Some(cache) = files.index_cache.get() {
                replacement.use_index_cache(cache);
            }
            Box::new(replacement)
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
        // Headers are copied when the file is opened, so a change on disk doesn't affect them.
        &self.cell.borrow_owner().main.elf
    }

    /// The path that the module was opened by.
    pub fn path(&self) -> &Path {
        &self.elf().path
    }

    /// The processor that its code is for.
    pub fn machine(&self) -> dapple_arch::Machine {
        self.elf().machine
    }

    /// How the file is loaded.
    pub fn kind(&self) -> ModuleKind {
        self.elf().kind
    }

    /// The kind of debug information that the module has.
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

    /// Whether the debug information is in a separate file, as distributions keep it for their packages.
    pub fn has_detached_debug_info(&self) -> bool {
        self.files().debug.is_some()
    }

    /// The inflated size of the compressed debug sections, according to their headers, in bytes; 0 if none is compressed.
    pub fn compressed_size(&self) -> u64 {
        self.files().with_dwarf().compressed_size()
    }

    /// Inflates the compressed debug sections that are not inflated yet. Several threads may call this to share the work;
    /// a query that needs a section meanwhile waits for it. Returns the number of bytes that this call has inflated.
    pub fn inflate(&self) -> u64 {
        self.files().with_dwarf().inflate()
    }

    /// The entry point (`e_entry`).
    pub fn entry(&self) -> FileAddress {
        FileAddress(self.elf().entry)
    }

    /// The program interpreter (`PT_INTERP`); `None` for static programs and for most libraries.
    pub fn interpreter(&self) -> Option<&Path> {
        self.elf().interpreter.as_deref()
    }

    /// How far before the thread pointer the thread-local storage of a program begins, in bytes ("ELF Handling For Thread-Local Storage",
    /// 3.4.6: variant II). Not that of a library. `None`: the file has none, or its start isn't aligned.
    pub fn thread_local_distance(&self) -> Option<u64> {
        self.elf().thread_locals
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

    /// The file's bytes at `address`, at most `length`; fewer if the segment's bytes end before.
    pub fn bytes_at(&self, address: FileAddress, length: usize) -> &[u8] {
        self.elf()
            .bytes_at(&self.files().main.bytes, address.0, length)
    }

    /// The symbol that covers `address`; if there is none, the nearest symbol before `address` if that one has no size and
    /// is in the same section. A stub of the procedure linkage table is named after its target: `puts@plt`.
    pub fn symbol_at(&self, address: FileAddress) -> Option<Symbol> {
        let sections = &self.elf().sections;
        let section_of = |address| {
            sections
                .iter()
                .position(|section| section.contains(address))
        };
        self.decoded(|decoded| decoded.symbols().at(address.0, section_of))
    }

    /// The defined symbol with this exact (mangled) name. If several have the name, a function is preferred to other symbols,
    /// and a symbol with a size to one without.
    pub fn symbol_named(&self, name: &str) -> Option<Symbol> {
        self.decoded(|decoded| decoded.symbols().named(name))
    }

    /// The offset in this module's thread-local storage of the variable with this exact (mangled) symbol name.
    pub fn thread_local_named(&self, name: &str) -> Option<u64> {
        self.decoded(|decoded| decoded.symbols().thread_local_named(name))
    }

    /// The functions whose (mangled) names contain `text`, by address.
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

    /// Whether a dynamic symbol, defined here or not, has this name or a name that ends with it. Searches only the dynamic
    /// string table, which is small. The table also has the names of needed libraries and of versions, so those count, too.
    pub fn has_dynamic_name(&self, name: &str) -> bool {
        self.decoded(|decoded| decoded.symbols().has_dynamic_name(name.as_bytes()))
    }

    /// The name of the section that contains `address`, such as `.plt`.
    pub fn section_at(&self, address: FileAddress) -> Option<&str> {
        self.elf()
            .section_at(address.0)
            .map(|section| section.name.as_str())
    }

    /// Problems found so far in this module's debug information, without duplicates: what was left out and why.
    pub fn warnings(&self) -> Vec<Error> {
        self.files().warnings()
    }

    /// The number of [`Module::warnings`] so far.
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
