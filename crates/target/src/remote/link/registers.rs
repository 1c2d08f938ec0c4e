//! The registers of threads behind a stub, read once for each time that a thread has run.

use super::super::registers::{Change, Layout};
use super::Link;
use crate::ThreadId;
use dapple_arch::registers::user::UserRegisters;
use dapple_gdb_remote::description::Register;
use dapple_gdb_remote::error::Support;
use std::io;

/// A thread's registers, as they were read from the stub or written to it.
#[derive(Debug)]
pub(super) struct Known {
    /// The bytes of the packet with all registers, and of those read one by one.
    all: Vec<Option<u8>>,
    /// The general registers among them. They are asked for several times at a stop.
    general: UserRegisters,
}

impl Link {
    /// A stopped thread's registers, which are read unless they are known.
    fn known(&mut self, thread: ThreadId) -> io::Result<&Known> {
        self.require_rest()?;
        if !self.registers.contains_key(&thread) {
            self.choose(thread)?;
            self.asked.registers = true;
            let read = self.client.read_registers();
            let mut all = self.noted(read)?;
            self.reach = all.len().min(self.layout.size());
            all.truncate(self.reach);
            self.add(&mut all, Layout::general_behind)?;
            self.keep(thread, all);
        }
        let known = self.registers.get(&thread);
        known.ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
    }

    /// All registers of a stopped thread, as the stub has them.
    fn all(&mut self, thread: ThreadId) -> io::Result<Vec<Option<u8>>> {
        Ok(self.known(thread)?.all.clone())
    }

    /// Keeps a thread's registers until it runs.
    fn keep(&mut self, thread: ThreadId, all: Vec<Option<u8>>) {
        let general = self.layout.general(&all);
        self.registers.insert(thread, Known { all, general });
    }

    /// As [`Link::all`], with the registers for floating-point numbers and vectors, which some stubs (QEMU's) give one by one only.
    fn all_extended(&mut self, thread: ThreadId) -> io::Result<Vec<Option<u8>>> {
        let mut all = self.all(thread)?;
        self.choose(thread)?;
        if self.add(&mut all, Layout::extended_behind)? {
            self.keep(thread, all.clone());
        }
        Ok(all)
    }

    /// Adds registers of the chosen thread, one by one, that weren't in the packet with all of them and haven't been added yet. Returns whether there
    /// were any.
    fn add(
        &mut self,
        all: &mut Vec<Option<u8>>,
        behind: fn(&Layout, usize) -> Vec<Register>,
    ) -> io::Result<bool> {
        let mut missing = behind(&self.layout, self.reach);
        missing.retain(|register| register.value_in(all).is_none());
        for register in &missing {
            let value = self.client.read_register(register.number);
            let Some(value) = self.noted(value)? else {
                // There is no packet for that.
                break;
            };
            let end = register.offset + register.size();
            all.resize(all.len().max(end), None);
            let places = all.iter_mut().skip(register.offset).take(register.size());
            places.zip(value).for_each(|(to, from)| *to = from);
        }
        Ok(!missing.is_empty())
    }

    /// The general registers.
    pub(in crate::remote) fn general(&mut self, thread: ThreadId) -> io::Result<UserRegisters> {
        Ok(self.known(thread)?.general)
    }

    /// Sets the general registers.
    pub(in crate::remote) fn set_general(
        &mut self,
        thread: ThreadId,
        registers: &UserRegisters,
    ) -> io::Result<()> {
        let mut all = self.all(thread)?;
        let changed = self.layout.set_general(&mut all, registers);
        let changed = numbered(changed);
        self.send_registers(thread, all, changed)
    }

    /// The state of the floating-point and vector units.
    pub(in crate::remote) fn extended(&mut self, thread: ThreadId) -> io::Result<Vec<u8>> {
        let all = self.all_extended(thread)?;
        Ok(self.layout.extended(&all))
    }

    /// Sets the state of the floating-point and vector units.
    pub(in crate::remote) fn set_extended(
        &mut self,
        thread: ThreadId,
        state: &[u8],
    ) -> io::Result<()> {
        let mut all = self.all_extended(thread)?;
        let changed = self.layout.set_extended(&mut all, state);
        let changed = numbered(changed);
        self.send_registers(thread, all, changed)
    }

    /// Sends registers that have changed: one by one if these are few and the stub knows the packet for that, else all.
    pub(super) fn send_registers(
        &mut self,
        thread: ThreadId,
        all: Vec<Option<u8>>,
        mut changed: Vec<Numbered>,
    ) -> io::Result<()> {
        /// From how many on one packet with all is shorter.
        const MANY: usize = 4;
        if changed.is_empty() {
            return Ok(());
        }
        self.choose(thread)?;
        self.registers.remove(&thread);
        let whole: Option<Vec<u8>> = all.iter().copied().take(self.reach).collect();
        let are_within = changed.iter().all(|it| it.end <= self.reach);
        let is_one_better = changed.len() >= MANY || self.lacks_single_registers;
        if let Some(whole) = whole.filter(|_| are_within && is_one_better) {
            let written = self.client.write_registers(&whole);
            if self.noted(written)? == Support::Done {
                self.keep(thread, all);
                return Ok(());
            }
        }
        // The counter comes last: it may be sent with the resumption.
        let counter = self.layout.counter();
        changed.sort_by_key(|one| Some(one.number) == counter);
        for one in changed {
            let written = match <[u8; 8]>::try_from(one.bytes.as_slice()) {
                Ok(bytes) if Some(one.number) == counter => {
                    let value = u64::from_le_bytes(bytes);
                    self.client.write_program_counter(one.number, value)
                }
                _ => self.client.write_register(one.number, &one.bytes),
            };
            if self.noted(written)? == Support::NotSupported {
                self.lacks_single_registers = true;
                let whole = all.iter().take(self.reach);
                let whole: Vec<u8> = whole.map(|byte| byte.unwrap_or(0)).collect();
                let written = self.client.write_registers(&whole);
                let _ = self.noted(written)?;
                break;
            }
        }
        self.keep(thread, all);
        Ok(())
    }
}

/// The change of a register.
pub(super) struct Numbered {
    /// The register's number.
    number: u64,
    /// Where it ends in the packet with all registers.
    end: usize,
    /// Its new value.
    bytes: Vec<u8>,
}

/// Changes by the registers' numbers.
fn numbered(changes: Vec<Change<'_>>) -> Vec<Numbered> {
    let changes = changes.into_iter();
    let numbered = changes.map(|(register, bytes)| Numbered {
        number: register.number,
        end: register.offset + register.size(),
        bytes,
    });
    numbered.collect()
}
