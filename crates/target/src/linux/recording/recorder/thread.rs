//! What is kept of a thread that is recorded.

use crate::ThreadId;
use crate::linux::checkpoint::Original;
use crate::linux::system_calls::Call;
use crate::process::Resume;
use crate::signal_info::WholeSignal;
use dapple_arch::registers::user::UserRegisters;
use std::collections::VecDeque;

/// A thread that is recorded.
#[derive(Debug)]
pub(super) struct Recorded {
    /// What a checkpoint needs of it.
    pub(super) original: Original,
    /// The system call that it is in.
    pub(super) within: Option<Within>,
    /// The system call that was interrupted, and goes on with restart_syscall(2).
    pub(super) interrupted: Option<Call>,
    /// How far it runs.
    pub(super) how: Resume,
    /// It runs for one instruction, which is a system call.
    pub(super) steps_over_call: bool,
    /// Its last step was one over an instruction that was executed here, so that the kernel knows nothing of a step.
    pub(super) feigned_step: bool,
    /// Its registers behind the last system call: there, a signal can be delivered again.
    pub(super) behind_call: Option<UserRegisters>,
    /// Signals that have come elsewhere, and wait for the next system call.
    pub(super) held: VecDeque<WholeSignal>,
    /// The signal that was sent again for its delivery.
    pub(super) sent_again: Option<WholeSignal>,
    /// The signal that is to be delivered in its next turn; 0: none.
    pub(super) signal: i32,
    /// It has run code since it was last taken note of.
    pub(super) has_run: bool,
    /// It was asked to stop, and hasn't yet.
    pub(super) is_to_stop: bool,
    /// The thread that it has made in the present system call.
    pub(super) made: Option<ThreadId>,
}

/// A system call that was entered.
#[derive(Debug)]
pub(super) struct Within {
    pub(super) call: Call,
    /// Stands for the registers.
    pub(super) registers: u64,
    /// It isn't made: the program is told this error, or for 0 that it is done.
    pub(super) refused: Option<i32>,
    /// It may take long, and others may run meanwhile.
    pub(super) is_long: bool,
}

impl Recorded {
    /// A thread that is stopped.
    pub(super) fn new(original: Original) -> Recorded {
        Recorded {
            original,
            within: None,
            interrupted: None,
            how: Resume::Continue,
            steps_over_call: false,
            feigned_step: false,
            behind_call: None,
            held: VecDeque::new(),
            sent_again: None,
            signal: 0,
            has_run: false,
            is_to_stop: false,
            made: None,
        }
    }
}
