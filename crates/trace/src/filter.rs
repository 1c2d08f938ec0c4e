//! Which messages are shown.

use dapple_dap::lifecycle::Side;

use crate::session::{Content, Message};

/// Chooses messages by their names, kinds and senders.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only these, if there are any: names of commands and events, or `requests`, `responses`, `events`, `violations`.
    pub only: Vec<String>,
    /// Not these; as `only`.
    pub not: Vec<String>,
    /// Only what this side sends.
    pub from: Option<Side>,
}

impl Filter {
    /// Whether a message is shown.
    pub fn passes(&self, message: &Message) -> bool {
        let named = |words: &[String]| words.iter().any(|word| is_a(message, word));
        (self.only.is_empty() || named(&self.only))
            && !named(&self.not)
            && self.from.is_none_or(|from| from == message.from)
    }
}

fn is_a(message: &Message, word: &str) -> bool {
    match word {
        "requests" => matches!(message.content, Content::Request { .. }),
        "responses" => matches!(message.content, Content::Response { .. }),
        "events" => matches!(message.content, Content::Event { .. }),
        "violations" => !message.findings.is_empty(),
        _ => message.name() == Some(word),
    }
}
