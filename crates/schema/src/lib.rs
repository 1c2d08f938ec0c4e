//! The Debug Adapter Protocol's definition as data.
//!
//! Responsible for reading a DAP JSON schema into a small ordered [`Model`], and for what follows from a model alone:
//! Rust types ([`rust`]), TypeScript declarations ([`typescript`]), the specification as a document ([`markdown`]), the
//! difference of two definitions ([`diff`](mod@diff)), and the check of a message against the definition ([`validate`]). Not responsible for speaking the protocol: it has no transport, no session, and
//! does not depend on the types it generates. The trick worth knowing: the file's order is kept everywhere, so generated
//! output reads like the definition and its diffs stay small.
//!
//! ```
//! use dapple_schema::{Model, typescript};
//!
//! let model = Model::parse(
//!     r#"{"definitions": {"Thread": {
//!         "type": "object",
//!         "required": ["id"],
//!         "properties": {"id": {"type": "integer", "description": "Its number."}}
//!     }}}"#,
//! )?;
//! let text = typescript::generate(&model, &typescript::Options::default())?;
//! assert!(text.contains("/** Its number. */\n\t\tid: number;"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod diff;
mod json;
pub mod markdown;
pub mod model;
mod read;
pub mod rust;
pub mod typescript;
pub mod validate;

pub use model::Model;
pub use read::SchemaError;

/// The project's own definition of the protocol, as JSON schema.
pub const PROTOCOL: &str = include_str!("../protocol.json");

impl Model {
    /// Reads the project's own definition of the protocol.
    ///
    /// # Errors
    /// None that this crate's tests would let pass.
    pub fn protocol() -> Result<Model, SchemaError> {
        Model::parse(PROTOCOL)
    }
}
