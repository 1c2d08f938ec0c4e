//! What a breakpoint knows of an indirect function (`STT_GNU_IFUNC`), whose code an IFUNC resolver selects while the program runs.

use crate::Address;
use dapple_symbols::queries::FoundFunction;

/// A function of which only the IFUNC resolver is known at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndirectFunction {
    /// The IFUNC resolver's entry.
    pub(crate) resolver: Address,
    /// The linkage name, by which other modules import the function.
    pub(crate) linkage_name: Option<String>,
    /// The function entries that the resolver has returned so far. As a rule, all calls of a resolver return the same entry.
    pub(crate) chosen: Vec<Address>,
}

impl IndirectFunction {
    pub(crate) fn new(function: &FoundFunction, resolver: Address) -> IndirectFunction {
        // Some symbol tables append a version to the name: `memcpy@@GLIBC_2.14`.
        let name = function.linkage_name.as_deref();
        let name = name.and_then(|name| name.split('@').next());
        IndirectFunction {
            resolver,
            linkage_name: name.map(str::to_owned),
            chosen: Vec::new(),
        }
    }
}
