//! What becomes of memory that the debugger itself frees.

pub use crate::linux::allocator::keep_freed_memory;
