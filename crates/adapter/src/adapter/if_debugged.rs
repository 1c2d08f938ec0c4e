//! What a client may ask for at any time, and only a program that is debugged has: breakpoints of all kinds.

use crate::adapter::Adapter;
use crate::handlers::NO_DEBUG;
use crate::to_dap::OrFail;
use dapple_dap::server::Failure;
use dapple_engine::{Error, Session};

/// Why nothing can be set before the launch.
const NO_PROGRAM: &str = "no program is running";

impl Adapter {
    /// Has the engine run a command if there is a live program that is debugged. The inner error: why there is none, for answers that
    /// leave what was asked for pending.
    ///
    /// # Errors
    /// The engine's, but for those that say that the program has ended.
    pub fn if_debugged<T>(
        &self,
        command: impl FnOnce(&Session) -> Result<T, Error>,
    ) -> Result<Result<T, String>, Failure> {
        if self.no_debug {
            return Ok(Err(NO_DEBUG.to_owned()));
        }
        let Some(debuggee) = &self.debuggee else {
            return Ok(Err(NO_PROGRAM.to_owned()));
        };
        match command(debuggee) {
            Err(error @ (Error::Ended | Error::PostMortem)) => Ok(Err(error.to_string())),
            answer => answer.or_fail().map(Ok),
        }
    }
}
