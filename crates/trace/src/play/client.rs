//! Plays the client of a recording to an adapter.
//!
//! It sends the recorded messages in their order, with the references that the adapter uses now. Before each it waits for the responses
//! and the decisive events that were recorded before it. What comes is compared afterwards, by [`mod@crate::diff`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use dapple_dap::envelope::Kind;
use dapple_dap::lifecycle::Side;
use dapple_dap::message::Raw;
use dapple_dap::testing::{Names, Recorder, Recording};
use dapple_dap::transport::{Connection, Incoming, Outgoing};
use serde_json::Value;

use crate::session::{Content, Message};

/// The client of a recorded session.
#[derive(Debug)]
pub struct ClientPlay {
    messages: Vec<Message>,
    patience: Duration,
}

/// What has come of playing a client.
#[derive(Debug)]
pub struct Played {
    /// The session as it went now.
    pub recording: Recording,
    /// What was waited for in vain.
    pub missed: Vec<String>,
}

/// The events without which going on would be another session.
const DECISIVE: [&str; 4] = ["initialized", "stopped", "exited", "terminated"];

/// How many responses to each recorded request, and events of each name, were recorded up to now.
#[derive(Default)]
struct Due<'a> {
    responses: HashMap<i64, usize>,
    events: HashMap<&'a str, usize>,
}

/// A session under way.
struct Play<'a> {
    connection: Connection,
    /// The number that each recorded request of the client has now.
    sent: HashMap<i64, i64>,
    /// The recorded body of the response to each request, by the number it has now.
    expected: HashMap<i64, &'a Value>,
    /// How many responses came to each request, by the number it has now.
    answered: HashMap<i64, usize>,
    /// The recorded bodies of each event.
    recorded_events: HashMap<&'a str, Vec<&'a Value>>,
    /// How many of each event came.
    events: HashMap<String, usize>,
    /// The numbers of the adapter's requests that came, by command.
    reverse: HashMap<String, Vec<i64>>,
    names: Names,
    closed: bool,
    patience: Duration,
    missed: Vec<String>,
}

impl ClientPlay {
    /// Plays the client of these messages, and waits up to `patience` for each message of the adapter.
    pub fn new(messages: Vec<Message>, patience: Duration) -> Self {
        Self { messages, patience }
    }

    /// Plays over a connection whose messages `recorder` records, until the last recorded message or the connection's end.
    pub fn run(&self, connection: Connection, recorder: &Recorder) -> Played {
        let mut recorded_events: HashMap<&str, Vec<&Value>> = HashMap::new();
        let mut bodies: HashMap<usize, &Value> = HashMap::new();
        for message in self.messages.iter().filter(|one| one.from == Side::Adapter) {
            match &message.content {
                Content::Event { event, body } => {
                    recorded_events.entry(event).or_default().push(body)
                }
                Content::Response {
                    body,
                    request: Some(request),
                    ..
                } => drop(bodies.insert(request.number, body)),
                _ => {}
            }
        }
        let mut play = Play {
            connection,
            sent: HashMap::new(),
            expected: HashMap::new(),
            answered: HashMap::new(),
            recorded_events,
            events: HashMap::new(),
            reverse: HashMap::new(),
            names: Names::default(),
            closed: false,
            patience: self.patience,
            missed: Vec::new(),
        };
        let mut due = Due::default();
        let mut asked: HashMap<(&str, i64), usize> = HashMap::new();
        for message in &self.messages {
            match message.from {
                Side::Client => {
                    let body = bodies.get(&message.number).copied();
                    play.send(message, body, &asked);
                }
                Side::Adapter => {
                    let is_last = message.number == self.messages.len();
                    play.wait_for_recorded(message, is_last, &mut due, &mut asked);
                }
            }
            if play.closed {
                break;
            }
        }
        let missed = std::mem::take(&mut play.missed);
        drop(play);
        Played {
            recording: recorder.recording(Side::Client),
            missed,
        }
    }
}

