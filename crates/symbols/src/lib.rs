//! Bytes to facts: what an ELF file and its DWARF say about a program. Never sees a process.
//!
//! A [`Module`] is one ELF file with the debug information found for it. Opening it reads headers
//! only; line tables, functions, scopes and types decode lazily, unit by unit, and are kept.
//! A module is `Send + Sync` and is shared as `Arc<Module>`.

mod address;
mod address_map;
mod array_lengths;
mod async_functions;
mod blocks;
mod breakpoint_locations;
mod bus_errors;
mod call_sites;
pub mod cfi;
mod code_around;
pub mod companions;
mod compilation;
mod demangle;
mod dwarf;
mod elf;
mod enclosing;
mod entries;
pub mod enumerations;
mod error;
mod files;
mod function_lines;
pub mod functions;
mod hoisted_constants;
mod index;
pub mod indexing;
pub mod indirect;
mod jump_tables;
mod let_chains;
mod line_candidates;
mod line_entries;
mod line_lookup;
pub mod lines;
mod linkage_stubs;
mod locate;
pub mod location;
pub mod lsda;
mod mapping;
mod mini_debug_info;
pub mod module;
mod name_index;
pub mod names;
mod paths;
pub mod plain_place;
mod prologues;
pub mod queries;
pub mod results;
mod roots;
pub mod scopes;
pub mod signatures;
pub mod source_copies;
pub mod sources;
mod split;
mod stored;
mod stray_rows;
pub mod summary;
mod supplementary;
mod symbols;
mod thread_statics;
mod trait_tables;
mod type_entries;
mod type_names;
pub mod types;

pub use address::FileAddress;
pub use breakpoint_locations::BreakpointLocation;
pub use bus_errors::survive_changed_files;
pub use error::Error;
pub use module::Module;
