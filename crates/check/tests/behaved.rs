//! Variants of the example adapter that do what the specification allows, in which nothing is found; and adapters that are gone, which
//! break no other rule.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use dapple_check::{Adapter, Options, Report, Scenario, Started, check};
use dapple_dap::Connection;
use serde_json::{Value, json};

use crate::broken::{event, fail, is_response};
use crate::checker::{PROGRAM, with_children};
use crate::moved::{advertises, with_granularity};
use crate::mutant::{Mutant, State, options, started};

/// One scenario, with little patience for what waits in vain.
fn only(scenario: Scenario) -> Options {
    Options {
        scenarios: vec![scenario],
        patience: Duration::from_secs(2),
        ..options()
    }
}

/// The command and arguments of the request that a response answers.
fn request(state: &State, response: &Value) -> (String, Value) {
    let seq = response["request_seq"].as_i64().unwrap_or_default();
    state.asked.get(&seq).cloned().unwrap_or_default()
}

/// The adapter with `restart`, whose response `answer` may change. What `answer` returns follows the response.
fn that_restarts(
    answer: impl Fn(&mut Value, &Value) -> Vec<Value> + Send + Sync + 'static,
) -> Mutant {
    let mutant = Mutant::of("none", move |state, messages| {
        let mut out = Vec::new();
        for mut message in messages {
            advertises(&mut message, "supportsRestartRequest");
            let (command, arguments) = request(state, &message);
            let mut following = Vec::new();
            if message["type"] == "response" && command == "restart" {
                message["command"] = json!("restart");
                message["body"] = json!({});
                following = answer(&mut message, &arguments);
            }
            out.push(message);
            out.extend(following);
        }
        out
    });
    mutant.requests(|_, mut request| {
        if request["command"] == "restart" {
            request["command"] = json!("threads");
        }
        Some(request)
    })
}

fn stop(reason: &str) -> Value {
    event(
        "stopped",
        json!({"reason": reason, "threadId": 1, "allThreadsStopped": true}),
    )
}

/// An adapter whose first session only asks for a second one, which is the mutant's.
struct Children(Mutant);

impl Adapter for Children {
    fn start(&self) -> io::Result<Started> {
        let (ours, theirs) = UnixStream::pair()?;
        std::thread::spawn(move || {
            if let Ok(connection) = Connection::unix(theirs) {
                with_children(connection, false);
            }
        });
        started(ours)
    }

    fn connect(&self) -> io::Result<Started> {
        self.0.start()
    }
}

#[test]
fn a_child_session_is_restarted_with_its_own_configuration() {
    let adapter = Children(that_restarts(|response, arguments| {
        if arguments["arguments"] != json!({"program": PROGRAM}) {
            fail(response);
            return Vec::new();
        }
        vec![stop("breakpoint")]
    }));
    let mut options = only(Scenario::Moving);
    options.child_session = true;
    options.launch = json!({"program": PROGRAM, "isParent": true});
    let report = check(&adapter, &options);
    assert!(report.findings.is_empty(), "{}", report.text());
}

fn rules(report: &Report) -> Vec<&str> {
    report.findings.iter().map(|one| &*one.rule).collect()
}

#[test]
fn an_adapter_may_ask_for_the_configuration_again_after_restart() {
    let adapter = that_restarts(|_, _| vec![event("initialized", Value::Null)]);
    let report = check(&adapter, &only(Scenario::Moving));
    assert!(report.findings.is_empty(), "{}", report.text());
}

#[test]
fn a_restart_that_does_not_stop_is_advice() {
    let adapter = that_restarts(|_, _| Vec::new());
    let report = check(&adapter, &only(Scenario::Moving));
    assert_eq!(
        rules(&report),
        ["restart-without-stop"],
        "{}",
        report.text()
    );
    assert!(!report.findings[0].is_violation());
}

