//! Parsing definition files: the model of valid files, and the errors for invalid ones.

use dapple_schema::Model;
use dapple_schema::model::{Additional, Enumeration, Integer, Type};

/// The error for a file with a definition `D`, whose only property `p` has this schema.
fn error_for(property: &str) -> String {
    let text = format!(
        r#"{{"definitions": {{"D": {{"type": "object", "properties": {{"p": {property}}}}}}}}}"#
    );
    Model::parse(&text)
        .expect_err("the schema is wrong")
        .to_string()
}

fn error_of(text: &str) -> String {
    Model::parse(text)
        .expect_err("the file is wrong")
        .to_string()
}

#[test]
fn errors_name_the_definition_and_the_property() {
    let cases = [
        (r#"{"type": "strin"}"#, "the type `strin` is not known"),
        (
            r##"{"$ref": "#/definitions/Nothing"}"##,
            "`$ref` to `Nothing`, which is not defined",
        ),
        (
            r#"{"$ref": "other.json"}"#,
            "`$ref` \"other.json\" does not point to `#/definitions/…`",
        ),
        (
            r#"{"type": "string", "enum": []}"#,
            "the enumeration has no values",
        ),
        (
            r#"{"type": "string", "enum": ["a"], "_enum": ["b"]}"#,
            "both `enum` and `_enum`",
        ),
        (
            r#"{"type": "string", "enum": ["a", 1]}"#,
            "`enum` must hold strings, not an integer",
        ),
        (
            r#"{"type": "string", "enum": ["a"], "enumDescriptions": ["1", "2"]}"#,
            "2 `enumDescriptions` for 1 values: there must be one for each",
        ),
        (
            r#"{"type": "integer", "minimum": 0.5}"#,
            "`minimum` of an integer must be an integer, not a number",
        ),
        (
            r#"{"type": "number", "maximum": "9"}"#,
            "`maximum` must be a number, not a string",
        ),
        (
            r#"{"type": "object", "required": ["q"]}"#,
            "`q` is required but is not a property",
        ),
        (
            r#"{"type": "object", "properties": []}"#,
            "a schema (an object) is expected here, not an array",
        ),
        (r#"{"oneOf": {}}"#, "`oneOf` must be an array of schemas"),
        (
            r#"7"#,
            "a schema (an object) is expected here, not an integer",
        ),
    ];
    for (property, what) in cases {
        assert_eq!(
            error_for(property),
            format!("definition `D`, at `p`: {what}"),
            "for {property}"
        );
    }
    assert_eq!(
        error_for(r#"{"type": "array", "items": {"type": "wrong"}}"#),
        "definition `D`, at `p.items`: the type `wrong` is not known"
    );
    let deep = format!(
        "{}{}{}",
        r#"{"type": "array", "items": "#.repeat(40),
        r#"{"type": "null"}"#,
        "}".repeat(40)
    );
    assert!(
        error_for(&deep).ends_with("schemas are nested too deeply"),
        "{}",
        error_for(&deep)
    );
}

#[test]
fn unknown_keywords_are_noted_with_their_place() {
    let base = r##"{"$id": "x", "definitions": {
        "A": {"type": "object", "deprecated": true, "properties": {
            "p": {"type": "string", "pattern": "a", "deprecated": true},
            "q": {"type": "array", "items": {"oneOf": [{"const": 1}, {"const": 2}]}}
        }},
        "B": {"allOf": [{"$ref": "#/definitions/A"}, {"type": "object"}], "deprecated": true}
    }}"##;
    let shown = |model: &Model| -> Vec<String> {
        let keywords = model.unknown_keywords().iter();
        keywords.map(ToString::to_string).collect()
    };
    let base = Model::parse(base).expect("it can be used all the same");
    assert_eq!(
        shown(&base),
        [
            "the keyword `$id` is not known",
            "definition `A`, at `.`: the keyword `deprecated` is not known",
            "definition `A`, at `p`: the keyword `pattern` is not known",
            "definition `A`, at `p`: the keyword `deprecated` is not known",
            "definition `A`, at `q.items.oneOf`: the keyword `const` is not known",
            "definition `B`, at `.`: the keyword `deprecated` is not known",
        ]
    );
    let b = base.get("B").expect("it is there");
    assert_eq!(
        b.base.as_deref(),
        Some("A"),
        "what is beside `allOf` does not hide it"
    );
    // A file that adds to it takes the place of `A`.
    let own = r#"{"definitions": {"A": {"type": "object", "readOnly": true}}}"#;
    let model = base.extended_by(own).expect("it is well-formed");
    assert_eq!(
        shown(&model),
        [
            "the keyword `$id` is not known",
            "definition `B`, at `.`: the keyword `deprecated` is not known",
            "definition `A`, at `.`: the keyword `readOnly` is not known",
        ]
    );
    let known = Model::protocol().expect("the project's definition is well-formed");
    assert_eq!(shown(&known), [""; 0]);
}

#[test]
fn errors_about_the_file_and_about_bases_are_clear() {
    assert!(
        error_of("{").starts_with("the definition file is not valid JSON: "),
        "{}",
        error_of("{")
    );
    assert_eq!(
        error_of("[]"),
        "not a protocol definition: the file does not hold an object"
    );
    assert_eq!(
        error_of("{}"),
        "not a protocol definition: it has no `definitions`"
    );
    assert_eq!(
        error_of(r#"{"definitons": {}}"#),
        "not a protocol definition: `definitons` holding an object is not expected there"
    );
    let twice = error_of(r#"{"definitions": {"A": {"type": "object"}, "A": {"type": "object"}}}"#);
    assert!(twice.contains("the key `A` is there twice"), "{twice}");
    assert_eq!(
        error_of(
            r##"{"definitions": {"A": {"allOf": [{"$ref": "#/definitions/B"}, {"type": "object"}]}}}"##
        ),
        "definition `A`, at `.`: its base `B` is not defined"
    );
    assert_eq!(
        error_of(
            r##"{"definitions": {"A": {"allOf": [{"$ref": "#/definitions/A"}, {"type": "object"}]}}}"##
        ),
        "definition `A`, at `.`: its base `A` is, in the end, based on itself"
    );
    assert_eq!(
        error_of(r#"{"definitions": {"A": {"allOf": [{"type": "object"}]}}}"#),
        "definition `A`, at `.`: `allOf` has 1 parts; a base and an object are expected"
    );
    assert_eq!(
        error_of(
            r##"{"definitions": {"B": {"type": "object"}, "A": {"title": "T", "allOf": [{"$ref": "#/definitions/B"}, {"type": "object"}]}}}"##
        ),
        "definition `A`, at `.`: nothing else is expected beside `allOf`: put it into its second part"
    );
}

#[test]
fn definitions_and_properties_keep_the_order_of_the_file() {
    let model = Model::parse(
        r#"{"definitions": {
            "Z": {"type": "object", "properties": {"z": {"type": "null"}, "a": {"type": "null"}, "m": {"type": "null"}}},
            "A": {"type": "string", "_enum": ["y", "x"]}
        }}"#,
    )
    .expect("it is well-formed");
    let names: Vec<_> = model
        .definitions()
        .iter()
        .map(|definition| definition.name.as_str())
        .collect();
    assert_eq!(names, ["Z", "A"]);
    let object = model
        .get("Z")
        .and_then(|definition| definition.object())
        .expect("it is an object");
    assert_eq!(
        object
            .properties
            .iter()
            .map(|property| property.name.as_str())
            .collect::<String>(),
        "zam"
    );
    let values = Enumeration {
        values: vec!["y".into(), "x".into()],
        descriptions: vec![],
        open: true,
    };
    assert_eq!(
        model.get("A").map(|definition| &definition.schema.ty),
        Some(&Type::Enumeration(values))
    );
}

#[test]
fn an_integers_range_comes_from_format_and_limits() {
    let range = |format: Option<&str>, minimum, maximum| {
        Integer {
            format: format.map(str::to_owned),
            minimum,
            maximum,
        }
        .range()
    };
    assert_eq!(range(None, None, None), (None, None));
    assert_eq!(
        range(Some("int32"), None, None),
        (Some(-2_147_483_648), Some(2_147_483_647))
    );
    assert_eq!(
        range(Some("int32"), Some(1), None),
        (Some(1), Some(2_147_483_647))
    );
    assert_eq!(range(Some("uint64"), None, Some(9)), (Some(0), Some(9)));
    assert_eq!(
        range(Some("uint32"), Some(-5), None),
        (Some(0), Some(4_294_967_295))
    );
}

#[test]
fn the_protocol_has_its_messages() {
    let model = Model::protocol().expect("the project's definition is well-formed");
    assert_eq!(model.definitions().len(), 192);
    assert_eq!(model.requests().count(), 45);
    assert_eq!(model.events().count(), 17);

    let gate = |command: &str| {
        let request = model
            .requests()
            .find(|request| request.command == command)
            .expect("it is a request");
        (request.capability, request.reverse)
    };
    assert_eq!(
        gate("readMemory"),
        (Some("supportsReadMemoryRequest"), false)
    );
    assert_eq!(gate("setVariable"), (Some("supportsSetVariable"), false));
    assert_eq!(
        gate("setDataBreakpoints"),
        (Some("supportsDataBreakpoints"), false)
    );
    assert_eq!(
        gate("dataBreakpointInfo"),
        (Some("supportsDataBreakpoints"), false)
    );
    assert_eq!(gate("reverseContinue"), (Some("supportsStepBack"), false));
    assert_eq!(gate("goto"), (Some("supportsGotoTargetsRequest"), false));
    assert_eq!(
        gate("runInTerminal"),
        (Some("supportsRunInTerminalRequest"), true)
    );
    assert_eq!(
        gate("startDebugging"),
        (Some("supportsStartDebuggingRequest"), true)
    );
    for always in [
        "initialize",
        "launch",
        "attach",
        "threads",
        "evaluate",
        "setExceptionBreakpoints",
        "next",
        "source",
    ] {
        assert_eq!(gate(always), (None, false), "{always}");
    }

    let launch = model.get("LaunchRequest").expect("it is defined");
    let all: Vec<(String, bool)> = model
        .all_properties(launch)
        .into_iter()
        .map(|property| (property.name, property.required))
        .collect();
    let expected = [
        ("seq", true),
        ("type", true),
        ("command", true),
        ("arguments", true),
    ];
    assert_eq!(
        all,
        expected.map(|(name, required)| (name.to_owned(), required))
    );

    let env = model
        .get("RunInTerminalRequestArguments")
        .and_then(|definition| definition.object());
    let env = env
        .and_then(|object| object.property("env"))
        .map(|property| &property.schema.ty);
    let Some(Type::Object(env)) = env else {
        panic!("env is {env:?}")
    };
    let Additional::Values(values) = &env.additional else {
        panic!("env is {env:?}")
    };
    assert_eq!(values.ty, Type::Union(vec![Type::String, Type::Null]));
}

#[test]
fn a_description_may_be_a_list_of_lines() {
    let model = Model::parse(
        r#"{"definitions": {"D": {"type": "object", "description": ["One,", "two."]}}}"#,
    )
    .expect("the test's definition is well-formed");
    let definition = model.get("D").expect("it is there");
    assert_eq!(definition.schema.description.as_deref(), Some("One,\ntwo."));
}

#[test]
fn a_definition_can_be_extended_by_another_file() {
    let own = r##"{"title": "Ours", "definitions": {
        "PokeRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object",
            "properties": {"command": {"type": "string", "enum": ["poke"]}}, "required": ["command"]}]},
        "Thread": {"type": "object", "properties": {"mood": {"type": "string"}}}
    }}"##;
    assert_eq!(
        error_of(own),
        "definition `PokeRequest`, at `.`: its base `Request` is not defined"
    );
    let base = Model::protocol().expect("the project's definition is well-formed");
    let model = base.extended_by(own).expect("its base is there now");
    assert_eq!(model.title(), Some("Ours"));
    assert_eq!(model.definitions().len(), base.definitions().len() + 1);
    let commands: Vec<_> = model.requests().map(|request| request.command).collect();
    assert_eq!(commands.len(), base.requests().count() + 1);
    assert_eq!(commands.last(), Some(&"poke"));
    let threads = |model: &Model| {
        let thread = model.definitions().iter().position(|d| d.name == "Thread");
        (
            thread,
            model
                .get("Thread")
                .and_then(|d| d.object().map(|o| o.properties[0].name.clone())),
        )
    };
    assert_eq!(threads(&base).0, threads(&model).0, "it keeps its place");
    assert_eq!(threads(&model).1.as_deref(), Some("mood"));
}
