//! A thread's registers in the kernel's layout: for x86-64 `struct user_regs_struct` (sys/user.h), which ptrace(2) reads and writes and core
//! files contain (core(5)). For others, the general registers by their DWARF numbers, the program counter, then what `others` names.
//!
//! What concerns system calls and flags means x86-64: on other machines, threads behind a stub are never seen within a call, and there is
//! nothing to set.

use super::Registers;
use crate::{Address, InstructionSet, Machine};
use iced_x86::Register;
use serde::{Deserialize, Serialize};

/// The index of each register in the kernel's layout, in words.
mod word {
    pub(super) const R15: usize = 0;
    pub(super) const R14: usize = 1;
    pub(super) const R13: usize = 2;
    pub(super) const R12: usize = 3;
    pub(super) const RBP: usize = 4;
    pub(super) const RBX: usize = 5;
    pub(super) const R11: usize = 6;
    pub(super) const R10: usize = 7;
    pub(super) const R9: usize = 8;
    pub(super) const R8: usize = 9;
    pub(super) const RAX: usize = 10;
    pub(super) const RCX: usize = 11;
    pub(super) const RDX: usize = 12;
    pub(super) const RSI: usize = 13;
    pub(super) const RDI: usize = 14;
    pub(super) const ORIG_RAX: usize = 15;
    pub(super) const RIP: usize = 16;
    pub(super) const CS: usize = 17;
    pub(super) const EFLAGS: usize = 18;
    pub(super) const RSP: usize = 19;
    pub(super) const SS: usize = 20;
    pub(super) const FS_BASE: usize = 21;
    pub(super) const GS_BASE: usize = 22;
    pub(super) const DS: usize = 23;
    pub(super) const ES: usize = 24;
    pub(super) const FS: usize = 25;
    pub(super) const GS: usize = 26;
}

/// Where a system call has its arguments (ABI §A.2.1).
const ARGUMENTS: [usize; 6] = [
    word::RDI,
    word::RSI,
    word::RDX,
    word::R10,
    word::R8,
    word::R9,
];

/// The words of the general registers and the instruction pointer by DWARF number (ABI figure 3.36).
const GENERAL: [usize; 17] = [
    word::RAX,
    word::RDX,
    word::RCX,
    word::RBX,
    word::RSI,
    word::RDI,
    word::RBP,
    word::RSP,
    word::R8,
    word::R9,
    word::R10,
    word::R11,
    word::R12,
    word::R13,
    word::R14,
    word::R15,
    word::RIP,
];

/// The resume flag.
const RESUME: u64 = 1 << 16;

/// How many words x86-64's `user_regs_struct` has.
pub const REGISTER_WORDS: usize = 27;

/// How many words any machine's registers take.
pub const MOST_WORDS: usize = 36;

/// The words behind the general registers and the program counter on machines other than x86-64.
pub mod others {
    /// The flags (`pstate`, called `cpsr` by stubs); 0 where there are none.
    pub const FLAGS: usize = 33;
    /// What locates the thread's own storage, where that is no general register.
    pub const THREAD_POINTER: usize = 34;
    /// 1 if that is known.
    pub const HAS_THREAD_POINTER: usize = 35;
}

/// Among the flags of arm: the processor decodes T32 (Arm Architecture Reference Manual, B1.3.3).
const THUMB: u64 = 1 << 5;
/// The same on M profiles, where it is always set.
const THUMB_OF_M: u64 = 1 << 24;
/// How far a conditional block has been executed (`IT`).
const BLOCK: u64 = 0b11 << 25 | 0b11_1111 << 10;

/// A thread's general registers, segment registers and system call number (`orig_rax`), in the kernel's layout.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(from = "[u64; REGISTER_WORDS]", into = "[u64; REGISTER_WORDS]")]
pub struct UserRegisters([u64; MOST_WORDS], Machine);

impl From<[u64; REGISTER_WORDS]> for UserRegisters {
    fn from(words: [u64; REGISTER_WORDS]) -> UserRegisters {
        UserRegisters::from_words(words)
    }
}

impl From<UserRegisters> for [u64; REGISTER_WORDS] {
    fn from(registers: UserRegisters) -> [u64; REGISTER_WORDS] {
        registers.to_words()
    }
}

impl std::fmt::Debug for UserRegisters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (pc, sp) = (self.pc().0, self.sp());
        write!(f, "UserRegisters {{ pc: {pc:#x}, sp: {sp:#x} }}")
    }
}

