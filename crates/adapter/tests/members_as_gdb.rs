//! Members, methods and names of C++ through pointers, smart pointers, casts and dynamic types: the values equal those of gdb.
//!
//! The tests ask gdb for the same expressions at the same places. gdb's answers are also recorded in a file, for machines without gdb. If
//! Dapple's answer differs on purpose, it stands beside the expression, with the reason.

use crate::support::setting::evaluated;
use crate::support::{Fixture, Session};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::Command;

/// Expressions, with Dapple's answer if it differs from gdb's.
type Table = &'static [(&'static str, Option<&'static str>)];

/// Expressions in `main`.
const IN_MAIN: Table = &[
    // Members of objects, pointers, references and pointers to pointers.
    ("price.cents", None),
    ("pointer->cents", None),
    ("(*pointer).cents", None),
    ("reference.cents", None),
    ("fixed.cents", None),
    ("(*twice)->cents", None),
    ("(**twice).cents", None),
    ("(&price)->cents", None),
    ("(&reference)->cents", None),
    ("price.made", None),
    ("pointer->made", None),
    ("((shop::Price *)pointer)->cents", None),
    ("((const shop::Price *)pointer)->cents", None),
    ("static_cast<shop::Price *>(pointer)->cents", None),
    (
        "reinterpret_cast<shop::Price *>((void *)pointer)->cents",
        None,
    ),
    ("(*(shop::Price *)(void *)&price).cents", None),
    // Through smart pointers and other owners of the standard library.
    ("unique->cents", None),
    ("(*unique).cents", None),
    ("unique.get()->cents", None),
    ("(*unique.get()).cents", None),
    ("shared->cents", None),
    ("(*shared).cents", None),
    ("shared.get()->cents", None),
    ("owned->number", None),
    ("shapes[0]->number", None),
    ("shapes.size()", None),
    ("numbers[1]", None),
    ("numbers.size()", None),
    ("numbers[numbers.size() - 1]", None),
    ("pair_of[1]", None),
    ("pair_of._M_elems[1]", None),
    ("sold.first", None),
    ("sold.second.cents", None),
    ("sold.second.get()", None),
    ("list.owned->key", None),
    ("list.next->key", None),
    ("list.next->depth()", None),
    ("list.depth()", None),
    ("list.owned->depth()", None),
    ("text.size()", None),
    ("text.length()", None),
    ("text[1]", None),
    // Methods that have the same names as the library's.
    ("price.get()", None),
    ("pointer->get()", None),
    ("(*pointer).get()", None),
    ("reference.get()", None),
    ("fixed.get()", None),
    ("(&price)->get()", None),
    ("((shop::Price *)pointer)->get()", None),
    ("(*twice)->get()", None),
    ("unique->get()", None),
    ("unique.get()->get()", None),
    ("(*unique).get()", None),
    ("shared->get()", None),
    ("shared.get()->get()", None),
    ("(*shared).get()", None),
    ("arrow.get()", None),
    ("arrow->get()", None),
    ("arrow.own", None),
    ("arrow->cents", None),
    ("arrow.to->cents", None),
    ("price.size()", None),
    ("pointer->size()", None),
    ("unique->size()", None),
    ("shared->size()", None),
    ("price.empty()", None),
    ("unique->empty()", None),
    ("shared->empty()", None),
    ("price.at(3)", None),
    ("unique->at(3)", None),
    ("shared->at(3)", None),
    ("price.value()", None),
    ("unique->value()", None),
    ("maybe->cents", None),
    ("price.first(50)", None),
    ("price.twice(4)", None),
    ("price.twice(1.5)", None),
    ("unique->twice(4)", None),
    ("price.total(3)", None),
    ("shop::Price::total(3)", None),
    ("table.sum()", None),
    ("table.used", None),
    ("table.rows[2]", None),
    // Bases, and classes that hide their bases' members.
    ("circle.id", None),
    ("circle.Shape::id", None),
    ("((Shape &)circle).id", None),
    ("((Shape *)&circle)->id", None),
    ("static_cast<Shape &>(circle).id", None),
    ("circle.number", None),
    ("circle.corners()", None),
    ("circle.across()", None),
    ("circle.area()", None),
    ("circle.Circle::across()", None),
    ("ring.radius", None),
    ("ring.id", None),
    ("ring.Shape::id", None),
    ("ring.across()", None),
    ("ring.area()", None),
    ("both_of.tag", None),
    ("both_of.number", None),
    ("both_of.id", None),
    ("both_of.name()", None),
    ("both_of.area()", None),
    ("bottom.root", None),
    ("bottom.left", None),
    ("bottom.right", None),
    ("bottom.bottom", None),
    ("left->root", None),
    ("((Root *)&bottom)->root", None),
    ("left->left", None),
    // Dynamic types: virtual functions and casts.
    ("shape->area()", None),
    ("as_shape.area()", None),
    ("second->area()", None),
    ("owned->area()", None),
    ("kept->area()", None),
    ("shapes[0]->area()", None),
    ("named->name()", None),
    ("shape->id", None),
    ("second->id", None),
    ("dynamic_cast<Ring *>(shape) == 0", None),
    ("static_cast<Circle *>(shape)->radius", None),
    ("((Circle *)shape)->radius", None),
    // Names.
    ("count", None),
    ("::count", None),
    ("shop::count", None),
    ("shop::rate", None),
    ("shop::inner::depth", None),
    ("::shop::inner::depth", None),
    ("shop::Price::made", None),
    ("shop::inner::deeper(4)", None),
    ("called(4)", None),
    ("(*called)(4)", None),
    ("(int)size", None),
    ("size == shop::Size::Large", None),
    ("(int)shop::Size::Small", None),
    // Bit fields, arrays and nested members.
    ("bits.low", None),
    ("bits.middle", None),
    ("bits.high", None),
    ("bits.whole", None),
    ("grid[1][2]", None),
    ("*grid[1]", None),
    ("*(*(grid + 1) + 1)", None),
    ("(*grid)[1]", None),
    ("&grid[1][0] - &grid[0][0]", None),
    ("sizeof(price)", None),
    ("sizeof(shop::Price)", None),
    ("sizeof grid[0]", None),
];

