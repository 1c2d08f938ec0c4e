//! The Debug Adapter Protocol's definition as data.
//!
//! Reads a DAP JSON schema, the official one or one's own, into a small ordered [`Model`], and derives from it everything that needs only
//! the model:
//!
//! | module | |
//! | --- | --- |
//! | [`model`] | the definitions, requests and events as plain data |
//! | [`upstream`] | where the project's own definition came from |
//! | [`typescript`] | TypeScript declarations: for the official schema, the published ones |
//! | [`python`] | Python types for type checkers |
//! | [`go`] | Go structs, and functions that decode messages to them |
//! | [`markdown`] | the specification as a document: for the official schema, the published page |
//! | [`rust`] | types with serialization: those of `dapple-dap`, or those that one's own definition adds |
//! | [`diff`](mod@diff) | how two definitions differ, in structure and in text |
//! | [`validate`] | whether a message conforms to the definition, and where not |
//!
//! It does not speak the protocol: it has no transport and no session, and does not depend on the types it generates. The file's order is
//! kept everywhere, so that generated output reads like the definition and its diffs stay small.
//!
//! Generates types and a document from a definition of one's own:
//!
//! ```
//! use dapple_schema::{Model, markdown, typescript};
//!
//! let model = Model::parse(
//!     r#"{"definitions": {"Thread": {
//!         "type": "object",
//!         "required": ["id"],
//!         "properties": {"id": {"type": "integer", "description": "Its number."}}
//!     }}}"#,
//! )?;
//! let declarations = typescript::generate(&model, &typescript::Options::default())?;
//! assert!(declarations.contains("/** Its number. */\n\t\tid: number;"));
//! let page = markdown::generate(&model, &markdown::Options::default())?;
//! assert!(page.contains("### <a name=\"Types_Thread\" class=\"anchor\"></a>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The protocol itself is built in:
//!
//! ```
//! let model = dapple_schema::Model::protocol()?;
//! let threads = model.requests().find(|request| request.command == "threads").unwrap();
//! assert_eq!(threads.response.unwrap().name, "ThreadsResponse");
//! # Ok::<(), dapple_schema::SchemaError>(())
//! ```

pub mod diff;
pub mod go;
mod json;
pub mod markdown;
pub mod model;
mod names;
mod prose;
pub mod python;
mod read;
pub mod rust;
pub mod typescript;
pub mod upstream;
pub mod validate;

pub use model::Model;
pub use read::SchemaError;
/// Its `Value` is what [`validate`] checks.
pub use serde_json;

/// The version of the protocol that the project's own definition describes.
pub const PROTOCOL_VERSION: &str = "1.71";

/// The project's own definition of the protocol, as JSON schema.
pub const PROTOCOL: &str = include_str!("../protocol.json");

impl Model {
    /// Reads the project's own definition of the protocol.
    ///
    /// # Errors
    /// None: this crate's tests parse the definition.
    pub fn protocol() -> Result<Model, SchemaError> {
        Model::parse(PROTOCOL)
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
