//! The shape of an argument's value: one description for the check of values, the JSON schema and the documentation.

use super::unknown::{self, Unknown};
use super::{no_nul, wrong};
use serde_json::Value;
use std::path::Path;

/// The shape of a value.
#[derive(Debug)]
pub enum Shape {
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// `null`.
    Null,
    /// Any text.
    Text,
    /// A file or directory. `~/` is the user's home directory.
    Path,
    /// One of these words.
    Word(&'static [Word]),
    /// One of these words, or a path.
    PathOr(&'static [Word]),
    /// An array of any length.
    List(&'static Shape),
    /// An array of two items.
    Pair(&'static Shape),
    /// An object with any names.
    Map(&'static Shape),
    /// An object with these fields.
    Object(&'static [Field]),
    /// One of these shapes, which have different JSON types.
    Any(&'static [Shape]),
    /// A shape with a name for users.
    Called(&'static str, &'static Shape),
}

/// A string with a meaning.
#[derive(Debug)]
pub struct Word {
    /// The string itself.
    pub word: &'static str,
    /// What the string means: a phrase, no whole sentence.
    pub meaning: &'static str,
}

/// A field of an object.
#[derive(Debug)]
pub struct Field {
    /// The field's name.
    pub name: &'static str,
    /// Its value.
    pub shape: Shape,
    /// Whether it is required.
    pub required: bool,
    /// What the field means: a phrase, no whole sentence.
    pub meaning: &'static str,
}

/// A JSON type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// `null`
    Null,
    /// `true` and `false`
    Boolean,
    /// `1.5`
    Number,
    /// `"text"`
    String,
    /// `[]`
    Array,
    /// `{}`
    Object,
}

impl Type {
    /// The type of a value.
    pub fn of(value: &Value) -> Type {
        match value {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Boolean,
            Value::Number(_) => Type::Number,
            Value::String(_) => Type::String,
            Value::Array(_) => Type::Array,
            Value::Object(_) => Type::Object,
        }
    }

    /// The name for messages: `a boolean`.
    pub fn name(self) -> &'static str {
        match self {
            Type::Null => "null",
            Type::Boolean => "a boolean",
            Type::Number => "a number",
            Type::String => "a string",
            Type::Array => "an array",
            Type::Object => "an object",
        }
    }
}

impl Shape {
    /// The JSON types that values of this shape have.
    pub fn types(&self) -> Vec<Type> {
        match self {
            Shape::Boolean => vec![Type::Boolean],
            Shape::Integer | Shape::Number => vec![Type::Number],
            Shape::Null => vec![Type::Null],
            Shape::Text | Shape::Path | Shape::Word(_) | Shape::PathOr(_) => vec![Type::String],
            Shape::List(_) | Shape::Pair(_) => vec![Type::Array],
            Shape::Map(_) | Shape::Object(_) => vec![Type::Object],
            Shape::Any(shapes) => shapes.iter().flat_map(Shape::types).collect(),
            Shape::Called(_, shape) => shape.types(),
        }
    }

    /// The shape in words: "a string or an array of strings".
    pub fn phrase(&self) -> String {
        match self {
            Shape::Boolean => "true or false".into(),
            Shape::Integer => "a whole number".into(),
            Shape::Number => "a number".into(),
            Shape::Null => "null".into(),
            Shape::Text | Shape::Path | Shape::PathOr(_) => "a string".into(),
            Shape::Word(words) => {
                let words: Vec<String> = words
                    .iter()
                    .map(|word| format!("{:?}", word.word))
                    .collect();
                or(&words)
            }
            Shape::List(Shape::Text | Shape::Path | Shape::PathOr(_)) => {
                "an array of strings".into()
            }
            Shape::List(_) => "an array".into(),
            Shape::Pair(_) => "a pair".into(),
            Shape::Map(_) | Shape::Object(_) => "an object".into(),
            Shape::Any(shapes) => or(&shapes.iter().map(Shape::phrase).collect::<Vec<_>>()),
            Shape::Called(name, _) => (*name).into(),
        }
    }

    /// Checks a value against the shape. `at` is the argument's name with the path inside it. Adds `warnings` about ignored fields, and about
    /// variables that the client has not replaced.
    ///
    /// # Errors
    /// A message that names the place and says what it should be.
    pub fn check(&self, at: &str, value: &Value, warnings: &mut Vec<String>) -> Result<(), String> {
        if !self.types().contains(&Type::of(value)) {
            return Err(wrong(at, &self.phrase(), value));
        }
        match (self, value) {
            (Shape::Integer, value) if value.as_i64().is_none() => {
                Err(format!("`{at}` must be {}, not {value}", self.phrase()))
            }
            (Shape::Text, Value::String(text)) => {
                no_nul(at, text)?;
                warnings.extend(unexpanded(text).map(|variable| {
                    format!("`{at}`: the client has not replaced the variable {variable}; it is left as it is")
                }));
                Ok(())
            }
            (Shape::PathOr(words), Value::String(text))
                if words.iter().any(|word| word.word == text) =>
            {
                Ok(())
            }
            (Shape::Path | Shape::PathOr(_), Value::String(text)) => check_path(at, text),
            (Shape::Word(words), Value::String(text))
                if words.iter().all(|word| word.word != text) =>
            {
                Err(format!("`{at}` must be {}, not {text:?}", self.phrase()))
            }
            (Shape::List(each), Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                items.try_for_each(|(index, item)| {
                    each.check(&format!("{at}[{index}]"), item, warnings)
                })
            }
            (Shape::Pair(each), Value::Array(items)) => match items.as_slice() {
                [_, _] => {
                    let mut items = items.iter().enumerate();
                    items.try_for_each(|(index, item)| {
                        each.check(&format!("{at}[{index}]"), item, warnings)
                    })
                }
                _ => Err(format!(
                    "`{at}` must be {}, not {} values",
                    self.phrase(),
                    items.len()
                )),
            },
            (Shape::Map(each), Value::Object(entries)) => {
                let mut entries = entries.iter();
                entries.try_for_each(|(name, value)| {
                    each.check(&format!("{at}.{name}"), value, warnings)
                })
            }
            (Shape::Object(fields), Value::Object(entries)) => {
                check_fields(fields, at, entries, warnings)
            }
            (Shape::Any(shapes), value) => {
                let fitting = shapes
                    .iter()
                    .find(|shape| shape.types().contains(&Type::of(value)));
                fitting.map_or(Ok(()), |shape| shape.check(at, value, warnings))
            }
            (Shape::Called(_, shape), value) => shape.check(at, value, warnings),
            _ => Ok(()),
        }
    }
}

fn check_fields(
    fields: &[Field],
    at: &str,
    entries: &serde_json::Map<String, Value>,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    for (name, value) in entries {
        match fields.iter().find(|field| field.name == name) {
            Some(field) => {
                let nothing = value.is_null() && !field.required;
                if !nothing {
                    field
                        .shape
                        .check(&format!("{at}.{name}"), value, warnings)?;
                }
            }
            None => {
                let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
                warnings.push(unknown::warning(&Unknown {
                    inside: Some(at),
                    name,
                    known: &known,
                }));
            }
        }
    }
    match fields
        .iter()
        .find(|field| field.required && !entries.contains_key(field.name))
    {
        Some(missing) => Err(format!(
            "`{at}.{}` is missing: {}",
            missing.name, missing.meaning
        )),
        None => Ok(()),
    }
}

/// Refuses a path with a variable that the client should have expanded, or with another user's home directory (`~user`), unless a file has
/// that very path.
fn check_path(at: &str, text: &str) -> Result<(), String> {
    no_nul(at, text)?;
    let as_it_is = || Path::new(text).exists();
    if let Some(start) = text.find("${")
        && let Some(length) = text.get(start..).and_then(|rest| rest.find('}'))
        && !as_it_is()
    {
        let variable = text.get(start..=start + length).unwrap_or_default();
        return Err(format!(
            "`{at}`: the client has not replaced the variable {variable} in {text:?}, which it may not know; write what it stands for"
        ));
    }
    if text.starts_with('~') && text != "~" && !text.starts_with("~/") && !as_it_is() {
        return Err(format!(
            "`{at}`: other users' folders are not looked up, give the whole path for {text:?}"
        ));
    }
    Ok(())
}

/// How common variables of VS Code begin. Other clients know some of them. The brace of `file}` keeps other names that begin with `file` out.
const VARIABLES: [&str; 12] = [
    "workspaceFolder",
    "workspaceRoot",
    "relativeFile",
    "fileDirname",
    "fileBasename",
    "fileWorkspaceFolder",
    "file}",
    "userHome",
    "env:",
    "config:",
    "command:",
    "input:",
];

/// The first of [`VARIABLES`] that is still in the text. Other variables, such as `${HOME}`, may be meant for a shell.
fn unexpanded(text: &str) -> Option<&str> {
    text.match_indices("${").find_map(|(start, _)| {
        let rest = text.get(start + 2..)?;
        VARIABLES.iter().find(|name| rest.starts_with(**name))?;
        text.get(start..=start + 2 + rest.find('}')?)
    })
}

/// `a, b or c`.
fn or(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
