//! How sessions begin, and what a stop is.

use serde_json::{Value, json};

use crate::rules::{self, Rule};
use crate::talk::{Failed, Sent, Talk};

/// A stop of the program.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    pub(crate) thread: i64,
    pub(crate) reason: String,
    /// The breakpoints that the event names.
    pub(crate) hit: Vec<i64>,
    /// The innermost frame.
    pub(crate) frame: Value,
}

impl Stop {
    pub(crate) fn line(&self) -> i64 {
        self.frame["line"].as_i64().unwrap_or_default()
    }

    pub(crate) fn frame_id(&self) -> i64 {
        self.frame["id"].as_i64().unwrap_or_default()
    }
}

/// Sends `initialize`. `None`: the session can't go on.
pub(crate) fn initialize(talk: &mut Talk<'_>) -> Option<()> {
    let mut arguments = json!({
        "clientID": "dapple-check",
        "clientName": "dapple check",
        "adapterID": talk.options.adapter_id,
        "pathFormat": "path",
        "locale": "en",
        "linesStartAt1": true,
        "columnsStartAt1": true,
        "supportsVariableType": true,
        "supportsVariablePaging": true,
        "supportsMemoryReferences": true,
        "supportsProgressReporting": true,
        "supportsInvalidatedEvent": true,
        "supportsMemoryEvent": true,
    });
    if let (Some(arguments), Some(more)) =
        (arguments.as_object_mut(), talk.options.client.as_object())
    {
        arguments.extend(more.clone());
    }
    must_initialize(talk, arguments)
}

/// As [`initialize`], with arguments of one's own.
fn must_initialize(talk: &mut Talk<'_>, arguments: Value) -> Option<()> {
    let asked = initialize_as(talk, arguments);
    if let Err(Failed::Error(reason)) = &asked {
        let text = format!("`initialize` failed: {reason}");
        talk.finds(rules::INITIALIZE_FAILS, text);
    }
    asked.ok()
}

/// Sends `initialize` with arguments that an adapter may refuse.
pub(crate) fn initialize_as(talk: &mut Talk<'_>, mut arguments: Value) -> Result<(), Failed> {
    if talk.options.child_session {
        arguments["supportsStartDebuggingRequest"] = json!(true);
    }
    talk.client = arguments.clone();
    talk.ask("initialize", arguments).map(|_| ())
}

/// Starts a session up to its configuration: `initialize`, `launch`, `initialized`. `None`: it can't go on.
pub(crate) fn launched(talk: &mut Talk<'_>) -> Option<Sent> {
    initialize(talk)?;
    launch(talk)
}

/// Sends `launch` and waits for `initialized`, in the child session if there is to be one. `None`: the session can't go on.
pub(crate) fn launch(talk: &mut Talk<'_>) -> Option<Sent> {
    let sent = start(talk, "launch", talk.options.launch.clone())?;
    match talk.options.child_session {
        true => child(talk, &sent),
        false => Some(sent),
    }
}

/// Configures the session that was launched, and starts the child session that it asks for.
fn child(talk: &mut Talk<'_>, launch: &Sent) -> Option<Sent> {
    configured(talk, launch)?;
    let Some(asked) = talk.child_asked_for() else {
        if !talk.is_gone() {
            let text = "the adapter has asked for no child session by `startDebugging`";
            talk.finds(rules::CHILD_SESSION_FAILS, text);
        }
        return None;
    };
    if let Err(error) = talk.enter_child() {
        let text = format!("a second connection for the child session failed: {error}");
        talk.finds(rules::CHILD_SESSION_FAILS, text);
        return None;
    }
    must_initialize(talk, talk.client.clone())?;
    let command = match asked["request"] == "attach" {
        true => "attach",
        false => "launch",
    };
    start(talk, command, asked["configuration"].clone())
}

fn start(talk: &mut Talk<'_>, command: &str, arguments: Value) -> Option<Sent> {
    talk.launch = arguments.clone();
    let launch = talk.send(command, arguments);
    if talk.event("initialized").is_some() {
        return Some(launch);
    }
    if talk.is_answered(&launch) {
        match talk.wait(&launch) {
            Ok(_) => talk.finds(
                rules::NO_INITIALIZED,
                format!("`initialized` did not come after `{command}`"),
            ),
            Err(Failed::Error(reason)) => {
                talk.finds(rules::LAUNCH_FAILS, format!("`{command}` failed: {reason}"));
            }
            Err(_) => {}
        }
    } else if !talk.is_gone() {
        talk.finds(
            rules::NO_INITIALIZED,
            format!("neither `initialized` nor the response to `{command}` came"),
        );
    }
    None
}

