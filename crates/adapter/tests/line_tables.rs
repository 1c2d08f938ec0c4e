//! Breakpoints on every line of optimized programs, checked against the line table as objdump reads it. A breakpoint on a line that has a
//! statement stays there. Any other moves to the next line with code, and says so.

use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const PROGRAMS: [&str; 15] = [
    "callers.c",
    "conditions.c",
    "faults.c",
    "gaps.c",
    "optimised.c",
    "step.c",
    "switched.c",
    "tour.c",
    "values.c",
    "visits.c",
    "assigned.cpp",
    "members.cpp",
    "step.cpp",
    "throws.cpp",
    "values.cpp",
];

/// The program, built by each installed compiler at each optimization level.
fn built(name: &str) -> Vec<(String, Fixture)> {
    let compilers = match name.ends_with(".c") {
        true => ["gcc", "clang-22"],
        false => ["g++", "clang++-22"],
    };
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let here = compilers.into_iter().filter(runs);
    here.flat_map(|compiler| {
        ["-O2", "-O3"].map(|level| {
            let fixture = Fixture::compiled_with(compiler, name, &["-g", level, "-pthread"]);
            (format!("{name} by {compiler} {level}"), fixture)
        })
    })
    .collect()
}

/// The lines of the source that have a statement, according to objdump's reading of the line table.
fn statements(fixture: &Fixture) -> BTreeSet<i64> {
    let mut command = Command::new("objdump");
    command.args(["--dwarf=decodedline"]).arg(&fixture.binary);
    let output = command.output().expect("objdump comes with gcc");
    let source = fixture.source.file_name().unwrap_or_default();
    // objdump shortens long paths at their front.
    let source = source.to_string_lossy();
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (file, line) = (words.first()?, words.get(1)?);
        let is_statement = words.last() == Some(&"x");
        (file.ends_with(&*source) && is_statement).then(|| line.parse().ok())?
    };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(row)
        .filter(|line| *line > 0)
        .collect()
}

/// The number of answers of each kind.
#[derive(Debug, Default)]
struct Counts {
    exact: usize,
    opening: usize,
    moved: usize,
    unverified: usize,
}

#[test]
fn each_line_keeps_its_breakpoint_or_says_where_it_has_gone() {
    let mut wrong = Vec::new();
    let mut counts = Counts::default();
    for (what, fixture) in PROGRAMS.into_iter().flat_map(built) {
        let found = judged(&fixture, &mut counts);
        wrong.extend(found.into_iter().map(|it| format!("{what}: {it}")));
    }
    assert!(
        wrong.is_empty(),
        "{} wrong, {counts:?}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let each = [
        counts.exact,
        counts.opening,
        counts.moved,
        counts.unverified,
    ];
    assert!(each.iter().all(|count| *count > 40), "{counts:?}");
}

/// Errors in the answers for the lines of a program.
fn judged(fixture: &Fixture, counts: &mut Counts) -> Vec<String> {
    let statements = statements(fixture);
    assert!(!statements.is_empty(), "{}", fixture.binary.display());
    let session = Session::new();
    session.launch(fixture, json!({}));
    let text = std::fs::read_to_string(&fixture.source).expect("the source");
    let lines: Vec<i64> = (1..=text.lines().count() as i64).collect();
    let set = session.set_lines(&fixture.path(), &lines);
    session.disconnect();
    let answers: BTreeMap<i64, &Breakpoint> = lines.iter().copied().zip(&set).collect();
    let wrong = answers.iter().filter_map(|(line, answer)| {
        let next = statements.range(line + 1..).next();
        let next = next.and_then(|next| answers.get(next)?.line);
        let has_own = statements.contains(line);
        let reason = judge(*line, answer, has_own, next, counts)?;
        Some(format!("line {line} {reason}: {answer:?}"))
    });
    wrong.collect()
}

/// The error in a line's answer. `next` is the line to which a breakpoint on the next line with a statement resolves.
fn judge(
    line: i64,
    answer: &Breakpoint,
    has_own: bool,
    next: Option<i64>,
    counts: &mut Counts,
) -> Option<&'static str> {
    let message = answer.message.as_deref().unwrap_or_default();
    let at = answer.line.unwrap_or_default();
    let (opens, moves) = (
        format!("a function begins on line {line}; moved to line {at},"),
        format!("no code on line {line}; moved to line {at},"),
    );
    match (answer.verified, at == line) {
        (true, true) if message.is_empty() => counts.exact += 1,
        (true, true) => return Some("has a message, and stays"),
        (true, false) if at < line => return Some("is told to be before it"),
        (true, false) if message.starts_with(&opens) => counts.opening += 1,
        (true, false) if !message.starts_with(&moves) => return Some("moves without a word"),
        (true, false) if has_own => return Some("has a statement, and moves"),
        (true, false) if next.is_some_and(|next| at > next) => {
            return Some("moves past a line with a statement");
        }
        (true, false) => counts.moved += 1,
        (false, _) if has_own => return Some("has a statement, and no breakpoint"),
        (false, _) if !message.contains("no code on line") => return Some("has no reason"),
        (false, _) => counts.unverified += 1,
    }
    None
}

/// How often each marked line stops in one run of the program.
fn stops(fixture: &Fixture, what: &str, marks: &[&str]) -> Vec<usize> {
    let lines: Vec<i64> = marks.iter().map(|mark| fixture.line(mark)).collect();
    let session = Session::started(fixture, json!({}), marks);
    let mut counts = vec![0; marks.len()];
    while session.ends_or_stops() {
        let event = session.wait_for::<StoppedEvent>();
        let thread = event.thread_id.expect("a thread");
        let top = session.stack(thread).remove(0);
        let at = lines.iter().position(|line| *line == top.line);
        let at = at.unwrap_or_else(|| panic!("{what}: at line {}", top.line));
        counts[at] += 1;
        session.resume(thread);
    }
    session.disconnect();
    counts
}

#[test]
fn each_visit_of_a_line_with_several_statements_is_one_stop() {
    for (what, fixture) in built("visits.c") {
        assert_eq!(
            stops(&fixture, &what, &["extra", "behind"]),
            [12, 24],
            "{what}"
        );
    }
}

#[test]
fn each_visit_of_a_line_in_or_behind_a_switch_is_one_stop() {
    for (what, fixture) in built("switched.c") {
        assert_eq!(
            stops(&fixture, &what, &["inside", "behind"]),
            [3, 24],
            "{what}"
        );
    }
}
