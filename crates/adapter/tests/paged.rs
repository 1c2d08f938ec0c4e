//! Pages far inside containers of nodes. The debugger continues from the end of the previous page, unless the program has changed since.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// The page of a container's elements that begins at index `start`.
fn page(session: &Session, frame: &StackFrame, name: &str, start: i64) -> Vec<Variable> {
    let whole = EvaluateArguments::new(name).with_frame_id(frame.id);
    let whole = session.ok::<EvaluateRequest>(whole);
    let arguments = VariablesArguments::new(whole.variables_reference)
        .with_filter(VariablesArgumentsFilter::Indexed)
        .with_start(start)
        .with_count(10);
    session.ok::<VariablesRequest>(arguments).variables
}

/// The numbers in a page.
fn numbers(session: &Session, frame: &StackFrame, name: &str, start: i64) -> Vec<i64> {
    let page = page(session, frame, name, start).into_iter();
    let numbers = page.map(|one| one.value.parse().expect("a number"));
    numbers.collect()
}

/// Ten consecutive numbers from `first` on.
fn from(first: i64) -> Vec<i64> {
    (first..first + 10).collect()
}

#[test]
fn a_page_behind_another_is_right_also_when_the_program_has_changed_the_container() {
    let fixture = Fixture::new("paged.cpp");
    let session = Session::started(&fixture, json!({}), &["full", "end"]);
    let stop = session.stopped_at(&fixture, "full", StoppedEventReason::Breakpoint);
    let top = &stop.top;
    // The order of a hash table's elements is unknown, so all pages are read once.
    let all: Vec<i64> = (0..20000)
        .step_by(10)
        .flat_map(|start| numbers(&session, top, "table", start))
        .collect();
    let mut sorted = all.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..20000).collect::<Vec<_>>());

    let check = |frame: &StackFrame, taken: i64| {
        // Forwards, backwards, the same page again, and between two pages.
        for start in [9000, 9010, 9000, 9000, 9005, 12000, 600, 9020] {
            let place = start;
            assert_eq!(numbers(&session, frame, "map", place), from(start + taken));
            assert_eq!(numbers(&session, frame, "list", place), from(start + taken));
            let expected = &all[(start + taken) as usize..][..10];
            assert_eq!(numbers(&session, frame, "table", place), expected);
        }
    };
    check(top, 0);
    // An expression that calls a function runs the program, too.
    assert_eq!(session.evaluate(top, "take()"), "19999");
    check(top, 1);
    // An element that the user sets shows its new value.
    let element = SetExpressionArguments::new("map[9003]", "-7").with_frame_id(top.id);
    session.ok::<SetExpressionRequest>(element);
    assert_eq!(numbers(&session, top, "map", 9000)[2], -7);
    let element = SetExpressionArguments::new("map[9003]", "9003").with_frame_id(top.id);
    session.ok::<SetExpressionRequest>(element);
    check(top, 1);
    session.resume(stop.thread);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    check(&stop.top, 3);
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

/// The raw view comes behind all elements, however the pages are chosen.
#[test]
fn the_raw_form_is_the_last_child_of_all() {
    let fixture = Fixture::new("paged.cpp");
    let session = Session::started(&fixture, json!({}), &["full"]);
    let stop = session.stopped_at(&fixture, "full", StoppedEventReason::Breakpoint);
    let arguments = EvaluateArguments::new("few").with_frame_id(stop.top.id);
    let few = session.ok::<EvaluateRequest>(arguments).variables_reference;
    let page = |start: i64, count: i64| {
        let arguments = VariablesArguments::new(few)
            .with_start(start)
            .with_count(count);
        let children = session.ok::<VariablesRequest>(arguments).variables;
        let names = children.into_iter().map(|child| child.name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(page(0, 0), ["[0]", "[1]", "[2]", "[raw]"]);
    assert_eq!(page(0, 2), ["[0]", "[1]"]);
    assert_eq!(page(2, 2), ["[2]", "[raw]"]);
    assert_eq!(page(3, 1), ["[raw]"]);
    session.disconnect();
}
