//! A native debugger for Linux x86-64: a program is launched, stopped, stepped, unwound, and its values read.
//!
//! [`Session`] is the whole interface: commands go to the one thread that owns the debuggee, [`Event`]s come back on a
//! channel. Nothing here knows how a client talks.

pub mod attach;
mod breakpoints;
pub mod calls;
pub mod debug_info;
pub mod disassembly;
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
mod live;
pub mod modules;
mod natvis;
mod owner;
mod pages;
pub mod postmortem;
pub mod session;
mod step;
mod stops;
pub mod untraced;
pub mod unwind;
pub mod values;
mod warnings;

pub use dapple_arch::{Address, Memory, registers};
pub use dapple_target::{
    Error, ThreadId, allocator, apart, command, error, launch, launcher, private_folder, probe,
    processes, signals,
};
pub use event::Event;
pub use session::Session;
