//! How a breakpoint is inserted: by the stub into memory (`Z0`), by a register of the processor (`Z1`) in memory that can't be written, or by writing
//! the trap instruction to memory, for a stub that has no packets for breakpoints.

use super::Link;
use dapple_arch::InstructionSet;
use dapple_gdb_remote::Error;
use dapple_gdb_remote::client::BreakpointKind;
use dapple_gdb_remote::error::Support;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// How a breakpoint is inserted.
#[derive(Debug, Clone)]
enum Way {
    /// `Z1`.
    Hardware,
    Written(Trap),
}

/// A trap instruction that was written, and the program's own bytes of its place.
#[derive(Debug, Clone)]
struct Trap {
    own: Vec<u8>,
    trap: &'static [u8],
}

/// How breakpoints are inserted.
#[derive(Debug, Default)]
pub(in crate::remote) struct Insertion {
    /// Memory that can't be written as usual: flash and ROM, by the stub's memory map.
    fixed: Vec<Range<u64>>,
    /// How breakpoints are inserted that aren't `Z0`, up to when their removal is sent.
    ways: BTreeMap<u64, Way>,
    /// Breakpoints are out of memory, which a vfork child uses.
    are_lifted: bool,
}

impl Insertion {
    pub(in crate::remote) fn new(fixed: Vec<Range<u64>>) -> Insertion {
        Insertion {
            fixed,
            ..Insertion::default()
        }
    }

    fn is_fixed(&self, address: u64) -> bool {
        self.fixed.iter().any(|range| range.contains(&address))
    }

    /// Calls `each` for each byte of `bytes` that is in the place of a trap instruction: with the byte, the program's own, and the instruction's.
    /// `bytes` are those at `address`.
    fn for_traps(&mut self, address: u64, bytes: &mut [u8], each: fn(&mut u8, &mut u8, u8)) {
        if self.are_lifted {
            return;
        }
        for (place, way) in &mut self.ways {
            let Way::Written(Trap { own, trap }) = way else {
                continue;
            };
            for ((at, own), trap) in (*place..).zip(own).zip(*trap) {
                let index = at.checked_sub(address);
                let index = index.and_then(|it| usize::try_from(it).ok());
                if let Some(byte) = index.and_then(|index| bytes.get_mut(index)) {
                    each(byte, own, *trap);
                }
            }
        }
    }

    /// Puts the program's own bytes in the place of trap instructions in what was read.
    pub(super) fn hide(&mut self, address: u64, bytes: &mut [u8]) {
        self.for_traps(address, bytes, |byte, own, _| *byte = *own);
    }

    /// What is to be written, with the trap instructions that stay in memory.
    pub(super) fn with_traps(&mut self, address: u64, bytes: &[u8]) -> Vec<u8> {
        let mut memory = bytes.to_vec();
        self.for_traps(address, &mut memory, |byte, _, trap| *byte = trap);
        memory
    }

    /// It was written: the program's own bytes have changed.
    pub(super) fn written(&mut self, address: u64, bytes: &[u8]) {
        self.for_traps(address, &mut bytes.to_vec(), |byte, own, _| *own = *byte);
    }

    /// Notes whether breakpoints are out of memory, which a vfork child uses.
    pub(super) fn set_lifted(&mut self, are_lifted: bool) {
        self.are_lifted = are_lifted;
    }

    /// A breakpoint that was removed isn't known any more.
    pub(super) fn forget(&mut self, address: u64) {
        self.ways.remove(&address);
    }

    /// The process executes another program, in whose memory are no breakpoints.
    pub(super) fn forget_all(&mut self) {
        self.ways.clear();
    }
}

impl Link {
    /// The instruction set of the code at an address.
    fn set_at(&self, address: u64) -> InstructionSet {
        let told = self.instruction_sets.get(&address).copied();
        told.unwrap_or(self.layout.machine().into())
    }

    /// The size of a breakpoint instruction in the protocol's words (gdb manual, "Z packets"). The code there is as the program has it: stubs
    /// don't show breakpoints.
    fn breakpoint_size(&mut self, address: u64) -> u64 {
        let mut code = [0; 4];
        let set = self.set_at(address);
        if set.alignment() > 1 {
            let count = self.read(address, &mut code);
            return set.breakpoint_kind(&code[..count]);
        }
        set.breakpoint_kind(&[])
    }