impl UserRegisters {
    /// All are 0.
    pub const fn of(machine: Machine) -> UserRegisters {
        UserRegisters([0; MOST_WORDS], machine)
    }

    /// Whose registers these are.
    pub const fn machine(&self) -> Machine {
        self.1
    }

    /// The word of a register by its DWARF number; `None` if there is none with that number.
    fn place(&self, number: u16) -> Option<usize> {
        let slot = self.1.slot(number)?;
        match self.1 {
            Machine::X86_64 => GENERAL.get(slot).copied(),
            _ => Some(slot),
        }
    }

    fn word(&self, number: u16) -> u64 {
        self.place(number).map_or(0, |place| self.0[place])
    }

    /// The instruction pointer.
    pub fn pc(&self) -> Address {
        Address(self.word(self.1.pc()))
    }

    /// The stack pointer.
    pub fn sp(&self) -> u64 {
        self.word(self.1.sp())
    }

    /// Sets the instruction pointer.
    pub fn set_pc(&mut self, pc: Address) {
        self.set(self.1.pc(), pc.0);
    }

    /// The integer or pointer that a function was called with, at whose first instruction the thread is. `None`: it is on the stack.
    pub fn argument(&self, index: usize) -> Option<u64> {
        let number = self.1.arguments().get(index)?;
        Some(self.word(*number))
    }

    /// The integer or pointer that the function has returned from which the thread has just come.
    pub fn result(&self) -> u64 {
        self.word(self.1.results()[0])
    }

    /// A word of another machine than x86-64 ([`others`]).
    pub fn other(&self, index: usize) -> u64 {
        match self.1 {
            Machine::X86_64 => 0,
            _ => self.0.get(index).copied().unwrap_or(0),
        }
    }

    /// Sets a word of another machine than x86-64 ([`others`]).
    pub fn set_other(&mut self, index: usize, value: u64) {
        if self.1 != Machine::X86_64
            && let Some(word) = self.0.get_mut(index)
        {
            *word = value;
        }
    }

    fn is_x86(&self) -> bool {
        self.1 == Machine::X86_64
    }

    /// Moves a thread back to the breakpoint instruction at `trap` that it has executed, or to where else it goes on. A mark is left until it
    /// has executed an instruction: the resume flag (RF, Intel SDM vol. 3, 18.3.1.1), which means nothing for the program, and by which a
    /// [`trap_handler`](crate::trap_handler) sees that the thread is where it is to go on.
    pub fn set_back(&mut self, trap: Address) {
        self.set_pc(trap);
        if self.is_x86() {
            self.0[word::EFLAGS] |= RESUME;
        }
    }

    /// The instruction set by which the processor decodes.
    pub fn instruction_set(&self) -> InstructionSet {
        match self.1 {
            Machine::Arm if self.flags() & (THUMB | THUMB_OF_M) != 0 => InstructionSet::Thumb,
            machine => machine.into(),
        }
    }

    /// The state of the block of instructions that `it` has made conditional, ITSTATE in Arm's manual: the condition of the next one in the upper four
    /// bits. 0: the thread is in none.
    pub fn conditional_block(&self) -> u32 {
        match self.1 {
            Machine::Arm => (self.flags() >> 8 & 0xfc | self.flags() >> 25 & 3) as u32,
            _ => 0,
        }
    }

    /// Has an arm processor decode by the instruction set at its program counter. Those with an M profile have only one.
    pub fn set_instruction_set(&mut self, set: InstructionSet) {
        let flags = self.other(others::FLAGS);
        if self.1 != Machine::Arm {
            return;
        }
        let flags = match (flags & THUMB_OF_M, set) {
            (0, InstructionSet::Thumb) => flags & !BLOCK | THUMB,
            (0, _) => flags & !BLOCK & !THUMB,
            _ => flags & !BLOCK,
        };
        self.set_other(others::FLAGS, flags);
    }

    /// Sets the stack pointer.
    pub fn set_sp(&mut self, sp: u64) {
        self.set(self.1.sp(), sp);
    }

    /// Sets `rcx`, which `loop` and `jrcxz` count with.
    pub fn set_count(&mut self, count: u64) {
        self.0[word::RCX] = count;
    }

    /// The flags. The resume flag is 0: the program can't see it, and the debugger may have set it ([`UserRegisters::set_back`]).
    pub fn flags(&self) -> u64 {
        match self.is_x86() {
            true => self.0[word::EFLAGS] & !RESUME,
            false => self.0[others::FLAGS],
        }
    }

