//! Generates Rust types from a model: from the built-in definition, the types of `dapple-dap`.
//!
//! There are two steps. `plan` turns definitions into items (structs with fields, enumerations, markers) and decides all names and types;
//! `emit` writes the items as Rust. The output is correct but not formatted: pipe it through rustfmt. It is a module of `dapple-dap`, or
//! of a copy of that crate for one's own protocol: it uses the traits and the hand-written pieces in the `message` module beside it.
//! [`Options::preamble`] replaces the text at its start.
//!
//! Conventions: optional properties are `Option`, omitted when `None`, and `null` counts as absent unless the definition allows `null`.
//! Integers are `i64` with their range in the doc. An `XResponse` is its *body*, an `XRequest` or `XEvent` a marker that implements the
//! trait. The bases `Request`, `Response` and `Event` get the suffix `Message`, because the traits are called `Request` and `Event`.

mod emit;
mod names;
mod plan;

use crate::Model;

/// Options for [`generate`].
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The text before the code. `None`: a module documentation that says what the module is and how it was generated.
    pub preamble: Option<String>,
}

/// The default preamble. It names the command that most users generate the module with.
const PREAMBLE: &str = "\
//! The protocol's types, one item for each definition.
//!
//! Written by `dapple schema generate rust`: change the definition, not this file.
//! An `XRequest` or `XEvent` is a marker that implements [`Request`] or [`Event`]; an `XResponse` is the response's body.
//! [`AnyRequest`], [`AnyResponse`] and [`AnyEvent`] hold a message of whatever kind comes.

";

/// Why no Rust could be generated from a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// Two items would have the same name.
    #[error(
        "two items would be called `{name}`: rename the property or definition behind one of them"
    )]
    Twice {
        /// The Rust name.
        name: String,
    },
    /// A type that this generator can't express in Rust.
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

/// Generates the Rust source of all types in `model`.
///
/// # Errors
/// Two items would have the same name, or a type can't be expressed in Rust.
pub fn generate(model: &Model, options: &Options) -> Result<String, GenerateError> {
    let items = plan::plan(model)?;
    let preamble = options.preamble.as_deref().unwrap_or(PREAMBLE);
    Ok(emit::emit(preamble, model, &items))
}
