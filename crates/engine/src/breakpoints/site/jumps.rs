//! Sites that jump to a trampoline.
//!
//! A jump is put in while no thread runs, and none is at one of the instructions behind the first that it replaces. It can be taken out at
//! any time: its first byte becomes an `int3`, which a processor sees whole, then the other bytes their own, which nobody executes meanwhile.
//! It is put in the same way. So wherever the debugger may be killed, a thread never runs into half of a jump, and the guardian knows each jump
//! as long as a part of it may be in memory. In a process with a guardian, no thread is left at an instruction behind the first while the jump
//! is there, not even while it is stopped ([`PatchedMemory::make_way_for`]).

use super::{PatchedMemory, Reason, exchange};
use crate::Address;
use crate::breakpoints::trampolines::Trampoline;
use dapple_arch::jump_site::{JUMP, MOST_REPLACED, jump};
use dapple_arch::trap::{NOP, TRAP};
use dapple_target::process::Process;
use std::io;
use std::ops::Range;

/// How often a site must be passed before it is worth a jump.
const PASSES: u32 = 64;
/// How often, behind a stub: there, a stop takes several packets.
const PASSES_BY_STUB: u32 = 2;
/// How often that number is doubled at most, where a jump can't be put in.
const MOST_DOUBLED: u32 = 8;

/// A jump to a trampoline.
#[derive(Debug)]
pub(super) struct Jump {
    /// The trampoline.
    pub(super) to: Address,
    /// The jump.
    pub(super) bytes: [u8; JUMP],
    /// How many bytes the replaced instructions have.
    replaced: u64,
    /// How many these and the jump take.
    covered: u64,
}

impl PatchedMemory {
    /// Notes that a thread has passed the site at `address` without a stop. Returns whether the site is to be considered for a jump, or for a
    /// condition of the stub, now.
    pub(crate) fn passed(&mut self, address: Address) -> bool {
        let Some(site) = self.sites.get_mut(&address) else {
            return false;
        };
        site.passes = site.passes.saturating_add(1);
        let passes = match self.process.hides_breakpoints() {
            true => PASSES_BY_STUB,
            false => PASSES,
        };
        site.jump.is_none() && !site.is_by_stub() && site.passes == passes << site.doubled
    }

    /// The sites of a user's breakpoint.
    pub(crate) fn sites_of(&self, id: i64) -> impl Iterator<Item = Address> {
        let sites = self.sites.iter();
        let meant = sites.filter(move |(_, site)| site.has(Reason::User(id)));
        meant.map(|(address, _)| *address)
    }

    /// The trampoline of the site at `address`.
    pub(crate) fn trampoline_of(&self, address: Address) -> Option<&Trampoline> {
        let jump = self.sites.get(&address)?.jump.as_ref()?;
        self.trampolines.of(jump.to)
    }

    /// The trampoline of the site whose jump replaces the instruction at `address`: the site is there or before.
    pub(crate) fn trampoline_for(&self, address: Address) -> Option<&Trampoline> {
        if self.trampolines.is_empty() {
            return None;
        }
        let far = Address(address.0.saturating_sub(MOST_REPLACED as u64));
        let mut sites = self.sites.range(far..=address);
        let (site, _) = sites.find(|(at, site)| {
            let replaced = site.jump.as_ref().map_or(0, |jump| jump.replaced);
            address.0 - at.0 < replaced
        })?;
        self.trampoline_of(*site)
    }

    /// Whether another site is inside of `range`, behind its first byte.
    pub(crate) fn has_site_within(&self, range: Range<Address>) -> bool {
        let inner = range.start.offset(1)..range.end;
        self.sites.range(inner).next().is_some()
    }

    /// As [`PatchedMemory::has_site_within`], in a run of a search in which nothing is looked for.
    pub(crate) fn has_lasting_site_within(&self, range: Range<Address>) -> bool {
        let inner = range.start.offset(1)..range.end;
        let mut sites = self.sites.range(inner);
        sites.any(|(_, site)| site.has(Reason::Turn) || !site.is_only_past(true))
    }

    /// Writes a trampoline, and puts a jump to it in place of its site's `int3`. Call only while no thread runs. One that is at a
    /// replaced instruction but the first has to go on where that is then.
    pub(crate) fn put_jump_in(&mut self, trampoline: Trampoline) -> io::Result<()> {
        let (at, start) = (trampoline.site, trampoline.start);
        let bytes = jump(at, start).ok_or_else(|| io::Error::other("it is out of reach"))?;
        let mut original = [0; JUMP];
        if self.read_some(at, &mut original) < JUMP {
            return Err(io::Error::other("there is no memory"));
        }
        self.write_trampoline(&trampoline)?;
        let Some(site) = self.sites.get_mut(&at) else {
            return Err(io::Error::other("there is no site"));
        };
        if let Some(switch) = trampoline.switch() {
            let (Some(guardian), Some(note)) = (&mut self.guardian, site.note) else {
                return Err(io::Error::other("there is no guardian"));
            };
            if !guardian.note_trampoline(switch, trampoline.ask()) {
                return Err(io::Error::other("there are too many trampolines"));
            }
            guardian.note_jump(note, &original, &bytes);
        }
        if !self.lifted
            && let Err(error) = exchange(self.process.as_ref(), at, &bytes)
        {
            if self.process.hides_breakpoints() {
                let _ = self.process.write(at, &original);
                let _ = self.process.insert_breakpoint(at);
                let _ = self.process.remove_breakpoint(trampoline.ask(), NOP);
            } else {
                // The `int3` is there still.
                let _ = self.process.write(at.offset(1), &original[1..]);
            }
            if let (Some(guardian), Some(note)) = (&self.guardian, site.note) {
                guardian.strike_jump(note);
            }
            return Err(error);
        }
        site.original = original;
        site.doubled = 0;
        site.jump = Some(Jump {
            to: start,
            bytes,
            replaced: trampoline.replaced.length,
            covered: trampoline.replaced.covered(),
        });
        self.trampolines.add(trampoline);
        Ok(())
    }

