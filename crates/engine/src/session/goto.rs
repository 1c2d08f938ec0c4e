//! Moving threads within their code, and ending them.

use super::Session;
pub use crate::owner::goto::GotoTarget;
use crate::{Address, Error, ThreadId};
use dapple_inspect::frame::FrameId;
use std::path::Path;

impl Session {
    /// The addresses at which a line begins, for [`Session::goto`].
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn goto_targets(&self, file: &Path, line: u32) -> Result<Vec<GotoTarget>, Error> {
        let file = file.to_owned();
        self.ask(move |owner| owner.goto_targets(&file, line))
    }

    /// Moves a stopped thread within the function it is in; the code in between is not executed. Ends in an [`crate::Event::Stopped`].
    /// Returns the registers that the code at the target relies on and that earlier code of the function sets: with other values in
    /// them, the program may go wrong.
    ///
    /// # Errors
    /// [`Error::Refused`] if the target is in another function or in other inlined calls, or the stack is laid out otherwise there;
    /// [`Error::NotStopped`], [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn goto(&self, thread: ThreadId, target: Address) -> Result<Vec<&'static str>, Error> {
        self.ask(move |owner| owner.goto(thread, target))?
    }

    /// Makes a thread begin the function of a frame again, with the arguments as they are in memory now. The frames that it has called
    /// are left without destructors or drops. Effects are not undone. Ends in an [`crate::Event::Stopped`].
    ///
    /// # Errors
    /// [`Error::Refused`] if something is lost that the function needs; [`Error::StaleFrame`], [`Error::NotStopped`], [`Error::Ended`].
    pub fn restart_frame(&self, frame: FrameId) -> Result<(), Error> {
        self.ask(move |owner| owner.restart_frame(frame))?
    }

    /// Ends threads as `exit(2)` does: no destructors run, what they have locked stays locked, and threads that join them go on. Works
    /// while running.
    ///
    /// # Errors
    /// [`Error::Refused`] for the first thread, with which the program would end, and for a thread that waits for its vfork child;
    /// [`Error::NoSuchThread`], [`Error::Ended`].
    pub fn end_threads(&self, threads: Vec<ThreadId>) -> Result<(), Error> {
        self.ask(move |owner| owner.end_threads(&threads))?
    }
}
