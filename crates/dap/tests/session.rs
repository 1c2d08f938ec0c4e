//! Server sessions over the in-memory pair: which responses and events are sent, and in which order.

mod wire;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

use dapple_dap::server::{Exhausted, LateProgress, Progress, References, RequestError};
use dapple_dap::testing::TestClient;
use dapple_dap::transport::Closed;
use dapple_dap::types::*;
use dapple_dap::{
    CancelToken, Connection, Context, Failure, Flow, Incoming, Outbox, Request, Responder, Server,
    Session,
};
use wire::{INITIALIZE, request, short};

/// A session driven by hand: the client's messages are handled when the test calls `handle`.
struct Wire<S> {
    client: Option<Connection>,
    adapter: Connection,
    session: Session<S>,
    state: S,
}

impl<S: 'static> Wire<S> {
    fn new(server: &Server<S>, state: S) -> Self {
        let (client, adapter) = Connection::memory();
        let session = server.start(&adapter);
        Self {
            client: Some(client),
            adapter,
            session,
            state,
        }
    }

    fn client(&self) -> &Connection {
        self.client.as_ref().expect("the client has not vanished")
    }

    fn write(&self, text: &str) {
        self.client()
            .outgoing
            .send_text(text)
            .expect("the session is there");
    }

    /// Handles all messages written so far.
    fn handle(&mut self) -> Flow {
        while let Ok(incoming) = self.adapter.incoming.try_recv() {
            if self.session.handle(&mut self.state, incoming) == Flow::Closed {
                return Flow::Closed;
            }
        }
        Flow::Continue
    }

    /// The messages that the client has received since the last call, in short.
    fn read(&self) -> Vec<String> {
        self.client()
            .incoming
            .try_iter()
            .filter_map(|incoming| match incoming {
                Incoming::Message(message) => Some(short(message.text())),
                _ => None,
            })
            .collect()
    }

    /// Writes, handles, reads.
    fn say(&mut self, texts: &[&str]) -> Vec<String> {
        texts.iter().for_each(|text| self.write(text));
        let _ = self.handle();
        self.read()
    }

    fn initialize(&mut self) {
        let answer = self.say(&[INITIALIZE]);
        assert!(answer[0].starts_with("1: initialize ok"), "{answer:?}");
    }
}

fn output(outbox: &Outbox, text: &str) {
    outbox.event::<OutputEvent>(OutputEventBody::new(text));
}

/// An adapter with one thread that runs and stops.
fn plain() -> Server<()> {
    Server::builder()
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "main")])))
        .on::<ContinueRequest>(|_, _, context| {
            let running = ContinuedEventBody::new(1).with_all_threads_continued(true);
            context.outbox().event::<ContinuedEvent>(running);
            context
                .outbox()
                .event::<StoppedEvent>(StoppedEventBody::new(StoppedEventReason::Step));
            let outbox = context.outbox().clone();
            context.after_response(move || output(&outbox, "after"));
            Ok(ContinueResponse::new().with_all_threads_continued(true))
        })
        .on::<PauseRequest>(|_, _, _| Err(Failure::not_stopped()))
        .keep_conventions()
        .build()
}

#[test]
fn capabilities_are_those_of_the_registered_handlers_and_the_flags_set() {
    let server = Server::<()>::builder()
        .on::<ReadMemoryRequest>(|_, arguments, _| {
            Ok(ReadMemoryResponse::new(arguments.memory_reference))
        })
        .capabilities(|capabilities| capabilities.supports_evaluate_for_hovers = Some(true))
        .capabilities_for(|client, capabilities| {
            if client.client_id.as_deref() == Some("picky") {
                capabilities.supports_cancel_request = None;
            }
        })
        .build();
    let mut wire = Wire::new(&server, ());
    let answer = wire.say(&[INITIALIZE]);
    assert_eq!(
        answer,
        [concat!(
            "1: initialize ok {\"supportsEvaluateForHovers\":true,",
            "\"supportsReadMemoryRequest\":true,\"supportsCancelRequest\":true}"
        )]
    );
    let mut wire = Wire::new(&server, ());
    let picky = INITIALIZE.replace("\"adapterID\"", "\"clientID\":\"picky\",\"adapterID\"");
    assert!(
        !wire.say(&[&picky])[0].contains("Cancel"),
        "the client gets no such capability"
    );
}

