//! Explains a signal in a sentence: for a fault, the kind of access, the address, and why the access failed.
//!
//! Pure functions of the kernel's `siginfo_t`, the thread's registers, the faulting instruction and the process's mappings. The kernel
//! doesn't report the kind of access, so it is decoded from the instruction.

use crate::exceptions::sanitizer::trapped_check;
use dapple_arch::Machine;
use dapple_arch::instructions::{TRAP_BASE, decoder};
use dapple_target::memory_map::Mapping;
use dapple_target::signal_info::SignalInfo;
use dapple_target::signals;
use iced_x86::{Code, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::fmt::Write;

/// The rights of a mapping, as a phrase.
fn rights(mapping: &Mapping) -> &'static str {
    match (mapping.read, mapping.write, mapping.execute) {
        (false, false, false) => "nothing is permitted",
        (true, false, false) => "it may only be read",
        (true, true, false) => "it may be read and written, not executed",
        (true, false, true) => "it may be read and executed, not written",
        (true, true, true) => "all is permitted",
        (false, true, false) => "it may only be written",
        (false, false, true) => "it may only be executed",
        (false, true, true) => "it may not be read",
    }
}

/// The name of a mapping, for a sentence.
fn shown(mapping: &Mapping) -> &str {
    match mapping.name.as_str() {
        "" => "anonymous memory",
        "[heap]" => "the heap",
        "[stack]" => "the stack",
        name => name,
    }
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Execute,
    Unknown,
}

impl Access {
    fn to(self) -> &'static str {
        match self {
            Access::Read => "read of",
            Access::Write => "write to",
            Access::Execute => "jump to",
            Access::Unknown => "access to",
        }
    }
}

/// A thread that a signal is about to be delivered to.
pub(crate) struct SignalContext<'a> {
    pub(crate) info: SignalInfo,
    /// The process id.
    pub(crate) process: i32,
    /// The processor.
    pub(crate) machine: Machine,
    /// The program counter.
    pub(crate) pc: Option<u64>,
    /// The stack pointer.
    pub(crate) sp: Option<u64>,
    /// The thread's registers.
    pub(crate) register: &'a dyn Fn(Register) -> Option<u64>,
    /// The code at the instruction pointer, as much as can be read.
    pub(crate) code: &'a [u8],
    /// The process's mappings, in order; empty if unknown.
    pub(crate) mappings: &'a [Mapping],
    /// Why the program aborts, from the C library or the stack.
    pub(crate) abort_message: Option<String>,
    /// The name of the process that sent the signal.
    pub(crate) sender: Option<String>,
    /// The reason of the trap instruction, from the debug information.
    pub(crate) trap_message: Option<String>,
}

/// The `si_code` of signals that the kernel sends without a more specific code.
const SI_KERNEL: i32 = 0x80;
/// Nothing is mapped below this address by default (`vm.mmap_min_addr`), so an access there is through a null pointer.
const NULL_PAGES: u64 = 0x1_0000;
/// How far from the stack pointer an access is taken for one to the stack, in bytes.
const STACK_NEAR: u64 = 0x2_0000;

/// A sentence for the user that starts with the signal's name.
pub(crate) fn describe(context: &SignalContext<'_>) -> String {
    let name = signals::name(context.info.number);
    match reason(context) {
        Some(reason) => format!("{name}: {reason}"),
        None => name.into_owned(),
    }
}

/// The address whose access has failed. `None`: it is unknown, or the signal is no fault.
pub(crate) fn fault_address(context: &SignalContext<'_>) -> Option<u64> {
    let SignalInfo {
        number,
        code,
        address,
        ..
    } = context.info;
    if code <= 0 || !signals::is_fault(number) || number == libc::SIGSYS {
        return None;
    }
    match (number, code) {
        (libc::SIGSEGV, SI_KERNEL) => odd_operand(context).map(|(_, address, _)| address),
        _ => Some(address),
    }
}

