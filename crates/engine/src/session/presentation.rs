//! How the user wants values of their own types to be shown.

use super::Session;
use crate::Error;
use std::path::PathBuf;

impl Session {
    /// Shows values as these Natvis files say, in place of those that were given before; of entries that are for the same type, that of a file
    /// that comes first. Files are read now. What is wrong with them is told ([`Event::PresentationWarnings`](crate::Event::PresentationWarnings)),
    /// and the rest is used.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_presentation(&self, files: Vec<PathBuf>) -> Result<(), Error> {
        self.look(move |inspect| inspect.known().presentation().load(&files))
    }

    /// Shows behind a plain pointer's address what it points to, or, as at first, the address alone.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn show_pointees(&self, shown: bool) -> Result<(), Error> {
        self.look(move |inspect| inspect.known().presentation().show_pointees(shown))
    }
}
