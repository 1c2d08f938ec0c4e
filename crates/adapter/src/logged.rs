//! Messages of logpoints as `output` events.
//!
//! A logpoint may write faster than a client reads. So all messages that have arrived go into few events. No message waits for later
//! ones.

use crate::adapter::Adapter;
use crate::kept::{self, Lasting};
use crate::styling;
use crossbeam_channel::Receiver;
use dapple_dap::server::{ClientConventions, Outbox};
use dapple_dap::types::{OutputEvent, OutputEventBody, OutputEventCategory};
use dapple_engine::Event;
use dapple_engine::event::{Logged, LoggedLines};
use dapple_engine::session::SourcePosition;

/// The most messages of one logpoint that get events of their own, so that the values in them can be expanded.
const MOST_APART: usize = 16;
/// The most events for messages that have come together.
const MOST_RUNS: usize = 64;
/// The most messages that are collected before they are sent.
const MOST_AT_ONCE: usize = 4096;

fn is_styled(outbox: &Outbox) -> bool {
    outbox
        .client()
        .is_some_and(|client| styling::is_wanted(&client))
}

impl Adapter {
    /// Sends a logpoint message, together with those that wait behind it in `engine`. Returns the first event behind them that is something
    /// else. `None`: none has come yet, or [`MOST_AT_ONCE`] messages were sent.
    pub fn send_logged_at_once(
        &mut self,
        event: Event,
        engine: &Receiver<Event>,
        outbox: &Outbox,
        client: &ClientConventions,
    ) -> Option<Event> {
        let mut next = Some(event);
        let mut all = Vec::new();
        while let Some(Event::Logged(logged)) = next {
            all.push(logged);
            next = match all.len() {
                MOST_AT_ONCE.. => None,
                _ => engine.try_recv().ok(),
            };
        }
        self.send_logged(&all, outbox, client);
        next
    }

    /// Sends logpoint messages. Consecutive messages of one logpoint become one event. They get an event each if some have values that can
    /// be expanded and there are [`MOST_APART`] at most.
    pub fn send_logged(&mut self, all: &[Logged], outbox: &Outbox, client: &ClientConventions) {
        let same = |a: &Logged, b: &Logged| a.position == b.position;
        let is_styled = is_styled(outbox);
        let runs = all.chunk_by(same).flat_map(|run| {
            let has_values = run.iter().any(|logged| !logged.values.is_empty());
            run.chunks(match has_values && run.len() <= MOST_APART {
                true => 1,
                false => run.len(),
            })
        });
        for run in runs {
            let mut text = String::new();
            for logged in run {
                match is_styled {
                    true => text.push_str(&styling::sentence(&logged.text)),
                    false => text.push_str(&logged.text),
                }
                text.push('\n');
            }
            let position = run.first().and_then(|logged| logged.position.as_ref());
            let mut body = self.logged_body(text, position, client);
            if let [logged] = run {
                body.variables_reference = self.values_of(logged);
            }
            outbox.event::<OutputEvent>(body);
        }
    }

    /// Sends messages that the program has written by itself: an event for those of one logpoint, or one for all if that would be too many.
    pub fn send_logged_lines(
        &mut self,
        logged: LoggedLines,
        outbox: &Outbox,
        client: &ClientConventions,
    ) {
        let is_styled = is_styled(outbox);
        let all = String::from_utf8_lossy(&logged.text);
        let styled = |text: &str| match is_styled {
            true => { text.lines() }
                .map(|line| {
                    styling::sentence(line)
                        + "
"
                })
                .collect(),
            false => text.to_owned(),
        };
        let mut bodies = Vec::new();
        if logged.runs.len() > MOST_RUNS {
            bodies.push(self.logged_body(styled(&all), None, client));
        } else {
            let mut start = 0;
            for run in &logged.runs {
                let text = all.get(start..run.end).unwrap_or_default();
                bodies.push(self.logged_body(styled(text), run.position.as_ref(), client));
                start = run.end;
            }
        }
        for body in bodies {
            // Keeps the text until all is sent: the program waits while too much of it is unsent.
            let text = Box::new(logged.text.clone());
            outbox.event_keeping::<OutputEvent>(body, Some(text));
        }
    }

    fn logged_body(
        &mut self,
        text: String,
        position: Option<&SourcePosition>,
        client: &ClientConventions,
    ) -> OutputEventBody {
        let body = OutputEventBody::new(text).with_category(OutputEventCategory::Console);
        let Some(position) = position else {
            return body;
        };
        let known = self
            .breakpoints
            .source(&self.source_map.here(&position.file));
        let source = known.unwrap_or_else(|| self.shown_source(position, None, client).0);
        let line = client.line_to_client(i64::from(position.line));
        let body = body.with_source(source).with_line(line);
        match position.column {
            0 => body,
            column => body.with_column(client.column_to_client(i64::from(column))),
        }
    }

    /// The reference of a message with values. `None`: the message has no values, or the session has used up its numbers.
    fn values_of(&mut self, logged: &Logged) -> Option<i64> {
        if logged.values.is_empty() {
            return None;
        }
        let message = kept::Logged {
            text: logged.text.clone(),
            values: logged.values.clone(),
        };
        self.kept
            .insert_logged(Lasting::Message(message.into()))
            .ok()
    }
}