#[test]
fn requests_before_initialize_and_a_second_one_are_answered_with_an_error() {
    let mut wire = Wire::new(&plain(), ());
    let again = INITIALIZE.replace("\"seq\":1", "\"seq\":3");
    let answers = wire.say(&[
        &request(9, "threads", "{}"),
        INITIALIZE,
        &again,
        &request(4, "threads", "{}"),
    ]);
    assert_eq!(
        answers[0],
        "9: threads failed: `threads` came before `initialize`; the first request must be `initialize`"
    );
    assert!(answers[1].starts_with("1: initialize ok"), "{answers:?}");
    assert_eq!(
        answers[2..],
        [
            "3: initialize failed: `initialize` may be sent only once in a session",
            "4: threads ok {\"threads\":[{\"id\":1,\"name\":\"main\"}]}"
        ]
    );
}

#[test]
fn an_initialize_with_bad_arguments_names_the_field_and_may_be_repeated() {
    let mut wire = Wire::new(&plain(), ());
    let bad = r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":7}}"#;
    let answers = wire.say(&[bad, &INITIALIZE.replace("\"seq\":1", "\"seq\":2")]);
    assert_eq!(
        answers[0],
        "1: initialize failed: bad arguments for `initialize`: `adapterID`: invalid type: integer `7`, expected a string"
    );
    assert!(answers[1].starts_with("2: initialize ok"), "{answers:?}");
}

#[test]
fn events_leave_after_the_response_and_the_clients_own_resume_is_not_told_to_it() {
    let mut wire = Wire::new(&plain(), ());
    wire.initialize();
    let resume = r#"{"seq":2,"type":"request","command":"continue","arguments":{"threadId":1}}"#;
    assert_eq!(
        wire.say(&[resume]),
        [
            "2: continue ok {\"allThreadsContinued\":true}",
            "event stopped",
            "event output"
        ]
    );
}

#[test]
fn an_event_of_another_thread_waits_for_the_handler_that_runs() {
    let server = Server::<Option<Outbox>>::builder()
        .on::<NextRequest>(|outbox, _, _| {
            let outbox = outbox.clone().expect("set by the test");
            // The other thread has sent its event before the handler returns.
            std::thread::spawn(move || output(&outbox, "x"))
                .join()
                .expect("no panic");
            Ok(Empty)
        })
        .build();
    let mut wire = Wire::new(&server, None);
    wire.state = Some(wire.session.outbox());
    wire.initialize();
    let next = r#"{"seq":2,"type":"request","command":"next","arguments":{"threadId":1}}"#;
    assert_eq!(wire.say(&[next]), ["2: next ok", "event output"]);
}

#[test]
fn events_before_initialize_wait_and_those_after_terminated_are_dropped() {
    let mut wire = Wire::new(&plain(), ());
    let outbox = wire.session.outbox();
    output(&outbox, "early");
    assert_eq!(wire.read(), [""; 0]);
    let answers = wire.say(&[INITIALIZE]);
    assert!(answers[0].starts_with("1: initialize ok"), "{answers:?}");
    assert_eq!(answers[1..], ["event output"]);
    outbox.event::<TerminatedEvent>(TerminatedEventBody::new());
    output(&outbox, "late");
    outbox.event::<TerminatedEvent>(TerminatedEventBody::new());
    assert_eq!(wire.read(), ["event terminated"]);
    assert_eq!(
        wire.say(&[&request(2, "disconnect", "{}")]),
        ["2: disconnect ok"]
    );
}

