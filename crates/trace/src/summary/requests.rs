//! The arguments of requests.

use serde_json::Value;

use super::fields;
use crate::words::{counted, items, listed, plain, quoted, scalar, source, text};

/// How many breakpoints, filters and the like are listed.
const LISTED: usize = 12;

pub(super) fn details(command: &str, arguments: &Value) -> String {
    let field = |name: &str| text(arguments, name);
    match command {
        "initialize" => client(arguments),
        "launch" | "attach" => program(arguments),
        "setBreakpoints" => {
            let name = arguments.get("source").and_then(source);
            let name = name.unwrap_or_else(|| "no source".to_owned());
            match items(arguments, "breakpoints") {
                [] => format!("{name}: none"),
                asked => format!("{name}: {}", listed(asked.iter().map(line), LISTED)),
            }
        }
        "setFunctionBreakpoints" => names(arguments, "breakpoints", "name"),
        "setDataBreakpoints" => names(arguments, "breakpoints", "dataId"),
        "setInstructionBreakpoints" => names(arguments, "breakpoints", "instructionReference"),
        "setExceptionBreakpoints" => {
            let filters = items(arguments, "filters").iter().filter_map(scalar);
            let options = items(arguments, "filterOptions")
                .iter()
                .map(exception_filter);
            let all: Vec<_> = filters.chain(options).collect();
            match all.is_empty() {
                true => "none".to_owned(),
                false => listed(all, LISTED),
            }
        }
        "continue" | "next" | "stepIn" | "stepOut" | "stepBack" | "reverseContinue" | "pause"
        | "exceptionInfo" | "goto" => moving(arguments),
        "stackTrace" => {
            let first = arguments
                .get("startFrame")
                .and_then(Value::as_i64)
                .unwrap_or(0);
            let levels = arguments.get("levels").and_then(Value::as_i64).unwrap_or(0);
            let frames = match (first, levels) {
                (0, 0) => String::new(),
                (first, 0) => format!(", frames {first}…"),
                (first, levels) => format!(", frames {first}…{}", first.saturating_add(levels - 1)),
            };
            format!("{}{frames}", moving(arguments))
        }
        "scopes" | "restartFrame" | "stepInTargets" => numbered(arguments, "frame", "frameId"),
        "variables" => {
            let mut shown = numbered(arguments, "reference", "variablesReference");
            if let Some(filter) = field("filter") {
                shown += &format!(", {filter}");
            }
            if let Some(count) = field("count") {
                let start = field("start").unwrap_or_else(|| "0".to_owned());
                shown += &format!(", {count} from {start}");
            }
            shown
        }
        "evaluate" => evaluation(arguments, "expression"),
        "setVariable" => assignment(arguments, "name"),
        "setExpression" => assignment(arguments, "expression"),
        "dataBreakpointInfo" => field("name").unwrap_or_default(),
        "completions" => evaluation(arguments, "text"),
        "source" => {
            let named = arguments.get("source").and_then(source);
            named.unwrap_or_else(|| numbered(arguments, "source", "sourceReference"))
        }
        "breakpointLocations" | "gotoTargets" => {
            let name = arguments.get("source").and_then(source).unwrap_or_default();
            let end = field("endLine").map(|end| format!("…{end}"));
            format!(
                "{name}: {}{}",
                field("line").unwrap_or_default(),
                end.unwrap_or_default()
            )
        }
        _ => rarer(command, arguments),
    }
}

/// The arguments of requests that are sent less often.
fn rarer(command: &str, arguments: &Value) -> String {
    let field = |name: &str| text(arguments, name);
    match command {
        "readMemory" | "disassemble" | "writeMemory" => memory(arguments),
        "cancel" => match (field("requestId"), field("progressId")) {
            (Some(request), _) => format!("request {request}"),
            (None, Some(progress)) => format!("progress {progress}"),
            (None, None) => "nothing".to_owned(),
        },
        "disconnect" | "terminate" | "restart" | "configurationDone" | "threads"
        | "loadedSources" => flags(arguments),
        "runInTerminal" => {
            let words = items(arguments, "args").iter().filter_map(scalar);
            plain(&words.collect::<Vec<_>>().join(" "), 100)
        }
        "startDebugging" => {
            let configuration = arguments.get("configuration").unwrap_or(&Value::Null);
            let name = text(configuration, "name").or_else(|| text(configuration, "program"));
            let request = field("request").unwrap_or_default();
            format!("{request} {}", name.unwrap_or_default())
                .trim()
                .to_owned()
        }
        _ => fields(arguments),
    }
}

