//! Compares two sessions by meaning: what only one of them has, and what differs in messages that correspond.
//!
//! Not compared are numbers of messages, times, the order of what is independent, and how output is split. References and ids are
//! translated: [`Names`] learns from messages that correspond which of the second session stands for which of the first. The order is
//! compared of what moves the program (`launch`, `continue`, …); between two of these, requests correspond by what they ask.

mod events;
mod pairs;
mod values;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use dapple_dap::lifecycle::Side;
use dapple_dap::testing::Names;
use serde_json::{Value, json};

use crate::causes::{Effect, effect};
use crate::line;
use crate::session::{Content, Message};

pub use values::Ignored;

/// A difference between two sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Something that only the first has.
    OnlyFirst {
        /// The message's place, from 1.
        number: usize,
        /// The message in short.
        what: String,
        /// Whether it is a question of the client: an editor may ask one more or less, as it has time.
        question: bool,
    },
    /// Something that only the second has.
    OnlySecond {
        /// The message's place, from 1.
        number: usize,
        /// The message in short.
        what: String,
        /// As in [`OnlyFirst`](Self::OnlyFirst).
        question: bool,
    },
    /// Messages that correspond and differ.
    Differs {
        /// The places of both, from 1.
        numbers: [usize; 2],
        /// The message in short, as in the first.
        what: String,
        /// What differs, and how.
        how: Vec<String>,
    },
}

impl Difference {
    /// Whether it is only a question of the client that the other session doesn't have.
    pub fn is_question(&self) -> bool {
        match self {
            Self::OnlyFirst { question, .. } | Self::OnlySecond { question, .. } => *question,
            Self::Differs { .. } => false,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyFirst { number, what, .. } => write!(f, "- {number:>4}       {what}"),
            Self::OnlySecond { number, what, .. } => write!(f, "+      {number:>4}  {what}"),
            Self::Differs { numbers, what, how } => {
                write!(f, "≠ {:>4} {:>4}  {what}", numbers[0], numbers[1])?;
                how.iter()
                    .try_for_each(|how| write!(f, "\n             {how}"))
            }
        }
    }
}

/// All differences of two sessions, in the order of the first one's messages; what only the second has is last.
pub fn diff(first: &[Message], second: &[Message], ignored: &Ignored) -> Vec<Difference> {
    let ignored = ignored.with_ids_of(first, second);
    let mut comparison = Comparison {
        ignored: &ignored,
        names: Names::default(),
        found: Vec::new(),
    };
    // Threads are named by stops before any request names them.
    events::learn_threads(first, second, &mut comparison.names);
    pairs::compare(first, second, &mut comparison);
    strays(first, second, &mut comparison);
    events::compare(first, second, &mut comparison);
    let mut found = comparison.found;
    found.sort_by_key(|difference| match difference {
        Difference::OnlyFirst { number, .. } => (0, *number),
        Difference::Differs { numbers, .. } => (0, numbers[0]),
        Difference::OnlySecond { number, .. } => (1, *number),
    });
    found
}

/// Compares what answers no request that waits, and what is no message.
fn strays(first: &[Message], second: &[Message], comparison: &mut Comparison<'_>) {
    let a: Vec<&Message> = first.iter().filter(is_stray).collect();
    let b: Vec<&Message> = second.iter().filter(is_stray).collect();
    let keys = |strays: &[&Message]| -> Vec<(Side, String)> {
        strays.iter().map(|one| (one.from, one.title())).collect()
    };
    comparison.pairs(&a, &b, &common(&keys(&a), &keys(&b)));
}

/// True for a response to no request that waits, and for what is no message.
fn is_stray(message: &&Message) -> bool {
    matches!(
        message.content,
        Content::Response { request: None, .. } | Content::Unreadable { .. }
    )
}

/// A comparison under way.
struct Comparison<'a> {
    ignored: &'a Ignored,
    names: Names,
    found: Vec<Difference>,
}

