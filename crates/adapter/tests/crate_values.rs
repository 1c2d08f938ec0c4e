//! Values of types of widely used crates read as their `{:?}`.
//!
//! `fixtures/crates` is a program with many values of each crate, in its newest release at the time of writing; `fixtures/crates_2024` is the
//! same program with the releases of November 2024. For each value, the program prints what `{:?}` makes of it. The debugger's line has to
//! be the same, but for these rules:
//!
//! - a container on its own begins with its length: `len = 2 [1, 2]`;
//! - an enum's variant has the enum's name before it: `Value::Null`;
//! - what is too long for a line is cut: `…` stands for anything, in a line of more than 60 characters.
//!
//! Where the debugger shows another form because it says more, or because the debug information doesn't have what `{:?}` writes, the
//! value is in `crate_values.tsv` with that form and the reason. A form that begins with `!` is one that isn't readable yet.

use crate::support::Session;
use crate::support::package;
use crate::support::project::{self, Project, launch};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};

const DEVIATIONS: &str = include_str!("crate_values.tsv");

/// A value that the program printed.
struct Printed {
    krate: String,
    name: String,
    debug: String,
}

/// The versions in a package's lock file, by the crates' names.
fn versions(name: &str) -> HashMap<String, String> {
    let lock = package::folder(name).join("Cargo.lock");
    let text = std::fs::read_to_string(lock).expect("the lock file");
    let mut versions = HashMap::new();
    let mut package = None;
    for line in text.lines() {
        let value = |key: &str| Some(line.strip_prefix(key)?.trim_matches('"').to_owned());
        if let Some(name) = value("name = ") {
            package = Some(name);
        } else if let (Some(version), Some(name)) = (value("version = "), package.take()) {
            versions.insert(name, version);
        }
    }
    versions
}

/// Runs the program from stop to stop. Returns the values in each stop's frame, and what the program printed.
fn run(name: &str, program: &str) -> (Vec<Vec<Variable>>, Vec<Printed>, String) {
    let session = project::session(false);
    let path = package::built(name, false).join(program);
    launch(&session, &json!({"program": path}));
    let stop = FunctionBreakpoint::new(format!("{program}::stop"));
    let arguments = SetFunctionBreakpointsArguments::new(vec![stop]);
    session.ok::<SetFunctionBreakpointsRequest>(arguments);
    session.configured();
    let mut shown = Vec::new();
    while session.ends_or_stops() {
        let stopped = session.stopped(StoppedEventReason::FunctionBreakpoint);
        let frame = session.stack(stopped.thread).remove(1);
        let scope = session.scope(&frame, "Locals");
        shown.push(session.variables(scope.variables_reference));
        session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    }
    session.exit_code();
    let printed = session.output(OutputEventCategory::Stdout);
    let printed = printed.lines().map(|line| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        let mut part = || parts.next().expect("three parts");
        Printed {
            krate: part(),
            name: part(),
            debug: part(),
        }
    });
    let printed = printed.collect();
    let said = session.output(OutputEventCategory::Console);
    session.disconnect();
    (shown, printed, said)
}

/// A text without the names of enums before their variants.
fn without_enums(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("::") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let start = before.trim_end_matches(is_name).len();
        if start < at && after.starts_with(|c: char| c.is_ascii_uppercase()) {
            result.push_str(&before[..start]);
        } else {
            result.push_str(before);
            result.push_str("::");
        }
        rest = after;
    }
    result + rest
}

/// A line without the length at its beginning.
fn without_length(line: &str) -> &str {
    let cut = line.strip_prefix("len = ").and_then(|rest| {
        let (length, rest) = rest.split_once(' ')?;
        length.parse::<u64>().ok().map(|_| rest)
    });
    cut.unwrap_or(line)
}

/// Whether a line reads as a text, by the rules above.
fn reads_as(line: &str, text: &str) -> bool {
    let line = without_enums(without_length(line));
    let text = without_enums(text);
    if line == text {
        return true;
    }
    if !line.contains('…') || line.chars().count() <= 60 {
        return false;
    }
    let mut parts = line.split('…');
    let mut rest = match parts.next().and_then(|first| text.strip_prefix(first)) {
        Some(rest) => rest,
        None => return false,
    };
    let parts: Vec<&str> = parts.collect();
    for part in &parts[..parts.len().saturating_sub(1)] {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    parts.last().is_some_and(|last| rest.ends_with(last))
}

/// The forms and reasons in `crate_values.tsv`, by the value's name.
fn deviations() -> BTreeMap<&'static str, (&'static str, &'static str)> {
    let lines = DEVIATIONS.lines().filter(|line| !line.starts_with('#'));
    let entries = lines.map(|line| {
        let parts: Vec<&str> = line.split('\t').collect();
        match parts[..] {
            [name, form, reason] => (name, (form, reason)),
            _ => panic!("three columns: {line}"),
        }
    });
    entries.collect()
}