impl<'a> Play<'a> {
    fn send(
        &mut self,
        message: &'a Message,
        expected: Option<&'a Value>,
        asked: &HashMap<(&str, i64), usize>,
    ) {
        match &message.content {
            Content::Request {
                seq,
                command,
                arguments,
            } => {
                let request = Outgoing::Request {
                    command: Cow::Owned(command.clone()),
                    arguments: self.translated(arguments),
                };
                let now = self.connection.outgoing.send(&request).unwrap_or(0);
                self.sent.insert(*seq, now);
                self.answered.insert(now, 0);
                if let Some(body) = expected {
                    self.expected.insert(now, body);
                }
            }
            Content::Response {
                request_seq,
                command,
                success,
                message,
                body,
                ..
            } => {
                let nth = asked.get(&(command.as_str(), *request_seq));
                let came = nth.and_then(|&nth| self.reverse.get(command)?.get(nth).copied());
                let Some(request_seq) = came else { return };
                let (command, body) = (Cow::Owned(command.clone()), self.translated(body));
                let response = Outgoing::Response {
                    request_seq,
                    success: *success,
                    command,
                    message: message.clone().map(Cow::Owned),
                    body,
                };
                self.connection.outgoing.send(&response).ok();
            }
            Content::Event { event, body } => {
                let event = Outgoing::Event {
                    event: Cow::Owned(event.clone()),
                    body: self.translated(body),
                };
                self.connection.outgoing.send(&event).ok();
            }
            Content::Unreadable { .. } if message.text.is_empty() => {}
            Content::Unreadable { .. } => {
                self.connection.outgoing.send_text(&message.text).ok();
            }
        }
    }

    /// Waits for what corresponds to a recorded message of the adapter.
    fn wait_for_recorded(
        &mut self,
        message: &'a Message,
        is_last: bool,
        due: &mut Due<'a>,
        asked: &mut HashMap<(&'a str, i64), usize>,
    ) {
        match &message.content {
            Content::Response { request_seq, .. } => {
                let count = due.responses.entry(*request_seq).or_default();
                *count += 1;
                let count = *count;
                if let Some(&now) = self.sent.get(request_seq) {
                    self.wait(&message.title(), |play| {
                        play.answered.get(&now).is_some_and(|&came| came >= count)
                    });
                }
            }
            Content::Event { event, .. } => {
                let count = due.events.entry(event).or_default();
                *count += 1;
                let count = *count;
                // What comes after the last message would not be seen.
                if is_last || DECISIVE.contains(&event.as_str()) {
                    self.wait(&message.title(), |play| {
                        play.events.get(event).is_some_and(|&came| came >= count)
                    });
                }
            }
            Content::Request { seq, command, .. } => {
                let nth = asked.keys().filter(|(known, _)| known == command).count();
                asked.insert((command, *seq), nth);
                self.wait(&message.title(), |play| {
                    play.reverse
                        .get(command)
                        .is_some_and(|came| came.len() > nth)
                });
            }
            _ => {}
        }
    }

    fn wait(&mut self, what: &str, there: impl Fn(&Self) -> bool) {
        let until = Instant::now() + self.patience;
        while !there(self) {
            let left = until.saturating_duration_since(Instant::now());
            match self.connection.incoming.recv_timeout(left) {
                Ok(Incoming::Message(message)) => {
                    if let Ok(envelope) = message.envelope() {
                        self.take(&envelope);
                    }
                }
                Ok(Incoming::Closed(_)) => {
                    self.closed = true;
                    self.missed.push(format!("{what}: the adapter is gone"));
                    return;
                }
                Ok(_) => {}
                Err(error) if error.is_timeout() => {
                    self.missed
                        .push(format!("{what} did not come within {:?}", self.patience));
                    // What depends on it won't come either.
                    self.patience = self.patience.min(Duration::from_secs(1));
                    return;
                }
                Err(_) => {
                    self.closed = true;
                    return;
                }
            }
        }
    }

    fn take(&mut self, envelope: &dapple_dap::envelope::Envelope<'_>) {
        let value = |raw: Option<&serde_json::value::RawValue>| {
            let value = raw.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
            value.unwrap_or_default()
        };
        match &envelope.kind {
            Kind::Response {
                request_seq, body, ..
            } => {
                *self.answered.entry(*request_seq).or_default() += 1;
                if let Some(recorded) = self.expected.get(request_seq) {
                    self.names.learn(recorded, &value(*body));
                }
            }
            Kind::Event { event, body } => {
                let count = self.events.entry(event.to_string()).or_default();
                let recorded = self
                    .recorded_events
                    .get(&**event)
                    .and_then(|bodies| bodies.get(*count));
                *count += 1;
                if let Some(recorded) = recorded {
                    self.names.learn(recorded, &value(*body));
                }
            }
            Kind::Request { command, .. } => {
                let came = self.reverse.entry(command.to_string()).or_default();
                came.push(envelope.seq);
            }
            _ => {}
        }
    }

    fn translated(&self, payload: &Value) -> Option<Raw> {
        if payload.is_null() {
            return None;
        }
        let mut payload = payload.clone();
        let request = |field: &str, value: &Value| {
            let seq = value.as_i64().filter(|_| field == "requestId")?;
            Some((*self.sent.get(&seq)?).into())
        };
        self.names.translate(&mut payload, &request);
        Raw::new(&payload).ok()
    }
}
