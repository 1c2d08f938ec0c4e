//! Where turns end amid a thread's own code.

use super::Recorder;
use crate::linux::injected::lost;
use crate::linux::ptrace;
use crate::linux::recording::journal::TurnEnd;
use crate::{Address, ThreadId};
use dapple_arch::Memory;
use dapple_arch::operands::used_near;

/// The bytes below a thread's stack pointer that belong to it (ABI §3.2.2), and those that are kept around it.
const BELOW: u64 = 128;
const AROUND: usize = 448;
/// The most operands in memory that are kept, and how many bytes of each.
const MOST_OPERANDS: usize = 24;
const OPERAND: usize = 8;
/// How many bytes are kept of what a register points at.
const POINTED: usize = 16;
/// The general registers.
const REGISTERS: u16 = 16;

impl Recorder {
    /// Where a stopped thread is, amid code of its own.
    ///
    /// In a loop, its registers and the top of its stack may be the same each time; so what the code around works on is kept, too.
    pub(super) fn turn_end(&self, thread: ThreadId) -> Result<TurnEnd, String> {
        let registers = ptrace::registers(thread).map_err(lost)?;
        let mut memory: Vec<(Address, Box<[u8]>)> = Vec::new();
        let mut keep = |at: Address, count: usize| {
            let mut bytes = vec![0; count];
            let length = self.memory.read_some(at, &mut bytes) & !3;
            bytes.truncate(length);
            if length > 0 {
                memory.push((at, bytes.into_boxed_slice()));
            }
        };
        let reader = Reader(self);
        for operand in used_near(&registers, &reader)
            .into_iter()
            .take(MOST_OPERANDS)
        {
            keep(operand, OPERAND);
        }
        let dwarf = registers.to_dwarf();
        for pointed in (0..REGISTERS).filter_map(|number| dwarf.get(number)) {
            keep(Address(pointed & !3), POINTED);
        }
        let stack = registers.sp().wrapping_sub(BELOW) & !3;
        keep(Address(stack), AROUND);
        Ok(TurnEnd { registers, memory })
    }
}

/// Reads the process's memory.
struct Reader<'r>(&'r Recorder);

impl Memory for Reader<'_> {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        self.0.memory.read(address, buffer)
    }

    fn read_some(&self, address: Address, buffer: &mut [u8]) -> usize {
        self.0.memory.read_some(address, buffer)
    }
}
