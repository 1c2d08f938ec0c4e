//! Conditions and counts of hits that the program decides act on the same hits as those that are decided at stops: random ones, at many
//! places of programs in C, C++ and Rust.

use crate::random_conditions::{Conditions, Numbers, Scope, Wanted};
use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session};
use dapple_adapter::DecidedRequest;
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The places of each fixture: lines marked with 0 and so on.
const PLACES: usize = 20;
const TURNS: usize = 150;
/// How often a condition may have no value before its log point is taken away.
const MOST_STOPS: usize = 10;

/// What is seen of a session. Between threads there is no order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// What each thread's log points have written, in order.
    logs: BTreeMap<String, Vec<String>>,
    /// How often each log point that counts the hits of several threads has written.
    counted: BTreeMap<String, usize>,
    stops: Vec<String>,
    /// How often a place's condition had no value.
    stops_at: BTreeMap<usize, usize>,
    /// Places whose log points were taken away because of that.
    left_out: BTreeSet<usize>,
    /// What the program has calculated.
    output: String,
}

/// Sets log points at all places but these, and a breakpoint at the program's end. Returns the place of each log point, by id.
fn set(
    session: &Session,
    fixture: &Fixture,
    scope: &Scope,
    wanted: &[Wanted],
    left_out: &BTreeSet<usize>,
) -> BTreeMap<i64, usize> {
    let places: Vec<usize> = (0..wanted.len())
        .filter(|place| !left_out.contains(place))
        .collect();
    let asked = { places.iter() }.map(|place| {
        let wanted = &wanted[*place];
        let mut asked = SourceBreakpoint::new(fixture.line(&place.to_string()))
            .with_log_message(format!("#{place} {}", scope.message));
        asked.condition = wanted.condition.clone();
        asked.hit_condition = wanted.hits.clone();
        asked
    });
    let asked = asked.chain([fixture.breakpoint("done")]).collect();
    let set = session.set_source(fixture, asked);
    let ids = set.into_iter().map(|breakpoint| {
        assert!(breakpoint.verified, "{breakpoint:?}");
        breakpoint.id.expect("an id")
    });
    ids.zip(places).collect()
}

/// Runs the program with log points at all places. Returns what was seen, and of how many log points the program has decided in the end.
fn run(
    fixture: &Fixture,
    scope: &Scope,
    wanted: &[Wanted],
    threads: usize,
    is_inside: bool,
) -> (Seen, usize) {
    let session = Session::new();
    session.launch(
        fixture,
        json!({"args": [threads.to_string(), TURNS.to_string()], "conditionsInProgram": is_inside}),
    );
    let mut places = set(&session, fixture, scope, wanted, &BTreeSet::new());
    session.configured();
    let mut seen = Seen::default();
    let mut decided = 0;
    while session.ends_or_stops() {
        let event = session.wait_for::<StoppedEvent>();
        let hit = event.hit_breakpoint_ids.clone().unwrap_or_default();
        if !hit.iter().any(|id| places.contains_key(id)) {
            let answer = session.ok::<DecidedRequest>(Empty);
            let all = answer.breakpoints.iter();
            decided = all.filter(|breakpoint| breakpoint.in_program > 0).count();
            session.resume(event.thread_id.expect("a stop names its thread"));
            continue;
        }
        let place = *hit.first().and_then(|id| places.get(id)).expect("a place");
        let stops = seen.stops_at.entry(place).or_default();
        *stops += 1;
        if threads > 1 || *stops == MOST_STOPS {
            seen.left_out.insert(place);
            places.extend(set(&session, fixture, scope, wanted, &seen.left_out));
        }
        // A thread that stops at the same time as another has an event of its own.
        if event.all_threads_stopped == Some(true) {
            let thread = event.thread_id.expect("a stop names its thread");
            if threads == 1 {
                let top = session.stack(thread).remove(0);
                let [who, i] = ["who", "i"].map(|name| session.evaluate(&top, name));
                let text = event.text.unwrap_or_default();
                seen.stops.push(format!("#{place} {who} {i} {text}"));
            }
            session.resume(thread);
        }
    }
    assert_eq!(session.exit_code(), 0);
    seen.output = session.output(OutputEventCategory::Stdout);
    for line in session.output(OutputEventCategory::Console).lines() {
        let Some(rest) = line.strip_prefix('#') else {
            continue;
        };
        let (place, rest) = rest.split_once(' ').expect("a place");
        let place_number: usize = place.parse().expect("a place's number");
        if threads > 1 && wanted[place_number].hits.is_some() {
            *seen.counted.entry(place.to_owned()).or_default() += 1;
        } else {
            let (who, _) = rest.split_once(' ').expect("a thread");
            let logs = seen.logs.entry(who.to_owned()).or_default();
            logs.push(line.to_owned());
        }
    }
    session.disconnect();
    (seen, decided)
}

