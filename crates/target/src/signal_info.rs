//! The kernel's description of a signal.

use crate::signals::is_fault;
use serde::{Deserialize, Serialize};

/// The fields of `siginfo_t` (sigaction(2)). Some share storage in a union: the signal and its code determine which of them are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SignalInfo {
    /// `si_signo`.
    pub number: i32,
    /// `si_code`: positive if the kernel raised the signal, otherwise how a program sent it.
    pub code: i32,
    /// `si_addr`, valid for faults only.
    pub address: u64,
    /// `si_pid`, valid for a signal that a process sent, and for SIGCHLD.
    pub sender: i32,
    /// `si_status` of SIGCHLD, or the low half of a queued signal's `si_value`.
    pub status: i32,
    /// `si_syscall` of SIGSYS.
    pub system_call: i32,
}

/// The complete `siginfo_t` of the signal at whose delivery a thread is stopped. Its addresses are the debuggee's.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct WholeSignal(pub(crate) [u64; 16]);

impl WholeSignal {
    /// `si_signo`.
    pub fn number(&self) -> i32 {
        self.0[0] as i32
    }

    /// Whether an instruction of the thread has raised it (a fault, a breakpoint, a step), and not another process or a timer.
    pub fn is_of_instruction(&self) -> bool {
        let code = self.0[1] as i32;
        let number = self.number();
        code > 0 && (is_fault(number) || number == libc::SIGTRAP)
    }
}

impl std::fmt::Debug for WholeSignal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("WholeSignal").field(&self.number()).finish()
    }
}
