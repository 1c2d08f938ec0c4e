//! The references and ids of an adapter, which differ from session to session though they name the same things.
//!
//! Worth knowing: a field's name, with that of the field around it, tells which kind of thing its value names. So two messages that
//! correspond are enough to learn which value now stands for a recorded one, without knowing any message's type.

use std::collections::HashMap;

use serde_json::Value;

/// Which reference or id an adapter uses now for each of a recorded session, by the kind of thing and the recorded value.
///
/// ```
/// use dapple_dap::testing::Names;
/// use serde_json::json;
///
/// let mut names = Names::default();
/// names.learn(&json!({"stackFrames": [{"id": 7}]}), &json!({"stackFrames": [{"id": 1000}]}));
/// let mut arguments = json!({"frameId": 7, "threadId": 7});
/// names.translate(&mut arguments, &|_, _| None);
/// assert_eq!(arguments, json!({"frameId": 1000, "threadId": 7}));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Names {
    now: HashMap<(&'static str, String), Value>,
}

impl Names {
    /// The kind of thing that a field names by a reference or id of the adapter's. `None` for other fields. `within` is the key of the
    /// field that holds the object with this one; it distinguishes a thread's `id` from a frame's.
    pub fn kind(within: &str, field: &str) -> Option<&'static str> {
        Some(match (within, field) {
            ("threads", "id") | (_, "threadId") => "thread",
            ("stackFrames", "id") | (_, "frameId") => "frame",
            ("breakpoints" | "breakpoint", "id") => "breakpoint",
            ("modules" | "module", "id") | (_, "moduleId") => "module",
            ("targets", "id") | (_, "targetId") => "target",
            (_, "variablesReference") => "variables",
            (_, "sourceReference") => "source",
            (_, "memoryReference" | "instructionPointerReference" | "instructionReference") => {
                "memory"
            }
            (
                _,
                "locationReference" | "declarationLocationReference" | "valueLocationReference",
            ) => "location",
            (_, "dataId") => "data",
            (_, "progressId") => "progress",
            _ => return None,
        })
    }

    /// True if both values are numbers or both are strings. A reference of 0 stands for no thing at all, so it matches only 0.
    pub fn may_correspond(recorded: &Value, now: &Value) -> bool {
        let nothing = |value: &Value| value.as_i64() == Some(0);
        match (recorded, now) {
            (Value::Number(_), Value::Number(_)) => nothing(recorded) == nothing(now),
            (Value::String(_), Value::String(_)) => true,
            _ => false,
        }
    }

    /// Notes that `now` stands for the thing that `recorded` named.
    pub fn note(&mut self, kind: &'static str, recorded: &Value, now: Value) {
        self.now.insert((kind, recorded.to_string()), now);
    }

    /// What stands now for the thing that `recorded` named, if that is known.
    pub fn get(&self, kind: &'static str, recorded: &Value) -> Option<&Value> {
        self.now.get(&(kind, recorded.to_string()))
    }

    /// Learns from two payloads that correspond. Elements of arrays correspond by their position.
    pub fn learn(&mut self, recorded: &Value, now: &Value) {
        self.learn_within("", recorded, now);
    }

    fn learn_within(&mut self, within: &str, recorded: &Value, now: &Value) {
        match (recorded, now) {
            (Value::Object(fields), Value::Object(fields_now)) => {
                for (key, recorded) in fields {
                    let Some(now) = fields_now.get(key) else {
                        continue;
                    };
                    match Self::kind(within, key) {
                        Some(kind) if Self::may_correspond(recorded, now) => {
                            self.note(kind, recorded, now.clone());
                        }
                        _ => self.learn_within(key, recorded, now),
                    }
                }
            }
            (Value::Array(items), Value::Array(items_now)) => {
                for (recorded, now) in items.iter().zip(items_now) {
                    self.learn_within(within, recorded, now);
                }
            }
            _ => {}
        }
    }

    /// Replaces the recorded references and ids in a payload by those of now. `other` may replace further fields: it gets a field's name
    /// and value.
    pub fn translate(&self, value: &mut Value, other: &impl Fn(&str, &Value) -> Option<Value>) {
        self.translate_within("", value, other);
    }

    fn translate_within(
        &self,
        within: &str,
        value: &mut Value,
        other: &impl Fn(&str, &Value) -> Option<Value>,
    ) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if let Some(new) = other(key, value) {
                        *value = new;
                    }
                    let known = Self::kind(within, key).and_then(|kind| self.get(kind, value));
                    match known {
                        Some(now) => *value = now.clone(),
                        None => self.translate_within(key, value, other),
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.translate_within(within, item, other);
                }
            }
            _ => {}
        }
    }
}
