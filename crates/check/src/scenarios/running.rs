//! Breakpoints, steps and the end of the program.

use serde_json::{Value, json};

use super::setup::{
    Stop, at_stop, breakpoint, configured, disconnect, launched, names_breakpoint, resume,
    set_breakpoints, stopped, stopped_or,
};
use super::values;
use crate::rules;
use crate::talk::Talk;

/// The session that a user has: breakpoints, stops, steps, values, and the end of the program.
pub(super) fn whole_session(talk: &mut Talk<'_>) {
    if session(talk).is_some() {
        end_of_program(talk);
    }
    disconnect(talk);
    if !talk.close() {
        talk.finds(
            rules::SURVIVES_DISCONNECT,
            "the adapter still runs after `disconnect`, though its input has ended",
        );
    }
}

fn session(talk: &mut Talk<'_>) -> Option<()> {
    let launch = launched(talk)?;
    let placed = placed(talk)?;
    configured(talk, &launch)?;
    let stop = stopped(talk, "at a breakpoint on the line marked `stop`")?;
    at_breakpoint(talk, &stop, "stop");
    names_breakpoint(talk, &stop, &placed);
    values::check(talk, &stop, "stop");
    let stop = steps(talk, stop)?;
    cleared(talk, &stop)
}

/// Sets breakpoints on lines with and without code, and checks what the adapter says of them. Returns what it says of the one that stays.
fn placed(talk: &mut Talk<'_>) -> Option<Value> {
    let at = breakpoint(talk, "stop")?;
    let line = at["line"].as_i64();
    let mut asked = vec![at.clone()];
    asked.extend(breakpoint(talk, "none"));
    let first = set_breakpoints(talk, &asked)?;
    if let Some(answer) = first.first().filter(|answer| answer["verified"] == true) {
        talk.expects(
            rules::BREAKPOINT_LINE,
            answer["line"].as_i64() == line,
            || {
                format!(
                    "the breakpoint on line {} is verified at line {}",
                    at["line"], answer["line"]
                )
            },
        );
    }
    // Set again as it was, it is the same breakpoint.
    let again = set_breakpoints(talk, &[at])?;
    let ids = [&first, &again].map(|answers| answers.first().and_then(|one| one["id"].as_i64()));
    if let [Some(first), Some(again)] = ids {
        talk.expects(rules::BREAKPOINT_ID_CHANGES, first == again, || {
            format!("a breakpoint had the id {first}, and has {again} when it is set again")
        });
    }
    Some(again.first().cloned().unwrap_or_default())
}

/// Checks a stop at a breakpoint.
fn at_breakpoint(talk: &mut Talk<'_>, stop: &Stop, mark: &str) {
    let line = talk.options.marks.line(mark).unwrap_or_default();
    let found = stop.line();
    talk.expects(rules::STOP_LINE, found == line, || {
        format!("the program stopped at line {found}; the breakpoint is on line {line}")
    });
    talk.expects(
        rules::STOP_REASON,
        stop.reason.contains("breakpoint"),
        || format!("a stop at a breakpoint has the reason {:?}", stop.reason),
    );
}

/// Steps over, into and out, by the marks of the source.
fn steps(talk: &mut Talk<'_>, stop: Stop) -> Option<Stop> {
    let old = stop.clone();
    resume(talk, "next", &stop)?;
    let mut stop = stopped(talk, "after `next`")?;
    lands(talk, &stop, "next", &["next"]);
    talk.expects(rules::STEP_REASON, stop.reason == "step", || {
        format!("a stop after `next` has the reason {:?}", stop.reason)
    });
    values::check(talk, &stop, "next");
    stale(talk, &old, &stop);
    if talk.has("supportsStepBack") {
        stop = back(talk, stop)?;
    }
    let (Some(call), Some(_)) = (
        talk.options.marks.line("call"),
        talk.options.marks.line("inside"),
    ) else {
        return Some(stop);
    };
    // Other lines may be between.
    for _ in 0..4 {
        if stop.line() == call {
            break;
        }
        resume(talk, "next", &stop)?;
        stop = stopped(talk, "after `next`")?;
    }
    lands(talk, &stop, "next", &["call"]);
    values::check(talk, &stop, "call");
    resume(talk, "stepIn", &stop)?;
    stop = stopped(talk, "after `stepIn`")?;
    lands(talk, &stop, "stepIn", &["inside", "entry"]);
    if stop.line() == talk.options.marks.line("inside").unwrap_or_default() {
        values::check(talk, &stop, "inside");
    }
    resume(talk, "stepOut", &stop)?;
    stop = stopped(talk, "after `stepOut`")?;
    let out = stop.line();
    let is_out = out == call || talk.options.marks.at(out) == Some("after-call");
    talk.expects(rules::STEP_LINE, is_out, || {
        format!("`stepOut` led to line {out}; the call is on line {call}")
    });
    Some(stop)
}

