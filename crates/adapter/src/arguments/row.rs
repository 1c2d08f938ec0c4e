//! A row of the table of arguments.

use super::Start;
use super::given::Given;
use crate::argument_values::shape::Shape;
use serde_json::Value;

/// One argument.
pub struct Row {
    /// The name.
    pub name: &'static str,
    /// Which requests take it.
    pub requests: Requests,
    /// The shape of its value.
    pub shape: Shape,
    /// The default as JSON; `None` if there is no fixed default.
    pub default: Option<&'static str>,
    /// Its meaning, in a sentence.
    pub description: &'static str,
    /// An example value as JSON.
    pub example: &'static str,
    /// Whether the name is Dapple's own, another debugger's, or internal.
    pub origin: Origin,
    /// Reads a value that has the shape and is not `null`. The string is the argument's name, for error messages.
    pub read: fn(&mut Given, &str, &Value) -> Result<(), String>,
}

/// Which requests take an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requests {
    /// `launch` alone.
    Launch,
    /// `attach` alone.
    Attach,
    /// Both. Sessions of forked children inherit the argument.
    Both,
}

/// The origin of an argument's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Dapple's own.
    Own,
    /// Another debugger's name for an argument.
    Alias {
        /// Dapple's name, which wins if both are given.
        of: &'static str,
        /// The other debugger.
        from: &'static str,
    },
    /// Passed only between sessions of the adapter.
    Internal,
}

impl Row {
    /// The argument that this is an alias of.
    pub fn alias_of(&self) -> Option<&'static str> {
        match self.origin {
            Origin::Alias { of, .. } => Some(of),
            Origin::Own | Origin::Internal => None,
        }
    }

    /// Dapple's name of the argument.
    pub fn meant(&self) -> &'static str {
        self.alias_of().unwrap_or(self.name)
    }

    /// Whether it is documented.
    pub fn is_documented(&self) -> bool {
        self.origin != Origin::Internal
    }

    /// Whether both requests take it.
    pub fn is_common(&self) -> bool {
        self.requests == Requests::Both
    }

    /// Whether a request takes it.
    pub fn is_for(&self, start: Start) -> bool {
        match self.requests {
            Requests::Launch => start == Start::Launch,
            Requests::Attach => start == Start::Attach,
            Requests::Both => true,
        }
    }
}
