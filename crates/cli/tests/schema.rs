//! `dapple schema`: its output, and its errors for invalid files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Run, dapple, scratch};
use expect_test::{Expect, expect};

/// A definition with one request.
const GREET: &str = r##"{
    "title": "Greeting", "description": "A protocol for the polite.",
    "definitions": {
        "ProtocolMessage": {"type": "object", "title": "Base", "required": ["seq", "type"], "properties": {
            "seq": {"type": "integer", "format": "int32", "minimum": 1},
            "type": {"type": "string", "_enum": ["request"]}
        }},
        "Request": {"allOf": [{"$ref": "#/definitions/ProtocolMessage"}, {"type": "object", "properties": {
            "type": {"type": "string", "enum": ["request"]}, "command": {"type": "string"}
        }, "required": ["type", "command"]}]},
        "GreetRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "description": "Says hello.",
            "required": ["command", "arguments"], "properties": {
            "command": {"type": "string", "enum": ["greet"]}, "arguments": {"$ref": "#/definitions/GreetArguments"}
        }}]},
        "GreetArguments": {"type": "object", "required": ["whom"], "properties": {
            "whom": {"type": "string", "description": "Who is greeted."}
        }}
    }
}"##;

/// A folder for the files of the running test.
fn room() -> PathBuf {
    let thread = std::thread::current();
    scratch(&format!("schema/{}", thread.name().unwrap_or("test")))
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = room().join(name);
    std::fs::write(&path, text).expect("the target directory can be written");
    path
}

/// `dapple schema …`, run in the test's folder so that file names in messages are short.
fn schema(arguments: &[&str]) -> Command {
    let mut command = dapple();
    command.current_dir(room()).arg("schema").args(arguments);
    command
}

#[track_caller]
fn prints(arguments: &[&str], expected: Expect) {
    let run = Run::of(&mut schema(arguments));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:#?}");
    expected.assert_eq(&run.stdout);
}

