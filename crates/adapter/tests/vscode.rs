//! Behaviour that is different for VS Code.

use crate::support::{Fixture, Session, initialize_arguments, named};
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::json;

fn vscode() -> Session {
    let client = initialize_arguments().with_client_id("vscode");
    Session::serving(Default::default(), client)
}

fn locals(session: &Session, frame: &StackFrame) -> (Scope, Vec<Variable>) {
    let scope = session.scope(frame, "Locals");
    let variables = session.variables(scope.variables_reference);
    (scope, variables)
}

#[test]
fn parameters_locals_and_what_was_returned_are_the_first_scope() {
    let fixture = Fixture::new("tour.c");
    let session = vscode();
    session.launch(&fixture, json!({}));
    session.set_breakpoints(&fixture, &["mean"]);
    session.configured();
    let stop = session.stopped_at(&fixture, "mean", StoppedEventReason::Breakpoint);
    let expected = [("Locals", false), ("Statics", true), ("Registers", true)];
    let expected = expected.map(|(name, expensive)| (name.to_owned(), expensive));
    assert_eq!(session.scopes_of(&stop.top), expected);
    let (scope, variables) = locals(&session, &stop.top);
    assert_eq!(scope.presentation_hint, Some(ScopePresentationHint::Locals));
    assert_eq!(named(&variables, "count").value, "3");
    assert_eq!(named(&variables, "sum").value, "95.5");
    let declared = named(&variables, "count").declaration_location_reference;
    let location = LocationsArguments::new(declared.expect("it is declared somewhere"));
    let location = session.ok::<LocationsRequest>(location);
    assert_eq!(location.line, fixture.line("mean") - 5);
    let set = SetVariableArguments::new(scope.variables_reference, "count", "5");
    assert_eq!(session.ok::<SetVariableRequest>(set).value, "5");
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    let (_, variables) = locals(&session, &stop.top);
    assert_eq!(named(&variables, "returned by mean()").value, "19.1");
    assert!(
        variables.iter().any(|one| one.name == "town"),
        "{variables:?}"
    );
    let returned = named(&variables, "returned by mean()");
    assert_eq!(returned.declaration_location_reference, None);
    session.disconnect();
}

#[test]
fn failures_are_said_in_plain_text() {
    let session = vscode();
    let failure = session.refused::<LaunchRequest>(launch_arguments(&json!({"program": 3})));
    assert!(
        failure.sentence.contains("'program' must be a string"),
        "{}",
        failure.sentence
    );
    let error = failure.error.expect("a structured error");
    assert_eq!(
        (&*error.format, error.show_user),
        (&*failure.sentence, Some(true))
    );
    session.disconnect();
}

#[test]
fn what_the_debugger_says_in_the_console_is_plain_text() {
    let fixture = Fixture::new("exit.c");
    for (client, marked) in [("vscode", "'madeUp'"), ("other", "`madeUp`")] {
        let client = initialize_arguments().with_client_id(client);
        let session = Session::serving(Default::default(), client);
        session.launch(&fixture, json!({"madeUp": 1}));
        session.configured();
        session.wait_for_written(OutputEventCategory::Console, marked);
        session.disconnect();
    }
}
