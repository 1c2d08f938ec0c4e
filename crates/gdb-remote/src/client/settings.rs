//! What the stub does by itself while the debuggee runs: signals that it passes on, and events that it stops at.

use super::Client;
use crate::error::{Result, Support};
use crate::signal::Signal;
use std::fmt::Write;

/// Which system calls stop the debuggee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syscalls<'a> {
    /// None.
    None,
    /// All.
    All,
    /// Those of these numbers, in the debuggee's system.
    Some(&'a [u64]),
}

impl Client {
    /// Signals that the debuggee receives without a stop (`QPassSignals`), in place of those before.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn pass_signals(&mut self, signals: &[Signal]) -> Result<Support> {
        self.command(format!("QPassSignals:{}", joined(signals)).as_bytes())
    }

    /// Signals that the debuggee may receive at all (`QProgramSignals`), in place of those before. The stub drops others when it detaches.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn program_signals(&mut self, signals: &[Signal]) -> Result<Support> {
        self.command(format!("QProgramSignals:{}", joined(signals)).as_bytes())
    }

    /// System calls that stop the debuggee at their entry and return (`QCatchSyscalls`), in place of those before.
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn catch_syscalls(&mut self, calls: Syscalls<'_>) -> Result<Support> {
        let mut packet = "QCatchSyscalls:".to_owned();
        match calls {
            Syscalls::None => packet.push('0'),
            Syscalls::All => packet.push('1'),
            // An empty list would mean all of them.
            Syscalls::Some([]) => packet.push('0'),
            Syscalls::Some(numbers) => {
                packet.push('1');
                for number in numbers {
                    // Writing to a string cannot fail.
                    let _ = write!(packet, ";{number:x}");
                }
            }
        }
        self.command(packet.as_bytes())
    }

    /// Begins to stop at the creation and the end of threads (`QThreadEvents:1`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn catch_threads(&mut self) -> Result<Support> {
        self.command(b"QThreadEvents:1")
    }

    /// Ends stopping at the creation and the end of threads (`QThreadEvents:0`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::command`].
    pub fn ignore_threads(&mut self) -> Result<Support> {
        self.command(b"QThreadEvents:0")
    }
}

fn joined(signals: &[Signal]) -> String {
    let numbers = signals.iter().map(|it| format!("{:x}", it.number()));
    numbers.collect::<Vec<_>>().join(";")
}
