//! What is known of threads only by asking for it: their registers beyond those that frames keep.

use crate::ThreadId;
use dapple_arch::registers::user::UserRegisters;

/// Gives the registers that frames don't keep. They are asked for where one is named: it takes system calls.
pub trait Live {
    /// A thread's registers as the kernel gives them, and its extended state (XSAVE).
    fn of(&self, thread: ThreadId) -> Option<(UserRegisters, Vec<u8>)>;
    /// Another number whenever memory may have changed; `None`: it may change while it is looked at.
    fn memory_stamp(&self) -> Option<u64> {
        None
    }
    /// The thread pointers (`fs_base`) of the first thread and, up to a number, of the others.
    fn thread_pointers(&self, _most: usize) -> Vec<u64> {
        Vec::new()
    }
}
