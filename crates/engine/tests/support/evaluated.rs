//! Checks of expressions where a program stops.

use super::{Fixture, listing};

/// As [`check`], for the cases in a text: an expression on a line, its value or error on the next, and an empty line before the next case.
#[track_caller]
pub fn check_listed(fixture: &Fixture, stop: &str, listed: &str) {
    let cases = listed.trim_end().split("\n\n").map(|case| {
        let case = case.split_once('\n');
        case.expect("an expression and its value or error")
    });
    check(fixture, stop, &cases.collect::<Vec<_>>());
}

/// Checks the value or error of each expression where the program stops.
#[track_caller]
pub fn check(fixture: &Fixture, stop: &str, expected: &[(&str, &str)]) {
    let mut debuggee = fixture.launch();
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let mut wrong = Vec::new();
    for (expression, text) in expected {
        let found = match session.evaluate(expression, Some(frame)) {
            Ok((named, rendered)) => {
                assert_eq!(named.name, expression.trim());
                listing::mask(&rendered.text)
            }
            Err(error) => format!("error: {error}"),
        };
        if found != *text {
            wrong.push(format!(
                "{expression}\n  is       {found}\n  expected {text}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
