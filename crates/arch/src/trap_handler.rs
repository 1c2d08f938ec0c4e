//! A signal handler for SIGTRAP on Linux, for programs that must outlive the debugger.
//!
//! When the debugger is killed, a thread may just have run into a breakpoint: the kernel gives it the SIGTRAP of that stop, and by default this
//! ends the process. This handler moves the thread back to the breakpoint instead, into which it runs again and again until somebody has put
//! the program's own byte back. The end of a single step and the hit of a watchpoint are ignored. All other SIGTRAPs do what they do by
//! default.
//!
//! The handler finds the thread's registers in the signal's frame (`ucontext_t`, sigaction(2)), and the cause in `siginfo_t`. A thread that the
//! debugger had moved back itself is told by a flag ([`UserRegisters::set_back`](crate::registers::user::UserRegisters::set_back)).

use crate::Address;

/// The size of the handler's memory: a page of code and constants, which threads only read, and a page that the kernel writes
/// (`OLD_ACTION`).
pub const SIZE: u64 = 2 * PAGE;
/// The size of the first part.
pub const PAGE: u64 = 4096;

/// Where the action is that SIGTRAP has by default, in the kernel's layout (`struct sigaction`): zeros.
pub const DEFAULT_ACTION: u64 = 0x180;
/// Where the action is that calls the handler.
pub const ACTION: u64 = 0x1c0;
/// The byte that is not 0 if SIGTRAP is to do what it does by default.
pub const DISARMED: u64 = 0x200;
/// Where there is room for the action that SIGTRAP had.
pub const OLD_ACTION: u64 = PAGE;
/// The size of an action.
pub const ACTION_SIZE: usize = 32;
/// The size of the set of signals that an action blocks, which rt_sigaction(2) asks for.
pub const SET_SIZE: u64 = 8;

/// Where the code is that returns from the handler.
const RESTORER: u64 = 0x8f;

/// The handler. Its arguments are the signal (`edi`), its information (`rsi`) and the thread's registers (`rdx`).
#[rustfmt::skip]
const CODE: [u8; 0x98] = [
    0x80, 0x3d, 0xf9, 0x01, 0x00, 0x00, 0x00,                   // 00 cmp byte ptr [DISARMED], 0x0
    0x75, 0x17,                                                 // 07 jne 20
    0x8b, 0x46, 0x08,                                           // 09 mov eax, dword ptr [rsi+0x8]  si_code
    0x3d, 0x80, 0x00, 0x00, 0x00,                               // 0c cmp eax, 0x80         SI_KERNEL: int3
    0x74, 0x57,                                                 // 11 je 6a
    0x8d, 0x48, 0xff,                                           // 13 lea ecx, [rax-0x1]    TRAP_BRKPT, TRAP_TRACE: a single step
    0x83, 0xf9, 0x01,                                           // 16 cmp ecx, 0x1
    0x76, 0x69,                                                 // 19 jbe 84
    0x83, 0xf8, 0x04,                                           // 1b cmp eax, 0x4          TRAP_HWBKPT: a watchpoint
    0x74, 0x63,                                                 // 1e je 83
    // As by default.
    0x56,                                                       // 20 push rsi
    0x52,                                                       // 21 push rdx
    0xb8, 0x0d, 0x00, 0x00, 0x00,                               // 22 mov eax, 0xd          rt_sigaction
    0xbf, 0x05, 0x00, 0x00, 0x00,                               // 27 mov edi, 0x5          SIGTRAP
    0x48, 0x8d, 0x35, 0x4d, 0x01, 0x00, 0x00,                   // 2c lea rsi, [DEFAULT_ACTION]
    0x31, 0xd2,                                                 // 33 xor edx, edx
    0x41, 0xba, 0x08, 0x00, 0x00, 0x00,                         // 35 mov r10d, 0x8
    0x0f, 0x05,                                                 // 3b syscall
    0x5a,                                                       // 3d pop rdx
    0x5e,                                                       // 3e pop rsi
    0x81, 0x7e, 0x08, 0x80, 0x00, 0x00, 0x00,                   // 3f cmp dword ptr [rsi+0x8], 0x80
    0x74, 0x34,                                                 // 46 je 7c                 to the program's own int3
    0x56,                                                       // 48 push rsi
    0xb8, 0x27, 0x00, 0x00, 0x00,                               // 49 mov eax, 0x27         getpid
    0x0f, 0x05,                                                 // 4e syscall
    0x50,                                                       // 50 push rax
    0xb8, 0xba, 0x00, 0x00, 0x00,                               // 51 mov eax, 0xba         gettid
    0x0f, 0x05,                                                 // 56 syscall
    0x89, 0xc6,                                                 // 58 mov esi, eax
    0x5f,                                                       // 5a pop rdi
    0xba, 0x05, 0x00, 0x00, 0x00,                               // 5b mov edx, 0x5          SIGTRAP
    0x41, 0x5a,                                                 // 60 pop r10
    0xb8, 0x29, 0x01, 0x00, 0x00,                               // 62 mov eax, 0x129        rt_tgsigqueueinfo
    0x0f, 0x05,                                                 // 67 syscall
    0xc3,                                                       // 69 ret
    // An int3.
    0xf6, 0x82, 0xb2, 0x00, 0x00, 0x00, 0x01,                   // 6a test byte ptr [rdx+0xb2], 0x1   is RF set?
    0x75, 0x10,                                                 // 71 jne 83
    0x52,                                                       // 73 push rdx
    0xb8, 0x18, 0x00, 0x00, 0x00,                               // 74 mov eax, 0x18         sched_yield
    0x0f, 0x05,                                                 // 79 syscall
    0x5a,                                                       // 7b pop rdx
    0x48, 0xff, 0x8a, 0xa8, 0x00, 0x00, 0x00,                   // 7c dec qword ptr [rdx+0xa8]   rip
    0xc3,                                                       // 83 ret
    // A single step: clears the trap flag.
    0x81, 0xa2, 0xb0, 0x00, 0x00, 0x00, 0xff, 0xfe, 0xff, 0xff, // 84 and dword ptr [rdx+0xb0], 0xfffffeff
    0xc3,                                                       // 8e ret
    // The restorer. Unwinders know a signal's frame by these very bytes.
    0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00,                   // 8f mov rax, 0xf          rt_sigreturn
    0x0f, 0x05,                                                 // 96 syscall
];

