//! The stop at the beginning of `main` that a launch may ask for (`stopAtEntry`): a temporary breakpoint on that function.

use crate::adapter::Adapter;
use crate::console::say;
use crate::to_dap;
use dapple_dap::server::{Failure, Outbox};
use dapple_engine::Error;
use dapple_engine::session::breakpoints::{TemporaryBreakpoint, TemporaryPlace};

/// The state of the stop at `main`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum MainStop {
    /// No such stop.
    #[default]
    None,
    /// Requested: the breakpoint will be set before the program runs.
    Asked,
    /// The breakpoint was set, with the engine's id.
    Set(i64),
}

impl MainStop {
    /// Whether the breakpoint is among those that a thread has stopped at.
    pub fn is_among(self, engine_ids: &[i64]) -> bool {
        matches!(self, MainStop::Set(id) if engine_ids.contains(&id))
    }
}

impl Adapter {
    /// Sets the breakpoint on `main` if the launch asks for it. Returns `false`, and tells the user, if that can't be done: mostly because there
    /// is no such function.
    ///
    /// # Errors
    /// Other errors of the engine, mostly that the program has ended.
    pub fn set_main_stop(&mut self, outbox: &Outbox) -> Result<bool, Failure> {
        if self.main_stop != MainStop::Asked {
            return Ok(true);
        }
        let place = TemporaryPlace::Function {
            name: "main".to_owned(),
        };
        let set = self
            .debuggee()?
            .set_temporary_breakpoint(TemporaryBreakpoint::at(place));
        match set {
            Ok(set) => self.main_stop = MainStop::Set(set.id),
            Err(Error::Refused(why)) => {
                self.main_stop = MainStop::None;
                say(
                    outbox,
                    &format!(
                        "`stopAtEntry`: {why}; the program is stopped before its first instruction"
                    ),
                );
                return Ok(false);
            }
            Err(error) => return Err(to_dap::failure(&error)),
        }
        Ok(true)
    }
}
