//! Breakpoints and watchpoints that the stub inserts: `Z` and `z`.

use super::Client;
use crate::error::{Result, Support};
use crate::hex;
use std::fmt::Write;

/// A kind of breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BreakpointKind {
    /// `Z0`: an instruction in memory is replaced.
    Software,
    /// `Z1`: a register of the processor compares the program counter.
    Hardware,
    /// `Z2`: stops after data were written.
    WriteWatchpoint,
    /// `Z3`: stops at reading. x86 has no such watchpoints.
    ReadWatchpoint,
    /// `Z4`: stops at reading and writing.
    AccessWatchpoint,
}

impl BreakpointKind {
    fn digit(self) -> u8 {
        match self {
            BreakpointKind::Software => 0,
            BreakpointKind::Hardware => 1,
            BreakpointKind::WriteWatchpoint => 2,
            BreakpointKind::ReadWatchpoint => 3,
            BreakpointKind::AccessWatchpoint => 4,
        }
    }
}

impl Client {
    /// Inserts a breakpoint (`Z0` to `Z4`). `size` is the size of the data for a watchpoint, and else the architecture's word for the instruction: 1 on
    /// x86, 4 on AArch64, 2, 3 or 4 on ARM. A thread that is resumed at a software breakpoint stops there again at once, at least in gdbserver: remove the
    /// breakpoint, step, and insert it again.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`]. A stub that knows the packet but can't insert the breakpoint answers with [`Error::Stub`](crate::Error::Stub).
    pub fn insert_breakpoint(
        &mut self,
        kind: BreakpointKind,
        address: u64,
        size: u64,
    ) -> Result<Support> {
        self.insert_conditional_breakpoint(kind, address, size, &[])
    }

    /// Like [`Client::insert_breakpoint`]; it stops only if one of the conditions is not 0. They are in the bytecode of gdb's agents (gdb manual,
    /// appendix "The GDB Agent Expression Mechanism"). Only for stubs with
    /// [`Feature::ConditionalBreakpoints`](crate::features::Feature::ConditionalBreakpoints), since others may refuse or ignore them.
    ///
    /// # Errors
    ///
    /// Those of [`Client::insert_breakpoint`].
    pub fn insert_conditional_breakpoint(
        &mut self,
        kind: BreakpointKind,
        address: u64,
        size: u64,
        conditions: &[&[u8]],
    ) -> Result<Support> {
        let mut packet = format!("Z{},{address:x},{size:x}", kind.digit());
        if !conditions.is_empty() {
            packet.push(';');
        }
        for condition in conditions {
            // Writing to a string cannot fail.
            let _ = write!(packet, "X{:x},{}", condition.len(), hex::encode(condition));
        }
        self.command(packet.as_bytes())
    }

    /// Removes a breakpoint (`z0` to `z4`). It takes what it was inserted with.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn remove_breakpoint(
        &mut self,
        kind: BreakpointKind,
        address: u64,
        size: u64,
    ) -> Result<Support> {
        self.command(removal(kind, address, size).as_bytes())
    }
}

/// The packet that removes a breakpoint.
pub(super) fn removal(kind: BreakpointKind, address: u64, size: u64) -> String {
    format!("z{},{address:x},{size:x}", kind.digit())
}
