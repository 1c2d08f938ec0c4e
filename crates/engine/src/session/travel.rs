//! Looking at the past of a recorded program.

pub use crate::owner::bookmarks::{Destination, When};
pub use crate::owner::history::Bookmark;
pub use crate::owner::last_write::{LastWrite, Write, WriteFrame};
pub use crate::owner::step_back::StepBack;

use super::Session;
use crate::breakpoints::data::DataPlace;
use crate::{Error, ThreadId};

impl Session {
    /// Records the program from this stop on, so that it can run backwards up to here.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is recorded already, or can't be; [`Error::NotStopped`], [`Error::Ended`].
    pub fn record_from_here(&self) -> Result<(), Error> {
        self.ask(|owner| owner.record_from_here())?
    }

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

    /// Whether the program can run backwards without a recording of Dapple's own, because a stub replays one. `false` if the session has ended.
    pub fn runs_backwards(&self) -> bool {
        let asked = self.ask(|owner| owner.can_run_backwards());
        asked.unwrap_or(false)
    }

    /// Steps a thread of a recorded program backwards. Ends in an [`crate::Event::Stopped`].
    ///
    /// # Errors
    /// As [`Session::reverse`]; also if nothing is known of the lines around.
    pub fn step_back(&self, thread: ThreadId, how: StepBack) -> Result<(), Error> {
        self.ask(move |owner| owner.step_back(thread, how))?
    }

    /// Finds the last write of data before the present stop, or before the bookmark of a write that was found: `length` bytes, or as many as its
    /// type has. The session shows the same stop afterwards. `cancelled` is polled during the search; `true` ends it.
    ///
    /// # Errors
    /// As [`Session::reverse`]; [`Error::Expression`] with the reason why the data can't be searched for.
    pub fn last_write(
        &self,
        place: DataPlace,
        length: Option<u64>,
        before: Option<u32>,
        cancelled: Option<std::sync::Arc<dyn Fn() -> bool + Send + Sync>>,
    ) -> Result<LastWrite, Error> {
        self.ask(move |owner| owner.last_write(place, length, before, cancelled.as_ref()))?
    }

    /// Where the session is in the history.
    ///
    /// # Errors
    /// [`Error::Refused`] if the program isn't recorded; [`Error::NotStopped`], [`Error::Ended`].
    pub fn when(&self) -> Result<When, Error> {
        self.ask(|owner| owner.when())?
    }

    /// Sets a bookmark at this moment. Returns its number.
    ///
    /// # Errors
    /// As [`Session::when`]; also if no more can be set, or none here.
    pub fn set_bookmark(&self, name: String) -> Result<u32, Error> {
        self.ask(move |owner| owner.set_bookmark(name))?
    }

    /// Removes a bookmark.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is none with this number; [`Error::Ended`].
    pub fn remove_bookmark(&self, number: u32) -> Result<(), Error> {
        self.ask(move |owner| owner.remove_bookmark(number))?
    }

    /// Shows another moment of the history. Ends in an [`crate::Event::Stopped`].
    ///
    /// # Errors
    /// As [`Session::when`]; also if there is no such moment.
    pub fn go_to_moment(&self, to: Destination) -> Result<(), Error> {
        self.ask(move |owner| owner.go_to_moment(to))?
    }
}
