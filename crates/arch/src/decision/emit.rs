//! Assembles code: instructions, labels, and the state of a thread at each instruction.

use super::state::State;
use super::{Refused, registers::part};
use crate::Address;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, IcedError, Instruction, InstructionBlock,
    MemoryOperand, Register,
};

/// A place in the code. In an instruction's operand it stands for an address; nothing is ever mapped that low.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(u64);

/// The second operand of an instruction on 64 bits.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operand {
    Constant(i32),
    Register(Register),
    Memory(MemoryOperand),
}

/// An instruction with two operands, of which the first is a register.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    Compare,
    Move,
}

/// The forms of an instruction: with a constant of 8 and 32 bits, and with a register or memory.
type Forms = (Code, Code, Code);

impl Arithmetic {
    fn forms(self) -> Forms {
        match self {
            Arithmetic::Add => (
                Code::Add_rm64_imm8,
                Code::Add_rm64_imm32,
                Code::Add_r64_rm64,
            ),
            Arithmetic::Subtract => (
                Code::Sub_rm64_imm8,
                Code::Sub_rm64_imm32,
                Code::Sub_r64_rm64,
            ),
            Arithmetic::Multiply => (
                Code::Imul_r64_rm64_imm8,
                Code::Imul_r64_rm64_imm32,
                Code::Imul_r64_rm64,
            ),
            Arithmetic::And => (
                Code::And_rm64_imm8,
                Code::And_rm64_imm32,
                Code::And_r64_rm64,
            ),
            Arithmetic::Or => (Code::Or_rm64_imm8, Code::Or_rm64_imm32, Code::Or_r64_rm64),
            Arithmetic::Xor => (
                Code::Xor_rm64_imm8,
                Code::Xor_rm64_imm32,
                Code::Xor_r64_rm64,
            ),
            Arithmetic::Compare => (
                Code::Cmp_rm64_imm8,
                Code::Cmp_rm64_imm32,
                Code::Cmp_r64_rm64,
            ),
            Arithmetic::Move => (
                Code::Mov_rm64_imm32,
                Code::Mov_rm64_imm32,
                Code::Mov_r64_rm64,
            ),
        }
    }
}

/// The code so far.
#[derive(Default)]
pub(super) struct Assembler {
    instructions: Vec<Instruction>,
    labels: u64,
    /// The label of the next instruction.
    pending: Option<Label>,
    /// Labels of instructions that have another label.
    same: Vec<(Label, Label)>,
    /// Changes of the state: the index of the first instruction, and its state.
    states: Vec<(usize, State)>,
    /// Whether an instruction couldn't be made.
    failed: bool,
    /// Whether an instruction changes a status flag.
    pub(super) changes_flags: bool,
}

/// Finished code.
pub(super) struct Assembled {
    pub(super) bytes: Vec<u8>,
    pub(super) states: Vec<(u64, State)>,
    /// The offsets of the labels asked for.
    pub(super) places: Vec<u64>,
}

impl Assembler {
    /// A label that isn't placed yet.
    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// Places a label at the next instruction.
    pub(super) fn place(&mut self, label: Label) {
        match self.pending {
            Some(first) => self.same.push((label, first)),
            None => self.pending = Some(label),
        }
    }

    /// Sets the state of a thread that is about to execute the next instruction, or one behind it.
    pub(super) fn state(&mut self, state: State) {
        self.states.push((self.instructions.len(), state));
    }

    pub(super) fn push(&mut self, instruction: Result<Instruction, IcedError>) {
        use iced_x86::RflagsBits as Flags;
        const STATUS: u32 = Flags::OF | Flags::SF | Flags::ZF | Flags::AF | Flags::CF | Flags::PF;
        let Ok(mut instruction) = instruction else {
            self.failed = true;
            return;
        };
        self.changes_flags |= instruction.rflags_modified() & STATUS != 0;
        instruction.set_ip(self.pending.take().map_or(0, |label| label.0));
        self.instructions.push(instruction);
    }

    /// `int3` or another instruction without operands.
    pub(super) fn simple(&mut self, code: Code) {
        self.push(Ok(Instruction::with(code)));
    }

    pub(super) fn one(&mut self, code: Code, operand: Register) {
        self.push(Instruction::with1(code, operand));
    }

    pub(super) fn two(&mut self, code: Code, first: Register, second: Register) {
        self.push(Instruction::with2(code, first, second));
    }

