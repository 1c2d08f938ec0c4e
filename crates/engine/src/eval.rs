//! Expressions in the frame's language.
//!
//! Text becomes tokens (`lex`), tokens a tree (`parse`, `ir`), and the tree is run against a frame (`run`).
//! C, C++ and Rust differ in precedence, literals and casts; what they share (members, indices, arithmetic) is one.
//! Nothing here changes the debuggee: what would is refused while parsing.

use crate::Error;
use crate::frame::Frame;
use crate::values::{NamedValue, Reader};

mod ir;
mod lex;
mod parse;
mod run;
mod suggest;

/// Evaluates `text` in `frame` without side effects. The result's name is the text, trimmed.
///
/// # Errors
/// [`Error::Expression`] that says what is wrong and where in the text.
pub fn evaluate(text: &str, frame: &Frame, reader: &Reader<'_>) -> Result<NamedValue, Error> {
    let text = text.trim();
    let value = lex::tokens(text)
        .and_then(|tokens| parse::parse(tokens, frame.language))
        .and_then(|tree| run::run(&tree, text, frame, reader))
        .map_err(|fault| Error::Expression(fault.sentence(text)))?;
    Ok(NamedValue {
        name: text.to_owned(),
        value,
        expression: Some(text.to_owned()),
        kind: None,
    })
}

/// What is wrong with an expression, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    /// The byte of the text.
    at: usize,
    message: String,
}

impl Fault {
    fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault {
            at,
            message: message.into(),
        }
    }

    /// The message, with the column where the text is more than what it talks about.
    fn sentence(&self, text: &str) -> String {
        if self.at == 0 {
            return self.message.clone();
        }
        let before = text.get(..self.at).unwrap_or(text);
        format!("column {}: {}", before.chars().count() + 1, self.message)
    }
}
