//! Breakpoints in three layers: what the user asks for ([`wanted`], listed in [`model`]; [`function`] for names), the bytes in memory
//! ([`site`]), and how a thread gets past such a byte without other threads missing the breakpoint ([`displaced`] stepping). What a hit
//! does is in [`options`]: stop, write a message instead, or nothing. Data ([`data`]) is watched by the processor ([`dapple_arch::watch_slots`]).

pub(crate) mod condition;
pub(crate) mod data;
pub(crate) mod displaced;
pub(crate) mod function;
pub(crate) mod hits;
pub(crate) mod indirect_function;
pub(crate) mod log;
pub(crate) mod log_ring;
pub(crate) mod model;
pub(crate) mod options;
pub(crate) mod passes;
pub(crate) mod refusal;
pub(crate) mod site;
pub(crate) mod temporary;
pub(crate) mod trampolines;
pub(crate) mod trap_handling;
pub(crate) mod wanted;
