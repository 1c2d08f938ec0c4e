//! Rust types from the model: of the built-in definition, those of `dapple-dap`.
//!
//! Works in two steps: `plan` turns definitions into items (structs with fields, enumerations, markers), deciding all names and
//! types; `emit` writes the items as Rust. The output is correct Rust but not laid out: pipe it through rustfmt.
//! What it writes is a module of `dapple-dap`, or of a copy of it with one's own protocol: it takes the traits and the hand-written
//! pieces from the `message` module beside it. The text in front is ours unless [`Options::preamble`] gives another.
//!
//! The conventions: optional properties are `Option`, absent when empty and taking `null` for absent unless the definition
//! lists `null`; integers are `i64` with their range in the doc; an `XResponse` is its *body*, an `XRequest` or `XEvent` a marker that
//! implements the trait; base definitions get the suffix `Message`, since the plain names are the traits'.

mod emit;
mod names;
mod plan;

use crate::Model;

/// What can be chosen.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The text in front of the code; `None` for a module documentation that says what this is and how it is made.
    pub preamble: Option<String>,
}

/// The text in front unless there is another. Whoever has generated this has most likely done so by the command.
const PREAMBLE: &str = "\
//! The protocol's types, one item for each definition.
//!
//! Written by `dapple schema generate rust`: change the definition, not this file.
//! An `XRequest` or `XEvent` is a marker that implements [`Request`] or [`Event`]; an `XResponse` is the response's body.
//! [`AnyRequest`], [`AnyResponse`] and [`AnyEvent`] hold a message of whatever kind comes.

";

/// Why no Rust could be made of a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// Two things would have the same name.
    #[error(
        "two items would be called `{name}`: rename the property or definition behind one of them"
    )]
    Twice {
        /// The Rust name.
        name: String,
    },
    /// A type that has no form in Rust here.
    #[error("definition `{definition}`, property `{property}`: {what}")]
    Unsupported {
        /// The definition.
        definition: String,
        /// The property.
        property: String,
        /// What cannot be expressed.
        what: String,
    },
}

/// The Rust source of all types in `model`.
///
/// # Errors
/// Where two items would have the same name, or a type has no form in Rust.
pub fn generate(model: &Model, options: &Options) -> Result<String, GenerateError> {
    let items = plan::plan(model)?;
    let preamble = options.preamble.as_deref().unwrap_or(PREAMBLE);
    Ok(emit::emit(preamble, model, &items))
}
