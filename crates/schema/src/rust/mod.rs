//! Rust types from the model: of the built-in definition, those of `dapple-dap`.
//!
//! Works in two steps: `plan` turns definitions into items (structs with fields, enumerations, markers), deciding all names and
//! types; `emit` writes the items as Rust. The output is correct Rust but not laid out: pipe it through rustfmt.
//! What it writes leans on the generated crate's `message` module for the traits and the hand-written pieces.
//!
//! The conventions: optional properties are `Option`, absent when empty and taking `null` for absent unless the definition
//! lists `null`; integers are `i64` with their range in the doc; an `XResponse` is its *body*, an `XRequest` or `XEvent` a marker that
//! implements the trait; base definitions get the suffix `Message`, since the plain names are the traits'.

mod emit;
mod names;
mod plan;

use crate::Model;

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
pub fn generate(model: &Model) -> Result<String, GenerateError> {
    let items = plan::plan(model)?;
    Ok(emit::emit(model, &items))
}
