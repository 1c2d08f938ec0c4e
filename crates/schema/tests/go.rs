//! The generated Go: its conventions, on small definitions; and the protocol's types before Go's tools, and on messages.

#[path = "programs/mod.rs"]
mod programs;
#[path = "samples/mod.rs"]
mod samples;
#[path = "programs/tools.rs"]
mod tools;

use dapple_schema::Model;
use dapple_schema::go::{self, Options};
use expect_test::{Expect, expect};
use std::path::{Path, PathBuf};
use std::process::Command;

fn model(definitions: &str) -> Model {
    Model::parse(&format!("{{\"definitions\": {{{definitions}}}}}"))
        .expect("the test's definitions are well-formed")
}

/// What is generated for some definitions, up to what every package has.
fn generated(definitions: &str) -> Result<String, String> {
    let options = Options {
        preamble: Some(String::new()),
        ..Options::default()
    };
    let package = go::generate(&model(definitions), &options).map_err(|error| error.to_string())?;
    let end = package
        .find("\n// Of returns")
        .expect("it has its own functions");
    Ok(package[..end].to_owned())
}

#[track_caller]
fn declares(definitions: &str, expected: Expect) {
    expected.assert_eq(&generated(definitions).expect("it can be generated"));
}

#[test]
fn every_type_has_its_form() {
    declares(
        r##""All": {"type": "object", "description": "All of it.", "required": ["nullable", "ref", "list"], "properties": {
            "any": {"type": ["array", "boolean", "integer", "null", "number", "object", "string"]},
            "flag": {"type": "boolean"},
            "whole": {"type": "integer", "format": "int32", "minimum": 1},
            "part": {"type": "number", "maximum": 100},
            "nullable": {"type": ["string", "null"]},
            "maybeNull": {"type": ["string", "null"]},
            "either": {"type": ["integer", "string"]},
            "list": {"type": "array", "items": {"type": "string"}},
            "eithers": {"type": "array", "items": {"type": ["integer", "string"]}},
            "map": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "opaque": {"type": "object"},
            "ref": {"$ref": "#/definitions/Word"},
            "one": {"oneOf": [{"$ref": "#/definitions/Word"}, {"type": "null"}]},
            "block": {"type": "array", "items": {"type": "object", "required": ["x"], "properties": {
                "x": {"type": "integer", "description": "Across."}
            }}},
            "two words": {"type": "null"},
            "mood": {"type": "string", "_enum": ["very good", "bad"], "enumDescriptions": ["Fine.", "Not."]}
        }},
        "Word": {"type": "string"}"##,
        expect![[r#"
            package dap

            import "encoding/json"

            // All of it.
            type All struct {
            	// The protocol's `any`.
            	Any json.RawMessage `json:"any,omitempty"`
            	// The protocol's `flag`.
            	Flag *bool `json:"flag,omitempty"`
            	// The protocol's `whole`.
            	// Range: 1..=2147483647.
            	Whole *int `json:"whole,omitempty"`
            	// The protocol's `part`.
            	// Range: up to 100.
            	Part *float64 `json:"part,omitempty"`
            	// The protocol's `nullable`.
            	Nullable *string `json:"nullable"`
            	// The protocol's `maybeNull`.
            	MaybeNull json.RawMessage `json:"maybeNull,omitempty"`
            	// The protocol's `either`.
            	// One of: an integer, a string.
            	Either json.RawMessage `json:"either,omitempty"`
            	// The protocol's `list`.
            	List List[string] `json:"list"`
            	// The protocol's `eithers`.
            	// Each one of: an integer, a string.
            	Eithers *List[json.RawMessage] `json:"eithers,omitempty"`
            	// The protocol's `map`.
            	Map *map[string]*string `json:"map,omitempty"`
            	// The protocol's `opaque`.
            	Opaque *map[string]json.RawMessage `json:"opaque,omitempty"`
            	// The protocol's `ref`.
            	Ref Word `json:"ref"`
            	// The protocol's `one`.
            	// One of: Word, null.
            	One json.RawMessage `json:"one,omitempty"`
            	// The protocol's `block`.
            	Block *List[AllBlock] `json:"block,omitempty"`
            	// The protocol's `two words`.
            	TwoWords json.RawMessage `json:"two words,omitempty"`
            	// The protocol's `mood`.
            	Mood *AllMood `json:"mood,omitempty"`
            }

            // The `block` of All.
            type AllBlock struct {
            	// Across.
            	X int `json:"x"`
            }

            // The values of `mood` of All.
            // Other values are allowed.
            type AllMood string

            const (
            	// Fine.
            	AllMoodVeryGood AllMood = "very good"
            	// Not.
            	AllMoodBad AllMood = "bad"
            )

            // The protocol's `Word`.
            type Word = string
        "#]],
    );
}

