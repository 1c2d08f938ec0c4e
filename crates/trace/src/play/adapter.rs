//! Plays the adapter of a recording to an editor that may ask a little differently than the recorded one.
//!
//! A request gets the response of the recorded request that is nearest: of the same command and arguments, at the same stop of the
//! program, not yet used. What a request caused then follows its response. Requests that the adapter sent to the editor are left out:
//! they would start programs.

use std::borrow::Cow;

use dapple_dap::envelope::Kind;
use dapple_dap::lifecycle::Side;
use dapple_dap::message::Raw;
use dapple_dap::transport::{Connection, Incoming, Outgoing};
use serde_json::{Value, json};

use super::breakpoints;
use crate::causes::{Effect, Unit, effect, units};
use crate::session::{Content, Message};

/// The adapter of a recorded session.
#[derive(Debug)]
pub struct AdapterPlay {
    messages: Vec<Message>,
    /// The client's requests with what belongs to them.
    units: Vec<Unit>,
    used: Vec<bool>,
    /// The place of the last request that moved the program, among all messages.
    position: usize,
    /// For each message, the place of the last request before it that moved the program; 0 at the start. What is asked after such a
    /// request is asked about the same stop.
    moved_by: Vec<usize>,
    /// Responses that came only after a later request, with that request's unit.
    held: Vec<(usize, usize, Outgoing)>,
}

/// Fields of arguments that only say how much of an answer is wanted, or how it is to look.
const MINOR: [&str; 9] = [
    "startFrame",
    "levels",
    "start",
    "count",
    "format",
    "context",
    "column",
    "line",
    "singleThread",
];

impl AdapterPlay {
    /// Plays the adapter of these messages, from the start.
    pub fn new(messages: Vec<Message>) -> Self {
        let is_request = |unit: &Unit| {
            let first = unit.messages.first().map(|&at| &messages[at]);
            first.is_some_and(|first| {
                first.from == Side::Client && matches!(first.content, Content::Request { .. })
            })
        };
        let units: Vec<Unit> = units(&messages).into_iter().filter(is_request).collect();
        let mut last = 0;
        let moved_by = messages.iter().enumerate().map(|(at, message)| {
            let before = last;
            if let Content::Request { command, .. } = &message.content
                && message.from == Side::Client
                && effect(command) == Effect::Moves
            {
                last = at;
            }
            before
        });
        let moved_by = moved_by.collect();
        Self {
            used: vec![false; units.len()],
            units,
            messages,
            position: 0,
            moved_by,
            held: Vec::new(),
        }
    }

    /// What the adapter says to a request, in order.
    pub fn request(&mut self, seq: i64, command: &str, arguments: &Value) -> Vec<Outgoing> {
        let chosen = match effect(command) {
            Effect::Moves => self.next_move(command),
            _ => self.nearest(command, arguments),
        };
        let Some(unit) = chosen else {
            return self.unrecorded(seq, command, arguments);
        };
        let first_time = !std::mem::replace(&mut self.used[unit], true);
        let request = self.units[unit].messages[0];
        if effect(command) == Effect::Moves {
            self.position = request;
        }
        // The places keep the order of what is held and what belongs to this request.
        let mut said: Vec<(usize, Outgoing)> = Vec::new();
        for &at in &self.units[unit].messages[1..] {
            let message = &self.messages[at];
            match &message.content {
                Content::Response { .. } if message.from == Side::Adapter => {
                    let response = self.response(at, seq, command, arguments);
                    match self.held_until(request, at) {
                        Some(until) => self.held.push((until, at, response)),
                        None => said.push((at, response)),
                    }
                }
                Content::Event { event, body } if first_time => said.push((
                    at,
                    Outgoing::Event {
                        event: Cow::Owned(event.clone()),
                        body: raw(body),
                    },
                )),
                _ => {}
            }
        }
        let (due, held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|(until, ..)| *until == unit);
        self.held = held;
        let due: Vec<(usize, usize, Outgoing)> = due;
        said.extend(due.into_iter().map(|(_, at, response)| (at, response)));
        said.sort_by_key(|(at, _)| *at);
        said.into_iter().map(|(_, message)| message).collect()
    }

    /// The unit of the next recorded request that moves the program in this way.
    fn next_move(&self, command: &str) -> Option<usize> {
        (0..self.units.len()).find(|&unit| !self.used[unit] && self.asked(unit).0 == command)
    }

    /// The command and arguments of a unit's request.
    fn asked(&self, unit: usize) -> (&str, &Value) {
        let message = &self.messages[self.units[unit].messages[0]];
        (message.name().unwrap_or_default(), message.payload())
    }

    /// The unit whose request is the nearest to this one.
    fn nearest(&self, command: &str, arguments: &Value) -> Option<usize> {
        let candidates = (0..self.units.len()).filter_map(|unit| {
            let (recorded, with) = self.asked(unit);
            if recorded != command {
                return None;
            }
            let apart = match command {
                "initialize" | "setExceptionBreakpoints" => 0,
                _ => minor_differences(with, arguments)?,
            };
            let at = self.units[unit].messages[0];
            let other_stop = self.moved_by[at] != self.position;
            let cost = apart + 100 * usize::from(other_stop) + 10 * usize::from(self.used[unit]);
            Some((cost, at.abs_diff(self.position), unit))
        });
        candidates.min().map(|(.., unit)| unit)
    }

