//! What the kernel says of a signal.

/// What `siginfo_t` says (sigaction(2)). Which of its union's fields mean something depends on the signal and its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SignalInfo {
    /// `si_signo`.
    pub number: i32,
    /// `si_code`: above 0 the kernel's reason, else how a program sent it.
    pub code: i32,
    /// `si_addr`, of meaning for faults only.
    pub address: u64,
    /// `si_pid` of a signal that was sent, and of SIGCHLD.
    pub sender: i32,
    /// `si_status` of SIGCHLD, the low half of `si_value` of a queued one.
    pub status: i32,
    /// `si_syscall` of SIGSYS.
    pub system_call: i32,
}
