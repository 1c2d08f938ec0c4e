//! The owner's access to the sites in the debuggee's memory, and to the copies of their instructions
//! ([`PatchedMemory`](crate::breakpoints::site::PatchedMemory)).

use super::Owner;
use crate::Address;
use crate::breakpoints::displaced::Copy;
use crate::breakpoints::options::BreakpointOptions;
use crate::breakpoints::site::{PatchedMemory, Protection, Reason, Site};
use crate::breakpoints::trampolines::{Trampoline, Trampolines};
use crate::breakpoints::trap_handling::Handling;
use dapple_arch::Machine;
use dapple_arch::decision::Truth;
use dapple_arch::emulate::{emulate, emulate_load};
use dapple_arch::instructions::decode;
use dapple_arch::registers::user::UserRegisters;
use dapple_inspect::inspect::Inspect;
use dapple_target::linux::guardian::Guardian;
use dapple_target::linux::live_process::LiveProcess;
use dapple_target::process::Process;
use std::io;
use std::ops::Range;
use std::sync::Arc;

impl Owner {
    /// The site at `address`.
    pub(super) fn site(&self, address: Address) -> Option<&Site> {
        self.memory.site(address)
    }

    /// Inserts a site for `reason`, or adds the reason to the site that is at `address` already.
    pub(super) fn insert_site(&mut self, address: Address, reason: Reason) -> io::Result<()> {
        if self.process().machine() == Machine::Arm {
            let set = self.modules().instruction_set(address);
            self.process().set_instruction_set(address, set);
        }
        self.memory.insert(address, reason)
    }

    /// Removes a reason from a site. With its last reason, the site is removed.
    pub(super) fn remove_site(&mut self, address: Address, reason: Reason) {
        self.memory.remove(address, reason);
    }

    /// Removes a reason from all sites. Sites that have no other reason are removed.
    pub(super) fn remove_sites(&mut self, reason: Reason) {
        self.memory.remove_everywhere(reason);
    }

    /// Takes everything inserted out of the process's memory. Call before the process is let go: the sites stay known.
    pub(super) fn remove_all_sites(&mut self) {
        self.memory.clean_own();
    }

    /// Forgets everything that was inserted into a module that is no longer mapped.
    pub(super) fn forget_sites_in(&mut self, gone: Range<Address>) {
        self.memory.forget(|address| gone.contains(&address));
    }

    /// Takes the bytes of all sites out temporarily, while no thread runs.
    pub(super) fn lift_sites(&mut self) {
        self.memory.lift_all();
    }

    /// Puts the bytes of all sites back that were taken out, before a thread runs.
    pub(super) fn put_sites_back(&mut self) {
        if self.memory.is_lifted() {
            self.memory.put_back_all();
        }
    }

    /// Before the threads run that are stopped: in a process that was attached to, jumps don't come back where a thread is at one of the
    /// instructions that they replace, behind the first.
    pub(super) fn keep_jumps_from_threads(&mut self) {
        if self.dies_with_debugger() || !self.memory.is_lifted() {
            return;
        }
        for thread in self.stopped_threads() {
            if let Ok(registers) = self.process().registers(thread) {
                self.memory.keep_jumps_from(registers.pc());
            }
        }
    }

    /// Sets whether the sites stay taken out that are only there to stop threads for the user. Call while all are taken out.
    pub(super) fn set_quiet(&mut self, quiet: bool) {
        self.memory.set_quiet(quiet);
    }

    /// Whether those sites are taken out.
    pub(super) fn is_quiet(&self) -> bool {
        self.memory.is_quiet()
    }

    /// Whether there are sites.
    pub(super) fn has_sites(&self) -> bool {
        self.memory.has_sites()
    }

    /// The handler of SIGTRAP in a process that was attached to.
    pub(super) fn trap_handling(&self) -> Handling {
        self.memory.trap_handling
    }

