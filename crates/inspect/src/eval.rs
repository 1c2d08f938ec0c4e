//! Expressions in the frame's language.
//!
//! Text becomes tokens (`lex`), tokens become a tree (`parse`, `ir`), and the tree is evaluated in a frame (`run`).
//! C, C++ and Rust differ in precedence, literals and casts; they share the code for members, indices and arithmetic.
//!
//! Nothing here changes the debuggee. Where only a value is wanted, the parser refuses assignments, and calls that reading memory can't
//! answer. For an assignment this module computes the changes, and the engine writes them; the engine also makes the function calls
//! (`calls`).

use crate::Error;
use crate::frame::Frame;
use crate::values::storing::Change;
use crate::values::{NamedValue, Number, Reader, Value};
use calls::Calls;
use dapple_symbols::functions::Language;
use ir::{Binary, Expression};
use run::assign;
use shown::Shown;
use std::sync::Arc;

mod article;
mod builtins;
mod callers;
pub mod calls;
mod completion;
mod expression_at;
mod ir;
mod lex;
mod parse;
pub mod prepared;
mod run;
mod rust_library;
pub(crate) mod scope;
mod shown;

pub(crate) use article::a_type;
pub(crate) use completion::complete;
pub use completion::{Completion, CompletionKind, Completions};
pub use expression_at::expression_at;
pub(crate) use lex::ANONYMOUS_NAMESPACE;

/// The name behind `$` that asks whether a function is among the callers.
const CALLED_FROM: &str = "called_from";

/// Evaluates `text` in `frame` without side effects. The result's name is the text, trimmed.
///
/// # Errors
/// [`Error::Expression`] that says what is wrong and where in the text.
pub fn evaluate(text: &str, frame: &Frame, reader: &Reader<'_>) -> Result<NamedValue, Error> {
    Parsed::new(text, frame.language)?.value(frame, reader)
}

/// Describes a name that is not a variable: a type with its members, or a function with its parameters. `None`: the name is neither.
pub(crate) fn described(name: &str, frame: &Frame, reader: &Reader<'_>) -> Option<String> {
    run::described(name, frame, reader)
}

/// A parsed expression, which can be evaluated any number of times.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The whole text, with the format suffix.
    name: Arc<str>,
    text: Arc<str>,
    tree: Expression,
    shown: Shown,
}

impl Parsed {
    /// Reads `text` as an expression of `language`.
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn new(text: &str, language: Language) -> Result<Parsed, Error> {
        Parsed::read(text, language, parse::parse)
    }

    /// As [`Parsed::new`], for an expression that may call functions.
    pub fn calling(text: &str, language: Language) -> Result<Parsed, Error> {
        Parsed::read(text, language, parse::calling)
    }

    fn read(
        text: &str,
        language: Language,
        parse: impl FnOnce(Vec<lex::Token>, Language) -> Result<Expression, Fault>,
    ) -> Result<Parsed, Error> {
        let name = text.trim();
        let (text, shown) = Shown::split(name, language);
        let tree = lex::tokens(text, language).and_then(|tokens| parse(tokens, language));
        Ok(Parsed {
            tree: tree.map_err(|fault| Error::Expression(fault.sentence(text)))?,
            name: name.into(),
            text: text.into(),
            shown,
        })
    }

    /// Its value in `frame`, whose language must be the one that the expression was parsed for.
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn value(&self, frame: &Frame, reader: &Reader<'_>) -> Result<NamedValue, Error> {
        self.value_with(frame, reader, None)
    }

    /// As [`Parsed::value`], but a function call has the result that `calls` has stored for it. If `calls` wants another call afterwards
    /// ([`Calls::wanted`]), the returned value or error is meaningless.
    pub fn value_with(
        &self,
        frame: &Frame,
        reader: &Reader<'_>,
        calls: Option<&Calls>,
    ) -> Result<NamedValue, Error> {
        let (tree, text) = (&self.tree, &self.text);
        let value = match &self.shown.count {
            None => run::run(tree, text, frame, reader, calls),
            Some(count) => count
                .number(frame, reader)
                .and_then(|count| run::repeated(tree, text, count, frame, reader, calls)),
        };
        let value = value
            .and_then(|value| run::formatted(value, self.shown.format, tree, text, frame, reader));
        let mut value = value.map_err(|fault| self.error(&fault))?;
        value.raw |= self.shown.raw;
        value.whole |= self.shown.whole;
        Ok(NamedValue {
            name: self.name.to_string(),
            value,
            // Children are got by evaluating this text again: if it calls functions, that would repeat the calls.
            expression: (!self.tree.calls()).then(|| match self.is_plain() {
                true => self.name.to_string(),
                false => self.text.to_string(),
            }),
            kind: None,
        })
    }

    /// Whether the text has no suffix that says how the value is shown.
    fn is_plain(&self) -> bool {
        self.shown == Shown::default()
    }

    /// As [`Parsed::value`], converted to a number.
    ///
    /// # Errors
    /// As [`evaluate`], and if the value isn't a number.
    pub fn number(&self, frame: &Frame, reader: &Reader<'_>) -> Result<Number, Error> {
        self.number_with(frame, reader, None)
    }

    /// As [`Parsed::value_with`], converted to a number.
    pub fn number_with(
        &self,
        frame: &Frame,
        reader: &Reader<'_>,
        calls: Option<&Calls>,
    ) -> Result<Number, Error> {
        let number = run::number(&self.tree, &self.text, frame, reader, calls);
        number.map_err(|fault| self.error(&fault))
    }

