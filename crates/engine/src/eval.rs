//! Expressions in the frame's language.

use crate::Error;
use crate::frame::Frame;
use crate::values::{NamedValue, Reader};

/// Evaluates `text` in `frame` without side effects. The result's name is the text, trimmed.
///
/// # Errors
/// [`Error::Expression`] that says what is wrong and where in the text.
pub fn evaluate(text: &str, frame: &Frame, reader: &Reader<'_>) -> Result<NamedValue, Error> {
    let _ = (text, frame, reader);
    unimplemented!()
}