    /// Sets the flags.
    pub fn set_flags(&mut self, flags: u64) {
        match self.is_x86() {
            true => self.0[word::EFLAGS] = flags,
            false => self.0[others::FLAGS] = flags,
        }
    }

    /// The segment registers and bases, by name.
    pub fn segments(&self) -> [(&'static str, u64); 8] {
        let r = &self.0;
        [
            ("cs", r[word::CS]),
            ("ss", r[word::SS]),
            ("ds", r[word::DS]),
            ("es", r[word::ES]),
            ("fs", r[word::FS]),
            ("gs", r[word::GS]),
            ("fs_base", r[word::FS_BASE]),
            ("gs_base", r[word::GS_BASE]),
        ]
    }

    /// Makes the kernel forget a system call that the thread is in, so that it neither restarts the call nor changes the instruction
    /// pointer.
    pub fn forget_system_call(&mut self) {
        if self.is_x86() {
            self.0[word::ORIG_RAX] = u64::MAX;
        }
    }

    /// Sets a system call's number and first argument.
    pub fn set_call(&mut self, number: u64, argument: u64) {
        self.0[word::RAX] = number;
        self.0[word::RDI] = argument;
    }

    /// Sets the registers for a call of the function at `code`: at most six integer arguments, and the number of vector registers used for
    /// arguments. The thread leaves any system call.
    pub fn begin_function(&mut self, code: Address, sp: u64, integers: &[u64], vectors: u64) {
        /// The direction flag, which must be clear at a function's entry, and the trap flag.
        const FLAGS: u64 = 1 << 10 | 1 << 8;
        self.forget_system_call();
        self.set_pc(code);
        self.set_sp(sp);
        if self.is_x86() {
            self.0[word::RAX] = vectors;
            self.0[word::EFLAGS] &= !FLAGS;
        }
        for (number, value) in self.1.arguments().iter().zip(integers) {
            self.set(*number, *value);
        }
    }

    /// Where the function returns to that [`UserRegisters::begin_function`] is for, and where its caller has made `room` for a result in memory. On
    /// x86-64, both are passed otherwise.
    pub fn set_return_to(&mut self, back: Address, room: Option<Address>) {
        /// The register for the address of a result in memory (Procedure Call Standard for the Arm 64-bit Architecture, §6.9). On the others it
        /// is the first argument.
        const X8: u16 = 8;
        if let Some(link) = self.1.link() {
            self.set(link, back.0);
        }
        if let (Machine::Aarch64, Some(room)) = (self.1, room) {
            self.set(X8, room.0);
        }
    }

    /// Whether the kernel will continue an interrupted system call through restart_syscall(2) (`-ERESTART_RESTARTBLOCK`). Any other system call
    /// of the thread would cancel that.
    pub fn goes_on_with_system_call(&self) -> bool {
        const RESTART_BLOCK: i64 = -516;
        self.is_x86()
            && self.0[word::ORIG_RAX].cast_signed() >= 0
            && self.0[word::RAX].cast_signed() == RESTART_BLOCK
    }

    /// Makes the kernel repeat the system call from its start instead of through restart_syscall(2).
    pub fn restart_anew(&mut self) {
        const RESTART: i64 = -514;
        if self.goes_on_with_system_call() {
            self.0[word::RAX] = RESTART.cast_unsigned();
        }
    }

    /// If the thread was interrupted in a system call that would be restarted: moves it back to the `syscall` instruction, so that it calls
    /// again from the start. For a thread whose kernel state knows nothing of that call.
    pub fn call_again(&mut self) {
        /// The size of the instruction.
        const SYSCALL: u64 = 2;
        if self.restarts_system_call() {
            self.0[word::RAX] = self.0[word::ORIG_RAX];
            self.0[word::RIP] = self.0[word::RIP].wrapping_sub(SYSCALL);
            self.forget_system_call();
        }
    }

    /// Sets a register in which a caller passes something ([`GIVEN`](crate::instructions::GIVEN)), by iced's name; ignores others.
    pub fn set_argument(&mut self, register: Register, value: u64) {
        let r = &mut self.0;
        let place = match register {
            Register::RDI => word::RDI,
            Register::RSI => word::RSI,
            Register::RDX => word::RDX,
            Register::RCX => word::RCX,
            Register::R8 => word::R8,
            Register::R9 => word::R9,
            Register::RAX => word::RAX,
            Register::R10 => word::R10,
            _ => return,
        };
        r[place] = value;
    }

    /// Moves the thread to the `syscall` instruction at `site`, with the registers of a call with this number and these arguments.
    pub fn set_call_at(&mut self, site: Address, number: i64, arguments: [u64; 6]) {
        self.forget_system_call();
        self.0[word::RIP] = site.0;
        self.0[word::RAX] = number.cast_unsigned();
        for (place, argument) in ARGUMENTS.into_iter().zip(arguments) {
            self.0[place] = argument;
        }
    }

    /// Whether the thread may be in a system call that goes on: the result is what the kernel sets before a call (`-ENOSYS`).
    pub fn may_be_calling(&self) -> bool {
        const UNKNOWN: i64 = -38;
        self.is_x86()
            && self.0[word::ORIG_RAX].cast_signed() >= 0
            && self.0[word::RAX].cast_signed() == UNKNOWN
    }

    /// Whether the thread is in this system call, or was when it was interrupted.
    pub fn is_in_call(&self, number: i64) -> bool {
        self.is_x86() && self.0[word::ORIG_RAX].cast_signed() == number
    }

    /// The number and the arguments of the system call that the thread is in, or was in when it was interrupted.
    pub fn system_call(&self) -> (u64, [u64; 6]) {
        (self.0[word::ORIG_RAX], ARGUMENTS.map(|place| self.0[place]))
    }

    /// What a system call and the program behind it depend on, at the call's entry: all but where the instruction is (also in `rcx`) and the flags
    /// (also in `r11`).
    pub fn of_call(&self) -> impl Iterator<Item = u64> {
        const OTHERS: [usize; 4] = [word::RIP, word::RCX, word::EFLAGS, word::R11];
        let words = self.0.into_iter().enumerate();
        words.filter_map(|(at, word)| (!OTHERS.contains(&at)).then_some(word))
    }

    /// Whether a thread with these registers runs on as one with those: all are the same but what only the kernel knows of (a system call that
    /// was made, the resume flag). `is_at_call`: they are at a system call's instruction, which overwrites two of them first (`syscall` saves
    /// the next address in RCX and the flags in R11). A thread that was there before, and is to make its call again, has them overwritten already.
    pub fn runs_on_as(&self, other: &UserRegisters, is_at_call: bool) -> bool {
        let words = |registers: &UserRegisters| {
            let mut words = registers.0;
            words[word::ORIG_RAX] = 0;
            words[word::EFLAGS] &= !RESUME;
            if is_at_call {
                (words[word::RCX], words[word::R11]) = (0, 0);
            }
            words
        };
        self.1 == other.1 && words(self) == words(other)
    }

    /// Behind a system call that was made elsewhere: `syscall` has left the address behind itself there, `elsewhere`, in RCX. Sets RCX to the one
    /// behind the original, `here`. Does nothing if that is done, or if another instruction was executed.
    pub fn leave_system_call(&mut self, elsewhere: Address, here: Address) {
        if self.is_x86() && self.0[word::RCX] == elsewhere.0 {
            self.0[word::RCX] = here.0;
        }
    }

    /// Sets the arguments of a system call that the thread is about to make, is at the entry of, or has made.
    pub fn set_arguments(&mut self, arguments: [u64; 6]) {
        for (place, argument) in ARGUMENTS.into_iter().zip(arguments) {
            self.0[place] = argument;
        }
    }

    /// At the exit of a system call: sets its result. `number`: the call, which the kernel restarts if the result says so and a signal is
    /// delivered.
    pub fn set_answer(&mut self, answer: i64, number: u64) {
        self.0[word::RAX] = answer.cast_unsigned();
        self.0[word::ORIG_RAX] = number;
    }

    /// Sets the result of an instruction that reads the processor's time (`rdtsc`, `rdtscp`: with `processor`), and moves the thread behind it.
    pub fn set_time(&mut self, time: u64, processor: Option<u32>) {
        const LOW: u64 = 0xffff_ffff;
        self.0[word::RAX] = time & LOW;
        self.0[word::RDX] = time >> 32;
        let mut size = 2;
        if let Some(processor) = processor {
            self.0[word::RCX] = processor.into();
            size = 3;
        }
        self.0[word::RIP] = self.0[word::RIP].wrapping_add(size);
    }

    /// The first three arguments of the system call that the thread is in, or was in when it was interrupted.
    pub fn call_arguments(&self) -> [u64; 3] {
        [self.0[word::RDI], self.0[word::RSI], self.0[word::RDX]]
    }

    /// The result of a system call.
    pub fn answer(&self) -> i64 {
        self.0[word::RAX].cast_signed()
    }

    /// All registers in the kernel's layout of x86-64.
    pub fn to_words(self) -> [u64; REGISTER_WORDS] {
        self.0.first_chunk().copied().unwrap_or([0; REGISTER_WORDS])
    }

    /// Takes registers in the kernel's layout of x86-64.
    pub fn from_words(words: [u64; REGISTER_WORDS]) -> UserRegisters {
        let mut all = [0; MOST_WORDS];
        all[..REGISTER_WORDS].copy_from_slice(&words);
        UserRegisters(all, Machine::X86_64)
    }

    /// Takes the instruction and stack pointers and the callee-saved registers from a frame. Those that the frame doesn't know stay as they are.
    pub fn set_kept(&mut self, frame: &Registers) {
        let machine = self.1;
        let link = machine.link();
        for number in machine
            .callee_saved()
            .chain([machine.sp(), machine.pc()])
            .chain(link)
        {
            if let Some(value) = frame.get(number) {
                self.set(number, value);
            }
        }
    }

    /// Sets a general register or the instruction pointer by its DWARF number. Returns `false` if there is none with that number.
    pub fn set(&mut self, number: u16, value: u64) -> bool {
        let place = self.place(number);
        place.map(|place| self.0[place] = value).is_some()
    }

    /// As the thread will go on if the kernel restarts a system call: in front of the call's instruction, with the call's number.
    pub fn restart_call(&mut self) {
        /// The result that makes the kernel go on by `restart_syscall`, and that call's number (Linux, `errno.h` and `syscall_64.tbl`).
        const BY_BLOCK: i64 = -516;
        const RESTART_SYSCALL: u64 = 219;
        let is_by_block = self.restarts_system_call() && self.answer() == BY_BLOCK;
        self.call_again();
        if is_by_block {
            self.0[word::RAX] = RESTART_SYSCALL;
        }
    }

    /// Whether the kernel will restart an interrupted system call when the thread continues (its result is one of `-ERESTART…`).
    pub fn restarts_system_call(&self) -> bool {
        const RESTARTS: [i64; 4] = [-512, -513, -514, -516];
        self.is_x86()
            && self.0[word::ORIG_RAX].cast_signed() >= 0
            && RESTARTS.contains(&self.0[word::RAX].cast_signed())
    }

    /// A 64-bit general register, the instruction pointer, or a segment's base, by iced's name; `None` for others.
    pub fn get(&self, register: Register) -> Option<u64> {
        if !self.is_x86() {
            return None;
        }
        let r = &self.0;
        Some(match register {
            Register::RAX => r[word::RAX],
            Register::RBX => r[word::RBX],
            Register::RCX => r[word::RCX],
            Register::RDX => r[word::RDX],
            Register::RSI => r[word::RSI],
            Register::RDI => r[word::RDI],
            Register::RBP => r[word::RBP],
            Register::RSP => r[word::RSP],
            Register::R8 => r[word::R8],
            Register::R9 => r[word::R9],
            Register::R10 => r[word::R10],
            Register::R11 => r[word::R11],
            Register::R12 => r[word::R12],
            Register::R13 => r[word::R13],
            Register::R14 => r[word::R14],
            Register::R15 => r[word::R15],
            Register::RIP => r[word::RIP],
            Register::FS => r[word::FS_BASE],
            Register::GS => r[word::GS_BASE],
            Register::CS | Register::DS | Register::ES | Register::SS => 0,
            _ => return None,
        })
    }

    /// The same registers by their DWARF numbers.
    pub fn to_dwarf(self) -> Registers {
        let machine = self.1;
        let mut registers = Registers::of(machine);
        for number in machine.general().chain([machine.pc()]) {
            registers.set(number, Some(self.word(number)));
        }
        let thread_pointer = match machine {
            Machine::X86_64 => Some(self.0[word::FS_BASE]),
            _ if machine.general().contains(&machine.thread_pointer()) => return registers,
            _ => Some(self.0[others::THREAD_POINTER])
                .filter(|_| self.0[others::HAS_THREAD_POINTER] == 1),
        };
        registers.set_thread_pointer(thread_pointer);
        registers
    }
}