fn reason(context: &SignalContext<'_>) -> Option<String> {
    let SignalInfo { number, code, .. } = context.info;
    match number {
        libc::SIGABRT if context.abort_message.is_some() => context.abort_message.clone(),
        libc::SIGABRT if code <= 0 && context.info.sender == context.process => {
            Some("the program aborts".to_owned())
        }
        libc::SIGCHLD if code > 0 => Some(child(context.info)),
        _ if code <= 0 => Some(sent(context)),
        libc::SIGSEGV => Some(segmentation(context)),
        libc::SIGBUS => Some(bus(context)),
        libc::SIGFPE => Some(arithmetic(context)),
        libc::SIGILL => Some(illegal(context)),
        libc::SIGSYS => Some(format!(
            "system call {} is not allowed here (seccomp)",
            context.info.system_call
        )),
        libc::SIGINT => Some("interrupted".to_owned()),
        _ if code == SI_KERNEL => Some("sent by the kernel".to_owned()),
        _ => None,
    }
}

/// The reason of a signal that was sent by a program, or for it, as by a timer (`si_code` is not positive).
fn sent(context: &SignalContext<'_>) -> String {
    const SI_TIMER: i32 = -2;
    const SI_MESGQ: i32 = -3;
    const SI_ASYNCIO: i32 = -4;
    let SignalInfo { code, sender, .. } = context.info;
    match code {
        SI_TIMER => "sent by a timer of the program".to_owned(),
        SI_MESGQ => "sent by a message queue".to_owned(),
        SI_ASYNCIO => "sent by an asynchronous I/O request".to_owned(),
        _ if sender == context.process => "sent by the program itself".to_owned(),
        _ if sender <= 0 => "sent by a program".to_owned(),
        _ => match &context.sender {
            Some(name) => format!("sent by process {sender} ({name})"),
            None => format!("sent by process {sender}"),
        },
    }
}

fn child(info: SignalInfo) -> String {
    let SignalInfo { sender, status, .. } = info;
    match info.code {
        libc::CLD_EXITED => format!("child {sender} exited with code {status}"),
        libc::CLD_KILLED | libc::CLD_DUMPED => {
            format!("child {sender} was killed by {}", signals::name(status))
        }
        libc::CLD_STOPPED | libc::CLD_TRAPPED => format!("child {sender} stopped"),
        libc::CLD_CONTINUED => format!("child {sender} goes on"),
        _ => format!("news of child {sender}"),
    }
}

