//! Where a debuggee lives: in a live Linux process, or in the core file that one has left.

pub(crate) mod core;
pub(crate) mod exit_status;
pub(crate) mod follow_forks;
pub(crate) mod linux;
pub(crate) mod memory_map;
pub(crate) mod process_info;
pub(crate) mod signal_info;
pub(crate) mod stream;
pub(crate) mod wait_event;
