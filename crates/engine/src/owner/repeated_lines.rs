//! In a search for lines: a line that runs on and on.
//!
//! The line of a short loop is come to a million times without another between, which counts once. After some times, the search leaves out the sites
//! of that line, until it comes to another.

use super::Owner;
use super::travel::Goal;
use crate::Address;
use crate::breakpoints::site::Reason;
use rustc_hash::FxHashSet;

/// After how many repetitions a line's sites are left out.
const MOST: u32 = 16;

/// The repetitions of one line.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// How often the last line has come again.
    count: u32,
    /// The places that are left out.
    without: FxHashSet<Address>,
}

impl Repeats {
    /// Whether a place has no site for now.
    pub(super) fn leaves_out(&self, at: Address) -> bool {
        self.without.contains(&at)
    }
}

impl Owner {
    /// A search has come to a line. `is_repeated`: to the same one as before.
    pub(super) fn note_repeated_line(&mut self, at: Address, is_repeated: bool) {
        let Some(travel) = self.search_mut() else {
            return;
        };
        let repeats = &mut travel.repeats;
        if is_repeated {
            repeats.count += 1;
            if repeats.count == MOST {
                self.leave_line_out(at);
            }
            return;
        }
        repeats.count = 0;
        if !repeats.without.is_empty() {
            repeats.without.clear();
            self.insert_past_sites();
        }
    }

    /// Takes the sites of a place's line out of its function.
    fn leave_line_out(&mut self, at: Address) {
        let ranges = self.code_around(at);
        let Some(travel) = self.search_mut() else {
            return;
        };
        let Goal::Places(places) = &travel.goal else {
            return;
        };
        // In a recursive function, the line may belong to the caller the next time.
        let Some(line) = places.all.get(&at).filter(|_| !places.is_recursive) else {
            return;
        };
        let end = travel.end.moment.pc();
        let is_left_out = |other: &Address| {
            Some(*other) != end && ranges.iter().any(|range| range.contains(other))
        };
        let same = { places.all.iter() }.filter(|(_, other)| *other == line);
        let without: FxHashSet<Address> = { same.map(|(at, _)| *at) }.filter(is_left_out).collect();
        travel.repeats.without = without.clone();
        for at in without {
            self.remove_site(at, Reason::Travel);
        }
    }
}
