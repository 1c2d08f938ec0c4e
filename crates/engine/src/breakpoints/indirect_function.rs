//! Functions whose code the program chooses while it runs (`STT_GNU_IFUNC`): what a breakpoint on one knows.

use crate::Address;
use dapple_symbols::queries::FoundFunction;

/// A function of which only what chooses it is known at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndirectFunction {
    /// What is called to choose.
    pub(crate) resolver: Address,
    /// The linker's name, by which other modules ask for the function.
    pub(crate) linkage_name: Option<String>,
    /// What was chosen so far: entries of functions. All calls choose alike, as a rule.
    pub(crate) chosen: Vec<Address>,
}

impl IndirectFunction {
    pub(crate) fn new(function: &FoundFunction, resolver: Address) -> IndirectFunction {
        // In some tables a version is behind the name: `memcpy@@GLIBC_2.14`.
        let name = function.linkage_name.as_deref();
        let name = name.and_then(|name| name.split('@').next());
        IndirectFunction {
            resolver,
            linkage_name: name.map(str::to_owned),
            chosen: Vec::new(),
        }
    }
}