    /// Inserts a breakpoint, or gives one that is inserted another condition.
    pub(super) fn send_inserted(&mut self, address: u64, condition: &[u8]) -> io::Result<()> {
        let size = self.breakpoint_size(address);
        let kinds = match self.insertion.ways.get(&address) {
            Some(Way::Written(_)) if !condition.is_empty() => {
                return Err(io::Error::other("the stub has no breakpoints (Z0)"));
            }
            // It may have been taken out for a vfork child.
            Some(Way::Written(Trap { own, .. })) => {
                let own = own.clone();
                return self.write_trap(address, own);
            }
            Some(Way::Hardware) => vec![BreakpointKind::Hardware],
            None if self.insertion.is_fixed(address) => {
                vec![BreakpointKind::Hardware, BreakpointKind::Software]
            }
            None => vec![BreakpointKind::Software, BreakpointKind::Hardware],
        };
        let conditions = [condition];
        let conditions = match condition {
            [] => &[][..],
            _ => &conditions[..],
        };
        let mut refusal = None;
        for kind in kinds {
            // A register takes any address, also one without memory.
            let is_second = refusal.is_some() && kind == BreakpointKind::Hardware;
            if is_second && self.read(address, &mut [0]) == 0 {
                break;
            }
            let inserted = self
                .client
                .insert_conditional_breakpoint(kind, address, size, conditions);
            let why = match inserted {
                Ok(Support::Done) => {
                    if kind == BreakpointKind::Hardware {
                        self.insertion.ways.insert(address, Way::Hardware);
                    }
                    return Ok(());
                }
                Ok(Support::NotSupported) => continue,
                Err(Error::Stub { error, .. }) => error,
                Err(error) => return self.noted(Err(error)),
            };
            refusal.get_or_insert(match kind {
                BreakpointKind::Hardware => format!(
                    "this memory can't be written, and the stub has no hardware breakpoint left: {why}"
                ),
                _ => format!("the stub refuses it: {why}"),
            });
        }
        match refusal {
            Some(why) => Err(io::Error::other(why)),
            None if condition.is_empty() => self.write_first_trap(address, size),
            None => Err(io::Error::other("the stub has no breakpoints (Z0)")),
        }
    }

    /// Writes the trap instruction to memory, for a stub that has no packets for breakpoints.
    fn write_first_trap(&mut self, address: u64, size: u64) -> io::Result<()> {
        let mut own = vec![0; self.set_at(address).trap(size).len()];
        if self.read(address, &mut own) < own.len() {
            return Err(io::Error::from_raw_os_error(libc::EFAULT));
        }
        self.write_trap(address, own)
    }

    /// Writes the trap instruction over the program's `own` bytes.
    fn write_trap(&mut self, address: u64, own: Vec<u8>) -> io::Result<()> {
        let size = self.breakpoint_size(address);
        let trap = self.set_at(address).trap(size);
        self.write_plainly(address, trap)?;
        // What is read shows the program's own bytes.
        self.blocks.written(address, &own);
        let way = Way::Written(Trap { own, trap });
        self.insertion.ways.insert(address, way);
        Ok(())
    }

    /// Removes a breakpoint: from the memory of the process whose thread is chosen.
    pub(super) fn send_removed(&mut self, address: u64, is_ahead: bool) {
        let size = self.breakpoint_size(address);
        let kind = match self.insertion.ways.get(&address) {
            Some(Way::Written(trap)) => {
                let own = trap.own.clone();
                // The memory may be gone with its module.
                let _ = self.write_plainly(address, &own);
                return;
            }
            Some(Way::Hardware) => BreakpointKind::Hardware,
            None => BreakpointKind::Software,
        };
        if !is_ahead || !self.client.remove_breakpoint_ahead(kind, address, size) {
            let removed = self.client.remove_breakpoint(kind, address, size);
            let _ = self.noted(removed);
        }
    }
}
