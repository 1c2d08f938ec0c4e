//! Recorded sessions, in memory and in files.
//!
//! A [`Recorder`] records the messages of a connection; a [`Recording`] is the result, as text with a line for each message:
//!
//! ```json
//! {"time":0.001204,"from":"client","message":{"seq":1,"type":"request","command":"threads"}}
//! ```
//!
//! `time` is in seconds since the recorder was created; `from` is `client` or `adapter`. A [`Log`](super::Log) writes a file with
//! several sessions: there each entry names its `session`, and `time` counts from the session's first message.
//! [`Replay`](super::Replay) interprets the messages, this module does not.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::lifecycle::Side;
use crate::message::Raw;
use crate::transport::{Direction, Options};

/// A message as it was on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The time since the recorder was created.
    pub time: Duration,
    /// Whether the recorder's end sent or received it.
    pub direction: Direction,
    /// Its JSON.
    pub text: String,
}

/// Records the messages of a connection in memory.
///
/// ```
/// use dapple_dap::lifecycle::Side;
/// use dapple_dap::testing::Recorder;
///
/// let recorder = Recorder::new();
/// let (client, adapter) = recorder.options().memory();
/// client.outgoing.send_text("{}").expect("the other end is there");
/// assert_eq!(recorder.messages()[0].text, "{}");
/// assert_eq!(recorder.recording(Side::Client).entries[0].from, Side::Client);
/// ```
#[derive(Debug, Clone)]
pub struct Recorder {
    messages: Arc<Mutex<Vec<Recorded>>>,
    start: Instant,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorder {
    /// A recorder without messages.
    pub fn new() -> Self {
        Self {
            messages: Arc::default(),
            start: Instant::now(),
        }
    }

    /// Options for a connection whose messages are recorded.
    pub fn options(&self) -> Options {
        let recorder = self.clone();
        Options::new().tap(move |direction, message| {
            let text = String::from_utf8_lossy(message).into_owned();
            let time = recorder.start.elapsed();
            recorder.lock().push(Recorded {
                time,
                direction,
                text,
            });
        })
    }

    /// All messages until now, in order.
    pub fn messages(&self) -> Vec<Recorded> {
        self.lock().clone()
    }

    /// All messages until now as a recording. `own` is the side whose end of the connection was recorded.
    pub fn recording(&self, own: Side) -> Recording {
        let entries = self.messages().into_iter().map(|message| Entry {
            time: message.time,
            from: match message.direction {
                Direction::Sent => own,
                Direction::Received => own.other(),
            },
            text: message.text,
        });
        Recording {
            session: None,
            entries: entries.collect(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Recorded>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One message of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The time since the start of the recording.
    pub time: Duration,
    /// The side that sent it.
    pub from: Side,
    /// Its JSON.
    pub text: String,
}

/// A recorded session. `to_string` writes it as text, and [`parse`](Self::parse) reads that text.
///
/// Each line is a JSON object with a message; a line with `malformed` in its place is skipped. `time` is in seconds since the start; `from` is `client` or `adapter`. `session` is
/// present in a file with several sessions, which a [`Log`](super::Log) writes.
///
/// ```
/// use dapple_dap::testing::Recording;
///
/// let text = "{\"time\":0.25,\"from\":\"adapter\",\"message\":{\"seq\":1,\"type\":\"event\",\"event\":\"initialized\"}}\n";
/// let recording = Recording::parse(text)?;
/// assert_eq!(recording.entries[0].time.as_millis(), 250);
/// assert_eq!(recording.to_string(), text);
///
/// let error = Recording::parse("{\"time\":0.25,\"from\":\"nobody\"}").unwrap_err();
/// assert!(error.to_string().starts_with("line 1: "));
/// # Ok::<(), dapple_dap::testing::RecordingError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    /// The session's name. `None` if the lines name no session, as in a recording by a [`Recorder`].
    pub session: Option<String>,
    /// The messages, in order.
    pub entries: Vec<Entry>,
}

/// A line that is not an entry of a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
#[non_exhaustive]
pub struct RecordingError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// An entry as it is written to a line.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>, M: Deserialize<'de>"))]
struct Line<S, M> {
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    session: Option<S>,
    time: f64,
    from: From,
    #[serde(
        default = "Option::default",
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    message: Option<M>,
    /// In place of a message: what was wrong with bytes that were none.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    malformed: Option<S>,
}

/// A field's value, even `null`, which an `Option` would take for an absent one.
fn present<'de, D: serde::Deserializer<'de>, M: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<M>, D::Error> {
    M::deserialize(deserializer).map(Some)
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum From {
    Client,
    Adapter,
}

impl Recording {
    /// Reads a recording. Empty lines are skipped.
    ///
    /// # Errors
    /// A line is not an entry of a recording, or belongs to another session than the lines before it.
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        let mut recording: Option<Self> = None;
        for line in lines(text) {
            let (line, session, entry) = line?;
            let recording = recording.get_or_insert_with(|| Self {
                session: session.clone(),
                entries: Vec::new(),
            });
            if recording.session != session {
                let reason = "another session begins: this is a file of several".to_owned();
                return Err(RecordingError { line, reason });
            }
            recording.entries.push(entry);
        }
        Ok(recording.unwrap_or_default())
    }

    /// Reads all recordings of a file, in the order in which their sessions begin. Empty lines are skipped.
    ///
    /// # Errors
    /// A line is not an entry of a recording.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, RecordingError> {
        let mut recordings: Vec<Self> = Vec::new();
        for line in lines(text) {
            let (_, session, entry) = line?;
            match recordings.iter_mut().find(|one| one.session == session) {
                Some(recording) => recording.entries.push(entry),
                None => recordings.push(Self {
                    session,
                    entries: vec![entry],
                }),
            }
        }
        Ok(recordings)
    }
}

/// An entry with its line's number and session.
type Numbered = (usize, Option<String>, Entry);

/// The entries of a text, with their line numbers and sessions.
fn lines(text: &str) -> impl Iterator<Item = Result<Numbered, RecordingError>> {
    let numbered = (1..).zip(text.lines());
    numbered
        .filter(|(_, text)| !text.trim().is_empty())
        .filter_map(|(number, text)| entry_of(number, text).transpose())
}

/// The entry of a line. `None` if the line is about bytes that were no message.
fn entry_of(number: usize, text: &str) -> Result<Option<Numbered>, RecordingError> {
    let wrong = |reason: String| RecordingError {
        line: number,
        reason,
    };
    let line: Line<String, &RawValue> =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let message = match (line.message, line.malformed) {
        (Some(message), _) => message,
        (None, Some(_)) => return Ok(None),
        (None, None) => return Err(wrong("missing field `message`".to_owned())),
    };
    let entry = Entry {
        time: Duration::try_from_secs_f64(line.time).map_err(|error| wrong(error.to_string()))?,
        from: match line.from {
            From::Client => Side::Client,
            From::Adapter => Side::Adapter,
        },
        text: message.get().to_owned(),
    };
    Ok(Some((number, line.session, entry)))
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = self.session.as_deref();
        self.entries
            .iter()
            .try_for_each(|entry| write_line(f, session, entry))
    }
}

/// Writes an entry as a line.
pub(super) fn write_line(
    out: &mut impl fmt::Write,
    session: Option<&str>,
    entry: &Entry,
) -> fmt::Result {
    // A line must not contain line ends. In JSON, they stand only between tokens, so spaces can replace them. Text that is not JSON is
    // kept as a JSON string.
    let message = Raw::from_text(entry.text.replace(['\n', '\r'], " "))
        .or_else(|_| Raw::new(&entry.text))
        .map_err(|_| fmt::Error)?;
    let line = line_of(session, entry, Some(message.as_raw_value()), None);
    let line = serde_json::to_string(&line).map_err(|_| fmt::Error)?;
    writeln!(out, "{line}")
}

/// Writes a line about bytes that were no message.
pub(super) fn write_malformed(
    out: &mut impl fmt::Write,
    session: Option<&str>,
    entry: &Entry,
) -> fmt::Result {
    let line = line_of(session, entry, None, Some(&entry.text));
    let line = serde_json::to_string(&line).map_err(|_| fmt::Error)?;
    writeln!(out, "{line}")
}

fn line_of<'a>(
    session: Option<&'a str>,
    entry: &Entry,
    message: Option<&'a RawValue>,
    malformed: Option<&'a str>,
) -> Line<&'a str, &'a RawValue> {
    Line {
        session,
        time: entry.time.as_secs_f64(),
        from: match entry.from {
            Side::Client => From::Client,
            Side::Adapter => From::Adapter,
        },
        message,
        malformed,
    }
}
