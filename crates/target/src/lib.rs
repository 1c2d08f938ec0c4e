//! A debuggee as memory, registers and threads that run and stop: a live Linux process ([`linux`]), or the core file that one has left
//! ([`core_file`]).
//!
//! Everything here does one system call's work, or reads one file, and decides nothing: what a stop means, and what is done about it, is the
//! business of who uses it. Beside these are the things that a debugger does with processes before it debugs one: it checks whether it may
//! ([`probe`]), finds the process ([`processes`]), runs a build ([`command`]), starts the program in somebody's terminal ([`launcher`]), and
//! goes on in a process of its own ([`apart`]).

pub mod allocator;
pub mod apart;
pub mod command;
pub mod core_file;
pub mod error;
pub mod exit_status;
pub mod follow_forks;
pub mod launch;
pub mod launcher;
pub mod linux;
pub mod memory_map;
pub mod private_folder;
pub mod probe;
pub mod process_info;
pub mod processes;
pub mod signal_info;
pub mod signals;
pub mod stream;
pub mod suggest;
mod thread_id;
pub mod wait_event;
pub mod written;

pub use dapple_arch::Address;
pub use error::Error;
pub use thread_id::ThreadId;
