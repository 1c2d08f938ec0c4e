//! Where a debuggee lives. For now there is one kind: a live Linux process.

pub(crate) mod linux;
