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
//!
//! For what one's own definition adds to a base, there is [`generate_extension`]: types for a crate beside `dapple-dap`.

mod emit;
mod extension;
mod names;
mod plan;

use crate::Model;
use crate::model::UnknownKeyword;

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
    /// A name that Rust does not allow.
    #[error("`{name}` can't be the name of a Rust type: rename the definition")]
    Name {
        /// The Rust name.
        name: String,
    },
    /// A keyword of the definition that the generator does not know. What it demands would be missing from the types.
    #[error("{0}, and types that leave it out may be wrong: remove it from the definition")]
    Keyword(UnknownKeyword),
    /// An extension refers to a definition of its base that `dapple-dap` does not have.
    #[error(
        "`{name}` of the base is not in dapple-dap: move the definition to the file that adds to the base"
    )]
    NotInDapple {
        /// The definition.
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
/// Two items would have the same name, a type can't be expressed in Rust, or the definition has an unknown keyword.
pub fn generate(model: &Model, options: &Options) -> Result<String, GenerateError> {
    if let Some(keyword) = model.unknown_keywords().first() {
        return Err(GenerateError::Keyword(keyword.clone()));
    }
    let items = plan::plan(model)?;
    let preamble = options.preamble.as_deref().unwrap_or(PREAMBLE);
    Ok(emit::emit(preamble, model, &items))
}

/// Generates the Rust source of what `model` adds to `base`, such as one's own requests and events. `model` is `base`
/// [extended](Model::extended_by) by the file with them.
///
/// The source is for a crate that depends on `dapple-dap` and `serde` (with `derive`). It has types only for the definitions that `base`
/// doesn't have or has differently, with serde's own derives, and imports the others from `dapple_dap::types`.
///
/// ```
/// use dapple_schema::{Model, rust};
///
/// let base = Model::protocol()?;
/// let model = base.extended_by(
///     r##"{"definitions": {
///         "HeapRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "required": ["command"],
///             "properties": {"command": {"type": "string", "enum": ["heap"]}}}]},
///         "HeapResponse": {"allOf": [{"$ref": "#/definitions/Response"}, {"type": "object",
///             "properties": {"body": {"type": "object", "required": ["source"],
///                 "properties": {"source": {"$ref": "#/definitions/Source"}}}}}]}
///     }}"##,
/// )?;
/// let source = rust::generate_extension(&model, &base, &rust::Options::default())?;
/// assert!(source.contains("use dapple_dap::types::{Empty, Source};"));
/// assert!(source.contains("impl Request for HeapRequest {"));
/// assert!(!source.contains("struct Source"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As for [`generate`], for what is added; and if that refers to a definition of `base` that `dapple-dap` doesn't have.
pub fn generate_extension(
    model: &Model,
    base: &Model,
    options: &Options,
) -> Result<String, GenerateError> {
    let is_added = |keyword: &&UnknownKeyword| {
        let definition = model.get(&keyword.definition);
        definition.is_none_or(|definition| !plan::is_of_base(base, definition))
            && !base.unknown_keywords().contains(keyword)
    };
    if let Some(keyword) = model.unknown_keywords().iter().find(is_added) {
        return Err(GenerateError::Keyword(keyword.clone()));
    }
    let extension = plan::extension(model, base, &extension::NAMES)?;
    check_imports(&extension)?;
    Ok(extension::emit(options.preamble.as_deref(), &extension))
}

/// Checks that `dapple-dap` has the base's definitions that an extension refers to.
fn check_imports(extension: &plan::Extension) -> Result<(), GenerateError> {
    let protocol = Model::protocol().ok();
    let missing = extension.imports.iter().find(|name| {
        let known = protocol.as_ref().and_then(|protocol| protocol.get(name));
        known.is_none()
    });
    match missing {
        Some(name) => Err(GenerateError::NotInDapple { name: name.clone() }),
        None => Ok(()),
    }
}
