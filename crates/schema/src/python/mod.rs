//! Generates Python types from a model: a module with a `TypedDict` for each object, for the dictionaries that `json` reads and writes.
//!
//! Nothing is converted at run time. A type checker (mypy, pyright) knows each message by its literals: where `message["type"]` is
//! `"event"` and `message["event"]` is `"stopped"`, `message["body"]["reason"]` is there. For that, a message has all of its properties,
//! its base's too, and a response has the command of its request and `success`. Optional properties are `NotRequired`, open enumerations
//! `Literal[…] | str`; ranges are in the documentation. The module works with Python 3.10 (with `typing_extensions`) or later.

mod write;

use crate::Model;

/// Options for [`generate`].
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The text before the code. `None`: a docstring that says what the module was generated from.
    pub preamble: Option<String>,
}

/// Why no Python could be generated from a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A name that a Python class can't have here.
    #[error("`{name}` can't be the name of a Python class here: rename the definition")]
    Name {
        /// The definition's name.
        name: String,
    },
    /// Two classes would have the same name.
    #[error(
        "two classes would be called `{name}`: rename the property or definition behind one of them"
    )]
    Twice {
        /// The name.
        name: String,
    },
}

/// Generates the module with the types of all definitions in `model`.
///
/// ```
/// use dapple_schema::{Model, python};
///
/// let model = Model::parse(
///     r#"{"definitions": {"Thread": {"type": "object", "required": ["id"], "properties": {
///         "id": {"type": "integer", "description": "Its number."}, "name": {"type": "string"}}}}}"#,
/// )?;
/// let module = python::generate(&model, &python::Options::default())?;
/// assert!(module.contains("class Thread(TypedDict):\n"));
/// assert!(module.contains("    id: int\n    \"\"\"Its number.\"\"\"\n"));
/// assert!(module.contains("    name: NotRequired[str]\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The name of a definition can't be a class's name, or two classes would have one name.
pub fn generate(model: &Model, options: &Options) -> Result<String, GenerateError> {
    write::module(model, options.preamble.as_deref())
}
