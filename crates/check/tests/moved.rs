//! The example adapter with the ids of breakpoints, granularities and requests that move the program: whole, and broken in one way at a time.

use crate::broken::{all_found, asked, event, fail, is_response, responses, succeed};
use crate::mutant::{Mutant, State, options};
use dapple_check::{Scenario, check};
use serde_json::{Value, json};
use std::time::Duration;

/// The adapter advertises a capability.
pub fn advertises(message: &mut Value, capability: &str) {
    if is_response(message, "initialize") {
        message["body"][capability] = json!(true);
    }
}

/// Gives ids to breakpoints, by their lines, and names the last breakpoint set where the program stops at one.
fn with_ids(
    name: &'static str,
    change: impl Fn(&mut State, &mut Value) + Send + Sync + 'static,
) -> Mutant {
    Mutant::of(name, move |state, mut messages| {
        for message in &mut messages {
            if is_response(message, "setBreakpoints") {
                let all = message["body"]["breakpoints"].as_array_mut();
                for one in all.into_iter().flatten() {
                    one["id"] = match one["verified"] == true {
                        true => one["line"].clone(),
                        false => json!(1000),
                    };
                    if one["verified"] == true {
                        state.kept = vec![one["id"].clone()];
                    }
                }
            }
            if message["event"] == "stopped" && message["body"]["reason"] == "breakpoint" {
                message["body"]["hitBreakpointIds"] = json!(state.kept);
            }
            change(state, message);
        }
        messages
    })
}

/// Which breakpoints triggered a stop.
pub fn of_hits() -> Vec<Mutant> {
    let named = |name, ids: Value| {
        with_ids(name, move |_, message| {
            if message["body"]["hitBreakpointIds"].is_array() {
                message["body"]["hitBreakpointIds"] = ids.clone();
            }
        })
    };
    vec![
        named("unknown-breakpoint-hit", json!([99])),
        // The one on a line without code.
        named("wrong-breakpoint-hit", json!([1000])),
        named("hit-breakpoints-missing", json!([])),
    ]
}

/// Advertises granularities: each line is an instruction of four bytes.
pub fn with_granularity(
    name: &'static str,
    change: impl Fn(&mut State, &mut Value) + Send + Sync + 'static,
) -> Mutant {
    Mutant::of(name, move |state, mut messages| {
        for message in &mut messages {
            advertises(message, "supportsSteppingGranularity");
            if is_response(message, "stackTrace") && message["success"] == true {
                let frame = &mut message["body"]["stackFrames"][0];
                let address = 4 * frame["line"].as_i64().unwrap_or_default();
                frame["instructionPointerReference"] = json!(format!("{address:#x}"));
            }
            change(state, message);
        }
        messages
    })
}

/// A pointer that moves by more bytes a line than an instruction has.
fn with_far_lines() -> Mutant {
    with_granularity("instruction-step", |_, message| {
        if is_response(message, "stackTrace") && message["success"] == true {
            let frame = &mut message["body"]["stackFrames"][0];
            let address = 4096 * frame["line"].as_i64().unwrap_or_default();
            frame["instructionPointerReference"] = json!(address.to_string());
        }
    })
}

/// Steps by their granularity.
pub fn of_granularity() -> Vec<Mutant> {
    let stays = Mutant::of("line-step", |_, mut messages| {
        let mut stops = Vec::new();
        for message in &mut messages {
            advertises(message, "supportsSteppingGranularity");
            if is_response(message, "pause") {
                message["command"] = json!("next");
                let body = json!({"reason": "step", "threadId": 1, "allThreadsStopped": true});
                stops.push(event("stopped", body));
            }
        }
        [messages, stops].concat()
    });
    vec![
        with_granularity("instruction-step", |_, message| {
            if is_response(message, "stackTrace") && message["success"] == true {
                message["body"]["stackFrames"][0]["instructionPointerReference"] = json!("0x10");
            }
        }),
        // The example adapter does nothing to pause a program that is stopped.
        stays.requests(|_, mut request| {
            if request["arguments"]["granularity"] == "line" {
                request["command"] = json!("pause");
            }
            Some(request)
        }),
        responses("granularity-not-ignored", "next", |state, message| {
            if asked(state, message, "granularity").is_string() {
                fail(message);
            }
        }),
    ]
}

/// Another request in the place of one that the example adapter doesn't have, and the answer as if it were that.
fn in_place(
    name: &'static str,
    capability: &'static str,
    command: &'static str,
    other: &'static str,
    change: impl Fn(&mut State, &mut Value) + Send + Sync + 'static,
) -> Mutant {
    let mutant = Mutant::of(name, move |state, mut messages| {
        for message in &mut messages {
            advertises(message, capability);
            let seq = message["request_seq"].as_i64().unwrap_or_default();
            if state.asked.get(&seq).is_some_and(|(it, _)| it == command) {
                message["command"] = json!(command);
                message["body"] = json!({});
            }
            change(state, message);
        }
        messages
    });
    mutant.requests(move |_, mut request| {
        if request["command"] == command {
            request["command"] = json!(other);
        }
        Some(request)
    })
}