    /// Notes what handler of SIGTRAP the process has.
    pub(super) fn set_trap_handling(&mut self, handling: Handling) {
        self.memory.trap_handling = handling;
    }

    /// As [`PatchedMemory::disarm_trap_handler`], in the process itself.
    pub(super) fn disarm_trap_handler(&self) {
        self.memory.disarm_trap_handler(self.process());
    }

    /// The guardian of a process that was attached to.
    pub(super) fn guardian(&self) -> Option<&Guardian> {
        self.memory.guardian()
    }

    /// Takes the byte of one site out temporarily.
    pub(super) fn lift_site(&mut self, address: Address) {
        self.memory.lift(address);
    }

    /// Puts the byte of a site back that was taken out, if the site still exists.
    pub(super) fn put_site_back(&mut self, address: Address) {
        self.memory.put_back(address);
    }

    /// Whether a trap instruction is in memory at `address`, inserted or the program's own.
    pub(super) fn traps_at(&self, address: Address) -> bool {
        self.memory.traps_at(address)
    }

    /// The copy of a site's instruction for displaced stepping, made now if there is none yet. `None`: no copy can be made.
    pub(super) fn copy_at(&mut self, site: Address) -> Option<Copy> {
        self.memory.copy_at(site)
    }

    /// The copy that `pc` is in, and the address in the program that corresponds to `pc`. `None`: `pc` is in no copy.
    pub(super) fn original_of(&self, pc: Address) -> Option<(Copy, Address)> {
        self.memory.caves.original(pc)
    }

    /// Uses the rest of the page after `code_end`, the end of a module's code, for copies of instructions.
    pub(super) fn add_cave(&mut self, code_end: Address) {
        self.memory.add_cave(code_end);
        if let Some(live) = self.history_live() {
            live.has_copies(code_end..Address(code_end.0.next_multiple_of(4096)));
        }
    }

    /// Where copies of instructions are, or will be.
    pub(super) fn caves(&self) -> Vec<Range<Address>> {
        self.memory.caves.places()
    }

    /// Emulates the instruction `code` at `pc`: writes to memory what it pushes, and returns the registers after it, for the caller to set.
    /// `None`: the instruction can't be emulated, or a stub replays a recording, in which nothing may be changed.
    pub(super) fn emulated_at(
        &mut self,
        pc: Address,
        code: &[u8],
        registers: &UserRegisters,
    ) -> Option<UserRegisters> {
        if registers.machine() != Machine::X86_64 || self.can_run_backwards() {
            return None;
        }
        let instruction = decode(pc, code)?;
        emulate(&instruction, registers, &mut self.memory)
    }

    /// As [`Owner::emulated_at`], for an instruction that loads a register. `None` as well if reads of data are watched.
    pub(super) fn emulated_load_at(
        &self,
        pc: Address,
        code: &[u8],
        registers: &UserRegisters,
    ) -> Option<UserRegisters> {
        if registers.machine() != Machine::X86_64 || self.watches_reads() {
            return None;
        }
        emulate_load(&decode(pc, code)?, registers, &self.memory)
    }

    /// Where a function returns to at whose first instruction a thread is, with the stack pointer there.
    pub(super) fn returns_to(&self, registers: &UserRegisters) -> Option<(Address, u64)> {
        let sp = registers.sp();
        let machine = registers.machine();
        Some(match machine.link() {
            Some(link) => (machine.code_address(registers.to_dwarf().get(link)?), sp),
            None => {
                let back = self.process().read_u64(Address(sp)).ok()?;
                (Address(back), sp.wrapping_add(machine.pushed_by_call()))
            }
        })
    }

    /// Writes the program's memory. What was inserted stays in place.
    pub(super) fn write_bytes(&mut self, address: Address, bytes: &[u8]) -> io::Result<()> {
        self.memory.write(address, bytes)
    }

