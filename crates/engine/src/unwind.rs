//! From one frame to its caller.

use crate::frame::PhysicalFrame;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::registers::Registers;

/// The innermost frame of a thread with these registers.
pub fn innermost(registers: Registers, modules: &Modules, memory: &dyn Memory) -> PhysicalFrame {
    let _ = (registers, modules, memory);
    unimplemented!()
}

/// The caller's frame; `None` at the end of the stack or where it can't be followed (never loops: the CFA must grow).
pub fn caller(
    frame: &PhysicalFrame,
    modules: &Modules,
    memory: &dyn Memory,
) -> Option<PhysicalFrame> {
    let _ = (frame, modules, memory);
    unimplemented!()
}
