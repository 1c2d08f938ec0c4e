//! Stepping.

pub use crate::step::SkipList;
pub use crate::step::options::{Callee, StepTarget};
pub use dapple_symbols::sources::is_library_source;

use super::{Session, StepKind, StepOptions};
use crate::{Error, ThreadId};
use dapple_inspect::frame::FrameId;
use dapple_inspect::values::{NamedValue, Rendered};

impl Session {
    /// Steps a thread while the others run. Ends in an [`crate::Event::Stopped`] or [`crate::Event::Exited`].
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn step(&self, thread: ThreadId, kind: StepKind) -> Result<(), Error> {
        self.step_as(thread, kind, StepOptions::default())
    }

    /// As [`Session::step`], with options.
    ///
    /// # Errors
    /// As [`Session::step`].
    pub fn step_as(
        &self,
        thread: ThreadId,
        kind: StepKind,
        options: StepOptions,
    ) -> Result<(), Error> {
        self.ask(move |owner| owner.start_step(thread, kind, options))?
    }

    /// Sets which code steps don't enter. Works while running; a step under way decides by the new list from then on.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_skip(&self, list: SkipList) -> Result<(), Error> {
        self.ask(move |owner| owner.set_skip(list))
    }

    /// The value that was returned by the function which a step has left for this frame, under the function's name with `()`. `None`
    /// after all other stops, and if nothing was returned.
    ///
    /// # Errors
    /// [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn returned(&self, frame: FrameId) -> Result<Option<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.returned(frame))?
    }

    /// The calls that the rest of a line makes, where the line is that of a thread's innermost frame. They are in order of execution as
    /// far as the order of the code tells that; empty without a line.
    ///
    /// # Errors
    /// [`Error::Refused`] for other frames; [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn step_targets(&self, frame: FrameId) -> Result<Vec<StepTarget>, Error> {
        self.ask(move |owner| owner.step_targets(frame))?
    }
}
