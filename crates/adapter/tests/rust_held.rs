//! Methods of Rust's standard library whose results the debugger reads from memory: cells and locks, atomics, reference-counted owners,
//! durations, and lookups.

use crate::support::setting::evaluated;
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// Evaluates each expression in a hover, which runs nothing, and in a watch.
#[track_caller]
fn check(expected: &[(&str, &str)]) {
    let contexts = [
        EvaluateArgumentsContext::Hover,
        EvaluateArgumentsContext::Watch,
    ];
    check_in(&contexts, expected);
}

#[track_caller]
fn check_in(contexts: &[EvaluateArgumentsContext], expected: &[(&str, &str)]) {
    let fixture = Fixture::new("held.rs");
    let session = Session::started(&fixture, json!({}), &["held"]);
    let stop = session.stopped_at(&fixture, "held", StoppedEventReason::Breakpoint);
    for context in contexts {
        for (expression, value) in expected {
            let answer = evaluated(&session, &stop.top, expression, context.clone());
            assert_eq!(answer, *value, "{expression}");
        }
    }
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn cells_and_locks_are_looked_into_without_being_taken() {
    check(&[
        ("cell.borrow().x", "12"),
        ("*cell.borrow()", "Place { x: 12, y: 13 }"),
        ("cell.borrow_mut().y + 1", "14"),
        ("counted.borrow()[1]", "2"),
        ("counted.borrow().len()", "2"),
        // The stopped thread itself holds this lock.
        ("lock.lock().unwrap().len()", "2"),
        ("lock.lock().unwrap()[0]", "'a'"),
        ("lock.lock().expect(\"no panic\")[1]", "'b'"),
        ("*lock.lock().unwrap()", "len = 2 ['a', 'b']"),
        ("readers.read().unwrap().y", "4"),
        ("*readers.write().unwrap()", "Place { x: 3, y: 4 }"),
        ("readers.read().unwrap().x == here.x", "true"),
    ]);
}

#[test]
fn atomic_numbers_owners_and_durations_tell_what_they_hold() {
    check(&[
        ("COUNT.load(Ordering::SeqCst)", "3"),
        ("level.load(std::sync::atomic::Ordering::Relaxed) + 1", "-2"),
        ("flag.load(Ordering::Acquire)", "true"),
        ("Rc::strong_count(&counted)", "2"),
        ("std::rc::Rc::weak_count(&counted)", "1"),
        ("Arc::strong_count(&lock)", "1"),
        ("Rc::ptr_eq(&counted, &other)", "true"),
        ("pause.as_millis()", "1500"),
        ("pause.as_secs()", "1"),
        ("pause.as_secs_f64()", "1.5"),
        ("pause.subsec_millis()", "500"),
        ("pause.is_zero()", "false"),
    ]);
}

#[test]
fn a_look_up_is_an_option_and_what_it_refers_to_can_be_dereferenced() {
    check(&[
        ("numbers.first()", "Some(10)"),
        ("numbers.get(2)", "Some(30)"),
        ("numbers.get(3)", "None"),
        ("empty.last()", "None"),
        ("queue.front()", "Some(7)"),
        ("queue.back().unwrap()", "8"),
        ("words.get(\"a\")", "Some(1)"),
        ("words.get(\"b\")", "None"),
        ("words.get(\"a\").copied()", "Some(1)"),
        ("*numbers.last().unwrap() + 1", "31"),
        ("*words.get(\"a\").unwrap()", "1"),
        ("*queue.back().expect(\"one\")", "8"),
        ("**pointers.last().unwrap() + 1", "31"),
        ("*maybe.as_ref().unwrap()", "Place { x: 5, y: 6 }"),
        ("good.unwrap()", "4"),
        ("bad.unwrap_err()", "\"went wrong\""),
        ("bad.unwrap()", "error: `bad` is `Err`"),
        ("good.unwrap_err()", "error: `good` is `Ok`"),
    ]);
}

#[test]
fn what_iterators_do_is_refused_with_the_reason() {
    let contexts = [EvaluateArgumentsContext::Watch];
    let expected = [
        (
            "numbers.iter().sum::<i32>()",
            "error: column 16: `sum` can't be given types here, and what is done with iterators isn't evaluated",
        ),
        (
            "numbers.iter().map(|x| x + 1)",
            "error: column 20: a value was expected here; closures can't be made",
        ),
    ];
    check_in(&contexts, &expected);
}

#[test]
fn tuples_and_structs_are_keys() {
    check(&[
        ("pairs[&(3, 4)]", "'q'"),
        ("pairs.get(&(1, 2))", "Some('p')"),
        ("pairs.get(&(1, 3))", "None"),
        ("places[&here]", "\"second\""),
        ("places[&Place { x: 1, y: 2 }]", "\"first\""),
        ("places.get(&Place { x: 1, y: 3 })", "None"),
    ]);
}