#[test]
fn a_message_embeds_its_base_and_is_made_and_decoded_by_its_name() {
    declares(
        r##""Event": {"type": "object", "required": ["type", "event"], "properties": {
            "type": {"type": "string", "enum": ["event"]}, "event": {"type": "string"}}},
        "GrownEvent": {"allOf": [{"$ref": "#/definitions/Event"}, {"type": "object", "required": ["event", "body"], "properties": {
            "event": {"type": "string", "enum": ["heap/grown"]},
            "body": {"type": "object", "additionalProperties": true, "properties": {"bytes": {"type": "integer"}}}
        }}]}"##,
        expect![[r#"
            package dap

            import (
            	"encoding/json"
            	"fmt"
            )

            // The protocol's `Event`.
            type Event struct {
            	// The protocol's `type`.
            	Type EventType `json:"type"`
            	// The protocol's `event`.
            	Event string `json:"event"`
            }

            // The values of `type` of Event.
            type EventType string

            const (
            	// `event`.
            	EventTypeEvent EventType = "event"
            )

            // The protocol's `GrownEvent`.
            type GrownEvent struct {
            	Event
            	// The protocol's `body`.
            	Body GrownEventBody `json:"body"`
            }

            // The `body` of GrownEvent.
            type GrownEventBody struct {
            	// The protocol's `bytes`.
            	Bytes *int `json:"bytes,omitempty"`
            	// Fields that the definition does not list, by name.
            	Other map[string]json.RawMessage `json:"-"`
            }

            // UnmarshalJSON implements json.Unmarshaler.
            func (object *GrownEventBody) UnmarshalJSON(data []byte) error {
            	type plain GrownEventBody
            	if err := json.Unmarshal(data, (*plain)(object)); err != nil {
            		return err
            	}
            	var err error
            	object.Other, err = readOthers(data, "bytes")
            	return err
            }

            // MarshalJSON implements json.Marshaler.
            func (object GrownEventBody) MarshalJSON() ([]byte, error) {
            	type plain GrownEventBody
            	return writeOthers(plain(object), object.Other)
            }

            // NewGrownEvent makes the event `heap/grown`.
            func NewGrownEvent(seq int, body GrownEventBody) *GrownEvent {
            	message := &GrownEvent{Body: body}
            	message.Type = "event"
            	message.Event.Event = "heap/grown"
            	return message
            }

            // newRequest returns an empty request of the type for a command.
            func newRequest(name string) any {
            	switch name {
            	default:
            		return &map[string]json.RawMessage{}
            	}
            }

            // DecodeRequest decodes a request as the type for its command, and returns a pointer to that. With
            // a command that the definition does not list, it is a pointer to the base.
            func DecodeRequest(data []byte) (any, error) {
            	var head struct {
            		Command string
            	}
            	if err := json.Unmarshal(data, &head); err != nil {
            		return nil, err
            	}
            	message := newRequest(head.Command)
            	if err := json.Unmarshal(data, message); err != nil {
            		return nil, fmt.Errorf("command %q: %w", head.Command, err)
            	}
            	return message, nil
            }

            // newResponse returns an empty response of the type for a command.
            func newResponse(name string) any {
            	switch name {
            	default:
            		return &map[string]json.RawMessage{}
            	}
            }

            // DecodeResponse decodes a response as the type for its command, and returns a pointer to that.
            // With a command that the definition does not list, it is a pointer to the base.
            func DecodeResponse(data []byte) (any, error) {
            	var head struct {
            		Command string
            		Success bool
            	}
            	if err := json.Unmarshal(data, &head); err != nil {
            		return nil, err
            	}
            	message := newResponse(head.Command)
            	if err := json.Unmarshal(data, message); err != nil {
            		return nil, fmt.Errorf("command %q: %w", head.Command, err)
            	}
            	return message, nil
            }

            // newEvent returns an empty event of the type for a name.
            func newEvent(name string) any {
            	switch name {
            	case "heap/grown":
            		return &GrownEvent{}
            	default:
            		return &Event{}
            	}
            }

            // DecodeEvent decodes a event as the type for its name, and returns a pointer to that. With a name
            // that the definition does not list, it is a pointer to the base.
            func DecodeEvent(data []byte) (any, error) {
            	var head struct {
            		Event string
            	}
            	if err := json.Unmarshal(data, &head); err != nil {
            		return nil, err
            	}
            	message := newEvent(head.Event)
            	if err := json.Unmarshal(data, message); err != nil {
            		return nil, fmt.Errorf("event %q: %w", head.Event, err)
            	}
            	return message, nil
            }

            // DecodeMessage decodes a request, response or event as DecodeRequest, DecodeResponse and DecodeEvent do.
            func DecodeMessage(data []byte) (any, error) {
            	var head struct {
            		Type string
            	}
            	if err := json.Unmarshal(data, &head); err != nil {
            		return nil, err
            	}
            	switch head.Type {
            	case "request":
            		return DecodeRequest(data)
            	case "response":
            		return DecodeResponse(data)
            	case "event":
            		return DecodeEvent(data)
            	default:
            		return nil, fmt.Errorf("type %q is neither a request, a response nor an event", head.Type)
            	}
            }

            // readOthers returns the fields of an object that are not among the known ones.
            func readOthers(data []byte, known ...string) (map[string]json.RawMessage, error) {
            	var others map[string]json.RawMessage
            	if err := json.Unmarshal(data, &others); err != nil {
            		return nil, err
            	}
            	for _, name := range known {
            		delete(others, name)
            	}
            	if len(others) == 0 {
            		return nil, nil
            	}
            	return others, nil
            }

            // writeOthers writes an object with others behind its own fields.
            func writeOthers(object any, others map[string]json.RawMessage) ([]byte, error) {
            	data, err := json.Marshal(object)
            	if err != nil || len(others) == 0 {
            		return data, err
            	}
            	more, err := json.Marshal(others)
            	if err != nil {
            		return nil, err
            	}
            	if len(data) == len("{}") {
            		return more, nil
            	}
            	data[len(data)-1] = ','
            	return append(data, more[1:]...), nil
            }
        "#]],
    );
}

