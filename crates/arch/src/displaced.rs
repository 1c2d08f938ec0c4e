//! Copies of instructions that do elsewhere what the original does in its place (displaced stepping).

use crate::Address;
use crate::instructions::is_system_call;
use iced_x86::{BlockEncoder, BlockEncoderOptions, FlowControl, Instruction, InstructionBlock};

/// The most bytes of a copy: the longest instruction (15) and a jump with a 64-bit target (14), rounded up. A system call's takes fewer.
pub const ROOM: usize = 32;

/// The code of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedCode {
    /// The copy, and behind it a jump to the instruction after the original; behind a system call's, before the jump, code that sets RCX as the
    /// original does. At most [`ROOM`].
    pub bytes: Vec<u8>,
    /// How many of the bytes are the copy.
    pub copied: u64,
}

/// Makes a copy of an instruction to be run at `start`. `None` if it can't be run elsewhere: it transfers control (see
/// [`crate::emulate`]), or an operand is out of reach from there.
pub fn copy(instruction: &Instruction, start: Address) -> Option<CopiedCode> {
    let goes_on = matches!(
        instruction.flow_control(),
        FlowControl::Next | FlowControl::Interrupt
    );
    if !goes_on && !is_system_call(instruction) {
        return None;
    }
    let instructions = [*instruction];
    let block = InstructionBlock::new(&instructions, start.0);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).ok()?;
    let mut bytes = encoded.code_buffer;
    let copied = bytes.len() as u64;
    let next = instruction.next_ip();
    if is_system_call(instruction) {
        // `syscall` leaves the next instruction's address in RCX: `mov rcx, next`.
        bytes.extend([0x48, 0xb9]);
        bytes.extend(next.to_le_bytes());
    }
    let from = start.0.wrapping_add(bytes.len() as u64).wrapping_add(5);
    if let Ok(distance) = i32::try_from(next.wrapping_sub(from).cast_signed()) {
        bytes.push(0xe9);
        bytes.extend(distance.to_le_bytes());
    } else {
        bytes.extend([0xff, 0x25, 0, 0, 0, 0]);
        bytes.extend(next.to_le_bytes());
    }
    (bytes.len() <= ROOM).then_some(CopiedCode { bytes, copied })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::decode;

    fn copy_at(code: &[u8], start: u64) -> Option<CopiedCode> {
        let instruction = decode(Address(0x1000), code).expect("an instruction");
        copy(&instruction, Address(start))
    }

    #[test]
    fn a_copy_jumps_back_behind_the_original_near_and_far() {
        // `nop`; the jump is at 0x2001, 5 bytes long, to 0x1001.
        let near = copy_at(&[0x90], 0x2000).expect("a copy");
        assert_eq!(near.bytes, [0x90, 0xe9, 0xfb, 0xef, 0xff, 0xff]);
        assert_eq!(near.copied, 1);
        let far = copy_at(&[0x90], 0x7000_0000_0000).expect("a copy");
        assert_eq!(far.bytes[..7], [0x90, 0xff, 0x25, 0, 0, 0, 0]);
        assert_eq!(far.bytes[7..], 0x1001_u64.to_le_bytes());
    }

    #[test]
    fn an_operand_relative_to_the_instruction_pointer_still_means_the_same_address() {
        // `mov eax, [rip + 0x10]` at 0x1000 reads 0x1016.
        let code = [0x8b, 0x05, 0x10, 0, 0, 0];
        let copied = copy_at(&code, 0x2000).expect("a copy");
        let moved = decode(Address(0x2000), &copied.bytes).expect("an instruction");
        assert_eq!(moved.ip_rel_memory_address(), 0x1016);
        let high = decode(Address(0x7f00_0000_0000), &code).expect("an instruction");
        assert_eq!(copy(&high, Address(0x1000_0000_0000)), None);
    }

    #[test]
    fn transfers_of_control_have_no_copy_but_system_calls_do() {
        assert_eq!(copy_at(&[0xc3], 0x2000), None);
        assert_eq!(copy_at(&[0xe8, 0, 0, 0, 0], 0x2000), None);
        assert!(copy_at(&crate::instructions::SYSCALL, 0x2000).is_some());
    }

    #[test]
    fn a_copied_system_call_leaves_the_address_behind_the_original_in_rcx() {
        let near = copy_at(&crate::instructions::SYSCALL, 0x2000).expect("a copy");
        assert_eq!(near.copied, 2);
        let set = decode(Address(0x2002), &near.bytes[2..]).expect("an instruction");
        assert_eq!(set.to_string(), "mov rcx,1002h");
        let back = decode(Address(0x200c), &near.bytes[12..]).expect("an instruction");
        assert_eq!(back.near_branch_target(), 0x1002);
        let far = copy_at(&crate::instructions::SYSCALL, 0x7000_0000_0000).expect("a copy");
        assert_eq!(far.bytes[18..], 0x1002_u64.to_le_bytes());
    }
}
