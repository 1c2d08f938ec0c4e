//! Finds where execution first enters a line in an optimised function.
//!
//! Optimisers duplicate a line's code, such as before a loop and in it, one copy for each path. The lowest copy may be
//! one that a run of the program never executes, so a breakpoint on it alone would never be hit. Therefore the function's
//! control flow is followed from its entry to the first code of the line on each path.

use crate::dwarf::Dwarf;
use crate::dwarf::jump_tables::Targets;
use dapple_arch::code::{Flow, Instructions};
use dapple_arch::instructions::decoder;
use dapple_arch::{Address, Machine};
use iced_x86::Instruction;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// In bytes; in larger functions, a line keeps one address.
const LARGEST: u64 = 1 << 18;

impl<'a> Dwarf<'a> {
    /// Returns those of the `places`, a line's addresses in a function, at which execution enters the line: on some path from
    /// `begin` (`None`: the function's entry), no other place comes first. `others` are the addresses whose instruction belongs to another line, even if this
    /// line has a row there. A place among `others` is left out if code of this line that was entered elsewhere leads there: when
    /// optimisers merge code behind branches, the merged code keeps the lines of one branch. The lowest place is left out only if all jumps
    /// on the way have known targets and it is reached only behind another place. Empty if the function is too large.
    pub(crate) fn line_entry_addresses(
        &self,
        ranges: &[Range<u64>],
        begin: Option<u64>,
        places: &[u64],
        others: &FxHashSet<u64>,
    ) -> Vec<u64> {
        let size = ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        let Some(first) = ranges.first().filter(|_| size.sum::<u64>() <= LARGEST) else {
            return Vec::new();
        };
        let mut walk = Walk::new(self, ranges, places);
        walk.others = Some(others);
        let first = walk.run(&[begin.unwrap_or(first.start)], Until::Place);
        let is_followed = !walk.is_indirect;
        let mut begin = first.clone();
        if first.len() > 1 && first.iter().any(|place| others.contains(place)) {
            let with_code = |place: &&u64| !others.contains(place);
            let visits: Vec<u64> = first.iter().filter(with_code).copied().collect();
            let continued = walk.run(&visits, Until::OtherLine);
            let is_lowest = |place: &u64| places.iter().min() == Some(place);
            begin.retain(|place| {
                is_lowest(place) || !others.contains(place) || !continued.contains(place)
            });
        }
        if let Some(lowest) = places.iter().min().filter(|place| !first.contains(place))
            && !(is_followed && walk.run(&first, Until::End).contains(lowest))
        {
            begin.push(*lowest);
        }
        begin
    }

    /// Whether control may come from one address of a function to the instruction with another, on a path without an
    /// instruction of x86-64 that is a `wall`.
    pub(crate) fn leads_to(
        &self,
        ranges: &[Range<u64>],
        from: u64,
        to: u64,
        wall: &dyn Fn(&Instruction) -> bool,
    ) -> bool {
        let places = [to];
        let mut walk = Walk::new(self, ranges, &places);
        walk.wall = Some(wall);
        !walk.run(&[from], Until::Place).is_empty()
    }
}

/// Where a walk along a function's control flow ends, besides the function's exits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// At the first of the places on each path.
    Place,
    /// At the first statement of another line.
    OtherLine,
    End,
}

struct Walk<'w, 'a> {
    dwarf: &'w Dwarf<'a>,
    /// The targets of jumps through tables; computed when the first such jump is met.
    jumps: Option<Targets>,
    code: Vec<(u64, &'w [u8])>,
    places: &'w [u64],
    /// Addresses whose instruction belongs to another line, for [`Until::OtherLine`].
    others: Option<&'w FxHashSet<u64>>,
    /// Instructions at which a path ends.
    wall: Option<&'w dyn Fn(&Instruction) -> bool>,
    until: Until,
    /// Whether there are jumps with unknown targets.
    is_indirect: bool,
    reached: Vec<u64>,
    seen: FxHashSet<u64>,
    queue: Vec<u64>,
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(dwarf: &'w Dwarf<'a>, ranges: &[Range<u64>], places: &'w [u64]) -> Walk<'w, 'a> {
        let code = ranges.iter().map(|range| (range.start, dwarf.code(range)));
        Walk {
            dwarf,
            jumps: None,
            code: code.collect(),
            places,
            others: None,
            wall: None,
            until: Until::Place,
            is_indirect: false,
            reached: Vec::new(),
            seen: FxHashSet::default(),
            queue: Vec::new(),
        }
    }

    /// The places that are reached from these addresses.
    fn run(&mut self, from: &[u64], until: Until) -> Vec<u64> {
        self.seen.clear();
        self.until = until;
        self.queue.extend(from);
        while let Some(at) = self.queue.pop() {
            self.follow(at);
        }
        let mut reached = std::mem::take(&mut self.reached);
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    /// Follows the code from `at` until it branches away or the walk ends.
    fn follow(&mut self, at: u64) {
        let pieces = self.code.iter();
        let mut rest = pieces.filter_map(|&(start, code)| {
            let distance = usize::try_from(at.checked_sub(start)?).ok()?;
            code.get(distance..).filter(|rest| !rest.is_empty())
        });
        let Some(code) = rest.next() else {
            return;
        };
        for instruction in Instructions::flows(self.dwarf.instruction_set(at), code, Address(at)) {
            let here = instruction.address.0;
            if !self.seen.insert(here) {
                return;
            }
            // A place may be in the middle of an instruction: the byte before a call's return address.
            let bytes = here..instruction.next().0;
            let is_place = self.places.iter().any(|place| bytes.contains(place));
            if is_place {
                self.reached.push(here);
            }
            let ends = match self.until {
                Until::Place => is_place,
                Until::OtherLine => self.others.is_some_and(|others| others.contains(&here)),
                Until::End => false,
            };
            let is_wall = |wall: &dyn Fn(&Instruction) -> bool| {
                let rest = usize::try_from(here - at)
                    .ok()
                    .and_then(|into| code.get(into..));
                rest.is_some_and(|rest| wall(&decoder(rest, here).decode()))
            };
            if ends || self.wall.is_some_and(is_wall) {
                return;
            }
            match instruction.flow {
                Flow::Next | Flow::Kernel | Flow::Call(_) => {}
                Flow::Branch(target) => self.queue.push(target.0),
                Flow::Jump(Some(target)) => {
                    self.queue.push(target.0);
                    return;
                }
                Flow::Jump(None) => {
                    self.follow_indirect(here);
                    if instruction.is_conditional {
                        continue;
                    }
                    return;
                }
                Flow::Return if instruction.is_conditional => {}
                Flow::Return | Flow::Other => return,
            }
        }
    }

    /// Continues at the targets of the table jump at `at`.
    fn follow_indirect(&mut self, at: u64) {
        let (dwarf, code) = (self.dwarf, &self.code);
        let jumps = self.jumps.get_or_insert_with(|| match dwarf.machine() {
            Machine::X86_64 => dwarf.jump_targets(code),
            _ => Targets::default(),
        });
        match jumps.get(&at) {
            Some(targets) => self.queue.extend(targets),
            None => self.is_indirect = true,
        }
    }
}
