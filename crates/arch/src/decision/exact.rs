//! Code that finds one state of a thread: all general registers and some memory have given values; or the pass of a place that has a given number.
//! Other threads go on.
//!
//! It leaves the thread's stack alone, also what is below the stack pointer, and keeps what it needs in memory of its own. So it can run in a
//! copy of a program that has to do what the program did: there, bytes may be copied that were never set, for example those between the
//! fields of a structure.
//!
//! ```text
//!   mov [kept], rax
//!   lahf; seto al
//!   mov [kept + 8], rax
//!   dec [kept + 16]; jz asks                   if passes are counted
//!   mov rax, …; cmp rax, rsp; jne fails        each register
//!   mov rax, …; cmp [rax], …; jne fails        each piece of memory
//! asks:
//!   …                                          flags and rax as before
//! ask:
//!   int3
//!   jmp go_on
//! fails:
//!   …                                          flags and rax as before
//! go_on:
//! ```

use super::Refused;
use super::compile::at;
use super::emit::{Arithmetic, Assembler, Label, Operand};
use super::state::{Saved, State, Trampoline};
use crate::Address;
use crate::instructions::GENERAL;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// The most pieces of memory that are compared.
pub const MOST_PIECES: usize = 128;
/// The most where passes are counted, too: a thread that is stopped there has to be brought to an end by single steps.
pub const MOST_WITH_PASSES: usize = 32;
/// The bytes of memory that the code keeps something in.
pub const KEPT: u64 = 24;
/// Where in those bytes the passes are counted: how many there will be up to the one that is looked for.
pub const PASSES: u64 = 16;

/// The DWARF numbers of `rax` and `rsp`.
const ACCUMULATOR: u16 = 0;
const STACK: u16 = 7;

/// What is to be found.
pub struct Exact<'a> {
    /// Whether passes are counted, in the word at [`PASSES`].
    pub counts: bool,
    /// The state's general registers, by their DWARF numbers. `None`: only passes are counted.
    pub registers: Option<[u64; 16]>,
    /// Pieces of 4 bytes of memory, each with its address, compared in this order once all registers are equal. A thread whose memory can't be
    /// read at one faults; where passes are counted, all must be readable, if the stack pointer is the state's.
    pub memory: &'a [(Address, u32)],
    /// Where the code will be.
    pub at: Address,
    /// [`KEPT`] bytes of memory that can be written, within 2 GiB of the code. No two threads may be in the code at once.
    pub kept: Address,
    /// As in [`super::Request`].
    pub go_on: &'a dyn Fn(Address) -> Option<Vec<u8>>,
}

/// Makes the code that finds a state or a pass.
///
/// # Errors
/// There is too much memory to compare, or the code can't be made for this address.
pub fn compile_exact(wanted: &Exact<'_>) -> Result<Trampoline, Refused> {
    let most = match wanted.counts {
        true => MOST_WITH_PASSES,
        false => MOST_PIECES,
    };
    if wanted.memory.len() > most {
        return Err(Refused::TooLarge);
    }
    let mut code = Assembler::default();
    let [ask, fails, go_on] = [code.label(), code.label(), code.label()];
    let (kept, flags) = (own(wanted.kept.0), own(wanted.kept.0.wrapping_add(8)));
    code.state(State::Counted);
    code.store(Code::Mov_rm64_r64, kept, Register::RAX);
    code.simple(Code::Lahf);
    code.one(Code::Seto_rm8, Register::AL);
    code.store(Code::Mov_rm64_r64, flags, Register::RAX);
    let asks = code.label();
    if wanted.counts {
        let passes = own(wanted.kept.0.wrapping_add(PASSES));
        code.push(Instruction::with1(Code::Dec_rm64, passes));
        code.jump(Code::Je_rel32_64, asks);
    }
    match wanted.registers {
        Some(registers) => compare_state(&mut code, wanted, registers, fails),
        None => code.jump(Code::Jmp_rel32_64, fails),
    }
    code.place(asks);
    restore(&mut code, kept, flags);
    code.place(ask);
    code.state(State::Asking);
    code.simple(Code::Int3);
    code.jump(Code::Jmp_rel32_64, go_on);
    code.place(fails);
    code.state(State::Counted);
    restore(&mut code, kept, flags);
    code.place(go_on);
    // Cut off in the end.
    code.simple(Code::Nopd);
    let assembled = code.finish(wanted.at, &[ask, go_on])?;
    let &[ask, go_on] = assembled.places.as_slice() else {
        return Err(Refused::TooLarge);
    };
    let mut bytes = assembled.bytes;
    bytes.truncate(go_on as usize);
    let behind = (wanted.go_on)(Address(wanted.at.0.wrapping_add(go_on)));
    bytes.extend(behind.ok_or(Refused::OutOfReach)?);
    Ok(Trampoline {
        bytes,
        ask,
        go_on,
        why_slot: None,
        zones: assembled.states,
    })
}

/// Goes on if all registers and pieces of memory are equal.
fn compare_state(code: &mut Assembler, wanted: &Exact<'_>, registers: [u64; 16], fails: Label) {
    let stack = registers[usize::from(STACK)];
    compare(code, stack, Operand::Register(Register::RSP), fails);
    // The stack pointer is known from here on, and so is how far from it the rest is kept. Memory may be unreadable.
    let saved = Saved {
        general: vec![(ACCUMULATOR, wanted.kept.0.wrapping_sub(stack))],
        flags: Some(wanted.kept.0.wrapping_add(8).wrapping_sub(stack)),
        ..Saved::default()
    };
    if !wanted.counts {
        code.state(State::Deciding(saved));
    }
    for (number, value) in (0..).zip(registers) {
        let operand = match number {
            STACK => continue,
            ACCUMULATOR => Operand::Memory(own(wanted.kept.0)),
            _ => Operand::Register(GENERAL[usize::from(number)]),
        };
        compare(code, value, operand, fails);
    }
    for (address, piece) in wanted.memory {
        code.set(Register::RAX, address.0);
        let memory = Operand::Memory(at(Register::RAX, 0));
        code.compare_constant(memory, 4, piece.cast_signed());
        code.jump(Code::Jne_rel32_64, fails);
    }
}

/// Memory at an address that the code reaches from where it is.
fn own(address: u64) -> MemoryOperand {
    at(Register::RIP, address.cast_signed())
}

fn compare(code: &mut Assembler, value: u64, operand: Operand, differs: Label) {
    code.set(Register::RAX, value);
    code.arithmetic(Arithmetic::Compare, Register::RAX, operand);
    code.jump(Code::Jne_rel32_64, differs);
}

fn restore(code: &mut Assembler, kept: MemoryOperand, flags: MemoryOperand) {
    code.load(Code::Mov_r64_rm64, Register::RAX, flags);
    // 0x7f + 1 overflows, 0x7f + 0 doesn't.
    code.push(Instruction::with2(Code::Add_AL_imm8, Register::AL, 0x7f));
    code.simple(Code::Sahf);
    code.load(Code::Mov_r64_rm64, Register::RAX, kept);
}
