//! The tours in C, C++ and Rust from the first breakpoint to the exit code, optimized or not, linked in each way.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped, named};
use dapple_dap::types::*;
use serde_json::json;

const C_OUTPUT: &str =
    "Cairo: 31.8, hot\nRome: 20.2, mild\nOslo: 0.5, cold\n3 of 3 towns visited\n";
const CPP_OUTPUT: &str =
    "3 shapes, 40.0 in all, 3.0 to 27.0\nthe longest name is 'a perfectly round circle'\n";
const RUST_OUTPUT: &str = "Ada: tea for 513, 13 coins back\nGrace: coffee for 290, charged to card 4711\n\
    Linus: nothing for 0, voucher HELLO used up\n3 orders served\n";

/// Stops at `print` each time it is reached, and calls `look` at the first stop. Then checks that the program has the same output and exit
/// code as without a debugger.
fn tour(
    name: &str,
    (optimization, linking): (Optimization, Linking),
    output: &str,
    passes: usize,
    look: impl FnOnce(&Session, &Stopped),
) {
    let fixture = Fixture::built(name, optimization, linking);
    let session = Session::new();
    session.launch(&fixture, json!({}));
    let breakpoint = session.set_breakpoints(&fixture, &["print"]).remove(0);
    session.configured();

    let mut hits = 0;
    let mut look = Some(look);
    while session.ends_or_stops() {
        let stop = session.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(
            stop.event.hit_breakpoint_ids,
            breakpoint.id.map(|id| vec![id])
        );
        let stack = session.stack(stop.thread);
        // In optimized code, the line may begin in inlined calls.
        let inline = match optimization {
            Optimization::None => 0,
            Optimization::Full => 5,
        };
        let line = fixture.line("print");
        let here = |frame: &StackFrame| frame.line == line && frame.name.ends_with("main");
        assert!(stack.iter().take(1 + inline).any(here), "{stack:?}");
        if let Some(look) = look.take() {
            look(&session, &stop);
        }
        session.resume(stop.thread);
        hits += 1;
    }
    match optimization {
        Optimization::None => assert_eq!(hits, passes),
        // The code of a line may be at several addresses, each of which is a stop.
        Optimization::Full => assert!(hits >= passes, "{hits} hits"),
    }
    assert_eq!(session.exit_code(), 3);
    assert_eq!(session.output(OutputEventCategory::Stdout), output);
    session.disconnect();
}

fn look_at_c(session: &Session, stop: &Stopped) {
    let top = &stop.top;
    assert_eq!(top.name, "main");
    assert_eq!(
        session.variable(top, "Locals", "average").value,
        "31.833333333333332"
    );
    let town = session.variable(top, "Locals", "town");
    assert!(
        town.variables_reference > 0,
        "a pointer has its pointee: {town:?}"
    );
    assert_eq!(session.evaluate(top, "town->next->celsius[1]"), "22.5");
    assert!(session.evaluate(top, "town->name").contains("Cairo"));
    assert!(session.evaluate(top, "(*town).weather").contains("HOT"));
}

fn look_at_cpp(session: &Session, stop: &Stopped) {
    let top = &stop.top;
    assert_eq!(session.variable(top, "Locals", "sum").value, "40.0");
    let names = session.variable(top, "Locals", "names");
    assert_eq!(names.indexed_variables, Some(3), "{names:?}");
    let elements = session.variables(names.variables_reference);
    assert!(
        named(&elements, "[1]")
            .value
            .contains("a perfectly round circle"),
        "{elements:?}"
    );
    assert_eq!(session.evaluate(top, "range.low"), "3.0");
    assert_eq!(session.evaluate(top, "sizes[0]"), "9");
}

fn look_at_rust(session: &Session, stop: &Stopped) {
    let top = &stop.top;
    assert_eq!(session.variable(top, "Locals", "price").value, "513");
    let locals = session.variables(session.scope(top, "Locals").variables_reference);
    assert_eq!(named(&locals, "customer").value, "\"Ada\"");
    assert_eq!(named(&locals, "discount").value, "Some(10)");
    let items = named(&locals, "items");
    assert_eq!(items.indexed_variables, Some(2), "{items:?}");
    let elements = session.variables(items.variables_reference);
    assert!(
        named(&elements, "[0]").value.contains("tea"),
        "{elements:?}"
    );
    let payment = named(&locals, "payment");
    assert!(
        payment.value.contains("Cash") && !payment.value.contains("Card"),
        "{payment:?}"
    );
    assert_eq!(session.evaluate(top, "items[1].cents"), "320");
}

