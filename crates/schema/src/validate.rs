//! Checks whole messages against the definition.
//!
//! Checks the shape of a single message: envelope, the payload for its command or event, required properties, types, closed enumerations
//! and ranges of numbers. Whether a message may be sent at that time is not checked here but by the session. Open enumerations accept any
//! string, and properties that the definition does not list are accepted, as the protocol demands. It is made for tests and tools, so it
//! works on a parsed value and reports all problems, not just the first.
//!
//! ```
//! use dapple_schema::validate::Validator;
//!
//! let validator = Validator::protocol()?;
//! let problems = validator.line(br#"{"seq":1,"type":"event","event":"exited","body":{"exitCode":"0"}}"#);
//! assert_eq!(problems[0].to_string(), "`body.exitCode`: expected an integer, found \"0\"");
//! # Ok::<(), dapple_schema::SchemaError>(())
//! ```

mod line;

use crate::Model;
use crate::model::{Additional, Definition, Integer, Object, Property, Schema, Type};
use crate::read::SchemaError;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;

/// Checks messages against one definition.
#[derive(Debug)]
pub struct Validator {
    model: Model,
    /// The request and response definitions of each command.
    commands: HashMap<String, (String, Option<String>)>,
    /// The definition of each event.
    events: HashMap<String, String>,
    /// All properties of each definition with a base, including the base's.
    extended: HashMap<String, Vec<Property>>,
}

/// Something in a message that the definition does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The place in the message, such as `body.breakpoints[0].line`; empty for the message as a whole.
    pub path: String,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", self.path, self.message)
        }
    }
}

impl Validator {
    /// A validator for the messages that `model` defines.
    pub fn new(model: Model) -> Validator {
        let commands = model.requests().map(|request| {
            let response = request.response.map(|response| response.name.clone());
            (
                request.command.to_owned(),
                (request.definition.name.clone(), response),
            )
        });
        let events = model
            .events()
            .map(|event| (event.event.to_owned(), event.definition.name.clone()));
        let extended = model
            .definitions()
            .iter()
            .filter(|definition| definition.base.is_some())
            .map(|definition| (definition.name.clone(), model.all_properties(definition)));
        let (commands, events, extended) =
            (commands.collect(), events.collect(), extended.collect());
        Validator {
            model,
            commands,
            events,
            extended,
        }
    }

    /// A validator for the project's own definition of the protocol.
    ///
    /// # Errors
    /// None: this crate's tests parse the definition.
    pub fn protocol() -> Result<Validator, SchemaError> {
        Model::protocol().map(Validator::new)
    }

    /// All problems of a request, response or event. Empty if the message conforms to the definition. If the message's command or event
    /// is unknown, only its envelope is checked.
    pub fn message(&self, json: &Value) -> Vec<Problem> {
        let mut check = Check {
            validator: self,
            problems: Vec::new(),
        };
        let text = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default();
        let command = self.commands.get(text("command"));
        let name = match text("type") {
            "request" => command.map_or("Request", |(request, _)| request),
            "event" => self
                .events
                .get(text("event"))
                .map_or("Event", String::as_str),
            "response" if json.get("success") == Some(&Value::Bool(false)) => "ErrorResponse",
            "response" => command
                .and_then(|(_, response)| response.as_deref())
                .unwrap_or("Response"),
            other => {
                if json.get("type").is_some_and(Value::is_string) {
                    check.add(
                        "type",
                        format!("\"{other}\" is neither a request, a response nor an event"),
                    );
                }
                "ProtocolMessage"
            }
        };
        let definition = self.model.get(name);
        match definition {
            Some(definition) => check.definition("", definition, json),
            None => check.add("", "the definition has no messages of this type"),
        }
        check.problems
    }
}

