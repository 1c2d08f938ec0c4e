//! Getting near the end of a search by counting how often a place is passed.
//!
//! Laps ([`super::laps`]) are some milliseconds long, in which a place may be passed a million times. If a search takes long all the same, the
//! place that it has passed most often gets code that counts in the program ([`dapple_arch::decision::Exact`]): one run up to the end counts the
//! passes, and a second one is stopped some passes before the last. There, a checkpoint is taken, and the search begins anew.

use super::Owner;
use super::travel::{Run, Travel};
use crate::Address;
use dapple_arch::decision::PASSES;
use dapple_inspect::inspect::Inspect;

/// How many passes before the last the search begins anew. Each time nothing is found there, so many times more.
const BACK: u64 = 32;
const FURTHER: u64 = 8;
/// The least stops at a place for which it is worth to count its passes.
const WORTH: u32 = 128;
/// The most places that are tried, those that are passed most first, and instructions before and behind each.
const MOST_TRIED: usize = 4;
const AROUND: usize = 8;
/// How many passes are left where all are to be counted.
const ALL: u64 = 1 << 62;

/// The passes of a place that are counted in a run.
#[derive(Debug)]
pub(super) struct PassCount {
    at: Address,
    /// How many will come up to the one that is looked for, unless a word in the program says that.
    left: u64,
    /// The word, while code in the program counts.
    word: Option<Address>,
}

impl Run {
    /// The place whose passes are counted.
    pub(super) fn counted(self) -> Option<Address> {
        match self {
            Run::Count(at) | Run::Near(at, _) => Some(at),
            Run::Laps | Run::Search | Run::To(_) => None,
        }
    }
}

impl Owner {
    /// A thread has come to a site: if that is of interest for a search, notes it.
    pub(super) fn note_stop_at(&mut self, at: Address) {
        if !self.is_travelling() {
            return;
        }
        let quiet = self.is_quiet();
        let is_end = self.site(at).is_some_and(|site| site.is_only_past(quiet));
        if let Some(travel) = self.search_mut()
            && (travel.looks_for(at) || !is_end)
        {
            *travel.hot.entry(at).or_default() += 1;
        }
    }

    /// A thread has passed a place at which it was stopped for a search.
    pub(super) fn note_pass(&mut self, at: Address) {
        if let Some(travel) = self.search_mut() {
            *travel.hot.entry(at).or_default() += 1;
        }
    }

    /// The places at which a search has stopped often and still stops, those that are passed most first, and how often they were.
    fn hot_places(&self, travel: &Travel) -> Vec<(Address, u32)> {
        let worth = travel.hot.iter().filter(|(_, stops)| **stops >= WORTH);
        let stops_on = worth.filter(|(at, _)| !self.has_jump(**at));
        let mut hot: Vec<(Address, u32)> = stops_on.map(|(at, stops)| (*at, *stops)).collect();
        // Of those that are passed equally often, always the same.
        hot.sort_by_key(|(at, stops)| (std::cmp::Reverse(*stops), *at));
        hot
    }

    /// Whether stops at places take most of the time of a search.
    pub(super) fn is_slow(&self, travel: &Travel) -> bool {
        !self.hot_places(travel).is_empty()
    }

    /// A search takes long. Returns the run that counts the passes of a place, if one is worth that.
    pub(super) fn counts_instead(&self, travel: &Travel) -> Option<Run> {
        let mut hot = self.hot_places(travel);
        hot.truncate(MOST_TRIED);
        // A site that the jump at the end would replace keeps that jump out: each pass of the end would stop the thread.
        let last = travel.end.moment.pc().unwrap_or_default();
        let within = |at: Address| self.within_jump(travel.thread, at);
        let end = within(last);
        // Where the run begins, the thread must not be within what the jump replaces.
        let begin = { self.history_moment(travel.from) }.and_then(|moment| moment.pc());
        let is_free = |at: Address| {
            let taken = within(at);
            !taken.contains(&last) && begin.is_none_or(|begin| !taken.contains(&begin))
        };
        let is_tried = |at: Address| travel.uncountable.contains(&at);
        // Code that counts compares the stack only: where others differ from the end elsewhere, each pass of the end would stop the thread.
        let is_end = |at: Address| at == last && !travel.end.differs.is_empty();
        let is_possible =
            |at: Address| !is_tried(at) && !end.contains(&at) && is_free(at) && !is_end(at);
        let fits = |at: Address| is_possible(at) && self.fits_jump(travel.thread, at);
        // There, the search that follows stops at each pass.
        let will_fit = |at: Address| is_possible(at) && self.will_fit_jump(travel.thread, at);
        let places = || hot.iter().map(|(at, _)| *at);
        // What is around one of them may be before the loop.
        let own = places().find(|at| fits(*at));
        let found = own.or_else(|| places().find_map(|at| self.countable_around(at, fits)));
        let found = found.or_else(|| places().find(|at| will_fit(*at)));
        tracing::debug!(?hot, ?found, "places that are passed often");
        found.map(Run::Count)
    }