/// Checks where a step has led.
fn lands(talk: &mut Talk<'_>, stop: &Stop, command: &str, marks: &[&str]) {
    let lines: Vec<i64> = { marks.iter() }
        .filter_map(|mark| talk.options.marks.line(mark))
        .collect();
    let found = stop.line();
    talk.expects(
        rules::STEP_LINE,
        lines.is_empty() || lines.contains(&found),
        || {
            format!(
                "`{command}` led to line {found}; it leads to line {}",
                lines[0]
            )
        },
    );
}

/// A step back undoes the step before.
fn back(talk: &mut Talk<'_>, stop: Stop) -> Option<Stop> {
    let line = talk.options.marks.line("stop").unwrap_or_default();
    resume(talk, "stepBack", &stop)?;
    let back = stopped(talk, "after `stepBack`")?;
    let found = back.line();
    talk.expects(rules::STEP_BACK_LINE, found == line, || {
        format!("`stepBack` led to line {found}; the step before began at line {line}")
    });
    resume(talk, "next", &back)?;
    stopped(talk, "after `next`")
}

/// The ids of a stop that is over.
fn stale(talk: &mut Talk<'_>, old: &Stop, now: &Stop) {
    if old.frame_id() == now.frame_id() {
        return;
    }
    let asked = talk.ask("scopes", json!({"frameId": old.frame_id()}));
    talk.expects(rules::STALE_FRAME, asked.is_err(), || {
        format!(
            "`scopes` of frame {} succeeded, whose stop is over",
            old.frame_id()
        )
    });
}

/// All breakpoints of the source are replaced by none: the program runs to its end.
fn cleared(talk: &mut Talk<'_>, stop: &Stop) -> Option<()> {
    let at = breakpoint(talk, "end").or_else(|| breakpoint(talk, "loop"));
    if let Some(at) = at {
        set_breakpoints(talk, &[at])?;
    }
    set_breakpoints(talk, &[])?;
    resume(talk, "continue", stop)
}

/// The program ends by itself.
fn end_of_program(talk: &mut Talk<'_>) {
    let mut exited = None;
    loop {
        let Some(event) = talk.event_of(&["exited", "terminated", "stopped"]) else {
            if !talk.is_gone() {
                talk.finds(
                    rules::NO_TERMINATED,
                    "the program should have ended, and `terminated` did not come",
                );
            }
            return;
        };
        match event["event"].as_str() {
            Some("exited") => exited = event["body"]["exitCode"].as_i64(),
            Some("stopped") => {
                let rule = rules::CLEARED_BREAKPOINT_STOPS;
                talk.finds(
                    rule,
                    format!(
                        "the program stopped though it has no breakpoint: {}",
                        event["body"]
                    ),
                );
                return;
            }
            _ => break,
        }
    }
    // Some adapters send it late.
    let late = std::time::Duration::from_millis(300);
    if exited.is_none()
        && let Some(event) = talk.event_within(&["exited"], late)
    {
        exited = event["body"]["exitCode"].as_i64();
    }
    talk.expects(rules::NO_EXITED, exited.is_some(), || {
        "the program has ended, and no event `exited` came".to_owned()
    });
    if let (Some(exited), Some(code)) = (exited, talk.options.marks.exit) {
        talk.expects(rules::EXIT_CODE, exited == code, || {
            format!("`exited` says {exited}; the program ended with {code}")
        });
    }
    if let Some(text) = talk.options.marks.output.clone() {
        let has = talk.output.contains(&text);
        talk.expects(rules::OUTPUT_MISSING, has, || {
            format!("no `output` event has {text:?}, which the program writes")
        });
    }
}

/// Conditions, hit conditions and log points, where the adapter advertises them.
pub(super) fn conditions(talk: &mut Talk<'_>) {
    let stop = at_stop(talk);
    if let (Some(stop), Some(line)) = (stop, talk.options.marks.line("loop")) {
        kinds_of_breakpoints(talk, stop, line);
    }
    disconnect(talk);
}