/// A client that gets no `exited` knows no exit code: what only goes against a convention is sent.
#[test]
fn events_after_terminated_are_sent_unless_the_adapter_keeps_conventions() {
    let server = Server::<()>::builder()
        .on::<NextRequest>(|_, _, context| {
            let outbox = context.outbox();
            outbox.event::<ContinuedEvent>(ContinuedEventBody::new(1));
            outbox.event::<TerminatedEvent>(TerminatedEventBody::new());
            outbox.event::<ExitedEvent>(ExitedEventBody::new(7));
            Ok(Empty)
        })
        .build();
    let mut wire = Wire::new(&server, ());
    wire.initialize();
    let next = request(2, "next", r#"{"threadId":1}"#);
    assert_eq!(
        wire.say(&[&next]),
        [
            "2: next ok",
            "event continued",
            "event terminated",
            "event exited"
        ]
    );
}

#[test]
fn unknown_commands_and_bad_arguments_are_answered_and_the_session_goes_on() {
    let mut wire = Wire::new(&plain(), ());
    wire.initialize();
    let answers = wire.say(&[
        &request(2, "fly", "{}"),
        r#"{"seq":3,"type":"request","command":"continue"}"#,
        &request(4, "continue", r#"{"threadId":"one"}"#),
        &request(5, "continue", "3"),
        &request(6, "pause", r#"{"threadId":1}"#),
        &request(7, "threads", "{}"),
    ]);
    assert_eq!(
        answers,
        [
            "2: fly failed: the request `fly` is not supported here",
            "3: continue failed: bad arguments for `continue`: missing field `threadId`",
            "4: continue failed: bad arguments for `continue`: `threadId`: invalid type: string \"one\", expected i64",
            "5: continue failed: bad arguments for `continue`: invalid type: integer `3`, expected an object",
            "6: pause failed: notStopped",
            "7: threads ok {\"threads\":[{\"id\":1,\"name\":\"main\"}]}",
        ]
    );
}

#[test]
fn garbage_is_skipped_or_answered_and_the_session_goes_on() {
    let mut wire = Wire::new(&plain(), ());
    wire.initialize();
    let answers = wire.say(&[
        "garbage",
        "{\"seq\":",
        "[1,2]",
        "{}",
        r#"{"seq":2,"type":"request"}"#,
        r#"{"seq":3,"type":"request","command":17}"#,
        r#"{"seq":4,"type":"wish","command":"threads"}"#,
        r#"{"seq":5,"type":"response","request_seq":99,"success":true,"command":"x"}"#,
        r#"{"seq":6,"type":"event","event":"stopped"}"#,
        &request(7, "threads", "{}"),
    ]);
    assert_eq!(
        answers,
        [
            "2:  failed: this is no request: `command`: missing in this request, expected a string",
            "3:  failed: this is no request: `command`: expected a string, found 17",
            "4:  failed: this is no request: `type`: expected `request`, `response` or `event`, found `wish`",
            "7: threads ok {\"threads\":[{\"id\":1,\"name\":\"main\"}]}",
        ]
    );
}

#[test]
fn ten_thousand_pipelined_requests_are_answered_in_order() {
    let mut wire = Wire::new(&plain(), ());
    wire.initialize();
    for seq in 2..10_002 {
        wire.write(&request(seq, "threads", "{}"));
    }
    assert_eq!(wire.handle(), Flow::Continue);
    let answers = wire.read();
    assert_eq!(answers.len(), 10_000);
    for (answer, seq) in answers.iter().zip(2..) {
        assert!(
            answer.starts_with(&format!("{seq}: threads ok")),
            "{answer}"
        );
    }
}

/// The evaluations that the test answers.
type Evaluations = Vec<(Responder<EvaluateRequest>, CancelToken)>;

fn deferring() -> Server<Evaluations> {
    Server::builder()
        .on_deferred::<EvaluateRequest>(
            |waiting: &mut Evaluations, arguments, responder, context: &mut Context| {
                output(context.outbox(), "asked");
                if arguments.expression != "forget" {
                    waiting.push((responder, context.cancelled().clone()));
                }
            },
        )
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![])))
        .build()
}

fn evaluate(seq: i64, expression: &str) -> String {
    format!(
        r#"{{"seq":{seq},"type":"request","command":"evaluate","arguments":{{"expression":"{expression}"}}}}"#
    )
}