    /// A place around this one in the same function, which is likely passed as often, and whose passes can be counted by code there.
    fn countable_around(&self, at: Address, fits: impl Fn(Address) -> bool) -> Option<Address> {
        let module = self.modules().at(at)?;
        let function = module.module.function_at(module.to_file(at))?;
        let ranges = function.ranges.iter();
        let mut ranges = ranges.map(|it| module.to_process(it.start)..module.to_process(it.end));
        let range = ranges.find(|range| range.contains(&at))?;
        let all: Vec<Address> = self.instructions_in(range).collect();
        let here = all.iter().position(|other| *other == at)?;
        let before = all[here.saturating_sub(AROUND)..here].iter().rev();
        let after = all[here + 1..].iter().take(AROUND);
        let mut around = before.chain(after);
        around.find(|at| fits(**at)).copied()
    }

    /// A run begins in which passes are counted. Returns whether the program counts them.
    pub(super) fn begin_counting(&mut self, run: Run) -> bool {
        let Some(at) = run.counted() else {
            return true;
        };
        let left = match run {
            Run::Near(_, left) => left,
            _ => ALL,
        };
        if let Some(travel) = self.search_mut() {
            let word = None;
            travel.passes = Some(PassCount { at, left, word });
        }
        let made = self.make_past_jump(at);
        tracing::debug!(%at, ?made, "counting");
        made.is_ok()
    }

    /// How many passes of a place are left, if they are to be counted by code there.
    pub(super) fn passes_for_code(&self, at: Address) -> Option<u64> {
        let passes = self.search()?.passes.as_ref()?;
        (passes.at == at).then_some(passes.left)
    }

    /// Code in the program counts from now on, in a word there.
    pub(super) fn counted_by_code(&mut self, word: Address) {
        if let Some(passes) = self.search_mut().and_then(|travel| travel.passes.as_mut()) {
            passes.word = Some(word);
        }
    }

    /// Code in the program counts no more at a site.
    pub(super) fn counted_by_hand(&mut self, at: Address) {
        let left = self.passes_left();
        let passes = self.search_mut().and_then(|travel| travel.passes.as_mut());
        if let Some(passes) = passes.filter(|passes| passes.at == at) {
            passes.left = left;
            passes.word = None;
        }
    }

    fn passes_left(&self) -> u64 {
        self.left_of(self.search().and_then(|travel| travel.passes.as_ref()))
    }

    fn left_of(&self, passes: Option<&PassCount>) -> u64 {
        let Some(passes) = passes else {
            return 0;
        };
        let read = |word: Address| self.memory().read_u64(word).ok();
        passes
            .word
            .map_or(passes.left, |word| read(word).unwrap_or(0))
    }

    /// A thread has come to a site. Returns whether that is the pass that is looked for.
    pub(super) fn is_wanted_pass(&mut self, at: Address) -> bool {
        let passes = self.search_mut().and_then(|travel| travel.passes.as_mut());
        let Some(passes) = passes.filter(|passes| passes.at == at) else {
            return false;
        };
        if passes.word.is_none() {
            passes.left = passes.left.saturating_sub(1);
        }
        self.passes_left() == 0
    }

    /// The run has counted all passes. Returns the next one.
    pub(super) fn counted_all(&self, travel: &mut Travel, at: Address) -> Run {
        let passed = ALL.saturating_sub(self.left_of(travel.passes.as_ref()));
        let back = BACK * FURTHER.saturating_pow(travel.too_near);
        tracing::debug!(%at, passed, back, "passes");
        match passed.checked_sub(back) {
            Some(near @ 1..) => return Run::Near(at, near),
            // It is beside the loop: another place is to be tried.
            _ if passed < WORTH.into() => travel.uncountable.push(at),
            _ => travel.laps.is_near(),
        }
        Run::Search
    }
}

/// Where the code counts, given where it may write.
pub(super) fn word_in(kept: Address) -> Address {
    Address(kept.0 + PASSES)
}
