//! Waking the thread that keeps a debuggee ([`Keep::Here`](super::Keep::Here)) when there is something to be read.

pub use crate::target::linux::readable::{prepare, tell};
