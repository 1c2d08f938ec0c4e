//! The arguments of `launch` and `attach` as a type of the adapter's own.

use std::collections::BTreeMap;

use dapple_dap::launch::Start;
use dapple_dap::message::Raw;
use dapple_dap::testing::TestClient;
use dapple_dap::types::*;
use dapple_dap::{Client, Server};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launch {
    program: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_debug: Option<bool>,
}

fn of(program: &str) -> Launch {
    Launch {
        program: program.to_owned(),
        args: vec!["-v".to_owned()],
        no_debug: Some(true),
    }
}

#[test]
fn a_struct_becomes_arguments_and_comes_back_from_them() {
    let arguments = LaunchRequestArguments::of(&of("/bin/true")).expect("an object");
    assert_eq!(arguments.no_debug, Some(true));
    assert_eq!(arguments.other["args"].text(), r#"["-v"]"#);
    assert!(!arguments.other.contains_key("noDebug"));
    assert_eq!(arguments.decode::<Launch>(), Ok(of("/bin/true")));

    let map = BTreeMap::from([("pid", 7)]);
    let arguments = AttachRequestArguments::of(&map).expect("an object");
    assert_eq!(arguments.other["pid"].text(), "7");
    let raw = Raw::from_text(r#" {"pid": 7, "__restart": [1]}"#).expect("JSON");
    let arguments = AttachRequestArguments::of(&raw).expect("an object");
    assert_eq!(arguments.restart.expect("the protocol's own").text(), "[1]");
}

#[test]
fn what_is_no_object_is_refused() {
    let error = |outcome: Result<LaunchRequestArguments, _>| match outcome {
        Ok(arguments) => panic!("{arguments:?}"),
        Err::<_, dapple_dap::message::DecodeError>(error) => error.to_string(),
    };
    assert_eq!(
        error(LaunchRequestArguments::of("/bin/true")),
        r#"the arguments of `launch` are a JSON object, not "/bin/true""#
    );
    assert_eq!(
        error(LaunchRequestArguments::of(&None::<Launch>)),
        "the arguments of `launch` are a JSON object, not null"
    );
    let keys = BTreeMap::from([(vec![1], 2)]);
    let text = error(LaunchRequestArguments::of(&keys));
    assert!(text.starts_with("cannot be written as JSON: "), "{text}");
    let text = error(LaunchRequestArguments::of(&BTreeMap::from([(
        "noDebug", 1,
    )])));
    assert!(text.starts_with("`noDebug`: "), "{text}");
}

#[test]
fn a_bad_field_is_named_in_the_answer_to_the_request() {
    let server = Server::<Option<Launch>>::builder()
        .on::<LaunchRequest>(|state, arguments, _| {
            *state = Some(arguments.decode()?);
            Ok(Empty)
        })
        .build();
    let (client, session) = TestClient::of(&server, None);
    client.initialize();
    let of_json = |text: &str| {
        let raw = Raw::from_text(text).expect("JSON");
        LaunchRequestArguments::of(&raw).expect("an object")
    };
    let wrong = client.fails::<LaunchRequest>(of_json(r#"{"program":"/bin/true","args":["a",1]}"#));
    assert_eq!(
        wrong,
        "`args[1]`: invalid type: integer `1`, expected a string"
    );
    let missing = client.fails::<LaunchRequest>(of_json(r#"{"args":[],"name":"mine"}"#));
    assert_eq!(missing, "missing field `program`");
    client.ok::<LaunchRequest>(LaunchRequestArguments::of(&of("/bin/true")).expect("an object"));
    client.disconnect();
    assert_eq!(session.join().expect("it ends"), Some(of("/bin/true")));
}

#[test]
fn the_configuration_of_start_debugging_is_what_the_session_starts_with() {
    let configuration = |text: &str| {
        Raw::from_text(text)
            .expect("JSON")
            .decode()
            .expect("fields")
    };
    let asked = StartDebuggingRequestArguments::new(
        configuration(r#"{"__pendingTargetId":"t","noDebug":true}"#),
        StartDebuggingRequestArgumentsRequest::Launch,
    );
    let Start::Launch(launch) = asked.start().expect("it is well-formed") else {
        panic!("it asks for a launch");
    };
    assert_eq!(launch.no_debug, Some(true));
    assert_eq!(launch.other["__pendingTargetId"].text(), r#""t""#);
    let asked = StartDebuggingRequestArguments::new(
        configuration(r#"{"pid":7}"#),
        StartDebuggingRequestArgumentsRequest::Attach,
    );
    assert!(
        matches!(asked.start(), Ok(Start::Attach(attach)) if attach.other["pid"].text() == "7")
    );
}

/// `begin` goes through the start of a session with adapters that answer `launch` early, late, or never by success.
#[test]
fn a_session_is_begun_in_the_protocols_order() {
    let server = Server::<Vec<&str>>::builder()
        .on::<LaunchRequest>(|log: &mut Vec<&str>, _, context| {
            log.push("launch");
            context.outbox().event::<InitializedEvent>(Empty);
            Ok(Empty)
        })
        .on::<AttachRequest>(|_, _, _| Err(dapple_dap::Failure::new("nothing is there")))
        .on::<SetFunctionBreakpointsRequest>(|log, _, _| {
            log.push("breakpoints");
            Ok(SetFunctionBreakpointsResponse::new(vec![]))
        })
        .on::<ConfigurationDoneRequest>(|log, _, _| {
            log.push("configurationDone");
            Ok(Empty)
        })
        .build();
    let who = || InitializeRequestArguments::new("any");
    let (client, session) = TestClient::of(&server, vec![]);
    let start = LaunchRequestArguments::new().into();
    let configure = |client: &Client| {
        let none = SetFunctionBreakpointsArguments::new(vec![]);
        client
            .request::<SetFunctionBreakpointsRequest>(none)
            .map(drop)
    };
    client.begin(who(), start, configure).expect("it starts");
    client.disconnect();
    let log = session.join().expect("it ends");
    assert_eq!(log, ["launch", "breakpoints", "configurationDone"]);

    let (client, _session) = TestClient::of(&server, vec![]);
    let start = AttachRequestArguments::new().into();
    let error = client.begin(who(), start, |_| panic!("it is not initialized"));
    assert_eq!(error.expect_err("it fails").to_string(), "nothing is there");
}
