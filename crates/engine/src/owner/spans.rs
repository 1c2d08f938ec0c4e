//! How many of the intervals between checkpoints a run of a search passes through.
//!
//! Each run costs a copy of the process, and its memory is compared at the end. Laps ([`super::laps`]) are so short that this takes longer than
//! they do. So where nothing was found in the last one, the next run begins two laps before, then four, and so on. What it finds is in
//! one of these laps: the last half of them is searched alone, then the last half of those in which it is, until one is left. The program
//! runs on to what was found from the checkpoint right before, from which the next search can run, too.

use super::Owner;
use super::travel::{Run, Travel};

/// What a run passes through.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// How many checkpoints are between the one from which it begins and its end.
    passed: usize,
    /// How many intervals the next one before is to have.
    next: usize,
    /// Whether something is known to be in these.
    is_known: bool,
}

impl Span {
    /// A search begins, which passes this many checkpoints.
    pub(super) fn of(passed: usize) -> Span {
        let is_known = false;
        Span {
            passed,
            next: 2,
            is_known,
        }
    }

    /// Whether the run passes checkpoints.
    pub(super) fn is_long(self) -> bool {
        self.passed > 0
    }

    /// Nothing was found from a checkpoint on, which isn't the first one: returns where the next run begins, that ends there. It passes through
    /// laps only.
    fn back(&mut self, from: usize, is_lap: impl Fn(usize) -> bool) -> usize {
        let mut begin = from - 1;
        while begin > 0 && from - begin < self.next && is_lap(begin) {
            begin -= 1;
        }
        let intervals = from - begin;
        let is_known = self.is_known;
        *self = Span {
            passed: intervals - 1,
            next: intervals * 2,
            is_known: false,
        };
        match is_known {
            true => self.narrow(begin).unwrap_or(begin),
            false => begin,
        }
    }

    /// Something was found from a checkpoint on. Returns where the next run begins: the last half is searched. `None`: it was in one interval.
    fn narrow(&mut self, from: usize) -> Option<usize> {
        if !self.is_long() {
            return None;
        }
        let intervals = self.passed + 1;
        // If nothing is in the last half, the rest is what the next run is to have.
        let rest = intervals.div_ceil(2);
        *self = Span {
            passed: intervals - rest - 1,
            next: rest,
            is_known: true,
        };
        Some(from + rest)
    }

    /// The last interval alone is to be searched. Returns where it begins.
    fn last(&mut self, from: usize) -> usize {
        let passed = std::mem::take(self).passed;
        from + passed
    }
}

impl Owner {
    /// Nothing was found: the next run ends where this one has begun, which isn't at the first checkpoint.
    pub(super) fn goes_further_back(&self, travel: &mut Travel) {
        let nearest = travel.from - 1;
        let begin = self.last_with_counts(&travel.goal, nearest);
        travel.from = match begin == nearest {
            true => travel.span.back(travel.from, |index| self.is_lap(index)),
            false => {
                travel.span = Span::of(nearest - begin);
                begin
            }
        };
    }

    /// This many have come of what is looked for. Returns the next run.
    pub(super) fn narrows_span(&self, travel: &mut Travel, found: usize) -> Run {
        if !self.depends_on_counts(&travel.goal)
            && let Some(from) = travel.span.narrow(travel.from)
        {
            travel.from = from;
            return Run::Search;
        }
        Run::To(found)
    }

    /// A run that passes checkpoints takes long. Returns whether the search is to go on with the last interval alone.
    pub(super) fn shortens_span(&self, travel: &mut Travel) -> bool {
        if self.depends_on_counts(&travel.goal) || self.stops_rarely(travel) {
            return false;
        }
        travel.from = travel.span.last(travel.from);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches for what is in one of the intervals behind so many checkpoints, the last of which is `from`. Returns the runs that were made:
    /// where each began and ended.
    fn searched(from: usize, wanted: usize, is_lap: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
        let (mut from, mut end, mut span) = (from, from + 1, Span::of(0));
        let mut runs = Vec::new();
        loop {
            assert_eq!(span.passed, end - from - 1);
            runs.push((from, end));
            match (from..end).contains(&wanted) {
                true => match span.narrow(from) {
                    None => return runs,
                    Some(begin) => from = begin,
                },
                false => {
                    end = from;
                    from = span.back(from, &is_lap);
                }
            }
        }
    }

    #[test]
    fn each_interval_is_found_alone_in_few_runs() {
        for wanted in 0..=100 {
            let runs = searched(100, wanted, |_| true);
            assert_eq!(runs.last(), Some(&(wanted, wanted + 1)));
            assert!(runs.len() <= 14, "{wanted}: {runs:?}");
        }
        assert_eq!(searched(100, 100, |_| true), [(100, 101)]);
        assert_eq!(
            searched(100, 99, |_| true),
            [(100, 101), (98, 100), (99, 100)]
        );
    }

    #[test]
    fn a_run_passes_through_laps_only() {
        let runs = searched(9, 0, |index| index != 6 && index != 5);
        let (last, before) = ((9, 10), [(7, 9), (6, 7), (5, 6)]);
        assert_eq!(runs[..4], [&[last][..], &before].concat());
        assert_eq!(runs.last(), Some(&(0, 1)));
    }

    #[test]
    fn a_run_that_takes_long_is_one_of_the_last_interval_instead() {
        let mut span = Span::of(0);
        assert_eq!(span.back(10, |_| true), 8);
        assert_eq!(span.last(8), 9);
        assert!(!span.is_long());
        assert_eq!(span.back(9, |_| true), 8);
    }
}
