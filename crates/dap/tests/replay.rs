//! Scripts and recordings, with adapters and clients that follow them and with others that don't.

use std::time::Duration;

use dapple_dap::lifecycle::Side;
use dapple_dap::server::References;
use dapple_dap::testing::{
    Difference, Entry, FakeAdapter, FakeClient, Log, Recorder, Recording, Replay, TestClient,
};
use dapple_dap::types::*;
use dapple_dap::{Connection, Failure, Incoming, Server};
use dapple_schema::validate::Validator;

/// An adapter with one frame, whose id depends on how many references were used before.
fn adapter(function: &'static str) -> Server<References<&'static str>> {
    Server::builder()
        .on::<LaunchRequest>(|_, _, context| {
            context.outbox().event::<InitializedEvent>(Empty);
            Ok(Empty)
        })
        .on::<ConfigurationDoneRequest>(|_, _, context| {
            let stopped = StoppedEventBody::new(StoppedEventReason::Entry).with_thread_id(1);
            context.outbox().event::<StoppedEvent>(stopped);
            Ok(Empty)
        })
        .on::<StackTraceRequest>(move |frames: &mut References<&str>, _, _| {
            let frame = StackFrame::new(frames.insert(function)?, function, 7, 1);
            Ok(StackTraceResponse::new(vec![frame]))
        })
        .on::<ScopesRequest>(|frames, arguments, _| {
            let name = *frames.get(arguments.frame_id)?;
            Ok(ScopesResponse::new(vec![Scope::new(name, 99, false)]))
        })
        .build()
}

/// References of which some are used up.
fn used_up(count: usize) -> References<&'static str> {
    let mut references = References::new();
    for _ in 0..count {
        references.insert("").expect("room");
    }
    references
}

/// The requests that each client here sends.
fn drive(client: &TestClient) {
    client.initialize();
    client.ok::<LaunchRequest>(LaunchRequestArguments::new());
    client.wait_for::<InitializedEvent>();
    client.ok::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new());
    client.wait_for::<StoppedEvent>();
    let frame = client.top_frame(1).id;
    assert_eq!(client.scopes(frame)[0].name, "main");
    client.disconnect();
}

fn recording() -> Recording {
    let recorder = Recorder::new();
    let (client, connection) = recorder.options().memory();
    let session =
        std::thread::spawn(move || adapter("main").start(&connection).run(&mut used_up(0)));
    drive(&TestClient::new(client));
    session.join().expect("no panic");
    recorder.recording(Side::Client)
}

/// Plays the client of a recording to an adapter.
fn replayed(
    recording: Recording,
    server: Server<References<&'static str>>,
    used: usize,
) -> Vec<String> {
    let (client, connection) = Connection::memory();
    let session = std::thread::spawn(move || server.start(&connection).run(&mut used_up(used)));
    let replay = Replay::new(recording).with_timeout(Duration::from_secs(5));
    let differences = replay.as_client(client);
    session.join().expect("no panic");
    differences.iter().map(Difference::to_string).collect()
}

#[test]
fn a_recording_is_read_back_as_it_was_written_and_is_what_validators_take() {
    let recording = recording();
    let text = recording.to_string();
    assert_eq!(Recording::parse(&text), Ok(recording.clone()));
    assert_eq!(text.lines().count(), recording.entries.len());
    let times: Vec<_> = recording.entries.iter().map(|entry| entry.time).collect();
    assert!(times.is_sorted(), "{times:?}");
    let validator = Validator::protocol().expect("the definition is readable");
    for line in text.lines() {
        assert_eq!(validator.line(line.as_bytes()).len(), 0, "{line}");
    }
}

