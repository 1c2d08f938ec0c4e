//! Reading the debuggee's memory.

use crate::Address;

/// Readable memory: a process's, a core file's, or a literal in a test. Inserted breakpoint bytes are hidden: reads return the original
/// bytes.
pub trait Memory {
    /// Fills `buffer` from `address` on.
    ///
    /// # Errors
    /// The first address that can't be read.
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address>;

    /// Fills as much of `buffer` as can be read from `address` on, and returns the number of bytes.
    fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        let Err(end) = self.read(address, buffer) else {
            return buffer.len();
        };
        let length = usize::try_from(end.0.wrapping_sub(address.0)).unwrap_or(0);
        let readable = buffer.get_mut(..length).unwrap_or_default();
        match self.read(address, readable) {
            Ok(()) => readable.len(),
            Err(_) => 0,
        }
    }

    /// The size of an address, in bytes: 8 or 4.
    fn address_size(&self) -> u64 {
        8
    }

    /// Reads an address, or a number of that size, from memory.
    ///
    /// # Errors
    /// As [`Memory::read`].
    fn read_address(&self, address: Address) -> Result<u64, Address> {
        let mut bytes = [0; 8];
        let size = self.address_size().min(8) as usize;
        self.read(address, &mut bytes[..size])?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// The place `index` addresses behind another.
    fn place_behind(&self, at: Address, index: i64) -> Address {
        at.offset(index.wrapping_mul(self.address_size().cast_signed()))
    }

    /// A number of the size of an address, as one with a sign.
    fn signed(&self, number: u64) -> i64 {
        let unused = 64 - 8 * self.address_size().min(8) as u32;
        (number << unused).cast_signed() >> unused
    }

    /// Reads a little-endian word of 8 bytes.
    ///
    /// # Errors
    /// As [`Memory::read`].
    fn read_u64(&self, address: Address) -> Result<u64, Address> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}