#[test]
fn a_deferred_request_is_answered_later_from_any_thread() {
    let mut wire = Wire::new(&deferring(), Vec::new());
    wire.initialize();
    let answers = wire.say(&[&evaluate(2, "x"), &request(3, "threads", "{}")]);
    assert_eq!(answers, ["event output", "3: threads ok {\"threads\":[]}"]);
    let (responder, _) = wire.state.pop().expect("it waits");
    std::thread::spawn(move || responder.respond(EvaluateResponse::new("7", 0)))
        .join()
        .expect("no panic");
    assert_eq!(
        wire.read(),
        ["2: evaluate ok {\"result\":\"7\",\"variablesReference\":0}"]
    );
}

#[test]
fn a_forgotten_responder_answers_by_itself() {
    let mut wire = Wire::new(&deferring(), Vec::new());
    wire.initialize();
    assert_eq!(
        wire.say(&[&evaluate(2, "forget")]),
        [
            "2: evaluate failed: the handler of `evaluate` dropped the request without answering",
            "event output"
        ]
    );
}

#[test]
fn cancelling_reaches_requests_that_wait_and_those_not_yet_started() {
    let cancel = |seq, id| {
        format!(
            r#"{{"seq":{seq},"type":"request","command":"cancel","arguments":{{"requestId":{id}}}}}"#
        )
    };
    let mut wire = Wire::new(&deferring(), Vec::new());
    wire.initialize();
    assert_eq!(wire.say(&[&evaluate(2, "x")]), ["event output"]);
    // Request 3 is cancelled before it is handled.
    let answers = wire.say(&[
        &evaluate(3, "y"),
        &cancel(4, 3),
        &cancel(5, 2),
        &cancel(6, 77),
    ]);
    assert_eq!(
        answers,
        [
            "3: evaluate failed: cancelled",
            "4: cancel ok",
            "5: cancel ok",
            "6: cancel ok"
        ]
    );
    let (responder, token) = wire.state.pop().expect("the second waits");
    assert!(token.is_cancelled());
    responder.fail(Failure::new("interrupted"));
    assert_eq!(wire.read(), ["2: evaluate failed: cancelled"]);
}

#[test]
fn a_running_handler_learns_that_it_is_cancelled() {
    let (server, has_started) = endless();
    let (client, adapter) = Connection::memory();
    let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    let client = TestClient::new(client);
    client.initialize();
    let evaluation = client
        .send::<EvaluateRequest>(EvaluateArguments::new("loop"))
        .expect("it is there");
    has_started.recv().expect("it starts");
    // The response to `cancel` is sent only after that to the request that blocks the session.
    let cancel = CancelArguments::new().with_request_id(evaluation.seq());
    let cancel = client.send::<CancelRequest>(cancel).expect("it is there");
    let error = evaluation.wait().expect_err("it was cancelled");
    assert_eq!(error.to_string(), "cancelled");
    cancel.wait().expect("it is answered");
    client.disconnect();
    thread.join().expect("no panic");
}

/// A server whose handler of `evaluate` runs until it is cancelled; and what says that it runs.
fn endless() -> (Server<()>, mpsc::Receiver<()>) {
    let (started, has_started) = mpsc::channel();
    let server = Server::<()>::builder()
        .on::<EvaluateRequest>(move |_, _, context| {
            started.send(()).expect("the test waits");
            while !context.cancelled().is_cancelled() {
                std::thread::yield_now();
            }
            Err(Failure::cancelled())
        })
        .build();
    (server, has_started)
}

#[test]
fn a_running_handler_is_cancelled_when_the_client_leaves() {
    let (server, has_started) = endless();
    let (client, adapter) = Connection::memory();
    let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    let client = TestClient::new(client);
    client.initialize();
    let evaluate = || client.send::<EvaluateRequest>(EvaluateArguments::new("loop"));
    let evaluation = evaluate().expect("it is there");
    has_started.recv().expect("it starts");
    // One that has to wait is cancelled, too.
    let other = evaluate().expect("it is there");
    let disconnect = client.send::<DisconnectRequest>(DisconnectArguments::new());
    for evaluation in [evaluation, other] {
        let error = evaluation.wait().expect_err("it was cancelled");
        assert_eq!(error.to_string(), "cancelled");
    }
    let disconnect = disconnect.expect("it is there");
    disconnect.wait().expect("it is answered");
    thread.join().expect("no panic");
}

