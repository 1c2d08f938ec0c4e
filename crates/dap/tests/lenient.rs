//! Payloads that do not have the protocol's shape, read as well as they can be.

use std::time::Duration;

use dapple_dap::client::breakpoints::{Breakpoints, Wanted};
use dapple_dap::message::{Raw, Repair, RepairKind, decode, decode_leniently};
use dapple_dap::transport::Incoming;
use dapple_dap::types::*;
use dapple_dap::{Client, ClientError, Connection};
use serde::de::DeserializeOwned;

fn raw(text: &str) -> Raw {
    Raw::from_text(text).expect("JSON")
}

fn read<T: DeserializeOwned>(text: &str) -> (T, Vec<Repair>) {
    let raw = raw(text);
    decode_leniently(Some(raw.as_raw_value())).expect("it can be read")
}

fn said(repairs: &[Repair]) -> Vec<String> {
    repairs.iter().map(Repair::to_string).collect()
}

#[test]
fn what_has_the_right_shape_needs_no_repair() {
    let (thread, repairs) = read::<Thread>(r#"{"id":1,"name":"main"}"#);
    assert_eq!((thread, repairs), (Thread::new(1, "main"), vec![]));
    let (nothing, repairs) = decode_leniently::<Empty>(None).expect("nothing is needed");
    assert_eq!((nothing, repairs), (Empty, vec![]));
}

#[test]
fn an_item_or_a_field_that_is_wrong_is_left_out_and_the_rest_is_kept() {
    let text = r#"{"totalFrames":"many","stackFrames":[
        {"id":1,"name":"a","line":1,"column":1,"source":{"path":7,"name":"a.c"}},
        {"id":2,"name":"b","line":"two","column":1},
        {"id":3,"name":"c","line":3,"column":1,"source":"c.c"}]}"#;
    let (stack, repairs) = read::<StackTraceResponse>(text);
    let names: Vec<&str> = stack
        .stack_frames
        .iter()
        .map(|frame| &*frame.name)
        .collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(
        stack.stack_frames[0].source,
        Some(Source::new().with_name("a.c"))
    );
    assert_eq!(stack.stack_frames[1].source, None);
    assert_eq!(stack.total_frames, None);
    assert_eq!(
        said(&repairs),
        [
            "`totalFrames` was left out: `totalFrames`: invalid type: string \"many\", expected i64",
            "`stackFrames[0].source.path` was left out: `stackFrames[0].source.path`: invalid type: integer `7`, expected a string",
            "`stackFrames[1]` was left out: `stackFrames[1].line`: invalid type: string \"two\", expected i64",
            "`stackFrames[2].source` was left out: `stackFrames[2].source`: invalid type: string \"c.c\", expected an object",
        ]
    );
}

#[test]
fn one_wrong_capability_does_not_cost_the_others() {
    let text = r#"{"supportsStepBack":"yes","supportsConfigurationDoneRequest":true,
        "exceptionBreakpointFilters":[{"label":"no id"},{"filter":"all","label":"All"}]}"#;
    assert!(decode::<Capabilities>(raw(text).as_raw_value()).is_err());
    let (capabilities, repairs) = read::<Capabilities>(text);
    assert_eq!(capabilities.supports_step_back, None);
    assert_eq!(capabilities.supports_configuration_done_request, Some(true));
    let filters = capabilities
        .exception_breakpoint_filters
        .expect("one is right");
    assert_eq!(filters.len(), 1);
    assert_eq!(repairs.len(), 2);
}

