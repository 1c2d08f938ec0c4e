//! The registers of threads behind a stub, read once for each time that a thread has run.

use super::super::registers::Change;
use super::Link;
use crate::ThreadId;
use dapple_arch::registers::user::UserRegisters;
use dapple_gdb_remote::error::Support;
use std::io;

impl Link {
    /// All registers of a stopped thread, as the stub has them.
    pub(super) fn all(&mut self, thread: ThreadId) -> io::Result<Vec<Option<u8>>> {
        self.require_rest()?;
        if let Some(all) = self.registers.get(&thread) {
            return Ok(all.clone());
        }
        self.choose(thread)?;
        let read = self.client.read_registers();
        let mut all = self.noted(read)?;
        all.truncate(self.layout.size());
        for register in self.layout.behind(all.len()) {
            let value = self.client.read_register(register.number);
            if let Some(value) = self.noted(value)? {
                let end = register.offset + register.size();
                all.resize(all.len().max(end), None);
                let places = all.iter_mut().skip(register.offset).take(register.size());
                places.zip(value).for_each(|(to, from)| *to = from);
            }
        }
        self.registers.insert(thread, all.clone());
        Ok(all)
    }

    /// The general registers.
    pub(in crate::remote) fn general(&mut self, thread: ThreadId) -> io::Result<UserRegisters> {
        let all = self.all(thread)?;
        Ok(self.layout.general(&all))
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
        let all = self.all(thread)?;
        Ok(self.layout.extended(&all))
    }

    /// Sets the state of the floating-point and vector units.
    pub(in crate::remote) fn set_extended(
        &mut self,
        thread: ThreadId,
        state: &[u8],
    ) -> io::Result<()> {
        let mut all = self.all(thread)?;
        let changed = self.layout.set_extended(&mut all, state);
        let changed = numbered(changed);
        self.send_registers(thread, all, changed)
    }

    /// Sends registers that have changed: one by one if these are few and the stub knows the packet for that, else all.
    pub(super) fn send_registers(
        &mut self,
        thread: ThreadId,
        all: Vec<Option<u8>>,
        changed: Vec<(u64, Vec<u8>)>,
    ) -> io::Result<()> {
        /// From how many on one packet with all is shorter.
        const MANY: usize = 4;
        if changed.is_empty() {
            return Ok(());
        }
        self.choose(thread)?;
        self.registers.remove(&thread);
        let whole: Option<Vec<u8>> = all.iter().copied().collect();
        if let Some(whole) = whole.filter(|_| changed.len() >= MANY || self.lacks_single_registers)
        {
            let written = self.client.write_registers(&whole);
            if self.noted(written)? == Support::Done {
                self.registers.insert(thread, all);
                return Ok(());
            }
        }
        for (number, bytes) in changed {
            let written = self.client.write_register(number, &bytes);
            if self.noted(written)? == Support::NotSupported {
                self.lacks_single_registers = true;
                let whole: Vec<u8> = all.iter().map(|byte| byte.unwrap_or(0)).collect();
                let written = self.client.write_registers(&whole);
                let _ = self.noted(written)?;
                break;
            }
        }
        self.registers.insert(thread, all);
        Ok(())
    }
}

/// Changes by the registers' numbers.
fn numbered(changes: Vec<Change<'_>>) -> Vec<(u64, Vec<u8>)> {
    let changes = changes.into_iter();
    changes
        .map(|(register, bytes)| (register.number, bytes))
        .collect()
}
