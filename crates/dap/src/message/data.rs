//! Payloads and messages as [`serde_json::Value`], with the fields that their types do not have kept on request.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

use super::{DecodeError, Raw};

/// Reads a payload that is a value already. Fields that `T` does not have are lost; [`WithUnknown`] keeps them.
///
/// # Errors
/// The value does not have `T`'s shape; the error names the field.
pub fn from_data<T: DeserializeOwned>(data: &Value) -> Result<T, DecodeError> {
    if let Ok(value) = T::deserialize(data) {
        return Ok(value);
    }
    // Once more, for an error that names the field.
    let text = Raw::new(data).map_err(|error| DecodeError {
        path: String::new(),
        message: error.to_string(),
    })?;
    text.decode()
}

/// A payload as a value.
///
/// # Errors
/// `payload` cannot be written as JSON, such as a map with keys that are not strings.
pub fn as_data<T: Serialize + ?Sized>(payload: &T) -> Result<Value, serde_json::Error> {
    serde_json::to_value(payload)
}

/// A payload or a message, with what the type has no field for: for proxies and tools, which pass on what they do not know.
///
/// ```
/// use dapple_dap::message::WithUnknown;
/// use dapple_dap::types::ThreadsResponse;
/// use serde_json::json;
///
/// let data = json!({"threads": [{"id": 1, "name": "main", "vendor/core": 3}], "vendor/count": 1});
/// let mut threads = WithUnknown::<ThreadsResponse>::from_data(&data)?;
/// threads.value.threads[0].name = "renamed".to_owned();
/// let unknown: Vec<String> = threads.unknown().into_iter().map(|(path, _)| path).collect();
/// assert_eq!(unknown, ["threads[0].vendor/core", "vendor/count"]);
/// let data = threads.as_data()?;
/// assert_eq!(data, json!({"threads": [{"id": 1, "name": "renamed", "vendor/core": 3}], "vendor/count": 1}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WithUnknown<T> {
    /// The typed value.
    pub value: T,
    unknown: Option<Unknown>,
}

/// What a typed value leaves out of the value that it was read from.
#[derive(Debug, Clone, PartialEq)]
enum Unknown {
    Whole(Value),
    Fields(BTreeMap<String, Unknown>),
    /// Of a list with so many items.
    Items(usize, BTreeMap<usize, Unknown>),
}

impl<T: Serialize + DeserializeOwned> WithUnknown<T> {
    /// Reads a value, and keeps the fields that `T` does not have, at any depth. `null` in an optional field is kept, too.
    ///
    /// # Errors
    /// The value does not have `T`'s shape, or a `T` cannot be written as JSON.
    pub fn from_data(data: &Value) -> Result<Self, DecodeError> {
        let value: T = from_data(data)?;
        let known = as_data(&value).map_err(|error| DecodeError {
            path: String::new(),
            message: error.to_string(),
        })?;
        let unknown = Unknown::between(data, &known);
        Ok(Self { value, unknown })
    }

    /// The value with the fields that were kept. Of a list that has another length by now, what was kept of its items is left out,
    /// since it is not known whose it is.
    ///
    /// # Errors
    /// The typed value cannot be written as JSON.
    pub fn as_data(&self) -> Result<Value, serde_json::Error> {
        let mut data = as_data(&self.value)?;
        if let Some(unknown) = &self.unknown {
            unknown.add_to(&mut data);
        }
        Ok(data)
    }

    /// The fields that were kept, such as `threads[0].core`, with their values.
    pub fn unknown(&self) -> Vec<(String, &Value)> {
        let mut list = Vec::new();
        if let Some(unknown) = &self.unknown {
            unknown.list("", &mut list);
        }
        list
    }
}

impl Unknown {
    fn between(data: &Value, known: &Value) -> Option<Self> {
        match (data, known) {
            (Value::Object(data), Value::Object(known)) => {
                let fields: BTreeMap<_, _> = data
                    .iter()
                    .filter_map(|(name, value)| {
                        let unknown = match known.get(name) {
                            Some(known) => Self::between(value, known)?,
                            None => Self::Whole(value.clone()),
                        };
                        Some((name.clone(), unknown))
                    })
                    .collect();
                (!fields.is_empty()).then_some(Self::Fields(fields))
            }
            (Value::Array(data), Value::Array(known)) if data.len() == known.len() => {
                let items: BTreeMap<_, _> = data
                    .iter()
                    .zip(known)
                    .enumerate()
                    .filter_map(|(index, (data, known))| Some((index, Self::between(data, known)?)))
                    .collect();
                (!items.is_empty()).then_some(Self::Items(known.len(), items))
            }
            _ => None,
        }
    }

    fn add_to(&self, data: &mut Value) {
        match (self, data) {
            (Self::Fields(fields), Value::Object(data)) => {
                for (name, unknown) in fields {
                    match (data.get_mut(name), unknown) {
                        (Some(known), unknown) => unknown.add_to(known),
                        (None, Self::Whole(value)) => {
                            drop(data.insert(name.clone(), value.clone()))
                        }
                        (None, _) => {}
                    }
                }
            }
            (Self::Items(count, items), Value::Array(data)) if data.len() == *count => {
                for (index, unknown) in items {
                    unknown.add_to(&mut data[*index]);
                }
            }
            _ => {}
        }
    }

    fn list<'a>(&'a self, path: &str, list: &mut Vec<(String, &'a Value)>) {
        match self {
            Self::Whole(value) => list.push((path.to_owned(), value)),
            Self::Fields(fields) => {
                for (name, unknown) in fields {
                    let path = match path {
                        "" => name.clone(),
                        path => format!("{path}.{name}"),
                    };
                    unknown.list(&path, list);
                }
            }
            Self::Items(_, items) => {
                for (index, unknown) in items {
                    unknown.list(&format!("{path}[{index}]"), list);
                }
            }
        }
    }
}
