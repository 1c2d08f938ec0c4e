//! The queue of output that waits until the peer has read what was sent before.
//!
//! A program may write faster than its client shows the output. That output waits here, without a number yet, so that the response
//! to a request can overtake it. Messages that have to follow the output wait here, too.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;

use super::outgoing::Outgoing;
use crate::message::Raw;

/// When output is left out because the session is to end and the peer does not read, at least this many bytes of the newest are kept.
const KEPT_AT_THE_END: usize = 256 << 10;

/// A value that lives as long as its message waits.
pub(super) type Kept = Option<Box<dyn Any + Send>>;

/// The waiting messages.
#[derive(Default)]
pub(super) struct Backlog {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// How many lines were left out since the peer was last told so.
    left_out: usize,
}

struct Waiting {
    message: Outgoing,
    _kept: Kept,
}

impl fmt::Debug for Backlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backlog")
            .field("messages", &self.waiting.len())
            .field("bytes", &self.bytes)
            .finish()
    }
}

impl Backlog {
    pub(super) fn push(&mut self, message: Outgoing, kept: Kept) {
        self.bytes += size(&message);
        self.waiting.push_back(Waiting {
            message,
            _kept: kept,
        });
    }

    /// Takes the next message to be sent: the notice that lines were left out, if any were, else the oldest message.
    pub(super) fn pop(&mut self) -> Option<Outgoing> {
        if let Some(notice) = self.notice() {
            return Some(notice);
        }
        let next = self.waiting.pop_front()?;
        self.bytes -= size(&next.message);
        Some(next.message)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.left_out == 0
    }

    /// About how many bytes wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves out the oldest output beyond [`KEPT_AT_THE_END`], up to the first message that is not output.
    pub(super) fn shed(&mut self) {
        while let Some(oldest) = self.waiting.front()
            && is_output(&oldest.message)
            && self.bytes - size(&oldest.message) >= KEPT_AT_THE_END
            && let Some(oldest) = self.waiting.pop_front()
        {
            self.bytes -= size(&oldest.message);
            self.left_out += lines(&oldest.message).max(1);
        }
    }

    /// An event that says how many lines were left out; it is sent in place of them. `None` if none were left out.
    fn notice(&mut self) -> Option<Outgoing> {
        let lines = match std::mem::take(&mut self.left_out) {
            0 => return None,
            1 => "1 line of output was left out".to_owned(),
            lines => format!("{lines} lines of output were left out"),
        };
        let body = format!(
            "{{\"category\":\"important\",\"output\":\"{lines}: the client had not read them in time\\n\"}}"
        );
        Some(Outgoing::event("output", Raw::from_text(body).ok()))
    }
}

/// The message's approximate length in bytes.
pub(super) fn size(message: &Outgoing) -> usize {
    128 + message.payload().map_or(0, |raw| raw.text().len())
}

fn is_output(message: &Outgoing) -> bool {
    matches!(message, Outgoing::Event { event, .. } if event == "output")
}

/// How many line ends the message's strings have.
fn lines(message: &Outgoing) -> usize {
    let text = message.payload().map_or("", |raw| raw.text());
    let mut rest = text.bytes();
    let mut lines = 0;
    while let Some(byte) = rest.next() {
        if byte == b'\\' && rest.next() == Some(b'n') {
            lines += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::outgoing_text;

    fn event(name: &'static str, body: &str) -> Outgoing {
        Outgoing::event(name, Raw::from_text(body.to_owned()).ok())
    }

    #[test]
    fn line_ends_are_counted_and_backslashes_are_none() {
        let text = r#"{"output":"a\nb\\n\\\nc","source":{"path":"C:\\new"}}"#;
        assert_eq!(lines(&event("output", text)), 2);
    }

    #[test]
    fn the_oldest_output_is_left_out_and_what_comes_behind_it_stays() {
        let mut backlog = Backlog::default();
        let body = format!(r#"{{"output":"{}\n\n"}}"#, "x".repeat(10_000));
        for _ in 0..100 {
            backlog.push(event("output", &body), None);
        }
        backlog.push(event("exited", r#"{"exitCode":0}"#), None);
        backlog.shed();
        let one = size(&event("output", &body));
        let kept = KEPT_AT_THE_END..KEPT_AT_THE_END + one;
        assert!(kept.contains(&backlog.bytes()), "{backlog:?}");
        let all: Vec<_> = std::iter::from_fn(|| backlog.pop()).collect();
        let notice = outgoing_text(1, &all[0]);
        let left_out = 2 * (102 - all.len());
        assert!(
            notice.contains(&format!("{left_out} lines of output were left out")),
            "{notice}"
        );
        assert!(outgoing_text(1, &all[all.len() - 1]).contains("exited"));
        assert!(backlog.is_empty());
        assert_eq!(backlog.bytes(), 0);
    }

    #[test]
    fn what_is_kept_is_let_go_with_its_message() {
        let kept = std::sync::Arc::new(());
        let mut backlog = Backlog::default();
        backlog.push(event("output", "{}"), Some(Box::new(kept.clone())));
        assert_eq!(std::sync::Arc::strong_count(&kept), 2);
        backlog.pop();
        assert_eq!(std::sync::Arc::strong_count(&kept), 1);
    }
}
