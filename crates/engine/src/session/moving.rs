//! Moving threads within their code, and ending them.

use super::Session;
pub use crate::owner::moving::GotoTarget;
use crate::{Address, Error, ThreadId};
use dapple_inspect::frame::FrameId;
use std::path::Path;

impl Session {
    /// The places of a line, for [`Session::goto`].
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn goto_targets(&self, file: &Path, line: u32) -> Result<Vec<GotoTarget>, Error> {
        let file = file.to_owned();
        self.ask(move |owner| owner.goto_targets(&file, line))
    }

    /// Moves a stopped thread within the function it is in; what lies between is not executed. Ends in an
    /// [`crate::Event::Stopped`]. Returned are the registers that the code there counts on and that what is before it in the
    /// function has written: with something else in them, the program may go wrong.
    ///
    /// # Errors
    /// [`Error::Refused`] where it is another function, or the stack is laid out otherwise; [`Error::NotStopped`],
    /// [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn goto(&self, thread: ThreadId, target: Address) -> Result<Vec<&'static str>, Error> {
        self.ask(move |owner| owner.goto(thread, target))?
    }

    /// Has a thread begin the function of a frame again, with the arguments as they are in memory now; frames that it has
    /// called are left, without destructors or drops. What was done is not undone. Ends in an [`crate::Event::Stopped`].
    ///
    /// # Errors
    /// [`Error::Refused`] where something is lost that the function needs; [`Error::StaleFrame`], [`Error::NotStopped`],
    /// [`Error::Ended`].
    pub fn restart_frame(&self, frame: FrameId) -> Result<(), Error> {
        self.ask(move |owner| owner.restart_frame(frame))?
    }

    /// Ends threads as `exit(2)` does: no destructors run, what they have locked stays locked, and who joins them goes on.
    /// Works while running.
    ///
    /// # Errors
    /// [`Error::Refused`] for the first thread, with which the program would end; [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn end_threads(&self, threads: Vec<ThreadId>) -> Result<(), Error> {
        self.ask(move |owner| owner.end_threads(&threads))?
    }
}
