//! Which capability the receiver of a request or event has to advertise, and which ones both sides have advertised.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::Side;
use crate::message::decode;

/// A message that depends on a capability of its receiver.
pub(super) struct Needed {
    /// The request's command or the event's name.
    message: &'static str,
    /// The field of `Capabilities` or, for messages to the client, of the arguments of `initialize`.
    pub(super) capability: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    ReverseRequest,
    Event,
}

const fn request(message: &'static str, capability: &'static str) -> Needed {
    Needed {
        message,
        capability,
        kind: Kind::Request,
    }
}

const fn reverse(message: &'static str, capability: &'static str) -> Needed {
    Needed {
        message,
        capability,
        kind: Kind::ReverseRequest,
    }
}

const fn event(message: &'static str, capability: &'static str) -> Needed {
    Needed {
        message,
        capability,
        kind: Kind::Event,
    }
}

/// All messages of the protocol that depend on a capability. `setExceptionBreakpoints` is not among them: it depends on filters, and clients
/// also send it to adapters without `configurationDone`, as the last request of the configuration.
const NEEDED: [Needed; 32] = [
    request("cancel", "supportsCancelRequest"),
    event("progressStart", "supportsProgressReporting"),
    event("progressUpdate", "supportsProgressReporting"),
    event("progressEnd", "supportsProgressReporting"),
    event("invalidated", "supportsInvalidatedEvent"),
    event("memory", "supportsMemoryEvent"),
    reverse("runInTerminal", "supportsRunInTerminalRequest"),
    reverse("startDebugging", "supportsStartDebuggingRequest"),
    request("configurationDone", "supportsConfigurationDoneRequest"),
    request("restart", "supportsRestartRequest"),
    request("terminate", "supportsTerminateRequest"),
    request("breakpointLocations", "supportsBreakpointLocationsRequest"),
    request("setFunctionBreakpoints", "supportsFunctionBreakpoints"),
    request("dataBreakpointInfo", "supportsDataBreakpoints"),
    request("setDataBreakpoints", "supportsDataBreakpoints"),
    request(
        "setInstructionBreakpoints",
        "supportsInstructionBreakpoints",
    ),
    request("stepBack", "supportsStepBack"),
    request("reverseContinue", "supportsStepBack"),
    request("restartFrame", "supportsRestartFrame"),
    request("goto", "supportsGotoTargetsRequest"),
    request("gotoTargets", "supportsGotoTargetsRequest"),
    request("setVariable", "supportsSetVariable"),
    request("terminateThreads", "supportsTerminateThreadsRequest"),
    request("modules", "supportsModulesRequest"),
    request("loadedSources", "supportsLoadedSourcesRequest"),
    request("setExpression", "supportsSetExpression"),
    request("stepInTargets", "supportsStepInTargetsRequest"),
    request("completions", "supportsCompletionsRequest"),
    request("exceptionInfo", "supportsExceptionInfoRequest"),
    request("readMemory", "supportsReadMemoryRequest"),
    request("writeMemory", "supportsWriteMemoryRequest"),
    request("disassemble", "supportsDisassembleRequest"),
];

impl Needed {
    /// What a request from `side` depends on.
    pub(super) fn by_request(from: Side, command: &str) -> Option<&'static Self> {
        Self::by(command, |kind| match from {
            Side::Client => kind == Kind::Request,
            Side::Adapter => kind == Kind::ReverseRequest,
        })
    }

    /// What an event depends on.
    pub(super) fn by_event(event: &str) -> Option<&'static Self> {
        Self::by(event, |kind| kind == Kind::Event)
    }

    fn by(message: &str, fits: impl Fn(Kind) -> bool) -> Option<&'static Self> {
        NEEDED
            .iter()
            .find(|needed| needed.message == message && fits(needed.kind))
    }
}

/// The specification's sentence on a message that depends on a capability.
pub(super) fn sentence(message: &str, capability: &str) -> String {
    let needed = NEEDED.iter().find(|needed| needed.message == message);
    let (subject, of) = match needed.map(|needed| needed.kind) {
        Some(Kind::Event) => ("This event should only be sent", ""),
        Some(Kind::ReverseRequest) => ("This request should only be sent", "client "),
        _ => ("Clients should only call this request", ""),
    };
    format!("{subject} if the corresponding {of}capability `{capability}` is true.")
}

/// The capabilities that one side has advertised, as far as messages depend on them: a bit for each entry of [`NEEDED`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Advertised(u64);

impl Advertised {
    pub(super) fn has(self, needed: &Needed) -> bool {
        NEEDED
            .iter()
            .zip(0..)
            .any(|(entry, bit)| entry.capability == needed.capability && self.0 & (1 << bit) != 0)
    }

    /// Takes over the capabilities that `payload` has: an object with a field for each of them. Others stay as they are.
    pub(super) fn merge(&mut self, payload: Option<&RawValue>) {
        let fields = payload.and_then(|payload| {
            serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(payload.get()).ok()
        });
        let fields = fields.unwrap_or_default();
        for (needed, bit) in NEEDED.iter().zip(0..) {
            if let Some(value) = fields.get(needed.capability) {
                let is_true = decode::<bool>(value).unwrap_or(false);
                self.0 = self.0 & !(1 << bit) | u64::from(is_true) << bit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition's own words are the source: each description that names a capability on which the whole message depends.
    #[test]
    fn the_table_has_the_messages_that_the_definition_has() {
        let model = dapple_schema::Model::protocol().expect("the project's definition");
        let mut found = Vec::new();
        for message in model.requests() {
            if let Some(capability) = message.capability {
                found.push((message.command.to_owned(), capability.to_owned()));
            }
        }
        found.sort();
        let mut expected: Vec<_> = NEEDED
            .iter()
            .filter(|needed| needed.kind != Kind::Event)
            .map(|needed| (needed.message.to_owned(), needed.capability.to_owned()))
            .collect();
        expected.sort();
        assert_eq!(found, expected);
    }
}