impl Comparison<'_> {
    fn only_first(&mut self, message: &Message) {
        self.found.push(Difference::OnlyFirst {
            number: message.number,
            what: short(message),
            question: is_question(message),
        });
    }

    fn only_second(&mut self, message: &Message) {
        self.found.push(Difference::OnlySecond {
            number: message.number,
            what: short(message),
            question: is_question(message),
        });
    }

    /// Compares the payloads of messages that correspond, given by their places in both lists. All others have no counterpart.
    fn pairs(&mut self, first: &[&Message], second: &[&Message], pairs: &[(usize, usize)]) {
        for &(i, j) in pairs {
            self.payloads(first[i], second[j]);
        }
        for (i, message) in first.iter().enumerate() {
            if !pairs.iter().any(|(paired, _)| *paired == i) {
                self.only_first(message);
            }
        }
        for (j, message) in second.iter().enumerate() {
            if !pairs.iter().any(|(_, paired)| *paired == j) {
                self.only_second(message);
            }
        }
    }

    /// Compares the payloads of two messages that correspond.
    fn payloads(&mut self, first: &Message, second: &Message) {
        let mut how = Vec::new();
        let [a, b] = [first, second].map(compared);
        values::compare(&a, &b, self.ignored, &mut self.names, &mut how);
        self.differs(first, second, how);
    }

    fn differs(&mut self, first: &Message, second: &Message, how: Vec<String>) {
        if !how.is_empty() {
            self.found.push(Difference::Differs {
                numbers: [first.number, second.number],
                what: short(first),
                how,
            });
        }
    }
}

/// What is compared of a message: its payload or, if it can't be read, all of it but the numbers of messages.
fn compared(message: &Message) -> Cow<'_, Value> {
    let Content::Unreadable { reason } = &message.content else {
        return Cow::Borrowed(message.payload());
    };
    Cow::Owned(match serde_json::from_str(&message.text) {
        Ok(Value::Object(mut fields)) => {
            fields.retain(|name, _| name != "seq" && name != "request_seq");
            fields.into()
        }
        _ if message.text.is_empty() => json!({"malformed": reason}),
        _ => json!({"text": message.text}),
    })
}

/// A message's line without its time and duration.
fn short(message: &Message) -> String {
    let pieces = line::pieces(message);
    let kept = pieces
        .iter()
        .filter(|piece| !matches!(piece.role, line::Role::Time | line::Role::Aside));
    let texts: Vec<_> = kept.map(|piece| piece.text.trim()).collect();
    texts.join(" ")
}

/// The longest common subsequence of two lists of keys, as pairs of places.
fn common<K: PartialEq>(first: &[K], second: &[K]) -> Vec<(usize, usize)> {
    // What both begin with is common in any case. It also keeps the table small.
    let start = first.iter().zip(second).take_while(|(a, b)| a == b).count();
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    let (a, b) = (&first[start..], &second[start..]);
    // Too many for a table: by place.
    if a.len().saturating_mul(b.len()) > 16_000_000 {
        let same = (0..a.len().min(b.len())).filter(|&at| a[at] == b[at]);
        pairs.extend(same.map(|at| (start + at, start + at)));
        return pairs;
    }
    let width = b.len() + 1;
    let mut length = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i * width + j] = match a[i] == b[j] {
                true => length[(i + 1) * width + j + 1] + 1,
                false => length[(i + 1) * width + j].max(length[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((start + i, start + j));
            (i, j) = (i + 1, j + 1);
        } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The places of `0..count` that aren't in a set.
fn others(count: usize, taken: &BTreeSet<usize>) -> impl Iterator<Item = usize> {
    (0..count).filter(move |at| !taken.contains(at))
}

/// True for requests.
fn is_request(message: &Message) -> bool {
    matches!(message.content, Content::Request { .. })
}

/// True for requests of the client that only ask, and for its evaluations to show a value.
fn is_question(message: &Message) -> bool {
    let Content::Request {
        command, arguments, ..
    } = &message.content
    else {
        return false;
    };
    let context = arguments.get("context").and_then(Value::as_str);
    let shows = command == "evaluate" && matches!(context, Some("hover" | "watch" | "variables"));
    message.from == Side::Client && (shows || effect(command) == Effect::Asks)
}
