//! How functions are named in stack frames, and in messages of stops.

use dapple_engine::names::readable_name;

/// The argument `wholeNames`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FunctionNames {
    /// Without long lists of generic arguments, closures and async bodies by the functions that they are in: [`readable_name`].
    #[default]
    Readable,
    /// As in the debug information.
    Whole,
}

impl FunctionNames {
    /// The name to show for the whole name of a function.
    pub fn name(self, whole: &str) -> String {
        match self {
            FunctionNames::Readable => readable_name(whole),
            FunctionNames::Whole => whole.to_owned(),
        }
    }
}
