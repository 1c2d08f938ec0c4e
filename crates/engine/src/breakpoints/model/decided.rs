//! What the program needs to decide by itself whether a breakpoint acts, and what becomes of hits that it has counted.

use super::{Model, Place};
use crate::Address;
use crate::breakpoints::condition::Here;
use crate::breakpoints::options::{Act, BreakpointOptions, Decision, Rules};
use dapple_inspect::modules::Modules;

impl Model {
    /// What was asked of a breakpoint. `None`: it is gone.
    pub(crate) fn options(&self, id: i64) -> Option<&BreakpointOptions> {
        let breakpoint = self.list.iter().find(|b| b.id == id)?;
        Some(breakpoint.rules.asked())
    }

    /// What the program needs to decide by itself whether a breakpoint acts on a thread that has reached it at `address`, and the place there.
    ///
    /// # Errors
    /// Why it can't, as a clause.
    pub(crate) fn decision<'a>(
        &mut self,
        id: i64,
        address: Address,
        here: &dyn Fn(&Place) -> Here<'a>,
    ) -> Result<(Decision, Place), String> {
        let breakpoint = self.list.iter_mut().find(|b| b.id == id);
        let breakpoint = breakpoint.ok_or("the breakpoint is gone")?;
        if breakpoint.temporary.is_some() {
            return Err("it is temporary".to_owned());
        }
        let place = breakpoint.places.get(&address).cloned().unwrap_or_default();
        Ok((breakpoint.rules.decision(&here(&place))?, place))
    }

    /// The breakpoints that have a condition, a hit condition or a message.
    pub(crate) fn deciding(&self) -> Vec<i64> {
        let plain = BreakpointOptions::default();
        let deciding = self.list.iter().filter(|b| *b.rules.asked() != plain);
        deciding.map(|b| b.id).collect()
    }

    /// The rules of a breakpoint. `None`: it is gone.
    pub(crate) fn rules(&mut self, id: i64) -> Option<&mut Rules> {
        let breakpoint = self.list.iter_mut().find(|b| b.id == id)?;
        Some(&mut breakpoint.rules)
    }

    /// As [`Model::decide`], for a hit that was counted in the program and has the number `hit`.
    pub(crate) fn decide_counted<'a>(
        &mut self,
        id: i64,
        address: Address,
        modules: &Modules,
        here: impl FnOnce(&Place) -> Here<'a>,
        hit: u64,
    ) -> (Act, Option<Place>) {
        let Some(breakpoint) = self.list.iter_mut().find(|b| b.id == id) else {
            return (Act::GoOn, None);
        };
        let place = breakpoint.known_place(address, modules);
        let act = breakpoint.rules.decide_counted(&here(&place), hit);
        (act, Some(place))
    }
}