/// Whether the source has breakpoints.
fn has_breakpoints(state: &State) -> bool {
    let all = state.asked.values();
    let mut set = all.filter(|(command, _)| command == "setBreakpoints");
    let last = set.next_back().map(|(_, arguments)| arguments);
    last.is_some_and(|last| last["breakpoints"] != json!([]))
}

/// The last request that resumed the program.
fn resumed_by(state: &State) -> (String, Value) {
    let commands = ["configurationDone", "continue", "next", "stepIn", "goto"];
    let mut all = state.asked.values();
    let last = all.rfind(|(command, _)| commands.contains(&&**command));
    last.cloned().unwrap_or_default()
}

/// The adapter with `goto` and data breakpoints. Ids: 1 for the breakpoint in the source, 2 for that on data. `goto` stops with `reason`; the
/// next `continue` stops at the source's breakpoint if there is one, else at the data's.
fn that_goes(reason: &'static str) -> Mutant {
    let mutant = Mutant::of("none", move |state, messages| {
        let mut out = Vec::new();
        for mut message in messages {
            advertises(&mut message, "supportsGotoTargetsRequest");
            advertises(&mut message, "supportsDataBreakpoints");
            let (command, arguments) = request(state, &message);
            let mut body = None;
            let mut stops = None;
            match &*command {
                "gotoTargets" => {
                    let line = &arguments["line"];
                    body = Some(json!({"targets": [{"id": line, "label": "it", "line": line}]}));
                }
                "goto" => {
                    state.kept = vec![arguments["targetId"].clone()];
                    (body, stops) = (Some(json!({})), Some(stop(reason)));
                }
                "dataBreakpointInfo" => {
                    body = Some(json!({"dataId": "total", "description": "total"}));
                }
                "setDataBreakpoints" => {
                    let all = arguments["breakpoints"].as_array().into_iter().flatten();
                    let all: Vec<Value> = all.map(|_| json!({"verified": true, "id": 2})).collect();
                    body = Some(json!({"breakpoints": all}));
                }
                "continue" => {
                    body = Some(json!({}));
                    if has_breakpoints(state) {
                        let mut again = stop("breakpoint");
                        again["body"]["hitBreakpointIds"] = json!([1]);
                        stops = Some(again);
                    }
                    state.kept.clear();
                }
                "setBreakpoints" if message["body"]["breakpoints"] != json!([]) => {
                    message["body"]["breakpoints"][0]["id"] = json!(1);
                }
                "stackTrace" => {
                    if let Some(line) = state.kept.first() {
                        message["body"]["stackFrames"][0]["line"] = line.clone();
                    }
                }
                _ => {}
            }
            if let Some(body) = body {
                message["command"] = json!(command);
                message["success"] = json!(true);
                message["body"] = body;
                let fields = message.as_object_mut().expect("an object");
                fields.remove("message");
            }
            if message["event"] == "stopped" {
                let at_data = resumed_by(state).0 == "continue";
                let reason = if at_data {
                    "data breakpoint"
                } else {
                    "breakpoint"
                };
                message["body"]["reason"] = json!(reason);
                message["body"]["hitBreakpointIds"] = json!([1 + i32::from(at_data)]);
            }
            out.push(message);
            out.extend(stops);
        }
        out
    });
    mutant.requests(|state, mut request| {
        let other = match request["command"].as_str().unwrap_or_default() {
            "gotoTargets" | "goto" | "dataBreakpointInfo" | "setDataBreakpoints" => "threads",
            // The next line writes the data.
            "continue" => match has_breakpoints(state) {
                true => "threads",
                false => "next",
            },
            _ => return Some(request),
        };
        request["command"] = json!(other);
        Some(request)
    })
}

#[test]
fn a_breakpoint_that_goto_leads_back_to_is_not_taken_for_one_on_data() {
    let report = check(&that_goes("goto"), &only(Scenario::Moving));
    assert!(report.findings.is_empty(), "{}", report.text());
}

