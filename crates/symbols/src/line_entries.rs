//! Where control first comes to a line of an optimised function.
//!
//! Optimisers write a line's code several times: in front of a loop and in it, once for each way to come there. The
//! lowest copy may be one that a run of the program never takes, and a breakpoint on it alone would never be hit. So the
//! function is followed from its beginning, along its jumps, up to the first code of the line on each way.

use crate::dwarf::Dwarf;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Larger functions keep one place for a line, in bytes.
const LARGEST: u64 = 1 << 18;

impl Dwarf<'_> {
    /// Those of the places in a function's code that are come to before any other of them; none where the function can't
    /// be followed.
    pub(crate) fn first_reached(&self, ranges: &[Range<u64>], places: &[u64]) -> Vec<u64> {
        let size = ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        let Some(first) = ranges.first().filter(|_| size.sum::<u64>() <= LARGEST) else {
            return Vec::new();
        };
        let mut walk = Walk {
            code: ranges
                .iter()
                .map(|range| (range.start, self.code(range)))
                .collect(),
            places,
            reached: Vec::new(),
            seen: FxHashSet::default(),
            queue: vec![first.start],
        };
        while let Some(at) = walk.queue.pop() {
            walk.follow(at);
        }
        walk.reached
    }
}

struct Walk<'w> {
    code: Vec<(u64, &'w [u8])>,
    places: &'w [u64],
    reached: Vec<u64>,
    seen: FxHashSet<u64>,
    queue: Vec<u64>,
}

impl<'w> Walk<'w> {
    /// Follows the code from `at` until it goes elsewhere, or comes to one of the places.
    fn follow(&mut self, at: u64) {
        let pieces = self.code.iter();
        let mut rest = pieces.filter_map(|&(start, code)| {
            let distance = usize::try_from(at.checked_sub(start)?).ok()?;
            code.get(distance..).filter(|rest| !rest.is_empty())
        });
        let Some(code) = rest.next() else {
            return;
        };
        let mut decoder = Decoder::with_ip(64, code, at, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            let here = instruction.ip();
            if instruction.is_invalid() || !self.seen.insert(here) {
                return;
            }
            if self.places.contains(&here) {
                self.reached.push(here);
                return;
            }
            match instruction.flow_control() {
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {}
                FlowControl::ConditionalBranch => {
                    self.queue.push(instruction.near_branch_target());
                }
                FlowControl::UnconditionalBranch => {
                    self.queue.push(instruction.near_branch_target());
                    return;
                }
                _ => return,
            }
        }
    }
}