fn client(arguments: &Value) -> String {
    let client = text(arguments, "clientID").or_else(|| text(arguments, "clientName"));
    let client = client.unwrap_or_else(|| "an unnamed client".to_owned());
    match text(arguments, "adapterID") {
        Some(adapter) => format!("{client} for {adapter}"),
        None => client,
    }
}

fn program(arguments: &Value) -> String {
    let process = ["pid", "processId"]
        .iter()
        .find_map(|name| text(arguments, name));
    let program = ["program", "module", "coreFile"]
        .iter()
        .find_map(|name| text(arguments, name));
    let words = items(arguments, "args").iter().filter_map(scalar);
    let mut shown: Vec<String> = program.into_iter().chain(words).collect();
    if let Some(process) = process {
        shown.insert(0, format!("process {process}"));
    }
    match shown.is_empty() {
        true => fields(arguments),
        false => plain(&shown.join(" "), 100),
    }
}

/// The line of a breakpoint, with what it depends on.
fn line(breakpoint: &Value) -> String {
    let mut shown = text(breakpoint, "line").unwrap_or_else(|| "?".to_owned());
    if let Some(condition) = text(breakpoint, "condition") {
        shown += &format!(" if {condition}");
    }
    if let Some(count) = text(breakpoint, "hitCondition") {
        shown += &format!(" hit {count}");
    }
    if let Some(message) = text(breakpoint, "logMessage") {
        shown += &format!(" log {}", quoted(&message));
    }
    shown
}

fn names(arguments: &Value, list: &str, field: &str) -> String {
    let names = items(arguments, list)
        .iter()
        .filter_map(|one| text(one, field));
    let names: Vec<_> = names.collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => listed(names, LISTED),
    }
}

fn exception_filter(option: &Value) -> String {
    let name = text(option, "filterId").unwrap_or_else(|| "?".to_owned());
    match text(option, "condition") {
        Some(condition) => format!("{name} if {condition}"),
        None => name,
    }
}

/// The thread that moves, and how far.
fn moving(arguments: &Value) -> String {
    let mut shown = numbered(arguments, "thread", "threadId");
    if let Some(granularity) = text(arguments, "granularity") {
        shown += &format!(" by {granularity}");
    }
    if let Some(target) = text(arguments, "targetId") {
        shown += &format!(" target {target}");
    }
    if arguments.get("singleThread") == Some(&Value::Bool(true)) {
        shown += " alone";
    }
    shown
}

fn numbered(arguments: &Value, what: &str, field: &str) -> String {
    match text(arguments, field) {
        Some(number) => format!("{what} {number}"),
        None => format!("no {what}"),
    }
}

fn evaluation(arguments: &Value, what: &str) -> String {
    let expression = arguments.get(what).and_then(Value::as_str);
    let mut shown = quoted(expression.unwrap_or_default());
    if let Some(frame) = text(arguments, "frameId") {
        shown += &format!(" in frame {frame}");
    }
    if let Some(context) = text(arguments, "context") {
        shown += &format!(" ({context})");
    }
    shown
}

fn assignment(arguments: &Value, what: &str) -> String {
    let part = |field: &str| text(arguments, field).unwrap_or_default();
    format!("{} = {}", part(what), part("value"))
}

fn memory(arguments: &Value) -> String {
    let mut shown = text(arguments, "memoryReference").unwrap_or_default();
    let offset = arguments.get("offset").and_then(Value::as_i64).unwrap_or(0);
    if offset != 0 {
        shown += &format!("{offset:+}");
    }
    if let Some(count) = text(arguments, "count") {
        shown += &format!(", {count} bytes");
    }
    if let Some(count) = arguments.get("instructionCount").and_then(Value::as_u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        shown += &format!(", {}", counted(count, "instruction"));
    }
    if let Some(offset) = text(arguments, "instructionOffset") {
        shown += &format!(" from {offset}");
    }
    shown
}

/// The names of the fields that are true.
fn flags(arguments: &Value) -> String {
    let Value::Object(fields) = arguments else {
        return String::new();
    };
    let set = fields
        .iter()
        .filter(|(_, value)| **value == Value::Bool(true));
    listed(set.map(|(name, _)| plain(name, 40)), LISTED)
}
