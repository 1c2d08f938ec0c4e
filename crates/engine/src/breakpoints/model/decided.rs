//! What the program needs to decide by itself whether a breakpoint acts.

use super::{Model, Place};
use crate::Address;
use crate::breakpoints::condition::Here;
use crate::breakpoints::options::{BreakpointOptions, Decision, Rules};

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

    /// How often the condition of each breakpoint has held.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (i64, u64)> {
        let all = self.list.iter();
        all.map(|breakpoint| (breakpoint.id, breakpoint.rules.count()))
    }

    /// Whether one acts on some of its hits only.
    pub(crate) fn counts_hits(&self) -> bool {
        let mut all = self.list.iter();
        all.any(|breakpoint| breakpoint.rules.hit_condition().is_some())
    }

    /// From now on, so many hits of each breakpoint were before.
    pub(crate) fn count_from(&mut self, count: impl Fn(i64) -> u64) {
        for breakpoint in &mut self.list {
            breakpoint.rules.count_from(count(breakpoint.id));
        }
    }

    /// The rules of a breakpoint. `None`: it is gone.
    pub(crate) fn rules(&mut self, id: i64) -> Option<&mut Rules> {
        let breakpoint = self.list.iter_mut().find(|b| b.id == id)?;
        Some(&mut breakpoint.rules)
    }
}
