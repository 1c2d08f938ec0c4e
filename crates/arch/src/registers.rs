//! The registers of a thread or a frame, by their DWARF numbers (for x86-64: ABI figure 3.36).

pub mod described;
pub mod extended;
pub mod named;
pub mod shown;
pub mod state;
pub mod user;

use crate::{Address, Machine};

use crate::machine::MOST;

/// How many numbered registers a frame of x86-64 has: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8–r15, rip.
pub const COUNT: usize = 17;

/// The registers for floating-point numbers and vectors ([`Machine::vectors`]), the lowest 16 bytes of each. Those that a machine doesn't have are 0.
pub type Vectors = [u128; 32];

/// Register values of a frame. An unknown value is one that no inner frame saved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    machine: Machine,
    /// By [`Machine::slot`]; 0 where unknown.
    values: [u64; MOST],
    /// A bit for each that is known.
    known: u64,
    thread_pointer: Option<u64>,
}

impl std::fmt::Debug for Registers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = (0u16..).zip(self.machine.names());
        let named = names.map(|(_, name)| *name);
        let values = named.filter_map(|name| Some((name, self.get(self.machine.named(name)?)?)));
        f.debug_map().entries(values).finish()
    }
}

/// DWARF number of x86-64's stack pointer.
pub const SP: u16 = 7;
/// DWARF number of x86-64's frame pointer.
pub const FP: u16 = 6;
/// DWARF number of x86-64's return address column: the caller's instruction pointer.
pub const PC: u16 = 16;
/// DWARF number of the base of the `fs` segment, which locates thread-local storage.
pub const FS_BASE: u16 = 58;

/// Names by DWARF number.
pub const NAMES: [&str; COUNT] = [
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "rip",
];

impl Registers {
    /// Registers of which none is known.
    pub const fn of(machine: Machine) -> Registers {
        Registers {
            machine,
            values: [0; MOST],
            known: 0,
            thread_pointer: None,
        }
    }

    /// Whose registers these are.
    pub const fn machine(&self) -> Machine {
        self.machine
    }

    /// The register's value; `None` if it is unknown or there is no such number.
    pub fn get(&self, number: u16) -> Option<u64> {
        if number == self.machine.thread_pointer() {
            return self.thread_pointer();
        }
        let slot = self.machine.slot(number)?;
        (self.known >> slot & 1 == 1).then_some(self.values[slot])
    }

    /// Sets a register, also the thread pointer, or marks it as unknown. Numbers out of range are ignored.
    pub fn set(&mut self, number: u16, value: Option<u64>) {
        if number == self.machine.thread_pointer() {
            self.thread_pointer = value;
        }
        if let Some(slot) = self.machine.slot(number) {
            self.values[slot] = value.unwrap_or(0);
            self.known = self.known & !(1 << slot) | u64::from(value.is_some()) << slot;
        }
    }

    /// The instruction pointer.
    pub fn pc(&self) -> Option<Address> {
        self.get(self.machine.pc()).map(Address)
    }

    /// The stack pointer.
    pub fn sp(&self) -> Option<Address> {
        self.get(self.machine.sp()).map(Address)
    }

    /// The frame pointer, in code that keeps one.
    pub fn fp(&self) -> Option<u64> {
        self.get(self.machine.fp())
    }

    /// What locates the thread's own storage ([`Machine::thread_pointer`]).
    pub fn thread_pointer(&self) -> Option<u64> {
        self.thread_pointer
    }

    /// Sets the instruction pointer, or marks it as unknown.
    pub fn set_pc(&mut self, value: Option<u64>) {
        self.set(self.machine.pc(), value);
    }

    /// Sets the stack pointer, or marks it as unknown.
    pub fn set_sp(&mut self, value: Option<u64>) {
        self.set(self.machine.sp(), value);
    }

    /// Sets the frame pointer, or marks it as unknown.
    pub fn set_fp(&mut self, value: Option<u64>) {
        self.set(self.machine.fp(), value);
    }

    /// Sets what locates the thread's own storage.
    pub fn set_thread_pointer(&mut self, value: Option<u64>) {
        self.set(self.machine.thread_pointer(), value);
    }
}
