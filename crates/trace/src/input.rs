//! Reads recordings: those of `dapple-dap`, and plain logs with a message on each line.
//!
//! A plain log says neither the time nor who sent a message. The sender is guessed from the message; `initialize` begins a new session.

use std::time::Duration;

use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::lifecycle::Side;
use dapple_dap::testing::{Entry, Recording};
use serde_json::Value;

/// A recorded session.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// The session's name, if the file names it.
    pub session: Option<String>,
    /// What was said, in order.
    pub items: Vec<Item>,
}

/// One thing that a side has sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Item {
    /// A text that was framed as a message.
    Message(Entry),
    /// Bytes that were no message.
    Malformed {
        /// The time since the session's start.
        time: Duration,
        /// The side that sent them.
        from: Side,
        /// What was wrong with them.
        reason: String,
    },
}

/// Why a file is no recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// There is no message in it.
    #[error("there is no message in it")]
    Empty,
    /// A line is neither an entry of a recording nor a message.
    #[error("line {line}: {reason}; expected a message of the protocol or an entry of a recording")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

impl Recorded {
    /// The messages without what is malformed.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.items.iter().filter_map(|item| match item {
            Item::Message(entry) => Some(entry),
            Item::Malformed { .. } => None,
        })
    }
}

/// Reads all sessions of a text, in the order in which they begin.
///
/// The last line may be cut off, as that of a program that was killed; it is left out then.
///
/// # Errors
/// The text has no message, or a line is neither a message nor an entry of a recording.
pub fn read(text: &str) -> Result<Vec<Recorded>, InputError> {
    let mut sessions: Vec<Recorded> = Vec::new();
    let last = text.lines().count();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(_) if number == last && number > 1 => break,
            Err(error) => {
                return Err(InputError::Line {
                    line: number,
                    reason: format!("not JSON: {error}"),
                });
            }
        };
        if value.get("type").is_some_and(Value::is_string)
            && value
                .get("message")
                .is_none_or(|message| !message.is_object())
        {
            plain(&mut sessions, line);
        } else {
            entry(&mut sessions, number, line, &value)?;
        }
    }
    match sessions.is_empty() {
        true => Err(InputError::Empty),
        false => Ok(sessions),
    }
}

/// Adds a line of a plain log.
fn plain(sessions: &mut Vec<Recorded>, line: &str) {
    let envelope = Envelope::parse(line);
    let begins = envelope.as_ref().is_ok_and(|envelope| {
        matches!(&envelope.kind, Kind::Request { command, .. } if command == "initialize")
    });
    if begins || sessions.is_empty() {
        sessions.push(Recorded::default());
    }
    let from = envelope.as_ref().map_or(Side::Adapter, sender);
    if let Some(session) = sessions.last_mut() {
        session.items.push(Item::Message(Entry {
            time: Duration::ZERO,
            from,
            text: line.to_owned(),
        }));
    }
}

/// The side that sends messages of this kind.
fn sender(envelope: &Envelope<'_>) -> Side {
    match &envelope.kind {
        Kind::Request { command, .. } if is_reverse(command) => Side::Adapter,
        Kind::Response { command, .. } if is_reverse(command) => Side::Client,
        Kind::Request { .. } => Side::Client,
        _ => Side::Adapter,
    }
}

/// True for the requests that the adapter sends.
pub(crate) fn is_reverse(command: &str) -> bool {
    matches!(command, "runInTerminal" | "startDebugging")
}

/// Adds a line of a recording.
fn entry(
    sessions: &mut Vec<Recorded>,
    number: usize,
    line: &str,
    value: &Value,
) -> Result<(), InputError> {
    let malformed = value.get("malformed").and_then(Value::as_str);
    let as_message = match malformed {
        // Read as an entry with an empty message, for its other fields.
        Some(_) => {
            let mut value = value.clone();
            value["message"] = Value::Object(serde_json::Map::new());
            Recording::parse(&value.to_string())
        }
        None => Recording::parse(line),
    };
    // The error names the line of the text that it got, which is always the first.
    let recording = as_message.map_err(|error| InputError::Line {
        line: number,
        reason: error.reason,
    })?;
    let session = match sessions
        .iter_mut()
        .find(|one| one.session == recording.session)
    {
        Some(session) => session,
        None => {
            sessions.push(Recorded {
                session: recording.session,
                items: Vec::new(),
            });
            // Just pushed.
            let Some(session) = sessions.last_mut() else {
                return Ok(());
            };
            session
        }
    };
    for mut entry in recording.entries {
        // Text that is not JSON is recorded as a JSON string.
        if let Ok(text) = serde_json::from_str::<String>(&entry.text) {
            entry.text = text;
        }
        session.items.push(match malformed {
            Some(reason) => Item::Malformed {
                time: entry.time,
                from: entry.from,
                reason: reason.to_owned(),
            },
            None => Item::Message(entry),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_senders_of_a_plain_log_are_guessed() {
        let sessions = read(
            "{\"seq\":1,\"type\":\"request\",\"command\":\"initialize\"}\n\
             {\"seq\":1,\"type\":\"response\",\"request_seq\":1,\"success\":true,\"command\":\"initialize\"}\n\n\
             {\"seq\":2,\"type\":\"request\",\"command\":\"runInTerminal\"}\n\
             {\"seq\":2,\"type\":\"response\",\"request_seq\":2,\"success\":true,\"command\":\"runInTerminal\",\"message\":\"x\"}\n\
             {\"seq\":1,\"type\":\"request\",\"command\":\"initialize\"}\n{\"seq\":",
        )
        .expect("a log");
        let senders: Vec<Vec<Side>> = sessions
            .iter()
            .map(|session| session.entries().map(|entry| entry.from).collect())
            .collect();
        use Side::{Adapter, Client};
        assert_eq!(
            senders,
            [vec![Client, Adapter, Adapter, Client], vec![Client]]
        );
    }

    #[test]
    fn bad_files_say_where() {
        assert_eq!(read("\n").expect_err("nothing"), InputError::Empty);
        let error = read("{\"a\":1}\n").expect_err("no message").to_string();
        assert!(error.starts_with("line 1: missing field `time`"), "{error}");
        let error = read("\u{7f}ELF").expect_err("no JSON").to_string();
        assert!(error.starts_with("line 1: not JSON: "), "{error}");
    }
}
