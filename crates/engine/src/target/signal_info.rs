//! What the kernel says of a signal.

/// What `siginfo_t` says (sigaction(2)). Which of its union's fields mean something depends on the signal and its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SignalInfo {
    /// `si_signo`.
    pub(crate) number: i32,
    /// `si_code`: above 0 the kernel's reason, else how a program sent it.
    pub(crate) code: i32,
    /// `si_addr`, of meaning for faults only.
    pub(crate) address: u64,
    /// `si_pid` of a signal that was sent, and of SIGCHLD.
    pub(crate) sender: i32,
    /// `si_status` of SIGCHLD, the low half of `si_value` of a queued one.
    pub(crate) status: i32,
    /// `si_syscall` of SIGSYS.
    pub(crate) system_call: i32,
}
