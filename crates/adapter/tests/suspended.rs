//! Variables of suspended futures that shadow others.

use crate::support::{Session, package};
use dapple_adapter::{TasksArguments, TasksRequest};
use dapple_dap::types::*;
use serde_json::json;

/// In the debug information of a future's state, all fields with one name are the first of them.
#[test]
fn a_variable_that_shadows_an_argument_is_shown_beside_it() {
    let program = package::built("tasks", false).join("embrace");
    let source = package::folder("tasks").join("src/bin/embrace.rs");
    let text = std::fs::read_to_string(&source).expect("the source");
    let stop = { text.lines() }.position(|line| line.contains("// stop: waiting"));
    let line = i64::try_from(stop.expect("the line")).expect("a number") + 1;
    let session = Session::new();
    let launch = json!({"program": program.display().to_string()});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    session.set_lines(&source.display().to_string(), &[line]);
    session.configured();
    session.stopped(StoppedEventReason::Breakpoint);
    let tasks = session.ok::<TasksRequest>(TasksArguments::default()).tasks;
    let mut guarded = Vec::new();
    for task in tasks.iter().filter(|task| !task.blocks_thread) {
        let frames = session.stack(task.id);
        let is_own = |frame: &&StackFrame| frame.name == "embrace::embraced (async)";
        let frame = frames.iter().find(is_own).expect("the task's function");
        let locals = session.scope(frame, "Locals").variables_reference;
        let all = session.variables(locals).into_iter();
        let all: Vec<String> = all.map(|variable| variable.name).collect();
        for name in ["first (shadowed)", "first", "second", "both"] {
            assert_eq!(all.iter().filter(|it| *it == name).count(), 1, "{all:?}");
        }
        // The guard of the lock, not the lock.
        guarded.push(session.evaluate(frame, "first"));
        // With the crate `parking_lot`, which this tokio uses, its types have other fields.
        let waker = session.evaluate(frame, "both.wait");
        assert_eq!(waker, "Receiver { value: 1 }");
    }
    guarded.sort();
    assert_eq!(guarded, ["1", "2"]);
    let console = session.output(OutputEventCategory::Console);
    assert!(!console.contains("is not known"), "{console}");
    session.disconnect();
}