/// What is in the first page, which is at `page`.
pub fn image(page: Address) -> Vec<u8> {
    // The signal isn't blocked meanwhile: the kernel forgets a handler when a thread traps that blocks the signal, also by a debugger's step. All
    // others are: no handler of the program's must be found between the thread and where it has trapped.
    const UNBLOCKED: u64 = 0x4000_0000;
    const SIGTRAP: u64 = 5;
    const SIGINFO: u64 = 4;
    const RESTORER_GIVEN: u64 = 0x0400_0000;
    const ON_STACK: u64 = 0x0800_0000;
    const RESTART: u64 = 0x1000_0000;
    let flags = SIGINFO | UNBLOCKED | RESTORER_GIVEN | ON_STACK | RESTART;
    let blocked = !(1 << (SIGTRAP - 1));
    let action = [page.0, flags, page.0 + RESTORER, blocked];
    let action = action.map(u64::to_le_bytes).concat();
    let mut image = vec![0; DISARMED as usize + 1];
    image[..CODE.len()].copy_from_slice(&CODE);
    image[ACTION as usize..][..ACTION_SIZE].copy_from_slice(&action);
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions, Mnemonic};

    #[test]
    fn the_code_reads_what_is_in_its_page() {
        const PLACE: u64 = 0x10000;
        let mut decoder = Decoder::with_ip(64, &CODE, PLACE, DecoderOptions::NONE);
        let mut reads = Vec::new();
        let mut starts = Vec::new();
        let mut targets = Vec::new();
        for instruction in &mut decoder {
            assert_ne!(instruction.mnemonic(), Mnemonic::INVALID);
            starts.push(instruction.ip());
            if instruction.is_ip_rel_memory_operand() {
                reads.push(instruction.ip_rel_memory_address() - PLACE);
            }
            if instruction.is_jcc_short() {
                targets.push(instruction.near_branch_target());
            }
        }
        assert_eq!(reads, [DISARMED, DEFAULT_ACTION]);
        assert!(targets.iter().all(|target| starts.contains(target)));
        assert!(starts.contains(&(PLACE + RESTORER)));
        let image = image(Address(PLACE));
        assert_eq!(image[ACTION as usize..][..8], PLACE.to_le_bytes());
        assert!(
            image[DEFAULT_ACTION as usize..][..ACTION_SIZE]
                .iter()
                .all(|byte| *byte == 0)
        );
    }
}
