//! Where variables are declared, and where function pointers point.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// The line of a location in the fixture.
#[track_caller]
fn line(session: &Session, fixture: &Fixture, reference: Option<i64>) -> i64 {
    let reference = reference.expect("a reference");
    let found = session.ok::<LocationsRequest>(LocationsArguments::new(reference));
    assert_eq!(found.source.path, Some(fixture.path()));
    found.line
}

#[test]
fn variables_lead_to_their_declarations_and_pointers_to_their_functions() {
    let fixture = Fixture::new("located.c");
    let session = Session::started(&fixture, json!({}), &["here"]);
    let stop = session.stopped_at(&fixture, "here", StoppedEventReason::Breakpoint);
    let at = |reference| line(&session, &fixture, reference);
    for (scope, name, mark) in [
        ("Locals", "number", "inner"),
        ("Locals", "number (shadowed)", "outer"),
        ("Statics", "choice", "choice"),
        ("Statics", "mine", "mine"),
    ] {
        let variable = session.variable(&stop.top, scope, name);
        let declared = at(variable.declaration_location_reference);
        assert_eq!(declared, fixture.line(mark), "{name}");
    }
    // Thread-local variables are among the statics, with the value of this thread.
    assert_eq!(session.variable(&stop.top, "Statics", "mine").value, "5");

    let choice = session.variable(&stop.top, "Statics", "choice");
    assert_eq!(at(choice.value_location_reference), fixture.line("twice"));
    for expression in ["choice", "twice"] {
        let arguments = EvaluateArguments::new(expression).with_frame_id(stop.top.id);
        let value = session.ok::<EvaluateRequest>(arguments);
        let leads = at(value.value_location_reference);
        assert_eq!(leads, fixture.line("twice"), "{expression}");
    }
    let number = session.variable(&stop.top, "Locals", "number");
    assert_eq!(number.value_location_reference, None);

    // Code without debug information has no known location.
    let bare = session.variable(&stop.top, "Statics", "unknown");
    let reference = bare.value_location_reference.expect("it is code");
    let refusal = session.refused::<LocationsRequest>(LocationsArguments::new(reference));
    assert_eq!(
        refusal.sentence,
        "no debug information says what source that code is of"
    );
    let refusal = session.refused::<LocationsRequest>(LocationsArguments::new(99_999));
    assert!(refusal.sentence.contains("there is no location 99999"));

    let stale = number.declaration_location_reference.expect("a reference");
    session.resume(stop.thread);
    assert_eq!(session.exit_code(), 3);
    session.refused::<LocationsRequest>(LocationsArguments::new(stale));
    session.disconnect();
}