#[test]
fn names_that_go_refuses_or_that_collide_are_errors() {
    let cases = [
        (
            r#""A-B": {"type": "object"}, "AB": {"type": "object"}"#,
            "two items would be called `AB`: rename the property or definition behind one of them",
        ),
        (
            r#""List": {"type": "object"}"#,
            "two items would be called `List`: rename the property or definition behind one of them",
        ),
        (
            r#""E": {"type": "string", "_enum": ["a b", "aB"]}"#,
            "two items would be called `EAB`: rename the property or definition behind one of them",
        ),
        (
            r#""D": {"type": "object", "properties": {"aB": {"type": "null"}, "a_b": {"type": "null"}}}"#,
            "definition `D`, property `a_b`: a second field would be called `AB`",
        ),
        (
            r#""D": {"type": "object", "properties": {"a,b": {"type": "null"}}}"#,
            "definition `D`, property `a,b`: Go can't read a property of that name into a struct",
        ),
        (
            r#""D": {"type": "object", "properties": {"-": {"type": "null"}}}"#,
            "definition `D`, property `-`: Go can't read a property of that name into a struct",
        ),
    ];
    for (definitions, error) in cases {
        assert_eq!(generated(definitions), Err(error.to_owned()));
    }
    for package in ["", "Dap", "a-b", "func"] {
        let options = Options {
            package: package.into(),
            ..Options::default()
        };
        let error = go::generate(&model(r#""D": {"type": "object"}"#), &options);
        assert_eq!(
            error.expect_err("it is no name").to_string(),
            format!("`{package}` can't be the name of a Go package")
        );
    }
}

/// A module whose package `dap` is generated from `model`, and whose main program is `main`.
fn module(name: &str, model: &Model, main: &str) -> PathBuf {
    let package = go::generate(model, &Options::default()).expect("it can be generated");
    let folder = programs::folder(name);
    std::fs::create_dir_all(folder.join("dap")).expect("the target directory can be written");
    programs::write(&folder, "go.mod", "module example\n\ngo 1.18\n");
    programs::write(&folder, "dap/types.go", &package);
    programs::write(&folder, "main.go", main);
    folder
}

fn go(go: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(go);
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache");
    command.args(arguments).current_dir(folder);
    // Nothing is fetched, and the user's own settings and caches don't matter.
    command.envs([
        ("GOFLAGS", "-mod=mod"),
        ("GOPROXY", "off"),
        ("GOTOOLCHAIN", "local"),
        ("GO111MODULE", "on"),
    ]);
    command
        .env("GOCACHE", cache)
        .env("GOPATH", folder.join("path"));
    command
}

/// Reads a message on each line, and writes it again.
const ECHO: &str = r#"package main

import (
	"bufio"
	"encoding/json"
	"example/dap"
	"fmt"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		message, err := dap.DecodeMessage(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, err, lines.Text())
			os.Exit(1)
		}
		if fmt.Sprintf("%T", message) == "*dap.Request" {
			fmt.Fprintln(os.Stderr, "not known:", lines.Text())
			os.Exit(1)
		}
		data, err := json.Marshal(message)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(data))
	}
}
"#;

