//! One end of a connection, whose messages are taken in the order of a script.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::envelope::Envelope;
use crate::transport::{Connection, Incoming, Message, Outgoing, deadline};

/// A connection, and the messages received on it that no step has taken yet.
pub(super) struct Peer {
    connection: Connection,
    queue: VecDeque<Message>,
    timeout: Duration,
}

impl Peer {
    pub(super) fn new(connection: Connection, timeout: Duration) -> Self {
        Self {
            connection,
            queue: VecDeque::new(),
            timeout,
        }
    }

    /// Sends a message and returns its number; 0 if the peer is gone, which the next [`take`](Self::take) reports.
    pub(super) fn send(&self, message: &Outgoing) -> i64 {
        self.connection.outgoing.send(message).unwrap_or(0)
    }

    /// Sends a text as it is.
    pub(super) fn send_text(&self, text: &str) {
        self.connection.outgoing.send_text(text).ok();
    }

    /// Waits for the first message that is `wanted` and takes it. Messages that are not wanted stay. The error says why no message was
    /// taken, and which messages were received instead.
    pub(super) fn take(
        &mut self,
        wanted: impl Fn(&Envelope<'_>) -> bool,
    ) -> Result<Message, String> {
        let is_wanted =
            |message: &Message| message.envelope().is_ok_and(|envelope| wanted(&envelope));
        if let Some(at) = self.queue.iter().position(&is_wanted) {
            return self.queue.remove(at).ok_or_else(String::new);
        }
        let until = deadline(self.timeout);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let reason = match self.connection.incoming.recv_timeout(left) {
                Ok(Incoming::Message(message)) if is_wanted(&message) => return Ok(message),
                Ok(Incoming::Message(message)) => {
                    self.queue.push_back(message);
                    continue;
                }
                Ok(Incoming::Malformed(error)) => error.to_string(),
                Ok(Incoming::Closed(reason)) => reason.to_string(),
                Err(error) if error.is_timeout() => {
                    format!("nothing came within {:?}", self.timeout)
                }
                Err(_) => "the peer is gone".to_owned(),
            };
            return Err(format!("{reason}{}", self.instead()));
        }
    }

    /// Takes the received messages that no step took.
    pub(super) fn left(&mut self) -> Vec<Message> {
        for incoming in self.connection.incoming.try_iter() {
            if let Incoming::Message(message) = incoming {
                self.queue.push_back(message);
            }
        }
        self.queue.drain(..).collect()
    }

    fn instead(&self) -> String {
        let texts: Vec<_> = self.queue.iter().map(Message::text).collect();
        if texts.is_empty() {
            String::new()
        } else {
            format!("; what came instead:\n  {}", texts.join("\n  "))
        }
    }
}
