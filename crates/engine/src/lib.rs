//! A native debugger for Linux x86-64: it launches programs or attaches to them, stops and steps them, and shows stacks and values.
//!
//! [`Session`] is the interface: its commands run on the one thread that owns the debuggee, and [`Event`]s come back on a channel. The
//! engine knows nothing of the protocol that the client speaks.

pub mod attach;
mod breakpoints;
pub mod debug_info;
pub mod event;
pub mod forks;
mod indexing;
mod inflating;
mod owner;
pub mod postmortem;
pub mod session;
mod step;
mod stops;
pub mod untraced;
mod warnings;

pub use dapple_arch::{Address, Memory, registers};
pub use dapple_inspect::{
    calls, disassembly, eval, exceptions, frame, locks, modules, tasks, unwind, values,
};
pub use dapple_symbols::names;
/// Recording programs to files, without a session.
pub use dapple_target::linux::recording::run as recording;
pub use dapple_target::{
    Error, ThreadId, allocator, apart, command, error, exit_status, launch, launcher,
    private_folder, probe, processes, signals,
};

/// A process or a core file as the system's files show it, without a session.
pub mod system_files {
    pub use dapple_target::auxiliary_vector::AuxiliaryVector;
    pub use dapple_target::core_file::{CoreFile, build_id};
    pub use dapple_target::linux::process::{command_line, mappings};
    pub use dapple_target::memory_map::Mapping;
}

pub use event::Event;
pub use session::Session;
