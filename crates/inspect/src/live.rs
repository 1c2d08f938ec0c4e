//! State of a live process that takes system calls to read, so that it is read only when needed.

use crate::ThreadId;
use dapple_arch::registers::user::UserRegisters;
use std::time::Duration;

/// Reads the registers that frames don't store, and other state. Call only when the result is needed: each call takes system calls.
pub trait Live {
    /// A thread's registers in the kernel's layout, and its extended state (XSAVE). `None`: they can't be read.
    fn of(&self, thread: ThreadId) -> Option<(UserRegisters, Vec<u8>)>;
    /// A number that differs whenever memory may have changed. `None`: unknown, as while threads run, which may change memory during a
    /// read.
    fn memory_stamp(&self) -> Option<u64> {
        None
    }
    /// The thread pointers (`fs_base`) of at most `_most` threads. The first thread's comes first.
    fn thread_pointers(&self, _most: usize) -> Vec<(ThreadId, u64)> {
        Vec::new()
    }
    /// The present time of `CLOCK_MONOTONIC` in the process. `None`: the process is not alive.
    fn monotonic_time(&self) -> Option<Duration> {
        None
    }
}
