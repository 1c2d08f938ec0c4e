//! The example adapter, broken in one way at a time: each is found, by its own rule.

use crate::moved;
use crate::mutant::{Mutant, State, options};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dapple_check::check;
use serde_json::{Value, json};
use std::time::Duration;

/// A change of each response to a command.
pub fn responses(
    name: &'static str,
    command: &'static str,
    change: impl Fn(&mut State, &mut Value) + Send + Sync + 'static,
) -> Mutant {
    Mutant::of(name, move |state, mut messages| {
        for message in &mut messages {
            if message["type"] == "response" && message["command"] == command {
                change(state, message);
            }
        }
        messages
    })
}

/// A change of each event of a name.
pub fn events(
    name: &'static str,
    event: &'static str,
    change: impl Fn(&mut State, &mut Value) + Send + Sync + 'static,
) -> Mutant {
    Mutant::of(name, move |state, mut messages| {
        for message in &mut messages {
            if message["event"] == event {
                change(state, message);
            }
        }
        messages
    })
}

/// Leaves out the messages that `is_it` names.
pub fn without(
    name: &'static str,
    is_it: impl Fn(&State, &Value) -> bool + Send + Sync + 'static,
) -> Mutant {
    Mutant::of(name, move |state, mut messages| {
        messages.retain(|message| !is_it(state, message));
        messages
    })
}

