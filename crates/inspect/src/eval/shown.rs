//! Display formats: the suffixes after an expression's commas.

use super::ir::Expression;
use super::{Fault, lex, parse, run};
use crate::frame::Frame;
use crate::values::{Format, Number, Reader};
use dapple_symbols::functions::Language;
use std::sync::Arc;

/// The most elements that can be requested.
const MOST_ELEMENTS: u64 = 1_000_000;

/// The suffix that requests all of a value.
const WHOLE: &str = "full";

/// How an expression's value is displayed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Shown {
    pub format: Format,
    /// Shows the fields as laid out in memory, without the library's or Natvis's presentation.
    pub raw: bool,
    /// Shows the value in full, without the usual limits.
    pub whole: bool,
    /// Shows this number of elements, starting at the value or its target.
    pub count: Option<Count>,
}

/// A number of elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Count {
    Fixed(u64),
    /// `[n]`: an expression, with its text.
    Of(Box<Expression>, Arc<str>),
}

impl Shown {
    /// Cuts suffixes such as `,x`, `,10` and `,[n]` off an expression. Returns the expression before them, and what they say. They can't be
    /// part of the expression, as the comma operator of C is not supported.
    pub(super) fn split(text: &str, language: Language) -> (&str, Shown) {
        let mut shown = Shown::default();
        let mut rest = text;
        while let Some((head, tail)) = rest.rsplit_once(',') {
            let tail = tail.trim();
            match (Format::named(tail), tail.parse()) {
                _ if tail == "!" => shown.raw = true,
                _ if tail == WHOLE => shown.whole = true,
                (Some(format), _) => shown.format = format,
                (None, Ok(count @ 1..=MOST_ELEMENTS)) => shown.count = Some(Count::Fixed(count)),
                _ => match elements(tail, language) {
                    Some((format, count)) => {
                        shown.count = Some(count);
                        if let Some(format) = format {
                            shown.format = format;
                        }
                    }
                    None => break,
                },
            }
            rest = head.trim_end();
        }
        (rest, shown)
    }
}

/// The suffix `[n]`, or `x[n]` with a format. `None`: it is neither.
fn elements(tail: &str, language: Language) -> Option<(Option<Format>, Count)> {
    let (letters, _) = tail.split_once('[')?;
    let count = in_brackets(&tail[letters.len()..], language)?;
    match letters {
        "" => Some((None, count)),
        letters => Some((Some(Format::named(letters)?), count)),
    }
}

fn in_brackets(tail: &str, language: Language) -> Option<Count> {
    let text = tail.strip_prefix('[')?.strip_suffix(']')?;
    let tree = parse::parse(lex::tokens(text, language).ok()?, language).ok()?;
    Some(Count::Of(Box::new(tree), text.into()))
}

impl Count {
    /// The number of elements, evaluated in a frame.
    pub(super) fn number(&self, frame: &Frame, reader: &Reader<'_>) -> Result<u64, Fault> {
        let (tree, text) = match self {
            Count::Fixed(count) => return Ok(*count),
            Count::Of(tree, text) => (tree, text),
        };
        // The message has no column: a fault's offset counts in the count's own text, which is only a part of what the user wrote.
        let fault = |message: String| Fault::new(0, message);
        let number = run::number(tree, text, frame, reader, None);
        match number.map_err(|fault_| fault(fault_.message))? {
            Number::Integer { value, .. } if (1..=i128::from(MOST_ELEMENTS)).contains(&value) => {
                Ok(value as u64)
            }
            number => Err(fault(format!(
                "`{text}` is {}: as many elements can't be shown, only 1 to {MOST_ELEMENTS}",
                number.text()
            ))),
        }
    }
}
