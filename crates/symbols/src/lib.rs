//! Reads what an ELF file and its DWARF say about a program. This crate never touches a process.
//!
//! A [`Module`] is one ELF file with the debug information found for it. Opening one decodes headers only; line tables,
//! functions, scopes and types are decoded lazily, unit by unit, and cached. A module is `Send + Sync` and is shared as
//! `Arc<Module>`.

mod address;
mod arm_exception_tables;
mod bus_errors;
pub mod cfi;
mod code_around;
pub mod companions;
mod decoded;
mod demangle;
mod dwarf;
mod elf;
mod error;
mod files;
mod index_file;
pub mod indexing;
pub mod indirect;
mod instruction_sets;
mod linkage_stubs;
mod locate;
mod mapping;
mod mini_debug_info;
pub mod module;
pub mod names;
mod paths;
mod relocations;
pub mod sources;
mod stored;
mod symbols;

pub use address::FileAddress;
pub use bus_errors::survive_changed_files;
pub use dwarf::breakpoint_locations::BreakpointLocation;
pub use dwarf::{
    cpp_coroutines, enumerations, fixed_location, functions, lines, location, lsda, queries,
    results, scopes, signatures, source_copies, summary, types,
};
pub use error::Error;
pub use module::Module;
