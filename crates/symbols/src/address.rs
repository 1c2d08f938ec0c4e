//! Where something is in a module's file, as opposed to where a process has it.

use std::fmt;

/// An address as the module's file numbers it: what the linker assigned, before loading.
///
/// Adding the module's load bias gives an address in a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileAddress(pub u64);

impl fmt::Debug for FileAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for FileAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
