//! Going on in a process of one's own, which isn't hit when the one that was started is killed.
//!
//! Who ends an adapter at once kills the process that it has started, or that with all its children, or its group. A thread that has run into a breakpoint
//! and whose debugger is killed before it has heard of that dies with it, and nobody can do anything about that. So the process that is known is a
//! front: it waits, passes signals on, and ends as the one behind it does, which is no child of it, in a group of its own.

pub use crate::linux::apart::{Apart, Front, go_apart};
pub use crate::linux::guardian::guards_any;