#[test]
fn typescript_is_generated() {
    file("greet.json", GREET);
    prints(
        &[
            "generate",
            "typescript",
            "--module",
            "Greeting",
            "greet.json",
        ],
        expect![[r#"
            /** Declarations for: Greeting. Generated from its JSON schema: change that, not this. */
            export declare module Greeting {

            	interface ProtocolMessage {
            		seq: number;
            		/** Values: 'request', etc. */
            		type: 'request' | string;
            	}

            	interface Request extends ProtocolMessage {
            		// type: 'request';
            		command: string;
            	}

            	/** Greet request; value of command field is 'greet'.
            		Says hello.
            	*/
            	interface GreetRequest extends Request {
            		// command: 'greet';
            		arguments: GreetArguments;
            	}

            	interface GreetArguments {
            		/** Who is greeted. */
            		whom: string;
            	}
            }

        "#]],
    );
}

#[test]
fn what_is_generated_can_go_to_a_file_and_begin_with_ones_own_words() {
    file("greet.json", GREET);
    file("front.md", "---\nlayout: ours\n---\n\n");
    let to = room().join("greet.md");
    let _ = std::fs::remove_file(&to);
    prints(
        &[
            "generate",
            "markdown",
            "greet.json",
            "--preamble",
            "front.md",
            "-o",
            "greet.md",
        ],
        expect![""],
    );
    let written = std::fs::read_to_string(to).expect("it was written");
    assert!(
        written.starts_with(
            "---\nlayout: ours\n---\n\n## <a name=\"Base\" class=\"anchor\"></a>Base\n\n"
        ),
        "{written}"
    );
}

#[test]
fn rust_is_generated() {
    file("greet.json", GREET);
    let run = Run::of(&mut schema(&["generate", "rust", "greet.json"]));
    assert_eq!(run.code, Some(0), "{run:#?}");
    let origin =
        "//! Written by `dapple schema generate rust`: change the definition, not this file.\n";
    assert!(run.stdout.contains(origin), "{run:#?}");
    assert!(
        run.stdout.contains("pub struct GreetArguments {"),
        "{run:#?}"
    );
    assert!(
        run.stdout.contains("impl Request for GreetRequest"),
        "{run:#?}"
    );
}

#[test]
fn differences_are_listed_in_structure_and_text() {
    file("greet.json", GREET);
    let other = GREET
        .replace("Says hello.", r"Says hello,\nnicely.")
        .replace("\"required\": [\"whom\"], ", "");
    file("other.json", &other);
    prints(
        &["diff", "greet.json", "greet.json"],
        expect![[r#"
            no difference in structure or text (4 definitions)
        "#]],
    );
    let run = Run::of(&mut schema(&["diff", "greet.json", "other.json"]));
    assert_eq!(run.code, Some(1), "{run:#?}");
    expect![[r#"
        GreetArguments.whom: required against optional
        GreetRequest: description
          - Says hello.
          + Says hello,
          + nicely.
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!(
        run.stderr,
        "1 difference in structure, 1 in text: greet.json against other.json\n"
    );
    let run = Run::of(&mut schema(&[
        "diff",
        "--structure",
        "greet.json",
        "other.json",
    ]));
    assert_eq!(
        run.stdout,
        "GreetArguments.whom: required against optional\n"
    );
}

#[test]
fn a_definition_alone_is_compared_with_the_one_inside() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/protocol.json");
    prints(
        &["diff", ours.to_str().expect("the path is text")],
        expect![[r#"
            no difference in structure or text (192 definitions)
        "#]],
    );
}

#[test]
fn messages_are_checked_line_by_line() {
    file(
        "session.ndjson",
        r#"{"seq":1,"type":"request","command":"threads"}

{"time":0.25,"direction":"outgoing","message":{"seq":1,"type":"event","event":"exited","body":{"exitCode":"0"}}}
{"seq":2,"type":"request",
{"seq":3,"type":"request","command":"greet"}
"#,
    );
    let run = Run::of(&mut schema(&["validate", "session.ndjson"]));
    assert_eq!(run.code, Some(1), "{run:#?}");
    expect![[r#"
        session.ndjson:3: `body.exitCode`: expected an integer, found "0"
        session.ndjson:4: not JSON: EOF while parsing a value at column 26
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!(
        run.stderr,
        "session.ndjson: 2 problems in 2 of 4 messages\n"
    );
}

#[test]
fn messages_can_be_checked_against_ones_own_definition_and_come_from_a_pipe() {
    file("greet.json", GREET);
    let mut child = schema(&["validate", "-", "--schema", "greet.json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dapple can be started");
    let mut input = child.stdin.take().expect("it has an input");
    input
        .write_all(b"{\"seq\":3,\"type\":\"request\",\"command\":\"greet\",\"arguments\":{}}\n")
        .expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "standard input:1: `arguments.whom`: is required but not there\n"
    );
}

#[test]
fn files_that_are_no_good_get_one_sentence() {
    let deep = "[".repeat(100_000);
    let cases = [
        (
            "{\"definitions\": {",
            "dapple: bad.json can't be used: the definition file is not valid JSON: EOF while parsing an object at line 1 column 17\n",
        ),
        (
            deep.as_str(),
            "dapple: bad.json can't be used: the definition file is not valid JSON: recursion limit exceeded at line 1 column 128\n",
        ),
        (
            "[1, 2]",
            "dapple: bad.json can't be used: not a protocol definition: the file does not hold an object\n",
        ),
        (
            "{\"name\": \"a package\"}",
            "dapple: bad.json can't be used: not a protocol definition: `name` holding a string is not expected there\n",
        ),
        (
            r#"{"definitions": {"a-b": {"type": "object"}}}"#,
            "dapple: no TypeScript can be made of bad.json: `a-b` can't be the name of a TypeScript type: rename the definition\n",
        ),
    ];
    for (text, message) in cases {
        file("bad.json", text);
        Run::of(&mut schema(&["generate", "typescript", "bad.json"])).assert_fails(message);
    }
    std::fs::write(room().join("bytes.json"), b"\xff\xfe\x00").expect("it can be written");
    Run::of(&mut schema(&["diff", "bytes.json"]))
        .assert_fails("dapple: can't read bytes.json: stream did not contain valid UTF-8\n");
    Run::of(&mut schema(&["validate", "nowhere.ndjson"])).assert_fails(
        "dapple: can't read nowhere.ndjson: No such file or directory (os error 2)\n",
    );
    Run::of(&mut schema(&[
        "generate", "markdown", "--module", "M", "bad.json",
    ]))
    .assert_fails("dapple: only TypeScript and Go have a --module\n");
}

#[test]
fn a_definition_may_add_to_another() {
    file("greet.json", GREET);
    file(
        "wave.json",
        r##"{"definitions": {"WaveRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "required": ["command", "arguments"],
            "properties": {"command": {"type": "string", "enum": ["wave"]}, "arguments": {"$ref": "#/definitions/GreetArguments"}}}]}}}"##,
    );
    file(
        "session.ndjson",
        r#"{"seq":1,"type":"request","command":"wave","arguments":{"whom":7}}"#,
    );
    let alone = "dapple: wave.json can't be used: definition `WaveRequest`, at `.`: its base `Request` is not defined\n";
    Run::of(&mut schema(&["generate", "typescript", "wave.json"])).assert_fails(alone);
    let base = ["--base", "greet.json"];
    let run = Run::of(schema(&["generate", "typescript", "wave.json"]).args(base));
    assert!(run.stdout.contains("interface GreetRequest "), "{run:#?}");
    assert!(run.stdout.contains("interface WaveRequest "), "{run:#?}");
    let run = Run::of(schema(&["validate", "session.ndjson", "--schema", "wave.json"]).args(base));
    assert_eq!(
        run.stdout,
        "session.ndjson:1: `arguments.whom`: expected a string, found 7\n"
    );
}

/// A definition with keywords that the model has no place for.
const NEWER: &str = r#"{"definitions": {"A": {"type": "object", "deprecated": true, "properties": {
    "p": {"type": "string", "pattern": "x"}}}}}"#;

#[test]
fn unknown_keywords_are_warnings_but_for_rust() {
    file("newer.json", NEWER);
    file("session.ndjson", "");
    let warnings = "dapple: warning: newer.json: definition `A`, at `.`: the keyword `deprecated` is not known\n\
                    dapple: warning: newer.json: definition `A`, at `p`: the keyword `pattern` is not known\n";
    let commands: [&[&str]; 6] = [
        &["generate", "typescript", "newer.json"],
        &["generate", "markdown", "newer.json"],
        &["generate", "python", "newer.json"],
        &["generate", "go", "newer.json"],
        &["diff", "newer.json", "newer.json"],
        &["validate", "session.ndjson", "--schema", "newer.json"],
    ];
    for command in commands {
        let run = Run::of(&mut schema(command));
        // Both files of `diff` are this one.
        let expected = if command[0] == "diff" {
            warnings.repeat(2)
        } else {
            warnings.to_owned()
        };
        assert_eq!((run.code, run.stderr), (Some(0), expected), "{command:?}");
    }
    Run::of(&mut schema(&["generate", "rust", "newer.json"])).assert_fails(
        "dapple: no Rust can be made of newer.json: definition `A`, at `.`: the keyword `deprecated` is not known, and types that \
         leave it out may be wrong: remove it from the definition\n",
    );
    // A base's are told once, with its own name.
    file(
        "own.json",
        r##"{"definitions": {"B": {"$ref": "#/definitions/A"}}}"##,
    );
    let base = ["generate", "typescript", "own.json", "--base", "newer.json"];
    assert_eq!(Run::of(&mut schema(&base)).stderr, warnings);
}

#[test]
fn the_definitions_origin_is_told() {
    let run = Run::of(&mut schema(&["check"]));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:#?}");
    for part in [
        "The Debug Adapter Protocol, version 1.71\n",
        "source:     https://github.com/microsoft/debug-adapter-protocol/",
        "sha256:     ff8ae4c6cfd588a050e9346c35fd104748a27ef4518d1c3268529ca6f8ff5818\n",
        "Dapple's definition, 192 definitions\n",
        " (as recorded)\n",
        "download https://raw.githubusercontent.com/microsoft/debug-adapter-protocol/main/debugAdapterProtocol.json and run",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run:#?}");
    }
}

#[test]
fn a_file_is_compared_with_the_recorded_definition() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/protocol.json");
    let ours = std::fs::read_to_string(path).expect("the project's definition is there");
    file("ours.json", &ours);
    prints(
        &["check", "ours.json"],
        expect![[r#"
            ours.json: Dapple's own definition of version 1.71
        "#]],
    );
    let values = r#""_enum": [ "request", "response", "event" ]"#;
    let newer = r#""deprecated": true, "_enum": [ "request", "response", "event", "stream" ]"#;
    assert!(ours.contains(values));
    file("newer.json", &ours.replacen(values, newer, 1));
    let run = Run::of(&mut schema(&["check", "newer.json"]));
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert_eq!(
        run.stdout,
        "ProtocolMessage.type: the value \"stream\" against nothing\n"
    );
    expect![[r#"
        dapple: warning: newer.json: definition `ProtocolMessage`, at `type`: the keyword `deprecated` is not known
        newer.json: probably newer than version 1.71: it only has more (1 difference in structure)
        the newest official definition: https://raw.githubusercontent.com/microsoft/debug-adapter-protocol/main/debugAdapterProtocol.json
    "#]].assert_eq(&run.stderr);
    file("bad.json", "{}");
    Run::of(&mut schema(&["check", "bad.json"])).assert_fails(
        "dapple: bad.json can't be used: not a protocol definition: it has no `definitions`\n",
    );
}

/// What adds a request to the protocol.
const WAVE: &str = r##"{"title": "Waving", "definitions": {
    "WaveRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "required": ["command", "arguments"], "properties": {
        "command": {"type": "string", "enum": ["wave"]}, "arguments": {"$ref": "#/definitions/WaveArguments"}}}]},
    "WaveArguments": {"type": "object", "required": ["source"], "properties": {"source": {"$ref": "#/definitions/Source"}}}
}}"##;