/// Requests that change where the program goes.
pub fn of_moves() -> Vec<Mutant> {
    vec![
        in_place(
            "goto-line",
            "supportsGotoTargetsRequest",
            "goto",
            "next",
            |state, message| {
                if is_response(message, "gotoTargets") {
                    let line = asked(state, message, "line");
                    message["body"] = json!({"targets": [{"id": 1, "label": "it", "line": line}]});
                    succeed(message);
                }
            },
        ),
        in_place(
            "restart-without-stop",
            "supportsRestartRequest",
            "restart",
            "threads",
            |_, _| {},
        ),
        in_place(
            "terminate-without-end",
            "supportsTerminateRequest",
            "terminate",
            "threads",
            |_, _| {},
        ),
        in_place(
            "data-breakpoint-missed",
            "supportsDataBreakpoints",
            "setDataBreakpoints",
            "threads",
            |state, message| {
                if is_response(message, "dataBreakpointInfo") {
                    message["body"] = json!({"dataId": "total", "description": "total"});
                    succeed(message);
                }
                if is_response(message, "setDataBreakpoints") {
                    let all = asked(state, message, "breakpoints");
                    let all = all.as_array().into_iter().flatten();
                    let all: Vec<Value> = all.map(|_| json!({"verified": true})).collect();
                    message["body"] = json!({"breakpoints": all});
                }
            },
        ),
    ]
}

/// A client that counts from 0 and supports little.
pub fn of_clients() -> Vec<Mutant> {
    let deaf = Mutant::of("line-base", |_, messages| messages);
    vec![
        deaf.requests(|_, mut request| {
            if request["arguments"]["linesStartAt1"] == false {
                request["arguments"]["linesStartAt1"] = json!(true);
            }
            Some(request)
        }),
        responses("type-unasked", "variables", |_, message| {
            let all = message["body"]["variables"].as_array_mut();
            for one in all.into_iter().flatten() {
                one["type"] = json!("number");
            }
        }),
    ]
}

#[test]
fn an_adapter_that_names_its_breakpoints_is_clean() {
    let report = check(&with_ids("none", |_, _| ()), &options());
    assert!(report.findings.is_empty(), "{}", report.text());
}

#[test]
fn wrong_breakpoints_of_a_stop_are_found() {
    all_found(of_hits());
}

#[test]
fn an_adapter_whose_instructions_are_lines_is_clean() {
    let report = check(&with_granularity("none", |_, _| ()), &options());
    assert!(report.findings.is_empty(), "{}", report.text());
}

#[test]
fn wrong_steps_by_granularity_are_found() {
    all_found(of_granularity());
}

#[test]
fn a_step_over_many_instructions_is_found() {
    all_found(vec![with_far_lines()]);
}

#[test]
fn wrong_moves_are_found() {
    all_found(of_moves());
}

#[test]
fn what_a_plain_client_does_not_understand_is_found() {
    all_found(of_clients());
}

#[test]
fn an_adapter_that_leaves_some_requests_unanswered_is_asked_on() {
    let is_one = |message: &Value| {
        ["modules", "loadedSources"].contains(&message["command"].as_str().unwrap_or_default())
    };
    let silent = Mutant::of("unanswered", move |_, mut messages| {
        messages.retain(|message| !is_one(message));
        messages
    });
    let mut options = options();
    options.patience = Duration::from_secs(1);
    options.scenarios = vec![Scenario::EachRequest];
    let report = check(&silent, &options);
    let texts: Vec<_> = report.findings.iter().map(|one| &*one.text).collect();
    assert_eq!(
        texts,
        [
            "`modules` got no response",
            "`loadedSources` got no response"
        ],
        "{}",
        report.text()
    );
}

#[test]
fn a_command_that_each_error_leaves_out_is_found_once() {
    let nameless = Mutant::of("wrong-command", |_, mut messages| {
        for message in &mut messages {
            if message["success"] == false {
                message["command"] = json!("");
            }
        }
        messages
    });
    let mut options = options();
    options.scenarios = vec![Scenario::EachRequest, Scenario::BadInput];
    let report = check(&nameless, &options);
    let found = report.findings.iter();
    let count = found.filter(|one| one.rule == "wrong-command").count();
    assert_eq!(count, 1, "{}", report.text());
}

#[test]
fn an_adapter_that_refuses_clients_that_count_from_0_is_clean() {
    let refusing = responses("none", "initialize", |state, message| {
        if asked(state, message, "linesStartAt1") == false {
            fail(message);
        }
    });
    let mut options = options();
    options.scenarios = vec![Scenario::PlainClient];
    let report = check(&refusing, &options);
    assert!(report.findings.is_empty(), "{}", report.text());
}
