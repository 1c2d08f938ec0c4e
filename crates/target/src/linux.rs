//! A live Linux x86-64 process: launching and attaching, ptrace, waiting for stops, memory, and the program's output.
//!
//! The kernel accepts ptrace requests only from the tracer thread, so all of them must come from the thread that seized the debuggee.

pub mod affinity;
pub mod alarm;
pub mod allocator;
pub mod apart;
pub mod attach;
pub mod check;
pub mod checkpoint;
pub mod debug_registers;
pub mod guardian;
pub mod handover;
pub mod inherited;
pub mod injected;
pub mod input;
pub mod launch;
pub mod launcher;
pub mod live_process;
pub mod memory;
mod monotonic;
pub mod output;
pub mod privileges;
pub mod probe;
pub mod process;
pub mod ptrace;
pub mod readable;
pub mod recording;
pub mod shared_words;
pub mod streams;
pub mod system_calls;
mod time_trap;
pub mod trap_handler;
pub mod untraced;
pub mod wait;
