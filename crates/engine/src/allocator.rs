//! What becomes of memory that the debugger itself frees.

pub use crate::target::linux::allocator::keep_freed_memory;
