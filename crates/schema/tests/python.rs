//! The generated Python: its conventions, on small definitions; and the protocol's types before Python's tools, and on messages.

#[path = "programs/mod.rs"]
mod programs;
#[path = "samples/mod.rs"]
mod samples;
#[path = "programs/tools.rs"]
mod tools;

use dapple_schema::Model;
use dapple_schema::python::{self, Options};
use expect_test::{Expect, expect};
use std::path::PathBuf;
use std::process::Command;

/// What is generated for some definitions, behind the imports.
fn generated(definitions: &str) -> Result<String, String> {
    let model = Model::parse(&format!("{{\"definitions\": {{{definitions}}}}}"))
        .expect("the test's definitions are well-formed");
    let options = Options {
        preamble: Some(String::new()),
    };
    let module = python::generate(&model, &options).map_err(|error| error.to_string())?;
    let (_, classes) = module
        .split_once("    from typing_extensions import NotRequired\n")
        .expect("it has imports");
    Ok(classes.to_owned())
}

#[track_caller]
fn declares(definitions: &str, expected: Expect) {
    expected.assert_eq(&generated(definitions).expect("it can be generated"));
}

#[test]
fn every_type_has_its_expression() {
    declares(
        r##""All": {"type": "object", "description": "All of \"it\"\\ \"\"\"", "required": ["nullable", "ref"], "properties": {
            "any": {"type": ["array", "boolean", "integer", "null", "number", "object", "string"]},
            "flag": {"type": "boolean"},
            "whole": {"type": "integer", "format": "int32", "minimum": 1},
            "part": {"type": "number", "maximum": 100},
            "nullable": {"type": ["string", "null"]},
            "either": {"type": ["integer", "string"]},
            "lines": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "opaque": {"type": "object"},
            "ref": {"$ref": "#/definitions/Word"},
            "one": {"oneOf": [{"$ref": "#/definitions/Word"}, {"type": "null"}]},
            "block": {"type": "array", "items": {"type": "object", "additionalProperties": true, "required": ["x"], "properties": {
                "x": {"type": "integer", "description": "Across."}
            }}},
            "mood": {"type": "string", "_enum": ["good", "b\"ad"], "enumDescriptions": ["Fine.", "Not."]}
        }},
        "Word": {"type": "string", "enum": ["a"]},
        "Words": {"type": "array", "items": {"$ref": "#/definitions/Word"}}"##,
        expect![[r#"


            class AllBlock(TypedDict):
                """The `block` of `All`.
                Other keys are allowed, too.
                """

                x: int
                """Across."""


            class All(TypedDict):
                """All of "it"\\ \"\"\\""""

                any: NotRequired[Any]

                flag: NotRequired[bool]

                whole: NotRequired[int]
                """Range: 1..=2147483647."""

                part: NotRequired[float]
                """Range: up to 100."""

                nullable: str | None

                either: NotRequired[int | str]

                lines: NotRequired[list[str]]

                map: NotRequired[dict[str, str | None]]

                opaque: NotRequired[dict[str, Any]]

                ref: Word

                one: NotRequired[Word | None]

                block: NotRequired[list[AllBlock]]

                mood: NotRequired[Literal["good", "b\"ad"] | str]
                """- "good": Fine.
                - "b\\"ad": Not.
                """

            Word = Literal["a"]

            Words = Union["list[Word]"]
        "#]],
    );
}

#[test]
fn names_that_a_class_cant_have_are_in_a_dictionary() {
    declares(
        r##""D": {"type": "object", "description": "Odd names.", "required": ["from"], "properties": {
            "from": {"type": "string", "description": "Where from."}, "__restart": {}, "two words": {"$ref": "#/definitions/D"}}}"##,
        expect![[r#"


            # Odd names.
            D = TypedDict(
                "D",
                {
                    # Where from.
                    "from": "str",
                    "__restart": "NotRequired[Any]",
                    "two words": "NotRequired[D]",
                },
            )
        "#]],
    );
}