/// Takes out of sessions with several threads what was seen at places with log points that were taken away: that happened at some time.
fn leave_out(seen: [&mut Seen; 2]) {
    let left_out: BTreeSet<usize> = { seen.iter() }
        .flat_map(|seen| seen.left_out.iter().copied())
        .collect();
    let is_left_out = |text: &str| {
        let place = text.trim_start_matches('#').split(' ').next();
        let place = place.and_then(|place| place.parse().ok());
        place.is_some_and(|place| left_out.contains(&place))
    };
    for seen in seen {
        seen.counted.retain(|place, _| !is_left_out(place));
        for logs in seen.logs.values_mut() {
            logs.retain(|line| !is_left_out(line));
        }
    }
}

/// Fails with the first differences if not the same was seen.
fn compare(about: &str, wanted: &[Wanted], inside: &Seen, at_stops: &Seen) {
    let mut text = String::new();
    let mut differs = |what: &str, inside: &[String], at_stops: &[String]| {
        let first = (0..inside.len().max(at_stops.len()))
            .find(|index| inside.get(*index) != at_stops.get(*index));
        if let Some(first) = first {
            let _ = writeln!(
                text,
                "{what}, entry {first}:\n  in the program: {:?} of {}\n  at stops: {:?} of {}",
                inside.get(first),
                inside.len(),
                at_stops.get(first),
                at_stops.len(),
            );
        }
    };
    let nothing = Vec::new();
    for who in inside.logs.keys().chain(at_stops.logs.keys()) {
        let [inside, at_stops] =
            [inside, at_stops].map(|seen| seen.logs.get(who).unwrap_or(&nothing));
        differs(&format!("logs of {who}"), inside, at_stops);
    }
    differs("stops", &inside.stops, &at_stops.stops);
    if inside.counted != at_stops.counted {
        let _ = writeln!(text, "{:?} and {:?}", inside.counted, at_stops.counted);
    }
    if inside.output != at_stops.output {
        let _ = writeln!(text, "{:?} and {:?}", inside.output, at_stops.output);
    }
    if !text.is_empty() {
        for (place, wanted) in wanted.iter().enumerate() {
            let _ = writeln!(text, "#{place} {wanted:?}");
        }
    }
    assert!(text.is_empty(), "DIFFERS {about}: {text}");
}

/// The seeds of the sessions of each program. `DAPPLE_SEEDS=100..150` has others.
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("DAPPLE_SEEDS").ok();
    let given = given.as_deref().and_then(|text| text.split_once(".."));
    let numbers = given.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    numbers.unwrap_or(0..2)
}

/// Compares random conditions in a program. The program decides many of them.
fn conditions_of(scope: &Scope, optimization: Optimization) {
    let fixture = Fixture::built(scope.fixture, optimization, Linking::Pie);
    let mut decided = 0;
    for seed in seeds() {
        let threads = if seed % 2 == 0 { 1 } else { 2 };
        let mut conditions = Conditions {
            numbers: Numbers::new(seed),
            scope,
            may_fail: threads == 1,
        };
        let wanted: Vec<Wanted> = (0..PLACES).map(|_| conditions.wanted()).collect();
        let (mut inside, in_program) = run(&fixture, scope, &wanted, threads, true);
        let (mut at_stops, none) = run(&fixture, scope, &wanted, threads, false);
        let about = format!("{} {optimization:?} seed {seed}", scope.fixture);
        let stops: usize = inside.stops_at.values().sum();
        if threads > 1 {
            leave_out([&mut inside, &mut at_stops]);
        }
        compare(&about, &wanted, &inside, &at_stops);
        assert_eq!(none, 0, "{about}");
        let written: usize = inside.logs.values().map(Vec::len).sum();
        println!("{about}: {in_program} of {PLACES} in the program, {written} logs, {stops} stops");
        decided += in_program;
    }
    assert!(decided > 0, "the program has decided nothing");
}

#[test]
fn conditions_in_c_hold_for_the_same_hits() {
    conditions_of(&Scope::c(), Optimization::None);
}

#[test]
fn conditions_in_optimized_c_hold_for_the_same_hits() {
    conditions_of(&Scope::c(), Optimization::Full);
}

#[test]
fn conditions_in_cpp_hold_for_the_same_hits() {
    conditions_of(&Scope::cpp(), Optimization::None);
}

#[test]
fn conditions_in_optimized_cpp_hold_for_the_same_hits() {
    conditions_of(&Scope::cpp(), Optimization::Full);
}

#[test]
fn conditions_in_rust_hold_for_the_same_hits() {
    conditions_of(&Scope::rust(), Optimization::None);
}

#[test]
fn conditions_in_optimized_rust_hold_for_the_same_hits() {
    conditions_of(&Scope::rust(), Optimization::Full);
}
