//! Core files: opening them as sessions, and writing them.

use super::keeper::Keeper;
use super::{Session, Start};
use crate::postmortem::{CoreOptions, PostMortem};
use crate::{Error, Event};
use crossbeam_channel::Sender;
use std::path::Path;
use std::sync::Mutex;

impl Session {
    /// Opens a core file. Threads, stacks, values and memory are as they were; what needs a live process is refused
    /// ([`Error::PostMortem`]). Events go to `events`, first of them the modules found.
    ///
    /// # Errors
    /// [`Error::Core`] with a sentence the user can act on.
    pub fn open_core(options: &CoreOptions, events: Sender<Event>) -> Result<Session, Error> {
        dapple_symbols::survive_changed_files();
        let (remains, process) = PostMortem::open(options, events)?;
        Ok(Session {
            keeper: Keeper::PostMortem(Box::new(Mutex::new(remains))),
            process,
        })
    }

    /// Writes a core dump of the stopped process to a file that only the user can read, and that must not exist yet. Unchanged mappings
    /// of files are left out, except for each file's first page, as in the kernel's core dumps.
    ///
    /// # Errors
    /// [`Error::System`] that names the file; [`Error::NotStopped`], [`Error::Ended`], [`Error::PostMortem`].
    pub fn write_core(&self, path: &Path) -> Result<(), Error> {
        let path = path.to_owned();
        self.ask(move |owner| owner.write_core(&path))?
    }

    /// Whether the session is of a core file, without a process.
    pub fn is_post_mortem(&self) -> bool {
        self.process.start == Start::PostMortem
    }

    /// Sends the event that says why the process ended or was dumped, and begins to index large modules. Does nothing for a live process.
    pub fn tell_end(&self) {
        if let Keeper::PostMortem(remains) = &self.keeper {
            let remains = remains.lock();
            remains
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .tell_end();
        }
    }
}
