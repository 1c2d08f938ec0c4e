//! Facts about the processor: its registers and their names, what functions do with them, what
//! instructions do, what debug registers can watch, how it stores numbers.
//!
//! Everything here is about x86-64 under the System V ABI, and nothing knows of a process or of debug information. Sources are
//! named as *ABI* (System V Application Binary Interface, AMD64 Architecture Processor Supplement) and *Intel SDM* (Intel 64 and
//! IA-32 Architectures Software Developer's Manual).

pub mod abi;
mod address;
pub mod emulate;
pub mod extended_floats;
pub mod instructions;
pub mod interpret;
mod memory;
pub mod registers;
pub mod stack_changes;
pub mod trap;
pub mod watch_slots;

pub use address::Address;
pub use memory::Memory;
