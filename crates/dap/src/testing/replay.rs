//! Replays one side of a recorded session to the other side.
//!
//! Worth knowing: references and ids differ from session to session. So for each one in a message of the peer, the replay maps the
//! recorded kind and value to the value that the peer uses now, and translates its own messages by that map.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;

use super::names::Names;
use super::peer::Peer;
use super::record::{Entry, Recording};
use crate::client::DEFAULT_TIMEOUT;
use crate::envelope::{Envelope, Kind};
use crate::lifecycle::Side;
use crate::message::Raw;
use crate::transport::{Connection, Outgoing};

/// A difference from the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The number of the recorded message, from 1; `None` for a message that was not recorded.
    pub entry: Option<usize>,
    /// The message, such as ``the response to `threads` ``.
    pub message: String,
    /// What differs, and how.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "message {entry}, {}: {}", self.message, self.what),
            None => write!(f, "{}: {}", self.message, self.what),
        }
    }
}

/// Plays one side of a recording. Playing the client checks whether an adapter still answers the same; playing the adapter tests a
/// client without an adapter.
///
/// It sends the recorded messages of its side. Before each, it waits until the peer's messages that were recorded earlier are received
/// or overdue. It returns how the peer's messages [differ](Difference). Message numbers and references are not compared but translated,
/// so that a client's request names the frame that the adapter has now. The recorded times are not played back.
///
/// ```
/// use dapple_dap::lifecycle::Side;
/// use dapple_dap::testing::{Recorder, Replay, TestClient};
/// use dapple_dap::types::*;
/// use dapple_dap::{Connection, Server};
///
/// fn adapter(name: &'static str) -> Server<()> {
///     Server::builder()
///         .on::<ThreadsRequest>(move |_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, name)])))
///         .build()
/// }
/// fn serve(server: Server<()>, connection: Connection) -> std::thread::JoinHandle<()> {
///     std::thread::spawn(move || server.start(&connection).run(&mut ()))
/// }
///
/// // A session is recorded …
/// let recorder = Recorder::new();
/// let (client, connection) = recorder.options().memory();
/// let session = serve(adapter("main"), connection);
/// let client = TestClient::new(client);
/// client.initialize();
/// client.ok::<ThreadsRequest>(Empty);
/// client.disconnect();
/// session.join().unwrap();
///
/// // … and replayed to an adapter that has changed since.
/// let replay = Replay::new(recorder.recording(Side::Client));
/// let (client, connection) = Connection::memory();
/// let session = serve(adapter("worker"), connection);
/// let differences = replay.as_client(client);
/// session.join().unwrap();
/// assert_eq!(
///     differences[0].to_string(),
///     "message 4, the response to `threads`: `threads[0].name` was \"main\" and is \"worker\""
/// );
/// assert_eq!(differences.len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct Replay {
    recording: Recording,
    ignored: BTreeSet<String>,
    timeout: Duration,
}

impl Replay {
    /// A replay that ignores process ids.
    pub fn new(recording: Recording) -> Self {
        Self {
            recording,
            ignored: ["systemProcessId", "processId", "shellProcessId"]
                .map(str::to_owned)
                .into(),
            timeout: DEFAULT_TIMEOUT,
        }
    }

    /// Ignores fields with this name, at any depth, when messages are compared: for addresses, versions and the like.
    #[must_use]
    pub fn ignoring(mut self, field: &str) -> Self {
        self.ignored.insert(field.to_owned());
        self
    }

    /// Sets how long to wait for each recorded message of the peer.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Plays the client to an adapter, and closes the connection.
    pub fn as_client(&self, connection: Connection) -> Vec<Difference> {
        self.play(Side::Client, connection)
    }

    /// Plays the adapter to a client, and closes the connection. At the end, requests that are not in the recording are answered with
    /// an error.
    pub fn as_adapter(&self, connection: Connection) -> Vec<Difference> {
        self.play(Side::Adapter, connection)
    }

