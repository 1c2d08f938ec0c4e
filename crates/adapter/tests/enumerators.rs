//! Constants of enumerations are found where the language puts them: as bare names, or in a namespace or type.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;

/// Checks the values of expressions at a fixture's mark, in the console and in a watch.
fn check(name: &str, mark: &str, expected: &[(&str, &str)]) {
    let fixture = Fixture::new(name);
    let session = Session::started(&fixture, json!({}), &[mark]);
    let stop = session.stopped_at(&fixture, mark, StoppedEventReason::Breakpoint);
    for (expression, value) in expected {
        for context in [
            EvaluateArgumentsContext::Repl,
            EvaluateArgumentsContext::Watch,
        ] {
            let arguments = EvaluateArguments::new(*expression)
                .with_frame_id(stop.top.id)
                .with_context(context);
            let answer = session.ok::<EvaluateRequest>(arguments);
            assert_eq!(answer.result, *value, "{expression}");
        }
    }
    session.disconnect();
}

#[test]
fn constants_of_an_enumeration_without_a_name_are_known_in_c() {
    check(
        "enumerators.c",
        "end",
        &[
            ("Capacity", "Capacity"),
            ("Capacity + 1", "4"),
            ("slots[Capacity - 3] == Mask", "true"),
            ("level == High", "true"),
            ("High", "High"),
        ],
    );
}

#[test]
fn constants_of_enumerations_in_namespaces_are_known_by_their_paths() {
    check(
        "enumerators.cpp",
        "end",
        &[
            ("store::Fast", "Fast"),
            ("::store::Fast + 1", "5"),
            ("mode == store::Fast", "true"),
            ("store::Limit + 0", "12"),
            ("store::Inner + 0", "21"),
            ("store::(anonymous namespace)::Inner + 0", "21"),
            ("store::deep::Deepest + 0", "33"),
            ("Outside + 0", "40"),
            ("store::Kind::Packed", "Packed"),
        ],
    );
    check(
        "enumerators.cpp",
        "inside",
        &[("deep::Deepest + 0", "33"), ("Limit + 0", "12")],
    );
}

#[test]
fn constants_of_an_enum_class_are_behind_its_name() {
    let fixture = Fixture::new("enumerators.cpp");
    let session = Session::started(&fixture, json!({}), &["end"]);
    let stop = session.stopped_at(&fixture, "end", StoppedEventReason::Breakpoint);
    let arguments = EvaluateArguments::new("store::Packed")
        .with_frame_id(stop.top.id)
        .with_context(EvaluateArgumentsContext::Watch);
    let refused = session.refused::<EvaluateRequest>(arguments).sentence;
    assert!(refused.contains("no variable `store::Packed`"), "{refused}");
    session.disconnect();
}
