//! What causes what in a session: which request of the client an answer and an event belong to.
//!
//! The protocol doesn't say it, so an event is taken for the effect of the last request that may have such effects: a `stopped` belongs to
//! the last request that let the program run, whatever the client asked in the meantime. What no request may cause, and a response to no
//! request that waits, belongs to the request it comes after.

use dapple_dap::lifecycle::Side;

use crate::session::{Content, Message};

/// A request of the client with its response and what it causes; or a message that nothing of the client causes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unit {
    /// The places of the unit's messages among all, in order. The first is the request, if there is one.
    pub(crate) messages: Vec<usize>,
}

/// What a request may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// It only asks.
    Asks,
    /// It may change what the adapter knows: breakpoints, values.
    Changes,
    /// It starts, runs, stops or ends the program.
    Moves,
}

pub(crate) fn effect(command: &str) -> Effect {
    match command {
        "launch" | "attach" | "configurationDone" | "restart" | "disconnect" | "terminate"
        | "continue" | "next" | "stepIn" | "stepOut" | "stepBack" | "reverseContinue" | "pause"
        | "goto" | "restartFrame" | "terminateThreads" => Effect::Moves,
        "threads"
        | "stackTrace"
        | "scopes"
        | "variables"
        | "source"
        | "modules"
        | "loadedSources"
        | "readMemory"
        | "disassemble"
        | "completions"
        | "exceptionInfo"
        | "breakpointLocations"
        | "dataBreakpointInfo"
        | "gotoTargets"
        | "stepInTargets"
        | "locations"
        | "cancel" => Effect::Asks,
        _ => Effect::Changes,
    }
}

/// Whether an event may be the effect of a request.
fn may_cause(command: &str, event: &str) -> bool {
    match event {
        "initialized" => matches!(command, "initialize" | "launch" | "attach"),
        "stopped" | "continued" | "exited" | "terminated" | "thread" | "process" => {
            effect(command) == Effect::Moves
        }
        "output" => effect(command) == Effect::Moves || command == "evaluate",
        _ => effect(command) != Effect::Asks,
    }
}

/// Divides a session into units, in the order of their first messages.
pub(crate) fn units(messages: &[Message]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    // The unit of each message.
    let mut unit_of = vec![0; messages.len()];
    for (index, message) in messages.iter().enumerate() {
        let before = &messages[..index];
        let cause = match &message.content {
            Content::Response {
                request: Some(request),
                ..
            } => request.number.checked_sub(1),
            _ if message.from == Side::Client => None,
            Content::Response { request_seq, .. } => answered(before, *request_seq),
            _ => cause(before, message),
        };
        // No request causes this message. It stays with the client's last request before it, so that it is played at the same time.
        let follows = || before.iter().rposition(is_asked);
        let at = cause.or_else(|| follows().filter(|_| message.from == Side::Adapter));
        let unit = at.map(|at| unit_of[at]).unwrap_or_else(|| {
            units.push(Unit::default());
            units.len() - 1
        });
        unit_of[index] = unit;
        units[unit].messages.push(index);
    }
    units
}

/// True for requests of the client.
fn is_asked(message: &Message) -> bool {
    message.from == Side::Client && matches!(message.content, Content::Request { .. })
}

/// The place of the client's last request with this number.
fn answered(before: &[Message], number: i64) -> Option<usize> {
    let is_it = |message: &Message| matches!(message.content, Content::Request { seq, .. } if seq == number);
    before
        .iter()
        .rposition(|message| message.from == Side::Client && is_it(message))
}

/// The place of the request that an event or a request of the adapter is the effect of.
fn cause(before: &[Message], effect: &Message) -> Option<usize> {
    let event = effect.name()?;
    before.iter().rposition(|message| {
        is_asked(message) && may_cause(message.name().unwrap_or_default(), event)
    })
}
