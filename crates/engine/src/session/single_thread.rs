//! Letting threads run one by one.

use super::Session;
use crate::owner::Owner;
use crate::{Error, ThreadId};

impl Session {
    /// Runs one thread while the others are held, as are threads that it begins. While others are held already, it runs
    /// beside those that do. It is no lock: [`Session::resume`] lets all run at any time. Stacks and values of held
    /// threads can be asked for. When the last thread that runs has ended, that is a stop
    /// ([`crate::event::StopReason::LastRunnerEnded`]).
    ///
    /// # Errors
    /// [`Error::NoSuchThread`], [`Error::Ended`]. Where all run already, nothing happens.
    pub fn resume_only(&self, thread: ThreadId) -> Result<(), Error> {
        self.ask(move |owner: &mut Owner| owner.resume_only(thread))?
    }
}
