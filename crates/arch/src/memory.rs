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

    /// Reads a little-endian word.
    ///
    /// # Errors
    /// As [`Memory::read`].
    fn read_u64(&self, address: Address) -> Result<u64, Address> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}