/// Ends the configuration, so that the program runs. `None`: the session can't go on.
pub(crate) fn configured(talk: &mut Talk<'_>, launch: &Sent) -> Option<()> {
    end_configuration(talk);
    match talk.wait(launch) {
        Ok(_) => Some(()),
        Err(Failed::Error(reason)) => {
            talk.finds(rules::LAUNCH_FAILS, format!("`launch` failed: {reason}"));
            None
        }
        Err(_) => None,
    }
}

/// Sends what ends the configuration.
pub(crate) fn end_configuration(talk: &mut Talk<'_>) {
    let filters = talk.capabilities["exceptionBreakpointFilters"].clone();
    let filters: Vec<Value> = { filters.as_array().into_iter().flatten() }
        .filter(|filter| filter["default"] == true)
        .map(|filter| filter["filter"].clone())
        .collect();
    let has_filters = !talk.capabilities["exceptionBreakpointFilters"].is_null();
    if has_filters || !talk.has("supportsConfigurationDoneRequest") {
        let asked = talk.ask("setExceptionBreakpoints", json!({"filters": filters}));
        if has_filters && let Err(Failed::Error(reason)) = asked {
            talk.finds(
                rules::ADVERTISED_FAILS,
                format!("`setExceptionBreakpoints` with the default filters failed: {reason}"),
            );
        }
    }
    if talk.has("supportsConfigurationDoneRequest")
        && let Err(Failed::Error(reason)) = talk.ask("configurationDone", json!({}))
    {
        talk.finds(
            rules::ADVERTISED_FAILS,
            format!("`configurationDone` failed: {reason}"),
        );
    }
}

/// Sets the breakpoints of the program's source, and checks the answer. Each has a line and perhaps a condition or the like.
pub(crate) fn set_breakpoints(talk: &mut Talk<'_>, breakpoints: &[Value]) -> Option<Vec<Value>> {
    let source = source(talk);
    let lines: Vec<&Value> = breakpoints.iter().map(|one| &one["line"]).collect();
    let arguments = json!({"source": source, "breakpoints": breakpoints, "lines": lines, "sourceModified": false});
    let body = match talk.ask("setBreakpoints", arguments) {
        Ok(body) => body,
        Err(Failed::Error(reason)) => {
            talk.finds(
                rules::BREAKPOINT_FAILS,
                format!("`setBreakpoints` failed: {reason}"),
            );
            return None;
        }
        Err(_) => return None,
    };
    let answers = body["breakpoints"].as_array().cloned().unwrap_or_default();
    talk.expects(
        rules::BREAKPOINT_COUNT,
        answers.len() == breakpoints.len(),
        || {
            format!(
                "{} breakpoints were asked for, {} answered",
                breakpoints.len(),
                answers.len()
            )
        },
    );
    for answer in answers.iter().filter(|answer| answer["verified"] != true) {
        let has_reason = answer["message"]
            .as_str()
            .is_some_and(|text| !text.is_empty());
        talk.expects(rules::UNVERIFIED_WITHOUT_REASON, has_reason, || {
            format!("a breakpoint isn't verified, and nothing says why: {answer}")
        });
    }
    Some(answers)
}

/// The source of the program, for requests.
pub(crate) fn source(talk: &Talk<'_>) -> Value {
    let path = &talk.options.source;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    json!({"name": name, "path": path.to_string_lossy()})
}

/// A breakpoint on the line of a mark. `None`: the program has no such mark.
pub(crate) fn breakpoint(talk: &Talk<'_>, mark: &str) -> Option<Value> {
    Some(json!({"line": talk.options.marks.line(mark)?}))
}

/// Waits for a stop and checks it. `None`: the program doesn't stop, which is a finding, or it can't be found out where it is.
pub(crate) fn stopped(talk: &mut Talk<'_>, what: &str) -> Option<Stop> {
    stopped_or(talk, rules::NO_STOP, what)
}

/// As [`stopped`], with the rule that is broken if the program doesn't stop.
pub(crate) fn stopped_or(talk: &mut Talk<'_>, rule: Rule, what: &str) -> Option<Stop> {
    let event = talk.event_of(&["stopped", "terminated"]);
    stopped_by(talk, event, rule, what)
}

/// As [`stopped_or`], with the event that has come: `stopped`, or `terminated`, or none in time.
pub(crate) fn stopped_by(
    talk: &mut Talk<'_>,
    event: Option<Value>,
    rule: Rule,
    what: &str,
) -> Option<Stop> {
    let instead = match event {
        Some(event) if event["event"] == "stopped" => return stop_of(talk, &event),
        Some(_) => "the program ended",
        None => "no `stopped` event came in time",
    };
    if !talk.is_gone() {
        talk.finds(rule, format!("{what}: {instead}"));
    }
    None
}

