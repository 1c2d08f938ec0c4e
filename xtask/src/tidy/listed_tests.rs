//! Checks that every test file is part of its crate's test program. The tests of a file that `tests/main.rs` doesn't declare would silently
//! never run.

use super::source::Source;
use super::{Finding, Rule};

/// Finds test files that the crate's `tests/main.rs` doesn't declare.
pub(super) fn check(sources: &[Source], findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "listed tests",
        remedy: "name it in the `main.rs` beside it, or its tests never run",
    };
    for main in sources {
        let Some(folder) = main.path.strip_suffix("main.rs") else {
            continue;
        };
        if !folder.ends_with("/tests/") {
            continue;
        }
        for source in sources {
            let name = source.path.strip_prefix(folder);
            let Some(name) = name.and_then(|name| name.strip_suffix(".rs")) else {
                continue;
            };
            let listed = format!("mod {name};");
            if name != "main" && !name.contains('/') && !main.text.lines().any(|it| it == listed) {
                let what = format!("{} has no `{listed}`", main.path);
                findings.push(Finding::new(&source.path, 0, rule, what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_tests_that_is_not_in_their_program_is_found() {
        let source = |path: &str, text: &str| Source::new(path, text);
        let sources = [
            source(
                "crates/a/tests/main.rs",
                "//! D.\n\nmod one;\nmod two_and_more;\n",
            ),
            source("crates/a/tests/one.rs", ""),
            source("crates/a/tests/two.rs", ""),
            source("crates/a/tests/support/three.rs", ""),
            source("crates/b/tests/four.rs", ""),
            source("crates/a/src/main.rs", "mod five;"),
            source("crates/a/src/six.rs", ""),
        ];
        let mut findings = Vec::new();
        check(&sources, &mut findings);
        let found: Vec<&str> = findings.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(found, ["crates/a/tests/two.rs"]);
    }
}
