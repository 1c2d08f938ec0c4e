//! The same for machines whose calls leave the return address in a register: aarch64, riscv64 and arm.

use super::MAX_FRAME;
use crate::Address;
use crate::frame::PhysicalFrame;
use crate::modules::Modules;
use dapple_arch::code::{Instructions, decode};
use dapple_arch::registers::Registers;
use dapple_arch::{Machine, Memory};

/// How much of a function is read to see whether it has moved the stack pointer, in bytes.
const MOST_CODE: u64 = 1 << 12;

/// Finds the canonical frame address of `frame` and its caller's registers.
pub(super) fn find(
    frame: &PhysicalFrame,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<(Address, Registers)> {
    let machine = frame.registers.machine();
    if is_sigreturn(machine, frame.pc, memory) {
        return interrupted(frame, memory);
    }
    // Only a frame that isn't waiting for a call to return can still have its return address in the register.
    if frame.pc == frame.lookup && has_no_frame(frame, modules, memory) {
        let returned = in_link_register(frame, modules, memory);
        if returned.is_some() {
            return returned;
        }
    }
    by_frame_pointer(frame, modules, memory)
}

/// Whether the function has no frame, or none yet: nothing has moved the stack pointer between its beginning and the program counter. Also for
/// a jump to an invalid address, and in the procedure linkage table.
fn has_no_frame(frame: &PhysicalFrame, modules: &Modules, memory: &dyn Memory) -> bool {
    let Some(module) = modules.at(frame.pc) else {
        return true;
    };
    let file = module.to_file(frame.pc);
    let section = module.module.section_at(file);
    if section.is_some_and(|name| name.starts_with(".plt")) {
        return true;
    }
    let Some(symbol) = module.module.symbol_at(file) else {
        return true;
    };
    is_before_frame(frame, module.to_process(symbol.address), modules, memory)
}

/// Whether nothing has moved the stack pointer between the beginning of a function and the program counter.
pub(in crate::unwind) fn is_before_frame(
    frame: &PhysicalFrame,
    start: Address,
    modules: &Modules,
    memory: &dyn Memory,
) -> bool {
    let length = frame.pc.0.checked_sub(start.0);
    let Some(length) = length.filter(|it| *it <= MOST_CODE) else {
        return false;
    };
    let mut code = vec![0; length as usize];
    if memory.read(start, &mut code).is_err() {
        return true;
    }
    let mut code = Instructions::of(modules.instruction_set(frame.pc), &code, start);
    code.all(|instruction| instruction.stack == Some(0) && !instruction.is_call())
}

/// The caller's state if nothing has changed since the call.
fn in_link_register(
    frame: &PhysicalFrame,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<(Address, Registers)> {
    let machine = frame.registers.machine();
    let target = machine.code_address(frame.registers.get(machine.link()?)?);
    if target == frame.pc || !is_return_address(machine, target, modules, memory) {
        return None;
    }
    let cfa = frame.registers.sp()?;
    let mut registers = Registers::of(machine);
    for register in machine.callee_saved() {
        registers.set(register, frame.registers.get(register));
    }
    registers.set_thread_pointer(frame.registers.thread_pointer());
    registers.set_sp(Some(cfa.0));
    registers.set_pc(Some(target.0));
    Some((cfa, registers))
}

/// By the record that the frame pointer leads to: the caller's frame pointer and the return address. On aarch64 the pointer is at the record (Procedure
/// Call Standard, §6.4.6), on riscv64 it is behind it, where the frame begins.
fn by_frame_pointer(
    frame: &PhysicalFrame,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<(Address, Registers)> {
    let machine = frame.registers.machine();
    let (sp, base) = (frame.registers.sp()?, frame.registers.fp()?);
    let size = memory.address_size();
    let is_plausible = base.is_multiple_of(size) && base >= sp.0 && base - sp.0 <= MAX_FRAME;
    if !is_plausible {
        return None;
    }
    let record = match machine {
        Machine::Riscv64 => base.checked_sub(16)?,
        _ => base,
    };
    let saved = memory.read_address(Address(record)).ok()?;
    let target = memory
        .read_address(Address(record.checked_add(size)?))
        .ok()?;
    let target = machine.code_address(target);
    if !is_return_address(machine, target, modules, memory) {
        return None;
    }
    // On aarch64 a frame may go on above its record, so that this is the least that it takes.
    let cfa = Address(record.checked_add(2 * size)?);
    let mut registers = Registers::of(machine);
    registers.set_thread_pointer(frame.registers.thread_pointer());
    registers.set_fp(Some(saved));
    registers.set_sp(Some(cfa.0));
    registers.set_pc(Some(target.0));
    Some((cfa, registers))
}

/// Whether an address is likely one that a call returns to: the instruction before it is a call, or it is the signal trampoline, to which
/// handlers return.
fn is_return_address(
    machine: Machine,
    address: Address,
    modules: &Modules,
    memory: &dyn Memory,
) -> bool {
    let set = modules.instruction_set(address);
    if address.0 < 16 || !address.0.is_multiple_of(set.alignment()) {
        return false;
    }
    if modules
        .at(address)
        .is_some_and(|module| !module.has_code_at(address.offset(-1)))
    {
        return false;
    }
    let is_call = |length: i64| {
        let mut code = [0; 4];
        let code = &mut code[..length as usize];
        let start = address.offset(-length);
        memory.read(start, code).is_ok()
            && decode(set, code, start).is_some_and(|it| it.is_call() && it.next() == address)
    };
    is_call(4) || set.alignment() == 2 && is_call(2) || is_sigreturn(machine, address, memory)
}

/// arm's numbers of rt_sigreturn(2), and of sigreturn(2), to which handlers return that don't ask for the signal's data.
const RT_SIGRETURN: u8 = 173;
const SIGRETURN: u8 = 119;

/// Whether the code at `pc` is arm's trampoline of a system call: mov r7, #`number`; svc #0, in either instruction set.
fn of_arm(pc: Address, memory: &dyn Memory, number: u8) -> bool {
    let mut code = [0; 8];
    let count = memory.read_some(pc, &mut code);
    let is = |wanted: &[u8]| code[..count].starts_with(wanted);
    is(&[number, 0x27, 0, 0xdf]) || is(&[number, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef])
}

fn is_without_signal(pc: Address, memory: &dyn Memory) -> bool {
    of_arm(pc, memory, SIGRETURN)
}

/// Whether the code at `pc` is the trampoline of rt_sigreturn(2): the call's number 139 in its register, and the call.
pub(super) fn is_sigreturn(machine: Machine, pc: Address, memory: &dyn Memory) -> bool {
    let wanted: [u32; 2] = match machine {
        // mov x8, #139; svc #0.
        Machine::Aarch64 => [0xd280_1168, 0xd400_0001],
        // li a7, 139; ecall.
        Machine::Riscv64 => [0x08b0_0893, 0x0000_0073],
        Machine::Arm => return of_arm(pc, memory, RT_SIGRETURN) || is_without_signal(pc, memory),
        Machine::X86_64 => return false,
    };
    let mut code = [0; 8];
    memory.read(pc, &mut code).is_ok() && code == wanted.map(u32::to_le_bytes).as_flattened()
}

/// The interrupted frame's registers, from the `struct rt_sigframe` that the kernel has left at the stack pointer: behind the signal's data come the
/// parts of `ucontext_t` in front of the registers, then these in the kernel's order.
fn interrupted(frame: &PhysicalFrame, memory: &dyn Memory) -> Option<(Address, Registers)> {
    let machine = frame.registers.machine();
    // The size of `siginfo_t`, and the offset of `uc_mcontext` in `ucontext_t` (asm/ucontext.h), in bytes.
    let before = match machine {
        Machine::Arm if is_without_signal(frame.pc, memory) => 20,
        Machine::Arm => 128 + 20,
        _ => 128 + 176,
    };
    let size = memory.address_size().cast_signed();
    let mut at = frame.registers.sp()?.offset(before);
    let mut next = || {
        let word = memory.read_address(at);
        at = at.offset(size);
        word.ok()
    };
    let mut registers = Registers::of(machine);
    match machine {
        Machine::Riscv64 => {
            registers.set_pc(Some(next()?));
            for register in machine.general().skip(1) {
                registers.set(register, Some(next()?));
            }
        }
        _ => {
            // The address of a fault comes first; on arm, three words about it.
            let skipped = if machine == Machine::Arm { 3 } else { 1 };
            for _ in 0..skipped {
                next()?;
            }
            for register in machine.general() {
                registers.set(register, Some(next()?));
            }
            registers.set_pc(Some(next()?));
        }
    }
    if registers.thread_pointer().is_none() {
        registers.set_thread_pointer(frame.registers.thread_pointer());
    }
    Some((registers.sp()?, registers))
}
