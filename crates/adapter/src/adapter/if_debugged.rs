//! Commands that a client may send at any time, though only a live debuggee can carry them out: breakpoints of all kinds.

use crate::adapter::Adapter;
use crate::breakpoints::Wanted;
use crate::handlers::NO_DEBUG;
use crate::to_dap::OrFail;
use dapple_dap::server::Failure;
use dapple_engine::session::BreakpointState;
use dapple_engine::{Error, Session};

/// The message of pending breakpoints before the launch, and after the program's end.
const NO_PROGRAM: &str = "no program is running";

impl Adapter {
    /// Runs a command if there is a live debuggee. The inner error says why there is none, as the message of pending breakpoints.
    ///
    /// # Errors
    /// Those of the engine, except for [`Error::Ended`] and [`Error::PostMortem`], which are inner errors.
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

    /// Replaces the engine's breakpoints of one kind by `wanted`, line breakpoints only in one file, at the launch or later. Maps the
    /// engine's ids to the client's. `set` is the engine's command. With an inner error, which is as in [`Adapter::if_debugged`], nothing
    /// is set.
    ///
    /// # Errors
    /// As [`Adapter::if_debugged`].
    pub fn set_wanted<T: Clone>(
        &mut self,
        wanted: &[Wanted<T>],
        set: impl FnOnce(&Session, Vec<T>) -> Result<Vec<BreakpointState>, Error>,
    ) -> Result<Result<Vec<BreakpointState>, String>, Failure> {
        let what = wanted.iter().map(|wanted| wanted.what.clone()).collect();
        let states = self.if_debugged(|debuggee| set(debuggee, what))?;
        for (state, wanted) in states.iter().flatten().zip(wanted) {
            self.breakpoints.bind(state.id, wanted.id);
        }
        Ok(states)
    }
}
