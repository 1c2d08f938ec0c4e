//! Bytes to facts: what an ELF file and its DWARF say about a program. Never sees a process.
//!
//! A [`Module`] is one ELF file with the debug information found for it. Opening it reads headers
//! only; line tables, functions, scopes and types decode lazily, unit by unit, and are kept.
//! A module is `Send + Sync` and is shared as `Arc<Module>`.

mod address;
pub mod cfi;
mod error;
pub mod functions;
pub mod lines;
pub mod location;
pub mod module;
pub mod scopes;
pub mod types;

pub use address::FileAddress;
pub use error::Error;
pub use module::Module;
