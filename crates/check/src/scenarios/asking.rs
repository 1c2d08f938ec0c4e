//! Requests that depend on capabilities: those that are advertised succeed, and those that aren't fail.

use serde_json::{Value, json};

use super::setup::{Stop, at_stop, disconnect, source};
use super::values;
use crate::rules;
use crate::talk::{Failed, Talk};

/// Sends each request that changes nothing.
pub(super) fn each_request(talk: &mut Talk<'_>) {
    if let Some(stop) = at_stop(talk) {
        let (advertised, others): (Vec<_>, Vec<_>) = { requests(talk, &stop).into_iter() }
            .partition(|(_, capability, _)| talk.has(capability));
        for (command, capability, arguments) in advertised {
            request(talk, command, capability, arguments);
        }
        data_breakpoint(talk, &stop);
        cancelled(talk, &stop);
        // Some adapters don't survive what they don't advertise, and some don't answer it.
        let mut unanswered = 0;
        for (command, capability, arguments) in others {
            let is_answered = request(talk, command, capability, arguments);
            unanswered += usize::from(!is_answered);
            if unanswered == 2 {
                break;
            }
        }
    }
    disconnect(talk);
}

/// The requests with their capabilities, and arguments that fit the stop.
fn requests(talk: &mut Talk<'_>, stop: &Stop) -> Vec<(&'static str, &'static str, Value)> {
    let source = source(talk);
    let line = stop.line();
    let frame = stop.frame_id();
    let pointer = stop.frame["instructionPointerReference"].clone();
    let mut all = vec![
        (
            "breakpointLocations",
            "supportsBreakpointLocationsRequest",
            json!({"source": source, "line": line}),
        ),
        (
            "completions",
            "supportsCompletionsRequest",
            json!({"text": "t", "column": 2, "frameId": frame}),
        ),
        (
            "modules",
            "supportsModulesRequest",
            json!({"startModule": 0, "moduleCount": 1}),
        ),
        ("loadedSources", "supportsLoadedSourcesRequest", json!({})),
        (
            "gotoTargets",
            "supportsGotoTargetsRequest",
            json!({"source": source, "line": line}),
        ),
        (
            "stepInTargets",
            "supportsStepInTargetsRequest",
            json!({"frameId": frame}),
        ),
        (
            "setFunctionBreakpoints",
            "supportsFunctionBreakpoints",
            json!({"breakpoints": []}),
        ),
        (
            "setDataBreakpoints",
            "supportsDataBreakpoints",
            json!({"breakpoints": []}),
        ),
        (
            "setInstructionBreakpoints",
            "supportsInstructionBreakpoints",
            json!({"breakpoints": []}),
        ),
    ];
    if !pointer.is_null() {
        let memory = json!({"memoryReference": pointer, "count": 4});
        let code = json!({"memoryReference": pointer, "instructionCount": 1});
        all.push(("readMemory", "supportsReadMemoryRequest", memory));
        all.push(("disassemble", "supportsDisassembleRequest", code));
    }
    let number = { talk.options.marks.values("stop").to_vec() }
        .into_iter()
        .find(|(name, value)| !name.contains('.') && value.parse::<i64>().is_ok());
    if let Some((name, value)) = number
        && let Some((container, _)) = values::find(talk, stop, &name)
    {
        let variable = json!({"variablesReference": container, "name": name, "value": value});
        let expression = json!({"expression": name, "value": value, "frameId": frame});
        let data = json!({"variablesReference": container, "name": name});
        all.push(("setVariable", "supportsSetVariable", variable));
        all.push(("setExpression", "supportsSetExpression", expression));
        all.push(("dataBreakpointInfo", "supportsDataBreakpoints", data));
    }
    all
}

/// Sends a request. Returns whether it was answered.
fn request(talk: &mut Talk<'_>, command: &str, capability: &str, arguments: Value) -> bool {
    if talk.is_gone() {
        return true;
    }
    let is_advertised = talk.has(capability);
    let asked = talk.ask(command, arguments);
    let is_answered = asked != Err(Failed::Unanswered);
    match asked {
        Ok(_) => {
            talk.expects(rules::WORKS_UNADVERTISED, is_advertised, || {
                format!("`{command}` succeeded, and `{capability}` is not advertised")
            });
        }
        Err(Failed::Error(reason)) => {
            talk.expects(rules::ADVERTISED_FAILS, !is_advertised, || {
                format!("`{command}` failed ({reason}), and `{capability}` is advertised")
            });
        }
        Err(_) => {}
    }
    is_answered
}

/// The id that `dataBreakpointInfo` gives can be used.
fn data_breakpoint(talk: &mut Talk<'_>, stop: &Stop) {
    if !talk.has("supportsDataBreakpoints") {
        return;
    }
    let Some((name, _)) = talk.options.marks.values("stop").first().cloned() else {
        return;
    };
    let Some((container, _)) = values::find(talk, stop, &name) else {
        return;
    };
    let asked = talk.ask(
        "dataBreakpointInfo",
        json!({"variablesReference": container, "name": name}),
    );
    let Ok(id) = asked.map(|body| body["dataId"].clone()) else {
        return;
    };
    if id.is_null() {
        return;
    }
    let set = talk.ask(
        "setDataBreakpoints",
        json!({"breakpoints": [{"dataId": id, "accessType": "write"}]}),
    );
    match set {
        Ok(body) => {
            let count = body["breakpoints"].as_array().map_or(0, Vec::len);
            talk.expects(rules::BREAKPOINT_COUNT, count == 1, || {
                format!("one data breakpoint was asked for, {count} answered")
            });
        }
        Err(Failed::Error(reason)) => {
            talk.finds(
                rules::ADVERTISED_FAILS,
                format!("`setDataBreakpoints` failed: {reason}"),
            );
        }
        Err(_) => {}
    }
    talk.ask("setDataBreakpoints", json!({"breakpoints": []}))
        .ok();
}

/// A request that was cancelled is answered, and so is the cancelling.
fn cancelled(talk: &mut Talk<'_>, stop: &Stop) {
    if !talk.has("supportsCancelRequest") || talk.is_gone() {
        return;
    }
    let asked = talk.send("stackTrace", json!({"threadId": stop.thread}));
    let cancel = talk.send("cancel", json!({"requestId": asked.seq}));
    if let Err(Failed::Error(reason)) = talk.wait(&cancel) {
        talk.finds(
            rules::ADVERTISED_FAILS,
            format!("`cancel` failed: {reason}"),
        );
    }
    let is_answered = !matches!(talk.wait(&asked), Err(Failed::Unanswered));
    talk.expects(rules::CANCELLED_UNANSWERED, is_answered, || {
        "a request that was cancelled got no response".to_owned()
    });
}
