//! Values that can be opened after the program has run on.

use super::Session;
use crate::Error;
use dapple_inspect::frame::FrameId;
use dapple_inspect::inspect::kept::Keeping;
pub use dapple_inspect::inspect::kept::{KeptValue, Opened};
use dapple_inspect::values::{Format, NamedValue, Rendered};
use std::ops::Range;

impl Session {
    /// Keeps a value beyond the stop that it was found in; `None`: it has no children. Without a frame, it belongs to the innermost one
    /// of the thread that stopped.
    ///
    /// # Errors
    /// As [`Session::variables`].
    pub fn keep(
        &self,
        named: NamedValue,
        rendered: Rendered,
        frame: Option<FrameId>,
    ) -> Result<Option<KeptValue>, Error> {
        self.look(move |threads| threads.keep(named, rendered, frame))?
    }

    /// Children of a kept value by position, as [`Session::children`], in a format unless the value has one. At a later stop they have
    /// their current contents.
    ///
    /// # Errors
    /// [`Error::Refused`]: what has become of the value; and as [`Session::variables`].
    pub fn open_kept(
        &self,
        kept: &KeptValue,
        range: Range<u64>,
        format: Option<Format>,
    ) -> Result<Opened, Error> {
        let kept = kept.clone();
        self.look(move |threads| threads.open_kept(&kept, range, format))?
    }
}
