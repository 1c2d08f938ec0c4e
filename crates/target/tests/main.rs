//! Live processes, as this crate runs, copies, records and reads them, and what the kernel does for them.

mod checkpoints;
mod guardian;
mod recordings;
mod support;
mod system_calls;
