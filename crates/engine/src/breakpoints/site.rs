//! The software breakpoint sites inserted into the debuggee, and its memory as it looks without them.
//!
//! A site is one `int3` with the reasons why it is there. Removing the last reason takes the byte out. Reads by [`PatchedMemory`] show the
//! original bytes in place of inserted ones; only reads by [`PatchedMemory::process`] show what is in memory.
//!
//! A site may have a jump to a trampoline instead (`jumps`), or a condition that a stub evaluates (`conditions`). Any change of its reasons
//! takes these out again.

mod conditions;
mod jumps;

use self::jumps::Jump;
use crate::Address;
use crate::breakpoints::displaced::{Caves, Copy};
use crate::breakpoints::options::BreakpointOptions;
use crate::breakpoints::trampolines::Trampolines;
use crate::breakpoints::trap_handling::Handling;
use dapple_arch::Machine;
use dapple_arch::Memory;
use dapple_arch::instructions::{LONGEST, decode};
use dapple_arch::jump_site::JUMP;
use dapple_arch::trap::TRAP;
use dapple_target::linux::guardian::{Guardian, Note};
use dapple_target::process::Process;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Why a site exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A user's breakpoint, by id.
    User(i64),
    /// The dynamic linker calls this function when its lists of modules change.
    Loader,
    /// The step under way runs to here, or must notice when its thread passes here (a library's call of the user's code, a landing).
    Step,
    /// A frame whose end has to be noticed (it has watched data, or a temporary breakpoint is limited to it) returns to here; or an
    /// exception or `longjmp` will land here, perhaps outside of such a frame.
    FrameEnd,
    /// Exceptions and `longjmp` pass here, perhaps out of a frame that has watched data or that a temporary breakpoint is limited to.
    FrameLeft,
    /// Exceptions, panics or sanitizers' reports pass here, or LeakSanitizer begins to look for leaks.
    Exception,
    /// An IFUNC resolver begins here.
    Resolver,
    /// An IFUNC resolver's call returns to here.
    ResolverReturn,
    /// Exceptions and `longjmp` pass here, for the step under way. The site stays while one step follows another.
    Hook,
    /// A search in the past ends here, or what it looks for may be here.
    Travel,
    /// The process has stopped here before it was left for its past.
    Present,
    /// In the past, a thread's turn ends here.
    Turn,
    /// An inferior call returns to here, or an exception, a panic or `longjmp` leaves it from here.
    Call,
}

impl Reason {
    /// Whether it only makes threads stop for the user.
    fn is_for_stops(self) -> bool {
        matches!(self, Reason::User(_) | Reason::Exception)
    }
}

/// An inserted `int3`.
#[derive(Debug)]
pub(crate) struct Site {
    /// The bytes under what is inserted; the first [`Site::size`] of them.
    original: [u8; JUMP],
    /// The jump that is inserted in place of an `int3`.
    jump: Option<Jump>,
    /// The breakpoints whose conditions the stub evaluates, with their options then.
    by_stub: Option<Vec<(i64, BreakpointOptions)>>,
    /// How often threads have passed the site without a stop, since it was last considered for a jump.
    pub(crate) passes: u32,
    /// How often a jump couldn't be put in since there was one: each time, twice as many passes are awaited.
    doubled: u32,
    reasons: Vec<Reason>,
    /// The displaced copy of the instruction. `None`: no thread had to get past the site yet, or no copy can be made.
    pub(crate) copy: Option<Copy>,
    /// Whether the instruction has more than one byte; `None`: not known yet.
    is_long: Option<bool>,
    /// The guardian's entry for the site.
    note: Option<Note>,
}

impl Site {
    /// How many bytes are inserted.
    fn size(&self) -> usize {
        self.jump.as_ref().map_or(1, |jump| jump.bytes.len())
    }

    /// The bytes that are inserted; the first [`Site::size`] of them.
    fn inserted(&self) -> [u8; JUMP] {
        let trap = [TRAP, 0, 0, 0, 0];
        self.jump.as_ref().map_or(trap, |jump| jump.bytes)
    }

    /// Whether the site exists for this reason, perhaps among others.
    pub(crate) fn has(&self, reason: Reason) -> bool {
        self.reasons.contains(&reason)
    }

    /// Whether nothing but the user's breakpoints are at the site.
    pub(crate) fn is_only_users(&self) -> bool {
        let mut reasons = self.reasons.iter();
        reasons.all(|reason| matches!(reason, Reason::User(_)))
    }

