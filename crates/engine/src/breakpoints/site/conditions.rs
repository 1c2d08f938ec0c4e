//! Sites with a condition that the stub evaluates: only threads for which it is true, or has no value, stop.

use super::{PatchedMemory, Site};
use crate::Address;
use crate::breakpoints::options::BreakpointOptions;
use dapple_arch::decision::Truth;

impl Site {
    /// Whether a stub evaluates its breakpoints' conditions, as far as the site was not taken out and put back since.
    pub(super) fn is_by_stub(&self) -> bool {
        self.by_stub.is_some()
    }
}

impl PatchedMemory {
    /// Has the stub evaluate a site's condition. `decides`: the breakpoints there, with their options.
    ///
    /// # Errors
    /// Why it can't, as a clause.
    pub(crate) fn put_condition_in(
        &mut self,
        address: Address,
        truth: &Truth,
        decides: Vec<(i64, BreakpointOptions)>,
    ) -> Result<(), String> {
        let site = self.sites.get_mut(&address);
        let site = site.ok_or("the breakpoint is gone")?;
        self.process.set_condition(address, Some(truth))?;
        site.by_stub = Some(decides);
        site.doubled = 0;
        Ok(())
    }

    /// Lets all threads stop at a site again.
    pub(crate) fn take_condition_out(&mut self, address: Address) {
        let Some(site) = self.sites.get_mut(&address) else {
            return;
        };
        if site.by_stub.take().is_some() {
            site.passes = 0;
            // The memory may be gone with its module.
            let _ = self.process.set_condition(address, None);
        }
    }

    /// Lets all threads stop again at the sites whose breakpoints are `is_stale`.
    pub(crate) fn take_conditions_out(
        &mut self,
        is_stale: impl Fn(&(i64, BreakpointOptions)) -> bool,
    ) {
        let sites = self.sites.iter();
        let stale = sites.filter(|(_, site)| { site.by_stub.iter().flatten() }.any(&is_stale));
        for address in stale.map(|(address, _)| *address).collect::<Vec<_>>() {
            self.take_condition_out(address);
        }
    }

    /// Whether the stub evaluates a site's condition.
    pub(crate) fn is_decided_by_stub(&self, address: Address) -> bool {
        let is_by_stub = self.sites.get(&address).is_some_and(Site::is_by_stub);
        is_by_stub && self.process.has_condition(address)
    }
}