/// Checks the event of a stop, and finds out where it is.
fn stop_of(talk: &mut Talk<'_>, event: &Value) -> Option<Stop> {
    let body = &event["body"];
    let named = body["threadId"].as_i64();
    talk.expects(rules::STOP_WITHOUT_THREAD, named.is_some(), || {
        format!("a `stopped` event names no thread: {body}")
    });
    let threads = talk.ask("threads", Value::Null).unwrap_or_default();
    let threads: Vec<i64> = { threads["threads"].as_array().into_iter().flatten() }
        .filter_map(|thread| thread["id"].as_i64())
        .collect();
    talk.expects(rules::NO_THREADS, !threads.is_empty(), || {
        "`threads` is empty while the program is stopped".to_owned()
    });
    if let Some(named) = named {
        talk.expects(
            rules::STOP_UNKNOWN_THREAD,
            threads.is_empty() || threads.contains(&named),
            || format!("thread {named} is stopped, and the threads are {threads:?}"),
        );
    }
    let thread = named.or(threads.first().copied())?;
    let arguments = json!({"threadId": thread, "startFrame": 0, "levels": 1});
    let stack = match talk.ask("stackTrace", arguments) {
        Ok(stack) => stack,
        Err(Failed::Error(reason)) => {
            talk.finds(rules::STACK_FAILS, format!("`stackTrace` failed: {reason}"));
            return None;
        }
        Err(_) => return None,
    };
    let frame = stack["stackFrames"][0].clone();
    talk.expects(rules::STACK_FAILS, !frame.is_null(), || {
        format!("thread {thread} is stopped and has no frames")
    });
    (!frame.is_null()).then(|| Stop {
        thread,
        reason: body["reason"].as_str().unwrap_or_default().to_owned(),
        hit: { body["hitBreakpointIds"].as_array().into_iter().flatten() }
            .filter_map(Value::as_i64)
            .collect(),
        frame,
    })
}

/// Checks that a stop names the breakpoint that it is at and no other, by the answer to the request that set it.
pub(crate) fn names_breakpoint(talk: &mut Talk<'_>, stop: &Stop, breakpoint: &Value) {
    let Some(id) = breakpoint["id"].as_i64() else {
        return;
    };
    if !stop.reason.contains("breakpoint") {
        return;
    }
    if stop.hit.is_empty() {
        let text = format!("a stop at the breakpoint with the id {id} names no breakpoint");
        return talk.finds(rules::HIT_BREAKPOINTS_MISSING, text);
    }
    talk.expects(rules::WRONG_BREAKPOINT_HIT, stop.hit == [id], || {
        format!(
            "the program stopped at the breakpoint with the id {id}, and `hitBreakpointIds` is {:?}",
            stop.hit
        )
    });
}

/// Launches the program and runs it to its mark `stop`.
pub(crate) fn at_stop(talk: &mut Talk<'_>) -> Option<Stop> {
    let launch = launched(talk)?;
    let at = breakpoint(talk, "stop")?;
    let set = set_breakpoints(talk, &[at])?;
    configured(talk, &launch)?;
    let stop = stopped(talk, "at a breakpoint on the line marked `stop`")?;
    if let [breakpoint] = &*set {
        names_breakpoint(talk, &stop, breakpoint);
    }
    Some(stop)
}

/// Resumes the program by a request, and checks that the response comes before what it leads to.
pub(crate) fn resume(talk: &mut Talk<'_>, command: &str, stop: &Stop) -> Option<()> {
    resume_with(talk, command, json!({"threadId": stop.thread}))
}

/// As [`resume`], with arguments of one's own.
pub(crate) fn resume_with(talk: &mut Talk<'_>, command: &str, arguments: Value) -> Option<()> {
    talk.forget_events();
    let sent = talk.send(command, arguments);
    match talk.wait(&sent) {
        Ok(_) => {
            let early = talk.has_event("stopped");
            let rule = match command {
                "continue" => rules::RESPONSE_AFTER_STOP,
                _ => rules::RESPONSE_AFTER_STEP,
            };
            talk.expects(rule, !early, || {
                format!("`stopped` came before the response to `{command}`")
            });
            Some(())
        }
        Err(Failed::Error(reason)) => {
            talk.finds(rules::RESUME_FAILS, format!("`{command}` failed: {reason}"));
            None
        }
        Err(_) => None,
    }
}

/// Ends a session.
pub(crate) fn disconnect(talk: &mut Talk<'_>) {
    if talk.is_gone() {
        return;
    }
    talk.may_go();
    match talk.ask("disconnect", json!({"terminateDebuggee": true})) {
        Ok(_) | Err(Failed::Gone | Failed::Unanswered) => {}
        Err(Failed::Error(reason)) => {
            talk.finds(
                rules::DISCONNECT_FAILS,
                format!("`disconnect` failed: {reason}"),
            );
        }
    }
}