#[test]
fn a_running_handler_is_cancelled_when_the_connection_ends() {
    let (server, has_started) = endless();
    let (adapter, mut client) = UnixStream::pair().expect("a pair");
    let connection = Connection::unix(adapter).expect("it can be read");
    let thread = std::thread::spawn(move || server.start(&connection).run(&mut ()));
    for text in [
        request(1, "initialize", r#"{"adapterID":"x"}"#),
        evaluate(2, "loop"),
    ] {
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        client.write_all(framed.as_bytes()).expect("it reads");
    }
    has_started.recv().expect("it starts");
    drop(client);
    thread.join().expect("no panic");
}

#[test]
fn a_disconnect_is_answered_and_so_is_a_second_one() {
    let mut wire = Wire::new(&plain(), ());
    wire.initialize();
    for text in [
        request(2, "disconnect", "{}"),
        request(3, "disconnect", "{}"),
        request(4, "threads", "{}"),
    ] {
        wire.write(&text);
    }
    assert_eq!(wire.handle(), Flow::Closed);
    assert_eq!(
        wire.read(),
        [
            "2: disconnect ok",
            "3: disconnect ok",
            "4: threads failed: `threads` came after the session had ended"
        ]
    );
}

/// Records the calls of the handler of `disconnect`.
fn counting() -> Server<Vec<Option<bool>>> {
    Server::builder()
        .on::<DisconnectRequest>(|seen: &mut Vec<Option<bool>>, arguments, _| {
            seen.push(arguments.terminate_debuggee);
            Ok(Empty)
        })
        .build()
}

#[test]
fn a_client_that_vanishes_is_a_disconnect() {
    let mut wire = Wire::new(&counting(), Vec::new());
    wire.initialize();
    drop(wire.client.take());
    assert_eq!(wire.handle(), Flow::Closed);
    assert_eq!(wire.state, [None]);
    output(&wire.session.outbox(), "to nobody");
}

#[test]
fn a_client_that_vanishes_before_initialize_is_a_disconnect_too() {
    let mut wire = Wire::new(&counting(), Vec::new());
    drop(wire.client.take());
    assert_eq!(wire.handle(), Flow::Closed);
    assert_eq!(wire.state, [None]);
}

#[test]
fn disconnecting_twice_in_whatever_way_calls_the_handler_once() {
    let mut wire = Wire::new(&counting(), Vec::new());
    wire.initialize();
    let answers = wire.say(&[
        r#"{"seq":2,"type":"request","command":"disconnect","arguments":{"terminateDebuggee":false}}"#,
    ]);
    assert_eq!(answers, ["2: disconnect ok"]);
    wire.session.disconnect(&mut wire.state);
    let closed = Incoming::Closed(Closed::ByPeer);
    assert_eq!(wire.session.handle(&mut wire.state, closed), Flow::Closed);
    assert_eq!(wire.state, [Some(false)]);
    // As for a signal to the adapter: no response is sent, since no request was received.
    let mut wire = Wire::new(&counting(), Vec::new());
    wire.initialize();
    wire.session.disconnect(&mut wire.state);
    assert_eq!(
        (wire.session.flow(), wire.read().len(), wire.state.len()),
        (Flow::Closed, 0, 1)
    );
}

/// A custom request, in both directions.
struct Ask;

impl Request for Ask {
    const COMMAND: &'static str = "x/ask";
    type Arguments = String;
    type Response = Vec<i64>;
}

#[test]
fn reverse_requests_bring_typed_answers() {
    let server = Server::<mpsc::Sender<Result<Vec<i64>, RequestError>>>::builder()
        .on::<Ask>(|answers: &mut mpsc::Sender<_>, question, context| {
            let answers = answers.clone();
            context.outbox().request::<Ask>(question, move |answer| {
                answers.send(answer).expect("the test waits")
            });
            context.outbox().request::<RunInTerminalRequest>(
                RunInTerminalRequestArguments::new("/", vec![]),
                |answer| {
                    let command = RunInTerminalRequest::COMMAND;
                    assert_eq!(answer, Err(RequestError::NotSupported { command }));
                },
            );
            Ok(vec![0])
        })
        .build();
    let (client, adapter) = Connection::memory();
    let (sender, answers) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut sender = sender;
        server.start(&adapter).run(&mut sender);
    });
    let client = TestClient::new(client);
    client.initialize();
    client.on::<Ask>(|question| {
        if question == "good" {
            Ok(vec![1, 2])
        } else {
            Err(Failure::new("no idea"))
        }
    });
    assert_eq!(client.ok::<Ask>("good".to_owned()), [0]);
    assert_eq!(answers.recv(), Ok(Ok(vec![1, 2])));
    client.ok::<Ask>("bad".to_owned());
    assert_eq!(
        answers.recv(),
        Ok(Err(RequestError::Failed {
            message: "no idea".to_owned()
        }))
    );
    client.disconnect();
    client.assert_no_violations();
    thread.join().expect("no panic");
}

