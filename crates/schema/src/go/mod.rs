//! Generates Go types from a model: a package with a struct for each object, for `encoding/json`, and functions that decode messages.
//!
//! There are two steps, as for Rust: `plan` decides names and types, `write` writes them. The output is formatted as by gofmt. A definition
//! with a base embeds the base's struct; what tells a message (`command`, `event`, `type`) is in the base and set by `New…`. Optional
//! properties are pointers, so that absent, empty and zero are told apart; a list is a `List`, which is never written as `null`. An
//! enumeration is a string type with constants. What may be one of several types is a `json.RawMessage`, and an object that the protocol
//! leaves to others keeps what it does not know in `Other`. It works with Go 1.18 or later.

mod plan;
mod write;

use crate::Model;

/// Options for [`generate`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The package's name.
    pub package: String,
    /// The text before the package clause. `None`: a comment that says what it was generated from.
    pub preamble: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            package: "dap".into(),
            preamble: None,
        }
    }
}

/// Why no Go could be generated from a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The package's name is not allowed in Go.
    #[error("`{name}` can't be the name of a Go package")]
    Package {
        /// The requested name.
        name: String,
    },
    /// Two types, functions or constants would have the same name, or one that the package uses itself.
    #[error(
        "two items would be called `{name}`: rename the property or definition behind one of them"
    )]
    Twice {
        /// The Go name.
        name: String,
    },
    /// A property whose name a field's tag can't have.
    #[error(
        "definition `{definition}`, property `{property}`: Go can't read a property of that name into a struct"
    )]
    Tag {
        /// The definition.
        definition: String,
        /// The property.
        property: String,
    },
    /// Two fields of a struct would have the same name.
    #[error(
        "definition `{definition}`, property `{property}`: a second field would be called `{name}`"
    )]
    Field {
        /// The definition.
        definition: String,
        /// The property.
        property: String,
        /// The Go name.
        name: String,
    },
}

/// Generates the package with the types of all definitions in `model`.
///
/// ```
/// use dapple_schema::{Model, go};
///
/// let model = Model::parse(
///     r#"{"definitions": {"Thread": {"type": "object", "required": ["id"], "properties": {
///         "id": {"type": "integer", "description": "Its number."}, "name": {"type": "string"}}}}}"#,
/// )?;
/// let package = go::generate(&model, &go::Options::default())?;
/// assert!(package.contains("\t// Its number.\n\tId int `json:\"id\"`\n"));
/// assert!(package.contains("\tName *string `json:\"name,omitempty\"`\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The package's name is not allowed in Go, or two items or fields would have the same name.
pub fn generate(model: &Model, options: &Options) -> Result<String, GenerateError> {
    if !plan::is_package(&options.package) {
        return Err(GenerateError::Package {
            name: options.package.clone(),
        });
    }
    let items = plan::plan(model)?;
    Ok(write::package(model, options, &items))
}