macro_rules! tours {
    ($($name:ident: $file:literal, $optimization:ident, $linking:ident, $output:ident, $passes:literal, $look:expr;)*) => {
        $(#[test]
        fn $name() {
            let built = (Optimization::$optimization, Linking::$linking);
            tour($file, built, $output, $passes, $look);
        })*
    };
}

tours! {
    c_pie: "tour.c", None, Pie, C_OUTPUT, 3, look_at_c;
    c_fixed: "tour.c", None, Fixed, C_OUTPUT, 3, look_at_c;
    c_static: "tour.c", None, Static, C_OUTPUT, 3, look_at_c;
    c_optimized_pie: "tour.c", Full, Pie, C_OUTPUT, 3, |_, _| {};
    c_optimized_fixed: "tour.c", Full, Fixed, C_OUTPUT, 3, |_, _| {};
    c_optimized_static: "tour.c", Full, Static, C_OUTPUT, 3, |_, _| {};
    cpp_pie: "tour.cpp", None, Pie, CPP_OUTPUT, 1, look_at_cpp;
    cpp_fixed: "tour.cpp", None, Fixed, CPP_OUTPUT, 1, look_at_cpp;
    cpp_static: "tour.cpp", None, Static, CPP_OUTPUT, 1, look_at_cpp;
    cpp_optimized_pie: "tour.cpp", Full, Pie, CPP_OUTPUT, 1, |_, _| {};
    cpp_optimized_fixed: "tour.cpp", Full, Fixed, CPP_OUTPUT, 1, |_, _| {};
    cpp_optimized_static: "tour.cpp", Full, Static, CPP_OUTPUT, 1, |_, _| {};
    rust_pie: "tour.rs", None, Pie, RUST_OUTPUT, 3, look_at_rust;
    rust_fixed: "tour.rs", None, Fixed, RUST_OUTPUT, 3, look_at_rust;
    rust_static: "tour.rs", None, Static, RUST_OUTPUT, 3, look_at_rust;
    rust_optimized_pie: "tour.rs", Full, Pie, RUST_OUTPUT, 3, |_, _| {};
    rust_optimized_fixed: "tour.rs", Full, Fixed, RUST_OUTPUT, 3, |_, _| {};
    rust_optimized_static: "tour.rs", Full, Static, RUST_OUTPUT, 3, |_, _| {};
}

#[test]
fn c_steps_into_over_and_out_of_a_call() {
    let fixture = Fixture::new("tour.c");
    let session = Session::started(&fixture, json!({}), &["town"]);
    let stop = session.stopped_at(&fixture, "town", StoppedEventReason::Breakpoint);
    session.set_lines(&fixture.path(), &[]);
    session.ok::<StepInRequest>(StepInArguments::new(stop.thread));
    let inside = session.stopped(StoppedEventReason::Step);
    assert_eq!(inside.top.name, "mean");
    assert_eq!(session.stack(inside.thread)[1].name, "main");
    assert_eq!(session.variable(&inside.top, "Locals", "count").value, "3");
    session.ok::<StepOutRequest>(StepOutArguments::new(inside.thread));
    let outside = session.stopped(StoppedEventReason::Step);
    assert_eq!(outside.top.name, "main");
    session.resume(outside.thread);
    assert_eq!(session.exit_code(), 3);
    session.disconnect();
}

#[test]
fn rust_steps_over_a_line() {
    let fixture = Fixture::new("step.rs");
    let session = Session::started(&fixture, json!({}), &["start"]);
    let stop = session.stopped_at(&fixture, "start", StoppedEventReason::Breakpoint);
    let stop = session.next(&stop, &fixture, "arguments");
    assert_eq!(session.variable(&stop.top, "Locals", "a").value, "4");
    let stop = session.next(&stop, &fixture, "nested");
    let stop = session.step_in(&stop, &fixture, "twice");
    assert_eq!(session.variable(&stop.top, "Locals", "value").value, "1");
    session.disconnect();
}

#[test]
fn cpp_steps_through_a_virtual_call() {
    let fixture = Fixture::new("step.cpp");
    let session = Session::started(&fixture, json!({}), &["virtual"]);
    let stop = session.stopped_at(&fixture, "virtual", StoppedEventReason::Breakpoint);
    let stop = session.step_in(&stop, &fixture, "dog");
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let outside = session.stopped(StoppedEventReason::Step);
    assert!(outside.top.name.ends_with("main"), "{:?}", outside.top);
    session.disconnect();
}
