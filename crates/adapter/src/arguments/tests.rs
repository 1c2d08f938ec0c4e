//! Checks that the table agrees with what is read.

#[path = "../../tests/support/json_schema.rs"]
#[allow(dead_code, reason = "whole configurations are another test's")]
mod json_schema;

use super::given::Given;
use super::row::Row;
use super::table::rows;
use super::{AttachArguments, LaunchArguments, Start};
use crate::argument_values::shape::{Shape, Type};
use dapple_dap::message::Raw;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const STARTS: [Start; 2] = [Start::Launch, Start::Attach];

fn arguments(entries: &[(&str, &Value)]) -> BTreeMap<String, Raw> {
    let entries = entries.iter();
    entries
        .map(|(name, value)| ((*name).to_owned(), Raw::new(value).expect("JSON")))
        .collect()
}

/// Reads a request with one argument and the other arguments that it needs. Returns the warnings.
fn read(start: Start, name: &str, value: &Value) -> Result<Vec<String>, String> {
    let (program, pid) = (json!("/bin/true"), json!(1));
    let mut entries = match start {
        // These say what the program is.
        Start::Launch if name == "cargo" || name == "replay" => BTreeMap::new(),
        Start::Launch => arguments(&[("program", &program)]),
        Start::Attach if name == "program" || name == "waitFor" => {
            arguments(&[("program", &program)])
        }
        Start::Attach if name.contains("ore") => BTreeMap::new(),
        Start::Attach => arguments(&[("pid", &pid)]),
    };
    if name == "sysroot" || name == "remoteCommand" {
        entries = arguments(&[("target", &json!("localhost:1"))]);
    }
    if name == "processId" {
        entries.clear();
    }
    entries.extend(arguments(&[(name, value)]));
    match start {
        Start::Launch => LaunchArguments::read(&entries).map(|launch| launch.common.warnings),
        Start::Attach => AttachArguments::read(&entries).map(|attach| attach.common.warnings),
    }
}

fn example(row: &Row) -> Value {
    serde_json::from_str(row.example).unwrap_or_else(|error| panic!("{}: {error}", row.name))
}

#[test]
fn each_argument_is_taken_as_the_table_has_it() {
    for start in STARTS {
        // `envFile` needs a file that exists.
        for row in rows(start).filter(|row| row.name != "envFile") {
            let told = read(start, row.name, &example(row));
            assert_eq!(told, Ok(Vec::new()), "{}: {}", start.name(), row.name);
        }
    }
}

#[test]
fn each_default_is_a_value_that_says_nothing_new() {
    for start in STARTS {
        for row in rows(start) {
            let Some(default) = row.default else { continue };
            let default = serde_json::from_str(default).expect(row.name);
            let without =
                Given::read(start, &BTreeMap::new()).expect("nothing is wrong with nothing");
            let with = Given::read(start, &arguments(&[(row.name, &default)])).expect(row.name);
            assert_eq!(format!("{with:?}"), format!("{without:?}"), "{}", row.name);
        }
    }
}

/// A value of a JSON type.
fn values(of: Type) -> Value {
    match of {
        Type::Null => json!(null),
        Type::Boolean => json!(true),
        Type::Number => json!(7),
        Type::String => json!("x"),
        Type::Array => json!([]),
        Type::Object => json!({}),
    }
}

const TYPES: [Type; 5] = [
    Type::Boolean,
    Type::Number,
    Type::String,
    Type::Array,
    Type::Object,
];

#[test]
fn no_other_type_than_the_tables_is_taken_and_the_argument_is_named() {
    for start in STARTS {
        for row in rows(start) {
            for of in TYPES
                .into_iter()
                .filter(|of| !row.shape.types().contains(of))
            {
                let refused = read(start, row.name, &values(of)).map(|_| ()).unwrap_err();
                let expected = format!("{}: `{}` must be ", start.name(), row.name);
                assert!(
                    refused.starts_with(&expected) && refused.ends_with(of.name()),
                    "{refused}"
                );
            }
        }
    }
}

/// One value for each alternative of a shape.
fn samples(shape: &Shape) -> Vec<Value> {
    match shape {
        Shape::Boolean => vec![json!(true), json!(false)],
        Shape::Integer | Shape::Number => vec![json!(7)],
        Shape::Null => vec![json!(null)],
        Shape::Text => vec![json!("7")],
        Shape::Path => vec![json!("/tmp/x"), json!("~/x")],
        Shape::Word(words) => words.iter().map(|word| json!(word.word)).collect(),
        Shape::PathOr(words) => {
            let words = words.iter().map(|word| json!(word.word));
            words.chain([json!("/tmp/x")]).collect()
        }
        Shape::List(each) => samples(each)
            .into_iter()
            .map(|item| json!([item]))
            .collect(),
        Shape::Pair(each) => samples(each)
            .into_iter()
            .map(|item| json!([item, item]))
            .collect(),
        Shape::Map(each) => samples(each)
            .into_iter()
            .map(|item| json!({ "/x": item }))
            .collect(),
        Shape::Object(fields) => {
            let whole = |with: &str, value: &Value| {
                let mut object = json!({});
                for field in fields.iter().filter(|field| field.required) {
                    object[field.name] = samples(&field.shape).remove(0);
                }
                object[with] = value.clone();
                object
            };
            let fields = fields.iter();
            fields
                .flat_map(|field| {
                    samples(&field.shape)
                        .into_iter()
                        .map(move |value| (field.name, value))
                })
                .map(|(name, value)| whole(name, &value))
                .collect()
        }
        Shape::Any(shapes) => shapes.iter().flat_map(samples).collect(),
        Shape::Called(_, shape) => samples(shape),
    }
}

