//! A live Linux x86-64 process: starting it, ptrace, waiting, memory, its output.
//!
//! Everything here does one system call's work and decides nothing; what a stop means is decided in [`crate::stops`]
//! and by the owner thread. All of ptrace must be called from the thread that seized the debuggee.

pub(crate) mod alarm;
pub(crate) mod allocator;
pub(crate) mod apart;
pub(crate) mod attach;
pub(crate) mod check;
pub(crate) mod debug_registers;
pub(crate) mod guardian;
pub(crate) mod handover;
pub(crate) mod hold;
pub(crate) mod inherited;
pub(crate) mod input;
pub(crate) mod launch;
pub(crate) mod launcher;
pub(crate) mod memory;
pub(crate) mod output;
pub(crate) mod privileges;
pub(crate) mod probe;
pub(crate) mod process;
pub(crate) mod ptrace;
pub(crate) mod readable;
pub(crate) mod streams;
pub(crate) mod untraced;
pub(crate) mod wait;