    /// The unit that has to be asked for before a response is given, if the response came after it and it moves the program: some adapters
    /// answer `launch` only after `configurationDone`.
    fn held_until(&self, request: usize, response: usize) -> Option<usize> {
        let moves = |&unit: &usize| {
            let at = self.units[unit].messages[0];
            request < at && at < response && effect(self.asked(unit).0) == Effect::Moves
        };
        let last = (0..self.units.len()).rfind(moves)?;
        (!self.used[last]).then_some(last)
    }

    fn response(&self, at: usize, seq: i64, command: &str, arguments: &Value) -> Outgoing {
        let command = Cow::Owned(command.to_owned());
        match &self.messages[at].content {
            Content::Response {
                success: false,
                message,
                body,
                ..
            } => Outgoing::Failure {
                request_seq: seq,
                command,
                message: message.clone().unwrap_or_default(),
                body: raw(body),
            },
            Content::Response { body, .. } => Outgoing::Success {
                request_seq: seq,
                body: raw(&no_more_than_asked(&command, arguments, body)),
                command,
            },
            _ => failure(seq, &command, "no response was recorded"),
        }
    }

    /// What is said to a request that was not recorded.
    fn unrecorded(&self, seq: i64, command: &str, arguments: &Value) -> Vec<Outgoing> {
        let success = |body: Value| Outgoing::Success {
            request_seq: seq,
            command: Cow::Owned(command.to_owned()),
            body: raw(&body),
        };
        if let Some(body) = breakpoints::composed(&self.messages, command, arguments) {
            return vec![success(body)];
        }
        match command {
            "disconnect" | "configurationDone" | "cancel" => vec![success(Value::Null)],
            "terminate" => vec![
                success(Value::Null),
                Outgoing::Event {
                    event: Cow::Borrowed("terminated"),
                    body: None,
                },
            ],
            _ if effect(command) == Effect::Moves => {
                let next = (0..self.units.len())
                    .find(|&unit| !self.used[unit] && effect(self.asked(unit).0) == Effect::Moves);
                let goes_on = match next {
                    Some(unit) => format!(
                        "it goes on with `{}` (message {})",
                        self.asked(unit).0,
                        self.units[unit].messages[0] + 1
                    ),
                    None => "it ends here".to_owned(),
                };
                let text = format!("the recording has no `{command}` here: {goes_on}");
                vec![failure(seq, command, &text)]
            }
            _ => {
                let known = (0..self.units.len()).any(|unit| self.asked(unit).0 == command);
                let text = match known {
                    true => format!("the recording has no `{command}` with these arguments"),
                    false => format!("the recording has no `{command}`"),
                };
                vec![failure(seq, command, &text)]
            }
        }
    }
}

/// Serves a client until it disconnects or is gone.
pub fn serve(connection: &Connection, mut play: AdapterPlay) {
    while let Ok(incoming) = connection.incoming.recv() {
        let message = match incoming {
            Incoming::Message(message) => message,
            Incoming::Closed(_) => return,
            _ => continue,
        };
        let Ok(envelope) = message.envelope() else {
            continue;
        };
        let Kind::Request { command, arguments } = &envelope.kind else {
            continue;
        };
        let arguments = arguments.map_or(Ok(Value::Null), |raw| serde_json::from_str(raw.get()));
        for message in play.request(envelope.seq, command, &arguments.unwrap_or_default()) {
            if connection.outgoing.send(&message).is_err() {
                return;
            }
        }
        if command == "disconnect" {
            return;
        }
    }
}

fn failure(seq: i64, command: &str, text: &str) -> Outgoing {
    Outgoing::Failure {
        request_seq: seq,
        command: Cow::Owned(command.to_owned()),
        message: text.to_owned(),
        body: raw(&json!({"error": {"id": 1, "format": text, "showUser": true}})),
    }
}

fn raw(value: &Value) -> Option<Raw> {
    match value {
        Value::Null => None,
        value => Raw::new(value).ok(),
    }
}

/// How many minor fields differ; `None` if others do.
fn minor_differences(recorded: &Value, asked: &Value) -> Option<usize> {
    let empty = serde_json::Map::new();
    let [recorded, asked] = [recorded, asked].map(|value| value.as_object().unwrap_or(&empty));
    let names = recorded
        .keys()
        .chain(asked.keys().filter(|name| !recorded.contains_key(*name)));
    let mut count = 0;
    for name in names {
        if recorded.get(name) == asked.get(name) {
            continue;
        }
        // Editors describe a source in different detail.
        let path = |fields: &serde_json::Map<String, Value>| {
            fields
                .get(name)
                .and_then(|source| source.get("path"))
                .cloned()
        };
        let same_source =
            name == "source" && path(recorded).is_some() && path(recorded) == path(asked);
        if !same_source && !MINOR.contains(&name.as_str()) {
            return None;
        }
        count += 1;
    }
    Some(count)
}

/// A body without the frames that were not asked for now.
fn no_more_than_asked(command: &str, arguments: &Value, body: &Value) -> Value {
    let mut body = body.clone();
    if command == "stackTrace"
        && let Some(levels) = arguments.get("levels").and_then(Value::as_u64)
        && levels > 0
        && let Some(Value::Array(frames)) = body.get_mut("stackFrames")
    {
        frames.truncate(usize::try_from(levels).unwrap_or(usize::MAX));
    }
    body
}
