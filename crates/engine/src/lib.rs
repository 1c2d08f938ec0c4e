//! A native debugger for Linux x86-64: a program is launched, stopped, stepped, unwound, and its values read.
//!
//! [`Session`] is the whole interface: commands go to the one thread that owns the debuggee, [`Event`]s come back on a
//! channel. Nothing here knows how a client talks.

pub mod allocator;
pub mod apart;
pub mod attach;
mod breakpoints;
pub mod calls;
pub mod command;
pub mod debug_info;
pub mod disassembly;
pub mod error;
pub mod eval;
pub mod event;
pub mod exceptions;
mod faults;
pub mod forks;
pub mod frame;
mod heap;
mod indexing;
mod inflating;
mod inspect;
pub mod launch;
pub mod launcher;
mod live;
pub mod modules;
mod natvis;
mod owner;
mod pages;
pub mod postmortem;
pub mod private_folder;
pub mod probe;
pub mod processes;
pub mod session;
pub mod signals;
mod step;
mod stops;
mod suggest;
mod target;
mod thread_id;
pub mod untraced;
pub mod unwind;
pub mod values;
mod warnings;
mod written;

pub use dapple_arch::{Address, Memory, registers};
pub use error::Error;
pub use event::Event;
pub use session::Session;
pub use thread_id::ThreadId;
