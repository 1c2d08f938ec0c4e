//! A session as it goes by: each message read, joined with its request, and checked.
//!
//! [`Session`] keeps only what later messages need, so that it can follow a session of any length.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::Entry;
use serde_json::Value;

use crate::numbers::Numbers;
use crate::rules::{Checker, Finding};

/// A message of a session, and what is known about it when it is sent.
#[derive(Debug, Clone)]
pub struct Message {
    /// The message's place in its session, from 1.
    pub number: usize,
    /// The time since the session's start.
    pub time: Duration,
    /// The side that sent it.
    pub from: Side,
    /// Its JSON; empty for bytes that are no message.
    pub text: String,
    /// What it says.
    pub content: Content,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// What a message says.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Content {
    /// A request.
    Request {
        /// Its `seq`.
        seq: i64,
        /// Its command.
        command: String,
        /// Its arguments; `null` if there are none.
        arguments: Value,
    },
    /// A response.
    Response {
        /// The `seq` of the request that it answers.
        request_seq: i64,
        /// The command that it names.
        command: String,
        /// Whether the request succeeded.
        success: bool,
        /// The error in short.
        message: Option<String>,
        /// Its body; `null` if there is none.
        body: Value,
        /// The request, if it was seen.
        request: Option<Answered>,
    },
    /// An event.
    Event {
        /// Its name.
        event: String,
        /// Its body; `null` if there is none.
        body: Value,
    },
    /// Something that is not a message of the protocol.
    Unreadable {
        /// Why not.
        reason: String,
    },
}

/// The request that a response answers.
#[derive(Debug, Clone)]
pub struct Answered {
    /// Its place in the session, from 1.
    pub number: usize,
    /// Its command.
    pub command: String,
    /// Its arguments.
    pub arguments: Value,
    /// The time from the request to the response.
    pub elapsed: Duration,
}

impl Message {
    /// The command, or the event's name. `None` for what is not a message.
    pub fn name(&self) -> Option<&str> {
        match &self.content {
            Content::Request { command, .. } | Content::Response { command, .. } => Some(command),
            Content::Event { event, .. } => Some(event),
            Content::Unreadable { .. } => None,
        }
    }

    /// The arguments or the body; `null` if there are none.
    pub fn payload(&self) -> &Value {
        match &self.content {
            Content::Request { arguments, .. } => arguments,
            Content::Response { body, .. } | Content::Event { body, .. } => body,
            Content::Unreadable { .. } => &Value::Null,
        }
    }

    /// The message in a few words: `the request `threads``.
    pub fn title(&self) -> String {
        match &self.content {
            Content::Request { command, .. } => format!("the request `{command}`"),
            Content::Response { command, .. } => format!("the response to `{command}`"),
            Content::Event { event, .. } => format!("the event `{event}`"),
            Content::Unreadable { .. } => "what is no message".to_owned(),
        }
    }
}

/// Follows one session.
#[derive(Debug)]
pub struct Session {
    count: usize,
    checker: Checker,
    waiting: HashMap<(Side, i64), Waiting>,
    /// The numbers of the requests of each side that have their response.
    answered: HashMap<Side, Numbers>,
    /// The place of the client's `disconnect`.
    disconnect: Option<usize>,
}

/// A request without its response.
#[derive(Debug)]
struct Waiting {
    number: usize,
    time: Duration,
    command: String,
    arguments: Value,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A session before its first message.
    pub fn new() -> Self {
        Self {
            count: 0,
            checker: Checker::new(),
            waiting: HashMap::new(),
            answered: HashMap::new(),
            disconnect: None,
        }
    }

    /// All messages of a recorded session.
    pub fn messages(items: &[crate::input::Item]) -> Vec<Message> {
        let mut session = Self::new();
        items.iter().map(|item| session.item(item)).collect()
    }

    /// Takes the next item of a recording.
    pub fn item(&mut self, item: &crate::input::Item) -> Message {
        match item {
            crate::input::Item::Message(entry) => self.message(entry.clone()),
            crate::input::Item::Malformed { time, from, reason } => {
                self.malformed(*time, *from, reason.clone())
            }
        }
    }

