//! Where values are: DWARF expressions and location lists (DWARF 5 §2.5, §2.6).

use crate::scopes::Variable;
use crate::{FileAddress, Module};

/// What evaluating an expression asks of whoever has the process. Addresses are the process's.
pub trait LocationContext {
    /// The register's value in this frame, by DWARF number (System V x86-64 ABI, figure 3.36); `None` when it is not recoverable.
    fn register(&self, register: u16) -> Option<u64>;
    /// Reads `buffer.len()` bytes.
    ///
    /// # Errors
    /// The first unreadable address.
    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), u64>;
    /// The frame's canonical frame address.
    fn cfa(&self) -> Option<u64>;
    /// What to add to a [`FileAddress`] for an address in the process.
    fn load_bias(&self) -> u64;
    /// The address of the thread-local at `offset` of this module's TLS block.
    fn thread_local(&self, offset: u64) -> Option<u64>;
    /// The calling frame's context, for entry values.
    fn caller(&self) -> Option<Box<dyn LocationContext + '_>> {
        None
    }
}

/// Why a value can't be had.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable {
    /// The compiler kept no location for it.
    OptimizedOut,
    /// It has locations, but none at this address.
    NotHere,
    /// Memory at the address can't be read.
    Unreadable(u64),
    /// A register the location needs was not saved by the frames above.
    RegisterLost(u16),
    /// The debug information is broken or uses what isn't supported; the text says what.
    Unsupported(String),
}

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its size in bits; `None`: all of the value.
    pub bits: Option<u64>,
    /// Its place.
    pub place: Place,
}

/// Where a piece of a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In memory at an address of the process.
    Memory(u64),
    /// In a register, by DWARF number, from `bit_offset` on.
    Register {
        /// The DWARF number.
        register: u16,
        /// Bits to skip.
        bit_offset: u64,
    },
    /// Nowhere: these are its bytes, little-endian.
    Bytes(Vec<u8>),
    /// Not to be had.
    Unavailable(Unavailable),
}

impl Module {
    /// The pieces of `variable` at `address`.
    ///
    /// # Errors
    /// Why there's nothing at all.
    pub fn locate(
        &self,
        variable: &Variable,
        address: FileAddress,
        context: &dyn LocationContext,
    ) -> Result<Vec<Piece>, Unavailable> {
        let _ = (variable, address, context);
        unimplemented!()
    }
}

/// Evaluates a CFI expression (DWARF 5 §6.4.2) with `initial` on its stack where given; the result is the top of the stack.
///
/// # Errors
/// Why it has no value.
pub fn evaluate_cfi(
    expression: &[u8],
    initial: Option<u64>,
    context: &dyn LocationContext,
) -> Result<u64, Unavailable> {
    let _ = (expression, initial, context);
    unimplemented!()
}