    /// Takes everything inserted out of a copy of the memory, which a forked child has.
    pub(super) fn clean_memory(&self, copy: &dyn Process) {
        self.memory.clean(copy);
    }

    /// As [`PatchedMemory::has_site_within`].
    pub(super) fn has_site_within(&self, range: Range<Address>) -> bool {
        self.memory.has_site_within(range)
    }

    /// As [`PatchedMemory::has_lasting_site_within`].
    pub(super) fn has_lasting_site_within(&self, range: Range<Address>) -> bool {
        self.memory.has_lasting_site_within(range)
    }

    /// As [`PatchedMemory::put_condition_in`].
    pub(super) fn put_condition_in(
        &mut self,
        site: Address,
        truth: &Truth,
        decides: Vec<(i64, BreakpointOptions)>,
    ) -> Result<(), String> {
        self.memory.put_condition_in(site, truth, decides)
    }

    /// Has the stub decide no condition any more.
    pub(super) fn take_conditions_out(&mut self) {
        self.memory.take_conditions_out(|_| true);
    }

    /// Whether a site has a jump to a trampoline.
    pub(super) fn has_jump(&self, site: Address) -> bool {
        self.memory.trampoline_of(site).is_some()
    }

    /// As [`PatchedMemory::put_jump_in`].
    pub(super) fn put_jump_in(&mut self, trampoline: Trampoline) -> Result<(), String> {
        let put = self.memory.put_jump_in(trampoline);
        put.map_err(|error| format!("the jump can't be written: {error}"))
    }

    /// As [`PatchedMemory::passed`].
    pub(super) fn is_often_passed(&mut self, site: Address) -> bool {
        self.memory.passed(site)
    }

    /// The trampolines in the process.
    pub(super) fn trampolines(&self) -> &Trampolines {
        &self.memory.trampolines
    }

    /// As [`Owner::trampolines`], to be changed.
    pub(super) fn trampolines_mut(&mut self) -> &mut Trampolines {
        &mut self.memory.trampolines
    }

    /// As [`PatchedMemory::trampoline_for`].
    pub(super) fn trampoline_for(&self, address: Address) -> Option<&Trampoline> {
        self.memory.trampoline_for(address)
    }

    /// As [`PatchedMemory::is_lost`].
    pub(super) fn is_lost(&self, site: Address) -> bool {
        self.memory.is_lost(site)
    }

    /// Forgets a site whose memory has changed.
    pub(super) fn forget_site(&mut self, site: Address) {
        self.memory.forget(|address| address == site);
    }

    /// Continues with the memory of a forked child.
    pub(super) fn move_memory(&mut self, copy: Arc<dyn Process>, guardian: Option<Guardian>) {
        self.tell_logged();
        self.memory.move_to(copy, guardian);
    }

    /// Continues with another process that stands for this one: a copy of it, or it itself in place of a copy. Everything inserted is taken out of
    /// the former one.
    pub(super) fn exchange_process(&mut self, other: Arc<LiveProcess>) {
        self.tell_logged();
        let is_left = !self.history_live().is_some_and(LiveProcess::is_copy);
        let left = self.memory.leave_own();
        if is_left {
            self.keep_protection(left);
        }
        let protection = match other.is_copy() {
            true => Protection::default(),
            false => self.take_protection(),
        };
        self.memory.come_to(other, protection);
    }

    /// Continues with memory that nothing has been inserted into.
    pub(super) fn begin_memory(&mut self, process: Arc<dyn Process>, guardian: Option<Guardian>) {
        self.tell_logged();
        self.memory.trampolines.empty();
        self.take_counts_over();
        let decided = self.memory.trampolines.decided;
        self.memory = PatchedMemory::new(process, guardian);
        self.memory.trampolines.decided = decided;
    }

    /// Ends the guardian. Call when nothing is inserted any more, nor will be.
    pub(super) fn release_guardian(&mut self) {
        self.memory.needs_no_guardian();
    }
}