#[test]
fn messages_are_told_apart_by_literals() {
    declares(
        r##""Request": {"type": "object", "required": ["type", "command"], "properties": {
            "type": {"type": "string", "enum": ["request"], "description": "Its kind."}, "command": {"type": "string"}}},
        "Response": {"type": "object", "required": ["success", "command"], "properties": {
            "success": {"type": "boolean"}, "command": {"type": "string"}, "body": {}}},
        "ErrorResponse": {"allOf": [{"$ref": "#/definitions/Response"}, {"type": "object"}]},
        "GreetRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "required": ["command"], "properties": {
            "command": {"type": "string", "enum": ["greet"]}}}]},
        "GreetResponse": {"allOf": [{"$ref": "#/definitions/Response"}, {"type": "object", "properties": {
            "body": {"type": "object", "properties": {"text": {"type": "string"}}}}}]}"##,
        expect![[r#"


            class Request(TypedDict):
                """The protocol's `Request`."""

                type: Literal["request"]
                """Its kind."""

                command: str


            class Response(TypedDict):
                """The protocol's `Response`."""

                success: bool

                command: str

                body: NotRequired[Any]


            class ErrorResponse(TypedDict):
                """The protocol's `ErrorResponse`."""

                success: Literal[False]

                command: str

                body: NotRequired[Any]


            class GreetRequest(TypedDict):
                """The protocol's `GreetRequest`."""

                type: Literal["request"]

                command: Literal["greet"]


            class GreetResponseBody(TypedDict):
                """The `body` of `GreetResponse`."""

                text: NotRequired[str]


            class GreetResponse(TypedDict):
                """The protocol's `GreetResponse`."""

                success: Literal[True]

                command: Literal["greet"]

                body: NotRequired[GreetResponseBody]

            AnyRequest = Union[
                GreetRequest,
            ]
            """Any request, whichever side sends it."""

            AnyResponse = Union[
                GreetResponse,
                ErrorResponse,
            ]
            """Any response: of a request that succeeded or failed."""

            AnyMessage = Union[AnyRequest, AnyResponse]
            """Any message."""

            REQUESTS: dict[str, Any] = {
                "greet": GreetRequest,
            }
            """The class of each request, by its command."""

            RESPONSES: dict[str, Any] = {
                "greet": GreetResponse,
            }
            """The class of each successful response, by its command."""

            EVENTS: dict[str, Any] = {
            }
            """The class of each event, by its name."""


            def decode(text: str | bytes) -> AnyMessage:
                """Reads a message's JSON, without the header.

                Only the kind of message is checked. A command or event that isn't listed here is returned, too: keep a branch for it.
                A ValueError says that the text isn't JSON or isn't a message.
                """
                message = json.loads(text)
                kind = message.get("type") if isinstance(message, dict) else None
                name = {"request": "command", "response": "command", "event": "event"}.get(str(kind))
                if name is None or not isinstance(message.get(name), str):
                    raise ValueError("not a request, a response or an event")
                return cast(AnyMessage, message)
        "#]],
    );
}

#[test]
fn names_that_python_refuses_or_that_collide_are_errors() {
    let cases = [
        (
            r#""a-b": {"type": "object"}"#,
            "`a-b` can't be the name of a Python class here: rename the definition",
        ),
        (
            r#""None": {"type": "object"}"#,
            "`None` can't be the name of a Python class here: rename the definition",
        ),
        (
            r#""AnyEvent": {"type": "object"}"#,
            "two classes would be called `AnyEvent`: rename the property or definition behind one of them",
        ),
        (
            r#""D": {"type": "object", "properties": {"p": {"type": "object", "properties": {"q": {}}}}}, "DP": {"type": "object"}"#,
            "two classes would be called `DP`: rename the property or definition behind one of them",
        ),
    ];
    for (definitions, error) in cases {
        assert_eq!(generated(definitions), Err(error.to_owned()));
    }
}

