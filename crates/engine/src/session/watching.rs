//! Data breakpoints.

use super::Session;
use crate::Error;
pub use crate::breakpoints::data::{
    Access, DataBreakpoint, DataBreakpointState, DataHit, DataPlace, DataRefusal, DataTarget,
    FrameOnStack, WatchedData,
};
pub use dapple_symbols::functions::Language;

impl Session {
    /// Finds data that can be watched: `length` bytes, or as many as its type has. Works only while a thread is stopped.
    ///
    /// # Errors
    /// [`Error::Expression`] with the reason why the data can't be watched; [`Error::NotStopped`], [`Error::StaleFrame`], [`Error::Ended`].
    pub fn data_target(&self, place: DataPlace, length: Option<u64>) -> Result<DataTarget, Error> {
        self.ask(move |owner| owner.data_target(place, length))?
    }

    /// Replaces all data breakpoints; the answer has one entry for each, in order. Works while running. They apply to every thread,
    /// also to those that begin later, but not to child processes.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_data_breakpoints(
        &self,
        wanted: Vec<DataBreakpoint>,
    ) -> Result<Vec<DataBreakpointState>, Error> {
        self.ask(move |owner| owner.set_data_breakpoints(wanted))
    }
}
