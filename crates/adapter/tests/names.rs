//! Function breakpoints by the names that users write.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// The marks of the lines where the program stops with a breakpoint on the name.
#[track_caller]
fn stops(fixture: &Fixture, name: &str) -> Vec<String> {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let wanted = vec![FunctionBreakpoint::new(name)];
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    let set = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    let breakpoint = &set.breakpoints[0];
    assert!(breakpoint.verified, "{name}: {breakpoint:?}");
    session.configured();
    let mut marks = Vec::new();
    while session.ends_or_stops() {
        let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
        marks.push(fixture.mark_of(stop.top.line));
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    marks
}

/// The message for a name that isn't found.
#[track_caller]
fn said(fixture: &Fixture, name: &str) -> String {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let wanted = vec![FunctionBreakpoint::new(name)];
    let arguments = SetFunctionBreakpointsArguments::new(wanted);
    let set = session.ok::<SetFunctionBreakpointsRequest>(arguments);
    let breakpoint = &set.breakpoints[0];
    assert!(!breakpoint.verified, "{name}: {breakpoint:?}");
    session.disconnect();
    breakpoint.message.clone().unwrap_or_default()
}

#[test]
fn methods_of_traits_are_found_by_type_trait_and_both() {
    let fixture = Fixture::new("names.rs");
    for (name, marks) in [
        ("<Order as Priced>::price", &["order"][..]),
        ("<orders::Order as orders::Priced>::price", &["order"]),
        ("impl Priced for Order::price", &["order"]),
        ("Order::price", &["order"]),
        ("<Vec<Order> as Priced>::price", &["orders"]),
        ("Vec::price", &["orders"]),
        ("Priced::price", &["order", "orders"]),
        ("Priced::doubled", &["doubled"]),
        ("<Order as Priced>::doubled", &["doubled"]),
        ("Stack::drop", &["drop", "drop"]),
        ("<Stack<T> as Drop>::drop", &["drop", "drop"]),
        ("<Stack<i32> as Drop>::drop", &["drop"]),
    ] {
        assert_eq!(stops(&fixture, name), marks, "{name}");
    }
}

#[test]
fn generics_closures_and_crates_are_found_as_they_are_written() {
    let fixture = Fixture::new("names.rs");
    for (name, marks) in [
        ("Stack<T>::put", &["put", "put"][..]),
        ("Stack<_>::put", &["put", "put"]),
        ("Stack::<i32>::put", &["put"]),
        ("first::<_, char>", &["first"]),
        ("first<A, B>", &["first", "first"]),
        ("run::{closure}", &["closure"]),
        ("crate::orders::checkout_all", &["checkout"]),
    ] {
        assert_eq!(stops(&fixture, name), marks, "{name}");
    }
}

#[test]
fn names_of_cpp_are_found_as_they_are_written() {
    let fixture = Fixture::new("names.cpp");
    for (name, marks) in [
        ("shop::versioned", &["versioned"][..]),
        ("shop::v2::versioned", &["versioned"]),
        ("{anonymous}::hidden", &["hidden"]),
        ("hidden(int)", &["hidden"]),
        ("Stack<T>::top", &["top", "top"]),
        ("Stack<Order>::top", &["top"]),
        ("Stack<int>::top()", &["top"]),
        ("Counter::operator +=", &["add"]),
        ("operator bool", &["bool"]),
        ("plain", &["plain"]),
        ("caller::{lambda(int)#1}::operator()", &["lambda"]),
        ("caller(int)::{lambda*}::operator()", &["lambda"]),
    ] {
        assert_eq!(stops(&fixture, name), marks, "{name}");
    }
}

#[test]
fn of_similar_names_the_users_own_come_first() {
    let fixture = Fixture::new("names.rs");
    for (name, similar) in [
        ("checkout", "names::orders::checkout_all"),
        ("chekout_all", "names::orders::checkout_all"),
    ] {
        let said = said(&fixture, name);
        let expected = format!("has a function {name}; a similar name is {similar}");
        let several = format!("has a function {name}; similar names are {similar}");
        assert!(
            said.contains(&expected) || said.contains(&several),
            "{said}"
        );
    }
}
