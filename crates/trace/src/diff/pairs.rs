//! Requests that correspond, with their responses.

use std::collections::BTreeSet;

use dapple_dap::lifecycle::Side;
use dapple_dap::testing::Names;
use serde_json::{Value, json};

use super::values::Ignored;
use super::{Comparison, common, is_question, is_request, others, values};
use crate::causes::{Effect, effect};
use crate::session::{Content, Message};
use crate::words::items;

/// The request for a stack.
const STACK: &str = "stackTrace";

/// The arguments that choose a piece of a stack.
const PIECE: [&str; 2] = ["startFrame", "levels"];

/// A request with its response.
struct Exchange<'a> {
    request: &'a Message,
    response: Option<&'a Message>,
    /// How many requests of the same side that set a value came before it.
    values_set: usize,
}

/// The exchanges of a session between two moves, and how many of its requests had set a value at the first of the two.
struct Span<'a> {
    exchanges: &'a [Exchange<'a>],
    places: std::ops::Range<usize>,
    values_set: usize,
}

impl<'a> Span<'a> {
    fn new(exchanges: &'a [Exchange<'a>], places: std::ops::Range<usize>) -> Self {
        let first = exchanges.get(places.start);
        Self {
            exchanges,
            places,
            values_set: first.map_or(0, |first| first.values_set),
        }
    }

    /// How many values were set since the span's start.
    fn set_before(&self, exchange: &Exchange<'_>) -> usize {
        exchange.values_set - self.values_set
    }
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
    let mut values_set = 0;
    requests
        .map(|request| {
            let before = values_set;
            values_set += usize::from(sets_value(request));
            Exchange {
                request,
                response: response_of[request.number],
                values_set: before,
            }
        })
        .collect()
}

/// Whether a request may set a variable: then the answers to the same questions differ before and after it.
fn sets_value(request: &Message) -> bool {
    match request.name() {
        Some("setVariable" | "setExpression" | "writeMemory") => true,
        Some("evaluate") => !is_question(request),
        _ => false,
    }
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
    let (mut own, mut from) = (0, 0);
    let mut next = paired.iter().peekable();
    for (at, exchange) in first.iter().enumerate() {
        if let Some(&&(_, other)) = next.peek().filter(|(own, _)| *own == at) {
            next.next();
            (own, from) = (at, other);
            exchange.compare(&second[other], comparison);
            continue;
        }
        if effect(name(exchange)) == Effect::Moves {
            comparison.only_first(exchange.request);
            continue;
        }
        let (end, until) = { next.peek() }.map_or((first.len(), second.len()), |next| **next);
        let spans = [Span::new(first, own..end), Span::new(second, from..until)];
        match exchange.find(at, &spans, &taken, comparison) {
            Some(other) => {
                taken.insert(other);
                exchange.compare(&second[other], comparison);
            }
            None => left.push(at),
        }
    }
    // What was asked at another time; the answers to questions are those of their stops.
    let whole = [
        Span::new(first, 0..first.len()),
        Span::new(second, 0..second.len()),
    ];
    for at in left {
        let exchange = &first[at];
        let is_question = is_question(exchange.request);
        let found = { (!is_question).then(|| exchange.find(at, &whole, &taken, comparison)) };
        match found.flatten() {
            Some(other) => {
                taken.insert(other);
                exchange.compare(&second[other], comparison);
            }
            None => comparison.only_first(exchange.request),
        }
    }
    for at in others(second.len(), &taken) {
        let [own, span] = spans(paired, at, first, second);
        let one = &second[at];
        let fits = |place: usize| {
            let before = &first[place];
            let is_same = own.set_before(before) == span.set_before(one);
            before.is_asked_again_by(one, comparison)
                && (is_same || before.is_answered_as(one, comparison))
        };
        let is_answered_as = |place: usize| first[place].is_answered_as(one, comparison);
        let offset = at - span.places.start;
        match repeated(own.places.clone(), offset, fits, is_answered_as) {
            Some(place) => first[place].compare(one, comparison),
            None => comparison.only_second(one.request),
        }
    }
}

/// The exchanges of both sessions between the same moves as a place in the second.
fn spans<'a>(
    paired: &[(usize, usize)],
    at: usize,
    first: &'a [Exchange<'a>],
    second: &'a [Exchange<'a>],
) -> [Span<'a>; 2] {
    let next = paired.partition_point(|&(_, other)| other <= at);
    let last = next.checked_sub(1).map_or((0, 0), |last| paired[last]);
    let next = { paired.get(next).copied() }.unwrap_or((first.len(), second.len()));
    [
        Span::new(first, last.0..next.0),
        Span::new(second, last.1..next.1),
    ]
}

/// The place of a question that another one repeats, among those that fit: the nearest with the same answer, else the nearest.
fn repeated(
    places: std::ops::Range<usize>,
    offset: usize,
    fits: impl Fn(usize) -> bool,
    is_answered_as: impl Fn(usize) -> bool,
) -> Option<usize> {
    let start = places.start;
    let mut all: Vec<usize> = places.filter(|&place| fits(place)).collect();
    all.sort_by_key(|&place| (place - start).abs_diff(offset));
    let alike = all.iter().copied().find(|&place| is_answered_as(place));
    alike.or(all.first().copied())
}

