//! Cuts a session down to the shortest one that still shows a violation: delta debugging.
//!
//! First whole units are left out, a request with its response and what it causes, in ever smaller groups; then single messages. What
//! "still shows it" means is the caller's, who asks [`shows`] about the messages alone, or about what an adapter said when it was run.

use std::collections::HashMap;

use dapple_dap::lifecycle::Severity;
use dapple_dap::testing::Entry;
use serde_json::Value;

use crate::causes::units;
use crate::input::Item;
use crate::rules::{Finding, SEQUENCE};
use crate::session::{Content, Message, Session};

/// All findings of a session, those at its end last.
pub fn findings(entries: &[Entry]) -> Vec<Finding> {
    let mut session = Session::new();
    let mut found = Vec::new();
    for entry in entries {
        found.extend(session.message(entry.clone()).findings);
    }
    found.extend(session.end());
    found
}

/// Whether these findings have one like `wanted`, and no kind of violation that isn't among `known`, those of the session as it was: what
/// is left out must not look like another mistake, such as a response to a request that was left out. Numbers of messages don't count.
pub fn shows(found: &[Finding], wanted: &Finding, known: &[Finding]) -> bool {
    let is_known = |one: &Finding| known.iter().any(|other| other.is_like(one));
    let is_new = |one: &Finding| {
        one.severity == Severity::Violation && one.rule != SEQUENCE && !is_known(one)
    };
    found.iter().any(|one| one.is_like(wanted)) && !found.iter().any(is_new)
}

/// What is left out at once, at the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A request with its response and what it causes: for an oracle that runs an adapter, which says again what it says.
    Unit,
    /// A message.
    Message,
}

/// The shortest part of a session for which `shows` holds, as far as leaving out parts finds it. `shows` must hold for the
/// session itself. Messages are numbered anew, unless `wanted` is about their numbers.
pub fn minimize(
    entries: &[Entry],
    wanted: &Finding,
    by: By,
    mut shows: impl FnMut(&[Entry]) -> bool,
) -> Vec<Entry> {
    let renumbers = wanted.rule != SEQUENCE;
    let cut = |kept: &[Vec<usize>]| -> Vec<Entry> {
        let mut places: Vec<usize> = kept.iter().flatten().copied().collect();
        places.sort_unstable();
        let part: Vec<Entry> = places.iter().map(|&at| entries[at].clone()).collect();
        match renumbers {
            true => renumbered(&part),
            false => part,
        }
    };
    let items: Vec<Item> = entries.iter().cloned().map(Item::Message).collect();
    let messages = Session::messages(&items);
    let whole: Vec<Vec<usize>> = units(&messages)
        .into_iter()
        .map(|unit| unit.messages)
        .collect();
    let kept = reduce(whole, &mut |kept| shows(&cut(kept)));
    if by == By::Unit {
        return cut(&kept);
    }
    let mut single: Vec<Vec<usize>> = kept.into_iter().flatten().map(|at| vec![at]).collect();
    single.sort_unstable();
    let kept = reduce(single, &mut |kept| shows(&cut(kept)));
    cut(&kept)
}

/// Leaves out as many parts as possible, in groups that get smaller.
fn reduce(
    mut parts: Vec<Vec<usize>>,
    shows: &mut impl FnMut(&[Vec<usize>]) -> bool,
) -> Vec<Vec<usize>> {
    let mut size = parts.len().div_ceil(2);
    while size > 0 {
        let mut changed = false;
        // From the end: what comes last depends on the most.
        let mut end = parts.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let mut without = parts.clone();
            without.drain(start..end);
            if shows(&without) {
                parts = without;
                changed = true;
            }
            end = start;
        }
        size = match (size, changed) {
            (1, true) => 1,
            (1, false) => 0,
            _ => size.div_ceil(2),
        };
    }
    parts
}

/// Messages whose numbers count from 1 on each side. Responses name the new numbers.
fn renumbered(entries: &[Entry]) -> Vec<Entry> {
    let items: Vec<Item> = entries.iter().cloned().map(Item::Message).collect();
    let messages = Session::messages(&items);
    let mut count = [0_i64; 2];
    let mut new_numbers = HashMap::new();
    let renumber = |message: &Message| {
        let mut entry = entries[message.number - 1].clone();
        let Ok(Value::Object(mut fields)) = serde_json::from_str(&entry.text) else {
            return entry;
        };
        if matches!(message.content, Content::Unreadable { .. }) {
            return entry;
        }
        let count = &mut count[message.from as usize];
        *count += 1;
        let old = fields.insert("seq".to_owned(), (*count).into());
        match &message.content {
            Content::Request { .. } => {
                new_numbers.insert((message.from, old.unwrap_or_default().to_string()), *count);
            }
            Content::Response { request_seq, .. } => {
                let key = (message.from.other(), request_seq.to_string());
                if let Some(&new) = new_numbers.get(&key) {
                    fields.insert("request_seq".to_owned(), new.into());
                }
            }
            _ => {}
        }
        let new = Value::Object(fields);
        // What keeps its number keeps its text.
        if serde_json::from_str::<Value>(&entry.text).ok().as_ref() != Some(&new) {
            entry.text = new.to_string();
        }
        entry
    };
    messages.iter().map(renumber).collect()
}