#[test]
fn rust_for_ones_own_requests_has_only_them() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/protocol.json");
    let base = ["--base", ours.to_str().expect("the path is text")];
    file("wave.json", WAVE);
    let run = Run::of(schema(&["generate", "rust", "wave.json"]).args(base));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:#?}");
    assert!(
        run.stdout
            .contains("use dapple_dap::types::{Empty, Source};\n"),
        "{run:#?}"
    );
    assert!(
        run.stdout.contains("impl Request for WaveRequest {"),
        "{run:#?}"
    );
    let items = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("pub struct "));
    assert_eq!(
        items.collect::<Vec<_>>(),
        ["pub struct WaveRequest;", "pub struct WaveArguments {"]
    );
}

#[test]
fn python_and_go_have_the_bases_types_too() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/protocol.json");
    let base = ["--base", ours.to_str().expect("the path is text")];
    file("wave.json", WAVE);
    let run = Run::of(schema(&["generate", "python", "wave.json"]).args(base));
    assert!(
        run.stdout.starts_with("\"\"\"Types for: Waving. "),
        "{run:#?}"
    );
    for class in ["Source", "WaveArguments", "WaveRequest"] {
        let class = format!("\nclass {class}(TypedDict):\n");
        assert!(run.stdout.contains(&class), "{class}{run:#?}");
    }
    let run = Run::of(schema(&["generate", "go", "wave.json", "--module", "wave"]).args(base));
    assert!(run.stdout.contains("\npackage wave\n"), "{run:#?}");
    for item in ["Source", "WaveArguments", "WaveRequest"] {
        let item = format!("\ntype {item} struct {{\n");
        assert!(run.stdout.contains(&item), "{item}{run:#?}");
    }
    Run::of(schema(&["generate", "go", "wave.json", "--module", "Wave"]).args(base)).assert_fails(
        "dapple: no Go can be made of wave.json: `Wave` can't be the name of a Go package\n",
    );
}