    /// Whether nothing but a state of the past is waited for at the site; `quiet`: reasons that a quiet run has no use for don't count.
    pub(crate) fn is_only_past(&self, quiet: bool) -> bool {
        let is_past =
            |reason: &Reason| matches!(reason, Reason::Travel | Reason::Present | Reason::Turn);
        let mut reasons = self.reasons.iter();
        reasons.all(|reason| is_past(reason) || quiet && reason.is_for_stops())
    }

    /// Whether a quiet run has no use for the site.
    fn is_only_for_stops(&self) -> bool {
        self.reasons.iter().all(|reason| reason.is_for_stops())
    }

    /// The ids of the user's breakpoints at the site.
    pub(crate) fn users(&self) -> Vec<i64> {
        self.reasons
            .iter()
            .filter_map(|r| match r {
                Reason::User(id) => Some(*id),
                Reason::Loader
                | Reason::Step
                | Reason::FrameEnd
                | Reason::FrameLeft
                | Reason::Exception
                | Reason::Resolver
                | Reason::ResolverReturn
                | Reason::Hook
                | Reason::Travel
                | Reason::Present
                | Reason::Turn
                | Reason::Call => None,
            })
            .collect()
    }
}

/// The debuggee, with everything that was inserted into its memory.
#[derive(Debug)]
pub(crate) struct PatchedMemory {
    process: Arc<dyn Process>,
    sites: BTreeMap<Address, Site>,
    /// Whether the bytes of all sites are taken out temporarily.
    lifted: bool,
    /// Whether the sites stay taken out that are only there to stop threads for the user.
    quiet: bool,
    /// What was removed lately, by its address and bytes, with the original ones: a child that was forked before still has it.
    removed: BTreeMap<(Address, Vec<u8>), Vec<u8>>,
    /// Room for copies of instructions.
    pub(crate) caves: Caves,
    /// Code that decides conditions in the program.
    pub(crate) trampolines: Trampolines,
    /// Takes everything inserted out if the debugger is killed. `None`: that isn't needed, or the guardian can't be started.
    guardian: Option<Guardian>,
    /// The handler of SIGTRAP in a process that was attached to.
    pub(crate) trap_handling: Handling,
}

/// What keeps a process that was attached to alive if the debugger is killed, while a copy of it is shown.
#[derive(Debug, Default)]
pub(crate) struct Protection {
    guardian: Option<Guardian>,
    trap_handling: Handling,
}

impl PatchedMemory {
    /// Memory that nothing has been inserted into.
    pub(crate) fn new(process: Arc<dyn Process>, guardian: Option<Guardian>) -> PatchedMemory {
        PatchedMemory {
            process,
            sites: BTreeMap::new(),
            lifted: false,
            quiet: false,
            removed: BTreeMap::new(),
            caves: Caves::default(),
            trampolines: Trampolines::default(),
            guardian,
            trap_handling: Handling::default(),
        }
    }

    /// Whether there are sites.
    pub(crate) fn has_sites(&self) -> bool {
        !self.sites.is_empty()
    }

    /// Lets SIGTRAP do what it does by default in a process with the handler's memory.
    pub(crate) fn disarm_trap_handler(&self, process: &dyn Process) {
        if let Handling::Installed(handler) = self.trap_handling {
            let _ = process.write(handler.disarmed(), &[1]);
        }
    }

    /// The process itself. Its memory shows what was inserted.
    pub(crate) fn process(&self) -> &dyn Process {
        self.process.as_ref()
    }

    /// The guardian, if there is one.
    pub(crate) fn guardian(&self) -> Option<&Guardian> {
        self.guardian.as_ref()
    }

    /// Where a thread can make a system call for the debugger such that the guardian can take it back. `None`: there is no place for that.
    pub(crate) fn place_for_calls(&mut self) -> Option<Address> {
        let guardian = self.guardian.as_mut()?;
        self.caves.calls(self.process.as_ref(), guardian)
    }

    /// Leaves the cleaning to the guardian, for when the threads' state is not known: it cleans up once the kernel has released the threads.
    pub(crate) fn keep_guardian(&mut self) {
        self.guardian = None;
    }

    /// Ends the guardian. Call when nothing is inserted any more in the process that it protects, or when the process is gone.
    pub(crate) fn needs_no_guardian(&mut self) {
        if let Some(guardian) = self.guardian.take() {
            guardian.release();
        }
    }

    /// The site at `address`.
    pub(crate) fn site(&self, address: Address) -> Option<&Site> {
        self.sites.get(&address)
    }

