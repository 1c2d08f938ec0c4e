//! Addresses in the debuggee's memory, as opposed to addresses in its files.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An address in the debuggee.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Address(pub u64);

impl Address {
    /// The address `offset` bytes further, wrapping around as the CPU does.
    pub fn offset(self, offset: i64) -> Address {
        Address(self.0.wrapping_add_signed(offset))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Address {
    /// Parses an address as users and memory references write it: `0x401136`, or in decimal.
    pub fn parse(text: &str) -> Option<Address> {
        let text = text.trim();
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let number = match hexadecimal {
            Some(digits) if digits.starts_with('+') => None,
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None if text.starts_with('+') => None,
            None => text.parse().ok(),
        };
        number.map(Address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
