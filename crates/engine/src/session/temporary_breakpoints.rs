//! Temporary breakpoints, which stay until a thread has stopped at them: for running to a place.

use super::Session;
use crate::Error;
pub use crate::breakpoints::wanted::{TemporaryBreakpoint, TemporaryPlace, TemporarySet};
use crate::owner::Owner;

impl Session {
    /// Sets a temporary breakpoint, in addition to all others. Works while running, except for one in a frame.
    ///
    /// # Errors
    /// [`Error::Refused`] with the reason why it can't be set; [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn set_temporary_breakpoint(
        &self,
        wanted: TemporaryBreakpoint,
    ) -> Result<TemporarySet, Error> {
        self.ask(move |owner: &mut Owner| owner.set_temporary(wanted))?
    }

    /// Removes a temporary breakpoint; harmless when it is gone.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn remove_temporary_breakpoint(&self, id: i64) -> Result<(), Error> {
        self.ask(move |owner: &mut Owner| owner.remove_temporaries(|other| other == id))
    }
}
