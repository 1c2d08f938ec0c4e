//! Finds functions that are too long to be read at once.
//!
//! A function's length is counted from the line of its `fn` to that of its closing brace, in shipped code only. Flat tables are the
//! exception, each in the list of this module with the reason.

use super::rules::GENERATED;
use super::source::Source;
use super::{Finding, Rule};

/// The most lines of a function.
const MAX_LINES: usize = 80;

/// A function that may be longer: its file, its name and the reason.
type Exception = (&'static str, &'static str, &'static str);

/// The functions that may be longer.
const EXCEPTIONS: &[Exception] = &[
    (
        "crates/inspect/src/values/cpp.rs",
        "view",
        "a table: one line for each type of the C++ library",
    ),
    (
        "crates/inspect/src/values/rust.rs",
        "of_library",
        "a table: one line for each type of Rust's library",
    ),
];

/// A function with a body. Lines count from 0.
struct Function<'c> {
    name: &'c str,
    first_line: usize,
    lines: usize,
}

/// Finds functions that are too long, and exceptions that are no longer needed.
pub(super) fn check(sources: &[Source], findings: &mut Vec<Finding>) {
    check_with(sources, EXCEPTIONS, findings);
}

fn check_with(sources: &[Source], exceptions: &[Exception], findings: &mut Vec<Finding>) {
    let too_long = Rule {
        name: "long function",
        remedy: "cut it where one part's result is all that the next part needs",
    };
    let stale = Rule {
        name: "long function",
        remedy: "take the exception out of xtask/src/tidy/long_functions.rs",
    };
    let mut used = vec![false; exceptions.len()];
    for source in sources.iter().filter(|source| is_checked(source)) {
        for function in functions(source) {
            if function.lines <= MAX_LINES {
                continue;
            }
            let exception = exceptions
                .iter()
                .position(|(path, name, _)| *path == source.path && *name == function.name);
            if let Some(index) = exception {
                used[index] = true;
                continue;
            }
            let what = format!(
                "`{}` has {} lines, more than {MAX_LINES}",
                function.name, function.lines
            );
            findings.push(Finding::new(
                &source.path,
                function.first_line,
                too_long,
                what,
            ));
        }
    }
    for ((path, name, _), _) in exceptions.iter().zip(used).filter(|(_, used)| !used) {
        let what = format!("no function `{name}` has more than {MAX_LINES} lines");
        findings.push(Finding::new(path, 0, stale, what));
    }
}

/// Whether the file has shipped code that is written by hand.
fn is_checked(source: &Source) -> bool {
    let is_source = source.is_in("xtask/src/") || source.is_in("crates/");
    let is_shipped = is_source && source.path.contains("/src/") && source.tests_from > 0;
    source.is_rust() && is_shipped && source.path != GENERATED
}

/// The shipped functions that have a body, in the order of their first lines.
fn functions(source: &Source) -> Vec<Function<'_>> {
    let code = &source.code;
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let rest = &code[at + "fn ".len()..];
        let name = rest.split(|c| !is_name(c)).next().unwrap_or_default();
        if name.is_empty() || code[..at].ends_with(is_name) {
            continue;
        }
        let first_line = code[..at].matches('\n').count();
        if first_line >= source.tests_from {
            break;
        }
        if let Some(length) = length_with_body(rest) {
            let lines = rest[..length].matches('\n').count() + 1;
            found.push(Function {
                name,
                first_line,
                lines,
            });
        }
    }
    found
}

/// The length of a function's code from its name to its closing brace; `None` for a declaration.
fn length_with_body(code: &str) -> Option<usize> {
    // Parentheses and brackets that are open: a `;` or a brace within them is part of a type.
    let mut nested = 0_usize;
    let mut braces = 0_usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' if braces == 0 => nested += 1,
            b')' | b']' if braces == 0 => nested = nested.saturating_sub(1),
            _ if nested > 0 => {}
            b';' if braces == 0 => return None,
            b'{' => braces += 1,
            b'}' => {
                braces = braces.checked_sub(1)?;
                if braces == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of `lines` lines.
    fn function(name: &str, lines: usize) -> String {
        format!(
            "fn {name}() {{\n{}}}\n",
            "    if a {}\n".repeat(lines.saturating_sub(2))
        )
    }

    fn found_with(exceptions: &[Exception], files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new(path, text))
            .collect();
        let mut findings = Vec::new();
        check_with(&sources, exceptions, &mut findings);
        findings
            .into_iter()
            .map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.what))
            .collect()
    }

    #[test]
    fn a_function_of_81_lines_is_found_and_one_of_80_is_not() {
        let text = function("short", 80) + &function("long", 81);
        let found = found_with(&[], &[("crates/a/src/b.rs", &text)]);
        assert_eq!(
            found,
            ["crates/a/src/b.rs:81: `long` has 81 lines, more than 80"]
        );
        assert_eq!(found_with(&[], &[("xtask/src/b.rs", &text)]).len(), 1);
    }

    #[test]
    fn tests_generated_files_and_debuggees_may_be_longer() {
        let text = function("long", 100);
        let in_module = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        let files = [
            ("crates/a/src/b.rs", in_module.as_str()),
            ("crates/a/src/tests.rs", &text),
            ("crates/a/src/b_tests.rs", &text),
            ("crates/a/tests/b.rs", &text),
            (GENERATED, &text),
            ("fixtures/b.rs", &text),
        ];
        assert_eq!(found_with(&[], &files), [""; 0]);
    }

    #[test]
    fn a_function_ends_at_its_own_closing_brace() {
        let blank = "\n".repeat(100);
        let rest = [
            "trait A {\n    fn declared(&self, a: [u8; 4]) -> u8;\n",
            &blank,
            "    fn has_body(&self, a: [u8; 4]) -> [u8; { 2 }]\n    where\n        B: C,\n    {\n    }\n}\n",
            &blank,
            "const POINTER: fn (u8) -> u8 = a;\n",
            "fn literals() { let a = ('{', \"{ fn inner() {\"); } // {\n",
            &blank,
        ]
        .concat();
        assert_eq!(found_with(&[], &[("crates/a/src/b.rs", &rest)]), [""; 0]);
    }

    #[test]
    fn a_method_in_an_outer_function_counts_for_both() {
        let inner = function("inner", 90);
        let text = format!("fn outer() {{\n{inner}}}\n");
        let found = found_with(&[], &[("crates/a/src/b.rs", &text)]);
        assert_eq!(
            found,
            [
                "crates/a/src/b.rs:1: `outer` has 92 lines, more than 80",
                "crates/a/src/b.rs:2: `inner` has 90 lines, more than 80"
            ]
        );
    }

    #[test]
    fn an_exception_holds_for_its_function_only_and_is_found_once_not_needed() {
        let path = "crates/a/src/b.rs";
        let text = function("table", 90) + &function("short", 3) + &function("other", 90);
        let exceptions = [
            (path, "table", "a flat table"),
            (path, "short", "it was long"),
            ("crates/a/src/gone.rs", "table", "its file was here"),
        ];
        assert_eq!(
            found_with(&exceptions, &[(path, &text)]),
            [
                "crates/a/src/b.rs:94: `other` has 90 lines, more than 80",
                "crates/a/src/b.rs:1: no function `short` has more than 80 lines",
                "crates/a/src/gone.rs:1: no function `table` has more than 80 lines"
            ]
        );
    }
}
