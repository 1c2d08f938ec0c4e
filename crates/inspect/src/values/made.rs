//! Values that an expression makes and that the program doesn't have: the text that `trim()` returns, the `Option` of a `checked_add`.

use super::quoting::{Controls, quote_with};
use super::view::{Field, Limit, Record, Style, View};
use super::{Contents, Value};

/// A value made by an expression.
#[derive(Debug, Clone)]
pub enum Made {
    /// A Rust string.
    Text {
        /// Its UTF-8 bytes.
        text: Box<[u8]>,
        /// Its address, if it is a part of a string in the program's memory.
        address: Option<u64>,
        /// Whether it is a `String` instead of a `&str`.
        is_owned: bool,
    },
    /// A Rust `Option`.
    Option {
        /// What `Some` contains. `None`: the `Option` is `None`.
        held: Option<Box<Value>>,
        /// The name of the type parameter.
        of: String,
    },
}

impl Made {
    /// As [`super::Reader::view`].
    pub(crate) fn view(&self, limit: Limit) -> View {
        match self {
            Made::Text { text, address, .. } => {
                let most = text.len().min(limit.text);
                let mut shown = &text[..most];
                if let Err(error) = std::str::from_utf8(shown)
                    && error.error_len().is_none()
                {
                    shown = &shown[..error.valid_up_to()];
                }
                let mark = limit.mark(most < text.len(), Some(text.len() as u64));
                View::Text {
                    text: quote_with(shown, Controls::Scalars) + &mark,
                    address: *address,
                }
            }
            Made::Option { held: None, .. } => View::Record(choice("None", Vec::new())),
            Made::Option {
                held: Some(held), ..
            } => {
                let field = Field {
                    name: "0".to_owned(),
                    value: (**held).clone(),
                    base: false,
                    artificial: false,
                };
                View::Record(choice("Some", vec![field]))
            }
        }
    }

    /// The type's name, as source code has it.
    pub(crate) fn type_name(&self) -> String {
        match self {
            Made::Text { is_owned: true, .. } => "String".to_owned(),
            Made::Text { .. } => "&str".to_owned(),
            Made::Option { of, .. } => format!("Option<{of}>"),
        }
    }
}

impl Contents {
    /// Whether the contents don't change with the program's memory and registers.
    pub fn is_computed(&self) -> bool {
        match self {
            Contents::Bytes(_) | Contents::Number(_) => true,
            Contents::Made(made) => match &**made {
                Made::Text { .. } => true,
                Made::Option { held, .. } => {
                    held.as_ref().is_none_or(|held| held.contents.is_computed())
                }
            },
            Contents::Memory(_) | Contents::Pieces(..) | Contents::Unavailable(_) => false,
        }
    }
}

fn choice(name: &str, fields: Vec<Field>) -> Record {
    Record {
        name: Some(name.to_owned()),
        style: Style::Tuple,
        fields,
        statics: Vec::new(),
        raw: false,
        reachable: false,
        whole: None,
    }
}
