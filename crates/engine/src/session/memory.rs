//! The debuggee's memory, as it is without breakpoints.

use super::Session;
use crate::owner::Owner;
pub use crate::owner::memory::{MemoryWrite, PartialWrite};
use crate::{Address, Error};
use dapple_inspect::disassembly::{Instruction, Window};
pub use dapple_inspect::inspect::memory::{MOST_MEMORY, MemoryRead};
use std::ops::Range;

impl Session {
    /// Reads the debuggee's memory as it is without breakpoints, as far as it is readable, and no more than [`MOST_MEMORY`]. Works
    /// while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn read_memory(&self, address: Address, length: usize) -> Result<MemoryRead, Error> {
        self.look(move |threads| threads.read_memory(address, length))
    }

    /// Writes into the debuggee's memory, and keeps the breakpoints in it. Code may be overwritten, other memory only where the program
    /// itself may write.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing is changed; [`Error::NotStopped`], [`Error::Ended`].
    pub fn write_memory(
        &self,
        address: Address,
        bytes: Vec<u8>,
        partial: PartialWrite,
    ) -> Result<MemoryWrite, Error> {
        self.ask(move |owner: &mut Owner| owner.write_memory(address, &bytes, partial))?
    }

    /// Has the stub that has the process carry out a command of its own, such as `reset halt`. Returns what it says.
    ///
    /// # Errors
    /// [`Error::Refused`] if no stub has the process, or it knows no commands; [`Error::NotStopped`], [`Error::Ended`].
    pub fn monitor(&self, command: &str) -> Result<String, Error> {
        let command = command.to_owned();
        self.ask(move |owner: &mut Owner| owner.monitor(&command))?
    }

    /// The instructions of a window, as many as are wanted, up to [`MOST_INSTRUCTIONS`](dapple_inspect::disassembly::MOST_INSTRUCTIONS):
    /// bytes that are no instructions are shown as bytes. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn disassemble(&self, window: Window) -> Result<Vec<Instruction>, Error> {
        self.look(move |threads| threads.disassemble(&window))
    }

    /// The instructions of a piece of code, with names. They end where memory can't be read. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn disassemble_range(&self, range: Range<Address>) -> Result<Vec<Instruction>, Error> {
        self.look(move |threads| threads.disassemble_range(range))
    }

    /// The piece of code around an address, usually a function. `None`: its bounds are unknown. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn code_around(&self, address: Address) -> Result<Option<Range<Address>>, Error> {
        self.look(move |threads| threads.code_around(address))
    }
}
