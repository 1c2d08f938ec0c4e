//! Unwinds code without call frame information: assembler, code made at run time, jumps to invalid addresses.
//!
//! First come the instructions at the program counter (a function's first instruction, `push rbp`, `ret`), then the frame-pointer chain.
//! A word counts as a return address only if a call instruction precedes the address, or the signal trampoline is there. Here is x86-64; for
//! the others, see `linked`.

use crate::Address;
use crate::frame::PhysicalFrame;
use crate::modules::Modules;
use dapple_arch::abi::{CALLEE_SAVED, SIGNAL_CONTEXT};
use dapple_arch::registers::{FP, FS_BASE, PC, Registers, SP};
use dapple_arch::{Machine, Memory};

mod linked;

pub(super) use linked::is_before_frame;

/// The largest plausible distance from the stack pointer to the frame pointer, in bytes.
const MAX_FRAME: u64 = 16 << 20;

/// Finds the canonical frame address of `frame` and its caller's registers.
pub(super) fn find(
    frame: &PhysicalFrame,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<(Address, Registers)> {
    if frame.registers.machine() != Machine::X86_64 {
        return linked::find(frame, modules, memory);
    }
    if is_sigreturn(Machine::X86_64, frame.pc, memory) {
        return interrupted(frame, memory);
    }
    let sp = frame.registers.sp()?;
    // Only a frame that isn't waiting for a call to return can be in its function's prologue or epilogue.
    if frame.pc == frame.lookup {
        let mut byte = [0];
        if memory.read(frame.pc, &mut byte).is_err() {
            // A jump to an invalid address: the call pushed its return address and nothing has run since.
            return returned(frame, sp, 0, modules, memory);
        }
        if let Some(words) = pushed_by_stub(frame.pc, modules, memory) {
            return returned(frame, sp, words, modules, memory);
        }
        let pushed = match modules.at(frame.pc) {
            Some(_) => pushed_at(frame, byte[0], modules, memory),
            None => Some(0),
        };
        let found = pushed.and_then(|words| {
            let (cfa, mut registers) = returned(frame, sp, words, modules, memory)?;
            if words > 0 {
                registers.set(FP, memory.read_u64(sp).ok());
            }
            Some((cfa, registers))
        });
        if found.is_some() {
            return found;
        }
    }
    by_frame_pointer(frame, sp, modules, memory)
}

/// How many words were pushed since the call; `None` where the instructions don't show it. `instruction` is the byte at the program
/// counter.
fn pushed_at(
    frame: &PhysicalFrame,
    instruction: u8,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<u64> {
    const RET: u8 = 0xc3;
    const PUSH_RBP: u8 = 0x55;
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    if instruction == RET || is_in_system_call(frame.pc, memory) {
        return Some(0);
    }
    let module = modules.at(frame.pc)?;
    let symbol = module.module.symbol_at(module.to_file(frame.pc))?;
    let start = module.to_process(symbol.address);
    let into = frame.pc.0.checked_sub(start.0)?;
    let mut head = [0; 5];
    memory.read(start, &mut head).ok()?;
    let push = if head.starts_with(&ENDBR64) { 4 } else { 0 };
    if into <= push {
        Some(0)
    } else {
        (head.get(push as usize) == Some(&PUSH_RBP) && into == push + 1).then_some(1)
    }
}

/// Whether a thread at `pc` may be in a system call. Assembler that makes one usually has nothing on its stack. glibc's `clone` leaves
/// this place without unwind rules on purpose, because rules would be wrong in the new thread.
fn is_in_system_call(pc: Address, memory: &dyn Memory) -> bool {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    let mut before = [0; 2];
    memory.read(pc.offset(-2), &mut before).is_ok() && before == SYSCALL
}

/// How many words a stub of the procedure linkage table has pushed since the call; `None` outside of these stubs. GNU ld writes call
/// frame information for its stubs, LLVM's linker doesn't. A stub is `jmp *slot; push index; jmp first` (System V ABI for x86-64, §5.2),
/// the first of all is `push module; jmp *resolver`. With control-flow protection they begin with `endbr64`, and jumps have the `bnd`
/// prefix.
fn pushed_by_stub(pc: Address, modules: &Modules, memory: &dyn Memory) -> Option<u64> {
    const PUSH_MODULE: [u8; 2] = [0xff, 0x35];
    const PUSH_INDEX: u8 = 0x68;
    const JUMP_NEAR: u8 = 0xe9;
    const BND: u8 = 0xf2;
    let module = modules.at(pc)?;
    let section = module.module.section_at(module.to_file(pc))?;
    if !section.starts_with(".plt") {
        return None;
    }
    let code = |address: Address| {
        let mut code = [0; 2];
        memory.read(address, &mut code).ok().map(|()| code)
    };
    let mut here = code(pc)?;
    if here[0] == BND {
        here = code(pc.offset(1))?;
    }
    Some(match here {
        PUSH_MODULE => 1,
        [JUMP_NEAR, _] => 1,
        [PUSH_INDEX, _] => 0,
        // `jmp *resolver` of the first stub, or the `jmp *slot` of another one.
        _ if code(pc.offset(-6)) == Some(PUSH_MODULE) => 2,
        _ => 0,
    })
}

/// The caller's state if the return address is at `sp + 8 * words`.
fn returned(
    frame: &PhysicalFrame,
    sp: Address,
    words: u64,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<(Address, Registers)> {
    let slot = Address(sp.0.checked_add(8 * words)?);
    let target = Address(memory.read_u64(slot).ok()?);
    if !is_return_address(target, modules, memory) {
        return None;
    }
    let cfa = Address(slot.0.checked_add(8)?);
    let mut registers = preserved_registers(frame);
    registers.set(SP, Some(cfa.0));
    registers.set(PC, Some(target.0));
    Some((cfa, registers))
}

fn by_frame_pointer(
    frame: &PhysicalFrame,
    sp: Address,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<(Address, Registers)> {
    let base = frame.registers.get(FP)?;
    let plausible = base.is_multiple_of(8) && base >= sp.0 && base - sp.0 <= MAX_FRAME;
    if !plausible {
        return None;
    }
    let saved = memory.read_u64(Address(base)).ok()?;
    let target = Address(memory.read_u64(Address(base.checked_add(8)?)).ok()?);
    if !is_return_address(target, modules, memory) {
        return None;
    }
    let cfa = Address(base.checked_add(16)?);
    // It is unknown which other registers this function has saved, so the caller's values of those are unknown.
    let mut registers = Registers::of(Machine::X86_64);
    registers.set(FS_BASE, frame.registers.get(FS_BASE));
    registers.set(FP, Some(saved));
    registers.set(SP, Some(cfa.0));
    registers.set(PC, Some(target.0));
    Some((cfa, registers))
}

/// Whether `address` is likely a return address: a call instruction may end there, or it is the signal trampoline, to which handlers
/// return.
fn is_return_address(address: Address, modules: &Modules, memory: &dyn Memory) -> bool {
    if address.0 < 16 {
        return false;
    }
    let module = modules.at(address);
    if module.is_some_and(|module| !module.has_code_at(address.offset(-1))) {
        return false;
    }
    let mut before = [0; 7];
    if memory.read(address.offset(-7), &mut before).is_err() {
        return false;
    }
    // e8: call relative. ff /2: call indirect, 2 to 7 bytes with its addressing form (Intel SDM, CALL).
    let indirect = |at: usize| before[at] == 0xff && (before[at + 1] >> 3) & 7 == 2;
    before[2] == 0xe8
        || [0, 1, 3, 4, 5].into_iter().any(indirect)
        || is_sigreturn(Machine::X86_64, address, memory)
}

/// Whether the code at `pc` is `rt_sigreturn(2)`'s trampoline: on x86-64 `mov eax/rax, 15; syscall`.
pub(super) fn is_sigreturn(machine: Machine, pc: Address, memory: &dyn Memory) -> bool {
    if machine != Machine::X86_64 {
        return linked::is_sigreturn(machine, pc, memory);
    }
    const LONG: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
    const SHORT: [u8; 7] = [0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05];
    let mut code = [0; 9];
    let length = if memory.read(pc, &mut code).is_ok() {
        9
    } else if memory.read(pc, &mut code[..7]).is_ok() {
        7
    } else {
        return false;
    };
    code[..length].starts_with(&SHORT) || code[..length] == LONG
}

/// The interrupted frame's registers, from the `ucontext` that the kernel left at the stack pointer. (What is there is `struct rt_sigframe`
/// without its return address; its `struct sigcontext` is 40 bytes in.)
fn interrupted(frame: &PhysicalFrame, memory: &dyn Memory) -> Option<(Address, Registers)> {
    let context = frame.registers.sp()?.offset(40);
    let mut registers = Registers::of(Machine::X86_64);
    registers.set(FS_BASE, frame.registers.get(FS_BASE));
    for (slot, register) in SIGNAL_CONTEXT.into_iter().enumerate() {
        let value = memory.read_u64(context.offset(8 * slot as i64)).ok()?;
        registers.set(register, Some(value));
    }
    Some((registers.sp()?, registers))
}

/// The registers that have the caller's values, provided that this function has changed none yet: the callee-saved ones.
fn preserved_registers(frame: &PhysicalFrame) -> Registers {
    let mut registers = Registers::of(Machine::X86_64);
    for register in CALLEE_SAVED.into_iter().chain([FS_BASE]) {
        registers.set(register, frame.registers.get(register));
    }
    registers
}