#[test]
fn a_reverse_request_fails_when_the_client_vanishes() {
    let server = plain();
    let mut wire = Wire::new(&server, ());
    wire.initialize();
    let (sender, answers) = mpsc::channel();
    let later = sender.clone();
    wire.session
        .outbox()
        .request::<Ask>(String::new(), move |answer| {
            sender.send(answer).expect("the test waits")
        });
    drop(wire.client.take());
    assert_eq!(wire.handle(), Flow::Closed);
    assert_eq!(answers.try_recv(), Ok(Err(RequestError::Disconnected)));
    wire.session
        .outbox()
        .request::<Ask>(String::new(), move |answer| {
            later.send(answer).expect("the test waits")
        });
    assert_eq!(answers.try_recv(), Ok(Err(RequestError::Disconnected)));
}

#[test]
fn an_error_becomes_a_failure_with_its_causes_and_options() {
    let server = Server::<References<()>>::builder()
        .on::<ThreadsRequest>(|_, _, _| Err(Exhausted)?)
        .on::<ModulesRequest>(|_, _, _| Err(Failure::new("look here").show_user().with_id(42)))
        .build();
    let (client, adapter) = Connection::memory();
    let thread = std::thread::spawn(move || server.start(&adapter).run(&mut References::new()));
    let client = TestClient::new(client).with_timeout(Duration::from_secs(60));
    client.initialize();
    assert!(
        client
            .fails::<ThreadsRequest>(Empty)
            .contains("are used up")
    );
    let Err(dapple_dap::ClientError::Failed(failure)) =
        client.request::<ModulesRequest>(ModulesArguments::new())
    else {
        panic!("it was to fail");
    };
    let error = failure.error.expect("a structured error");
    assert_eq!(
        (error.id, &*error.format, error.show_user),
        (42, "look here", Some(true))
    );
    drop(client);
    thread.join().expect("the session ends with the client");
}

#[test]
fn what_failures_say_is_adjusted_to_the_client() {
    let server = Server::<()>::builder()
        .on::<ThreadsRequest>(|_, _, _| Err(Failure::new("no `threads`").show_user()))
        .failures_for(|client, failure| match client.client_id.as_deref() {
            Some("plain") => {
                let sentence = failure.sentence().replace('`', "'");
                failure.with_sentence(sentence)
            }
            _ => failure,
        })
        .build();
    for (id, sentence) in [("plain", "no 'threads'"), ("other", "no `threads`")] {
        let (client, adapter) = Connection::memory();
        let mut session = server.start(&adapter);
        let thread = std::thread::spawn(move || session.run(&mut ()));
        let client = TestClient::new(client).with_timeout(Duration::from_secs(60));
        let arguments = InitializeRequestArguments::new("any").with_client_id(id);
        client.ok::<InitializeRequest>(arguments);
        let Err(dapple_dap::ClientError::Failed(failure)) = client.request::<ThreadsRequest>(Empty)
        else {
            panic!("it was to fail");
        };
        assert_eq!(failure.sentence, sentence);
        let error = failure.error.expect("a structured error");
        assert_eq!((&*error.format, error.show_user), (sentence, Some(true)));
        drop(client);
        thread.join().expect("the session ends with the client");
    }
}

