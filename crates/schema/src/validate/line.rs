//! Validates one line of newline-delimited JSON.
//!
//! A log has one message on each line. A recording wraps each message in an entry with its time and direction. Recordings use different
//! names, so the message in an entry is found by its shape, not by a fixed name.

use super::{Problem, Validator};
use serde_json::Value;

impl Validator {
    /// All problems of one line, which is a message or a recording's entry with a message in it. A line that is not JSON is a problem
    /// without a path.
    pub fn line(&self, line: &[u8]) -> Vec<Problem> {
        match parsed(line) {
            Ok(json) => match in_entry(&json) {
                Entry::Message(message) => self.message(message),
                Entry::Text(text) => match parsed(text.as_bytes()) {
                    Ok(message) => self.message(&message),
                    Err(problem) => vec![problem],
                },
            },
            Err(problem) => vec![problem],
        }
    }
}

enum Entry<'j> {
    Message(&'j Value),
    Text(&'j str),
}

/// The message in `json`. If `json` is an entry: its only property that is an object, or a string that contains one. Otherwise `json`
/// itself.
fn in_entry(json: &Value) -> Entry<'_> {
    // Every message has both properties, so an object with neither is an entry. An object with one of them is an entry if it contains a
    // complete message, and otherwise a message with a mistake.
    let missing = ["seq", "type"].map(|name| json.get(name).is_none());
    let (Value::Object(entries), true) = (json, missing.contains(&true)) else {
        return Entry::Message(json);
    };
    let is_entry = !missing.contains(&false);
    let mut inner = entries.values().filter_map(|value| match value {
        Value::Object(inside) => {
            let whole = inside.contains_key("seq") && inside.contains_key("type");
            (is_entry || whole).then_some(Entry::Message(value))
        }
        Value::String(text) if is_entry && text.trim_start().starts_with('{') => {
            Some(Entry::Text(text))
        }
        _ => None,
    });
    match (inner.next(), inner.next()) {
        (Some(entry), None) => entry,
        _ => Entry::Message(json),
    }
}

fn parsed(text: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(text).map_err(|error| Problem {
        path: String::new(),
        message: format!("not JSON: {error}").replace(" at line 1 column ", " at column "),
    })
}

#[cfg(test)]
mod tests {
    use crate::validate::Validator;

    #[track_caller]
    fn problems(line: &str, expected: &[&str]) {
        let validator = Validator::protocol().expect("the project's definition is well-formed");
        let found: Vec<_> = validator
            .line(line.as_bytes())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, expected, "for {line}");
    }

    #[test]
    fn a_line_is_a_message_or_an_entry_with_one() {
        let good = r#"{"seq":1,"type":"request","command":"threads"}"#;
        let bad = r#"{"seq":"1","type":"request","command":"threads"}"#;
        let quoted = serde_json::to_string(bad).expect("it is a string");
        let wrong = ["`seq`: expected an integer, found \"1\""];
        problems(good, &[]);
        problems(bad, &wrong);
        problems(&format!(r#"{{"seq":7,"message":{bad}}}"#), &wrong);
        problems(
            r#"{"type":"event","event":"exited","body":{"exitCode":1}}"#,
            &["`seq`: is required but not there"],
        );
        for name in ["message", "msg"] {
            let entry =
                |message: &str| format!(r#"{{"time":0.5,"direction":"in","{name}":{message}}}"#);
            problems(&entry(good), &[]);
            problems(&entry(bad), &wrong);
            problems(&entry(&quoted), &wrong);
        }
    }

    #[test]
    fn a_line_that_is_no_message_says_so() {
        problems(
            "{\"seq\":1",
            &["not JSON: EOF while parsing an object at column 8"],
        );
        problems(
            r#"{"time":1,"text":"{\"seq\":"}"#,
            &["not JSON: EOF while parsing a value at column 7"],
        );
        problems("7", &["expected an object, found 7"]);
        problems(
            r#"{"time":1,"a":{},"b":{}}"#,
            &[
                "`seq`: is required but not there",
                "`type`: is required but not there",
            ],
        );
        let deep = "[".repeat(100_000);
        problems(&deep, &["not JSON: recursion limit exceeded at column 128"]);
    }
}