#[test]
fn order_and_lifecycle_are_checked_where_a_recording_says_who_sent_what() {
    file(
        "session.ndjson",
        r#"{"session":"a","time":0,"from":"client","message":{"seq":1,"type":"request","command":"threads"}}
{"session":"a","time":0,"from":"client","message":{"seq":2,"type":"request","command":"initialize","arguments":{"adapterID":"x","supportsProgressReporting":true}}}
{"session":"b","time":0,"from":"client","message":{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}}
{"session":"a","time":0,"from":"adapter","message":{"seq":1,"type":"response","request_seq":1,"success":true,"command":"threads","body":{"threads":[]}}}
{"session":"a","time":0,"from":"adapter","message":{"seq":3,"type":"response","request_seq":2,"success":true,"command":"initialize","body":{}}}
{"session":"b","time":0,"from":"adapter","message":{"seq":1,"type":"event","event":"initialized"}}
{"session":"b","time":0,"from":"adapter","message":{"seq":2,"type":"response","request_seq":1,"success":true,"command":"initialize"}}
{"session":"a","time":0,"from":"adapter","message":{"seq":4,"type":"event","event":"progressStart","body":{"progressId":"p","title":"t"}}}
{"session":"b","time":0,"from":"adapter","message":{"seq":3,"type":"response","request_seq":9,"success":true,"command":"next"}}
{"session":"a","time":0,"from":"adapter","message":{"seq":5,"type":"event","event":"terminated"}}
{"session":"a","time":0,"from":"adapter","message":{"seq":6,"type":"event","event":"exited","body":{"exitCode":0}}}
{"session":"b","time":0,"from":"client","message":"{\"seq\":2,\"type\":\"request\",\"command\":\"threads\"}"}
"#,
    );
    let run = Run::of(&mut schema(&["validate", "session.ndjson"]));
    assert_eq!(run.code, Some(1), "{run:#?}");
    expect![[r#"
        session.ndjson:1: `threads` came before `initialize`; the first request must be `initialize` (session a)
        session.ndjson:5: `seq` is 3, expected 2 (session a)
        session.ndjson:6: `initialized` was sent before the response to `initialize` (session b)
        session.ndjson:9: a response to request 9 (`next`), which is not waiting for one (session b)
        session.ndjson:11: advice: `exited` was sent after `terminated`; clients may no longer listen (session a)
        session.ndjson: note: where the recording ends, progress "p" of session a has not ended
        session.ndjson: note: where the recording ends, the client's request 2 (`threads`) of session b is not answered
    "#]].assert_eq(&run.stdout);
    assert_eq!(
        run.stderr,
        "session.ndjson: 4 problems in 4 of 12 messages\n"
    );
}

#[test]
fn a_recording_may_end_before_its_session() {
    file(
        "session.ndjson",
        r#"{"time":0,"from":"client","message":{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x","supportsProgressReporting":true}}}
{"time":0,"from":"adapter","message":{"seq":1,"type":"response","request_seq":1,"success":true,"command":"initialize"}}
{"time":0,"from":"adapter","message":{"seq":2,"type":"event","event":"progressStart","body":{"progressId":"p","title":"t"}}}
{"time":0,"from":"client","message":{"seq":2,"type":"request","command":"threads"}}
"#,
    );
    prints(
        &["validate", "session.ndjson"],
        expect![[r#"
        session.ndjson: note: where the recording ends, the client's request 2 (`threads`) is not answered
        session.ndjson: note: where the recording ends, progress "p" has not ended
        session.ndjson: 4 messages, no problem
    "#]],
    );
}
