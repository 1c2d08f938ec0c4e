//! Code of ours in the program, which decides conditions of breakpoints there.
//!
//! A site whose condition is often false has a jump to a *trampoline* in place of its `int3`: code that decides the condition
//! ([`dapple_arch::decision`]), then does what the replaced instructions did, and jumps back. Only a thread that must be looked at traps.
//!
//! Trampolines are in *arenas*: memory mapped near the code, because a jump reaches 2 GiB. An arena stays mapped as long as the process lives.
//! A trampoline that isn't used any more stays until no thread can be in it.
//!
//! A thread that stops in a trampoline counts as being at the site, or at one of the replaced instructions: [`Trampoline::place_of`].

use crate::breakpoints::log_ring::LogRing;
use crate::breakpoints::options::BreakpointOptions;
use crate::breakpoints::passes::{COUNTERS, Counters, Passes};
use crate::{Address, ThreadId};
use dapple_arch::decision::{self, Ring, State};
use dapple_arch::jump_site::{JumpSite, Relocated};
use dapple_target::process::Process;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// How far a jump reaches that has 32 bits for the distance, less some room for the code at both ends.
const REACH: u64 = (1 << 31) - (1 << 20);
/// The size of an arena in bytes.
pub(crate) const ARENA: u64 = 64 << 10;
/// The most arenas of a process.
const MOST_ARENAS: usize = 16;
/// What the addresses of trampolines are multiples of: a line of the processor's cache.
const ALIGNMENT: u64 = 64;
/// The lowest address that is used (`vm.mmap_min_addr` is 64 KiB by default).
const LOWEST: u64 = 1 << 20;
/// The end of a program's addresses.
const HIGHEST: u64 = 1 << 47;

/// Where conditions of breakpoints are decided and hits counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhereDecided {
    /// In the program, at breakpoints that are often passed, if that is possible.
    #[default]
    InProgram,
    /// In the debugger: every thread that comes to a breakpoint stops.
    AtStops,
}

/// A site's way into the program's code and back.
#[derive(Debug)]
pub(crate) struct Trampoline {
    /// Where it is.
    pub(crate) start: Address,
    /// The site.
    pub(crate) site: Address,
    /// The instructions that it replaces.
    pub(crate) replaced: JumpSite,
    /// Its code.
    pub(crate) code: decision::Trampoline,
    /// Whether the code has a switch in front ([`decision::Trampoline::switched`]).
    pub(crate) is_switched: bool,
    /// The part of the code that does what the replaced instructions did.
    pub(crate) relocated: Relocated,
    /// If it counts hits: by what. All places of a breakpoint have the same.
    pub(crate) passes: Option<Arc<Passes>>,
    /// The id of the records that it writes into the log ring, if it writes any.
    pub(crate) writer: Option<u64>,
    /// The breakpoints whose conditions it decides, with their options then.
    pub(crate) decides: Vec<(i64, BreakpointOptions)>,
    /// If its conditions depend on the thread's id: how far from the thread pointer threads have theirs.
    pub(crate) own_id: Option<u64>,
}

/// More hits of a breakpoint, with the options that it had, that were counted in the program.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) breakpoint: i64,
    pub(crate) options: BreakpointOptions,
    pub(crate) hits: u64,
}

/// What a thread in a trampoline is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Within {
    /// It decides: it is shown at the site, with these registers.
    Deciding(decision::Saved),
    /// Its hit may have been counted, or it has begun a record: it has to go on to one of the ends.
    Counted,
    /// It counts as being at this address, with a stack pointer that is higher by so many bytes.
    At(Address, u64),
    /// It has run into the trap: the debugger has to decide.
    Asking,
}

impl Trampoline {
    /// Code at `start` for a site. `None`: what the jump replaces can't be moved there.
    pub(crate) fn of(
        start: Address,
        replaced: JumpSite,
        code: decision::Trampoline,
    ) -> Option<Trampoline> {
        let relocated = replaced.relocated(Address(start.0 + code.go_on))?;
        Some(Trampoline {
            start,
            site: replaced.site,
            replaced,
            code,
            is_switched: false,
            relocated,
            passes: None,
            writer: None,
            decides: Vec::new(),
            own_id: None,
        })
    }

