//! Instructions, decoded by iced-x86, and the registers in them by what they are for.

use iced_x86::{Instruction, Mnemonic, Register};

/// The stack pointer.
pub const STACK_POINTER: Register = Register::RSP;
/// The frame pointer, where code keeps one.
pub const FRAME_POINTER: Register = Register::RBP;
/// The instruction pointer, which operands can be relative to.
pub const INSTRUCTION_POINTER: Register = Register::RIP;
/// What `loop` and `jrcxz` count with.
pub const COUNT: Register = Register::RCX;
/// What code may use between functions: trampolines of the dynamic linker jump by it, probes of large frames count with it.
pub const SCRATCH: Register = Register::R11;
/// What clang's trap instruction addresses its number by: `ud1 eax, [eax + number]`.
pub const TRAP_BASE: Register = Register::EAX;
/// What code addresses a frame from: the two pointers, and `rbx` where a frame is realigned.
pub const FRAME_BASES: [Register; 3] = [Register::RSP, Register::RBP, Register::RBX];

/// What integers and pointers are passed in, in their order (ABI §3.2.3).
pub const INTEGER_ARGUMENTS: [Register; 6] = [
    Register::RDI,
    Register::RSI,
    Register::RDX,
    Register::RCX,
    Register::R8,
    Register::R9,
];

/// All general registers that a caller gives something to: [`INTEGER_ARGUMENTS`], the count of vector registers, and the static chain.
pub const GIVEN: [Register; 8] = [
    Register::RDI,
    Register::RSI,
    Register::RDX,
    Register::RCX,
    Register::R8,
    Register::R9,
    Register::RAX,
    Register::R10,
];

/// The general registers that a callee may change (ABI §3.2.1), with their names.
pub const CHANGED_BY_CALLS: [(Register, &str); 9] = [
    (Register::RAX, "rax"),
    (Register::RCX, "rcx"),
    (Register::RDX, "rdx"),
    (Register::RSI, "rsi"),
    (Register::RDI, "rdi"),
    (Register::R8, "r8"),
    (Register::R9, "r9"),
    (Register::R10, "r10"),
    (Register::R11, "r11"),
];

/// The general registers by their DWARF numbers (ABI figure 3.36).
pub const GENERAL: [Register; 16] = [
    Register::RAX,
    Register::RDX,
    Register::RCX,
    Register::RBX,
    Register::RSI,
    Register::RDI,
    Register::RBP,
    Register::RSP,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// The general register with a DWARF number; `None`: the number is of another kind of register, or of none.
pub fn general(number: u16) -> Option<Register> {
    GENERAL.get(usize::from(number)).copied()
}

/// Whether a callee leaves a general register as it was, the stack pointer among them (ABI §3.2.1).
pub fn is_kept_by_callees(register: Register) -> bool {
    let number = GENERAL.iter().zip(0..).find(|(one, _)| **one == register);
    register == STACK_POINTER
        || number.is_some_and(|(_, number)| crate::abi::is_callee_saved(number))
}

/// Whether an instruction calls the kernel: `syscall`.
pub fn is_system_call(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Syscall
}
