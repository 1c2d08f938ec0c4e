//! Breakpoints on every line of optimized programs: the program stops on the lines that the answers name.

use crate::support::{Fixture, Session, file_of};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::Command;

const PROGRAMS: [&str; 10] = [
    "callers.c",
    "optimised.c",
    "step.c",
    "tour.c",
    "callers.cpp",
    "functions.cpp",
    "guide.cpp",
    "inline.cpp",
    "members.cpp",
    "tour.cpp",
];

/// How many stops of a program are checked.
const STOPS: usize = 40;

/// The installed compilers for a source.
fn compilers(name: &str) -> Vec<&'static str> {
    let all = match name.ends_with(".c") {
        true => ["gcc", "clang-22"],
        false => ["g++", "clang++-22"],
    };
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    all.into_iter().filter(runs).collect()
}

#[test]
fn each_line_stops_where_it_is_told_to_be() {
    let mut wrong = Vec::new();
    for name in PROGRAMS {
        for compiler in compilers(name) {
            for level in ["-O2", "-O3"] {
                let fixture = Fixture::compiled_with(compiler, name, &["-g", level]);
                let found = mismatches(&fixture);
                wrong.extend(
                    found
                        .into_iter()
                        .map(|it| format!("{compiler} {level} {it}")),
                );
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Answers that don't match the stops of the program.
fn mismatches(fixture: &Fixture) -> Vec<String> {
    let session = Session::new();
    session.launch(fixture, json!({}));
    let text = std::fs::read_to_string(&fixture.source).expect("the source");
    let lines: Vec<i64> = (1..=text.lines().count() as i64).collect();
    let set = session.set_lines(&fixture.path(), &lines);
    let mut wrong = Vec::new();
    let mut told: BTreeMap<i64, i64> = BTreeMap::new();
    for (line, breakpoint) in lines.iter().zip(&set) {
        let (Some(id), Some(at), true) = (breakpoint.id, breakpoint.line, breakpoint.verified)
        else {
            continue;
        };
        told.insert(id, at);
        if at < *line {
            wrong.push(format!("{line} is told to be at {at}"));
        }
    }
    session.configured();
    for _ in 0..STOPS {
        if !session.ends_or_stops() {
            break;
        }
        let stop = session.wait_for::<StoppedEvent>();
        let thread = stop.thread_id.expect("a thread");
        let ids = stop.hit_breakpoint_ids.unwrap_or_default();
        let top = session.stack(thread).remove(0);
        let lines: Vec<i64> = ids.iter().filter_map(|id| told.get(id).copied()).collect();
        let is_here = file_of(&top) == Some(fixture.path()) && lines.contains(&top.line);
        if !ids.is_empty() && !is_here {
            let (function, line) = (&top.name, top.line);
            wrong.push(format!(
                "told to be at {lines:?}, stops at {line} in {function}"
            ));
        }
        session.resume(thread);
    }
    session.disconnect();
    let name = fixture.source.file_name().unwrap_or_default();
    let named = |what| format!("{}: {what}", name.display());
    wrong.into_iter().map(named).collect()
}
