//! `dapple/symbols`: functions, variables and types by a regular expression.

use crate::support::{Fixture, Session, initialize_arguments};
use dapple_adapter::{
    ServeOptions, ShownSymbol, SymbolKind, SymbolsArguments, SymbolsRequest, SymbolsResponse,
};
use dapple_dap::types::StoppedEvent;
use serde_json::json;

fn arguments(kind: SymbolKind, pattern: &str) -> SymbolsArguments {
    SymbolsArguments {
        kind,
        pattern: Some(pattern.to_owned()).filter(|pattern| !pattern.is_empty()),
    }
}

/// The names that match.
#[track_caller]
fn listed(session: &Session, kind: SymbolKind, pattern: &str) -> SymbolsResponse {
    session.ok::<SymbolsRequest>(arguments(kind, pattern))
}

fn names(found: &SymbolsResponse) -> Vec<&str> {
    found.symbols.iter().map(|one| &*one.name).collect()
}

#[test]
fn names_have_types_and_declarations_in_lines_as_the_client_counts_them() {
    let fixture = Fixture::new("tour.c");
    let from_zero = initialize_arguments().with_lines_start_at1(false);
    let session = Session::serving(ServeOptions::default(), from_zero);
    session.launch(&fixture, json!({}));
    session.set_breakpoints(&fixture, &["sum"]);
    session.configured();
    session.wait_for::<StoppedEvent>();
    let functions = listed(&session, SymbolKind::Functions, "");
    let expected = [
        "add(struct town *, const char *, double, double, double)",
        "classify(double)",
        "length(const struct town *)",
        "main()",
        "mean(const double *, int)",
    ];
    assert_eq!(names(&functions), expected, "{functions:?}");
    let line = std::fs::read_to_string(fixture.path()).expect("the source");
    let line = line.lines().position(|line| line.contains("int visits"));
    let variables = listed(&session, SymbolKind::Variables, "^vis");
    let expected = ShownSymbol {
        name: "visits".to_owned(),
        r#type: Some("int".to_owned()),
        path: Some(fixture.path()),
        line: line.map(|line| line as i64),
    };
    assert_eq!(variables.symbols, [expected]);
    let types = listed(&session, SymbolKind::Types, "town|weather");
    assert_eq!(names(&types), ["enum weather", "struct town"], "{types:?}");
    session.disconnect();
}

#[test]
fn libraries_names_come_if_nothing_of_the_users_matches() {
    let fixture = Fixture::new("functions.cpp");
    let session = Session::started(&fixture, json!({}), &["say"]);
    session.wait_for::<StoppedEvent>();
    let both = listed(&session, SymbolKind::Types, "^plane::|^std::");
    assert!(
        !both.symbols.is_empty() && both.symbols.iter().all(|one| one.name.contains("plane::")),
        "{both:?}"
    );
    assert!(both.of_libraries > 0, "{}", both.of_libraries);
    let theirs = listed(&session, SymbolKind::Types, "^std::");
    assert_eq!(theirs.of_libraries, 0);
    assert_eq!(theirs.symbols.len() + theirs.omitted, both.of_libraries);
    let system = listed(&session, SymbolKind::Functions, "^getenv$");
    assert_eq!(names(&system), ["getenv"], "{system:?}");
    let none = listed(&session, SymbolKind::Functions, "^nonesuch$");
    assert_eq!(names(&none), Vec::<&str>::new());
    let refused = session.refused::<SymbolsRequest>(arguments(SymbolKind::Types, "["));
    assert!(
        refused.sentence.contains("regular expression `[`"),
        "{refused:?}"
    );
    session.disconnect();
}
