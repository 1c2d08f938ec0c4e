//! The program counter, which is often the last that is written before the debuggee runs on: where a debugger has carried out an instruction itself.
//!
//! The packet `c` may have the address to run on at. gdb never sends one, and gdbserver ignores it, so that only a stub that is known to heed it gets one:
//! QEMU, for which that is a packet less at each stop. QEMU is known by a packet of its own, `qqemu.sstepbits`.

use super::{Client, not_supported};
use crate::error::{Error, Result, Support};

/// A program counter that is yet to be written.
#[derive(Debug)]
pub(super) struct Counter {
    number: u64,
    value: u64,
}

impl Client {
    /// Writes the program counter of the chosen thread, a register of 8 bytes, like [`Client::write_register`]. QEMU gets it with the packet by which all
    /// threads run on ([`Client::resume_all`]), if that is the next one.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`]. If the stub refuses a counter that was held back, the next command fails, and isn't sent: with these errors, or
    /// [`Error::NotSupported`].
    pub fn write_program_counter(&mut self, number: u64, value: u64) -> Result<Support> {
        // `c` is about the thread of the last stop, and `P` about the chosen one.
        let is_of_stopped =
            self.stopped_thread.is_some() && self.stopped_thread == self.general_thread;
        // Only where it could be written, too: QEMU knows `P` only after its description was read.
        if is_of_stopped && self.writes_single_registers && self.continues_at_address()? {
            self.counter = Some(Counter { number, value });
            return Ok(Support::Done);
        }
        self.write_register(number, &value.to_le_bytes())
    }

    fn continues_at_address(&mut self) -> Result<bool> {
        if let Some(known) = self.continues_at_address {
            return Ok(known);
        }
        let answer = match self.query(b"qqemu.sstepbits") {
            Err(Error::Stub { .. }) => None,
            answer => answer?,
        };
        let is_qemu = answer.is_some_and(|answer| answer.starts_with(b"ENABLE="));
        self.continues_at_address = Some(is_qemu);
        Ok(is_qemu)
    }

    /// Writes the counter that was held back.
    pub(super) fn send_counter(&mut self) -> Result<()> {
        let Some(Counter { number, value }) = self.counter.take() else {
            return Ok(());
        };
        match self.write_register(number, &value.to_le_bytes())? {
            Support::Done => Ok(()),
            Support::NotSupported => Err(not_supported(b"P")),
        }
    }

    /// The packet that resumes threads as `packet` does, from the counter that was held back. `None`: there is none, or it was written.
    pub(super) fn resumption_at_counter(&mut self, packet: &[u8]) -> Result<Option<String>> {
        if packet != b"vCont;c" {
            self.send_counter()?;
        }
        let counter = self.counter.take();
        Ok(counter.map(|counter| format!("c{:x}", counter.value)))
    }
}