#[test]
fn each_type_that_the_table_states_is_taken() {
    for start in STARTS {
        for row in rows(start) {
            // Leaves out samples that the argument doesn't accept as they are, or that get a warning.
            let of_its_own = |value: &Value| match row.name {
                "signals" => !value.is_string() && !value.to_string().contains('7'),
                "envFile" | "target" | "miDebuggerServerAddress" | "gdbTarget" => false,
                "thirdParty" => !value.to_string().contains('7'),
                // `timeout` is ignored with a warning.
                "debuginfod" => value.get("timeout").is_none(),
                "build" => !value["env"].is_array(),
                "cargo" => !value.to_string().contains('7') || value.to_string().contains("run"),
                _ => true,
            };
            let mut samples = samples(&row.shape);
            samples.retain(of_its_own);
            samples.push(example(row));
            for value in samples.iter().filter(|_| row.name != "envFile") {
                let told = read(start, row.name, value);
                assert_eq!(
                    told,
                    Ok(Vec::new()),
                    "{}: {} {value}",
                    start.name(),
                    row.name
                );
            }
        }
    }
}

#[test]
fn the_schema_allows_what_is_taken_and_nothing_else() {
    let schema = super::schema::launch_schema();
    for start in STARTS {
        for row in rows(start).filter(|row| row.is_documented()) {
            let property = &schema["definitions"][start.name()]["properties"][row.name];
            let mut good = samples(&row.shape);
            good.push(example(row));
            good.extend(
                row.default
                    .map(|default| serde_json::from_str(default).expect(row.name)),
            );
            for value in good {
                assert!(
                    json_schema::allows(&schema, property, &value),
                    "{}: {value}",
                    row.name
                );
            }
            for of in TYPES
                .into_iter()
                .filter(|of| !row.shape.types().contains(of))
            {
                let value = values(of);
                assert!(
                    !json_schema::allows(&schema, property, &value),
                    "{}: {value}",
                    row.name
                );
            }
        }
    }
}

#[test]
fn alternatives_are_told_apart_by_their_type() {
    fn check(name: &str, shape: &Shape) {
        match shape {
            Shape::Any(shapes) => {
                let types: Vec<Type> = shape.types();
                let distinct: std::collections::HashSet<Type> = types.iter().copied().collect();
                assert_eq!(types.len(), distinct.len(), "{name}: {types:?}");
                shapes.iter().for_each(|shape| check(name, shape));
            }
            Shape::List(each) | Shape::Pair(each) | Shape::Map(each) | Shape::Called(_, each) => {
                check(name, each)
            }
            Shape::Object(fields) => fields.iter().for_each(|field| check(name, &field.shape)),
            _ => {}
        }
    }
    for start in STARTS {
        let mut names = BTreeSet::new();
        for row in rows(start) {
            check(row.name, &row.shape);
            assert!(names.insert(row.name), "{} is there twice", row.name);
            if let Some(of) = row.alias_of() {
                assert!(
                    rows(start).any(|row| row.name == of && row.alias_of().is_none()),
                    "{of}"
                );
            }
        }
    }
}

#[test]
fn what_is_told_of_other_debuggers_arguments_is_of_none_of_ours() {
    for name in super::others::names() {
        for start in STARTS {
            assert!(
                rows(start).all(|row| row.name != name),
                "{name} is an argument here"
            );
        }
        let told = read(Start::Launch, name, &json!(["x"])).expect("it is let through");
        assert!(
            told[0].starts_with(&format!("launch: `{name}` is ignored: ")),
            "{told:?}"
        );
        assert_eq!(
            read(Start::Attach, name, &json!([])),
            Ok(Vec::new()),
            "nothing is asked for"
        );
    }
}

#[test]
fn unknown_names_lead_to_the_nearest_also_inside_of_objects() {
    for (start, name, value, told) in [
        (
            Start::Launch,
            "arg",
            json!([]),
            "launch: the argument `arg` is not known and ignored; did you mean `args`?",
        ),
        (
            Start::Attach,
            "waitfor",
            json!(true),
            "attach: the argument `waitfor` is not known and ignored; did you mean `waitFor`?",
        ),
        (
            Start::Launch,
            "stdout",
            json!({"file": "x", "apend": true}),
            "launch: the argument `stdout.apend` is not known and ignored; did you mean `stdout.append`?",
        ),
        (
            Start::Launch,
            "environment",
            json!([{"name": "A", "value": "b", "comment": ""}]),
            "launch: the argument `environment[0].comment` is not known and ignored",
        ),
        (
            Start::Launch,
            "somethingElse",
            json!(1),
            "launch: the argument `somethingElse` is not known and ignored",
        ),
        (
            Start::Launch,
            "waitFor",
            json!(true),
            "launch: `waitFor` is for \"request\": \"attach\", and ignored",
        ),
        (
            Start::Attach,
            "args",
            json!(["x"]),
            "attach: `args` is for \"request\": \"launch\", and ignored",
        ),
    ] {
        assert_eq!(read(start, name, &value), Ok(vec![told.to_owned()]));
    }
    let told = read(
        Start::Attach,
        "debuginfod",
        &json!({"enabled": true, "timeout": 7}),
    );
    let told = told.expect("it is let through");
    assert!(
        told[0].starts_with("attach: `debuginfod.timeout` is ignored: "),
        "{told:?}"
    );
    let long = "x".repeat(1_000_000);
    assert_eq!(
        read(Start::Launch, &long, &json!(1)).map(|told| told.len()),
        Ok(1)
    );
    let many = json!(vec!["${workspaceFolder}"; 1000]);
    let told = read(Start::Launch, "args", &many).expect("it is let through");
    assert_eq!(told.len(), 31);
    assert_eq!(told[30], "launch: 970 more values are like that");
}
