//! Settings of the debugger's own memory allocator.

pub use crate::linux::allocator::keep_freed_memory;