fn kinds_of_breakpoints(talk: &mut Talk<'_>, mut stop: Stop, line: i64) -> Option<()> {
    if talk.has("supportsFunctionBreakpoints")
        && let Some(name) = talk.options.marks.function.clone()
    {
        stop = in_function(talk, stop, &name)?;
    }
    let condition = talk.options.marks.condition.clone();
    if talk.has("supportsConditionalBreakpoints")
        && let Some(condition) = condition
    {
        let set = set_breakpoints(talk, &[json!({"line": line, "condition": condition})])?;
        resume(talk, "continue", &stop)?;
        stop = stopped(
            talk,
            "at a breakpoint whose condition holds at the third pass",
        )?;
        turn(
            talk,
            &stop,
            "2",
            rules::CONDITION_IGNORED,
            &format!("the condition `{condition}`"),
        );
        if let [breakpoint] = &*set {
            names_breakpoint(talk, &stop, breakpoint);
        }
    }
    if talk.has("supportsLogPoints") {
        return logs(talk, stop, line);
    }
    if talk.has("supportsHitConditionalBreakpoints") {
        set_breakpoints(talk, &[json!({"line": line, "hitCondition": "1000"})])?;
        ends_without_stop(
            talk,
            &stop,
            rules::HIT_CONDITION_IGNORED,
            "a breakpoint with the hit condition `1000`",
        );
    }
    Some(())
}

/// A function breakpoint stops the program in the function.
fn in_function(talk: &mut Talk<'_>, stop: Stop, name: &str) -> Option<Stop> {
    set_breakpoints(talk, &[])?;
    let asked = talk.ask(
        "setFunctionBreakpoints",
        json!({"breakpoints": [{"name": name}]}),
    );
    let Ok(answer) = asked else {
        talk.finds(
            rules::ADVERTISED_FAILS,
            format!("`setFunctionBreakpoints` of `{name}` failed"),
        );
        return Some(stop);
    };
    talk.expects(
        rules::BREAKPOINT_UNVERIFIED,
        answer["breakpoints"][0]["verified"] == true,
        || {
            format!(
                "the function breakpoint `{name}` isn't verified: {}",
                answer["breakpoints"][0]
            )
        },
    );
    resume(talk, "continue", &stop)?;
    let rule = rules::FUNCTION_BREAKPOINT_MISSED;
    let inside = stopped_or(talk, rule, &format!("at a breakpoint on `{name}`"))?;
    let found = inside.frame["name"].as_str().unwrap_or_default().to_owned();
    talk.expects(
        rules::FUNCTION_BREAKPOINT_MISSED,
        found.contains(name),
        || format!("the breakpoint on `{name}` stopped the program in `{found}`"),
    );
    names_breakpoint(talk, &inside, &answer["breakpoints"][0]);
    talk.ask("setFunctionBreakpoints", json!({"breakpoints": []}))
        .ok();
    Some(inside)
}

/// Checks in which turn of the loop the program has stopped.
fn turn(talk: &mut Talk<'_>, stop: &Stop, expected: &str, rule: rules::Rule, what: &str) {
    let found = values::find(talk, stop, "i").map(|(_, i)| i["value"].clone());
    let Some(Value::String(found)) = found else {
        return;
    };
    talk.expects(rule, values::shows(&found, expected), || {
        format!("{what} stopped the program where `i` is {found}; it holds where `i` is {expected}")
    });
}

/// A log point writes and doesn't stop.
fn logs(talk: &mut Talk<'_>, stop: Stop, line: i64) -> Option<()> {
    set_breakpoints(
        talk,
        &[json!({"line": line, "logMessage": "logged by check"})],
    )?;
    ends_without_stop(talk, &stop, rules::LOGPOINT_STOPS, "a log point");
    let has = talk.output.contains("logged by check");
    talk.expects(rules::LOG_MISSING, has, || {
        "a log point was passed, and no `output` event has its message".to_owned()
    });
    Some(())
}

/// The program runs to its end.
fn ends_without_stop(talk: &mut Talk<'_>, stop: &Stop, rule: rules::Rule, what: &str) {
    if resume(talk, "continue", stop).is_none() {
        return;
    }
    let event = talk.event_of(&["stopped", "terminated"]);
    let is_stop = event.is_some_and(|event| event["event"] == "stopped");
    talk.expects(rule, !is_stop, || format!("{what} stopped the program"));
}
