//! The processor that this program runs on.

use dapple_arch::processor::Processor;
use std::arch::x86_64::CpuidResult;

/// What programs see of it.
pub(super) fn present() -> Processor {
    Processor::answering(&ask)
}

// Newer compilers know that the instruction is safe.
#[allow(unused_unsafe)]
fn ask(leaf: u32, subleaf: u32) -> CpuidResult {
    // SAFETY: all processors of this architecture have the instruction, which only writes registers.
    unsafe { std::arch::x86_64::__cpuid_count(leaf, subleaf) }
}