    /// What a thread whose instruction pointer is `pc` is about to do.
    pub(crate) fn place_of(&self, pc: Address) -> Option<Within> {
        let offset = pc.0.checked_sub(self.start.0)?;
        Some(match self.code.state_at(offset) {
            State::Deciding(saved) => Within::Deciding(saved),
            State::Counted => Within::Counted,
            State::GoingOn(offset) => {
                let position = self.relocated.original(offset)?;
                Within::At(position.original, position.pushed)
            }
            State::Asking => Within::Asking,
        })
    }

    /// Where a thread goes on that counts as being at `original`, the site or a replaced instruction, and need not decide.
    pub(crate) fn entry_of(&self, original: Address) -> Option<Address> {
        let offset = self.replaced.entry_of(&self.relocated, original)?;
        Some(Address(self.start.0 + self.code.go_on + offset))
    }

    /// The hits that were counted since this was last asked.
    fn counted(&self) -> Option<Counted> {
        let hits = self.passes.as_ref()?.used();
        let (breakpoint, options) = self.decides.first()?.clone();
        (hits > 0).then_some(Counted {
            breakpoint,
            options,
            hits,
        })
    }

    /// Lets all hits ask from now on, and returns those that were counted.
    fn ends_counting(&self) -> Option<Counted> {
        self.passes.as_ref()?.withdraw();
        self.counted()
    }

    /// Where its `int3` is.
    pub(crate) fn ask(&self) -> Address {
        Address(self.start.0 + self.code.ask)
    }

    /// The address of its switch.
    pub(crate) fn switch(&self) -> Option<Address> {
        let switch = Address(self.start.0 + decision::SWITCH);
        self.is_switched.then_some(switch)
    }

    fn end(&self) -> Address {
        Address(self.start.0 + self.code.bytes.len() as u64)
    }
}

/// Memory for trampolines.
#[derive(Debug)]
struct Arena {
    range: Range<Address>,
    /// Whether code there may write it, as that of copies does.
    is_writable: bool,
}

/// All trampolines of a process.
#[derive(Debug, Default)]
pub(crate) struct Trampolines {
    /// Whether any are to be made.
    pub(crate) decided: WhereDecided,
    arenas: Vec<Arena>,
    /// Arenas that only other processes of this history have, or that can't be used in this one.
    elsewhere: Vec<Arena>,
    used: BTreeMap<Address, Trampoline>,
    /// Those that no site uses any more. A thread may be in one.
    retired: BTreeMap<Address, Trampoline>,
    /// Sites that have been passed so often that they are worth a jump.
    pub(crate) wanted: Vec<Address>,
    /// Hits that were counted, and that the breakpoints don't know yet.
    pub(crate) counted: Vec<Counted>,
    /// Why sites that were passed often have no jump.
    pub(crate) refused: BTreeMap<Address, String>,
    /// How the program counts hits.
    pub(crate) counters: Option<Counters>,
    /// What the program logs by itself.
    pub(crate) log_ring: Option<LogRing>,
    /// Threads that wait for room in it, and have yet to come to their site.
    pub(crate) waiting: Vec<ThreadId>,
    /// New threads that may come to a trampoline which reads their ids, before that is known to be right.
    pub(crate) unchecked: BTreeSet<ThreadId>,
}

impl Trampolines {
    /// How many bytes they take in the program's memory.
    pub(crate) fn size(&self) -> u64 {
        let counters = self.counters.as_ref().map_or(0, |_| COUNTERS);
        let ring = self.log_ring.as_ref().map_or(0, |_| Ring::SIZE);
        self.arenas.len() as u64 * ARENA + counters + ring
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.used.is_empty() && self.retired.is_empty()
    }

    /// The trampoline that `pc` is in.
    pub(crate) fn at(&self, pc: Address) -> Option<&Trampoline> {
        let in_map = |map: &BTreeMap<Address, Trampoline>| {
            // A thread that has run into the last byte is behind it.
            let (_, last) = map.range(..=pc).next_back()?;
            (pc <= last.end()).then_some(last.start)
        };
        if self.is_empty() {
            return None;
        }
        let start = in_map(&self.used).or_else(|| in_map(&self.retired))?;
        self.used.get(&start).or_else(|| self.retired.get(&start))
    }

    /// The trampolines of all sites.
    pub(crate) fn used(&self) -> impl Iterator<Item = &Trampoline> {
        self.used.values()
    }

    /// The trampoline of a site.
    pub(crate) fn of(&self, start: Address) -> Option<&Trampoline> {
        self.used.get(&start)
    }

