//! Requests that correspond, with their responses.

use std::collections::BTreeSet;

use dapple_dap::lifecycle::Side;
use dapple_dap::testing::Names;
use serde_json::Value;

use super::values::Ignored;
use super::{Comparison, common, is_request, others, values};
use crate::causes::{Effect, effect};
use crate::session::{Content, Message};

/// A request with its response.
struct Exchange<'a> {
    request: &'a Message,
    response: Option<&'a Message>,
}

/// Compares the requests of both sides and their responses.
pub(super) fn compare(first: &[Message], second: &[Message], comparison: &mut Comparison<'_>) {
    for side in [Side::Client, Side::Adapter] {
        let (a, b) = (exchanges(first, side), exchanges(second, side));
        let moves = |all: &[Exchange<'_>]| -> Vec<usize> {
            let places = 0..all.len();
            places
                .filter(|&at| effect(name(&all[at])) == Effect::Moves)
                .collect()
        };
        let (moves_a, moves_b) = (moves(&a), moves(&b));
        let keys = |all: &[Exchange<'_>], moves: &[usize]| -> Vec<String> {
            moves.iter().map(|&at| name(&all[at]).to_owned()).collect()
        };
        let paired = common(&keys(&a, &moves_a), &keys(&b, &moves_b));
        let paired: Vec<_> = paired
            .iter()
            .map(|&(i, j)| (moves_a[i], moves_b[j]))
            .collect();
        one_side(&a, &b, &paired, comparison);
    }
}

fn exchanges(messages: &[Message], side: Side) -> Vec<Exchange<'_>> {
    let mut response_of = vec![None; messages.len() + 1];
    for message in messages {
        if let Content::Response {
            request: Some(request),
            ..
        } = &message.content
        {
            response_of[request.number] = Some(message);
        }
    }
    let requests = messages
        .iter()
        .filter(|one| one.from == side && is_request(one));
    requests
        .map(|request| Exchange {
            request,
            response: response_of[request.number],
        })
        .collect()
}

fn name<'a>(exchange: &'a Exchange<'_>) -> &'a str {
    exchange.request.name().unwrap_or_default()
}

/// Compares the exchanges that one side began. `paired` are those that move the program.
fn one_side(
    first: &[Exchange<'_>],
    second: &[Exchange<'_>],
    paired: &[(usize, usize)],
    comparison: &mut Comparison<'_>,
) {
    let mut taken: BTreeSet<usize> = paired.iter().map(|&(_, at)| at).collect();
    let mut left = Vec::new();
    // The moves in both between which the requests are: the last one that was passed, in the second.
    let mut from = 0;
    let mut next = paired.iter().peekable();
    for (at, exchange) in first.iter().enumerate() {
        if let Some(&&(_, other)) = next.peek().filter(|(own, _)| *own == at) {
            next.next();
            from = other;
            exchange.compare(&second[other], comparison);
            continue;
        }
        if effect(name(exchange)) == Effect::Moves {
            comparison.only_first(exchange.request);
            continue;
        }
        let until = next.peek().map_or(second.len(), |(_, other)| *other);
        match exchange.find(second, from..until, &taken, comparison) {
            Some(other) => {
                taken.insert(other);
                exchange.compare(&second[other], comparison);
            }
            None => left.push(at),
        }
    }
    // What was asked at another time.
    for at in left {
        match first[at].find(second, 0..second.len(), &taken, comparison) {
            Some(other) => {
                taken.insert(other);
                first[at].compare(&second[other], comparison);
            }
            None => comparison.only_first(first[at].request),
        }
    }
    for at in others(second.len(), &taken) {
        comparison.only_second(second[at].request);
    }
}

impl Exchange<'_> {
    /// The place of the exchange that corresponds to this one: with the same arguments or, without one, about the same thing.
    fn find(
        &self,
        all: &[Exchange<'_>],
        within: std::ops::Range<usize>,
        taken: &BTreeSet<usize>,
        comparison: &Comparison<'_>,
    ) -> Option<usize> {
        let same = |at: &usize| !taken.contains(at) && name(&all[*at]) == name(self);
        let candidates: Vec<usize> = within.filter(same).collect();
        let wanted = translated(self.request.payload(), &comparison.names);
        let differences =
            |at: usize| count_differences(&wanted, all[at].request.payload(), comparison.ignored);
        if let Some(equal) = candidates.iter().find(|&&at| differences(at) == 0) {
            return Some(*equal);
        }
        let subject = subject(&wanted);
        let mut alike = candidates
            .into_iter()
            .filter(|&at| self::subject(all[at].request.payload()) == subject);
        alike.next()
    }

    fn compare(&self, other: &Exchange<'_>, comparison: &mut Comparison<'_>) {
        comparison.payloads(self.request, other.request);
        let (a, b) = match (self.response, other.response) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return,
            (Some(a), None) => return comparison.only_first(a),
            (None, Some(b)) => return comparison.only_second(b),
        };
        let (
            Content::Response {
                success, message, ..
            },
            Content::Response {
                success: other_success,
                message: other_message,
                ..
            },
        ) = (&a.content, &b.content)
        else {
            return;
        };
        if success == other_success {
            return comparison.payloads(a, b);
        }
        let outcome = |success: bool, message: &Option<String>| match success {
            true => "succeeds".to_owned(),
            false => format!("fails ({})", message.as_deref().unwrap_or("no reason")),
        };
        let how = format!(
            "it {} in A and {} in B",
            outcome(*success, message),
            outcome(*other_success, other_message)
        );
        comparison.differs(a, b, vec![how]);
    }
}

/// What a request is about, whatever else it says: the fields that name things.
fn subject(arguments: &Value) -> Vec<String> {
    let field = |name: &&str| arguments.get(*name).map(|value| format!("{name} {value}"));
    let path = arguments
        .get("source")
        .and_then(|source| source.get("path"));
    let named = [
        "threadId",
        "frameId",
        "variablesReference",
        "expression",
        "name",
        "memoryReference",
        "filter",
        "start",
        "startFrame",
    ];
    let named = named.iter().filter_map(field);
    named
        .chain(path.map(|path| format!("source {path}")))
        .collect()
}

/// Arguments of the first session with the references of the second.
fn translated(arguments: &Value, names: &Names) -> Value {
    let mut arguments = arguments.clone();
    names.translate(&mut arguments, &|_, _| None);
    arguments
}

fn count_differences(first: &Value, second: &Value, ignored: &Ignored) -> usize {
    // References were translated already: here they are compared as any other value.
    if first == second {
        return 0;
    }
    let mut how = Vec::new();
    values::compare(first, second, ignored, &mut Names::default(), &mut how);
    let references = usize::from(subject(first) != subject(second));
    how.len() + references
}
