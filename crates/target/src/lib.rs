//! The debuggee as an object with memory, registers and threads: a live Linux process ([`linux`]), one behind a stub ([`remote`]), or a core
//! file ([`core_file`]).
//!
//! Most functions here make system calls or read a file. None decides what a stop means or how to react to it; the engine above does.
//!
//! The crate also does what a debugger needs before it has a debuggee: it checks whether the system permits debugging ([`probe`]), finds a
//! process to attach to ([`processes`]), runs a build ([`command`]), launches a program in another terminal ([`launcher`]), and moves the
//! adapter into a separate process ([`apart`]).

pub mod allocator;
pub mod apart;
pub mod auxiliary_vector;
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
pub mod process;
pub mod process_info;
pub mod processes;
pub mod remote;
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