fn instruction(context: &SignalContext<'_>) -> Option<Instruction> {
    if context.machine != Machine::X86_64 {
        return None;
    }
    let pc = context.pc?;
    let mut decoder = decoder(context.code, pc);
    let instruction = decoder.decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// The memory operands of an instruction: address, size, access.
fn operands(context: &SignalContext<'_>, instruction: &Instruction) -> Vec<(u64, u64, Access)> {
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(instruction);
    let used = info.used_memory().iter();
    used.filter_map(|memory| {
        let address = memory.virtual_address(0, |register, _, _| (context.register)(register))?;
        let access = match memory.access() {
            OpAccess::Read | OpAccess::CondRead => Access::Read,
            OpAccess::Write | OpAccess::CondWrite => Access::Write,
            // Such an instruction reads before it writes, but it needs the right to write, so the refused access counts as a write.
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => Access::Write,
            _ => return None,
        };
        Some((address, memory.memory_size().size() as u64, access))
    })
    .collect()
}

fn access(context: &SignalContext<'_>, address: u64) -> Access {
    let pc = context.pc;
    // The address may be in the second of two pages that the instruction lies in, if that page can't be read.
    if pc.is_some_and(|pc| address.wrapping_sub(pc) < 16) && context.code.len() < 16 {
        return Access::Execute;
    }
    let at_pc = |m: &&Mapping| pc.is_some_and(|pc| (m.start..m.end).contains(&pc));
    if pc == Some(address)
        && context
            .mappings
            .iter()
            .find(at_pc)
            .is_none_or(|m| !m.execute)
    {
        return Access::Execute;
    }
    let Some(instruction) = instruction(context) else {
        return Access::Unknown;
    };
    // For an access across two pages, the reported address is the start of the missing page.
    let touched = operands(context, &instruction);
    let near =
        |(start, size, _): &&(u64, u64, Access)| address.wrapping_sub(*start) < (*size).max(1);
    match touched.iter().find(near) {
        Some((_, _, access)) => *access,
        // The address may be of another element than the registers say (a repeated string instruction). An instruction with one operand in
        // memory accesses all elements alike; with two, it is unknown which of them failed.
        None => match touched.as_slice() {
            [(_, _, only)] => *only,
            _ => Access::Unknown,
        },
    }
}

fn segmentation(context: &SignalContext<'_>) -> String {
    const SEGV_MAPERR: i32 = 1;
    const SEGV_ACCERR: i32 = 2;
    const SEGV_BNDERR: i32 = 3;
    const SEGV_PKUERR: i32 = 4;
    let SignalInfo { code, address, .. } = context.info;
    if code == SI_KERNEL {
        return protection(context);
    }
    let access = access(context, address);
    let to = access.to();
    let at = context
        .mappings
        .iter()
        .find(|m| (m.start..m.end).contains(&address));
    if let Some(stack) = overflown_stack(context, address, access) {
        let size = size_text(stack.end - stack.start);
        return format!("stack overflow: {to} address {address:#x}, below the stack of {size}");
    }
    match (code, at) {
        (SEGV_MAPERR, _) | (_, None) if address < NULL_PAGES => match (access, address) {
            (Access::Execute, 0) => "jump to address 0x0, a null function pointer".to_owned(),
            (_, 0) => format!("{to} address 0x0, a null pointer"),
            _ => format!("{to} address {address:#x}, {address} bytes from a null pointer"),
        },
        (SEGV_PKUERR, _) => {
            format!("{to} address {address:#x}, which its protection key does not permit")
        }
        (SEGV_BNDERR, _) => format!("{to} address {address:#x}, which is out of bounds"),
        (SEGV_ACCERR, Some(m)) => {
            format!("{to} address {address:#x} in {}: {}", shown(m), rights(m))
        }
        (SEGV_MAPERR, _) => {
            let mut text = format!("{to} address {address:#x}, where nothing is mapped");
            if let Some((distance, m)) = just_before(context, address) {
                // Writing to a `String` can't fail.
                let _ = write!(text, ", {distance} bytes behind {}", shown(m));
            }
            text
        }
        _ => format!("{to} address {address:#x}"),
    }
}

/// The mapping that ends shortly before an address, and how far before.
fn just_before<'a>(context: &'a SignalContext<'_>, address: u64) -> Option<(u64, &'a Mapping)> {
    const SHORTLY: u64 = 4096;
    let before = context.mappings.iter().rev().find(|m| m.end <= address)?;
    let distance = address - before.end;
    (distance < SHORTLY && before.name != "[vsyscall]").then_some((distance, before))
}

/// The mapping of the thread's stack, which begins above `address`, if the access at `address` has overflown it. `None`: it hasn't.
fn overflown_stack<'a>(
    context: &'a SignalContext<'_>,
    address: u64,
    access: Access,
) -> Option<&'a Mapping> {
    let sp = context.sp?;
    let by_stack_pointer = address.abs_diff(sp) <= STACK_NEAR;
    if access == Access::Execute || !by_stack_pointer {
        return None;
    }
    let above = context.mappings.iter().find(|m| m.start > address)?;
    // The thread's descriptor is at the upper end of its stack.
    let thread = (context.register)(Register::FS).unwrap_or(0);
    let is_stack = above.name == "[stack]" || (above.start..above.end).contains(&thread);
    (is_stack && above.read && above.write).then_some(above)
}

fn size_text(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    /// The mapping of a stack may be smaller than the stack's limit by this much.
    const GAP: u64 = 1 << 16;
    match bytes.saturating_add(GAP) {
        MIB.. => format!("{} MiB", bytes.div_ceil(MIB)),
        _ => format!("{} KiB", bytes / 1024),
    }
}

/// Whether an address is canonical.
fn is_canonical(address: u64) -> bool {
    let high = address.cast_signed() >> 47;
    high == 0 || high == -1
}

/// Whether an instruction requires its memory operand to be aligned to its size.
fn wants_alignment(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(
        instruction.mnemonic(),
        Movaps
            | Movapd
            | Movdqa
            | Movntdq
            | Movntps
            | Movntpd
            | Movntdqa
            | Vmovaps
            | Vmovapd
            | Vmovdqa
            | Vmovdqa32
            | Vmovdqa64
            | Vmovntdq
            | Vmovntps
            | Vmovntpd
            | Vmovntdqa
    ) || (!matches!(instruction.mnemonic(), Movups | Movupd | Movdqu | Lddqu)
        && is_legacy_sse(instruction))
}