    /// Inserts an `int3` for `reason`, or adds the reason to the site that is at `address` already. The error is `NotFound` if there is no
    /// memory at `address`.
    pub(crate) fn insert(&mut self, address: Address, reason: Reason) -> io::Result<()> {
        if self.site(address).is_some_and(|site| site.has(reason)) {
            return Ok(());
        }
        self.take_jumps_out(address..address.offset(1));
        self.take_condition_out(address);
        if let Some(site) = self.sites.get_mut(&address) {
            site.reasons.push(reason);
            if self.quiet {
                self.put_back(address);
            }
            return Ok(());
        }
        let hides = self.process.hides_breakpoints();
        let mut byte = [0];
        // Where breakpoints aren't seen in memory, what is below isn't needed. What the debugger itself waits for is in code.
        if !hides || reason.is_for_stops() {
            self.process.read(address, &mut byte).map_err(|_| {
                io::Error::new(io::ErrorKind::NotFound, format!("no memory at {address}"))
            })?;
        }
        let original = match hides {
            true => [0; JUMP],
            false => [byte[0], 0, 0, 0, 0],
        };
        let note = match &mut self.guardian {
            None => None,
            Some(guardian) => {
                let note = guardian.note(address, original[0]);
                Some(note.ok_or_else(|| io::Error::other("there are too many breakpoints"))?)
            }
        };
        let stays_out = self.lifted || self.quiet && reason.is_for_stops();
        if !stays_out && let Err(error) = self.process.insert_breakpoint(address) {
            strike(&mut self.guardian, note);
            return Err(error);
        }
        let site = Site {
            original,
            jump: None,
            by_stub: None,
            passes: 0,
            doubled: 0,
            reasons: vec![reason],
            copy: None,
            is_long: None,
            note,
        };
        self.sites.insert(address, site);
        Ok(())
    }

    /// Removes a reason from a site. With its last reason, the site and its byte are removed.
    pub(crate) fn remove(&mut self, address: Address, reason: Reason) {
        if !self.site(address).is_some_and(|site| site.has(reason)) {
            return;
        }
        self.take_jumps_out(address..address.offset(1));
        let Some(site) = self.sites.get_mut(&address) else {
            return;
        };
        site.reasons.retain(|r| *r != reason);
        if !site.reasons.is_empty() {
            return self.take_condition_out(address);
        }
        let ([original, ..], note) = (site.original, site.note);
        if let Some(site) = self.sites.remove(&address)
            && let Some(copy) = site.copy
        {
            // A thread may be executing the copy.
            self.caves.retire(copy);
        }
        if !self.process.hides_breakpoints() {
            self.removed.insert((address, vec![TRAP]), vec![original]);
        }
        // The memory may be gone with its module.
        let _ = self.process.remove_breakpoint(address, original);
        strike(&mut self.guardian, note);
    }

    /// Removes the user's breakpoints for whose address and id `keep` returns `false`.
    pub(crate) fn remove_users(&mut self, keep: impl Fn(Address, i64) -> bool) {
        let mut gone = Vec::new();
        for (address, site) in &self.sites {
            let users = site.users().into_iter();
            gone.extend(
                users
                    .filter(|id| !keep(*address, *id))
                    .map(|id| (*address, id)),
            );
        }
        for (address, id) in gone {
            self.remove(address, Reason::User(id));
        }
    }

    /// Forgets those sites of the user's breakpoints whose `int3` is no longer in memory: the program has unmapped that memory, or has
    /// written something else there.
    pub(crate) fn forget_lost_users(&mut self) {
        let users = self
            .sites
            .iter()
            .filter(|(_, site)| !site.users().is_empty());
        let lost = users.map(|(address, _)| *address);
        let lost: BTreeSet<Address> = lost.filter(|address| self.is_lost(*address)).collect();
        if !lost.is_empty() {
            self.forget(|address| lost.contains(&address));
        }
    }

    /// Whether the `int3` of the site at `address` is no longer in memory. `false` if there is no site, or while all bytes are lifted.
    pub(crate) fn is_lost(&self, address: Address) -> bool {
        let Some(site) = self.sites.get(&address).filter(|site| self.is_in(site)) else {
            return false;
        };
        if site.jump.is_none() {
            return !self.process.has_breakpoint(address);
        }
        let mut now = [0; JUMP];
        let now = &mut now[..site.size()];
        self.process.read(address, now).is_err() || *now != site.inserted()[..site.size()]
    }