#[test]
fn a_statement_may_be_a_part_of_a_line() {
    // The line is that of the stop before, and the column another one.
    let adapter = with_granularity("none", |state, message| {
        if is_response(message, "stackTrace") && message["success"] == true {
            let frame = &mut message["body"]["stackFrames"][0];
            if resumed_by(state).1["granularity"] == "statement" {
                frame["line"] = state.kept[0].clone();
                frame["column"] = json!(7);
            }
            state.kept = vec![frame["line"].clone()];
            frame
                .as_object_mut()
                .expect("an object")
                .remove("instructionPointerReference");
        }
    });
    let report = check(&adapter, &only(Scenario::Granularities));
    assert!(report.findings.is_empty(), "{}", report.text());
}

#[test]
fn a_step_by_statement_that_stays_is_found() {
    let adapter = with_granularity("none", |state, message| {
        if is_response(message, "stackTrace") && message["success"] == true {
            let frame = &mut message["body"]["stackFrames"][0];
            if resumed_by(state).1["granularity"] == "statement" {
                for field in ["line", "instructionPointerReference"] {
                    frame[field] = state.kept[0][field].clone();
                }
            }
            state.kept = vec![frame.clone()];
        }
    });
    let report = check(&adapter, &only(Scenario::Granularities));
    assert_eq!(rules(&report), ["line-step"], "{}", report.text());
}

#[test]
fn one_instruction_may_be_a_call() {
    let adapter = with_granularity("none", |state, message| {
        let (command, arguments) = resumed_by(state);
        let is_call = command == "stepIn" && arguments["granularity"] == "instruction";
        if is_response(message, "stackTrace") && message["success"] == true && is_call {
            let frame = &mut message["body"]["stackFrames"][0];
            frame["name"] = json!("add");
            frame["line"] = json!(14);
            frame["instructionPointerReference"] = json!("0x4000");
        }
    });
    let report = check(&adapter, &only(Scenario::Granularities));
    assert!(report.findings.is_empty(), "{}", report.text());
}

#[test]
fn a_stop_after_goto_that_has_another_reason_is_a_violation() {
    let report = check(&that_goes(""), &only(Scenario::Moving));
    assert_eq!(rules(&report), ["step-reason"], "{}", report.text());
    assert!(report.findings[0].is_violation());
}

#[test]
fn an_adapter_may_end_after_a_launch_that_failed() {
    // `initialized` comes early, as with adapters that can be configured before `launch`.
    let adapter = Mutant::of("none", |state, messages| {
        let mut out = Vec::new();
        for message in messages {
            let is_initialize = is_response(&message, "initialize");
            state.is_closed |= is_response(&message, "launch");
            out.push(message);
            if is_initialize {
                out.push(event("initialized", Value::Null));
            }
        }
        out
    });
    let report = check(&adapter, &only(Scenario::BadLaunch));
    assert!(report.findings.is_empty(), "{}", report.text());
}

#[test]
fn an_adapter_that_dies_breaks_no_other_rule() {
    let dies_after = |name: &'static str, mutant: Mutant| {
        mutant.then(move |state, messages| {
            state.is_closed |= messages.iter().any(|it| is_response(it, name));
            messages
        })
    };
    for adapter in [
        dies_after("restart", that_restarts(|_, _| Vec::new())),
        dies_after("continue", that_goes("goto")),
    ] {
        let report = check(&adapter, &only(Scenario::Moving));
        assert_eq!(rules(&report), ["died"], "{}", report.text());
    }
}

#[test]
fn terminate_is_followed_by_its_event_even_if_the_adapter_ends() {
    let adapter = Mutant::of("none", |state, mut messages| {
        messages.retain(|it| it["event"] != "terminated");
        state.is_closed |= messages.iter().any(|it| is_response(it, "terminate"));
        messages
    });
    let report = check(&adapter, &only(Scenario::Moving));
    assert_eq!(
        rules(&report),
        ["terminate-without-end"],
        "{}",
        report.text()
    );
}
