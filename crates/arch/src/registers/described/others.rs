//! The registers of target descriptions of machines other than x86-64 (gdb manual, "AArch64 Features": `org.gnu.gdb.aarch64.core`, `.fpu`, `.tls`;
//! "RISC-V Features": `org.gnu.gdb.riscv.cpu`, `.fpu`; "ARM Features": `org.gnu.gdb.arm.core`, `.m-profile`, `.vfp`).

use crate::Machine;
use crate::registers::state::{FIRST_CONTROL, controls};
use crate::registers::user::others::{FLAGS, THREAD_POINTER};

/// The general registers with their words in [`UserRegisters`](crate::registers::user::UserRegisters).
pub fn general(machine: Machine) -> Vec<(&'static str, usize)> {
    let mut all: Vec<_> = { machine.names().iter().copied() }.zip(0..).collect();
    match machine {
        // QEMU's name is that of Arm's manual.
        Machine::Aarch64 => all.extend([
            ("cpsr", FLAGS),
            ("tpidr", THREAD_POINTER),
            ("TPIDR_EL0", THREAD_POINTER),
        ]),
        // Of those with an M profile, they have another name.
        Machine::Arm => all.extend([
            ("cpsr", FLAGS),
            ("xpsr", FLAGS),
            ("TPIDRURO", THREAD_POINTER),
        ]),
        Machine::X86_64 | Machine::Riscv64 => {}
    }
    all
}

/// The registers for floating-point numbers and vectors and their words of control, by the numbers of
/// [`registers::state`](crate::registers::state).
pub fn extended(machine: Machine) -> Vec<(String, u16)> {
    let vectors = machine.vectors();
    let first = vectors.start;
    let vectors = vectors.map(|number| (machine.vector_name(number - first), number));
    let controls = (FIRST_CONTROL..).zip(controls(machine));
    let controls = controls.map(|(number, (name, _))| ((*name).to_owned(), number));
    vectors.chain(controls).collect()
}
