//! Code that does at another address what replaced instructions did in their place.

use super::{Displaced, JumpSite, Kind, distance, jump};
use crate::Address;
use crate::instructions::{STACK_POINTER, decode};
use iced_x86::{Code as Opcode, Encoder, OpKind, Register};

/// The bytes that a call pushes.
const RETURN_ADDRESS: u64 = 8;

/// Where a thread is that executes moved code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The offset in the moved code of the machine instruction that the thread executes next.
    pub offset: u64,
    /// Where in the program the thread counts as being: its program counter, had nothing been replaced.
    pub original: Address,
    /// How many bytes have been pushed that the program hasn't pushed at `original`: its stack pointer there is higher by these.
    pub pushed: u64,
}

/// Moved code. It belongs to the address that it was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocated {
    /// The code, behind it constants that it reads. Must be readable and executable.
    pub bytes: Vec<u8>,
    /// All machine instructions of the code, in the order of their offsets.
    pub positions: Vec<Position>,
    /// The offsets at which the replaced instructions start.
    entries: Vec<u64>,
}

impl Relocated {
    /// Where a thread is whose program counter is `offset` bytes behind the start of the code. `None`: no instruction starts there.
    pub fn original(&self, offset: u64) -> Option<Position> {
        let found = self
            .positions
            .binary_search_by_key(&offset, |one| one.offset);
        found.ok().map(|i| self.positions[i])
    }
}

impl JumpSite {
    /// Code that does at `to` what the replaced instructions do in their place, and then goes on behind them. `None`: something that it
    /// needs is out of reach from there.
    pub fn relocated(&self, to: Address) -> Option<Relocated> {
        let mut emitter = Emitter {
            to,
            bytes: Vec::new(),
            positions: Vec::new(),
            constants: Vec::new(),
        };
        let mut entries = Vec::new();
        for one in &self.displaced {
            entries.push(emitter.bytes.len() as u64);
            emitter.displaced(one)?;
        }
        let goes_on = self.displaced.last().is_none_or(|last| {
            matches!(last.kind, Kind::Plain | Kind::Conditional | Kind::Counted)
        });
        if goes_on {
            emitter.jump(self.end(), self.end(), 0);
        }
        let (bytes, positions) = emitter.finish()?;
        Some(Relocated {
            bytes,
            positions,
            entries,
        })
    }

    /// The offset in moved code of this place at which a thread goes on whose program counter is that of a replaced instruction. `None`:
    /// `original` isn't the start of one.
    pub fn entry_of(&self, relocated: &Relocated, original: Address) -> Option<u64> {
        let mut pairs = self.displaced.iter().zip(&relocated.entries);
        let found = pairs.find(|(one, _)| one.instruction.ip() == original.0);
        found.map(|(_, entry)| *entry)
    }
}

/// A constant to be put behind the code.
struct Constant {
    /// The offset of the displacement that leads to it, which is the end of its instruction.
    displacement: usize,
    value: u64,
}

/// Writes code and notes where its instructions start.
struct Emitter {
    to: Address,
    bytes: Vec<u8>,
    positions: Vec<Position>,
    constants: Vec<Constant>,
}

impl Emitter {
    fn here(&self) -> Address {
        Address(self.to.0.wrapping_add(self.bytes.len() as u64))
    }

    /// Notes that an instruction starts here.
    fn begin(&mut self, original: Address, pushed: u64) {
        self.positions.push(Position {
            offset: self.bytes.len() as u64,
            original,
            pushed,
        });
    }

    fn displaced(&mut self, one: &Displaced) -> Option<()> {
        let original = Address(one.instruction.ip());
        let target = Address(one.instruction.near_branch_target());
        match one.kind {
            Kind::Plain | Kind::IndirectJump => self.copy(one)?,
            Kind::Conditional => self.conditional(one)?,
            Kind::Counted => self.expanded(one, &one.bytes)?,
            Kind::Jump => self.jump(target, original, 0),
            Kind::Call => {
                self.push_return_address(one);
                self.jump(target, original, RETURN_ADDRESS);
            }
            Kind::IndirectCall => {
                self.push_return_address(one);
                self.jump_as_called(one)?;
            }
        }
        Some(())
    }

    /// The instruction itself; a relative operand means the same address.
    fn copy(&mut self, one: &Displaced) -> Option<()> {
        self.begin(Address(one.instruction.ip()), 0);
        let mut bytes = one.bytes.clone();
        if one.instruction.is_ip_rel_memory_operand() {
            let operand = Address(one.instruction.ip_rel_memory_address());
            let end = Address(self.here().0.wrapping_add(bytes.len() as u64));
            let displacement = match one.instruction.memory_base() {
                // Addresses of 32 bits wrap around, so all are in reach.
                Register::EIP => operand.0.wrapping_sub(end.0) as u32,
                _ => distance(end, operand)?.cast_unsigned(),
            };
            let place = bytes.get_mut(one.relative?..)?.first_chunk_mut()?;
            *place = displacement.to_le_bytes();
        }
        self.bytes.extend(bytes);
        Some(())
    }

