//! Looking at the past of a recorded program.

pub use crate::owner::travel::StepBack;

use super::Session;
use crate::{Error, ThreadId};

impl Session {
    /// Runs a recorded program backwards, to the last stop before: at a breakpoint, where watched data was written, at a signal, at an exception.
    /// If there was none, that is the beginning of the recording. Ends in an [`crate::Event::Stopped`]. From the past, [`Session::resume`] leads back
    /// to the present, and on from there.
    ///
    /// # Errors
    /// [`Error::Refused`] if the program isn't recorded or this is the beginning; [`Error::NotStopped`], [`Error::NoSuchThread`],
    /// [`Error::Ended`].
    pub fn reverse(&self, thread: ThreadId) -> Result<(), Error> {
        self.ask(move |owner| owner.reverse(thread))?
    }

    /// Steps a thread of a recorded program backwards. Ends in an [`crate::Event::Stopped`].
    ///
    /// # Errors
    /// As [`Session::reverse`]; also if nothing is known of the lines around.
    pub fn step_back(&self, thread: ThreadId, how: StepBack) -> Result<(), Error> {
        self.ask(move |owner| owner.step_back(thread, how))?
    }
}
