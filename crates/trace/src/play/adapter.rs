//! Plays the adapter of a recording to an editor that may ask a little differently than the recorded one.
//!
//! A request gets the response of the recorded request that is nearest: of the same command and arguments, at the same stop of the
//! program, not yet used. What a request caused then follows its response. Requests that the adapter sent to the editor are left out:
//! they would start programs.
//!
//! What is said is the recorded text with other numbers, so that what was wrong with a message then is wrong with it now.

use dapple_dap::envelope::Kind;
use dapple_dap::lifecycle::Side;
use dapple_dap::transport::{Connection, Incoming};
use serde_json::{Map, Value, json};

use super::{breakpoints, stack};
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
    held: Vec<(usize, Said)>,
    /// The number of the last message that was said.
    seq: i64,
}

/// What is to be said, with its place in the recording.
#[derive(Debug)]
struct Said {
    at: usize,
    text: Text,
}

#[derive(Debug)]
enum Text {
    /// A message, which gets its number when it is said.
    Message(Map<String, Value>),
    /// Something else.
    Other(String),
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
            seq: 0,
        }
    }

    /// What the adapter says before the first request, in order.
    pub fn start(&mut self) -> Vec<String> {
        let asked = |message: &Message| message.from == Side::Client;
        let before = self.messages.iter().take_while(|one| !asked(one));
        let said = before.enumerate().filter_map(|(at, message)| {
            let text = match message.content {
                Content::Request { .. } => return None,
                _ => recorded(message)?,
            };
            Some(Said { at, text })
        });
        let said = said.collect();
        self.numbered(said)
    }

    /// What the adapter says to a request, in order.
    pub fn request(&mut self, seq: i64, command: &str, arguments: &Value) -> Vec<String> {
        let chosen = match effect(command) {
            Effect::Moves => self.next_move(command),
            _ => self.nearest(command, arguments),
        };
        let Some(unit) = chosen else {
            let message = self.unrecorded(seq, command, arguments);
            return self.numbered(message);
        };
        let frames = match self.frames(unit, arguments).transpose() {
            Ok(frames) => frames,
            Err(first) => {
                let text =
                    format!("the recording has no `{command}` with the frames from {first} on");
                return self.numbered(vec![failure(seq, command, &text)]);
            }
        };
        let first_time = !std::mem::replace(&mut self.used[unit], true);
        let request = self.units[unit].messages[0];
        if effect(command) == Effect::Moves {
            self.position = request;
        }
        // The places keep the order of what is held and what belongs to this request.
        let mut said: Vec<Said> = Vec::new();
        for &at in &self.units[unit].messages[1..] {
            let message = &self.messages[at];
            let answers = matches!(
                message.content,
                Content::Response {
                    request: Some(_),
                    ..
                }
            );
            let is_said = match message.content {
                Content::Request { .. } => false,
                _ => message.from == Side::Adapter && (answers || first_time),
            };
            let Some(text) = recorded(message).filter(|_| is_said) else {
                continue;
            };
            let text = match self.asked_for(message) == Some(request) {
                true => answer(text, seq, frames.as_ref()),
                false => text,
            };
            let said_now = Said { at, text };
            match self.held_until(request, at).filter(|_| answers) {
                Some(until) => self.held.push((until, said_now)),
                None => said.push(said_now),
            }
        }
        let (due, held): (Vec<_>, Vec<_>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|(until, _)| *until == unit);
        self.held = held;
        said.extend(due.into_iter().map(|(_, response)| response));
        said.sort_by_key(|said| said.at);
        self.numbered(said)
    }

    /// The frames to answer a request for a stack with, if the nearest recorded request asked for another piece of it; the errors are
    /// those of [`stack::composed`].
    fn frames(&self, unit: usize, arguments: &Value) -> Option<Result<Vec<Value>, usize>> {
        let (command, asked) = self.asked(unit);
        if command != stack::STACK || stack::piece(asked) == stack::piece(arguments) {
            return None;
        }
        let stop = self.moved_by[self.units[unit].messages[0]];
        let known = self.messages.iter().filter_map(|message| {
            let Content::Response {
                body,
                request: Some(request),
                ..
            } = &message.content
            else {
                return None;
            };
            let same = request.command == command
                && request.arguments.get("threadId") == asked.get("threadId")
                && self.moved_by[request.number - 1] == stop;
            same.then_some((&request.arguments, body))
        });
        Some(stack::composed(known, arguments))
    }

    /// Texts of messages with the numbers that they have now.
    fn numbered(&mut self, said: Vec<Said>) -> Vec<String> {
        let texts = said.into_iter().map(|said| match said.text {
            Text::Message(mut fields) => {
                self.seq += 1;
                fields.insert("seq".to_owned(), self.seq.into());
                Value::Object(fields).to_string()
            }
            Text::Other(text) => text,
        });
        texts.collect()
    }

    /// The place of the request whose number a response has.
    fn asked_for(&self, response: &Message) -> Option<usize> {
        let Content::Response { request_seq, .. } = response.content else {
            return None;
        };
        let before = &self.messages[..response.number.saturating_sub(1)];
        before.iter().rposition(|message| {
            message.from == Side::Client
                && matches!(message.content, Content::Request { seq, .. } if seq == request_seq)
        })
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
                _ => minor_differences(command, with, arguments)?,
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

    /// What is said to a request that was not recorded.
    fn unrecorded(&self, seq: i64, command: &str, arguments: &Value) -> Vec<Said> {
        let success = |body: Value| response(seq, command, true, [("body", body)]);
        if let Some(body) = breakpoints::composed(&self.messages, command, arguments) {
            return vec![success(body)];
        }
        match command {
            "disconnect" | "configurationDone" | "cancel" => vec![success(Value::Null)],
            "terminate" => vec![success(Value::Null), terminated()],
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
    let say = |texts: Vec<String>| {
        let mut texts = texts.iter();
        texts.try_for_each(|text| connection.outgoing.send_text(text))
    };
    if say(play.start()).is_err() {
        return;
    }
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
        let texts = play.request(envelope.seq, command, &arguments.unwrap_or_default());
        if say(texts).is_err() || command == "disconnect" {
            return;
        }
    }
}

/// A message as it was recorded. `None` for bytes that were no text.
fn recorded(message: &Message) -> Option<Text> {
    match serde_json::from_str(&message.text) {
        Ok(Value::Object(fields)) => Some(Text::Message(fields)),
        _ if message.text.is_empty() => None,
        _ => Some(Text::Other(message.text.clone())),
    }
}

/// A recorded response as one to the request of now, with other frames if there are any.
fn answer(text: Text, seq: i64, frames: Option<&Vec<Value>>) -> Text {
    let Text::Message(mut fields) = text else {
        return text;
    };
    fields.insert("request_seq".to_owned(), seq.into());
    let recorded = fields
        .get_mut("body")
        .and_then(|body| body.get_mut("stackFrames"));
    if let (Some(frames), Some(recorded)) = (frames, recorded) {
        *recorded = frames.clone().into();
    }
    Text::Message(fields)
}

/// A response that was not recorded, with further fields, of which those that are `null` are left out.
fn response<const N: usize>(
    seq: i64,
    command: &str,
    success: bool,
    fields: [(&str, Value); N],
) -> Said {
    let mut response = Map::new();
    let fixed = [
        ("type", "response".into()),
        ("request_seq", seq.into()),
        ("success", success.into()),
        ("command", command.into()),
    ];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    response.extend(
        fixed
            .into_iter()
            .chain(fields)
            .map(|(name, value)| (name.to_owned(), value)),
    );
    Said {
        at: 0,
        text: Text::Message(response),
    }
}

fn terminated() -> Said {
    let fixed = [("type", "event"), ("event", "terminated")];
    let fields = fixed.map(|(name, value)| (name.to_owned(), value.into()));
    Said {
        at: 0,
        text: Text::Message(fields.into_iter().collect()),
    }
}

fn failure(seq: i64, command: &str, text: &str) -> Said {
    let error = json!({"error": {"id": 1, "format": text, "showUser": true}});
    response(
        seq,
        command,
        false,
        [("message", text.into()), ("body", error)],
    )
}

/// How many minor fields differ; `None` if others do.
fn minor_differences(command: &str, recorded: &Value, asked: &Value) -> Option<usize> {
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
        // `source` is not compared for `evaluate`: `frameId` says where the expression belongs, and VS Code in a browser puts its port, which
        // changes, into the source's URL.
        let same_source = name == "source"
            && (command == "evaluate" || path(recorded).is_some() && path(recorded) == path(asked));
        if !same_source && !MINOR.contains(&name.as_str()) {
            return None;
        }
        count += 1;
    }
    Some(count)
}
