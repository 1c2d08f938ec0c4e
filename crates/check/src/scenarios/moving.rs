//! Requests that change where the program goes: `goto`, data breakpoints, `restart` and `terminate`.

use serde_json::json;

use super::setup::{
    Stop, at_stop, breakpoint, disconnect, end_configuration, names_breakpoint, resume,
    resume_with, set_breakpoints, stopped, stopped_by, stopped_or,
};
use super::values;
use crate::rules;
use crate::talk::{Failed, Talk};

/// Sends those that are advertised, and looks where the program stops.
pub(super) fn moves(talk: &mut Talk<'_>) {
    if let Some(stop) = at_stop(talk) {
        each(talk, stop);
    }
    disconnect(talk);
}

fn each(talk: &mut Talk<'_>, mut stop: Stop) -> Option<()> {
    // After `goto`, the program may come to the line marked `stop` once more: only data breakpoints are to stop it then.
    set_breakpoints(talk, &[])?;
    if talk.has("supportsGotoTargetsRequest") {
        // There and back.
        for mark in ["next", "stop"] {
            stop = goes_to(talk, stop, mark)?;
        }
    }
    if talk.has("supportsDataBreakpoints") {
        watched(talk, &stop)?;
    }
    if talk.has("supportsRestartRequest") {
        let at = breakpoint(talk, "stop")?;
        set_breakpoints(talk, &[at])?;
        restarted(talk)?;
    }
    if talk.has("supportsTerminateRequest") {
        terminated(talk);
    }
    Some(())
}

/// `goto` leads to a line, and what is between isn't executed.
fn goes_to(talk: &mut Talk<'_>, stop: Stop, mark: &str) -> Option<Stop> {
    let Some(line) = talk.options.marks.line(mark) else {
        return Some(stop);
    };
    let asked = talk.ask(
        "gotoTargets",
        json!({"source": stop.frame["source"], "line": line}),
    );
    let body = asked.unwrap_or_default();
    let all = body["targets"].as_array().cloned().unwrap_or_default();
    let Some(target) = all.into_iter().find(|target| target["line"] == line) else {
        return Some(stop);
    };
    let arguments = json!({"threadId": stop.thread, "targetId": target["id"]});
    resume_with(talk, "goto", arguments)?;
    let now = stopped(talk, "after `goto`")?;
    talk.expects(rules::STEP_REASON, now.reason == "goto", || {
        format!("a stop after `goto` has the reason {:?}", now.reason)
    });
    talk.expects(rules::GOTO_LINE, now.line() == line, || {
        format!(
            "`goto` led to line {}; its target is line {line}",
            now.line()
        )
    });
    for (name, value) in talk.options.marks.values("stop").to_vec() {
        let Some((_, variable)) = values::find(talk, &now, &name) else {
            continue;
        };
        let shown = variable["value"].as_str().unwrap_or_default().to_owned();
        talk.expects(rules::GOTO_LINE, values::shows(&shown, &value), || {
            format!(
                "after `goto`, `{name}` is {shown}; it was {value}, and no code was to be executed"
            )
        });
    }
    Some(now)
}

/// A data breakpoint stops the program where the variable is written.
fn watched(talk: &mut Talk<'_>, stop: &Stop) -> Option<()> {
    let later = talk.options.marks.values("next").to_vec();
    let written = { talk.options.marks.values("stop").to_vec() }
        .into_iter()
        .find(|(name, old)| {
            let is_written = |(other, new): &(String, String)| other == name && new != old;
            !name.contains('.') && later.iter().any(is_written)
        });
    let Some((name, _)) = written else {
        return Some(());
    };
    let Some((container, _)) = values::find(talk, stop, &name) else {
        return Some(());
    };
    let arguments = json!({"variablesReference": container, "name": name});
    let info = talk
        .ask("dataBreakpointInfo", arguments)
        .unwrap_or_default();
    if info["dataId"].is_null() {
        return Some(());
    }
    let one = json!({"dataId": info["dataId"], "accessType": "write"});
    let asked = talk.ask("setDataBreakpoints", json!({"breakpoints": [one]}));
    let answer = asked.unwrap_or_default()["breakpoints"][0].clone();
    if answer["verified"] != true {
        return Some(());
    }
    resume(talk, "continue", stop)?;
    let what = format!("after a data breakpoint on `{name}`, which the program writes");
    let now = stopped_or(talk, rules::DATA_BREAKPOINT_MISSED, &what)?;
    talk.expects(
        rules::DATA_BREAKPOINT_MISSED,
        now.reason.contains("breakpoint"),
        || {
            format!(
                "after a data breakpoint on `{name}`, the program stopped with the reason {:?}",
                now.reason
            )
        },
    );
    names_breakpoint(talk, &now, &answer);
    talk.ask("setDataBreakpoints", json!({"breakpoints": []}))
        .ok();
    Some(())
}

/// `restart` runs the program anew, to the breakpoint that it has. An adapter may ask for the configuration once more, by `initialized`.
fn restarted(talk: &mut Talk<'_>) -> Option<()> {
    talk.forget_events();
    talk.may_initialize_again();
    let arguments = json!({"arguments": talk.launch});
    match talk.ask("restart", arguments) {
        Ok(_) => {}
        Err(Failed::Error(reason)) => {
            let text = format!("`restart` failed: {reason}");
            talk.finds(rules::ADVERTISED_FAILS, text);
            return Some(());
        }
        Err(_) => return None,
    }
    let line = talk.options.marks.line("stop").unwrap_or_default();
    let mut event = talk.event_of(&["stopped", "initialized", "terminated"]);
    if event
        .as_ref()
        .is_some_and(|it| it["event"] == "initialized")
    {
        let at = breakpoint(talk, "stop")?;
        set_breakpoints(talk, &[at])?;
        end_configuration(talk);
        event = talk.event_of(&["stopped", "terminated"]);
    }
    let what = format!("after `restart`, at the breakpoint on line {line}");
    let now = stopped_by(talk, event, rules::RESTART_WITHOUT_STOP, &what)?;
    talk.expects(rules::RESTART_WITHOUT_STOP, now.line() == line, || {
        format!(
            "after `restart`, the program stopped at line {}; the breakpoint is on line {line}",
            now.line()
        )
    });
    values::check(talk, &now, "stop");
    Some(())
}

/// `terminate` ends a program that doesn't object.
fn terminated(talk: &mut Talk<'_>) {
    talk.may_go();
    match talk.ask("terminate", json!({})) {
        Ok(_) => {}
        Err(Failed::Error(reason)) => {
            let text = format!("`terminate` failed: {reason}");
            return talk.finds(rules::ADVERTISED_FAILS, text);
        }
        Err(_) => return,
    }
    let ended = talk.event("terminated").is_some();
    talk.expects(rules::TERMINATE_WITHOUT_END, ended, || {
        "the event `terminated` did not come after `terminate`".to_owned()
    });
}
