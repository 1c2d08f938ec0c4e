//! Running single threads.

use super::Session;
use crate::owner::Owner;
use crate::{Error, ThreadId};

impl Session {
    /// Runs one thread while the others stay stopped, including threads that it starts. If only some threads are running, it runs
    /// beside them. It is no lock: [`Session::resume`] lets all run at any time. Stacks and values of stopped threads can be asked for.
    /// When the last thread that runs has ended, that is a stop ([`crate::event::StopReason::LastRunnerEnded`]).
    ///
    /// # Errors
    /// [`Error::NoSuchThread`], [`Error::Ended`]. If all threads are running, nothing happens.
    pub fn resume_only(&self, thread: ThreadId) -> Result<(), Error> {
        self.ask(move |owner: &mut Owner| owner.resume_only(thread))?
    }
}
