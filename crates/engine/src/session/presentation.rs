//! How the user wants values of their own types to be shown.

use super::Session;
use crate::Error;
use std::path::PathBuf;

impl Session {
    /// Shows values as these Natvis files say, in place of the files given before. If several entries are for one type, the one in the
    /// first file is used. The files are read now. Their problems are reported
    /// ([`Event::PresentationWarnings`](crate::Event::PresentationWarnings)), and the rest is used.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn set_presentation(&self, files: Vec<PathBuf>) -> Result<(), Error> {
        self.look(move |inspect| inspect.known().presentation().load(&files))
    }

    /// Sets whether a plain pointer's address is followed by what it points to. At first it is not.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn show_pointees(&self, shown: bool) -> Result<(), Error> {
        self.look(move |inspect| inspect.known().presentation().show_pointees(shown))
    }
}
