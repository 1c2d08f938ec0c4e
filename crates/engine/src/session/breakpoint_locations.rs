//! Where breakpoints can be.

use super::Session;
use crate::Error;
use crate::owner::Owner;
use std::ops::RangeInclusive;
use std::path::Path;

impl Session {
    /// The statements in `lines` (1-based) of `file` where a breakpoint can be: line and column (in bytes; both 1-based, a
    /// column of 0 is unknown), each once and in order. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn breakpoint_places(
        &self,
        file: &Path,
        lines: RangeInclusive<u32>,
    ) -> Result<Vec<(u32, u32)>, Error> {
        let file = file.to_owned();
        self.ask(move |owner: &mut Owner| owner.breakpoint_places(&file, lines))
    }
}