struct Check<'v> {
    validator: &'v Validator,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn add(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem {
            path: path.to_owned(),
            message: message.into(),
        });
    }

    fn expected(&mut self, path: &str, what: &str, found: &Value) {
        self.add(path, format!("expected {what}, found {}", shown(found)));
    }

    fn definition(&mut self, path: &str, definition: &Definition, json: &Value) {
        match self.validator.extended.get(&definition.name) {
            Some(properties) => self.properties(path, properties, json),
            None => self.ty(path, &definition.schema.ty, json),
        }
    }

    fn properties(&mut self, path: &str, properties: &[Property], json: &Value) {
        let Value::Object(entries) = json else {
            return self.expected(path, "an object", json);
        };
        for property in properties {
            match entries.get(&property.name) {
                Some(value) => self.schema(&join(path, &property.name), &property.schema, value),
                None if property.required => {
                    self.add(&join(path, &property.name), "is required but not there")
                }
                None => {}
            }
        }
    }

    fn schema(&mut self, path: &str, schema: &Schema, json: &Value) {
        self.ty(path, &schema.ty, json);
    }

    fn ty(&mut self, path: &str, ty: &Type, json: &Value) {
        match ty {
            Type::Any => {}
            Type::Null if json.is_null() => {}
            Type::Null => self.expected(path, "null", json),
            Type::Boolean if json.is_boolean() => {}
            Type::Boolean => self.expected(path, "a boolean", json),
            Type::Integer(integer) => self.integer(path, integer, json),
            Type::Number { minimum, maximum } => match json.as_f64() {
                None => self.expected(path, "a number", json),
                Some(value)
                    if minimum.is_some_and(|low| value < low)
                        || maximum.is_some_and(|high| value > high) =>
                {
                    let limit = |limit: &Option<f64>| {
                        limit.map_or_else(|| "…".into(), |limit| limit.to_string())
                    };
                    self.add(
                        path,
                        format!(
                            "{value} is outside of {}..={}",
                            limit(minimum),
                            limit(maximum)
                        ),
                    );
                }
                Some(_) => {}
            },
            Type::String if json.is_string() => {}
            Type::String => self.expected(path, "a string", json),
            Type::Enumeration(values) => match json.as_str() {
                None => self.expected(path, "a string", json),
                Some(text) if !values.open && !values.values.iter().any(|value| value == text) => {
                    self.add(
                        path,
                        format!("\"{text}\" is not one of {}", values.values.join(", ")),
                    );
                }
                Some(_) => {}
            },
            Type::Array(items) => match json {
                Value::Array(list) => {
                    for (i, item) in list.iter().enumerate() {
                        self.schema(&format!("{path}[{i}]"), items, item);
                    }
                }
                other => self.expected(path, "an array", other),
            },
            Type::Object(object) => self.object(path, object, json),
            Type::Reference(name) => {
                if let Some(definition) = self.validator.model.get(name) {
                    self.definition(path, definition, json);
                }
            }
            // JSON schema demands exactly one, but the protocol's alternatives overlap: an object fits both launch and attach arguments.
            Type::OneOf(schemas) => {
                self.alternatives(path, schemas.iter().map(|schema| &schema.ty), json)
            }
            Type::Union(types) => self.alternatives(path, types.iter(), json),
        }
    }

    /// Checks that at least one type fits. Otherwise reports the problems of the type that fits best.
    fn alternatives<'t>(
        &mut self,
        path: &str,
        types: impl Iterator<Item = &'t Type>,
        json: &Value,
    ) {
        let mut nearest: Option<Vec<Problem>> = None;
        for ty in types {
            let mut check = Check {
                validator: self.validator,
                problems: Vec::new(),
            };
            check.ty(path, ty, json);
            if nearest
                .as_ref()
                .is_none_or(|known| check.problems.len() < known.len())
            {
                nearest = Some(check.problems);
            }
        }
        self.problems.extend(nearest.unwrap_or_default());
    }

    fn integer(&mut self, path: &str, integer: &Integer, json: &Value) {
        let (low, high) = integer.range();
        let fits = match (json.as_i64(), json.as_u64()) {
            (Some(value), _) => {
                low.is_none_or(|low| value >= low) && high.is_none_or(|high| value <= high)
            }
            (None, Some(_)) => high.is_none(),
            (None, None) => return self.expected(path, "an integer", json),
        };
        if !fits {
            let limit =
                |limit: Option<i64>| limit.map_or_else(|| "…".into(), |limit| limit.to_string());
            self.add(
                path,
                format!("{json} is outside of {}..={}", limit(low), limit(high)),
            );
        }
    }

    fn object(&mut self, path: &str, object: &Object, json: &Value) {
        self.properties(path, &object.properties, json);
        if let (Additional::Values(values), Value::Object(entries)) = (&object.additional, json) {
            for (key, value) in entries
                .iter()
                .filter(|(key, _)| object.property(key).is_none())
            {
                self.schema(&join(path, key), values, value);
            }
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// A value in a few words, for messages.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(text) if text.len() <= 40 => format!("\"{text}\""),
        Value::String(_) => "a string".into(),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(message: &Value) -> Vec<String> {
        let validator = Validator::protocol().expect("the project's definition is well-formed");
        validator
            .message(message)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn messages_as_defined_have_no_problems() {
        for message in [
            json!({"seq": 1, "type": "request", "command": "threads"}),
            json!({"seq": 2, "type": "request", "command": "launch", "arguments": {"program": "x", "__restart": null}}),
            json!({"seq": 3, "type": "request", "command": "restart", "arguments": {"arguments": {"noDebug": true}}}),
            json!({"seq": 4, "type": "request", "command": "custom/own", "arguments": [1, 2]}),
            json!({"seq": 5, "type": "event", "event": "stopped", "body": {"reason": "a new reason", "threadId": 7}}),
            json!({"seq": 6, "type": "response", "request_seq": 1, "success": true, "command": "next"}),
            json!({"seq": 7, "type": "response", "request_seq": 1, "success": false, "command": "next", "message": "notStopped",
                "body": {"error": {"id": 1, "format": "no"}}}),
            json!({"seq": 8, "type": "response", "request_seq": 1, "success": true, "command": "dataBreakpointInfo",
                "body": {"dataId": null, "description": "no"}}),
        ] {
            assert_eq!(problems(&message), [""; 0], "for {message}");
        }
    }

    #[test]
    fn each_kind_of_problem_is_found_and_names_its_place() {
        let cases = [
            (json!([]), "expected an object, found an array"),
            (
                json!({"type": "event", "event": "initialized"}),
                "`seq`: is required but not there",
            ),
            (
                json!({"seq": 0, "type": "event", "event": "initialized"}),
                "`seq`: 0 is outside of 1..=2147483647",
            ),
            (
                json!({"seq": 1, "type": "even"}),
                "`type`: \"even\" is neither a request, a response nor an event",
            ),
            (
                json!({"seq": 1, "type": "request"}),
                "`command`: is required but not there",
            ),
            (
                json!({"seq": 1, "type": "request", "command": "next"}),
                "`arguments`: is required but not there",
            ),
            (
                json!({"seq": 1, "type": "request", "command": "next", "arguments": {"threadId": "1"}}),
                "`arguments.threadId`: expected an integer, found \"1\"",
            ),
            (
                json!({"seq": 1, "type": "request", "command": "next", "arguments": {"threadId": 4294967296_i64}}),
                "`arguments.threadId`: 4294967296 is outside of -2147483648..=2147483647",
            ),
            (
                json!({"seq": 1, "type": "request", "command": "next", "arguments": {"threadId": 1, "granularity": "word"}}),
                "`arguments.granularity`: \"word\" is not one of statement, line, instruction",
            ),
            (
                json!({"seq": 1, "type": "request", "command": "setBreakpoints",
                    "arguments": {"source": {}, "breakpoints": [{"line": 1}, {"line": 1.5}]}}),
                "`arguments.breakpoints[1].line`: expected an integer, found 1.5",
            ),
            (
                json!({"seq": 1, "type": "request", "command": "runInTerminal", "arguments": {"args": [], "cwd": "/", "env": {"A": 1}}}),
                "`arguments.env.A`: expected a string, found 1",
            ),
            (
                json!({"seq": 1, "type": "response", "request_seq": 1, "success": true, "command": "continue", "body": null}),
                "`body`: expected an object, found null",
            ),
            (
                json!({"seq": 1, "type": "response", "request_seq": 1, "success": true, "command": "stackTrace", "body": {}}),
                "`body.stackFrames`: is required but not there",
            ),
            (
                json!({"seq": 1, "type": "response", "request_seq": 1, "success": false, "command": "next"}),
                "`body`: is required but not there",
            ),
            (
                json!({"seq": 1, "type": "response", "request_seq": 1, "success": false, "command": "next", "body": {"error": {"id": 1}}}),
                "`body.error.format`: is required but not there",
            ),
            (
                json!({"seq": 1, "type": "event", "event": "progressUpdate", "body": {"progressId": "1", "percentage": 101}}),
                "`body.percentage`: 101 is outside of 0..=100",
            ),
            (
                json!({"seq": 1, "type": "event", "event": "module", "body": {"reason": "new", "module": {"id": true, "name": "m"}}}),
                "`body.module.id`: expected an integer, found true",
            ),
        ];
        for (message, problem) in cases {
            assert_eq!(problems(&message), [problem], "for {message}");
        }
    }
}