/// Whether an instruction has the legacy encoding, an `xmm` operand, and a 16-byte operand in memory. Except for unaligned moves, such
/// instructions require alignment (Intel SDM 1, §10.4.1.1).
fn is_legacy_sse(instruction: &Instruction) -> bool {
    let uses_xmm = (0..instruction.op_count()).any(|index| {
        instruction.op_kind(index) == OpKind::Register && instruction.op_register(index).is_xmm()
    });
    uses_xmm
        && instruction.memory_size().size() == 16
        && instruction.encoding() == iced_x86::EncodingKind::Legacy
}

/// The first memory operand that the processor refuses, because its address isn't canonical or not aligned as needed: the instruction, the
/// operand's address, and the kind of access. `None`: no operand is wrong.
fn odd_operand(context: &SignalContext<'_>) -> Option<(Instruction, u64, Access)> {
    let instruction = instruction(context)?;
    let mut touched = operands(context, &instruction);
    touched.retain(|(address, size, _)| {
        !is_canonical(*address) || (wants_alignment(&instruction) && address % (*size).max(1) != 0)
    });
    let (address, _, access) = *touched.first()?;
    Some((instruction, address, access))
}

/// The reason of a general-protection fault, for which the kernel reports no address.
fn protection(context: &SignalContext<'_>) -> String {
    let odd = odd_operand(context);
    if let Some((instruction, address, access)) = odd {
        let to = access.to();
        if !is_canonical(address) {
            return format!("{to} address {address:#x}, which is not a canonical address");
        }
        let size = instruction.memory_size().size();
        let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
        return format!(
            "{to} address {address:#x}, which is not aligned to {size} bytes as `{name}` needs it"
        );
    }
    let Some(instruction) = instruction(context) else {
        return "invalid address".to_owned();
    };
    if instruction.mnemonic() == Mnemonic::Ret {
        return "return to an address that is not canonical: the stack is overwritten".to_owned();
    }
    if instruction.is_privileged() {
        let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
        return format!("`{name}` is an instruction for the kernel only");
    }
    "invalid address".to_owned()
}

fn bus(context: &SignalContext<'_>) -> String {
    const BUS_ADRALN: i32 = 1;
    const BUS_ADRERR: i32 = 2;
    const BUS_MCEERR_AR: i32 = 4;
    let SignalInfo { code, address, .. } = context.info;
    let to = access(context, address).to();
    let at = context
        .mappings
        .iter()
        .find(|m| (m.start..m.end).contains(&address));
    match code {
        BUS_ADRALN => format!("{to} address {address:#x}, which is not aligned"),
        BUS_ADRERR => match at.filter(|m| m.name.starts_with('/')) {
            Some(m) => format!(
                "{to} address {address:#x} beyond the end of the mapped file {}",
                m.name
            ),
            None => format!("{to} address {address:#x}, which has no memory behind it"),
        },
        BUS_MCEERR_AR => format!("{to} address {address:#x}: the memory itself is broken"),
        _ => format!("{to} address {address:#x}"),
    }
}

fn arithmetic(context: &SignalContext<'_>) -> String {
    const FPE_INTDIV: i32 = 1;
    let text = match context.info.code {
        FPE_INTDIV => return division(context).to_owned(),
        2 => "integer overflow",
        3 => "floating-point division by zero",
        4 => "floating-point overflow",
        5 => "floating-point underflow",
        6 => "floating-point result that is not exact",
        7 => "invalid floating-point operation",
        8 => "subscript out of range",
        _ => "arithmetic exception",
    };
    text.to_owned()
}

