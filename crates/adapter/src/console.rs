//! `output` events for the client's debug console.

use crate::{clients, styling};
use dapple_dap::server::Outbox;
use dapple_dap::types::{OutputEvent, OutputEventBody, OutputEventCategory};

/// Sends a message of the debugger.
pub fn say(outbox: &Outbox, sentence: &str) {
    let client = outbox.client();
    let mut text = match &client {
        Some(client) if styling::is_wanted(client) => styling::sentence(sentence),
        Some(client) => clients::plain(client, sentence).into_owned(),
        None => sentence.to_owned(),
    };
    text.push('\n');
    send_output(outbox, OutputEventCategory::Console, text);
}

/// Sends output, unless it is empty.
pub fn send_output(outbox: &Outbox, category: OutputEventCategory, text: String) {
    if !text.is_empty() {
        outbox.event::<OutputEvent>(OutputEventBody::new(text).with_category(category));
    }
}
