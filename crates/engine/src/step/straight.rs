//! How far a line runs straight on without a jump, so that the thread can run there at once instead of single-stepping.
//!
//! Calls that are stepped over belong to the straight stretch: they return with the stack as it was. The stack pointer at the stretch's
//! end is computed as well: it tells the arrival from one in another activation.

use super::code;
use crate::Address;
use dapple_arch::Memory;
use dapple_arch::code::{Flow, Instructions};
use dapple_inspect::modules::Modules;

/// How much code is read at most, in bytes.
const MOST: usize = 1 << 12;
/// The fewest instructions worth running at once: a single one is as well stepped.
const WORTH_IT: u32 = 2;

/// A stretch of code without a jump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Straight {
    /// Where it ends: at an instruction that may jump, at a call that isn't stepped over, at an unknown change of the stack pointer, or at
    /// the end of the code that is read.
    pub end: Address,
    /// The stack pointer there.
    pub stack_pointer: u64,
    /// The calls in the stretch: the return address, and the stack pointer after the return.
    pub calls: Vec<(Address, Address)>,
}

/// The stretch from `pc` up to `limit`, if it is long enough to be run at once. It contains calls only with `over`.
pub(super) fn ahead(
    pc: Address,
    stack_pointer: u64,
    limit: u64,
    over: bool,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<Straight> {
    let length = usize::try_from(limit.checked_sub(pc.0)?).ok()?.min(MOST);
    let mut buffer = Vec::new();
    let bytes = code::bytes_at(pc, length, &mut buffer, modules, memory);
    let mut end = pc.0;
    let mut at = stack_pointer;
    let mut count = 0;
    let mut calls = Vec::new();
    for instruction in Instructions::of(modules.instruction_set(pc), bytes, pc) {
        match instruction.flow {
            Flow::Next => match instruction.stack {
                Some(change) => at = at.wrapping_add_signed(change),
                None => break,
            },
            Flow::Kernel => {}
            // A call alone makes the stretch worth it: the stop at the call is saved, too.
            Flow::Call(_) if over => {
                calls.push((instruction.next(), Address(at)));
                count += WORTH_IT;
            }
            _ => break,
        }
        end = instruction.next().0;
        count += 1;
    }
    (count >= WORTH_IT).then_some(Straight {
        end: Address(end),
        stack_pointer: at,
        calls,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Literal(&'static [u8]);

    impl Memory for Literal {
        fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
            let start = usize::try_from(address.0).map_err(|_| address)?;
            let bytes = self.0.get(start..start + buffer.len()).ok_or(address)?;
            buffer.copy_from_slice(bytes);
            Ok(())
        }
    }

    fn ahead_of(bytes: &'static [u8], over: bool) -> Option<(u64, u64)> {
        let limit = bytes.len() as u64;
        let memory = Literal(bytes);
        let found = ahead(
            Address(0),
            0x1000,
            limit,
            over,
            &Modules::default(),
            &memory,
        );
        found.map(|s| (s.end.0, s.stack_pointer))
    }

    #[test]
    fn a_stretch_ends_at_a_jump_with_the_stack_where_it_will_be() {
        // push rbp; mov rbp, rsp; sub rsp, 0x20; mov eax, 1; je +0
        let code = &[
            0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xb8, 1, 0, 0, 0, 0x74, 0,
        ];
        assert_eq!(ahead_of(code, true), Some((13, 0x1000 - 0x28)));
    }

    #[test]
    fn calls_are_in_it_only_where_they_are_stepped_over() {
        // mov edi, eax; nop; call +0; mov ebx, eax
        let code = &[0x89, 0xc7, 0x90, 0xe8, 0, 0, 0, 0, 0x89, 0xc3];
        assert_eq!(ahead_of(code, true), Some((10, 0x1000)));
        assert_eq!(ahead_of(code, false), Some((3, 0x1000)));
    }

    #[test]
    fn it_ends_where_the_stack_is_set_from_elsewhere() {
        // mov eax, 1; nop; leave; nop; nop
        let code = &[0xb8, 1, 0, 0, 0, 0x90, 0xc9, 0x90, 0x90];
        assert_eq!(ahead_of(code, true), Some((6, 0x1000)));
        // and rsp, -16
        let code = &[0x90, 0x90, 0x48, 0x83, 0xe4, 0xf0, 0x90];
        assert_eq!(ahead_of(code, true), Some((2, 0x1000)));
    }

    #[test]
    fn one_instruction_is_not_worth_it() {
        // nop; ret
        assert_eq!(ahead_of(&[0x90, 0xc3], true), None);
    }
}
