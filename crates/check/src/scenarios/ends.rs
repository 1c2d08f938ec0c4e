//! How sessions end.

use std::time::{Duration, Instant};

use serde_json::json;

use super::setup::{at_stop, disconnect, initialize};
use crate::rules;
use crate::talk::{Failed, Talk};

/// A program that doesn't exist.
pub(super) fn bad_launch(talk: &mut Talk<'_>) {
    if initialize(talk).is_none() {
        return;
    }
    let mut arguments = talk.options.launch.clone();
    let missing = "/no/such/program-of-dapple-check";
    if let Some(program) = arguments.get_mut("program") {
        *program = json!(missing);
        let launch = talk.send("launch", arguments);
        // An adapter that finds no program may end.
        talk.may_go();
        // An adapter may look for the program only once it is configured.
        let event = talk.event_before(&["initialized", "terminated"], &launch);
        if event.is_some_and(|event| event["event"] == "initialized")
            && !talk.is_answered(&launch)
            && talk.has("supportsConfigurationDoneRequest")
        {
            talk.ask("configurationDone", json!({})).ok();
        }
        let launched = talk.wait(&launch);
        talk.expects(rules::BAD_LAUNCH_SUCCEEDS, launched.is_err(), || {
            format!("`launch` of {missing} succeeded")
        });
        if launched == Err(Failed::Gone) {
            return;
        }
    }
    disconnect(talk);
}

/// `disconnect` while the program is stopped: a launched program ends.
pub(super) fn disconnect_while_stopped(talk: &mut Talk<'_>) {
    let stop = at_stop(talk);
    disconnect(talk);
    if stop.is_none() {
        return;
    }
    let ends = talk.close();
    talk.expects(rules::SURVIVES_DISCONNECT, ends, || {
        "the adapter still runs after `disconnect`, though its input has ended".to_owned()
    });
    debuggee_is_gone(talk, "`disconnect`");
}

/// The client's end of the connection closes while the program is stopped.
pub(super) fn client_goes_away(talk: &mut Talk<'_>) {
    if at_stop(talk).is_none() {
        return disconnect(talk);
    }
    let ends = talk.close();
    talk.expects(rules::SURVIVES_CLIENT, ends, || {
        "the adapter still runs, though its input has ended".to_owned()
    });
    if ends {
        debuggee_is_gone(talk, "its client had gone");
    }
}

/// The launched process has ended. Known only where the adapter has said its number.
fn debuggee_is_gone(talk: &mut Talk<'_>, when: &str) {
    let Some(process) = talk.process else {
        return;
    };
    let until = Instant::now() + talk.options.patience;
    while is_alive(process) {
        if Instant::now() >= until {
            talk.finds(
                rules::DEBUGGEE_SURVIVES,
                format!("the launched process {process} still runs after {when}"),
            );
            return;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// Whether a process runs.
#[cfg(unix)]
fn is_alive(process: i64) -> bool {
    let id = i32::try_from(process).ok();
    let Some(id) = id.and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    // A process that has ended and that nobody has waited for runs no more.
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    !matches!(state, Some('Z' | 'X')) && rustix::process::test_kill_process(id).is_ok()
}

#[cfg(not(unix))]
fn is_alive(_: i64) -> bool {
    false
}
