//! Facts about processors: registers and their names, the calling convention, the effects of instructions, what debug registers can watch,
//! number formats. What all [machines](machine) have in common is in `machine`, `registers` and `code`; the rest is about x86-64 under the
//! System V ABI.
//!
//! Nothing here knows of a process or of debug information. Sources are cited as *ABI* (System V Application Binary Interface, AMD64
//! Architecture Processor Supplement) and *Intel SDM* (Intel 64 and IA-32 Architectures Software Developer's Manual).

pub mod abi;
mod address;
pub mod code;
pub mod decision;
pub mod displaced;
pub mod emulate;
pub mod extended_floats;
pub mod instruction_set;
pub mod instructions;
pub mod interpret;
pub mod jump_site;
pub mod machine;
mod memory;
pub mod operands;
pub mod processor;
pub mod registers;
pub mod repeated;
pub mod signal_frame;
pub mod stack_changes;
pub mod successors;
pub mod trap;
pub mod trap_handler;
pub mod watch_slots;

pub use address::Address;
pub use instruction_set::InstructionSet;
pub use machine::Machine;
pub use memory::Memory;
