//! A row of the table of arguments.

use super::Start;
use super::given::Given;
use crate::argument_values::shape::Shape;
use serde_json::Value;

/// One argument.
pub struct Row {
    /// As it is written.
    pub name: &'static str,
    /// Which requests take it.
    pub requests: Requests,
    /// What its value may be.
    pub shape: Shape,
    /// What holds without it, as JSON; `None` where that is nothing in particular.
    pub default: Option<&'static str>,
    /// What it means, in a sentence.
    pub description: &'static str,
    /// A value, as JSON.
    pub example: &'static str,
    /// Whose it is.
    pub origin: Origin,
    /// Takes a value that has the shape, and is not `null`. The text is the argument's name, for what is wrong with it.
    pub read: fn(&mut Given, &str, &Value) -> Result<(), String>,
}

/// Which requests take an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requests {
    /// `launch`
    Launch,
    /// `attach`
    Attach,
    /// Each, and it goes for the sessions of children, too.
    Both,
}

/// Whose an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Ours.
    Own,
    /// Another debugger's name for ours.
    Alias {
        /// Ours, which wins where both are given.
        of: &'static str,
        /// The debugger.
        from: &'static str,
    },
    /// From the adapter to itself.
    Internal,
}

impl Row {
    /// The argument that this is another name for.
    pub fn alias_of(&self) -> Option<&'static str> {
        match self.origin {
            Origin::Alias { of, .. } => Some(of),
            Origin::Own | Origin::Internal => None,
        }
    }

    /// The argument of ours that it is, or is another name for.
    pub fn meant(&self) -> &'static str {
        self.alias_of().unwrap_or(self.name)
    }

    /// Whether users are told of it.
    pub fn is_told(&self) -> bool {
        self.origin != Origin::Internal
    }

    /// Whether it is for both requests.
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