/// The reason of a divide error. The processor raises the same exception for a zero divisor and for an overflow, which the divisor's value
/// tells apart. A divisor in memory is not read, but taken for zero.
fn division(context: &SignalContext<'_>) -> &'static str {
    const BY_ZERO: &str = "integer division by zero";
    let divisor = instruction(context).filter(|i| i.op0_kind() == OpKind::Register);
    let register = divisor.map(|i| i.op0_register());
    let value = register.and_then(|register| {
        let full = (context.register)(register.full_register())?;
        let bits = 8 * register.size() as u32;
        Some(match bits {
            8 if format!("{register:?}").ends_with('H') => full >> 8 & 0xff,
            64 => full,
            bits => full & ((1 << bits) - 1),
        })
    });
    match value {
        Some(1..) => "integer overflow: the quotient does not fit",
        _ => BY_ZERO,
    }
}

fn illegal(context: &SignalContext<'_>) -> String {
    let address = context.info.address;
    let instruction = instruction(context);
    let check = || instruction.and_then(check_of_trap);
    if let Some(why) = context.trap_message.clone().or_else(check) {
        return format!("{why} (a trap instruction at {address:#x})");
    }
    match instruction.map(|i| i.code()) {
        Some(Code::Ud2) => format!(
            "the instruction `ud2` at {address:#x}, which compilers put where a program must not come (`__builtin_trap`, unreachable code)"
        ),
        Some(_) => format!("an instruction at {address:#x} that this processor does not have"),
        None => {
            let bytes = context
                .code
                .iter()
                .take(4)
                .map(|byte| format!("{byte:02x}"));
            let bytes: Vec<String> = bytes.collect();
            format!("no instruction at {address:#x}: {}", bytes.join(" "))
        }
    }
}

/// The failed check that clang encodes in its trap instruction, `ud1 eax, [eax + number]`.
fn check_of_trap(instruction: Instruction) -> Option<String> {
    let is_trap = instruction.code() == Code::Ud1_r32_rm32
        && instruction.op1_kind() == OpKind::Memory
        && instruction.memory_base() == TRAP_BASE;
    let number = u8::try_from(instruction.memory_displacement64()).ok()?;
    is_trap.then(|| trapped_check(number))?
}

/// The fields of `siginfo_t` that apply to the signal, for users who want the details.
pub(crate) fn facts(info: SignalInfo) -> String {
    let code = code_name(info.number, info.code);
    let mut text = format!("si_signo {}, si_code {code}", info.number);
    // Writing to a `String` can't fail.
    let _ = match info.number {
        libc::SIGSYS if info.code > 0 => write!(text, ", si_syscall {}", info.system_call),
        number if info.code > 0 && signals::is_fault(number) => {
            write!(text, ", si_addr {:#x}", info.address)
        }
        libc::SIGCHLD => write!(text, ", si_pid {}, si_status {}", info.sender, info.status),
        _ if info.code <= 0 => write!(text, ", si_pid {}", info.sender),
        _ => Ok(()),
    };
    text
}

fn code_name(number: i32, code: i32) -> String {
    let names: &[&str] = match number {
        libc::SIGSEGV => &["SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR"],
        libc::SIGBUS => &[
            "BUS_ADRALN",
            "BUS_ADRERR",
            "BUS_OBJERR",
            "BUS_MCEERR_AR",
            "BUS_MCEERR_AO",
        ],
        libc::SIGFPE => &[
            "FPE_INTDIV",
            "FPE_INTOVF",
            "FPE_FLTDIV",
            "FPE_FLTOVF",
            "FPE_FLTUND",
            "FPE_FLTRES",
            "FPE_FLTINV",
            "FPE_FLTSUB",
        ],
        libc::SIGILL => &[
            "ILL_ILLOPC",
            "ILL_ILLOPN",
            "ILL_ILLADR",
            "ILL_ILLTRP",
            "ILL_PRVOPC",
            "ILL_PRVREG",
            "ILL_COPROC",
            "ILL_BADSTK",
        ],
        libc::SIGSYS => &["SYS_SECCOMP"],
        libc::SIGTRAP => &["TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT"],
        libc::SIGCHLD => &[
            "CLD_EXITED",
            "CLD_KILLED",
            "CLD_DUMPED",
            "CLD_TRAPPED",
            "CLD_STOPPED",
            "CLD_CONTINUED",
        ],
        _ => &[],
    };
    let own = usize::try_from(code)
        .ok()
        .and_then(|code| code.checked_sub(1));
    let name = own.and_then(|index| names.get(index)).copied();
    let name = name.or(match code {
        0 => Some("SI_USER"),
        SI_KERNEL => Some("SI_KERNEL"),
        -1 => Some("SI_QUEUE"),
        -2 => Some("SI_TIMER"),
        -3 => Some("SI_MESGQ"),
        -4 => Some("SI_ASYNCIO"),
        -6 => Some("SI_TKILL"),
        _ => None,
    });
    match name {
        Some(name) => format!("{name} ({code})"),
        None => code.to_string(),
    }
}

#[cfg(test)]
mod tests;
