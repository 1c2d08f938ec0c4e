//! The Rust that is generated for one's own requests beside `dapple-dap`: its conventions, and a crate that uses it.

#[path = "programs/mod.rs"]
mod programs;

use dapple_schema::{Model, rust};
use expect_test::expect;
use std::path::Path;
use std::process::Command;

fn extended(definitions: &str) -> Result<String, String> {
    let base = Model::protocol().expect("the project's definition is well-formed");
    let model = base
        .extended_by(&format!("{{\"definitions\": {{{definitions}}}}}"))
        .expect("the test's definitions are well-formed");
    rust::generate_extension(&model, &base, &rust::Options::default())
        .map_err(|error| error.to_string())
}

/// A definition with every kind of item and field.
const OWN: &str = r##"
    "HeapRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "description": "Asks for heaps.",
        "required": ["command", "arguments"], "properties": {
        "command": {"type": "string", "enum": ["vendor/heap"]}, "arguments": {"$ref": "#/definitions/HeapArguments"}}}]},
    "HeapArguments": {"type": "object", "required": ["arena", "owner", "ratio"], "properties": {
        "arena": {"type": "integer", "minimum": 0, "description": "Its number."},
        "owner": {"type": ["string", "null"]},
        "ratio": {"type": "number"},
        "limit": {"type": "number"},
        "where": {"$ref": "#/definitions/Source"},
        "order": {"$ref": "#/definitions/HeapOrder"},
        "mark": {},
        "extra": {"type": "object", "additionalProperties": true},
        "id": {"type": ["integer", "string"]},
        "type": {"type": "string", "_enum": ["big", "very small"]}
    }},
    "HeapOrder": {"type": "string", "enum": ["size", "by age"], "enumDescriptions": ["The largest first.", "The oldest first."]},
    "HeapResponse": {"allOf": [{"$ref": "#/definitions/Response"}, {"type": "object", "required": ["body"], "properties": {
        "body": {"type": "object", "required": ["blocks"], "properties": {
            "blocks": {"type": "array", "items": {"type": "object", "required": ["address"], "properties": {
                "address": {"type": "string"}, "frames": {"type": "array", "items": {"$ref": "#/definitions/StackFrame"}}}}},
            "arguments": {"$ref": "#/definitions/HeapArguments"}
        }}}}]},
    "PingRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "required": ["command"], "properties": {
        "command": {"type": "string", "enum": ["vendor/ping"]}}}]},
    "HeapGrownEvent": {"allOf": [{"$ref": "#/definitions/Event"}, {"type": "object", "required": ["event", "body"], "properties": {
        "event": {"type": "string", "enum": ["vendor/heapGrown"]},
        "body": {"type": "object", "required": ["bytes"], "properties": {"bytes": {"type": "integer"}}}}}]}
"##;

#[test]
fn only_what_is_added_is_written_and_the_rest_imported() {
    let source = extended(
        r##""Own": {"type": "object", "required": ["line"], "properties": {"line": {"type": "integer"}, "source": {"$ref": "#/definitions/Source"}}}"##,
    );
    expect![[r#"
        //! The types of requests, events and values that are added to the protocol.
        //!
        //! Written by `dapple schema generate rust --base`: change the definition, not this file. It needs the crates `dapple-dap` and
        //! `serde` (with the feature `derive`). An `XRequest` or `XEvent` is a marker that implements `Request` or `Event` of `dapple-dap`; an
        //! `XResponse` is the response's body.

        use dapple_dap::types::Source;
        use serde::{Deserialize, Serialize};

        /// The protocol's `Own`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct Own {
        /// The protocol's `line`.
         pub line: i64,
        /// The protocol's `source`.
        #[serde(skip_serializing_if = "Option::is_none")] pub source: Option<Source>,
        }

        impl Own {
        /// What is required set, nothing else.
        pub fn new(line: i64, ) -> Self { Self { line, source: None,  } }

        /// Sets [`source`](Self::source).
        #[must_use]
        pub fn with_source(mut self, source: Source) -> Self { self.source = Some(source); self }
        }

    "#]].assert_eq(&source.expect("it can be generated"));
}

#[test]
fn a_reverse_request_names_its_direction_and_capability() {
    let source = extended(
        r##""InitializeRequestArguments": {"type": "object", "properties": {"supportsAskRequest": {"type": "boolean"}}},
            "AskRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "required": ["command"], "properties": {
                "command": {"type": "string", "enum": ["ask"]}}}]}"##,
    );
    let source = source.expect("it can be generated");
    for part in [
        "use dapple_dap::message::Direction;\n",
        "use dapple_dap::types::Empty;\n",
        "use dapple_dap::Request;\n",
        "const CAPABILITY: Option<&'static str> = Some(\"supportsAskRequest\");\n",
        "const DIRECTION: Direction = Direction::ToClient;\n",
    ] {
        assert!(source.contains(part), "{part}\n{source}");
    }
}