    /// An address with `size` free bytes that a jump at `near` reaches. `None`: there is none in the arenas.
    pub(crate) fn room(&self, near: Address, size: u64) -> Option<Address> {
        let arenas = self.ranges();
        let mut arenas = arenas.filter(|arena| arena.start.0.abs_diff(near.0) < REACH);
        arenas.find_map(|arena| self.room_in(arena, arena.start, size))
    }

    /// An address in `range` with `size` free bytes. `None`: there is none in the arenas.
    pub(crate) fn room_within(&self, range: &Range<Address>, size: u64) -> Option<Address> {
        let mut arenas = self.ranges();
        arenas.find_map(|arena| {
            let first = Address(range.start.0.next_multiple_of(ALIGNMENT)).max(arena.start);
            let room = self.room_in(arena, first, size)?;
            range.contains(&room).then_some(room)
        })
    }

    /// An address in an arena, from `first` on, with `size` free bytes.
    fn room_in(&self, arena: &Range<Address>, first: Address, size: u64) -> Option<Address> {
        let mut taken: Vec<(Address, Address)> = [&self.used, &self.retired]
            .into_iter()
            .flat_map(|map| map.range(arena.clone()))
            .map(|(start, trampoline)| (*start, trampoline.end()))
            .collect();
        taken.sort();
        let mut free = first.0;
        for (start, end) in taken {
            if end < first {
                continue;
            }
            if start.0.saturating_sub(free) >= size {
                break;
            }
            // One byte more: a thread that has run into the last byte is behind it.
            free = (end.0 + 1).next_multiple_of(ALIGNMENT);
        }
        (free + size < arena.end.0).then_some(Address(free))
    }

    /// Where memory for another arena can be mapped, given what is mapped already. `None`: nowhere near enough, or there are too many.
    pub(crate) fn place_for_arena(
        &self,
        near: Address,
        mapped: impl IntoIterator<Item = Range<u64>>,
    ) -> Option<Address> {
        if self.has_all_arenas() {
            return None;
        }
        let mapped = sorted(mapped);
        let mut best: Option<u64> = None;
        let mut end = LOWEST;
        let last = HIGHEST..HIGHEST;
        for range in mapped.iter().chain([&last]) {
            // A page stays free on both sides: a stack below grows, and nobody mistakes the arena for a part of its neighbour.
            let gap = end + 4096..range.start.saturating_sub(4096);
            if gap.end.saturating_sub(gap.start) >= ARENA {
                for start in [gap.start, gap.end - ARENA] {
                    let is_nearer =
                        best.is_none_or(|best| start.abs_diff(near.0) < best.abs_diff(near.0));
                    if is_nearer {
                        best = Some(start.next_multiple_of(4096).min(gap.end - ARENA));
                    }
                }
            }
            end = end.max(range.end);
        }
        let best = best?;
        (best.abs_diff(near.0) < REACH && best.is_multiple_of(4096)).then_some(Address(best))
    }

    /// Where memory for another arena can be mapped that begins in `range`, given what is mapped already. `None`: nowhere, or there are too many.
    pub(crate) fn place_within(
        &self,
        range: &Range<Address>,
        mapped: impl IntoIterator<Item = Range<u64>>,
    ) -> Option<Address> {
        if self.has_all_arenas() {
            return None;
        }
        let mut place = range.start.0.max(LOWEST).next_multiple_of(4096);
        for taken in sorted(mapped) {
            // A page stays free on both sides, as in `place_for_arena`.
            if taken.start < place.saturating_add(ARENA + 4096) && taken.end + 4096 > place {
                place = (taken.end + 4096).next_multiple_of(4096);
            }
        }
        let is_low = place.saturating_add(ARENA) < HIGHEST;
        (is_low && range.contains(&Address(place))).then_some(Address(place))
    }

    /// Whether there are as many arenas as there may be.
    pub(crate) fn has_all_arenas(&self) -> bool {
        self.arenas.len() >= MOST_ARENAS
    }

    /// Uses the arenas that another process of this history has. Code in copies writes its arena: those that the program had before it was recorded
    /// are of no use there.
    pub(crate) fn use_arenas_of(&mut self, process: &dyn Process) {
        let is_copy = process.is_copy();
        let is_there = |arena: &Arena| {
            let mut ends = [arena.range.start, Address(arena.range.end.0 - 1)].into_iter();
            (arena.is_writable || !is_copy) && ends.all(|at| process.read(at, &mut [0]).is_ok())
        };
        self.arenas.append(&mut self.elsewhere);
        let all = std::mem::take(&mut self.arenas).into_iter();
        (self.arenas, self.elsewhere) = all.partition(is_there);
    }

