//! Registers of the chosen thread, by their numbers in the target description.

use super::{Client, not_supported};
use crate::description::Register;
use crate::error::{Error, Result, Support};
use crate::hex;

impl Client {
    /// The values of all registers, one after the other as the target description has them (`g`). A byte is `None` if the stub doesn't know its value.
    /// Stubs may leave out registers at the end: QEMU sends those of the first feature alone for all processors but x86.
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`], [`Error::Unexpected`] and [`Error::NotSupported`].
    pub fn read_registers(&mut self) -> Result<Vec<Option<u8>>> {
        let answer = self.query(b"g")?.ok_or_else(|| not_supported(b"g"))?;
        hex::decode_available(&answer).ok_or_else(|| Error::unexpected(b"g", &answer))
    }

    /// Writes all registers, as [`Client::read_registers`] has read them (`G`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn write_registers(&mut self, values: &[u8]) -> Result<Support> {
        self.command(format!("G{}", hex::encode(values)).as_bytes())
    }

    /// The value of one register in the debuggee's byte order (`p`), which gdbserver has no packet for. The outer `None` says that the stub doesn't know the packet, a byte of `None` that
    /// it doesn't know its value.
    ///
    /// # Errors
    ///
    /// Those of [`Client::query`]; [`Error::Unexpected`].
    pub fn read_register(&mut self, number: u64) -> Result<Option<Vec<Option<u8>>>> {
        let asked = format!("p{number:x}");
        let Some(answer) = self.query(asked.as_bytes())? else {
            return Ok(None);
        };
        match hex::decode_available(&answer) {
            Some(value) => Ok(Some(value)),
            None => Err(Error::unexpected(asked.as_bytes(), &answer)),
        }
    }

    /// The value of a register of the description, in the debuggee's byte order: from what [`Client::read_registers`] has read, or if it is not in there by
    /// `p`. `None` if the stub doesn't know it.
    ///
    /// # Errors
    ///
    /// Those of [`Client::read_register`]; [`Error::Unexpected`] for a value of another size.
    pub fn read_described_register(
        &mut self,
        register: &Register,
        all: &[Option<u8>],
    ) -> Result<Option<Vec<u8>>> {
        if all.len() >= register.offset.saturating_add(register.size()) {
            return Ok(register.value_in(all));
        }
        let Some(value) = self.read_register(register.number)? else {
            return Ok(None);
        };
        if value.len() != register.size() {
            return Err(Error::wrong(
                format!("p{:x}", register.number).as_bytes(),
                format!("{} bytes for {} bits", value.len(), register.bits),
            ));
        }
        Ok(value.into_iter().collect())
    }

    /// Writes one register, in the debuggee's byte order (`P`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn write_register(&mut self, number: u64, value: &[u8]) -> Result<Support> {
        let support = self.command(format!("P{number:x}={}", hex::encode(value)).as_bytes())?;
        self.writes_single_registers |= support == Support::Done;
        Ok(support)
    }
}
