//! Runs the adapter in a separate process, which survives when the process that the client started is killed.
//!
//! A client may end an adapter by sending SIGKILL to the process that the client started, to that process and all its children, or to its
//! process group. If a debugger is killed before it has seen that a thread hit a breakpoint, SIGTRAP kills even an attached debuggee, and
//! nothing can prevent that. So the process that the client started is only a front: it waits, forwards signals, and exits with the status
//! of the real adapter. The real adapter is not a child of the front and has a process group of its own.

pub use crate::linux::apart::{Apart, Front, go_apart};
pub use crate::linux::guardian::guards_any;
