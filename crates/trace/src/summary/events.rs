//! What events report.

use serde_json::Value;

use super::fields;
use crate::words::{items, listed, plain, quoted, scalar, source, text};

pub(super) fn details(event: &str, body: &Value) -> String {
    let field = |name: &str| text(body, name);
    let part = |name: &str| field(name).unwrap_or_default();
    match event {
        "stopped" => stopped(body),
        "continued" => match body.get("allThreadsContinued") {
            Some(Value::Bool(true)) => format!("thread {} and all others", part("threadId")),
            _ => format!("thread {}", part("threadId")),
        },
        "exited" => format!("code {}", part("exitCode")),
        "thread" => format!("{} {}", part("threadId"), part("reason")),
        "output" => {
            let category = field("category").unwrap_or_else(|| "console".to_owned());
            let output = body.get("output").and_then(Value::as_str);
            format!("{category} {}", quoted(output.unwrap_or_default()))
        }
        "breakpoint" => {
            let breakpoint = body.get("breakpoint").unwrap_or(&Value::Null);
            let mut shown = part("reason");
            if let Some(id) = text(breakpoint, "id") {
                shown += &format!(" {id}");
            }
            if let (Some(source), Some(line)) = (
                breakpoint.get("source").and_then(source),
                text(breakpoint, "line"),
            ) {
                shown += &format!(" {source}:{line}");
            }
            match breakpoint.get("verified") {
                Some(Value::Bool(true)) => shown += " verified",
                _ => shown += " not verified",
            }
            shown
        }
        "module" => {
            let module = body.get("module").unwrap_or(&Value::Null);
            format!(
                "{} {}",
                part("reason"),
                text(module, "name").unwrap_or_default()
            )
        }
        "loadedSource" => {
            let source = body.get("source").and_then(source).unwrap_or_default();
            format!("{} {source}", part("reason"))
        }
        "process" => {
            let process = field("systemProcessId").map(|id| format!(" ({id})"));
            format!("{}{}", part("name"), process.unwrap_or_default())
        }
        "progressStart" => format!("{} {}", part("progressId"), quoted(&part("title"))),
        "progressUpdate" | "progressEnd" => {
            let message = field("message").map(|message| format!(" {}", quoted(&message)));
            format!("{}{}", part("progressId"), message.unwrap_or_default())
        }
        "capabilities" => match body.get("capabilities") {
            Some(Value::Object(fields)) => listed(fields.keys().map(|name| plain(name, 60)), 3),
            _ => String::new(),
        },
        "invalidated" => listed(items(body, "areas").iter().filter_map(scalar), 6),
        "memory" => format!("{}, {} bytes", part("memoryReference"), part("count")),
        _ => fields(body),
    }
}

fn stopped(body: &Value) -> String {
    let mut shown = text(body, "reason").unwrap_or_default();
    if let Some(thread) = text(body, "threadId") {
        shown += &format!(" thread {thread}");
    }
    let hit: Vec<_> = items(body, "hitBreakpointIds")
        .iter()
        .filter_map(scalar)
        .collect();
    if !hit.is_empty() {
        shown += &format!(" (hit {})", hit.join(", "));
    }
    let description = body.get("text").or_else(|| body.get("description"));
    if let Some(description) = description.and_then(Value::as_str) {
        shown += &format!(" {}", quoted(description));
    }
    shown
}
