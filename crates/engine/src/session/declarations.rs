//! Where in the source things are declared.

use super::{Session, SourcePosition};
use crate::{Address, Error};
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::declarations;
pub use dapple_inspect::inspect::declarations::VariableList;

impl Session {
    /// Where a variable of a frame is declared, by its place in its list; `None` where the debug information doesn't say.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn declaration(
        &self,
        frame: FrameId,
        list: VariableList,
        index: usize,
    ) -> Result<Option<SourcePosition>, Error> {
        self.look(move |threads| declarations::declaration(threads, frame, list, index))?
    }

    /// Where the function is declared that has code at an address, or the line of that code; `None` where no debug information
    /// says. Works while running.
    ///
    /// # Errors
    /// [`Error::Ended`].
    pub fn code_position(&self, address: Address) -> Result<Option<SourcePosition>, Error> {
        self.look(move |threads| declarations::code_position(threads, address))
    }
}