/// Expressions in `main` for which Dapple's answer differs from gdb's on purpose.
const OTHERWISE: Table = &[
    // gdb loses the object's address if the pointer's class isn't the first base, or refuses the cast because it says that the argument has
    // no class type.
    ("dynamic_cast<Circle *>(shape)->radius", Some("2")),
    ("dynamic_cast<Circle &>(*shape).id", Some("22")),
    ("dynamic_cast<Ring &>(as_shape).inside", Some("1")),
    ("dynamic_cast<Both *>(second)->both", Some("9")),
    ("dynamic_cast<Both *>(second)->tag", Some("5")),
    ("dynamic_cast<Both *>(named)->number", Some("0")),
    ("dynamic_cast<Bottom *>(left)->right", Some("33")),
    // Members that only the dynamic type has need no cast. gdb needs `set print object on`, which makes `shape->id` another member than in
    // C++.
    ("shape->radius", Some("2")),
    ("(*shape).radius", Some("2")),
    ("as_shape.inside", Some("1")),
    ("second->both", Some("9")),
    ("second->tag", Some("5")),
    ("owned->inside", Some("1")),
    ("kept->both", Some("9")),
    ("left->bottom", Some("34")),
    ("shape->across()", Some("4")),
    ("as_shape.across()", Some("4")),
    ("owned->across()", Some("4")),
    // A qualified name calls that class's function. gdb passes a wrong object.
    ("circle.Shape::area()", Some("1")),
    ("ring.Circle::area()", Some("12")),
    // The object's vtable says where a virtual base is. gdb uses a wrong address when it casts to a reference.
    ("((Root &)bottom).root", Some("31")),
    ("static_cast<Root &>(*left).root", Some("31")),
    (
        "static_cast<Root &>(static_cast<Left &>(bottom)).root",
        Some("31"),
    ),
    // gdb can't call objects.
    ("price(5)", Some("255")),
    // A namespace can be left out if the name is unique.
    ("Price::made", Some("7")),
];

/// Expressions in a member function of a class whose members, locals and globals share names.
const IN_MEMBER: Table = &[
    ("count", None),
    ("this->count", None),
    ("::count", None),
    ("other", None),
    ("this->other", None),
    ("(*this).other", None),
    ("by", None),
    ("local", None),
    ("Counter::count", None),
    ("this->Counter::other", None),
    ("by + count * other", None),
];

/// The answers of gdb 13 and gdb 18, a line each: the mark, the expression and the answer, separated by tabs.
const RECORDED: &str = include_str!("members_as_gdb.tsv");

/// gdb's recorded answers at a mark, by expression.
fn recorded(mark: &str) -> BTreeMap<String, String> {
    let rows = RECORDED.lines().map(|line| {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut field = || fields.next().expect("a row of three fields");
        (field(), field(), field())
    });
    rows.filter(|(at, _, _)| at == mark)
        .map(|(_, expression, answer)| (expression, answer))
        .collect()
}

/// The answers of the installed gdb at a mark, by expression. `None` if there is no gdb, or if it can't call functions, as gdb 13 can't on
/// a processor with more registers (AMX) than it supports.
fn said_by_gdb(fixture: &Fixture, mark: &str, table: Table) -> Option<BTreeMap<String, String>> {
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

fn compare(mark: &str, table: Table) {
    let fixture = Fixture::new("members.cpp");
    let recorded = recorded(mark);
    let live = said_by_gdb(&fixture, mark, table);
    let session = Session::started(&fixture, json!({}), &[mark]);
    let stop = session.stopped_at(&fixture, mark, StoppedEventReason::Breakpoint);
    let mut wrong = Vec::new();
    for (expression, meant) in table {
        let context = EvaluateArgumentsContext::Repl;
        let ours = evaluated(&session, &stop.top, expression, context);
        let expected = meant.unwrap_or_else(|| &recorded[*expression]);
        if plain(&ours) != plain(expected) || ours.is_empty() {
            wrong.push(format!("{expression}: {ours}\n    instead of: {expected}"));
        }
        let live = live.as_ref().map(|live| &live[*expression]);
        if meant.is_none() && live.is_some_and(|live| plain(live) != plain(&ours)) {
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
    for (mark, table) in [("end", IN_MAIN), ("member", IN_MEMBER), ("end", OTHERWISE)] {
        compare(mark, table);
    }
    assert!(IN_MAIN.len() + IN_MEMBER.len() >= 140);
}
