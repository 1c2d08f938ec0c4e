//! Recording a process, and running it again from a checkpoint.
//!
//! What a program does depends only on its state, on which of its threads runs when, and on what comes from outside: the results of system calls
//! and what they write, signals, the processor's time. A [`Recorder`] keeps that in a [`Journal`] while the program runs. A [`Replayer`] lets a checkpoint run, and gives it the
//! same from the journal: nothing happens outside, no file is written twice. Calls that change the copy itself (its memory map, its signal
//! handlers) are made again.
//!
//! What the journal doesn't hold must not reach the program: [`start`] hides the code of the kernel that reads clocks without a system call
//! (the vDSO), and makes instructions trap that read the processor's time; `midway` does so in a process that has run already.

mod beginning;
pub mod file;
pub mod journal;
mod midway;
mod processor;
pub mod recorder;
pub mod replayer;
pub mod run;
pub mod start;
mod together;
mod turns;

pub use journal::Journal;
pub use recorder::Recorder;
pub use replayer::{Replayer, Tried};
pub(super) use together::Together;

use crate::ThreadId;
use crate::linux::memory::ProcessMemory;
use crate::linux::monotonic::Monotonic;
use crate::linux::{process, ptrace};
use dapple_arch::instructions::SYSCALL;
use std::time::Duration;

/// Whether the next instruction of a stopped thread is a system call.
fn is_at_call(thread: ThreadId, memory: &ProcessMemory) -> bool {
    let mut code = [0; SYSCALL.len()];
    ptrace::registers(thread)
        .is_ok_and(|registers| memory.read(registers.pc(), &mut code).is_ok() && code == SYSCALL)
}

/// Whether a system call ends its thread, and no more.
fn is_stopping_call(number: u64) -> bool {
    number == libc::SYS_exit.cast_unsigned()
}

/// Waits until a thread that ends has done what others can see of that.
fn wait_for_end(thread: ThreadId) {
    const LONGEST: Duration = Duration::from_millis(100);
    let since = Monotonic::now();
    while process::runs(thread) && since.elapsed() < LONGEST {
        std::thread::yield_now();
    }
}