#[test]
fn the_protocols_messages_are_written_back_as_they_were_read() {
    let Some(tool) = tools::tool("DAPPLE_GO", "go", &["version"]) else {
        return;
    };
    let model = Model::protocol().expect("the project's definition is well-formed");
    let folder = module("go-echo", &model, ECHO);
    let formatted = programs::succeeds(go(&tool, &folder, &["fmt", "./..."]).env("PATH", path()));
    assert_eq!(formatted, "", "it is formatted as by gofmt");
    programs::succeeds(&mut go(&tool, &folder, &["vet", "./..."]));
    programs::succeeds(&mut go(&tool, &folder, &["build", "-o", "echo", "."]));
    let mut messages = samples::recorded(&model);
    assert!(messages.len() > 50, "there are recorded messages");
    messages.extend(samples::made(&model));
    tools::writes_back(&mut Command::new(folder.join("echo")), &messages);
}

fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// Makes messages, and prints them.
const MAKES: &str = r#"package main

import (
	"encoding/json"
	"example/dap"
	"fmt"
)

func show(message any) {
	data, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))
}

func main() {
	show(dap.NewThreadsResponse(2, 1, dap.ThreadsResponseBody{}))
	show(dap.NewSetBreakpointsRequest(3, dap.SetBreakpointsArguments{
		Source:      dap.Source{Path: dap.Of("/a.c")},
		Breakpoints: dap.ListOf(dap.SourceBreakpoint{Line: 4}),
		Lines:       dap.ListOf[int](),
	}))
	show(dap.NewStoppedEvent(4, dap.StoppedEventBody{Reason: dap.StoppedEventBodyReasonStep, ThreadId: dap.Of(0)}))
	show(dap.NewGreetRequest(5, &dap.GreetArguments{Whom: dap.Source{}}))
	decoded, err := dap.DecodeMessage([]byte(`{"seq":6,"type":"event","event":"stopped","body":{"reason":"new","threadId":"1"}}`))
	fmt.Println(decoded, err)
	decoded, err = dap.DecodeMessage([]byte(`{"seq":7,"type":"event","event":"vendor/own","body":[1]}`))
	fmt.Println(decoded.(*dap.Event).Event, err)
	decoded, err = dap.DecodeMessage([]byte(`{"seq":8,"type":"response","request_seq":1,"success":false,"command":"next","message":"notStopped","body":{}}`))
	fmt.Println(*decoded.(*dap.ErrorResponse).Message == dap.ResponseMessageNotStopped, err)
	var launch dap.OwnLaunchArguments
	err = json.Unmarshal([]byte(`{"program":"/bin/true","noDebug":true,"order":"+","more":[1]}`), &launch)
	fmt.Println(launch.Program, *launch.NoDebug, *launch.Order == dap.OwnLaunchArgumentsOrderValue2, string(launch.Other["more"]), err)
	launch.Order = dap.Of(dap.OwnLaunchArgumentsOrderXor)
	show(launch)
	_, err = dap.DecodeMessage([]byte(`{"type":"even"}`))
	fmt.Println(err)
}
"#;

#[test]
fn messages_can_be_made_also_ones_own() {
    let Some(tool) = tools::tool("DAPPLE_GO", "go", &["version"]) else {
        return;
    };
    let model = Model::protocol().expect("the project's definition is well-formed");
    let model = model
        .extended_by(
            r##"{"definitions": {
            "GreetRequest": {"allOf": [{"$ref": "#/definitions/Request"}, {"type": "object", "required": ["command"], "properties": {
                "command": {"type": "string", "enum": ["greet"]}, "arguments": {"$ref": "#/definitions/GreetArguments"}}}]},
            "GreetArguments": {"type": "object", "required": ["whom"], "properties": {"whom": {"$ref": "#/definitions/Source"}}},
            "OwnLaunchArguments": {"allOf": [{"$ref": "#/definitions/LaunchRequestArguments"}, {"type": "object", "required": ["program"],
                "properties": {"program": {"type": "string"}, "order": {"type": "string", "enum": ["xor", "+", "<="]}}}]}
        }}"##,
        )
        .expect("the test's definitions are well-formed");
    let folder = module("go-makes", &model, MAKES);
    let printed = programs::succeeds(&mut go(&tool, &folder, &["run", "."]));
    expect![[r#"
        {"seq":2,"type":"response","request_seq":1,"success":true,"command":"threads","body":{"threads":[]}}
        {"seq":3,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"/a.c"},"breakpoints":[{"line":4}],"lines":[]}}
        {"seq":4,"type":"event","event":"stopped","body":{"reason":"step","threadId":0}}
        {"seq":5,"type":"request","command":"greet","arguments":{"whom":{}}}
        <nil> event "stopped": json: cannot unmarshal string into Go struct field StoppedEventBody.body.threadId of type int
        vendor/own <nil>
        true <nil>
        /bin/true true true [1] <nil>
        {"noDebug":true,"program":"/bin/true","order":"xor","more":[1]}
        type "even" is neither a request, a response nor an event
    "#]].assert_eq(&printed);
}