#[test]
fn numbers_of_javascript_are_taken_as_integers() {
    let text = r#"{"threads":[{"id":4.0,"name":"a"},{"id":1e2,"name":"b"},{"id":1.5,"name":"c"}]}"#;
    let (threads, repairs) = read::<ThreadsResponse>(text);
    assert_eq!(
        threads.threads,
        [Thread::new(4, "a"), Thread::new(100, "b")]
    );
    let kinds: Vec<RepairKind> = repairs.iter().map(|repair| repair.kind).collect();
    assert_eq!(
        kinds,
        [
            RepairKind::Integer,
            RepairKind::Integer,
            RepairKind::Dropped
        ]
    );
    let (module, _) = read::<Module>(r#"{"id":3.0,"name":"m"}"#);
    assert_eq!(module.id, IntegerOrString::Integer(3));
    // Fractions stay what they are where the protocol allows them, and no integer is made of what is none for certain.
    let (progress, repairs) =
        read::<ProgressUpdateEventBody>(r#"{"progressId":"1","percentage":50.0,"message":7}"#);
    assert_eq!(progress.percentage, Some(50.0));
    assert_eq!(repairs.len(), 1);
    let huge = raw(r#"{"id":1e18,"name":"a"}"#);
    assert!(decode_leniently::<Thread>(Some(huge.as_raw_value())).is_err());
}

#[test]
fn values_that_a_closed_enumeration_does_not_list_are_kept_and_cannot_be_sent() {
    let text = r#"{"reason":"moved","module":{"id":1,"name":"m"}}"#;
    let (body, repairs) = read::<ModuleEventBody>(text);
    assert_eq!(body.reason, ModuleEventReason::Other("moved".into()));
    assert_eq!(body.reason.as_str(), "moved");
    assert_eq!(repairs[0].kind, RepairKind::Kept);
    assert_eq!(repairs[0].path, "reason");
    let error = Raw::new(&body).expect_err("the protocol forbids it");
    assert!(
        error.to_string().contains("\"moved\" is not one of"),
        "{error}"
    );
}

#[test]
fn what_is_left_unread_is_kept_as_its_text() {
    let text = r#"{"reason":"moved","module":{"id":"x","name":"m"},"restart":[1]}"#;
    let (_, repairs) = read::<ModuleEventBody>(text);
    assert_eq!(repairs.len(), 1);
    let (body, _) = read::<TerminatedEventBody>(r#"{"restart":{"b":1.0, "a":[ 2 ]}}"#);
    assert_eq!(
        body.restart.expect("it is there").text(),
        r#"{"b":1.0, "a":[ 2 ]}"#
    );
    // The field's own reader is the lenient one here, since the other field is wrong.
    let text = r#"{"noDebug":"no","program":{"b":1.0, "a":[ 2 ]}}"#;
    let (arguments, repairs) = read::<LaunchRequestArguments>(text);
    assert_eq!(arguments.other["program"].text(), r#"{"b":1.0, "a":[ 2 ]}"#);
    assert_eq!(repairs.len(), 1);
}

#[test]
fn what_cannot_be_left_out_is_an_error_of_the_strict_reader() {
    for (text, expected) in [
        (
            r#"{"threads":7}"#,
            "`threads`: invalid type: integer `7`, expected a sequence",
        ),
        (r#"{}"#, "missing field `threads`"),
        ("[]", "invalid type: sequence, expected an object"),
    ] {
        let raw = raw(text);
        let error = decode_leniently::<ThreadsResponse>(Some(raw.as_raw_value()))
            .expect_err("the only field is required");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn hostile_payloads_end_soon_and_report_a_bounded_number_of_repairs() {
    let items = vec!["1"; 20_000].join(",");
    let (threads, repairs) = read::<ThreadsResponse>(&format!("{{\"threads\":[{items}]}}"));
    assert_eq!(threads.threads, []);
    assert_eq!(repairs.len(), 1000);
    let depth = 10_000;
    let nested = |depth| {
        let text = [
            "{\"innerException\":[".repeat(depth),
            "1".to_owned(),
            "]}".repeat(depth),
        ]
        .concat();
        let (mut details, repairs) = read::<ExceptionDetails>(&text);
        let mut levels = 0;
        while let Some(inner) = details.inner_exception.and_then(|mut inner| inner.pop()) {
            (details, levels) = (inner, levels + 1);
        }
        let problems: Vec<_> = repairs
            .into_iter()
            .map(|repair| repair.error.message)
            .collect();
        (levels, problems)
    };
    let no_object = "invalid type: integer `1`, expected an object";
    assert_eq!(nested(12), (11, vec![no_object.to_owned()]));
    assert_eq!(nested(16), (15, vec![no_object.to_owned()]));
    // Each level is a field and an item: the next one would be deeper than 32.
    let too_deep = (16, vec!["nested too deeply".to_owned()]);
    assert_eq!(nested(17), too_deep);
    assert_eq!(nested(depth), too_deep);
}

/// An adapter that says these texts, each in answer to the next request.
fn adapter(answers: Vec<Vec<&'static str>>) -> Client {
    let (client, adapter) = Connection::memory();
    std::thread::spawn(move || {
        for texts in answers {
            let Ok(Incoming::Message(_)) = adapter.incoming.recv() else {
                return;
            };
            for text in texts {
                adapter.outgoing.send_text(text).ok();
            }
        }
        // Until the client is gone.
        adapter.incoming.recv().ok();
    });
    Client::new(client)
}

#[test]
fn a_client_gets_along_with_an_adapter_that_sends_wrong_values_and_tells_of_each() {
    let client = adapter(vec![
        vec![
            r#"{"seq":1,"type":"response","request_seq":1,"success":true,"command":"initialize","body":{"supportsStepBack":"yes","supportsGotoTargetsRequest":true}}"#,
            r#"{"seq":2,"type":"event","event":"initialized"}"#,
            r#"{"seq":3,"type":"event","event":"module","body":{"reason":"moved","module":{"id":4.0,"name":"m"}}}"#,
            r#"{"seq":4,"type":"event","event":"stopped","body":{"reason":"step","hitBreakpointIds":[1,"2"]}}"#,
        ],
        vec![
            r#"{"seq":5,"type":"response","request_seq":2,"success":true,"command":"threads","body":{"threads":[{"id":1,"name":"main"},{"id":2}]}}"#,
        ],
        vec![
            r#"{"seq":6,"type":"response","request_seq":3,"success":true,"command":"threads","body":{"threads":{}}}"#,
        ],
    ]);
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("any"))
        .expect("its capabilities can be read");
    assert_eq!(client.capabilities().supports_step_back, None);
    assert!(client.supports::<GotoTargetsRequest>());
    let patience = Duration::from_secs(30);
    let events = client.subscribe();
    let stopped = client
        .wait_for::<StoppedEvent>(patience, |_| true)
        .expect("it stops");
    assert_eq!(stopped.hit_breakpoint_ids, Some(vec![1]));
    let module = client
        .wait_for_any(patience, &["module"])
        .expect("a module is moved");
    // Each decoding repairs it again, which is told once.
    module.decode_any().expect("it can be read");
    module.decode_any().expect("it can be read");
    drop(events);
    let threads = client
        .request::<ThreadsRequest>(Empty)
        .expect("one is right");
    assert_eq!(threads.threads, [Thread::new(1, "main")]);
    let error = client
        .request::<ThreadsRequest>(Empty)
        .expect_err("no list");
    assert!(matches!(error, ClientError::BadResponse { .. }), "{error}");
    let told: Vec<String> = client.repairs().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "initialize (message 1): `supportsStepBack` was left out: `supportsStepBack`: invalid type: string \"yes\", expected a boolean",
            "stopped (message 4): `hitBreakpointIds[1]` was left out: `hitBreakpointIds[1]`: invalid type: string \"2\", expected i64",
            "module (message 3): `reason` was kept as an unknown value: `reason`: \"moved\" is not one of new, changed, removed",
            "module (message 3): `module.id` was taken as an integer: `module.id`: expected an integer, found 4.0",
            "threads (message 5): `threads[1]` was left out: `threads[1]`: missing field `name`",
        ]
    );
}

/// As [`adapter`]. The channel gets the arguments of the requests.
fn heard_adapter(
    answers: Vec<&'static str>,
) -> (Client, std::sync::mpsc::Receiver<serde_json::Value>) {
    let (client, adapter) = Connection::memory();
    let (sender, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for text in answers {
            let Ok(Incoming::Message(request)) = adapter.incoming.recv() else {
                return;
            };
            let request: serde_json::Value =
                serde_json::from_str(request.text()).expect("it is JSON");
            sender.send(request["arguments"].clone()).ok();
            adapter.outgoing.send_text(text).ok();
        }
        // Until the client is gone.
        adapter.incoming.recv().ok();
    });
    (Client::new(client), heard)
}

#[test]
fn a_breakpoint_whose_answer_cannot_be_read_does_not_get_the_answer_of_the_next() {
    let (client, _heard) = heard_adapter(vec![
        r#"{"seq":1,"type":"response","request_seq":1,"success":true,"command":"initialize","body":{"supportsFunctionBreakpoints":true}}"#,
        r#"{"seq":2,"type":"response","request_seq":2,"success":true,"command":"setFunctionBreakpoints","body":{"breakpoints":[{"message":"no f"},{"verified":true,"id":2}]}}"#,
        r#"{"seq":3,"type":"response","request_seq":3,"success":true,"command":"setBreakpoints","body":{"breakpoints":[7,8],"breakpoints":[7,{"verified":true,"id":3,"line":12}]}}"#,
    ]);
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("any"))
        .expect("it answers");
    let mut breakpoints = Breakpoints::new();
    let f = breakpoints.add(Wanted::function("f"));
    let g = breakpoints.add(Wanted::function("g"));
    breakpoints.send(&client).expect("they are answered");
    let id = |breakpoints: &Breakpoints, of| {
        let entry = breakpoints.get(of).expect("it stays");
        (
            entry.is_verified(),
            entry.answer.as_ref().and_then(|answer| answer.id),
        )
    };
    assert_eq!(id(&breakpoints, f), (false, None));
    assert_eq!(id(&breakpoints, g), (true, Some(2)));
    let said = breakpoints.get(f).and_then(|entry| entry.message());
    assert_eq!(said, Some("the adapter's answer cannot be read"));

    // In a source, the order tells which breakpoint was moved.
    let first = breakpoints.add(Wanted::line("/a.c", 3));
    let moved = breakpoints.add(Wanted::line("/a.c", 9));
    breakpoints.send(&client).expect("they are answered");
    assert_eq!(id(&breakpoints, first), (false, None));
    assert_eq!(id(&breakpoints, moved), (true, Some(3)));
    assert_eq!(breakpoints.take_problems(), []);
}

#[test]
fn an_item_that_cannot_be_read_counts_in_its_page() {
    let (client, heard) = heard_adapter(vec![
        r#"{"seq":1,"type":"response","request_seq":1,"success":true,"command":"initialize","body":{"supportsDelayedStackTraceLoading":true}}"#,
        r#"{"seq":2,"type":"response","request_seq":2,"success":true,"command":"stackTrace","body":{"stackFrames":[{"id":0,"name":"a","line":1,"column":1},{"id":1}]}}"#,
        r#"{"seq":3,"type":"response","request_seq":3,"success":true,"command":"stackTrace","body":{"stackFrames":[{"id":2,"name":"c","line":1,"column":1}]}}"#,
        r#"{"seq":4,"type":"response","request_seq":4,"success":true,"command":"variables","body":{"variables":[{"name":"x"},{"name":"y","value":"1","variablesReference":0}]}}"#,
        r#"{"seq":5,"type":"response","request_seq":5,"success":true,"command":"variables","body":{"variables":[{"name":"z","value":"2","variablesReference":0}]}}"#,
        r#"{"seq":6,"type":"response","request_seq":6,"success":true,"command":"stackTrace","body":{"stackFrames":[7,8],"totalFrames":9}}"#,
    ]);
    let who = InitializeRequestArguments::new("any").with_supports_variable_paging(true);
    client
        .request::<InitializeRequest>(who)
        .expect("it answers");
    heard.recv().expect("initialize");
    let stack: Result<Vec<_>, _> = client.stack(1).page_size(2).collect();
    let ids: Vec<_> = stack
        .expect("it can be read")
        .iter()
        .map(|frame| frame.id)
        .collect();
    assert_eq!(ids, [0, 2]);
    let starts: Vec<_> = heard
        .try_iter()
        .map(|asked| asked["startFrame"].clone())
        .collect();
    assert_eq!(starts, [0, 2]);

    let list = Variable::new("list", "[3]", 7).with_indexed_variables(3);
    let children: Result<Vec<_>, _> = client.variables(&list).page_size(2).collect();
    let children = children.expect("they can be read");
    let names: Vec<_> = children.iter().map(|child| child.name.as_str()).collect();
    assert_eq!(names, ["y", "z"]);
    let asked: Vec<_> = heard.try_iter().collect();
    let places: Vec<_> = asked
        .iter()
        .map(|asked| (asked["start"].clone(), asked["count"].clone()))
        .collect();
    assert_eq!(places, [(0.into(), 2.into()), (2.into(), 1.into())]);

    // Otherwise an adapter could have the client ask for ever.
    assert_eq!(client.stack(1).page_size(2).count(), 0);
    assert_eq!(heard.try_iter().count(), 1);
}

#[test]
fn repairs_are_told_of_each_message_of_an_adapter_that_does_not_number_them() {
    let client = adapter(vec![
        vec![
            r#"{"seq":0,"type":"response","request_seq":1,"success":true,"command":"initialize","body":{"supportsStepBack":"yes"}}"#,
        ],
        vec![
            r#"{"seq":0,"type":"response","request_seq":2,"success":true,"command":"threads","body":{"threads":[{"id":2}]}}"#,
        ],
    ]);
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("any"))
        .expect("it can be read");
    client
        .request::<ThreadsRequest>(Empty)
        .expect("it can be read");
    let told: Vec<_> = client
        .repairs()
        .into_iter()
        .map(|told| (told.seq, told.repair.path))
        .collect();
    let expected = ["supportsStepBack", "threads[0]"].map(|path| (0, path.to_owned()));
    assert_eq!(told, expected);
}
