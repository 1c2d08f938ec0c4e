//! Stepping.

pub use crate::step::options::{Callee, StepTarget};
pub use crate::step::{SkipList, ThirdParty};
pub use dapple_symbols::sources::{is_library_source, origin};

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

    /// The value that a function returned, if a step out of it has ended in this frame. It is named as the function, with `()`. `None`
    /// after all other stops, and if nothing was returned.
    ///
    /// # Errors
    /// [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn returned(&self, frame: FrameId) -> Result<Option<(NamedValue, Rendered)>, Error> {
        self.look(move |threads| threads.returned(frame))?
    }

    /// The calls that the rest of the line of a thread's innermost frame makes. They are sorted by address from the thread's position
    /// on, which mostly is the order of execution. Empty if the frame has no line.
    ///
    /// # Errors
    /// [`Error::Refused`] for other frames; [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn step_targets(&self, frame: FrameId) -> Result<Vec<StepTarget>, Error> {
        self.ask(move |owner| owner.step_targets(frame))?
    }
}
