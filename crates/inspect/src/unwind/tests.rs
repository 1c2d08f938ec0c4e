//! Tests with literal stacks of code that no module describes.

use super::*;
use dapple_arch::registers::FP;
use std::collections::BTreeMap;

/// Memory as bytes at addresses.
#[derive(Default)]
struct Literal(BTreeMap<u64, u8>);

impl Literal {
    fn bytes(mut self, at: u64, bytes: &[u8]) -> Self {
        self.0.extend((at..).zip(bytes.iter().copied()));
        self
    }

    fn words(self, at: u64, words: &[u64]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.bytes(at, &bytes)
    }

    /// Code with a call that returns to `at`: `call rel32` before `at`, then `nop`.
    fn call_before(self, at: u64) -> Self {
        self.bytes(at - 7, &[0x90, 0x90, 0xe8, 0, 0, 0, 0, 0x90])
    }
}

impl Memory for Literal {
    fn read(&self, address: Address, buffer: &mut [u8]) -> Result<(), Address> {
        for (offset, byte) in buffer.iter_mut().enumerate() {
            let at = address.0.wrapping_add(offset as u64);
            *byte = *self.0.get(&at).ok_or(Address(at))?;
        }
        Ok(())
    }
}

fn registers(pc: u64, sp: u64, bp: u64) -> Registers {
    let mut registers = Registers::of(Machine::X86_64);
    registers.set_pc(Some(pc));
    registers.set_sp(Some(sp));
    registers.set(FP, Some(bp));
    registers.set(3, Some(0xb));
    registers.set(0, Some(0xa));
    registers
}

fn pcs(memory: &Literal, registers: Registers) -> Vec<u64> {
    let modules = Modules::default();
    let mut frame = Some(innermost(registers, &modules, memory));
    let mut found = Vec::new();
    while let Some(current) = frame {
        found.push(current.pc.0);
        assert!(found.len() < 100, "endless: {found:x?}");
        frame = caller(&current, &modules, memory);
    }
    found
}

#[test]
fn a_call_through_a_null_pointer_shows_its_caller() {
    let memory = Literal::default()
        .call_before(0x1000)
        .words(0x7000, &[0x1000]);
    let first = innermost(registers(0, 0x7000, 0), &Modules::default(), &memory);
    assert_eq!(first.cfa, Some(Address(0x7008)));
    let second = caller(&first, &Modules::default(), &memory).expect("the caller");
    assert_eq!(second.pc, Address(0x1000));
    assert_eq!(second.lookup, Address(0xfff));
    assert_eq!(second.registers.sp(), Some(Address(0x7008)));
    assert_eq!(second.registers.get(3), Some(0xb), "rbx is callee-saved");
    assert_eq!(second.registers.get(0), None, "rax isn't");
}

#[test]
fn a_frame_pointer_chain_is_followed_to_its_end() {
    let memory = Literal::default()
        .call_before(0x1000)
        .call_before(0x2000)
        .bytes(0x3000, &[0x90])
        .words(0x7000, &[0, 0])
        .words(0x7010, &[0x7030, 0x1000])
        .words(0x7020, &[0, 0])
        .words(0x7030, &[0, 0x2000]);
    assert_eq!(
        pcs(&memory, registers(0x3000, 0x7000, 0x7010)),
        [0x3000, 0x1000, 0x2000]
    );
}

#[test]
fn a_frame_pointer_chain_that_goes_round_ends() {
    let memory = Literal::default()
        .call_before(0x1000)
        .bytes(0x3000, &[0x90])
        .words(0x7000, &[0, 0])
        .words(0x7010, &[0x7010, 0x1000]);
    assert_eq!(
        pcs(&memory, registers(0x3000, 0x7000, 0x7010)),
        [0x3000, 0x1000]
    );
}

#[test]
fn a_word_that_no_call_precedes_is_no_return_address() {
    let memory = Literal::default()
        .bytes(0x1000 - 8, &[0x90; 16])
        .words(0x7000, &[0x1000]);
    assert_eq!(pcs(&memory, registers(0, 0x7000, 0)), [0]);
}

#[test]
fn a_signal_trampoline_without_rules_gives_the_interrupted_registers() {
    // mov rax, 15; syscall — then a ucontext whose registers begin 40 bytes in.
    let mut context = [0u64; 17];
    for (slot, value) in context.iter_mut().enumerate() {
        *value = 0x100 + slot as u64;
    }
    context[15] = 0x9000; // rsp, on another stack below
    context[16] = 0x5000; // rip
    let memory = Literal::default()
        .bytes(0x2000, &[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05])
        .words(0x17028, &context);
    let modules = Modules::default();
    let trampoline = innermost(registers(0x2000, 0x17000, 0), &modules, &memory);
    assert!(trampoline.signal_trampoline);
    let interrupted = caller(&trampoline, &modules, &memory).expect("the interrupted frame");
    assert_eq!(interrupted.pc, Address(0x5000));
    assert_eq!(interrupted.lookup, Address(0x5000), "it was not calling");
    assert_eq!(interrupted.registers.get(0), Some(0x10d), "rax");
    assert_eq!(interrupted.registers.get(8), Some(0x100), "r8");
}

#[test]
fn no_stack_at_all_is_one_frame() {
    assert_eq!(pcs(&Literal::default(), registers(0x10, 0, 0)), [0x10]);
    assert_eq!(
        pcs(&Literal::default(), registers(0x10, u64::MAX, u64::MAX)),
        [0x10]
    );
}
