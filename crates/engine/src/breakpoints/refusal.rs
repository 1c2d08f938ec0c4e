//! Why a breakpoint can't be inserted at an address.

use crate::Address;
use crate::breakpoints::wanted::Resolution;
use std::fmt;

/// Why no breakpoint could be inserted at a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    why: String,
    /// Whether the breakpoint can perhaps be inserted later, when memory is mapped at the address.
    pending: bool,
}

impl Refusal {
    /// Nothing is mapped at the address.
    pub(crate) fn no_memory(address: Address) -> Refusal {
        Refusal {
            why: format!("there is no memory at {address} yet"),
            pending: true,
        }
    }

    /// The memory at the address is not executable. `what` names the memory; empty if it has no name.
    pub(crate) fn no_code(address: Address, what: &str) -> Refusal {
        let what = match what {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        Refusal {
            why: format!("the memory at {address}{what} is data, and not executed"),
            pending: false,
        }
    }

    /// The address is in the middle of the instruction that begins at `begins`; the next one is at `next`.
    pub(crate) fn inside(address: Address, begins: Address, next: Address) -> Refusal {
        Refusal {
            why: format!(
                "{address} is inside of an instruction: one begins at {begins} and the next at {next}"
            ),
            pending: false,
        }
    }

    /// Inserting the breakpoint failed with this error.
    pub(crate) fn failed(address: Address, error: &std::io::Error) -> Refusal {
        Refusal {
            why: format!("no breakpoint can be inserted at {address}: {error}"),
            pending: false,
        }
    }

    pub(crate) fn resolution(&self) -> Resolution {
        match self.pending {
            true => Resolution::Pending(self.why.clone()),
            false => Resolution::Failed(self.why.clone()),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}
