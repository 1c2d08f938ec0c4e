//! Instructions as decoded by iced-x86, and the roles of their registers.

use crate::Address;
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};

/// The longest instruction, in bytes (Intel SDM, volume 2, §2.3.11).
pub const LONGEST: usize = 15;

/// The stack pointer.
pub const STACK_POINTER: Register = Register::RSP;
/// The frame pointer, in code that keeps one.
pub const FRAME_POINTER: Register = Register::RBP;
/// The instruction pointer, the base of RIP-relative operands.
pub const INSTRUCTION_POINTER: Register = Register::RIP;
/// The counter of `loop` and `jrcxz`.
pub const COUNT: Register = Register::RCX;
/// The scratch register between functions: trampolines of the dynamic linker jump through it, stack probes of large frames count with it.
pub const SCRATCH: Register = Register::R11;
/// The base register in clang's trap instruction, whose displacement is the trap's number: `ud1 eax, [eax + number]`.
pub const TRAP_BASE: Register = Register::EAX;
/// The registers from which code addresses its frame: stack and frame pointer, and `rbx` if the frame is realigned.
pub const FRAME_BASES: [Register; 3] = [Register::RSP, Register::RBP, Register::RBX];

/// The registers of integer and pointer arguments, in their order (ABI §3.2.3).
pub const INTEGER_ARGUMENTS: [Register; 6] = {
    let [first, second, third, fourth, fifth, sixth, _, _] = GIVEN;
    [first, second, third, fourth, fifth, sixth]
};

/// All general registers in which a caller passes something: [`INTEGER_ARGUMENTS`], the number of vector registers used (rax), and the
/// static chain (r10).
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

/// The bytes of `syscall`.
pub const SYSCALL: [u8; 2] = [0x0f, 0x05];

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

/// The general registers, indexed by DWARF number (ABI figure 3.36).
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

/// The general register with a DWARF number; `None` if the number is not that of a general register.
pub fn general(number: u16) -> Option<Register> {
    GENERAL.get(usize::from(number)).copied()
}

/// The DWARF number of a general register; `None` for others, and for parts of one.
pub(crate) fn number(register: Register) -> Option<u16> {
    let mut numbered = GENERAL.iter().zip(0..);
    let found = numbered.find(|(one, _)| **one == register);
    found.map(|(_, number)| number)
}

/// Whether a general register is callee-saved; the stack pointer counts (ABI §3.2.1).
pub fn is_kept_by_callees(register: Register) -> bool {
    register == STACK_POINTER || number(register).is_some_and(crate::abi::is_callee_saved)
}

/// What a general register or a lowest part of one holds, with zeros above it, if the whole register holds `whole`. `None` for `ah` and its like.
pub(crate) fn part(register: Register, whole: u64) -> Option<u64> {
    match register.size() {
        8 => Some(whole),
        4 => Some(whole & 0xffff_ffff),
        2 => Some(whole & 0xffff),
        1 if !is_high(register) => Some(whole & 0xff),
        _ => None,
    }
}

/// What the whole register holds after a write to it or to a lowest part, if it held `whole`. A write of 4 bytes clears those above. `None` as for
/// [`part`].
pub(crate) fn with_part(register: Register, whole: u64, value: u64) -> Option<u64> {
    match register.size() {
        8 => Some(value),
        4 => Some(value & 0xffff_ffff),
        2 => Some(whole & !0xffff | value & 0xffff),
        1 if !is_high(register) => Some(whole & !0xff | value & 0xff),
        _ => None,
    }
}

/// Whether it is the second lowest byte of a general register: `ah` and its like.
pub(crate) fn is_high(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    )
}

/// A decoder for 64-bit code whose first byte is at `address`.
pub fn decoder(code: &[u8], address: u64) -> Decoder<'_> {
    Decoder::with_ip(64, code, address, DecoderOptions::NONE)
}

/// The instruction that `code` starts with. `None`: it starts with none.
pub fn decode(address: Address, code: &[u8]) -> Option<Instruction> {
    let instruction = decoder(code, address.0).decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// Whether an instruction enters the kernel or a hypervisor and comes back to the next instruction on its own. iced counts these among the
/// calls.
pub fn comes_back_by_itself(code: Code) -> bool {
    matches!(
        code,
        Code::Syscall
            | Code::Sysenter
            | Code::Vmcall
            | Code::Vmmcall
            | Code::Vmlaunch
            | Code::Vmresume
    )
}

/// As [`comes_back_by_itself`], or an instruction that enters the kernel by an interrupt (`int n`).
pub fn enters_kernel(code: Code) -> bool {
    comes_back_by_itself(code) || code == Code::Int_imm8
}

/// Whether an instruction does the same each time that it is executed in the same state, and neither calls the kernel nor traps of its own
/// accord. `rdtsc` and `rdtscp` don't.
pub fn is_repeatable(instruction: &Instruction) -> bool {
    let traps = matches!(
        instruction.flow_control(),
        FlowControl::Interrupt | FlowControl::Exception
    );
    let reads_time = matches!(instruction.mnemonic(), Mnemonic::Rdtsc | Mnemonic::Rdtscp);
    !traps && !reads_time && !enters_kernel(instruction.code())
}

/// Whether an instruction calls a function.
pub fn is_call(instruction: &Instruction) -> bool {
    let flow = instruction.flow_control();
    matches!(flow, FlowControl::Call | FlowControl::IndirectCall)
        && !comes_back_by_itself(instruction.code())
}

/// Whether an instruction changes nothing: `nop`, and the mark of jump targets, `endbr64`.
pub fn does_nothing(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Endbr64)
}

/// Whether an instruction calls the kernel: `syscall`.
pub fn is_system_call(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Syscall
}
