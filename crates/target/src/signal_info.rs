//! The kernel's description of a signal.

use crate::Address;
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
    /// Reads it in the kernel's format. `None`: that is cut short.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<WholeSignal> {
        let (words, _) = bytes.get(..128)?.as_chunks::<8>();
        let mut whole = WholeSignal([0; 16]);
        let places = whole.0.iter_mut().zip(words);
        places.for_each(|(place, word)| *place = u64::from_le_bytes(*word));
        Some(whole)
    }

    /// Writes it in the kernel's format.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Changes `si_addr`.
    pub(crate) fn set_fault_address(&mut self, address: Address) {
        /// Which word that is.
        const ADDRESS: usize = 2;
        self.0[ADDRESS] = address.0;
    }

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
