//! Why the instructions at a place can't be replaced by a jump.

use crate::Address;
use std::fmt;

/// Why instructions can't be replaced by a jump. Its `Display` is a clause for users: what could come behind "because". Numbers of
/// instructions count those that would be replaced, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// The place isn't in the function.
    Outside,
    /// The function has bytes that aren't an instruction.
    InvalidCode(Address),
    /// The place is in the middle of an instruction.
    NotAnInstruction,
    /// The function's range ends before the jump would.
    TooShort,
    /// A branch of the function leads to this instruction, or (the first) into it.
    JumpedTo(usize),
    /// An operand of the function's code is this instruction's address, or an address in it.
    Addressed(usize),
    /// Something that the caller knows of begins at this instruction.
    Entered(usize),
    /// More than one instruction would be replaced, and the function has an indirect jump whose targets aren't known.
    IndirectJump,
    /// It is an `endbr64`: with indirect branch tracking, an indirect call must find it in its place. The place behind it may do.
    EndBranch,
    /// A system call: what the kernel knows of it (restarts, signals) is relative to its place.
    SystemCall,
    /// An instruction that traps: `int3`, `hlt`, `ud2`.
    Trap,
    /// A return.
    Return,
    /// A transfer to another code segment.
    FarTransfer,
    /// Start or end of a transaction.
    Transaction,
    /// An unconditional jump that is shorter than the jump that would replace it.
    ShortJump,
    /// A call that is shorter than the jump that would replace it: its return address would be in the jump.
    ShortCall,
    /// An instruction whose effect depends on its place in another way.
    Unmovable,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Unfit::Outside => "the place is not in the function's code",
            Unfit::InvalidCode(address) => {
                return write!(
                    f,
                    "the function has bytes at {address} that are not an instruction"
                );
            }
            Unfit::NotAnInstruction => "no instruction starts at the place",
            Unfit::TooShort => "the function's code ends before a jump would",
            Unfit::JumpedTo(1) => "a jump leads into the instruction that would be replaced",
            Unfit::JumpedTo(number) => return inner(f, "a jump leads to", *number),
            Unfit::Addressed(number) => return inner(f, "the function refers to", *number),
            Unfit::Entered(number) => return inner(f, "something else begins at", *number),
            Unfit::IndirectJump => {
                "the function jumps to computed addresses, which may be among the instructions that would be replaced"
            }
            Unfit::EndBranch => {
                "the instruction there marks a target of indirect calls (endbr64) and must stay"
            }
            Unfit::SystemCall => "a system call would be replaced",
            Unfit::Trap => "an instruction that traps would be replaced",
            Unfit::Return => "a return would be replaced",
            Unfit::FarTransfer => "a jump to another code segment would be replaced",
            Unfit::Transaction => "the start or end of a transaction would be replaced",
            Unfit::ShortJump => "a jump is shorter than the jump that would replace it",
            Unfit::ShortCall => "a call is shorter than the jump that would replace it",
            Unfit::Unmovable => "an instruction that only works in its place would be replaced",
        };
        f.write_str(text)
    }
}

fn inner(f: &mut fmt::Formatter<'_>, what: &str, number: usize) -> fmt::Result {
    // The instructions before the last one take at most 4 bytes, so there are at most 5.
    const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    let ordinal = ORDINALS.get(number.wrapping_sub(1)).unwrap_or(&"last");
    write!(
        f,
        "{what} the {ordinal} of the instructions that would be replaced"
    )
}

impl std::error::Error for Unfit {}