/// Holds all values of the program against what it printed.
fn check(name: &str, program: &str, (most_values, most_types): (usize, usize)) {
    let (shown, printed, said) = run(name, program);
    let versions = versions(name);
    let deviations = deviations();
    let mut names: Vec<&str> = Vec::new();
    for value in &printed {
        if names.last() != Some(&&*value.krate) {
            names.push(&value.krate);
        }
    }
    assert_eq!(shown.len(), names.len(), "a stop for each crate");
    let (mut same, mut listed, mut unread) = (0, 0, 0);
    let mut types = BTreeSet::new();
    let mut wrong = Vec::new();
    for value in &printed {
        let stop = names.iter().position(|name| *name == value.krate);
        let locals = &shown[stop.expect("its crate")];
        let full_name = format!("{}.{}", value.krate, value.name);
        let version = versions.get(&value.krate).map_or("?", String::as_str);
        let Some(local) = locals.iter().find(|local| local.name == value.name) else {
            wrong.push(format!("{full_name}: not among the variables"));
            continue;
        };
        let read = match deviations.get(&*full_name) {
            _ if reads_as(&local.value, &value.debug) => {
                same += 1;
                true
            }
            Some((form, _)) if form.starts_with('!') => {
                unread += 1;
                continue;
            }
            Some((form, _)) => {
                let is_listed = without_length(&local.value) == *form;
                listed += usize::from(is_listed);
                is_listed
            }
            None => false,
        };
        if read {
            types.insert(local.r#type.clone());
        } else {
            wrong.push(format!(
                "{} {version}, `{}`: {}\n    prints {}\n    shown  {}",
                value.krate,
                value.name,
                local.r#type.as_deref().unwrap_or_default(),
                value.debug,
                local.value
            ));
        }
    }
    let counts = format!(
        "{} values: {same} as printed, {listed} in a form of ours, {unread} not readable, {} wrong; {} types read",
        printed.len(),
        wrong.len(),
        types.len()
    );
    assert!(wrong.is_empty(), "{counts}\n{}", wrong.join("\n"));
    assert!(same + listed >= most_values, "{counts}");
    assert!(types.len() >= most_types, "{counts}");
    assert!(!said.contains("natvis"), "{said}");
}

#[test]
fn values_of_the_newest_crates_read_as_their_debug_output() {
    check("crates", "crate_values", (560, 440));
}

#[test]
fn values_of_crates_two_years_old_read_as_their_debug_output() {
    check("crates_2024", "crate_values_2024", (555, 435));
}

/// Runs the newest crates' program, with these further arguments of `launch`, to the stop where the frame has a variable.
fn stopped_with(variable: &str, further: serde_json::Value) -> (Session, StackFrame) {
    let session = project::session(false);
    let mut arguments = json!({"program": package::built("crates", false).join("crate_values")});
    if let (Some(all), Some(further)) = (arguments.as_object_mut(), further.as_object()) {
        all.extend(further.clone());
    }
    launch(&session, &arguments);
    let stop = FunctionBreakpoint::new("crate_values::stop");
    let arguments = SetFunctionBreakpointsArguments::new(vec![stop]);
    session.ok::<SetFunctionBreakpointsRequest>(arguments);
    session.configured();
    loop {
        let stopped = session.stopped(StoppedEventReason::FunctionBreakpoint);
        let frame = session.stack(stopped.thread).remove(1);
        let scope = session.scope(&frame, "Locals");
        let locals = session.variables(scope.variables_reference);
        if locals.iter().any(|local| local.name == variable) {
            return (session, frame);
        }
        session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    }
}

#[test]
fn a_value_that_cannot_be_is_not_shown_as_one() {
    let (session, frame) = stopped_with("index_set", json!({}));
    assert_eq!(session.evaluate(&frame, "vec"), "len = 2 [1, 2]");
    session.evaluate(&frame, "vec.len = 200");
    assert!(
        session
            .evaluate(&frame, "vec")
            .starts_with("<not initialised or corrupt"),
        "{}",
        session.evaluate(&frame, "vec")
    );
    session.evaluate(&frame, "string.vec.len = 200");
    let string = session.evaluate(&frame, "string");
    assert!(string.starts_with("StringInner { "), "{string}");
    session.disconnect();
}

#[test]
fn the_users_own_file_comes_before_what_is_built_in() {
    let text = "<AutoVisualizer><Type Name=\"half::binary16::f16\">
        <DisplayString>mine: {__0}</DisplayString></Type></AutoVisualizer>";
    let file = crate::support::file("half-mine.natvis", text.as_bytes(), 0o644);
    let (session, frame) = stopped_with("brain_third", json!({"visualizerFile": file}));
    assert_eq!(session.evaluate(&frame, "one"), "mine: 15360");
    assert_eq!(session.evaluate(&frame, "brain"), "1.5");
    session.disconnect();
}

#[test]
fn a_crate_with_other_fields_is_shown_as_laid_out_and_said_to_be_unknown() {
    let main = "fn main() {
    let one = half::binary16::f16 { bits: 7 };
    let two = half::binary16::f16 { bits: 8 };
    std::hint::black_box((&one, &two)); // here
}
";
    let half = "pub mod binary16 {
    #[allow(non_camel_case_types)]
    pub struct f16 {
        pub bits: u16,
    }
}
";
    let manifest = "[dependencies]\nhalf = { path = \"half\" }\n";
    let project = Project::package("unknown", manifest, &[("src/main.rs", main)]);
    let manifest = "[package]\nname = \"half\"\nversion = \"9.0.0\"\nedition = \"2024\"\n";
    project.write("half/Cargo.toml", manifest);
    project.write("half/src/lib.rs", half);
    let session = project::session(false);
    launch(&session, &project.cargo("run --quiet"));
    let line = project.line("src/main.rs", "// here");
    session.set_lines(&project.path("src/main.rs"), &[line]);
    session.configured();
    let stopped = session.stopped(StoppedEventReason::Breakpoint);
    for (name, value) in [("one", "f16 { bits: 7 }"), ("two", "f16 { bits: 8 }")] {
        assert_eq!(session.evaluate(&stopped.top, name), value);
    }
    let said = "this version of the crate `half` is not known";
    session.wait_for_written(OutputEventCategory::Console, said);
    let console = project::console(&session);
    assert_eq!(console.matches(said).count(), 1, "{console}");
    session.disconnect();
}

#[test]
fn each_deviation_is_of_a_value_and_has_a_reason() {
    for (name, (form, reason)) in deviations() {
        assert!(
            name.contains('.') && !form.is_empty() && !reason.is_empty(),
            "{name}"
        );
    }
}