#[test]
fn work_that_takes_long_is_shown_and_cancelled_and_quick_work_is_not() {
    let server = Server::<()>::builder()
        .on::<EvaluateRequest>(|_, arguments, context| {
            let (cancel, cancelled) = crossbeam_channel::bounded(1);
            let _progress =
                LateProgress::start_cancellable(context.outbox(), "Thinking", move || {
                    let _ = cancel.send(());
                });
            if arguments.expression == "long" {
                cancelled.recv().expect("it is cancelled");
            }
            Ok(EvaluateResponse::new("done", 0))
        })
        .build();
    let (client, adapter) = Connection::memory();
    let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    let client = TestClient::new(client);
    client.initialize();
    let events = client.subscribe();
    client.ok::<EvaluateRequest>(EvaluateArguments::new("quick"));
    let evaluation = client
        .send::<EvaluateRequest>(EvaluateArguments::new("long"))
        .expect("it is there");
    let started = client.wait_for::<ProgressStartEvent>();
    assert_eq!(started.title, "Thinking");
    let cancel = CancelArguments::new().with_progress_id(started.progress_id.clone());
    client.ok::<CancelRequest>(cancel);
    assert_eq!(evaluation.wait().expect("it ends").result, "done");
    client.disconnect();
    let names: Vec<_> = events.try_iter().map(|event| event.event).collect();
    assert_eq!(names, ["progressStart", "progressEnd"]);
    drop(client);
    thread.join().expect("no panic");
}

#[test]
fn progress_is_seen_and_cancelled_while_its_handler_runs() {
    let server = Server::<()>::builder()
        .on::<EvaluateRequest>(|_, _, context| {
            output(context.outbox(), "waits for the response");
            let progress = Progress::start_cancellable(context.outbox(), "Thinking");
            while !progress.cancelled().is_cancelled() {
                std::thread::yield_now();
            }
            progress.finish("given up");
            Err(Failure::new("no result"))
        })
        .build();
    let (client, adapter) = Connection::memory();
    let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    let client = TestClient::new(client);
    client.initialize();
    let events = client.subscribe();
    let evaluation = client
        .send::<EvaluateRequest>(EvaluateArguments::new("x"))
        .expect("it is there");
    let started = client.wait_for::<ProgressStartEvent>();
    assert_eq!(started.cancellable, Some(true));
    let cancel = CancelArguments::new().with_progress_id(started.progress_id.clone());
    client.ok::<CancelRequest>(cancel);
    assert_eq!(
        evaluation.wait().expect_err("it fails").to_string(),
        "no result"
    );
    let ended = client.wait_for::<ProgressEndEvent>();
    assert_eq!(
        (ended.progress_id, ended.message.as_deref()),
        (started.progress_id, Some("given up"))
    );
    client.disconnect();
    let names: Vec<_> = events.try_iter().map(|event| event.event).collect();
    assert_eq!(names, ["progressStart", "progressEnd", "output"]);
    drop(client);
    thread.join().expect("no panic");
}

#[test]
fn a_disconnect_before_initialize_is_an_error_and_ends_nothing() {
    let mut wire = Wire::new(&counting(), Vec::new());
    let answers = wire.say(&[
        &request(1, "disconnect", "{}"),
        &INITIALIZE.replace("\"seq\":1", "\"seq\":2"),
    ]);
    assert!(
        answers[0].starts_with("1: disconnect failed: `disconnect` came before"),
        "{answers:?}"
    );
    assert!(answers[1].starts_with("2: initialize ok"), "{answers:?}");
    assert_eq!((wire.session.flow(), wire.state.len()), (Flow::Continue, 0));
}
