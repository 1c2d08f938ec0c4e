//! Order and lifecycle of recorded sessions: whether each message may be sent when it was.
//!
//! The rules are `dapple_dap::lifecycle`; this module finds who sent a message and in which session. A line that doesn't say who sent its
//! message, or whose message can't be read, is passed over: its shape is checked elsewhere.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use dapple_dap::envelope::Envelope;
use dapple_dap::lifecycle::{Facts, Lifecycle, Severity, Side, Violation};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The sessions of a recording.
#[derive(Default)]
pub(super) struct Order {
    sessions: HashMap<Option<String>, Lifecycle>,
    /// The sessions' names in the order in which they begin.
    names: Vec<Option<String>>,
}

/// A rule that a message breaks.
pub(super) struct Broken {
    /// Whether the specification says it. Otherwise it is what clients rely on.
    pub(super) is_violation: bool,
    pub(super) text: String,
}

/// A line that says who sent its message. `session` is in files with several sessions.
#[derive(Deserialize)]
struct Line<'l> {
    session: Option<String>,
    from: From,
    #[serde(borrow)]
    message: &'l RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum From {
    Client,
    Adapter,
}

impl Order {
    /// The rules that the next line's message breaks.
    pub(super) fn line(&mut self, line: &[u8]) -> Vec<Broken> {
        let Ok(Line {
            session,
            from,
            message,
        }) = serde_json::from_slice(line)
        else {
            return Vec::new();
        };
        let from = match from {
            From::Client => Side::Client,
            From::Adapter => Side::Adapter,
        };
        // Text that is no JSON is recorded as a string.
        let quoted: Option<String> = serde_json::from_str(message.get()).ok();
        let text = quoted.as_deref().unwrap_or(message.get());
        let Ok(envelope) = Envelope::parse(text) else {
            return Vec::new();
        };
        let of_session = match &session {
            Some(name) => format!(" (session {name})"),
            None => String::new(),
        };
        let rules = match self.sessions.entry(session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                self.names.push(new.key().clone());
                new.insert(Lifecycle::new())
            }
        };
        let numbered = rules.sequence(from, envelope.seq).err();
        let broken = rules.observe(from, Facts::of(&envelope));
        let shown = |rule: Violation| Broken {
            is_violation: rule.severity() == Severity::Violation,
            text: format!("{rule}{of_session}"),
        };
        numbered.into_iter().chain(broken).map(shown).collect()
    }

    /// What is still open where the recording ends, which may be its end only and not the session's.
    pub(super) fn open(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for name in &self.names {
            let Some(rules) = self.sessions.get(name) else {
                continue;
            };
            let of_session = match name {
                Some(name) => format!(" of session {name}"),
                None => String::new(),
            };
            for (side, sender) in [(Side::Client, "client"), (Side::Adapter, "adapter")] {
                for (seq, command) in rules.unanswered(side) {
                    notes.push(format!(
                        "the {sender}'s request {seq} (`{command}`){of_session} is not answered"
                    ));
                }
            }
            for id in rules.open_progress() {
                notes.push(format!("progress {id}{of_session} has not ended"));
            }
        }
        notes
    }
}
