//! Variables, and whether they have the values that the program has given them.

use serde_json::{Value, json};

use super::setup::Stop;
use crate::rules;
use crate::talk::{Failed, Talk};

/// The scopes of a frame that are cheap to look at.
pub(super) fn scopes(talk: &mut Talk<'_>, frame: i64) -> Vec<Value> {
    match talk.ask("scopes", json!({"frameId": frame})) {
        Ok(body) => body["scopes"].as_array().cloned().unwrap_or_default(),
        Err(Failed::Error(reason)) => {
            talk.finds(
                rules::SCOPES_FAIL,
                format!("`scopes` of the innermost frame failed: {reason}"),
            );
            Vec::new()
        }
        Err(_) => Vec::new(),
    }
}

/// The variables of a reference.
pub(super) fn children(talk: &mut Talk<'_>, reference: i64) -> Vec<Value> {
    match talk.ask("variables", json!({"variablesReference": reference})) {
        Ok(body) => body["variables"].as_array().cloned().unwrap_or_default(),
        Err(Failed::Error(reason)) => {
            talk.finds(
                rules::VARIABLES_FAIL,
                format!("`variables` of reference {reference} failed: {reason}"),
            );
            Vec::new()
        }
        Err(_) => Vec::new(),
    }
}

/// A variable of a frame by its name, with the reference of what it is in.
pub(super) fn find(talk: &mut Talk<'_>, stop: &Stop, name: &str) -> Option<(i64, Value)> {
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    for scope in scopes(talk, stop.frame_id()) {
        let reference = scope["variablesReference"].as_i64().unwrap_or_default();
        if scope["expensive"] == true || reference == 0 {
            continue;
        }
        let mut container = reference;
        let mut found = named(children(talk, reference), first);
        for field in rest.split('.').filter(|field| !field.is_empty()) {
            let Some(parent) = found else { break };
            container = parent["variablesReference"].as_i64().unwrap_or_default();
            found = match container {
                0 => None,
                _ => named(children(talk, container), field),
            };
        }
        if let Some(found) = found {
            return Some((container, found));
        }
    }
    None
}

fn named(variables: Vec<Value>, name: &str) -> Option<Value> {
    let is_it = |variable: &Value| {
        let found = variable["name"].as_str().unwrap_or_default();
        found == name || found.trim_start_matches('$') == name
    };
    variables.into_iter().find(is_it)
}

/// Whether a text has a value as a whole number or word.
pub(super) fn shows(text: &str, value: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    text.match_indices(value).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + value.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Checks the values that a mark says.
pub(super) fn check(talk: &mut Talk<'_>, stop: &Stop, mark: &str) {
    for (name, value) in talk.options.marks.values(mark).to_vec() {
        let Some((_, variable)) = find(talk, stop, &name) else {
            talk.finds(
                rules::VALUE_MISSING,
                format!("at the line marked `{mark}`, no scope has `{name}`"),
            );
            continue;
        };
        let shown = variable["value"].as_str().unwrap_or_default().to_owned();
        talk.expects(rules::VALUE_WRONG, shows(&shown, &value), || {
            format!("at the line marked `{mark}`, `{name}` is shown as {shown:?}; it is {value}")
        });
    }
}

/// Evaluates an expression in a frame.
pub(super) fn evaluate(
    talk: &mut Talk<'_>,
    stop: &Stop,
    expression: &str,
    context: &str,
) -> Result<Value, Failed> {
    talk.ask(
        "evaluate",
        json!({"expression": expression, "frameId": stop.frame_id(), "context": context}),
    )
}