    /// The arena in which an address is.
    pub(crate) fn arena_at(&self, address: Address) -> Option<Range<Address>> {
        self.ranges()
            .find(|arena| arena.contains(&address))
            .cloned()
    }

    /// All memory that was mapped for arenas, in this process and in others of its history.
    pub(crate) fn all_arenas(&self) -> Vec<Range<Address>> {
        let all = self.arenas.iter().chain(&self.elsewhere);
        all.map(|arena| arena.range.clone()).collect()
    }

    fn ranges(&self) -> impl Iterator<Item = &Range<Address>> {
        self.arenas.iter().map(|arena| &arena.range)
    }

    /// Uses memory that was mapped for an arena. `is_writable`: code may write it.
    pub(crate) fn add_arena(&mut self, start: Address, is_writable: bool) {
        // Another process of this history may have had one there.
        self.elsewhere.retain(|arena| arena.range.start != start);
        let range = start..start.offset(ARENA as i64);
        self.arenas.push(Arena { range, is_writable });
    }

    /// Adds a trampoline whose code was written.
    pub(crate) fn add(&mut self, trampoline: Trampoline) {
        self.used.insert(trampoline.start, trampoline);
    }

    /// Keeps a trampoline from further use.
    pub(crate) fn retire(&mut self, start: Address) {
        if let Some(trampoline) = self.used.remove(&start) {
            self.counted.extend(trampoline.ends_counting());
            self.retired.insert(start, trampoline);
        }
    }

    /// By what the program counts the hits of a breakpoint, at whichever of its places.
    pub(crate) fn passes_of(&self, breakpoint: i64) -> Option<Arc<Passes>> {
        let counts = self.used.values().find(|trampoline| {
            let decides = &trampoline.decides;
            trampoline.passes.is_some() && decides.iter().any(|(id, _)| *id == breakpoint)
        });
        counts?.passes.clone()
    }

    /// Notes what was counted in the program so far.
    pub(crate) fn note_counted(&mut self) {
        let counted = self.used.values().filter_map(Trampoline::counted);
        self.counted.extend(counted);
    }

    /// Frees the retired ones, and returns them. Call only when no thread, nor a vfork child, is in any.
    pub(crate) fn reclaim(&mut self) -> impl Iterator<Item = Trampoline> {
        std::mem::take(&mut self.retired).into_values()
    }

    /// All that threads may be in.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Trampoline> {
        self.used.values().chain(self.retired.values())
    }

    /// Forgets all trampolines, but not the arenas: the process was copied, and no thread of the copy is in one.
    pub(crate) fn empty(&mut self) {
        let counted = self.used.values().filter_map(Trampoline::ends_counting);
        self.counted.extend(counted);
        self.used.clear();
        self.retired.clear();
        // The copy doesn't have this memory.
        self.counters = None;
        self.log_ring = None;
        self.waiting.clear();
    }

    /// Forgets who wrote into the log ring and doesn't any more. Call as [`Trampolines::reclaim`], when all was read.
    pub(crate) fn forget_writers(&mut self) {
        let ids: BTreeSet<u64> = self.all().filter_map(|it| it.writer).collect();
        if let Some(ring) = &mut self.log_ring {
            ring.keep(|id| ids.contains(&id));
        }
    }
}

/// Ranges of memory by their addresses.
fn sorted(ranges: impl IntoIterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut ranges: Vec<_> = ranges.into_iter().collect();
    ranges.sort_by_key(|range| range.start);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arena_is_as_near_as_memory_is_free() {
        let trampolines = Trampolines::default();
        let mapped = [0x40_0000..0x50_0000, 0x7fff_0000_0000..0x7fff_0010_0000];
        let below = Address(0x40_0000 - 0x1000 - ARENA);
        let place = trampolines.place_for_arena(Address(0x40_1000), mapped.clone());
        assert_eq!(place, Some(below));
        let place = trampolines.place_for_arena(Address(0x4f_f000), mapped.clone());
        assert_eq!(place, Some(Address(0x50_1000)));
        // Above the code, the next gap is out of reach.
        let full = [0x40_0000..0x1_0000_0000, 0x1_0000_0000..HIGHEST];
        let place = trampolines.place_for_arena(Address(0x40_1000), full.clone());
        assert_eq!(place, Some(below));
        let far = trampolines.place_for_arena(Address(0xf000_0000), full);
        assert_eq!(far, None);
    }
}
