//! Members, methods and names of C++ through pointers, smart pointers, casts and dynamic types: the values equal those of gdb.
//!
//! The expressions are in a file with gdb's answers, for machines without gdb. An installed gdb is asked, too. Expressions for which Dapple's
//! answer differs on purpose are in a table here, with the reason.

use crate::support::setting::evaluated;
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::Command;

/// Expressions in `main` for which Dapple's answer differs from gdb's on purpose.
const OTHERWISE: &[(&str, &str)] = &[
    // gdb loses the object's address if the pointer's class isn't the first base, or refuses the cast because it says that the argument has
    // no class type.
    ("dynamic_cast<Circle *>(shape)->radius", "2"),
    ("dynamic_cast<Circle &>(*shape).id", "22"),
    ("dynamic_cast<Ring &>(as_shape).inside", "1"),
    ("dynamic_cast<Both *>(second)->both", "9"),
    ("dynamic_cast<Both *>(second)->tag", "5"),
    ("dynamic_cast<Both *>(named)->number", "0"),
    ("dynamic_cast<Bottom *>(left)->right", "33"),
    // Members that only the dynamic type has need no cast. gdb needs `set print object on`, which makes `shape->id` another member than in
    // C++.
    ("shape->radius", "2"),
    ("(*shape).radius", "2"),
    ("as_shape.inside", "1"),
    ("second->both", "9"),
    ("second->tag", "5"),
    ("owned->inside", "1"),
    ("kept->both", "9"),
    ("left->bottom", "34"),
    ("shape->across()", "4"),
    ("as_shape.across()", "4"),
    ("owned->across()", "4"),
    // A qualified name calls that class's function. gdb passes a wrong object.
    ("circle.Shape::area()", "1"),
    ("ring.Circle::area()", "12"),
    // The object's vtable says where a virtual base is. gdb uses a wrong address when it casts to a reference.
    ("((Root &)bottom).root", "31"),
    ("static_cast<Root &>(*left).root", "31"),
    (
        "static_cast<Root &>(static_cast<Left &>(bottom)).root",
        "31",
    ),
    // gdb can't call objects.
    ("price(5)", "255"),
    // A namespace can be left out if the name is unique.
    ("Price::made", "7"),
];

/// The answers of gdb 13 and gdb 18, a line each: the mark, the expression and the answer, separated by tabs.
const RECORDED: &str = include_str!("members_as_gdb.tsv");

/// The expressions at a mark with gdb's recorded answers.
fn recorded(mark: &str) -> Vec<(&'static str, &'static str)> {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().expect("a row of three fields");
        (field(), field(), field())
    });
    rows.filter(|(at, _, _)| *at == mark)
        .map(|(_, expression, answer)| (expression, answer))
        .collect()
}

/// The answers of the installed gdb at a mark, by expression. `None` if there is no gdb, or if it can't call functions, as gdb 13 can't on
/// a processor with more registers (AMX) than it supports.
fn said_by_gdb(
    fixture: &Fixture,
    mark: &str,
    table: &[(&str, &str)],
) -> Option<BTreeMap<String, String>> {
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-iex", "set debuginfod enabled off"]);
    gdb.args(["-ex", "set breakpoint pending off", "-ex", "set width 0"]);
    gdb.args(["-ex", &format!("break members.cpp:{}", fixture.line(mark))]);
    gdb.args(["-ex", "run > /dev/null"]);
    for (index, (expression, _)) in table.iter().enumerate() {
        gdb.args(["-ex", &format!("echo \\n@{index}@\\n")]);
        gdb.args(["-ex", &format!("output {expression}")]);
    }
    let output = gdb.arg(fixture.program()).output().ok()?;
    if String::from_utf8_lossy(&output.stderr).contains("Couldn't write extended state") {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = table.iter().enumerate().map(|(index, (expression, _))| {
        let start = text
            .split_once(&format!("\n@{index}@\n"))
            .map_or("", |(_, rest)| rest);
        let said = start.split_once("\n@").map_or(start, |(said, _)| said);
        (
            (*expression).to_owned(),
            said.lines().next().unwrap_or_default().to_owned(),
        )
    });
    Some(said.collect())
}

/// A value in a form that both debuggers have in common: `2.0` is `2`, `101 'e'` is `101`, and gdb's text for a reference loses its
/// address.
fn plain(text: &str) -> String {
    let text = match text
        .strip_prefix('(')
        .and_then(|text| text.split_once(" &) @"))
    {
        Some((_, rest)) => rest.split_once(": ").map_or(rest, |(_, value)| value),
        None => text,
    };
    let number = text.split(" '").next().unwrap_or(text);
    match number.parse::<f64>() {
        Ok(number) => number.to_string(),
        Err(_) => text.to_owned(),
    }
}

/// Compares Dapple's answers with those in the table, and with those of `gdb`, if it has been asked.
fn compare(
    fixture: &Fixture,
    mark: &str,
    table: &[(&str, &str)],
    gdb: Option<&BTreeMap<String, String>>,
) {
    let session = Session::started(fixture, json!({}), &[mark]);
    let stop = session.stopped_at(fixture, mark, StoppedEventReason::Breakpoint);
    let mut wrong = Vec::new();
    for (expression, expected) in table {
        let context = EvaluateArgumentsContext::Repl;
        let ours = evaluated(&session, &stop.top, expression, context);
        if plain(&ours) != plain(expected) || ours.is_empty() {
            wrong.push(format!("{expression}: {ours}\n    instead of: {expected}"));
        }
        let live = gdb.map(|gdb| &gdb[*expression]);
        if live.is_some_and(|live| plain(live) != plain(&ours)) {
            wrong.push(format!("{expression}: {ours}\n    gdb says: {live:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        table.len(),
        wrong.join("\n")
    );
    session.disconnect();
}

#[test]
fn members_and_names_are_what_gdb_says() {
    let fixture = Fixture::new("members.cpp");
    let mut count = 0;
    for mark in ["end", "member"] {
        let table = recorded(mark);
        let gdb = said_by_gdb(&fixture, mark, &table);
        compare(&fixture, mark, &table, gdb.as_ref());
        count += table.len();
    }
    assert!(count >= 140);
    compare(&fixture, "end", OTHERWISE, None);
}
