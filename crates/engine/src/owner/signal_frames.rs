//! What a signal's frame has that isn't the program's own: it may be different when the program runs again.
//!
//! The frame tells of the thread's last exception, which in a copy may be one that a debugger has caused. And it has the floating-point and
//! vector registers, of which the kernel writes only those that the processor knows to be in use: whether it does, depends on when the thread
//! was last interrupted.

use crate::Address;
use dapple_arch::trap_handler::{
    OF_LAST_EXCEPTION, OF_VECTORS, UP_TO_SEGMENTS, VECTORS_ABOVE, VECTORS_ALIGNMENT,
    is_signal_frame, size_of_vectors,
};
use dapple_target::process::Process;

/// Whether 4 bytes are of that kind.
pub(super) fn is_the_kernels(process: &dyn Process, at: Address) -> bool {
    is_of_last_exception(process, at) || is_of_vectors(process, at)
}

fn is_of_last_exception(process: &dyn Process, at: Address) -> bool {
    { OF_LAST_EXCEPTION.iter() }
        .any(|offset| is_context(process, Address((at.0 & !7).wrapping_sub(*offset))))
}

fn is_of_vectors(process: &dyn Process, at: Address) -> bool {
    /// The most that a processor's registers take (AMX has the largest, 8 KiB).
    const MOST: u64 = 12 << 10;
    let last = at.0 & !(VECTORS_ALIGNMENT - 1);
    let first = last.saturating_sub(MOST);
    let mut starts = (first..=last).rev().step_by(VECTORS_ALIGNMENT as usize);
    starts.any(|start| {
        let context = Address(start.wrapping_sub(VECTORS_ABOVE));
        let pointer = Address(context.0.wrapping_add(OF_VECTORS));
        let (mut word, mut area) = ([0; 8], [0; 512]);
        process.read(pointer, &mut word).is_ok()
            && u64::from_le_bytes(word) == start
            && is_context(process, context)
            && process.read(Address(start), &mut area).is_ok()
            && at.0 - start < size_of_vectors(&area)
    })
}

/// Whether a signal handler's context begins there.
fn is_context(process: &dyn Process, at: Address) -> bool {
    let mut context = [0; UP_TO_SEGMENTS];
    process.read(at, &mut context).is_ok() && is_signal_frame(&context)
}