    fn conditional(&mut self, one: &Displaced) -> Option<()> {
        // Of `7x rel8` and `0f 8x rel32`, the condition is the low half of the opcode's last byte.
        let distance_size = if one.instruction.code().is_jcc_short() {
            1
        } else {
            4
        };
        let opcode = one.bytes.len().checked_sub(distance_size + 1)?;
        let condition = one.bytes.get(opcode)? & 0xf;
        let target = Address(one.instruction.near_branch_target());
        let Some(near) = distance(self.here().offset(6), target) else {
            return self.expanded(one, &[0x70 | condition, 0]);
        };
        self.begin(Address(one.instruction.ip()), 0);
        self.bytes.extend([0x0f, 0x80 | condition]);
        self.bytes.extend(near.to_le_bytes());
        Some(())
    }

    /// A branch with an 8-bit distance whose target may be anywhere:
    ///
    /// ```text
    ///        branch taken
    ///        jmp skip
    /// taken: jmp target
    /// skip:
    /// ```
    fn expanded(&mut self, one: &Displaced, branch: &[u8]) -> Option<()> {
        const SHORT_JUMP: [u8; 2] = [0xeb, 0];
        let (_, without_distance) = branch.split_last()?;
        self.begin(Address(one.instruction.ip()), 0);
        self.bytes.extend(without_distance);
        self.bytes.push(SHORT_JUMP.len() as u8);
        // The branch is done: where it wasn't taken, the thread is at the next instruction.
        self.begin(Address(one.instruction.next_ip()), 0);
        self.bytes.extend(SHORT_JUMP);
        let taken = self.bytes.len();
        let target = Address(one.instruction.near_branch_target());
        self.jump(target, target, 0);
        let skipped = u8::try_from(self.bytes.len() - taken).ok()?;
        *self.bytes.get_mut(taken.checked_sub(1)?)? = skipped;
        Some(())
    }

    /// A jump to an address, by a constant if that is out of reach.
    fn jump(&mut self, target: Address, original: Address, pushed: u64) {
        self.begin(original, pushed);
        match jump(self.here(), target) {
            Some(near) => self.bytes.extend(near),
            None => self.with_constant([0xff, 0x25], target.0),
        }
    }

    /// Pushes the address behind a call.
    fn push_return_address(&mut self, call: &Displaced) {
        self.begin(Address(call.instruction.ip()), 0);
        self.with_constant([0xff, 0x35], call.instruction.next_ip());
    }

    /// An instruction whose operand is a constant: opcode and ModR/M byte, and the displacement.
    fn with_constant(&mut self, instruction: [u8; 2], value: u64) {
        self.bytes.extend(instruction);
        self.constants.push(Constant {
            displacement: self.bytes.len(),
            value,
        });
        self.bytes.extend([0; 4]);
    }

    /// The jump to where an indirect call leads; the return address has been pushed.
    fn jump_as_called(&mut self, call: &Displaced) -> Option<()> {
        let original = Address(call.instruction.ip());
        let mut instruction = call.instruction;
        instruction.set_code(Opcode::Jmp_rm64);
        if instruction.op0_kind() == OpKind::Memory && instruction.memory_base() == STACK_POINTER {
            let displacement = instruction.memory_displacement64().cast_signed();
            let displacement = i32::try_from(displacement).ok()?.checked_add(8)?;
            instruction.set_memory_displacement64(i64::from(displacement).cast_unsigned());
            instruction.set_memory_displ_size(8);
        }
        let here = self.here();
        let mut encoder = Encoder::new(64);
        encoder.encode(&instruction, here.0).ok()?;
        let bytes = encoder.take_buffer();
        // What the encoder wrote is read again: the operand must be the same.
        let again = decode(here, &bytes)?;
        let same = again.code() == instruction.code()
            && again.len() == bytes.len()
            && again.op0_kind() == instruction.op0_kind()
            && again.op0_register() == instruction.op0_register()
            && again.memory_base() == instruction.memory_base()
            && again.memory_index() == instruction.memory_index()
            && again.memory_index_scale() == instruction.memory_index_scale()
            && again.memory_displacement64() == instruction.memory_displacement64()
            && again.segment_prefix() == instruction.segment_prefix();
        if !same {
            return None;
        }
        self.begin(original, RETURN_ADDRESS);
        self.bytes.extend(bytes);
        Some(())
    }

    /// Puts the constants behind the code, each at a multiple of 8.
    fn finish(mut self) -> Option<(Vec<u8>, Vec<Position>)> {
        for constant in std::mem::take(&mut self.constants) {
            // `int3`: nothing comes there.
            while !self.here().0.is_multiple_of(8) {
                self.bytes.push(0xcc);
            }
            let end = constant.displacement + 4;
            let distance = i32::try_from(self.bytes.len().checked_sub(end)?).ok()?;
            let place = self.bytes.get_mut(constant.displacement..end)?;
            place.copy_from_slice(&distance.to_le_bytes());
            self.bytes.extend(constant.value.to_le_bytes());
        }
        Some((self.bytes, self.positions))
    }
}