    /// Removes a reason from all sites.
    pub(crate) fn remove_everywhere(&mut self, reason: Reason) {
        let sites: Vec<Address> = self
            .sites
            .iter()
            .filter(|(_, s)| s.has(reason))
            .map(|(a, _)| *a)
            .collect();
        for address in sites {
            self.remove(address, reason);
        }
    }

    /// Takes the byte of one site out temporarily, while a thread executes an instruction that can't be run elsewhere.
    pub(crate) fn lift(&self, address: Address) {
        if let Some(site) = self.sites.get(&address) {
            let original = &site.original[..site.size()];
            let _ = exchange(self.process.as_ref(), address, original);
        }
    }

    /// Puts the bytes of a site back, if it still exists.
    pub(crate) fn put_back(&self, address: Address) {
        if let Some(site) = self.sites.get(&address).filter(|site| self.is_in(site)) {
            let inserted = &site.inserted()[..site.size()];
            let _ = exchange(self.process.as_ref(), address, inserted);
        }
    }

    /// Takes all bytes out temporarily, while no thread runs, so that the program can go on if the debugger dies meanwhile.
    pub(crate) fn lift_all(&mut self) {
        for address in self.sites.keys() {
            self.lift(*address);
        }
        self.lifted = true;
    }

    /// Whether the bytes of a site are to be in memory now.
    fn is_in(&self, site: &Site) -> bool {
        !(self.lifted || self.quiet && site.is_only_for_stops())
    }

    /// Sets whether the sites stay taken out that are only there to stop threads for the user. Call while all are taken out.
    pub(crate) fn set_quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    /// Whether the sites stay taken out that are only there to stop threads for the user.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether the bytes of all sites are taken out.
    pub(crate) fn is_lifted(&self) -> bool {
        self.lifted
    }

    /// Puts all bytes back, before a thread runs.
    pub(crate) fn put_back_all(&mut self) {
        if std::mem::take(&mut self.lifted) {
            for address in self.sites.keys() {
                self.put_back(*address);
            }
        }
    }

    /// Forgets the sites and caves at addresses for which `gone` is true: they are no longer mapped, or the program has written something
    /// else there.
    pub(crate) fn forget(&mut self, gone: impl Fn(Address) -> bool) {
        let (guardian, trampolines) = (&mut self.guardian, &mut self.trampolines);
        self.sites.retain(|address, site| {
            let gone = gone(*address);
            if gone {
                strike(guardian, site.note);
                if let Some(jump) = &site.jump {
                    trampolines.retire(jump.to);
                }
            }
            !gone
        });
        if let Some(guardian) = guardian {
            guardian.strike_copies(&gone);
        }
        self.removed.retain(|(address, _), _| !gone(*address));
        self.caves.forget(&gone);
    }

    /// Uses the rest of the page after `code_end`, the end of a module's code, for copies.
    pub(crate) fn add_cave(&mut self, code_end: Address) {
        let raw = &self.process;
        self.caves
            .add(code_end, &|address, bytes| raw.read(address, bytes).is_ok());
    }

    /// The copy of the instruction at a site, made now if there was none. `None`: there is no site, or no copy can be made.
    pub(crate) fn copy_at(&mut self, address: Address) -> Option<Copy> {
        let site = self.sites.get(&address)?;
        if let Some(copy) = site.copy {
            return Some(copy);
        }
        if self.caves.is_full() {
            return None;
        }
        let mut code = [0; 16];
        let length = self.read_some(address, &mut code);
        let copy = self.caves.place(
            address,
            &code[..length],
            self.process.as_ref(),
            self.guardian.as_mut(),
        )?;
        if let Some(site) = self.sites.get_mut(&address) {
            site.copy = Some(copy);
        }
        Some(copy)
    }

    /// Whether a thread whose pc is one byte after `address` must have hit a site at `address`. That is so if there is a site and its
    /// instruction is longer than one byte: then no other instruction begins at that pc.
    pub(crate) fn is_unmistakable(&mut self, address: Address) -> bool {
        match self.sites.get(&address).map(|site| site.is_long) {
            None => false,
            Some(Some(is_long)) => is_long,
            Some(None) => {
                let mut code = [0; 16];
                let length = self.read_some(address, &mut code);
                let is_long = match self.process.machine() {
                    Machine::X86_64 => {
                        decode(address, &code[..length]).is_some_and(|i| i.len() > 1)
                    }
                    _ => false,
                };
                if let Some(site) = self.sites.get_mut(&address) {
                    site.is_long = Some(is_long);
                }
                is_long
            }
        }
    }