    /// Writes a trampoline's code. Where breakpoints are hidden, its trap is one of these, above an instruction that does nothing: whoever takes
    /// them out, such as a stub that has lost its debugger, lets threads go on.
    fn write_trampoline(&self, trampoline: &Trampoline) -> io::Result<()> {
        let mut code = trampoline.code.bytes.clone();
        if !self.process.hides_breakpoints() {
            return self.process.write(trampoline.start, &code);
        }
        if let Some(trap) = code.get_mut(trampoline.code.ask as usize) {
            *trap = NOP;
        }
        self.process.write(trampoline.start, &code)?;
        self.process.insert_breakpoint(trampoline.ask())
    }

    /// Takes all jumps out that replace an instruction with a byte in `range`. Their sites get an `int3` again.
    pub(crate) fn take_jumps_out(&mut self, range: Range<Address>) {
        if self.trampolines.is_empty() {
            return;
        }
        let far = Address(range.start.0.saturating_sub(MOST_REPLACED as u64));
        for (at, site) in self.sites.range_mut(far..range.end) {
            let is_meant = |jump: &mut Jump| at.0 + jump.covered > range.start.0;
            let Some(jump) = site.jump.take_if(is_meant) else {
                continue;
            };
            site.passes = 0;
            let mut trapping = site.original;
            trapping[0] = TRAP;
            let mut now = [0; JUMP];
            // The memory may be gone with its module, and the program may have written something else there.
            let is_in = self.process.read(*at, &mut now).is_ok() && now == jump.bytes;
            if !self.lifted && is_in && self.process.hides_breakpoints() {
                let _ = exchange(self.process.as_ref(), *at, &site.original);
                let _ = self.process.insert_breakpoint(*at);
            } else if !self.lifted && is_in {
                let _ = exchange(self.process.as_ref(), *at, &trapping);
            }
            if let (Some(guardian), Some(note)) = (&self.guardian, site.note) {
                guardian.strike_jump(note);
            }
            self.removed
                .insert((*at, jump.bytes.to_vec()), site.original.to_vec());
            self.trampolines.retire(jump.to);
        }
    }

    /// Before a thread is left at `pc`: takes the jump out that has replaced the instruction there, unless that is the first.
    pub(crate) fn make_way_for(&mut self, pc: Address) {
        if !self.lifted {
            self.keep_jumps_from(pc);
        }
    }

    /// Takes the jump out that replaces the instruction at `pc`, unless that is the first. While the bytes of all sites are taken out, the jump
    /// won't be put back.
    pub(crate) fn keep_jumps_from(&mut self, pc: Address) {
        let jump = self.trampoline_for(pc);
        if jump.is_some_and(|trampoline| trampoline.site != pc) {
            self.take_jumps_out(pc..pc.offset(1));
        }
    }

    /// Frees trampolines that aren't used any more. Call only when no thread, nor a vfork child, is in any.
    pub(crate) fn reclaim_trampolines(&mut self) {
        for trampoline in self.trampolines.reclaim() {
            if self.process.hides_breakpoints() {
                let _ = self.process.remove_breakpoint(trampoline.ask(), NOP);
            }
            if let (Some(guardian), Some(switch)) = (&mut self.guardian, trampoline.switch()) {
                guardian.strike_trampoline(switch);
            }
        }
    }

    /// Lets threads go on that come to the `int3` of a trampoline, in a process that is let go.
    pub(super) fn ask_no_more(&self, process: &dyn Process) {
        for trampoline in self.trampolines.all() {
            if process.hides_breakpoints() {
                let _ = process.remove_breakpoint(trampoline.ask(), NOP);
                continue;
            }
            let _ = process.write(trampoline.ask(), &[NOP]);
        }
    }

    /// Lets a site be considered for a jump again, after it was passed twice as often.
    pub(crate) fn pass_again(&mut self, address: Address) {
        if let Some(site) = self.sites.get_mut(&address) {
            site.passes = 0;
            site.doubled = (site.doubled + 1).min(MOST_DOUBLED);
        }
    }

    /// Takes all jumps out whose trampolines are `is_stale`.
    pub(crate) fn take_stale_jumps_out(&mut self, is_stale: impl Fn(&Trampoline) -> bool) {
        let stale = self.trampolines.used().filter(|it| is_stale(it));
        for at in stale.map(|trampoline| trampoline.site).collect::<Vec<_>>() {
            self.take_jumps_out(at..at.offset(1));
        }
    }
}
