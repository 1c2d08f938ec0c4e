//! What instructions do to the flow of control and to the stack pointer, the same for each machine.
//!
//! x86-64's are decoded by iced-x86. Of the other machines' only those that matter here are told from the rest, by hand: jumps, calls, returns,
//! calls of the kernel, and what moves the stack pointer.

mod aarch64;
mod arm;
mod riscv64;
mod thumb;

use crate::instructions::{comes_back_by_itself, decoder};
use crate::stack_changes::StackChanges;
use crate::{Address, InstructionSet};
use iced_x86::FlowControl;

/// Where a thread goes from an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To the next instruction, by way of the kernel or a hypervisor.
    Kernel,
    /// Elsewhere; `None`: only known when it is executed.
    Jump(Option<Address>),
    /// There, or to the next instruction.
    Branch(Address),
    /// To a function, which returns to the next instruction. `None`: only known when it is executed.
    Call(Option<Address>),
    /// Back to the caller.
    Return,
    /// Nowhere that is known: the instruction traps, or there is none.
    Other,
}

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded {
    /// Where it is.
    pub address: Address,
    /// Its size in bytes, at least 1.
    pub length: u64,
    /// Where the thread goes from it.
    pub flow: Flow,
    /// How many bytes it adds to the stack pointer. `None`: that depends on more than the instruction itself.
    pub stack: Option<i64>,
    /// Whether a condition decides if the instruction does anything; if not, the thread goes on at [`Decoded::next`]. `false` for a
    /// [`Flow::Branch`], which says so itself.
    pub is_conditional: bool,
}

impl Decoded {
    /// The address behind it.
    pub fn next(&self) -> Address {
        Address(self.address.0.wrapping_add(self.length))
    }

    /// Where it jumps or calls, as far as the instruction itself says it.
    pub fn target(&self) -> Option<Address> {
        match self.flow {
            Flow::Jump(target) | Flow::Call(target) => target,
            Flow::Branch(target) => Some(target),
            _ => None,
        }
    }

    /// Whether it calls a function.
    pub fn is_call(&self) -> bool {
        matches!(self.flow, Flow::Call(_))
    }
}

/// Decodes instructions one after the other. Ends where there is none.
pub struct Instructions<'c> {
    code: &'c [u8],
    at: u64,
    way: Way<'c>,
    /// Nobody asks for [`Decoded::stack`], which takes longer to find out.
    is_flow_alone: bool,
    before: Before,
}

/// What the previous instructions leave for the next one: its meaning depends on that.
#[derive(Default)]
struct Before {
    made: Option<Made>,
    /// The state of the IT block in Thumb, ITSTATE in the manual: the condition and the rest of the mask. 0: no block.
    block: u8,
}

/// An address that instructions have put together in a register.
#[derive(Clone, Copy)]
struct Made {
    register: u32,
    address: u64,
}

/// How instructions are decoded.
enum Way<'c> {
    X86(Box<(iced_x86::Decoder<'c>, iced_x86::Instruction, StackChanges)>),
    Other(Decode, Follow),
}

/// The instruction that some code begins with, as if no other came before it.
type Decode = fn(&[u8], u64) -> Option<Decoded>;

/// Completes an instruction, given its bytes and [`Before`], and updates [`Before`] for the next instruction.
type Follow = fn(&mut Decoded, &[u8], &mut Before);

impl<'c> Instructions<'c> {
    /// Those of `code`, whose first byte is at `address`. A machine stands for its only or usual set. Thumb code begins outside an IT block.
    pub fn of(
        set: impl Into<InstructionSet>,
        code: &'c [u8],
        address: Address,
    ) -> Instructions<'c> {
        let at = address.0;
        let way = match set.into() {
            InstructionSet::X86_64 => Way::X86(Box::new((
                decoder(code, at),
                iced_x86::Instruction::default(),
                StackChanges::default(),
            ))),
            InstructionSet::Aarch64 => Way::Other(aarch64::decode, |_, _, _| ()),
            InstructionSet::Riscv64 => Way::Other(riscv64::decode, riscv64::follow),
            InstructionSet::Arm => Way::Other(arm::decode, arm::follow),
            InstructionSet::Thumb => Way::Other(thumb::decode, thumb::follow),
        };
        Instructions {
            code,
            at,
            way,
            is_flow_alone: false,
            before: Before::default(),
        }
    }

    /// As [`Instructions::of`], but without [`Decoded::stack`]: that is `None`.
    pub fn flows(
        set: impl Into<InstructionSet>,
        code: &'c [u8],
        address: Address,
    ) -> Instructions<'c> {
        Instructions {
            is_flow_alone: true,
            ..Instructions::of(set, code, address)
        }
    }
}

impl Iterator for Instructions<'_> {
    type Item = Decoded;

    fn next(&mut self) -> Option<Decoded> {
        match &mut self.way {
            Way::X86(parts) => {
                let (decoder, instruction, stack) = &mut **parts;
                if !decoder.can_decode() {
                    return None;
                }
                decoder.decode_out(instruction);
                let stack = (!self.is_flow_alone).then_some(stack);
                (!instruction.is_invalid()).then(|| of_iced(instruction, stack))
            }
            Way::Other(decode, follow) => {
                let mut decoded = decode(self.code, self.at)?;
                let (code, rest) = self.code.split_at_checked(decoded.length as usize)?;
                follow(&mut decoded, code, &mut self.before);
                self.code = rest;
                self.at = decoded.next().0;
                if let (Flow::Jump(Some(target)), true) = (decoded.flow, decoded.is_conditional) {
                    decoded.flow = Flow::Branch(target);
                    decoded.is_conditional = false;
                }
                let stack = decoded.stack.filter(|_| !self.is_flow_alone);
                Some(Decoded { stack, ..decoded })
            }
        }
    }
}

/// The instruction that `code` begins with, with its change of the stack pointer; `None` if it begins with none. One of Thumb counts as outside
/// an IT block.
pub fn decode(set: impl Into<InstructionSet>, code: &[u8], address: Address) -> Option<Decoded> {
    Instructions::of(set, code, address).next()
}

fn of_iced(instruction: &iced_x86::Instruction, stack: Option<&mut StackChanges>) -> Decoded {
    let target = || Some(Address(instruction.near_branch_target()));
    let flow = match instruction.flow_control() {
        FlowControl::Next => Flow::Next,
        FlowControl::Call | FlowControl::IndirectCall
            if comes_back_by_itself(instruction.code()) =>
        {
            Flow::Kernel
        }
        FlowControl::Call => Flow::Call(target()),
        FlowControl::IndirectCall => Flow::Call(None),
        FlowControl::ConditionalBranch => Flow::Branch(Address(instruction.near_branch_target())),
        FlowControl::UnconditionalBranch => Flow::Jump(target()),
        FlowControl::IndirectBranch => Flow::Jump(None),
        FlowControl::Return => Flow::Return,
        _ => Flow::Other,
    };
    Decoded {
        address: Address(instruction.ip()),
        length: instruction.len() as u64,
        flow,
        stack: match (flow, stack) {
            (_, None) => None,
            (Flow::Next, Some(stack)) => stack.of(instruction),
            _ => Some(0),
        },
        is_conditional: false,
    }
}

/// The lowest `bits` of a word as a number with a sign.
fn signed(word: u32, bits: u32) -> i64 {
    i64::from((word << (32 - bits)).cast_signed() >> (32 - bits))
}

#[cfg(test)]
mod tests;
