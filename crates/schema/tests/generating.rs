//! The generated Rust: its conventions, on small definitions. Tests in the `dap` crate check that the whole of it compiles and reads every
//! message.

use dapple_schema::{Model, rust};

/// The Rust for these definitions, with all white space normalized to single spaces.
fn generated(definitions: &str) -> Result<String, String> {
    let model = Model::parse(&format!("{{\"definitions\": {{{definitions}}}}}"))
        .expect("the test's definitions are well-formed");
    let text =
        rust::generate(&model, &rust::Options::default()).map_err(|error| error.to_string())?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

#[test]
fn a_struct_has_typed_fields_a_constructor_and_setters() {
    let text = generated(
        r##""D": {"type": "object", "description": "What [it] is, <b> and `<c>`.", "required": ["name", "nullable"], "properties": {
            "name": {"type": "string", "description": "Its name."},
            "nullable": {"type": ["string", "null"]},
            "type": {"type": "integer", "format": "int32", "minimum": 1},
            "idOrName": {"type": ["integer", "string"]},
            "any": {"type": ["array", "boolean", "integer", "null", "number", "object", "string"]},
            "env": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "more": {"type": "array", "items": {"$ref": "#/definitions/D"}}
        }}"##,
    );
    contains(
        &text.expect("it can be generated"),
        &[
            r"/// What \[it\] is, \<b> and `<c>`. #[derive(Debug, Clone, PartialEq, Serialize)] #[non_exhaustive] pub struct D {",
            "/// Its name. pub name: String,",
            "pub nullable: Option<String>,",
            r#"/// The protocol's `type`. /// /// Range: 1..=2147483647. #[serde(skip_serializing_if = "Option::is_none")] pub r#type: Option<i64>,"#,
            "pub id_or_name: Option<IntegerOrString>,",
            "pub any: Option<Raw>,",
            "pub env: Option<BTreeMap<String, Option<String>>>,",
            "pub more: Option<Vec<D>>,",
            "pub fn new(name: impl Into<String>, nullable: Option<String>, ) -> Self",
            "pub fn with_type(mut self, r#type: i64) -> Self",
            r#"0 name "name" required, 1 nullable "nullable" required, 2 r#type "type" optional,"#,
            r#"4 any "any" any,"#,
        ],
    );
}

#[test]
fn enumerations_in_place_are_named_after_definition_and_property() {
    let text = generated(
        r##""Event": {"type": "object", "properties": {}},
        "OutputEvent": {"allOf": [{"$ref": "#/definitions/Event"}, {"type": "object", "properties": {
            "event": {"type": "string", "enum": ["output"]},
            "body": {"type": "object", "properties": {
                "category": {"type": "string", "_enum": ["console", "std out"], "enumDescriptions": ["For people.", "Raw."]}
            }}
        }}]}"##,
    );
    contains(
        &text.expect("it can be generated"),
        &[
            "pub struct OutputEventBody {",
            "pub category: Option<OutputEventCategory>,",
            r#"open OutputEventCategory { /// For people. Console = "console", /// Raw. StdOut = "std out", }"#,
            r#"impl Event for OutputEvent { const EVENT: &'static str = "output"; type Body = OutputEventBody; }"#,
            "pub struct EventMessage {",
            "/// `output`. Output(OutputEventBody),",
        ],
    );
}

#[test]
fn names_that_collide_are_refused() {
    let cases = [
        (
            r#""AB": {"type": "object"}, "Ab": {"type": "object"}"#,
            "two items would be called `Ab`: rename the property or definition behind one of them",
        ),
        (
            r#""D": {"type": "object", "properties": {"aB": {"type": "null"}, "a_b": {"type": "null"}}}"#,
            "definition `D`, property `a_b`: a second field would be called `a_b`",
        ),
        (
            r#""E": {"type": "string", "_enum": ["a", "other"]}"#,
            "definition `E`, property `E`: \"other\" would be a second variant `Other`",
        ),
    ];
    for (definitions, error) in cases {
        assert_eq!(generated(definitions), Err(error.to_owned()));
    }
}

#[test]
fn what_has_no_form_in_rust_is_refused() {
    let property = |schema: &str| {
        generated(&format!(
            r#""D": {{"type": "object", "properties": {{"p": {schema}}}}}"#
        ))
    };
    assert_eq!(
        property(r#"{"type": ["boolean", "string"]}"#),
        Err(
            "definition `D`, property `p`: this union of types has no form in Rust here".to_owned()
        )
    );
    assert_eq!(
        property(r#"{"type": ["string", "null"]}"#),
        Err("definition `D`, property `p`: optional and nullable: three states".to_owned())
    );
    assert_eq!(
        generated(r#""D": {"type": "integer"}"#),
        Err("definition `D`, property `.`: only objects and enumerations of strings make a definition".to_owned())
    );
}

#[test]
fn names_and_keywords_that_rust_has_no_form_for_are_refused() {
    let cases = [
        (
            r#""D": {"type": "object", "properties": {"p": {"type": "string", "pattern": "a"}}}"#,
            "definition `D`, at `p`: the keyword `pattern` is not known, and types that leave it out may be wrong: remove it from the definition",
        ),
        (
            r#""2D": {"type": "object"}"#,
            "`2D` can't be the name of a Rust type: rename the definition",
        ),
        (
            r#""D": {"type": "object", "properties": {"+": {"type": "string"}}}"#,
            "definition `D`, property `+`: this name has no form in Rust",
        ),
        (
            r#""D": {"type": "string", "enum": ["a", "<"]}"#,
            "definition `D`, property `D`: \"<\" has no form in Rust",
        ),
    ];
    for (definitions, error) in cases {
        assert_eq!(generated(definitions), Err(error.to_owned()));
    }
}