impl Exchange<'_> {
    /// The place of the exchange that corresponds to the one at a place in the first of two spans: with the same arguments or, without
    /// one, about the same thing.
    fn find(
        &self,
        at: usize,
        [own, span]: &[Span<'_>; 2],
        taken: &BTreeSet<usize>,
        comparison: &Comparison<'_>,
    ) -> Option<usize> {
        let all = span.exchanges;
        let is_question = is_question(self.request);
        // The answer to a question may be another one once a value was set.
        let fits = |other: &Exchange<'_>| {
            !is_question
                || own.set_before(self) == span.set_before(other)
                || self.is_answered_as(other, comparison)
        };
        let same = |at: &usize| !taken.contains(at) && name(&all[*at]) == name(self);
        let mut candidates: Vec<usize> = span.places.clone().filter(same).collect();
        candidates.retain(|&at| fits(&all[at]));
        let wanted = translated(self.request.payload(), &comparison.names);
        let differences =
            |at: usize| count_differences(&wanted, all[at].request.payload(), comparison.ignored);
        if let Some(equal) = candidates.iter().find(|&&at| differences(at) == 0) {
            return Some(*equal);
        }
        let again = |at: &usize| self.is_asked_again_by(&all[*at], comparison);
        if let Some(again) = candidates.iter().copied().find(again) {
            return Some(again);
        }
        let again = |at: usize| again(&at) && fits(&all[at]);
        let is_answered_as = |at: usize| self.is_answered_as(&all[at], comparison);
        let offset = at - own.places.start;
        if let Some(again) = repeated(span.places.clone(), offset, again, is_answered_as) {
            return Some(again);
        }
        let subject = subject(&wanted);
        let mut alike = candidates
            .into_iter()
            .filter(|&at| self::subject(all[at].request.payload()) == subject);
        alike.next()
    }

    /// Whether another exchange is about the same question: how often an editor asks it, and in which pieces for a stack, depends on
    /// its own speed.
    fn is_asked_again_by(&self, other: &Exchange<'_>, comparison: &Comparison<'_>) -> bool {
        if name(self) != name(other) || !is_question(self.request) {
            return false;
        }
        let mut wanted = translated(self.request.payload(), &comparison.names);
        let mut asked = other.request.payload().clone();
        if name(self) == STACK {
            for arguments in [&mut wanted, &mut asked] {
                if let Some(fields) = arguments.as_object_mut() {
                    fields.retain(|name, _| !PIECE.contains(&name.as_str()));
                }
            }
        }
        count_differences(&wanted, &asked, comparison.ignored) == 0
    }

    /// Whether another exchange has the same response.
    fn is_answered_as(&self, other: &Exchange<'_>, comparison: &Comparison<'_>) -> bool {
        let (a, b) = match (self.response, other.response) {
            (Some(a), Some(b)) => (a, b),
            (a, b) => return a.is_none() && b.is_none(),
        };
        let success = |message: &Message| matches!(message.content, Content::Response { success, .. } if success);
        if success(a) != success(b) {
            return false;
        }
        let frames = self.common_frames(other).filter(|_| success(a));
        let (a, b) = match &frames {
            Some([a, b]) => (a, b),
            None => (a.payload(), b.payload()),
        };
        let mut names = comparison.names.clone();
        let mut how = Vec::new();
        values::compare(a, b, comparison.ignored, &mut names, &mut how);
        how.is_empty()
    }

    /// The frames that both have, if they were asked for different pieces of a stack.
    fn common_frames(&self, other: &Exchange<'_>) -> Option<[Value; 2]> {
        let [own, others] = [self, other].map(|one| {
            let arguments = one.request.payload();
            let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
            let start = usize::try_from(number("startFrame").unwrap_or(0)).unwrap_or(usize::MAX);
            (start, number("levels").unwrap_or(0))
        });
        if name(self) != STACK || own == others {
            return None;
        }
        let start = own.0.max(others.0);
        let frames = |one: &Exchange<'_>, first: usize| -> Vec<Value> {
            let body = one.response.map(Message::payload);
            let frames = body.map_or(&[][..], |body| items(body, "stackFrames"));
            frames.iter().skip(start - first).cloned().collect()
        };
        let (mut a, mut b) = (frames(self, own.0), frames(other, others.0));
        a.truncate(b.len());
        b.truncate(a.len());
        Some([a, b].map(|frames| json!({"stackFrames": frames})))
    }

    fn compare(&self, other: &Exchange<'_>, comparison: &mut Comparison<'_>) {
        let frames = self.common_frames(other);
        if frames.is_none() {
            comparison.payloads(self.request, other.request);
        }
        let (a, b) = match (self.response, other.response) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return,
            (Some(a), None) => return comparison.only_first(a),
            (None, Some(b)) => return comparison.only_second(b),
        };
        let (
            Content::Response {
                command,
                success,
                message,
                ..
            },
            Content::Response {
                command: other_command,
                success: other_success,
                message: other_message,
                ..
            },
        ) = (&a.content, &b.content)
        else {
            return;
        };
        if command != other_command {
            let how = format!("it names `{command}` in A and `{other_command}` in B");
            comparison.differs(a, b, vec![how]);
        }
        if let (Some([frames, others]), true, true) = (&frames, success, other_success) {
            let mut how = Vec::new();
            values::compare(
                frames,
                others,
                comparison.ignored,
                &mut comparison.names,
                &mut how,
            );
            return comparison.differs(a, b, how);
        }
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
        .filter(|_| arguments.get("expression").is_none())
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
