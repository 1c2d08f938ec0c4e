//! Live processes, as this crate runs, copies and reads them, and what the kernel does for them.

mod checkpoints;
mod system_calls;
