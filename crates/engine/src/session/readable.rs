//! Waking the thread that owns a debuggee ([`Keep::Here`](super::Keep::Here)) when there is something to be read.

pub use dapple_target::linux::readable::{prepare, tell};