    fn play(&self, own: Side, connection: Connection) -> Vec<Difference> {
        let mut play = Play {
            peer: Peer::new(connection, self.timeout),
            ignored: &self.ignored,
            requests: HashMap::new(),
            names: Names::default(),
            found: Vec::new(),
            differences: Vec::new(),
        };
        for (index, entry) in self.recording.entries.iter().enumerate() {
            let result = match Envelope::parse(&entry.text) {
                Err(_) if entry.from == own => {
                    play.peer.send_text(&entry.text);
                    Ok(())
                }
                // Recorded text that is not a message: if the peer sent it, it is not waited for.
                Err(_) => Ok(()),
                Ok(envelope) if entry.from == own => play.send_recorded(own, &envelope),
                Ok(envelope) => play.compare_with_recorded(own, &envelope),
            };
            if let Err(what) = result {
                play.differ(Some(index + 1), title(entry), what);
            }
            for what in std::mem::take(&mut play.found) {
                play.differ(Some(index + 1), title(entry), what);
            }
        }
        play.report_unrecorded();
        play.differences
    }
}

/// A description of a recorded message.
fn title(entry: &Entry) -> String {
    Envelope::parse(&entry.text)
        .map_or_else(|_| "no message".to_owned(), |envelope| name(&envelope))
}

fn name(envelope: &Envelope<'_>) -> String {
    match &envelope.kind {
        Kind::Request { command, .. } => format!("the request `{command}`"),
        Kind::Response { command, .. } => format!("the response to `{command}`"),
        Kind::Event { event, .. } => format!("the event `{event}`"),
    }
}

/// A replay under way.
struct Play<'a> {
    peer: Peer,
    ignored: &'a BTreeSet<String>,
    /// The number that each request has in this replay, by the request's sender and recorded number.
    requests: HashMap<(Side, i64), i64>,
    /// The references and ids that the peer uses now.
    names: Names,
    /// The differences in the message that is being compared.
    found: Vec<String>,
    differences: Vec<Difference>,
}

