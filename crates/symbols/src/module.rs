//! One ELF file and the debug information found for it.

use crate::{Error, FileAddress};
use std::path::Path;

/// How the file is loaded (ELF `e_type` and program headers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleKind {
    /// Linked at fixed addresses (`ET_EXEC`).
    FixedExecutable,
    /// Position-independent executable (`ET_DYN` with an entry point meant to be run).
    PositionIndependentExecutable,
    /// Shared library, interpreter or vDSO (`ET_DYN`).
    SharedObject,
}

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

/// A loadable segment (`PT_LOAD`).
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// Where it starts, in the file's own addresses.
    pub address: FileAddress,
    /// Its size in memory, in bytes.
    pub size: u64,
    /// Where its bytes start in the file.
    pub file_offset: u64,
    /// How many bytes the file has for it.
    pub file_size: u64,
    /// Whether it is executable.
    pub executable: bool,
    /// Whether it is writable.
    pub writable: bool,
}

/// A symbol of the ELF symbol tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name as in the file (mangled).
    pub name: String,
    /// Where it is.
    pub address: FileAddress,
    /// Size in bytes; 0 when the file doesn't say.
    pub size: u64,
    /// Whether it is a function (`STT_FUNC`, `STT_GNU_IFUNC`).
    pub function: bool,
}

/// One ELF file with its debug information.
#[derive(Debug)]
pub struct Module {
    // private
}

impl Module {
    /// Opens and maps the file and reads its headers; no DWARF is decoded.
    ///
    /// # Errors
    /// [`Error::Open`], [`Error::Unsupported`] for what isn't a 64-bit little-endian x86-64 ELF,
    /// [`Error::Malformed`] for truncated headers.
    pub fn open(path: &Path) -> Result<Module, Error> {
        let _ = path;
        unimplemented!()
    }
    /// A module from bytes that are in no file, such as the vDSO read from a process. `name` is used in messages.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Module, Error> {
        let _ = (name, bytes);
        unimplemented!()
    }
    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        unimplemented!()
    }
    /// How it is loaded.
    pub fn kind(&self) -> ModuleKind {
        unimplemented!()
    }
    /// What debug information there is.
    pub fn debug_info(&self) -> DebugInfo {
        unimplemented!()
    }
    /// The entry point (`e_entry`).
    pub fn entry(&self) -> FileAddress {
        unimplemented!()
    }
    /// The program interpreter (`PT_INTERP`); `None` when static.
    pub fn interpreter(&self) -> Option<&Path> {
        unimplemented!()
    }
    /// The address and size of the dynamic section (`PT_DYNAMIC`).
    pub fn dynamic(&self) -> Option<(FileAddress, u64)> {
        unimplemented!()
    }
    /// The build id note's bytes.
    pub fn build_id(&self) -> Option<&[u8]> {
        unimplemented!()
    }
    /// The loadable segments by address.
    pub fn segments(&self) -> &[Segment] {
        unimplemented!()
    }
    /// The file's own bytes at `address` (from its segments), as many of `length` as the file has there.
    pub fn bytes_at(&self, address: FileAddress, length: usize) -> &[u8] {
        let _ = (address, length);
        unimplemented!()
    }
    /// The symbol that covers `address`, or the nearest function symbol before it in the same section when sizes are missing.
    pub fn symbol_at(&self, address: FileAddress) -> Option<Symbol> {
        let _ = address;
        unimplemented!()
    }
    /// The defined symbol of this exact (mangled) name.
    pub fn symbol_named(&self, name: &str) -> Option<Symbol> {
        let _ = name;
        unimplemented!()
    }
    /// The name of the section that holds `address`, such as `.plt`.
    pub fn section_at(&self, address: FileAddress) -> Option<&str> {
        let _ = address;
        unimplemented!()
    }
    /// Problems met so far in this module's debug information, each once: what was left out and why.
    pub fn warnings(&self) -> Vec<Error> {
        unimplemented!()
    }
}

/// Demangles a Rust (legacy, v0) or C++ (Itanium) name for people: no hash suffix. Others come back as they are.
pub fn demangle(name: &str) -> String {
    let _ = name;
    unimplemented!()
}
