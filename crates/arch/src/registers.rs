//! The registers of a thread or a frame, by their DWARF numbers (ABI figure 3.36).

pub mod described;
pub mod extended;
pub mod named;
pub mod shown;
pub mod user;

use crate::Address;

/// How many numbered registers a frame has: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8–r15, rip.
pub const COUNT: usize = 17;

/// Register values of a frame. `None`: the value is unknown, because no inner frame saved the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    values: [Option<u64>; COUNT],
    fs_base: Option<u64>,
}

/// DWARF number of the stack pointer.
pub const SP: u16 = 7;
/// DWARF number of the frame pointer.
pub const FP: u16 = 6;
/// DWARF number of the return address column: the caller's instruction pointer.
pub const PC: u16 = 16;
/// DWARF number of the base of the `fs` segment, which locates thread-local storage.
pub const FS_BASE: u16 = 58;

/// Names by DWARF number.
pub const NAMES: [&str; COUNT] = [
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "rip",
];

impl Registers {
    /// The register's value; `None` if it is unknown or there is no such number.
    pub fn get(&self, number: u16) -> Option<u64> {
        if number == FS_BASE {
            return self.fs_base;
        }
        self.values.get(usize::from(number)).copied().flatten()
    }

    /// Sets a register, also [`FS_BASE`], or marks it as unknown. Numbers out of range are ignored.
    pub fn set(&mut self, number: u16, value: Option<u64>) {
        if number == FS_BASE {
            self.fs_base = value;
        }
        if let Some(slot) = self.values.get_mut(usize::from(number)) {
            *slot = value;
        }
    }

    /// The instruction pointer.
    pub fn pc(&self) -> Option<Address> {
        self.get(PC).map(Address)
    }

    /// The stack pointer.
    pub fn sp(&self) -> Option<Address> {
        self.get(SP).map(Address)
    }
}
