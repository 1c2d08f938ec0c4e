//! Broken and foreign files: each gives an error, or a model that everything can be generated from, but never a panic.

use dapple_schema::diff::{diff, text};
use dapple_schema::validate::Validator;
use dapple_schema::{Model, PROTOCOL, go, markdown, python, rust, typescript};

/// Parses a file and generates everything from it. Returns whether it could be parsed.
fn used(file: &str, ours: &Model) -> bool {
    let Ok(model) = Model::parse(file) else {
        return false;
    };
    // Each generator may fail.
    let _ = rust::generate(&model, &rust::Options::default());
    let _ = typescript::generate(&model, &typescript::Options::default());
    let _ = markdown::generate(&model, &markdown::Options::default());
    let _ = python::generate(&model, &python::Options::default());
    let _ = go::generate(&model, &go::Options::default());
    if let Ok(extended) = ours.extended_by(file) {
        let _ = rust::generate_extension(&extended, ours, &rust::Options::default());
    }
    diff(&model, ours);
    text(&model, ours);
    Validator::new(model).line(br#"{"seq":1,"type":"request","command":"next","arguments":{}}"#);
    true
}

#[test]
fn a_file_cut_or_changed_anywhere_never_panics() {
    let ours = Model::protocol().expect("the project's definition is well-formed");
    let (mut read, mut refused) = (0, 0);
    for at in (0..PROTOCOL.len()).step_by(9973) {
        let Some((before, after)) = PROTOCOL.split_at_checked(at) else {
            continue;
        };
        assert!(
            !used(before, &ours),
            "a file that ends at {at} is not whole"
        );
        // Changes the next name or text.
        for (old, new) in [
            ("\": ", "x\": "),
            ("\"object\"", "\"array\""),
            ("\"type\"", "\"description\""),
            ("\"properties\"", "\"items\""),
            ("#/definitions/", "#/definitions/X"),
            ("\"enum\"", "\"_enum\""),
            ("{", "[{"),
            ("integer", "string"),
        ] {
            let changed = before.to_owned() + &after.replacen(old, new, 1);
            if used(&changed, &ours) {
                read += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert!(read > 20 && refused > 20, "{read} read, {refused} refused");
}

#[test]
fn files_of_other_kinds_are_refused() {
    let ours = Model::protocol().expect("the project's definition is well-formed");
    let deep =
        r#"{"definitions": {"A": "#.to_owned() + &r#"{"type": "array", "items": "#.repeat(60);
    let deep = deep + "{}" + &"}".repeat(62);
    for file in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"definitions": {}}"#,
        r#"{"definitions": []}"#,
        r#"{"definitions": {"A": null}}"#,
        r#"{"definitions": {"A": {"allOf": []}}}"#,
        r##"{"definitions": {"A": {"allOf": [{"$ref": "#/definitions/A"}, {"type": "object"}]}}}"##,
        r#"{"openapi": "3.0.0", "paths": {}}"#,
        &deep,
    ] {
        assert!(!used(file, &ours), "{file}");
    }
}