    /// Takes the next message.
    pub fn message(&mut self, entry: Entry) -> Message {
        self.count += 1;
        let Entry { time, from, text } = entry;
        let value = serde_json::from_str::<Value>(&text);
        let (content, findings) = match (Envelope::parse(&text), &value) {
            (Ok(envelope), Ok(value)) => {
                let mut findings = self.checker.message(from, &envelope, value);
                if self.is_second(from, &envelope) {
                    findings.iter_mut().for_each(Finding::about_second_response);
                }
                (self.content(time, from, &envelope, value), findings)
            }
            (Err(error), value) => {
                let reason = error.to_string();
                let findings = Checker::not_a_message(value.as_ref().ok(), &reason);
                (Content::Unreadable { reason }, findings)
            }
            (Ok(_), Err(error)) => {
                let reason = error.to_string();
                let findings = Checker::not_a_message(None, &reason);
                (Content::Unreadable { reason }, findings)
            }
        };
        Message {
            number: self.count,
            time,
            from,
            text,
            content,
            findings,
        }
    }

    /// Takes bytes that were no message.
    pub fn malformed(&mut self, time: Duration, from: Side, reason: String) -> Message {
        self.count += 1;
        Message {
            number: self.count,
            time,
            from,
            text: String::new(),
            findings: vec![Finding::malformed(&reason)],
            content: Content::Unreadable { reason },
        }
    }

    /// What is missing if the session ends here, such as responses.
    pub fn end(&self) -> Vec<Finding> {
        // Not from the checker, which leaves out requests that break a rule.
        let mut waiting: Vec<_> = self.waiting.iter().collect();
        waiting.retain(|(_, request)| self.needs_answer(request.number));
        waiting.sort_by_key(|(_, request)| request.number);
        let unanswered = waiting
            .into_iter()
            .map(|(&(side, seq), request)| Finding::unanswered(side, seq, &request.command));
        unanswered.chain(self.checker.end()).collect()
    }

    /// The places of the requests that lack their response.
    pub(crate) fn unanswered(&self) -> BTreeSet<usize> {
        let waiting = self.waiting.values().map(|request| request.number);
        waiting
            .filter(|&number| self.needs_answer(number))
            .collect()
    }

    /// Whether the request at a place has to be answered. After `disconnect`, nobody may be there to do so.
    fn needs_answer(&self, number: usize) -> bool {
        self.disconnect
            .is_none_or(|disconnect| number <= disconnect)
    }

    /// Whether a message answers a request that has its response already.
    fn is_second(&self, from: Side, envelope: &Envelope<'_>) -> bool {
        let Kind::Response { request_seq, .. } = &envelope.kind else {
            return false;
        };
        let key = (from.other(), *request_seq);
        let answered = self.answered.get(&key.0);
        answered.is_some_and(|numbers| numbers.contains(key.1)) && !self.waiting.contains_key(&key)
    }

    fn content(
        &mut self,
        time: Duration,
        from: Side,
        envelope: &Envelope<'_>,
        value: &Value,
    ) -> Content {
        let field = |name: &str| value.get(name).cloned().unwrap_or_default();
        match &envelope.kind {
            Kind::Request { command, .. } => {
                let arguments = field("arguments");
                let waiting = Waiting {
                    number: self.count,
                    time,
                    command: command.to_string(),
                    arguments: arguments.clone(),
                };
                self.waiting.insert((from, envelope.seq), waiting);
                if command == "disconnect" && from == Side::Client {
                    self.disconnect.get_or_insert(self.count);
                }
                Content::Request {
                    seq: envelope.seq,
                    command: command.to_string(),
                    arguments,
                }
            }
            Kind::Response {
                request_seq,
                success,
                command,
                message,
                ..
            } => {
                let key = (from.other(), *request_seq);
                let waiting = self.waiting.remove(&key);
                if waiting.is_some() {
                    self.answered.entry(key.0).or_default().insert(key.1);
                }
                let request = waiting.map(|waiting| Answered {
                    number: waiting.number,
                    command: waiting.command,
                    arguments: waiting.arguments,
                    elapsed: time.saturating_sub(waiting.time),
                });
                Content::Response {
                    request_seq: *request_seq,
                    command: command.to_string(),
                    success: *success,
                    message: message.as_ref().map(ToString::to_string),
                    body: field("body"),
                    request,
                }
            }
            Kind::Event { event, .. } => Content::Event {
                event: event.to_string(),
                body: field("body"),
            },
            // `Kind` may get further kinds.
            _ => Content::Unreadable {
                reason: "an unknown kind of message".to_owned(),
            },
        }
    }
}