    pub(super) fn constant(&mut self, code: Code, first: Register, second: i32) {
        self.push(Instruction::with2(code, first, second));
    }

    pub(super) fn load(&mut self, code: Code, register: Register, memory: MemoryOperand) {
        self.push(Instruction::with2(code, register, memory));
    }

    pub(super) fn store(&mut self, code: Code, memory: MemoryOperand, register: Register) {
        self.push(Instruction::with2(code, memory, register));
    }

    pub(super) fn jump(&mut self, code: Code, label: Label) {
        self.push(Instruction::with_branch(code, label.0));
    }

    /// An instruction with two operands, of 64 bits.
    pub(super) fn arithmetic(&mut self, what: Arithmetic, first: Register, second: Operand) {
        let (short, long, general) = what.forms();
        match second {
            Operand::Register(register) => self.two(general, first, register),
            Operand::Memory(memory) => self.load(general, first, memory),
            Operand::Constant(value) => {
                let byte = i8::try_from(value).is_ok();
                let code = if byte { short } else { long };
                match what {
                    Arithmetic::Multiply => {
                        self.push(Instruction::with3(code, first, first, value));
                    }
                    Arithmetic::Move => self.set(first, i64::from(value).cast_unsigned()),
                    _ => self.constant(code, first, value),
                }
            }
        }
    }

    /// Sets a register to a constant, without changing flags.
    pub(super) fn set(&mut self, register: Register, value: u64) {
        if let Ok(value) = u32::try_from(value) {
            let part = part(register, 4);
            self.push(Instruction::with2(Code::Mov_r32_imm32, part, value));
        } else if let Ok(value) = i32::try_from(value.cast_signed()) {
            self.constant(Code::Mov_rm64_imm32, register, value);
        } else {
            self.push(Instruction::with2(Code::Mov_r64_imm64, register, value));
        }
    }

    /// `cmp` of the lowest `size` bytes of a register, or of so many in memory, and a constant.
    pub(super) fn compare_constant(&mut self, place: Operand, size: u8, value: i32) {
        let byte = i8::try_from(value).is_ok();
        let code = match (size, byte) {
            (1, _) => Code::Cmp_rm8_imm8,
            (2, true) => Code::Cmp_rm16_imm8,
            (2, false) => Code::Cmp_rm16_imm16,
            (4, true) => Code::Cmp_rm32_imm8,
            (4, false) => Code::Cmp_rm32_imm32,
            (_, true) => Code::Cmp_rm64_imm8,
            (_, false) => Code::Cmp_rm64_imm32,
        };
        match place {
            Operand::Register(register) => self.constant(code, part(register, size), value),
            Operand::Memory(memory) => self.push(Instruction::with2(code, memory, value)),
            Operand::Constant(_) => self.failed = true,
        }
    }

    /// Makes the code, to be at an address, and finds the offsets of labels.
    pub(super) fn finish(mut self, at: Address, labels: &[Label]) -> Result<Assembled, Refused> {
        let resolve = |label: u64| {
            let known = self.same.iter().find(|(label_, _)| label_.0 == label);
            known.map_or(label, |(_, first)| first.0)
        };
        for instruction in &mut self.instructions {
            if instruction.is_jcc_short_or_near() || instruction.is_jmp_short_or_near() {
                instruction.set_near_branch64(resolve(instruction.near_branch64()));
            }
        }
        if self.failed {
            return Err(Refused::TooLarge);
        }
        let block = InstructionBlock::new(&self.instructions, at.0);
        let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
        let encoded = BlockEncoder::encode(64, block, options).map_err(|_| Refused::OutOfReach)?;
        let offsets = &encoded.new_instruction_offsets;
        let offset = |index: usize| offsets.get(index).map(|offset| u64::from(*offset));
        let find = |label: &Label| {
            let ip = resolve(label.0);
            let index = self.instructions.iter().position(|it| it.ip() == ip);
            index.and_then(offset).ok_or(Refused::TooLarge)
        };
        let places = labels.iter().map(find).collect::<Result<_, _>>()?;
        let states = self
            .states
            .iter()
            .filter_map(|(index, state)| Some((offset(*index)?, state.clone())));
        Ok(Assembled {
            states: states.collect(),
            places,
            bytes: encoded.code_buffer,
        })
    }
}
