//! What expressions come to where a program stops.

use super::{Fixture, listing};

/// Evaluates each expression where the program stops; `expression → text` or the error.
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