    fn error(&self, fault: &Fault) -> Error {
        Error::Expression(fault.sentence(&self.text))
    }
}

/// Text typed where changing the program is allowed.
#[derive(Debug, Clone)]
pub enum Statement {
    /// An expression, which assigns nothing. It may call functions.
    Value(Parsed),
    /// An assignment.
    Assignment(Assignment),
}

impl Statement {
    /// Reads `text` in `language`.
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn new(text: &str, language: Language) -> Result<Statement, Error> {
        let name = text.trim();
        let (text, shown) = Shown::split(name, language);
        let statement =
            lex::tokens(text, language).and_then(|tokens| parse::statement(tokens, language));
        let statement = statement.map_err(|fault| Error::Expression(fault.sentence(text)))?;
        let text: Arc<str> = text.into();
        Ok(match statement {
            ir::Statement::Value(tree) => Statement::Value(Parsed {
                name: name.into(),
                text,
                tree,
                shown,
            }),
            ir::Statement::Assignment {
                target,
                operator,
                source,
            } => Statement::Assignment(Assignment {
                text,
                target,
                operator,
                source,
                shown,
            }),
        })
    }
}

/// `target = source`, `target += source`.
#[derive(Debug, Clone)]
pub struct Assignment {
    text: Arc<str>,
    target: Expression,
    operator: Option<Binary>,
    source: Expression,
    /// How the target's value is shown afterwards.
    shown: Shown,
}

impl Assignment {
    /// The text of the assignment's target.
    pub(crate) fn target(&self) -> &str {
        let target = self.text.get(self.target.at..self.target.end);
        target.unwrap_or_default()
    }

    /// The target as an expression that can be evaluated.
    pub fn assigned(&self) -> Parsed {
        Parsed {
            name: self.target().into(),
            text: Arc::clone(&self.text),
            tree: self.target.clone(),
            shown: self.shown.clone(),
        }
    }

    /// The changes that carry out the assignment in `frame`, whose language must be the one that it was parsed for. `calls` is used as
    /// in [`Parsed::value_with`].
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn changes(
        &self,
        frame: &Frame,
        reader: &Reader<'_>,
        calls: &Calls,
    ) -> Result<Vec<Change>, Error> {
        let parts = (&self.target, self.operator, &self.source);
        let changes = assign::changes(parts, &self.text, frame, reader, Some(calls));
        changes.map_err(|fault| Error::Expression(fault.sentence(&self.text)))
    }
}

/// Where an expression's value is written to.
#[derive(Debug, Clone)]
pub enum Target<'a> {
    /// A value, and the name it is shown under.
    Value(&'a Value, &'a str),
    /// The text of an expression, which may also name a register.
    Expression(&'a str),
}

/// The number in a value shown as a number with a note, such as `65 'A'` or `0x5580 <main>`. A client offers the text with the note when
/// the user begins to edit the value.
fn without_note(shown: &str) -> Option<&str> {
    let (number, note) = shown.trim().split_once(' ')?;
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    (is_number && note.starts_with(['\'', '"', '<'])).then_some(number)
}

/// The changes that give `target` the value of the expression `text` in `frame`. `calls` is used as in [`Parsed::value_with`].
///
/// # Errors
/// As [`evaluate`].
pub fn changes(
    target: &Target<'_>,
    text: &str,
    frame: &Frame,
    reader: &Reader<'_>,
    calls: &Calls,
) -> Result<Vec<Change>, Error> {
    let (place, name) = match target {
        Target::Value(value, name) => (assign::Place::Value((*value).clone()), *name),
        Target::Expression(place) => {
            let parsed = Parsed::new(place, frame.language)?;
            let found = assign::place(&parsed.tree, &parsed.text, frame, reader);
            (found.map_err(|fault| parsed.error(&fault))?, place.trim())
        }
    };
    let parsed = Parsed::calling(text, frame.language);
    let Parsed { text, tree, .. } = match (parsed, without_note(text)) {
        (Err(_), Some(value)) => Parsed::calling(value, frame.language)?,
        (parsed, _) => parsed?,
    };
    let changes = assign::changes_of(&place, name, (&tree, &text), frame, reader, Some(calls));
    changes.map_err(|fault| Error::Expression(fault.sentence(&text)))
}

/// What is wrong with an expression, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    /// The byte offset in the text.
    at: usize,
    message: String,
    /// The expression names something that doesn't exist, whatever the program's data is.
    is_unknown: bool,
    /// The expression asks for an element that the container doesn't have.
    is_absent: bool,
}

impl Fault {
    fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault {
            at,
            message: message.into(),
            is_unknown: false,
            is_absent: false,
        }
    }

    /// As [`Fault::new`], for an element that a container doesn't have.
    fn absent(at: usize, message: impl Into<String>) -> Fault {
        Fault {
            is_absent: true,
            ..Fault::new(at, message)
        }
    }

    /// As [`Fault::new`], for an unknown name.
    fn unknown(at: usize, message: impl Into<String>) -> Fault {
        Fault {
            is_unknown: true,
            ..Fault::new(at, message)
        }
    }

    /// The message, with the column unless the fault is at the start of the text.
    fn sentence(&self, text: &str) -> String {
        if self.at == 0 {
            return self.message.clone();
        }
        let before = text.get(..self.at).unwrap_or(text);
        format!("column {}: {}", before.chars().count() + 1, self.message)
    }
}