#[test]
fn what_a_crate_beside_dapple_dap_cannot_have_is_refused() {
    let cases = [
        (
            r#""Raw": {"type": "object"}"#,
            "two items would be called `Raw`: rename the property or definition behind one of them",
        ),
        (
            r##""D": {"type": "object", "properties": {"source": {"type": "object", "properties": {"s": {"$ref": "#/definitions/DSource"}}}}},
                "DSource": {"type": "object"}"##,
            "two items would be called `DSource`: rename the property or definition behind one of them",
        ),
        (
            r#""D": {"type": "object", "deprecated": true}"#,
            "definition `D`, at `.`: the keyword `deprecated` is not known, and types that leave it out may be wrong: remove it from the definition",
        ),
    ];
    for (definitions, error) in cases {
        assert_eq!(extended(definitions), Err(error.to_owned()));
    }
    // A base that isn't the protocol of `dapple-dap`, and has an unknown keyword that nothing added depends on.
    let base = r#"{"definitions": {"Odd": {"type": "object", "deprecated": true}, "Thread": {"type": "object"}}}"#;
    let base = Model::parse(base).expect("it is well-formed");
    let adding = |name: &str| {
        let own = format!(
            r##"{{"definitions": {{"D": {{"type": "object", "properties": {{"p": {{"$ref": "#/definitions/{name}"}}}}}}}}}}"##
        );
        let model = base.extended_by(&own).expect("it is well-formed");
        rust::generate_extension(&model, &base, &rust::Options::default())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert_eq!(adding("Thread"), Ok(()));
    assert_eq!(
        adding("Odd"),
        Err("`Odd` of the base is not in dapple-dap: move the definition to the file that adds to the base".to_owned())
    );
}

/// A session in which both sides use the generated types.
const MAIN: &str = r##"//! Sends a request of the crate's own to an adapter, which answers with an event before.

use dapple_dap::types::{Empty, InitializeRequest, InitializeRequestArguments, IntegerOrString, Raw, Source, StackFrame};
use dapple_dap::{Client, Connection, Server};
use example::own::*;
use std::time::Duration;

fn main() {
    let server = Server::<()>::builder()
        .on::<HeapRequest>(|_, arguments, context| {
            context.outbox().event::<HeapGrownEvent>(HeapGrownEventBody::new(arguments.arena * 2));
            let block = HeapResponseBlocks::new("0x10").with_frames(vec![StackFrame::new(1, "main", 3, 1)]);
            Ok(HeapResponse::new(vec![block]).with_arguments(arguments))
        })
        .on::<PingRequest>(|_, _, _| Ok(Empty))
        .build();
    let (client, adapter) = Connection::memory();
    let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    let client = Client::new(client);
    client.request::<InitializeRequest>(InitializeRequestArguments::new("any")).expect("it is answered");
    let arguments = HeapArguments::new(21, None, 100.0)
        .with_limit(0.5)
        .with_where(Source::new().with_path("/a.c"))
        .with_order(HeapOrder::ByAge)
        .with_mark(Raw::from_text("null").expect("it is JSON"))
        .with_id(IntegerOrString::from("x"))
        .with_type(HeapArgumentsType::Other("huge".to_owned()));
    let response = client.request::<HeapRequest>(arguments.clone()).expect("it is answered");
    assert_eq!(response.arguments, Some(arguments.clone()));
    assert_eq!(response.blocks[0].frames.as_ref().map(|frames| frames[0].line), Some(3));
    let grown = client.wait_for::<HeapGrownEvent>(Duration::from_secs(30), |_| true).expect("it comes");
    assert_eq!(grown.bytes, 42);
    client.request::<PingRequest>(Empty).expect("it is answered");
    drop(client);
    thread.join().expect("the adapter ends");

    println!("{}", Raw::new(&arguments).expect("it can be written").text());
    let decode = |text: &str| Raw::from_text(text).expect("it is JSON").decode::<HeapArguments>();
    let read = decode(r#"{"arena":1,"owner":"me","ratio":1,"limit":null,"type":"very small"}"#).expect("it is as defined");
    assert_eq!(read, HeapArguments::new(1, Some("me".to_owned()), 1.0).with_type(HeapArgumentsType::VerySmall));
    println!("{}", decode(r#"{"arena":1,"ratio":1}"#).expect_err("the owner may be null, not absent"));
    println!("{}", decode(r#"{"arena":1,"owner":null,"ratio":1,"order":"age"}"#).expect_err("it is not listed"));
    assert_eq!(HeapOrder::ByAge.as_str(), "by age");
}
"##;

#[test]
fn a_crate_with_the_generated_types_speaks_with_dapple_dap() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let own = extended(OWN).expect("it can be generated");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the workspace is there");
    let folder = programs::folder("extension");
    std::fs::create_dir_all(folder.join("src")).expect("the target directory can be written");
    let manifest = format!(
        "[package]\nname = \"example\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.dev]\ndebug = false\n\n[dependencies]\n\
         dapple-dap = {{ path = {:?} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n",
        root.join("crates/dap")
    );
    programs::write(&folder, "Cargo.toml", &manifest);
    // The versions of the workspace, which are there.
    let lock =
        std::fs::read_to_string(root.join("Cargo.lock")).expect("the workspace has its lock file");
    programs::write(&folder, "Cargo.lock", &lock);
    programs::write(&folder, "src/own.rs", &own);
    programs::write(
        &folder,
        "src/lib.rs",
        "//! Requests of our own.\n#![deny(warnings, missing_docs)]\n\npub mod own;\n",
    );
    programs::write(&folder, "src/main.rs", MAIN);
    let mut run = Command::new(cargo);
    run.args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("extension-target"))
        .current_dir(&folder);
    let printed = programs::succeeds(&mut run);
    expect![[r#"
        {"arena":21,"owner":null,"ratio":100,"limit":0.5,"where":{"path":"/a.c"},"order":"by age","mark":null,"id":"x","type":"huge"}
        missing field `owner`
        `order`: unknown variant `age`, expected `size` or `by age`
    "#]].assert_eq(&printed);
}