    /// Whether the byte in memory is an `int3`, ours or not.
    pub(crate) fn traps_at(&self, address: Address) -> bool {
        self.process.has_breakpoint(address)
    }

    /// Reads the program's memory without what was inserted, up to where memory ends. Returns the number of bytes read.
    pub(crate) fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        let count = self.process.read_some(address, buffer);
        let end = Address(address.0.saturating_add(count as u64));
        let hides = self.process.hides_breakpoints();
        for (at, site) in self.sites.range(before(address)..end) {
            if hides && site.jump.is_none() {
                continue;
            }
            for (index, original) in site.original.iter().enumerate().take(site.size()) {
                let offset = (at.0 + index as u64).checked_sub(address.0);
                if let Some(byte) = offset.and_then(|offset| buffer.get_mut(offset as usize)) {
                    *byte = *original;
                }
            }
        }
        self.caves.mask(address, &mut buffer[..count]);
        count
    }

    /// Writes the program's memory, but leaves the inserted bytes in place: where a site is, the site's original byte is changed instead.
    pub(crate) fn write(&mut self, address: Address, bytes: &[u8]) -> io::Result<()> {
        let end = Address(address.0.saturating_add(bytes.len() as u64));
        let mut patched = bytes.to_vec();
        self.take_jumps_out(address..end);
        for (at, site) in self.sites.range_mut(address..end) {
            let offset = (at.0 - address.0) as usize;
            if let Some(byte) = patched.get_mut(offset) {
                site.original[0] = *byte;
                if let (Some(guardian), Some(note)) = (&self.guardian, site.note) {
                    guardian.change(note, *byte);
                }
                if !self.lifted && !self.process.hides_breakpoints() {
                    *byte = TRAP;
                }
            }
        }
        self.forget_instructions(address..end);
        let removed = (before(address), Vec::new())..(end, Vec::new());
        for ((at, _), original) in self.removed.range_mut(removed) {
            for (index, original) in original.iter_mut().enumerate() {
                let offset = (at.0 + index as u64).checked_sub(address.0);
                if let Some(byte) = offset.and_then(|offset| bytes.get(offset as usize)) {
                    *original = *byte;
                }
            }
        }
        self.caves
            .write(address, &mut patched, self.process.as_ref());
        self.process.write(address, &patched)
    }

    /// Forgets the lengths and copies of those instructions at sites that may have a byte in `range`.
    fn forget_instructions(&mut self, range: Range<Address>) {
        let first = Address(range.start.0.saturating_sub(LONGEST as u64 - 1));
        for site in self.sites.range_mut(first..range.end).map(|(_, site)| site) {
            site.is_long = None;
            if let Some(copy) = site.copy.take() {
                // A thread may be executing the copy.
                self.caves.retire(copy);
            }
        }
    }

    /// Forgets the removed sites. Call when no forked child is left that may still have their `int3`.
    pub(crate) fn forget_removed(&mut self) {
        self.removed.clear();
    }

    /// Takes everything inserted, and not overwritten by the program, out of `copy`: a forked child's copy of this memory, or the process's own memory before the process is
    /// let go.
    pub(crate) fn clean(&self, copy: &dyn Process) {
        for ((address, inserted), original) in &self.removed {
            let mut now = inserted.clone();
            if copy.read(*address, &mut now).is_err() {
                continue;
            }
            // The child may have been forked while the jump was being taken out: after its first byte had become an `int3`.
            let is_begun = now.first() == Some(&TRAP);
            if now[1..] == inserted[1..] && (is_begun || now == *inserted) {
                let _ = copy.write(*address, original);
            }
        }
        for (address, site) in &self.sites {
            let (mut now, size) = ([0; JUMP], site.size());
            // A module that was unmapped meanwhile needs no cleaning.
            if copy.read(*address, &mut now[..size]).is_err() {
                continue;
            }
            // A child that was forked before the jump was put in has an `int3`. Anything else the program has written there itself.
            if copy.has_breakpoint(*address) || now[..size] == site.inserted()[..size] {
                let _ = exchange(copy, *address, &site.original[..size]);
            }
        }
        self.ask_no_more(copy);
        self.caves.restore(copy);
        self.disarm_trap_handler(copy);
    }

    /// Continues with `copy`, a forked child's copy of this memory, in place of the process's. Takes everything inserted out of `copy`; the
    /// sites' bytes are put back before a thread runs.
    pub(crate) fn move_to(&mut self, copy: Arc<dyn Process>, mut guardian: Option<Guardian>) {
        self.clean(copy.as_ref());
        self.process = copy;
        self.lifted = true;
        self.removed.clear();
        for (address, site) in &mut self.sites {
            site.copy = None;
            site.jump = None;
            site.by_stub = None;
            site.passes = 0;
            let [original, ..] = site.original;
            site.note = guardian
                .as_mut()
                .and_then(|guardian| guardian.note(*address, original));
        }
        self.trampolines.empty();
        self.trampolines.use_arenas_of(self.process.as_ref());
        self.trap_handling = Handling::default();
        self.needs_no_guardian();
        self.guardian = guardian;
        self.caves.empty();
    }

    /// Takes everything out of the process's own memory.
    pub(crate) fn clean_own(&mut self) {
        self.clean(self.process.as_ref());
        self.lifted = true;
    }

    /// Takes everything inserted out of the process's own memory, before another one is shown. Returns what the process keeps.
    pub(crate) fn leave_own(&mut self) -> Protection {
        // The handler stays as it is.
        let trap_handling = std::mem::take(&mut self.trap_handling);
        self.clean_own();
        let mut guardian = self.guardian.take();
        if let Some(guardian) = &mut guardian {
            guardian.strike_all();
        }
        Protection {
            guardian,
            trap_handling,
        }
    }

    /// Continues with a process that stands for the one that was left, or with that one and what it has kept.
    pub(crate) fn come_to(&mut self, process: Arc<dyn Process>, kept: Protection) {
        self.move_to(process, kept.guardian);
        self.trap_handling = kept.trap_handling;
    }
}

