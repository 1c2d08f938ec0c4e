//! The results of requests.

use serde_json::Value;

use super::fields;
use crate::words::{counted, items, listed, plain, quoted, source, text};

/// How many threads, variables and the like are named.
const NAMED: usize = 3;

pub(super) fn details(command: &str, arguments: &Value, body: &Value) -> String {
    match command {
        "initialize" => {
            let set = body.as_object().map_or(0, |fields| {
                fields
                    .values()
                    .filter(|value| **value == Value::Bool(true))
                    .count()
            });
            match set {
                1 => "1 capability".to_owned(),
                _ => format!("{set} capabilities"),
            }
        }
        "setBreakpoints"
        | "setFunctionBreakpoints"
        | "setDataBreakpoints"
        | "setInstructionBreakpoints"
        | "setExceptionBreakpoints" => breakpoints(arguments, body),
        "threads" => {
            let threads = items(body, "threads");
            let name = |thread: &Value| {
                let part = |field: &str| text(thread, field).unwrap_or_default();
                format!("{} {}", part("id"), part("name"))
            };
            with_names(threads, "thread", name)
        }
        "stackTrace" => stack(body),
        "scopes" => {
            let scopes = items(body, "scopes").iter();
            listed(scopes.filter_map(|scope| text(scope, "name")), 6)
        }
        "variables" => with_names(items(body, "variables"), "variable", |variable| {
            let part = |field: &str| text(variable, field).unwrap_or_default();
            format!("{} = {}", part("name"), plain(&part("value"), 24))
        }),
        "evaluate" => value(body, "result"),
        "setVariable" | "setExpression" => value(body, "value"),
        "modules" => with_names(items(body, "modules"), "module", named),
        "loadedSources" => with_names(items(body, "sources"), "source", |one| {
            source(one).unwrap_or_default()
        }),
        "completions" => with_names(items(body, "targets"), "completion", |target| {
            text(target, "label").unwrap_or_default()
        }),
        "gotoTargets" | "stepInTargets" => with_names(items(body, "targets"), "target", |target| {
            text(target, "label").unwrap_or_default()
        }),
        _ => rarer(command, body),
    }
}

/// The results of requests that are sent less often.
fn rarer(command: &str, body: &Value) -> String {
    match command {
        "breakpointLocations" => with_names(items(body, "breakpoints"), "location", |location| {
            text(location, "line").unwrap_or_default()
        }),
        "source" => {
            let content = body
                .get("content")
                .and_then(Value::as_str)
                .unwrap_or_default();
            counted(content.len(), "byte")
        }
        "readMemory" => {
            let data = body.get("data").and_then(Value::as_str).unwrap_or_default();
            let padding = data.bytes().rev().take_while(|&byte| byte == b'=').count();
            let read = counted((data.len() / 4 * 3).saturating_sub(padding), "byte");
            match text(body, "unreadableBytes") {
                Some(count) => format!("{read}, {count} unreadable"),
                None => read,
            }
        }
        "disassemble" => with_names(items(body, "instructions"), "instruction", |one| {
            text(one, "instruction").unwrap_or_default()
        }),
        "exceptionInfo" => {
            let id = text(body, "exceptionId").unwrap_or_default();
            let description = text(body, "description").map(|text| format!(": {text}"));
            format!("{id}{}", description.unwrap_or_default())
        }
        "dataBreakpointInfo" => {
            let description = text(body, "description").unwrap_or_default();
            match text(body, "dataId") {
                Some(id) => format!("{description} ({id})"),
                None => format!("not possible: {description}"),
            }
        }
        _ => fields(body),
    }
}

/// Why a request failed.
pub(super) fn error(message: Option<&str>, body: &Value) -> String {
    let details = body.get("error").unwrap_or(&Value::Null);
    let format = details
        .get("format")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut shown = format.to_owned();
    if let Some(Value::Object(variables)) = details.get("variables") {
        for (name, value) in variables {
            let value = value.as_str().unwrap_or_default();
            shown = shown.replace(&format!("{{{name}}}"), value);
        }
    }
    let message = message.unwrap_or_default();
    match (message.is_empty(), shown.is_empty()) {
        (true, true) => "without a reason".to_owned(),
        (true, false) => plain(&shown, 200),
        (false, true) => plain(message, 200),
        _ if shown.contains(message) => plain(&shown, 200),
        _ => plain(&format!("{message}: {shown}"), 200),
    }
}

/// The lines or names of the breakpoints that are verified, and of those that are not with the reason.
fn breakpoints(arguments: &Value, body: &Value) -> String {
    let asked = items(arguments, "breakpoints");
    let (mut verified, mut refused) = (Vec::new(), Vec::new());
    for (index, answer) in items(body, "breakpoints").iter().enumerate() {
        let wanted = asked.get(index).and_then(|one| {
            ["line", "name", "dataId", "instructionReference"]
                .iter()
                .find_map(|field| text(one, field))
        });
        let line = text(answer, "line");
        let name = match (wanted, line) {
            (Some(wanted), Some(line)) if wanted != line => format!("{wanted}→{line}"),
            (Some(wanted), _) => wanted,
            (None, Some(line)) => line,
            (None, None) => format!("#{}", index + 1),
        };
        if answer.get("verified") == Some(&Value::Bool(true)) {
            verified.push(name);
        } else {
            let reason = text(answer, "message").map(|reason| format!(": {reason}"));
            refused.push(format!("{name} not{}", reason.unwrap_or_default()));
        }
    }
    let mut shown = Vec::new();
    if !verified.is_empty() {
        shown.push(format!("{} verified", listed(verified, 12)));
    }
    if !refused.is_empty() {
        shown.push(listed(refused, 6));
    }
    shown.join(", ")
}

fn stack(body: &Value) -> String {
    let frames = items(body, "stackFrames");
    let total = body.get("totalFrames").and_then(Value::as_u64);
    let total = total.and_then(|total| usize::try_from(total).ok());
    let mut shown = match total {
        Some(total) if total > frames.len() => format!("{} of {total} frames", frames.len()),
        _ => counted(frames.len(), "frame"),
    };
    if let Some(top) = frames.first() {
        shown += &format!(": {}", text(top, "name").unwrap_or_default());
        let line = text(top, "line").unwrap_or_default();
        if let Some(source) = top.get("source").and_then(source) {
            shown += &format!(" at {source}:{line}");
        }
    }
    shown
}

fn value(body: &Value, field: &str) -> String {
    let text = body.get(field).and_then(Value::as_str).unwrap_or_default();
    match crate::words::text(body, "type") {
        Some(kind) if !kind.is_empty() => format!("{} ({kind})", quoted(text)),
        _ => quoted(text),
    }
}

fn named(one: &Value) -> String {
    text(one, "name").unwrap_or_default()
}

/// The number of things, and the names of the first of them.
fn with_names(all: &[Value], what: &str, name: impl Fn(&Value) -> String) -> String {
    let count = counted(all.len(), what);
    match all.is_empty() {
        true => count,
        false => format!("{count}: {}", listed(all.iter().map(name), NAMED)),
    }
}
