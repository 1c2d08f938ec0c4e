//! C's variable-length arrays, whose lengths are stored in the frame.

use crate::support::{Fixture, clang, inline, inline_by, listing};
use dapple_engine::session::LineBreakpoint;

const SOURCE: &str = r#"
#include <stdio.h>
typedef int row;
static int sum(int n, int m, int grid[n][m]) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        total += grid[i][m - 1];
    }
    return total; // stop: passed
}
int main(int argc, char **argv) {
    int n = argc + 2;
    const row squares[n];
    int grid[n][argc + 1];
    char text[n + 2];
    for (int i = 0; i < n; i++) {
        ((int *)squares)[i] = i * i;
        grid[i][0] = i;
        grid[i][1] = 10 * i;
    }
    snprintf(text, sizeof text, "%d.", 100 * n);
    printf("%d %s\n", sum(n, argc + 1, grid), text); // stop: full
    return squares[n - 1];
}
"#;

fn check(fixture: &Fixture) {
    let mut debuggee = fixture.launch();
    let line = LineBreakpoint {
        line: fixture.line("full"),
        ..LineBreakpoint::default()
    };
    let session = debuggee.session();
    session
        .set_line_breakpoints(&fixture.source, vec![line])
        .unwrap();
    let (thread, _) = debuggee.run_to_breakpoint();
    listing::live_and_post_mortem(debuggee.session(), thread, |session, frame| {
        let shown = |expression: &str| {
            let found = session.evaluate(expression, Some(frame));
            found.map_or_else(|error| error.to_string(), |(_, rendered)| rendered.text)
        };
        assert_eq!(shown("squares"), "{0, 1, 4}");
        assert_eq!(shown("grid"), "{{0, 0}, {1, 10}, {2, 20}}");
        assert_eq!(shown("grid[2]"), "{2, 20}");
        assert_eq!(shown("grid[2][1]"), "20");
        assert_eq!(shown("text"), "\"300.\"");
        assert!(shown("squares[3]").contains("3"), "{}", shown("squares[3]"));
    });
}

#[test]
fn arrays_of_variable_length_have_theirs() {
    check(&inline("variable.c", SOURCE, &["-O0"]));
    check(&inline(
        "variable.c",
        SOURCE,
        &["-O1", "-gdwarf-4", "-fno-inline"],
    ));
}

#[test]
fn so_have_those_of_clang() {
    if let Some(clang) = clang() {
        check(&inline_by(&clang, "variable.c", SOURCE, &["-O0"]));
    }
}
