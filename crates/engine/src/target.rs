//! Where a debuggee lives: in a live Linux process, or in the core file that one has left.

pub(crate) mod core;
pub(crate) mod linux;