/// The first address at which a site may be whose bytes reach to `address`.
fn before(address: Address) -> Address {
    Address(address.0.saturating_sub(JUMP as u64 - 1))
}

/// Writes the bytes of a site. If there are several, an `int3` is there meanwhile: threads may come, and the debugger may be killed.
fn exchange(process: &dyn Process, at: Address, bytes: &[u8]) -> io::Result<()> {
    match bytes {
        [] => Ok(()),
        [TRAP] => process.insert_breakpoint(at),
        [original] => process.remove_breakpoint(at, *original),
        // No thread runs, and no breakpoint is seen in memory.
        all if process.hides_breakpoints() => {
            process.remove_breakpoint(at, 0)?;
            process.write(at, all)
        }
        [first, rest @ ..] => {
            process.write(at, &[TRAP])?;
            process.write(at.offset(1), rest)?;
            process.write(at, &[*first])
        }
    }
}

fn strike(guardian: &mut Option<Guardian>, note: Option<Note>) {
    if let (Some(guardian), Some(note)) = (guardian, note) {
        guardian.strike(note);
    }
}

impl Memory for PatchedMemory {
    fn address_size(&self) -> u64 {
        self.process.machine().address_size()
    }

    fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        PatchedMemory::read_some(self, address, buffer)
    }

    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        let wanted = buffer.len();
        let count = self.read_some(address, buffer);
        if count < wanted {
            return Err(Address(address.0.wrapping_add(count as u64)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadId;
    use dapple_target::linux::live_process::LiveProcess;

    #[test]
    fn a_child_that_was_forked_before_a_byte_was_taken_out_is_cleaned_of_it() {
        let own = ThreadId(std::process::id().cast_signed());
        let open = || LiveProcess::open(own, Arc::default()).expect("this process's memory");
        // The test reads and writes this memory only through the process's memory file, as a debugger does.
        let code: Box<[u8]> = vec![0x90; 64].into();
        let at = Address(code.as_ptr() as u64);
        let mut memory = PatchedMemory::new(Arc::new(open()), None);
        let byte = |copy: &dyn Process| {
            let mut byte = [0];
            copy.read(at, &mut byte).expect("a byte");
            byte[0]
        };
        let copy = open();
        memory.insert(at, Reason::Step).expect("it is there");
        assert_eq!(byte(&copy), TRAP);
        memory.remove(at, Reason::Step);
        assert_eq!(byte(&copy), 0x90);

        // The child's copy was made before the byte was removed.
        copy.write(at, &[TRAP]).expect("it is there");
        memory.clean(&copy);
        assert_eq!(byte(&copy), 0x90);

        // With no such child left, an `int3` there is the program's own.
        memory.forget_removed();
        copy.write(at, &[TRAP]).expect("it is there");
        memory.clean(&copy);
        assert_eq!(byte(&copy), TRAP);
        drop(code);
    }
}
