//! Whether a process has a handler of SIGTRAP from the debugger.

use dapple_target::linux::trap_handler::TrapHandler;

/// The handler in a process's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Handling {
    /// The process was not yet given one.
    #[default]
    Untried,
    /// The process can't have one.
    Impossible,
    Installed(TrapHandler),
}