impl Play<'_> {
    fn differ(&mut self, entry: Option<usize>, message: String, what: String) {
        self.differences.push(Difference {
            entry,
            message,
            what,
        });
    }

    /// Sends a recorded message of the replayed side.
    fn send_recorded(&mut self, own: Side, envelope: &Envelope<'_>) -> Result<(), String> {
        let message = match &envelope.kind {
            Kind::Request { command, arguments } => {
                Outgoing::request(command.to_string(), self.translated(own, *arguments)?)
            }
            Kind::Event { event, body } => {
                Outgoing::event(event.to_string(), self.translated(own, *body)?)
            }
            Kind::Response {
                request_seq,
                success,
                command,
                message,
                body,
            } => {
                let request_seq = *self
                    .requests
                    .get(&(own.other(), *request_seq))
                    .ok_or("its request did not come")?;
                Outgoing::Response {
                    request_seq,
                    success: *success,
                    command: Cow::Owned(command.to_string()),
                    message: message.as_ref().map(|text| Cow::Owned(text.to_string())),
                    body: self.translated(own, *body)?,
                }
            }
        };
        let seq = self.peer.send(&message);
        if matches!(envelope.kind, Kind::Request { .. }) {
            self.requests.insert((own, envelope.seq), seq);
        }
        Ok(())
    }

    /// Waits for the message of the peer that corresponds to a recorded one, and compares it.
    fn compare_with_recorded(&mut self, own: Side, recorded: &Envelope<'_>) -> Result<(), String> {
        let request = match &recorded.kind {
            Kind::Response { request_seq, .. } => {
                let seq = self.requests.get(&(own, *request_seq)).copied();
                // A recorded response to a request that was not sent is not waited for.
                let Some(seq) = seq else { return Ok(()) };
                Some(seq)
            }
            _ => None,
        };
        let message = self
            .peer
            .take(|envelope| match (&recorded.kind, &envelope.kind) {
                (Kind::Request { command, .. }, Kind::Request { command: found, .. }) => {
                    command == found
                }
                (Kind::Event { event, .. }, Kind::Event { event: found, .. }) => event == found,
                (Kind::Response { .. }, Kind::Response { request_seq, .. }) => {
                    Some(*request_seq) == request
                }
                _ => false,
            })?;
        let now = message.envelope().map_err(|error| error.to_string())?;
        match (&recorded.kind, &now.kind) {
            (
                Kind::Response {
                    success,
                    message,
                    body,
                    ..
                },
                Kind::Response {
                    success: success_now,
                    message: message_now,
                    body: body_now,
                    ..
                },
            ) => {
                if success == success_now {
                    self.compare_payloads(*body, *body_now)?;
                } else {
                    let outcome = |success: bool, message: &Option<Cow<'_, str>>| {
                        if success {
                            "succeeded".to_owned()
                        } else {
                            format!("failed ({})", message.as_deref().unwrap_or("no reason"))
                        }
                    };
                    self.found.push(format!(
                        "it {} and now {}",
                        outcome(*success, message),
                        outcome(*success_now, message_now)
                    ));
                }
            }
            (Kind::Event { body, .. }, Kind::Event { body: now, .. }) => {
                self.compare_payloads(*body, *now)?;
            }
            (
                Kind::Request { arguments, .. },
                Kind::Request {
                    arguments: arguments_now,
                    ..
                },
            ) => {
                self.requests.insert((own.other(), recorded.seq), now.seq);
                self.compare_payloads(*arguments, *arguments_now)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Reports the received messages that were not recorded, and answers requests among them with an error.
    fn report_unrecorded(&mut self) {
        for message in self.peer.left() {
            let Ok(envelope) = message.envelope() else {
                continue;
            };
            let what = "it was not recorded";
            if let Kind::Request { command, .. } = &envelope.kind {
                let command = command.to_string();
                self.peer
                    .send(&Outgoing::failure(envelope.seq, command, what, None));
            }
            self.differ(None, name(&envelope), what.to_owned());
        }
    }

    fn compare_payloads(
        &mut self,
        recorded: Option<&RawValue>,
        now: Option<&RawValue>,
    ) -> Result<(), String> {
        let [recorded, now] = [value(recorded)?, value(now)?];
        self.compare("", "", &recorded, &now);
        Ok(())
    }

    /// Notes the differences between two values. Fields that hold references or ids are not compared: `names` gets the new one under the
    /// recorded one. `path` leads to the values; `within` is as for [`Names::kind`].
    fn compare(&mut self, path: &str, within: &str, recorded: &Value, now: &Value) {
        match (recorded, now) {
            (Value::Object(fields), Value::Object(fields_now)) => {
                let all: BTreeSet<_> = fields.keys().chain(fields_now.keys()).collect();
                for key in all {
                    if self.ignored.contains(key) {
                        continue;
                    }
                    let place = if path.is_empty() {
                        key.clone()
                    } else {
                        format!("{path}.{key}")
                    };
                    let absent = &Value::Null;
                    let [recorded, now] =
                        [fields, fields_now].map(|fields| fields.get(key).unwrap_or(absent));
                    match Names::kind(within, key) {
                        Some(kind) if Names::may_correspond(recorded, now) => {
                            self.names.note(kind, recorded, now.clone());
                        }
                        _ => self.compare(&place, key, recorded, now),
                    }
                }
            }
            (Value::Array(items), Value::Array(items_now)) => {
                if items.len() != items_now.len() {
                    let (count, count_now) = (items.len(), items_now.len());
                    self.found
                        .push(format!("`{path}` had {count} elements and has {count_now}"));
                }
                for (index, (recorded, now)) in items.iter().zip(items_now).enumerate() {
                    self.compare(&format!("{path}[{index}]"), within, recorded, now);
                }
            }
            _ if recorded == now => {}
            _ => self.found.push(format!(
                "`{path}` was {} and is {}",
                shown(recorded),
                shown(now)
            )),
        }
    }

    /// A payload of the replayed side, with the references and ids that the peer uses now.
    fn translated(&self, own: Side, payload: Option<&RawValue>) -> Result<Option<Raw>, String> {
        let Some(payload) = payload else {
            return Ok(None);
        };
        let mut value = value(Some(payload))?;
        let request = |field: &str, value: &Value| {
            let seq = value.as_i64().filter(|_| field == "requestId")?;
            Some((*self.requests.get(&(own, seq))?).into())
        };
        self.names.translate(&mut value, &request);
        Raw::new(&value)
            .map(Some)
            .map_err(|error| error.to_string())
    }
}

/// A payload as a value; an absent one is an object without fields.
fn value(payload: Option<&RawValue>) -> Result<Value, String> {
    payload.map_or_else(
        || Ok(Value::Object(serde_json::Map::new())),
        |payload| serde_json::from_str(payload.get()).map_err(|error| error.to_string()),
    )
}

/// A value for a message; a long one is cut after its start.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 200;
    match value {
        Value::Null => "absent".to_owned(),
        _ => {
            let text = value.to_string();
            match text.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        }
    }
}