/// A message more behind each that `is_it` names.
pub fn followed_by(
    name: &'static str,
    is_it: impl Fn(&State, &Value) -> bool + Send + Sync + 'static,
    more: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> Mutant {
    Mutant::of(name, move |state, mut messages| {
        let more: Vec<Value> = { messages.iter() }
            .filter(|it| is_it(state, it))
            .map(&more)
            .collect();
        messages.extend(more);
        messages
    })
}

pub fn event(name: &str, body: Value) -> Value {
    json!({"seq": 0, "type": "event", "event": name, "body": body})
}

pub fn is_response(message: &Value, command: &str) -> bool {
    message["type"] == "response" && message["command"] == command
}

/// The `n`th answer to a command, or event of a name, counted from 1.
fn nth(state: &State, message: &Value, name: &str, n: usize) -> bool {
    let is_it = message["command"] == name || message["event"] == name;
    is_it && state.counts.get(name) == Some(&n)
}

pub fn fail(message: &mut Value) {
    message["success"] = json!(false);
    message["message"] = json!("broken");
    message["body"] = json!({"error": {"id": 1, "format": "broken"}});
}

/// Whether the request that a response answers has a field.
pub fn asked(state: &State, message: &Value, field: &str) -> Value {
    let seq = message["request_seq"].as_i64().unwrap_or_default();
    state
        .asked
        .get(&seq)
        .map(|(_, arguments)| arguments[field].clone())
        .unwrap_or_default()
}

/// The response to a command is kept until the program has stopped or ended.
fn after_stop(name: &'static str, command: &'static str) -> Mutant {
    Mutant::of(name, move |state, messages| {
        let mut out = Vec::new();
        for message in messages {
            if is_response(&message, command) {
                state.kept.push(message);
                continue;
            }
            let is_stop = message["event"] == "stopped" || message["event"] == "terminated";
            out.push(message);
            if is_stop {
                out.append(&mut state.kept);
            }
        }
        out
    })
}

/// Messages and their order.
fn of_messages() -> Vec<Mutant> {
    let mut numbered = Mutant::of("sequence", |state, mut messages| {
        for message in &mut messages {
            state.seq += 2;
            message["seq"] = json!(state.seq);
        }
        messages
    });
    numbered.keeps_numbers = true;
    vec![
        numbered,
        responses("shape", "threads", |_, message| {
            message["body"]["threads"][0]["id"] = json!("1")
        }),
        followed_by(
            "framing",
            |_, it| is_response(it, "threads"),
            |_| json!({"raw": "Content-Length: 7\r\n\r\nno json"}),
        ),
        without("unanswered", |state, it| nth(state, it, "scopes", 1)),
        followed_by(
            "response-to-nothing",
            |_, it| is_response(it, "threads"),
            Value::clone,
        ),
        responses("wrong-command", "threads", |_, message| {
            message["command"] = json!("modules")
        }),
        Mutant::of("before-initialize-response", |state, messages| {
            let first = messages.iter().any(|it| is_response(it, "initialize"));
            match first && state.kept.is_empty() {
                true => [vec![event("output", json!({"output": "early"}))], messages].concat(),
                false => messages,
            }
        }),
        followed_by(
            "initialized-twice",
            |_, it| it["event"] == "initialized",
            Value::clone,
        ),
        followed_by(
            "redundant-continued",
            |_, it| is_response(it, "next"),
            |_| {
                event(
                    "continued",
                    json!({"threadId": 1, "allThreadsContinued": true}),
                )
            },
        ),
        followed_by(
            "after-terminated",
            |_, it| it["event"] == "terminated",
            |_| event("output", json!({"output": "late"})),
        ),
        followed_by(
            "no-such-progress",
            |_, it| it["event"] == "initialized",
            |_| event("progressEnd", json!({"progressId": "never"})),
        ),
        Mutant::of("progress-twice", |_, messages| {
            let start = event("progressStart", json!({"progressId": "p", "title": "t"}));
            let end = event("progressEnd", json!({"progressId": "p"}));
            match messages.iter().any(|it| it["event"] == "initialized") {
                true => [vec![start.clone(), end.clone(), start, end], messages].concat(),
                false => messages,
            }
        }),
        followed_by(
            "open-progress",
            |_, it| it["event"] == "initialized",
            |_| event("progressStart", json!({"progressId": "p", "title": "t"})),
        ),
        followed_by(
            "not-advertised",
            |_, it| it["event"] == "initialized",
            |_| json!({"seq": 0, "type": "request", "command": "runInTerminal", "arguments": {"cwd": "/", "args": ["true"]}}),
        ),
        responses("error-without-reason", "evaluate", |_, message| {
            if message["success"] == false {
                message["message"] = Value::Null;
                message
                    .as_object_mut()
                    .expect("an object")
                    .remove("message");
                message["body"] = json!({});
            }
        }),
        after_stop("response-after-step", "next"),
        after_stop("response-after-stop", "continue"),
        Mutant::of("died", |state, messages| {
            state.is_closed = state.counts.contains_key("scopes");
            messages
        }),
    ]
}

/// Start and end.
fn of_ends() -> Vec<Mutant> {
    vec![
        responses("initialize-fails", "initialize", |_, message| fail(message)),
        without("no-initialized", |_, it| it["event"] == "initialized"),
        responses("launch-fails", "launch", |_, message| fail(message)),
        responses("bad-launch-succeeds", "launch", |_, message| {
            succeed(message)
        }),
        responses("early-request-succeeds", "threads", |_, message| {
            if message["success"] == false {
                message["body"] = json!({"threads": []});
                succeed(message);
            }
        }),
        responses("second-initialize-succeeds", "initialize", |_, message| {
            message["body"] = json!({});
            succeed(message);
        }),
        without("no-exited", |_, it| it["event"] == "exited"),
        events("exit-code", "exited", |_, message| {
            message["body"]["exitCode"] = json!(77)
        }),
        without("no-terminated", |_, it| it["event"] == "terminated"),
        without("output-missing", |_, it| it["event"] == "output"),
        responses("disconnect-fails", "disconnect", |_, message| fail(message)),
    ]
}

pub fn succeed(message: &mut Value) {
    message["success"] = json!(true);
    message
        .as_object_mut()
        .expect("an object")
        .remove("message");
    if message["body"]["error"].is_object() {
        message.as_object_mut().expect("an object").remove("body");
    }
}

/// Breakpoints, stops and steps.
fn of_stops() -> Vec<Mutant> {
    vec![
        responses("breakpoint-count", "setBreakpoints", |_, message| {
            if let Some(all) = message["body"]["breakpoints"].as_array_mut() {
                all.pop();
            }
        }),
        responses("breakpoint-fails", "setBreakpoints", |_, message| {
            fail(message)
        }),
        responses("breakpoint-line", "setBreakpoints", |_, message| {
            message["body"]["breakpoints"][0]["line"] = json!(1);
        }),
        responses(
            "unverified-without-reason",
            "setBreakpoints",
            |_, message| {
                for one in message["body"]["breakpoints"]
                    .as_array_mut()
                    .into_iter()
                    .flatten()
                {
                    one.as_object_mut().expect("an object").remove("message");
                }
            },
        ),
        responses(
            "breakpoint-id-changes",
            "setBreakpoints",
            |state, message| {
                for one in message["body"]["breakpoints"]
                    .as_array_mut()
                    .into_iter()
                    .flatten()
                {
                    one["id"] = json!(1 + state.counts["setBreakpoints"]);
                }
            },
        ),
        followed_by(
            "unknown-breakpoint-changed",
            |_, it| is_response(it, "configurationDone"),
            |_| {
                event(
                    "breakpoint",
                    json!({"reason": "changed", "breakpoint": {"id": 99, "verified": true}}),
                )
            },
        ),
        Mutant::of("cleared-breakpoint-stops", |_, messages| messages).requests(|_, request| {
            let is_empty = request["arguments"]["breakpoints"]
                .as_array()
                .is_some_and(Vec::is_empty);
            let mut request = request;
            if request["command"] == "setBreakpoints" && is_empty {
                request["arguments"]["breakpoints"] = json!([{"line": 12}]);
            }
            Some(request)
        }),
        Mutant::of("condition-ignored", |_, messages| messages).requests(|_, mut request| {
            for one in request["arguments"]["breakpoints"]
                .as_array_mut()
                .into_iter()
                .flatten()
            {
                one.as_object_mut().expect("an object").remove("condition");
            }
            Some(request)
        }),
        responses("hit-condition-ignored", "initialize", |_, message| {
            message["body"]["supportsHitConditionalBreakpoints"] = json!(true);
        }),
        responses("logpoint-stops", "initialize", |_, message| {
            message["body"]["supportsLogPoints"] = json!(true);
        }),
        Mutant::of("no-stop", |_, messages| messages).requests(|_, mut request| {
            if request["command"] == "setBreakpoints" {
                request["arguments"]["breakpoints"] = json!([]);
            }
            Some(request)
        }),
        responses("stop-line", "stackTrace", |_, message| {
            message["body"]["stackFrames"][0]["line"] = json!(1);
        }),
        events("stop-reason", "stopped", |_, message| {
            message["body"]["reason"] = json!("exception")
        }),
        events("step-reason", "stopped", |_, message| {
            if message["body"]["reason"] == "step" {
                message["body"]["reason"] = json!("pause");
            }
        }),
        events("stop-without-thread", "stopped", |_, message| {
            message["body"]
                .as_object_mut()
                .expect("an object")
                .remove("threadId");
        }),
        events("stop-unknown-thread", "stopped", |_, message| {
            message["body"]["threadId"] = json!(5)
        })
        .requests(|_, mut request| {
            if request["arguments"]["threadId"] == 5 {
                request["arguments"]["threadId"] = json!(1);
            }
            Some(request)
        }),
        responses("no-threads", "threads", |_, message| {
            message["body"] = json!({"threads": []})
        }),
        Mutant::of("step-line", |_, messages| messages).requests(|_, mut request| {
            if request["command"] == "stepIn" {
                request["command"] = json!("next");
            }
            Some(request)
        }),
        responses("resume-fails", "next", |_, message| fail(message)),
        responses("step-back-line", "initialize", |_, message| {
            message["body"]["supportsStepBack"] = json!(true);
        })
        .requests(|_, mut request| {
            if request["command"] == "stepBack" {
                request["command"] = json!("next");
            }
            Some(request)
        }),
    ]
}

/// What a stopped program shows.
fn of_looks() -> Vec<Mutant> {
    vec![
        responses("stack-fails", "stackTrace", |_, message| {
            message["body"] = json!({"stackFrames": []});
        }),
        responses("stack-paging", "stackTrace", |state, message| {
            if asked(state, message, "levels") == 1
                && let Some(frames) = message["body"]["stackFrames"].as_array_mut()
                && let Some(first) = frames.first().cloned()
            {
                frames.push(first);
            }
        }),
        responses("total-frames", "stackTrace", |_, message| {
            if message["success"] == true {
                message["body"]["totalFrames"] = json!(0);
            }
        }),
        responses("frame-ids", "stackTrace", |_, message| {
            if let Some(frames) = message["body"]["stackFrames"].as_array_mut()
                && let Some(first) = frames.first().cloned()
            {
                frames.push(first);
            }
        }),
        responses("source-missing", "stackTrace", |_, message| {
            if message["success"] == true {
                message["body"]["stackFrames"][0]["source"] = json!({"path": "/no/such/file"});
            }
        }),
        responses("source-fails", "stackTrace", |_, message| {
            if message["success"] == true {
                message["body"]["stackFrames"][0]["source"] = json!({"sourceReference": 7});
            }
        }),
        responses("scopes-fail", "scopes", |_, message| fail(message)),
        responses("variables-fail", "variables", |_, message| fail(message)),
        responses("value-missing", "variables", |_, message| {
            if message["success"] == true {
                message["body"]["variables"] = json!([]);
            }
        }),
        responses("value-wrong", "variables", |_, message| {
            for one in message["body"]["variables"]
                .as_array_mut()
                .into_iter()
                .flatten()
            {
                one["value"] = json!("4711");
            }
        }),
        responses("evaluate-name", "variables", |_, message| {
            for one in message["body"]["variables"]
                .as_array_mut()
                .into_iter()
                .flatten()
            {
                one["evaluateName"] = json!("not its name");
            }
        }),
        responses("evaluate-fails", "evaluate", |_, message| fail(message)),
        responses("bad-expression-succeeds", "evaluate", |_, message| {
            if message["success"] == false {
                message["body"] = json!({"result": "0", "variablesReference": 0});
                succeed(message);
            }
        }),
        Mutant::of("set-variable-has-no-effect", |_, messages| messages).requests(
            |_, mut request| {
                if request["command"] == "setVariable" {
                    request["arguments"]["name"] = json!("another");
                }
                Some(request)
            },
        ),
        responses("set-value", "setVariable", |_, message| {
            message["body"] = json!({"value": "4711"});
        }),
        Mutant::of("stale-frame", |_, messages| messages).requests(|state, mut request| {
            // The frame that the adapter knows now stands for each.
            if request["command"] == "scopes" && request["arguments"]["frameId"] == 1 {
                let stops = state.counts.get("stopped").copied().unwrap_or_default();
                request["arguments"]["frameId"] = json!(stops);
            }
            Some(request)
        }),
        responses("unknown-reference-succeeds", "variables", |_, message| {
            if message["success"] == false {
                message["body"] = json!({"variables": []});
                succeed(message);
            }
        }),
    ]
}

/// Capabilities and bad input.
fn of_capabilities() -> Vec<Mutant> {
    vec![
        responses("advertised-fails", "initialize", |_, message| {
            message["body"]["supportsModulesRequest"] = json!(true);
        }),
        responses("works-unadvertised", "initialize", |_, message| {
            message["body"]
                .as_object_mut()
                .expect("an object")
                .remove("supportsSetVariable");
        }),
        responses(
            "unknown-command-succeeds",
            "dapple/noSuchRequest",
            |_, message| succeed(message),
        ),
        responses("bad-arguments-succeed", "evaluate", |state, message| {
            if asked(state, message, "expression") == 7 {
                message["body"] = json!({"result": "0", "variablesReference": 0});
                succeed(message);
            }
        }),
        responses("unknown-field-fails", "stackTrace", |state, message| {
            if asked(state, message, "dappleUnknown").is_object() {
                fail(message);
            }
        }),
    ]
}

/// An adapter that has memory: the bytes at an address are its lowest ones, and each is an instruction of one byte.
fn with_memory(
    name: &'static str,
    change: impl Fn(&mut State, &mut Value) + Send + Sync + 'static,
) -> Mutant {
    Mutant::of(name, move |state, mut messages| {
        for message in &mut messages {
            match message["command"].as_str() {
                Some("initialize") => {
                    message["body"]["supportsReadMemoryRequest"] = json!(true);
                    message["body"]["supportsDisassembleRequest"] = json!(true);
                }
                Some("stackTrace") if message["success"] == true => {
                    message["body"]["stackFrames"][0]["instructionPointerReference"] =
                        json!("0x10");
                }
                Some("readMemory") => {
                    let offset = asked(state, message, "offset").as_i64().unwrap_or_default();
                    let count = asked(state, message, "count").as_i64().unwrap_or_default();
                    let bytes: Vec<u8> = (0..count).map(|at| (16 + offset + at) as u8).collect();
                    let address = format!("{:#x}", 16 + offset);
                    message["body"] = json!({"address": address, "data": STANDARD.encode(bytes)});
                    succeed(message);
                }
                Some("disassemble") => {
                    let count = asked(state, message, "instructionCount")
                        .as_i64()
                        .unwrap_or_default();
                    let first = asked(state, message, "instructionOffset").as_i64();
                    let one = |at: i64| {
                        let at = at + first.unwrap_or_default();
                        let address = format!("{:#x}", 16 + at);
                        json!({"address": address, "instruction": "nop", "instructionBytes": format!("{:02x}", 16 + at)})
                    };
                    let all: Vec<Value> = (0..count).map(one).collect();
                    message["body"] = json!({"instructions": all});
                    succeed(message);
                }
                _ => {}
            }
            change(state, message);
        }
        messages
    })
}

/// Memory and disassembly.
fn of_memory() -> Vec<Mutant> {
    vec![
        with_memory("memory-fails", |_, message| {
            if is_response(message, "readMemory") {
                fail(message);
            }
        }),
        with_memory("memory-length", |_, message| {
            if is_response(message, "readMemory") {
                message["body"]["data"] = json!("!!");
            }
        }),
        with_memory("memory-disagrees", |state, message| {
            if is_response(message, "readMemory") && asked(state, message, "offset") == 4 {
                message["body"]["data"] = json!(STANDARD.encode([0, 0, 0, 0]));
            }
        }),
        with_memory("disassembly-count", |_, message| {
            if let Some(all) = message["body"]["instructions"].as_array_mut() {
                all.pop();
            }
        }),
        with_memory("disassembly-order", |_, message| {
            if let Some(all) = message["body"]["instructions"].as_array_mut() {
                all.reverse();
            }
        }),
        with_memory("memory-address", |_, message| {
            if is_response(message, "readMemory") {
                message["body"]["address"] = json!("16");
            }
        }),
        with_memory("disassembly-offset", |state, message| {
            if is_response(message, "disassemble")
                && asked(state, message, "instructionOffset") == -1
            {
                let second = json!({"address": "0x11", "instruction": "nop"});
                message["body"]["instructions"][1] = second;
            }
        }),
        with_memory("disassembly-disagrees", |_, message| {
            if is_response(message, "disassemble") {
                message["body"]["instructions"][0]["instructionBytes"] = json!("ff");
            }
        }),
    ]
}

#[test]
fn an_adapter_with_memory_has_none_of_the_faults_of_memory() {
    let report = check(&with_memory("none", |_, _| ()), &options());
    assert!(report.findings.is_empty(), "{}", report.text());
}

#[test]
fn broken_memory_is_found() {
    all_found(of_memory());
}

fn found(mutant: &Mutant) -> Result<(), String> {
    let mut options = options();
    // What waits in vain here does so for this long.
    options.patience = Duration::from_secs(2);
    let report = check(mutant, &options);
    match report.findings.iter().any(|one| one.rule == mutant.name) {
        true => Ok(()),
        false => Err(format!("{}: not found in\n{}", mutant.name, report.text())),
    }
}

pub fn all_found(mutants: Vec<Mutant>) {
    let results: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = mutants
            .iter()
            .map(|it| scope.spawn(move || found(it)))
            .collect();
        running
            .into_iter()
            .map(|it| it.join().expect("no panic"))
            .collect()
    });
    let missing: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn broken_messages_are_found() {
    all_found(of_messages());
}

