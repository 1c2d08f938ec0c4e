//! Events that correspond.

use std::collections::BTreeSet;

use dapple_dap::testing::Names;
use serde_json::Value;

use super::{Comparison, common, values};
use crate::session::{Content, Message};
use crate::words::{plain, text};

/// Events whose number depends on time only.
const BY_TIME: [&str; 3] = ["progressStart", "progressUpdate", "progressEnd"];

/// How many events that are alike are looked through for an equal one.
const ALIKE: usize = 16;

/// Learns from stops which threads correspond.
pub(super) fn learn_threads(first: &[Message], second: &[Message], names: &mut Names) {
    let (a, b) = (named(first, "stopped"), named(second, "stopped"));
    for (i, j) in common(&keys(&a), &keys(&b)) {
        let thread = |message: &Message| message.payload().get("threadId").cloned();
        if let (Some(recorded), Some(now)) = (thread(a[i]), thread(b[j]))
            && names.get("thread", &recorded).is_none()
        {
            names.note("thread", &recorded, now);
        }
    }
}

/// Compares all events, each name by itself: their order among each other isn't compared.
pub(super) fn compare(first: &[Message], second: &[Message], comparison: &mut Comparison<'_>) {
    let all = first.iter().chain(second);
    let names: BTreeSet<&str> = all
        .filter(|message| matches!(message.content, Content::Event { .. }))
        .filter_map(Message::name)
        .filter(|name| !BY_TIME.contains(name))
        .collect();
    for name in names {
        let (a, b) = (named(first, name), named(second, name));
        match name {
            "output" => output(&a, &b, comparison),
            "stopped" | "continued" | "exited" | "terminated" | "initialized" => {
                in_order(&a, &b, comparison);
            }
            _ => in_any_order(&a, &b, comparison),
        }
    }
}

fn named<'a>(messages: &'a [Message], name: &str) -> Vec<&'a Message> {
    let events = messages.iter().filter(
        |message| matches!(&message.content, Content::Event { event, .. } if event == name),
    );
    events.collect()
}

/// What tells events of one name apart: their reason and what they are about, but no ids.
fn keys(events: &[&Message]) -> Vec<String> {
    events.iter().map(|event| key(event.payload())).collect()
}

fn key(body: &Value) -> String {
    let reason = text(body, "reason").unwrap_or_default();
    let about = ["module", "source", "breakpoint"]
        .iter()
        .find_map(|name| body.get(*name))
        .and_then(|about| text(about, "name").or_else(|| text(about, "line")));
    format!("{reason} {}", about.unwrap_or_default())
}

fn in_order(first: &[&Message], second: &[&Message], comparison: &mut Comparison<'_>) {
    let pairs = common(&keys(first), &keys(second));
    comparison.pairs(first, second, &pairs);
}

fn in_any_order(first: &[&Message], second: &[&Message], comparison: &mut Comparison<'_>) {
    let (a, b) = (keys(first), keys(second));
    let mut taken = BTreeSet::new();
    let mut pairs = Vec::new();
    for (i, key) in a.iter().enumerate() {
        let same = |j: &usize| !taken.contains(j) && b[*j] == *key;
        let mut candidates = (0..b.len()).filter(same);
        // Of those alike, one without differences.
        let equal = candidates.clone().take(ALIKE).find(|&j| {
            let (mut names, mut how) = (comparison.names.clone(), Vec::new());
            let (a, b) = (first[i].payload(), second[j].payload());
            values::compare(a, b, comparison.ignored, &mut names, &mut how);
            how.is_empty()
        });
        if let Some(j) = equal.or_else(|| candidates.next()) {
            taken.insert(j);
            pairs.push((i, j));
        }
    }
    comparison.pairs(first, second, &pairs);
}

/// Compares the output of each category as one text.
fn output(first: &[&Message], second: &[&Message], comparison: &mut Comparison<'_>) {
    let category = |message: &&Message| {
        text(message.payload(), "category").unwrap_or_else(|| "console".to_owned())
    };
    let categories: BTreeSet<String> = first.iter().chain(second).map(category).collect();
    for name in categories.iter().filter(|name| *name != "telemetry") {
        let of = |events: &[&Message]| {
            let events = events
                .iter()
                .copied()
                .filter(|event| category(event) == *name);
            let events: Vec<&Message> = events.collect();
            let text: String = events
                .iter()
                .filter_map(|event| event.payload().get("output")?.as_str())
                .collect();
            (events.first().copied().cloned(), text)
        };
        let ((one, text), (other, other_text)) = (of(first), of(second));
        let same = |a: &str, b: &str| comparison.ignored.text(a) == comparison.ignored.text(b);
        if same(&text, &other_text) {
            continue;
        }
        match (one, other) {
            (Some(one), None) => comparison.only_first(&one),
            (None, Some(other)) => comparison.only_second(&other),
            (Some(one), Some(other)) => {
                let mut lines = (1..).zip(text.lines().zip(other_text.lines()));
                let how = match lines.find(|(_, (a, b))| !same(a, b)) {
                    Some((number, (a, b))) => format!(
                        "line {number} of all {name} output is \"{}\" in A and \"{}\" in B",
                        plain(a, 120),
                        plain(b, 120)
                    ),
                    None => {
                        let (a, b) = (text.lines().count(), other_text.lines().count());
                        format!("the {name} output has {a} lines in A and {b} in B")
                    }
                };
                comparison.differs(&one, &other, vec![how]);
            }
            (None, None) => {}
        }
    }
}
