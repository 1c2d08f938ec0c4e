//! An object's dynamic type can be expanded: each child of the object and of its bases has an expression that evaluates to the child.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// Checks that the expression of each child, down to `depth`, evaluates to the child's value. Returns the number of children.
fn check(session: &Session, frame: &StackFrame, of: &Variable, depth: usize) -> usize {
    if of.variables_reference == 0 || depth == 0 {
        return 0;
    }
    let mut checked = 0;
    for child in session.variables(of.variables_reference) {
        if child.name.starts_with("_vptr") || child.name == "[raw]" {
            continue;
        }
        let name = child.evaluate_name.clone();
        let name =
            name.unwrap_or_else(|| panic!("{} of {} has no expression", child.name, of.name));
        let arguments = EvaluateArguments::new(name.as_str())
            .with_frame_id(frame.id)
            .with_context(EvaluateArgumentsContext::Watch);
        let again = session.ok::<EvaluateRequest>(arguments);
        // The value of a base class says which object the base is a part of, so it differs from the child's value.
        if !again.result.starts_with('<') {
            assert_eq!(again.result, child.value, "{name}");
        }
        checked += 1 + check(session, frame, &child, depth - 1);
    }
    checked
}

#[test]
fn each_part_of_an_object_has_an_expression_that_gives_it() {
    let fixture = Fixture::new("members.cpp");
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    for (name, least) in [
        ("shape", 6),
        ("as_shape", 6),
        ("second", 8),
        ("both_of", 4),
        ("bottom", 6),
    ] {
        let variable = session.variable(&stop.top, "Locals", name);
        let checked = check(&session, &stop.top, &variable, 4);
        assert!(checked >= least, "only {checked} parts of {name}");
    }
    // The complete object is a child, and has the members that only the dynamic type has.
    let shape = session.variable(&stop.top, "Locals", "shape");
    let children = session.variables(shape.variables_reference);
    let whole = children.iter().find(|child| child.name == "[Circle]");
    let whole = whole.unwrap_or_else(|| panic!("{children:?}"));
    let parts = session.variables(whole.variables_reference);
    let radius = parts
        .iter()
        .find(|child| child.name == "radius")
        .expect("a radius");
    let name = radius.evaluate_name.as_deref().expect("an expression");
    let arguments = SetExpressionArguments::new(name, "4").with_frame_id(stop.top.id);
    session.ok::<SetExpressionRequest>(arguments);
    assert_eq!(session.evaluate(&stop.top, "circle.radius"), "4");
    session.disconnect();
}

#[test]
fn what_is_in_a_namespace_without_a_name_has_an_expression_that_gives_it() {
    let fixture = Fixture::new("unnamed_namespaces.cpp");
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    for (name, least) in [("posix", 4), ("empty", 4), ("wrapped", 6), ("owned", 4)] {
        let variable = session.variable(&stop.top, "Locals", name);
        let checked = check(&session, &stop.top, &variable, 4);
        assert!(checked >= least, "only {checked} parts of {name}");
    }
    for (name, value, set) in [
        ("library::(anonymous namespace)::opened", "5", "50"),
        ("(anonymous namespace)::closed", "4", "40"),
    ] {
        let variable = session.variable(&stop.top, "Statics", name);
        let expression = variable.evaluate_name.expect("an expression");
        assert_eq!(session.evaluate(&stop.top, &expression), value);
        let arguments = SetExpressionArguments::new(&expression, set).with_frame_id(stop.top.id);
        session.ok::<SetExpressionRequest>(arguments);
        assert_eq!(session.evaluate(&stop.top, &expression), set);
    }
    for (expression, value) in [
        (
            "((library::(anonymous namespace)::Posix *)posix)->files + 1",
            "8",
        ),
        ("sizeof(library::(anonymous namespace)::Posix)", "16"),
        ("*&::(anonymous namespace)::closed", "40"),
        (
            "dynamic_cast<library::(anonymous namespace)::Wrapped<library::(anonymous namespace)::Posix> *>(wrapped)->inner.files",
            "7",
        ),
        (
            "library::(anonymous namespace)::Posix",
            "struct library::(anonymous namespace)::Posix : Environment {int files;} (16 bytes)",
        ),
    ] {
        assert_eq!(
            session.evaluate(&stop.top, expression),
            value,
            "{expression}"
        );
    }
    session.disconnect();
}
