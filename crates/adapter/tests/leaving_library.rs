//! A step out of a closure that a library calls ends in the user's function that called the library, even if the optimizer has inlined the
//! functions into each other.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, file_of};
use dapple_dap::types::*;
use serde_json::json;

/// The functions of `leaving_library.rs` in the order of their calls. Each has a closure with a mark of the function's name.
const FUNCTIONS: [&str; 16] = [
    "once_lock",
    "once_cell",
    "once",
    "lazy",
    "thread_local",
    "thread_local_lazy",
    "mapped",
    "filtered",
    "sorted",
    "each",
    "entry",
    "retained",
    "optional",
    "caught",
    "scoped",
    "boxed",
];

/// The function in which a step out of each closure ends, with its source if that isn't the fixture.
fn ends(optimization: Optimization) -> Vec<String> {
    let fixture = Fixture::built("leaving_library.rs", optimization, Linking::Pie);
    let session = Session::started(&fixture, json!({}), &FUNCTIONS);
    let mut ends = Vec::new();
    for (done, name) in FUNCTIONS.iter().enumerate() {
        let stop = session.stopped_at(&fixture, name, StoppedEventReason::Breakpoint);
        // The library may call the closure again before it returns for good.
        session.set_breakpoints(&fixture, &FUNCTIONS[done + 1..]);
        session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
        let out = session.stopped(StoppedEventReason::Step);
        ends.push(match file_of(&out.top) == Some(fixture.path()) {
            true => out.top.name,
            false => format!("{} of {:?}", out.top.name, file_of(&out.top)),
        });
        session.resume(stop.thread);
    }
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    ends
}

#[test]
fn a_step_out_of_a_closure_ends_in_the_users_function() {
    // In `boxed`, another closure of the same function calls the marked closure.
    let expected = FUNCTIONS.map(|name| match name {
        "boxed" => "{closure in leaving_library::boxed}".to_owned(),
        name => format!("leaving_library::{name}"),
    });
    for optimization in [Optimization::None, Optimization::Full] {
        assert_eq!(ends(optimization), expected, "{optimization:?}");
    }
}
