//! The sites inserted into the debuggee's memory, and where control comes to them.

use super::Owner;
use crate::Address;
use crate::breakpoints::site::{Reason, Site};
use std::io;

impl Owner {
    /// The site at `address`.
    pub(super) fn site(&self, address: Address) -> Option<&Site> {
        self.memory.site(address)
    }

    /// Inserts a site, or adds a reason to the one that is there.
    pub(super) fn insert_site(&mut self, address: Address, reason: Reason) -> io::Result<()> {
        self.memory.insert(address, reason)
    }

    /// Removes a reason from a site, and with the last one the site.
    pub(super) fn remove_site(&mut self, address: Address, reason: Reason) {
        self.memory.remove(address, reason);
    }

    /// Removes a reason from all sites.
    pub(super) fn remove_sites(&mut self, reason: Reason) {
        self.memory.remove_everywhere(reason);
    }
}