/// A folder with the module `dap`, generated from `model`.
fn module(name: &str, model: &Model) -> PathBuf {
    let module = python::generate(model, &Options::default()).expect("it can be generated");
    let folder = programs::folder(name);
    programs::write(&folder, "dap.py", &module);
    folder
}

fn python() -> Option<String> {
    let recent = "import sys; assert sys.version_info >= (3, 11)";
    tools::tool("DAPPLE_PYTHON", "python3", &["-c", recent])
}

/// Reads a message on each line, checks each value in it against the class of its command or event, and writes it again.
const ECHO: &str = r#"
import functools, json, sys, typing
import dap

@functools.cache
def hints_of(ty):
    return typing.get_type_hints(ty, vars(dap), include_extras=True)

def check(value, ty, path):
    origin, arguments = typing.get_origin(ty), typing.get_args(ty)
    if ty is typing.Any:
        return []
    if origin is typing.Literal:
        return [] if value in arguments else [f"{path}: {value!r} is not in {ty}"]
    if origin is typing.NotRequired:
        return check(value, arguments[0], path)
    if origin is typing.Union or str(type(ty)) == "<class 'types.UnionType'>":
        found = [check(value, one, path) for one in arguments]
        return min(found, key=len)
    if origin is list:
        if not isinstance(value, list):
            return [f"{path}: {value!r} is no list"]
        return [wrong for i, one in enumerate(value) for wrong in check(one, arguments[0], f"{path}[{i}]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{path}: {value!r} is no dict"]
        return [wrong for key, one in value.items() for wrong in check(one, arguments[1], f"{path}.{key}")]
    if typing.is_typeddict(ty):
        if not isinstance(value, dict):
            return [f"{path}: {value!r} is no dict"]
        hints = hints_of(ty)
        needed = {key for key, hint in hints.items() if typing.get_origin(hint) is not typing.NotRequired}
        wrong = [f"{path}.{key}: missing" for key in needed if key not in value]
        wrong += [f"{path}.{key}: not a key of {ty}" for key in value if key not in hints and not (ty in OPEN or ty in KEEPS)]
        for key, hint in hints.items():
            if key in value:
                wrong += check(value[key], hint, f"{path}.{key}")
        return wrong
    if ty is None or ty is type(None):
        return [] if value is None else [f"{path}: {value!r} is not None"]
    fits = isinstance(value, (int, float) if ty is float else ty) and isinstance(value, bool) == (ty is bool)
    return [] if fits else [f"{path}: {value!r} is not {ty}"]

OPEN = [dap.LaunchRequestArguments, dap.AttachRequestArguments]
KEEPS = [dap.Capabilities]

for line in sys.stdin:
    message = dap.decode(line)
    table = {"request": dap.REQUESTS, "response": dap.RESPONSES, "event": dap.EVENTS}[message["type"]]
    ty = table[message.get("command") or message.get("event")] if message.get("success", True) else dap.ErrorResponse
    wrong = check(message, ty, ty.__name__)
    assert not wrong, wrong
    print(json.dumps(message))

for text in ["[]", "{}", '{"type":"event"}', '{"type":"even","event":"x"}']:
    try:
        dap.decode(text)
    except ValueError as error:
        assert str(error) == "not a request, a response or an event"
    else:
        raise AssertionError(text)
"#;

#[test]
fn the_protocols_messages_fit_the_classes_of_their_names() {
    let Some(python) = python() else { return };
    let model = Model::protocol().expect("the project's definition is well-formed");
    let folder = module("python-echo", &model);
    programs::write(&folder, "echo.py", ECHO);
    let mut compile = Command::new(&python);
    programs::succeeds(
        compile
            .args(["-m", "py_compile", "dap.py"])
            .current_dir(&folder),
    );
    let mut messages = samples::recorded(&model);
    assert!(messages.len() > 50, "there are recorded messages");
    messages.extend(samples::made(&model));
    let mut echo = Command::new(&python);
    tools::writes_back(echo.arg("echo.py").current_dir(&folder), &messages);
}

/// A program that type checkers accept: each message is known by its literals.
const GOOD: &str = r#"
from dap import AnyMessage, AnyRequest, GreetRequest, SetBreakpointsArguments, SteppingGranularity, decode


def told(message: AnyMessage) -> str | None:
    if message["type"] == "event":
        if message["event"] == "stopped":
            return message["body"]["reason"]
        if message["event"] == "exited":
            return str(message["body"]["exitCode"] + 1)
    elif message["type"] == "response":
        if message["success"] is False:
            return message.get("message")
        if message["command"] == "threads":
            return message["body"]["threads"][0]["name"]
    elif message["command"] == "greet":
        return message["arguments"]["whom"].get("path")
    return None


breakpoints: SetBreakpointsArguments = {"source": {"path": "/a.c"}, "breakpoints": [{"line": 3}]}
granularity: SteppingGranularity = "line"
greet: GreetRequest = {"seq": 1, "type": "request", "command": "greet", "arguments": {"whom": {"name": "x"}}}
requests: list[AnyRequest] = [
    greet,
    {"seq": 2, "type": "request", "command": "setBreakpoints", "arguments": breakpoints},
]
print(told(decode('{"seq":1,"type":"event","event":"exited","body":{"exitCode":6}}')), told(greet), len(requests))
"#;

/// Lines that type checkers refuse, with what mypy calls the mistake.
const BAD: [(&str, &str); 6] = [
    (r#"a: dap.Thread = {"id": 1}"#, "typeddict-item"),
    (
        r#"b: dap.Thread = {"id": "1", "name": "x"}"#,
        "typeddict-item",
    ),
    (r#"c: dap.Source = {"nmae": "x"}"#, "typeddict-unknown-key"),
    (r#"d: dap.SteppingGranularity = "word""#, "assignment"),
    (
        r#"e: dap.NextRequest = {"seq": 1, "type": "request", "command": "nxt", "arguments": {"threadId": 1}}"#,
        "typeddict-item",
    ),
    (r#"f = dap.decode("")["body"]"#, "typeddict-item"),
];

#[test]
fn type_checkers_know_each_message_by_its_literals() {
    let Some(mypy) = tools::tool("DAPPLE_MYPY", "mypy", &["--version"]) else {
        return;
    };
    let model = Model::protocol().expect("the project's definition is well-formed");
    let model = model
        .extended_by(
            r##"{"definitions": {
            "GreetRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "required": ["command", "arguments"],
                "properties": {"command": {"type": "string", "enum": ["greet"]}, "arguments": {"$ref": "#/definitions/GreetArguments"}}}]},
            "GreetArguments": {"type": "object", "required": ["whom"], "properties": {"whom": {"$ref": "#/definitions/Source"}}}
        }}"##,
        )
        .expect("the test's definitions are well-formed");
    let folder = module("python-checked", &model);
    programs::write(&folder, "good.py", GOOD);
    let check = |file: &str| {
        let mut command = Command::new(&mypy);
        command.args(["--strict", "--python-version", "3.11", file]);
        programs::run(command.current_dir(&folder))
    };
    for file in ["dap.py", "good.py"] {
        let (accepted, said) = check(file);
        assert!(accepted, "{file}:\n{said}");
    }
    let lines: Vec<&str> = BAD.iter().map(|(line, _)| *line).collect();
    programs::write(
        &folder,
        "bad.py",
        &format!("import dap\n{}\n", lines.join("\n")),
    );
    let (_, said) = check("bad.py");
    for (i, (line, mistake)) in BAD.iter().enumerate() {
        let at = format!("bad.py:{}: error:", i + 2);
        let found = said
            .lines()
            .any(|said| said.starts_with(&at) && said.ends_with(&format!("[{mistake}]")));
        assert!(found, "{line} is refused as {mistake}:\n{said}");
    }
    if let Some(python) = python() {
        let mut good = Command::new(python);
        let printed = programs::succeeds(good.arg("good.py").current_dir(&folder));
        assert_eq!(printed, "7 None 2\n");
    }
}
