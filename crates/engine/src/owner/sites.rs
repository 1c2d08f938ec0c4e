//! The sites inserted into the debuggee's memory, and the copies of their instructions.

use super::Owner;
use crate::Address;
use crate::breakpoints::displaced::Copy;
use crate::breakpoints::site::{Reason, Site};
use dapple_arch::emulate::emulate;
use dapple_arch::instructions::decode;
use dapple_arch::registers::user::UserRegisters;
use std::io;
use std::ops::Range;

impl Owner {
    /// The site at `address`.
    pub(super) fn site(&self, address: Address) -> Option<&Site> {
        self.memory.site(address)
    }

    /// Inserts a site, or adds a reason to the one that is there.
    pub(super) fn insert_site(&mut self, address: Address, reason: Reason) -> io::Result<()> {
        self.memory.insert(address, reason)
    }

    /// Removes a reason from a site, and with the last one the site.
    pub(super) fn remove_site(&mut self, address: Address, reason: Reason) {
        self.memory.remove(address, reason);
    }

    /// Removes a reason from all sites.
    pub(super) fn remove_sites(&mut self, reason: Reason) {
        self.memory.remove_everywhere(reason);
    }

    /// Takes everything inserted out of the process's memory.
    pub(super) fn remove_all_sites(&mut self) {
        self.memory.clean_own();
    }

    /// A module is gone, with everything inserted into it.
    pub(super) fn forget_sites_in(&mut self, gone: Range<Address>) {
        self.memory.forget(|address| gone.contains(&address));
    }

    /// Takes all bytes out temporarily, while no thread runs.
    pub(super) fn lift_sites(&mut self) {
        self.memory.lift_all();
    }

    /// Takes one byte out temporarily.
    pub(super) fn lift_site(&mut self, address: Address) {
        self.memory.lift(address);
    }

    /// Puts a byte back that was taken out, if its site still exists.
    pub(super) fn put_site_back(&mut self, address: Address) {
        self.memory.put_back(address);
    }

    /// Whether a trap instruction is in memory at `address`, inserted or the program's own.
    pub(super) fn traps_at(&self, address: Address) -> bool {
        self.memory.traps_at(address)
    }

    /// The copy of a site's instruction, made if there is none yet (displaced stepping). `None`: it can't be copied.
    pub(super) fn copy_at(&mut self, site: Address) -> Option<Copy> {
        self.memory.copy_at(site)
    }

    /// The copy that `pc` is in, and the corresponding address in the program.
    pub(super) fn original_of(&self, pc: Address) -> Option<(Copy, Address)> {
        self.memory.caves.original(pc)
    }

    /// Adds the room behind the end of a module's code, for copies of instructions.
    pub(super) fn add_cave(&mut self, code_end: Address) {
        self.memory.add_cave(code_end);
    }

    /// Emulates the instruction `code` at `pc`: writes what it pushes, and returns the registers afterwards, which the caller sets. `None` if
    /// it can't be emulated.
    pub(super) fn emulated_at(
        &mut self,
        pc: Address,
        code: &[u8],
        registers: &UserRegisters,
    ) -> Option<UserRegisters> {
        let instruction = decode(pc, code)?;
        emulate(&instruction, registers, &mut self.memory)
    }

    /// Writes the program's memory. What was inserted stays in place.
    pub(super) fn write_bytes(&mut self, address: Address, bytes: &[u8]) -> io::Result<()> {
        self.memory.write(address, bytes)
    }

    /// Releases the guardian: nothing will be inserted any more.
    pub(super) fn release_guardian(&mut self) {
        self.memory.needs_no_guardian();
    }
}
