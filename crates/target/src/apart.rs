//! Runs the adapter in a separate process, which survives when the process that the client started is killed.
//!
//! A client may end an adapter with SIGKILL: the process that it started, that process with all its children, or its process group. If a
//! debugger dies before it has seen that a thread hit a breakpoint, SIGTRAP kills even an attached debuggee, and nothing can prevent that.
//! So the process that the client knows is only a front: it waits, forwards signals, and exits with the status of the real adapter. The
//! real adapter is not a child of the front and has a process group of its own.

pub use crate::linux::apart::{Apart, Front, go_apart};
pub use crate::linux::guardian::guards_any;