#[test]
fn lines_about_what_is_no_message_are_skipped() {
    let path = std::env::temp_dir().join(format!("dap-malformed-{}", std::process::id()));
    let log = Log::new(std::fs::File::create(&path).expect("a file"));
    let entry = |text: &str| Entry {
        time: Duration::from_millis(250),
        from: Side::Adapter,
        text: text.to_owned(),
    };
    log.malformed("1", &entry("no header"));
    // Not a message, and yet one that was sent.
    log.message("1", &entry("null"));
    let text = std::fs::read_to_string(&path).expect("the file");
    std::fs::remove_file(&path).expect("the file");
    assert!(
        text.starts_with(r#"{"session":"1","time":0.25,"from":"adapter","malformed":"no header"}"#)
    );
    let recording = Recording::parse(&text).expect("a recording");
    assert_eq!(recording.entries, [entry("null")]);
    let neither = Recording::parse(r#"{"time":0.25,"from":"adapter"}"#).expect_err("no message");
    assert_eq!(neither.to_string(), "line 1: missing field `message`");
}

#[test]
fn a_client_is_replayed_with_the_references_that_the_adapter_has_now() {
    // Parsed from text, as a file would be.
    let recording = Recording::parse(&recording().to_string()).expect("it was just written");
    assert_eq!(replayed(recording, adapter("main"), 5), [""; 0]);
}

#[test]
fn what_differs_is_told_by_message_and_field() {
    let differences = replayed(recording(), adapter("start"), 0);
    assert_eq!(
        differences,
        [
            "message 10, the response to `stackTrace`: `stackFrames[0].name` was \"main\" and is \"start\"",
            "message 12, the response to `scopes`: `scopes[0].name` was \"main\" and is \"start\"",
        ]
    );
}

#[test]
fn a_request_that_fails_now_and_an_event_that_does_not_come_are_told() {
    let server = Server::builder()
        .on::<LaunchRequest>(|_, _, _| Err(Failure::new("no program")))
        .on::<ConfigurationDoneRequest>(|_, _, context| {
            context
                .outbox()
                .event::<OutputEvent>(OutputEventBody::new("?"));
            Ok(Empty)
        })
        .build();
    let mut recording = recording();
    // Without `initialized` and everything after the configuration, which this adapter does not send.
    recording.entries.retain(|entry| {
        ["initialize", "launch", "configurationDone", "stopped"]
            .iter()
            .any(|name| entry.text.contains(&format!("\"{name}\"")))
    });
    let (client, connection) = Connection::memory();
    let session = std::thread::spawn(move || server.start(&connection).run(&mut used_up(0)));
    let replay = Replay::new(recording).with_timeout(Duration::from_millis(200));
    let differences: Vec<_> = replay
        .as_client(client)
        .iter()
        .map(Difference::to_string)
        .collect();
    session.join().expect("no panic");
    let told: Vec<_> = differences
        .iter()
        .map(|difference| difference.lines().next().unwrap_or_default())
        .collect();
    assert_eq!(
        told,
        [
            "message 4, the response to `launch`: it succeeded and now failed (no program)",
            "message 7, the event `stopped`: nothing came within 200ms; what came instead:",
            "the event `output`: it was not recorded",
        ]
    );
}

#[test]
fn an_adapter_is_replayed_to_a_client() {
    let replay = Replay::new(recording()).with_timeout(Duration::from_secs(5));
    let (client, connection) = Connection::memory();
    let thread = std::thread::spawn(move || replay.as_adapter(connection));
    let client = TestClient::new(client);
    drive(&client);
    client.assert_no_violations();
    assert_eq!(thread.join().expect("no panic"), []);
}

#[test]
fn a_client_that_asks_for_something_else_is_told_and_answered() {
    let mut recording = recording();
    recording.entries.truncate(2);
    let replay = Replay::new(recording);
    let (client, connection) = Connection::memory();
    // Both requests are queued when the replay begins.
    for text in [
        r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"another"}}"#,
        r#"{"seq":2,"type":"request","command":"threads"}"#,
    ] {
        client
            .outgoing
            .send_text(text)
            .expect("the replay is there");
    }
    let differences = replay.as_adapter(connection);
    let answers: Vec<_> = client
        .incoming
        .iter()
        .filter_map(|incoming| match incoming {
            Incoming::Message(message) => Some(message.into_text()),
            _ => None,
        })
        .collect();
    assert!(answers[0].contains(r#""request_seq":1,"success":true"#));
    assert!(
        answers[1].contains(r#""message":"it was not recorded""#),
        "{answers:?}"
    );
    let told: Vec<_> = differences.iter().map(Difference::to_string).collect();
    assert_eq!(
        told[0],
        "message 1, the request `initialize`: `adapterID` was \"test\" and is \"another\""
    );
    assert_eq!(
        told.last().map(String::as_str),
        Some("the request `threads`: it was not recorded")
    );
}

/// The panic message of a script that fails.
fn complaint(run: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(run).expect_err("it was to panic");
    *panic.downcast::<String>().expect("a text")
}

#[test]
fn a_script_that_is_not_kept_to_says_which_step_and_what_came() {
    let text = complaint(|| {
        let (client, connection) = Connection::memory();
        let script = FakeAdapter::new()
            .with_timeout(Duration::from_millis(200))
            .answers::<InitializeRequest>(|_| Ok(Capabilities::new()))
            .event::<InitializedEvent>(Empty)
            .answers::<LaunchRequest>(|_| Ok(Empty))
            .start(connection);
        let client = TestClient::new(client);
        client.initialize();
        let threads = client.send::<ThreadsRequest>(Empty);
        script.finish();
        drop(threads);
    });
    assert_eq!(
        text,
        "step 3 of the script (waits for the request `launch`): nothing came within 200ms; what came instead:\n  \
         {\"seq\":2,\"type\":\"request\",\"command\":\"threads\"}"
    );
}

#[test]
fn a_request_behind_the_script_is_told() {
    let text = complaint(|| {
        let (client, connection) = Connection::memory();
        for text in [
            r#"{"seq":1,"type":"request","command":"threads"}"#,
            r#"{"seq":2,"type":"request","command":"pause"}"#,
        ] {
            client.outgoing.send_text(text).expect("it is there");
        }
        let script =
            FakeAdapter::new().answers::<ThreadsRequest>(|_| Ok(ThreadsResponse::new(vec![])));
        script.start(connection).finish();
    });
    assert!(
        text.contains("not in it:\n  {\"seq\":2,\"type\":\"request\",\"command\":\"pause\"}"),
        "{text}"
    );
}

#[test]
fn a_fake_client_takes_answers_in_any_order_and_answers_reverse_requests() {
    let server = Server::<()>::builder()
        .on::<LaunchRequest>(|_, _, context| {
            let outbox = context.outbox().clone();
            let terminal = RunInTerminalRequestArguments::new("/", vec!["true".to_owned()]);
            context
                .outbox()
                .request::<RunInTerminalRequest>(terminal, move |answer| {
                    let id = answer.map(|answer| answer.process_id);
                    outbox.event::<OutputEvent>(OutputEventBody::new(format!("{id:?}")));
                });
            Ok(Empty)
        })
        .build();
    let client = InitializeRequestArguments::new("x").with_supports_run_in_terminal_request(true);
    let (connection, adapter) = Connection::memory();
    let script = FakeClient::new()
        .asks::<InitializeRequest>(client, |_| ())
        .sends::<LaunchRequest>(LaunchRequestArguments::new())
        .answers::<RunInTerminalRequest>(|arguments| {
            assert_eq!(arguments.args, ["true"]);
            Ok(RunInTerminalResponse::new().with_process_id(7))
        })
        .gets::<LaunchRequest>(|_| ())
        .event::<OutputEvent>(|event| assert_eq!(event.output, "Ok(Some(7))"))
        .text(r#"{"seq":9,"type":"wish"}"#)
        .fails::<ThreadsRequest>(Empty, "the request `threads` is not supported here")
        .start(connection);
    server.start(&adapter).run(&mut ());
    script.finish();
}

#[test]
fn a_fake_adapter_asks_its_client_too() {
    let (client, connection) = Connection::memory();
    let script = FakeAdapter::new()
        .answers::<InitializeRequest>(|_| Ok(Capabilities::new()))
        .asks::<RunInTerminalRequest>(
            RunInTerminalRequestArguments::new("/", vec![]),
            |terminal| assert_eq!(terminal.process_id, Some(7)),
        )
        .text(r#"{"seq":77,"type":"event","event":"x/custom"}"#)
        .start(connection);
    let client = TestClient::new(client);
    client.on::<RunInTerminalRequest>(|_| Ok(RunInTerminalResponse::new().with_process_id(7)));
    let events = client.subscribe();
    client.initialize();
    let event = events.recv_timeout(Duration::from_secs(30));
    assert_eq!(event.expect("it comes").event, "x/custom");
    script.finish();
}