#[test]
fn broken_starts_and_ends_are_found() {
    all_found(of_ends());
}

#[test]
fn broken_stops_are_found() {
    all_found(of_stops());
}

#[test]
fn broken_looks_are_found() {
    all_found(of_looks());
}

#[test]
fn broken_capabilities_are_found() {
    all_found(of_capabilities());
}

#[test]
fn each_mutant_has_a_rule_of_its_own_and_nearly_each_rule_a_mutant() {
    let all = [
        of_messages(),
        of_ends(),
        of_stops(),
        of_looks(),
        of_capabilities(),
        of_memory(),
        moved::of_hits(),
        moved::of_granularity(),
        moved::of_moves(),
        moved::of_clients(),
    ]
    .concat_names();
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len());
    let page = include_str!("../../../docs/protocol.md");
    let counted = format!("in one way for each of {} rules", all.len());
    assert!(page.contains(&counted), "{counted}");
    let without: Vec<_> = { dapple_check::rules::ALL.iter() }
        .map(|rule| rule.name)
        .filter(|rule| !different.contains(rule))
        .collect();
    // `child-session-fails` has a test of its own. The example adapter has neither function breakpoints, log points nor arrays, runs in this process and answers at once.
    assert_eq!(
        without,
        [
            "child-session-fails",
            "breakpoint-unverified",
            "log-missing",
            "function-breakpoint-missed",
            "variables-paging",
            "cancelled-unanswered",
            "survives-disconnect",
            "survives-client",
            "debuggee-survives",
        ]
    );
}

trait Names {
    fn concat_names(self) -> Vec<&'static str>;
}

impl<const N: usize> Names for [Vec<Mutant>; N] {
    fn concat_names(self) -> Vec<&'static str> {
        self.into_iter()
            .flatten()
            .map(|mutant| mutant.name)
            .collect()
    }
}
