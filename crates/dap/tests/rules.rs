//! The rules that the session keeps for every adapter, each with at least one test, through a real socket.
//!
//! `lifecycle.rs` tests the rules themselves message by message, `bad_input.rs` malformed input.

mod wire;

use std::sync::mpsc;
use std::time::Duration;

use dapple_dap::server::{Progress, References, RequestError};
use dapple_dap::types::*;
use dapple_dap::{CancelToken, Failure, Outbox, Responder, Server};
use wire::{INITIALIZE, Wire, frame, request};

/// The session's state, which the test inspects at the end.
#[derive(Default)]
struct Program {
    waiting: Vec<Responder<EvaluateRequest>>,
    progress: Option<Progress>,
    disconnects: usize,
}

fn output(outbox: &Outbox) {
    outbox.event::<OutputEvent>(OutputEventBody::new("text"));
}

fn adapter() -> Server<Program> {
    Server::builder()
        .on::<ThreadsRequest>(|_, _, context| {
            output(context.outbox());
            // More than JavaScript's numbers represent exactly, but a valid id.
            Ok(ThreadsResponse::new(vec![Thread::new(i64::MAX, "main")]))
        })
        .on::<NextRequest>(|_, _, context| {
            let outbox = context.outbox();
            outbox.event::<ContinuedEvent>(ContinuedEventBody::new(1));
            outbox.event::<StoppedEvent>(StoppedEventBody::new(StoppedEventReason::Step));
            Ok(Empty)
        })
        .on_deferred::<EvaluateRequest>(|program: &mut Program, arguments, responder, _| {
            match arguments.expression.as_str() {
                "leak" => std::mem::forget(responder),
                "drop" => drop(responder),
                "wait for its cancellation" => {
                    while !responder.cancelled().is_cancelled() {
                        std::thread::yield_now();
                    }
                    responder.fail(Failure::new("whatever"));
                }
                _ => program.waiting.push(responder),
            }
        })
        .on::<TerminateRequest>(|program, _, context| {
            program.progress = Some(Progress::start(context.outbox(), "Ending"));
            context
                .outbox()
                .event::<ExitedEvent>(ExitedEventBody::new(0));
            context
                .outbox()
                .event::<TerminatedEvent>(TerminatedEventBody::new());
            output(context.outbox());
            Ok(Empty)
        })
        .on::<DisconnectRequest>(|program, _, _| {
            program.disconnects += 1;
            Ok(Empty)
        })
        .keep_conventions()
        .build()
}

fn wire() -> Wire<Program> {
    Wire::initialized(adapter(), Program::default())
}

fn cancel(seq: i64, request: i64) -> String {
    wire::request(seq, "cancel", &format!(r#"{{"requestId":{request}}}"#))
}

#[test]
fn wire_header_names_have_no_case_unknown_headers_are_skipped_and_pieces_do_not_matter() {
    let mut wire = wire();
    let body = request(2, "evaluate", r#"{"expression":"drop"}"#);
    let stream = format!("X-Other: 1\r\ncontent-LENGTH:{}\r\n\r\n{body}", body.len());
    for byte in stream.bytes() {
        wire.bytes(&[byte]);
    }
    assert_eq!(
        wire.read(),
        "2: evaluate failed: the handler of `evaluate` dropped the request without answering"
    );
}

#[test]
fn wire_numbers_start_at_one_and_grow_by_one_and_each_request_has_one_response() {
    let mut wire = Wire::new(adapter(), Program::default());
    wire.write(INITIALIZE);
    for seq in 2..12 {
        wire.write(&request(seq, "threads", "{}"));
    }
    let mut answered = Vec::new();
    for expected in 1..=21 {
        let text = wire.text().expect("a message");
        let envelope = dapple_dap::envelope::Envelope::parse(&text).expect("a message");
        assert_eq!(envelope.seq, expected);
        if let dapple_dap::envelope::Kind::Response { request_seq, .. } = envelope.kind {
            answered.push(request_seq);
        }
    }
    assert_eq!(answered, (1..12).collect::<Vec<_>>());
}

#[test]
fn wire_a_request_whose_responder_is_dropped_leaked_or_kept_is_answered_once() {
    let mut wire = wire();
    for (seq, what) in [(2, "drop"), (3, "leak"), (4, "keep")] {
        let arguments = format!(r#"{{"expression":"{what}"}}"#);
        wire.write(&request(seq, "evaluate", &arguments));
    }
    wire.write(&request(5, "disconnect", "{}"));
    let (answers, mut program) = wire.end();
    assert_eq!(
        answers,
        [
            "2: evaluate failed: the handler of `evaluate` dropped the request without answering",
            "5: disconnect ok",
            "3: evaluate failed: the session ended before `evaluate` was answered",
            "4: evaluate failed: the session ended before `evaluate` was answered",
        ]
    );
    // A response after the session's end is dropped.
    program
        .waiting
        .pop()
        .expect("it was kept")
        .respond(EvaluateResponse::new("7", 0));
}

#[test]
fn wire_ids_that_are_too_large_are_passed_on_and_unknown_values_kept() {
    let mut wire = wire();
    assert_eq!(
        wire.say(&request(2, "threads", r#"{"of":"the future"}"#)),
        r#"2: threads ok {"threads":[{"id":9223372036854775807,"name":"main"}]}"#
    );
    assert_eq!(wire.read(), "event output");
    // An open enumeration accepts unknown values; for a closed one, the error lists the known values.
    let evaluate = |seq, context| {
        let arguments = format!(r#"{{"expression":"drop","context":"{context}"}}"#);
        request(seq, "evaluate", &arguments)
    };
    assert_eq!(
        wire.say(&evaluate(3, "of-the-future")),
        "3: evaluate failed: the handler of `evaluate` dropped the request without answering"
    );
    let next = wire.say(&request(
        4,
        "next",
        r#"{"threadId":9007199254740993,"granularity":7}"#,
    ));
    assert!(
        next.contains("`granularity`: invalid type: integer `7`"),
        "{next}"
    );
}

#[test]
fn wire_ids_that_are_sent_are_in_the_schemas_range() {
    let mut frames = References::new();
    for expected in 1..1000 {
        assert_eq!(frames.insert(()), Ok(expected));
        frames.clear_generation();
    }
}

#[test]
fn start_the_first_request_is_initialize_once_and_nothing_is_sent_before_its_response() {
    let server = Server::<()>::builder()
        .on_initialize(|_, _| {})
        .capabilities(|capabilities| capabilities.supports_terminate_request = Some(true))
        .build();
    let (client, other) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
    let connection = dapple_dap::Connection::unix(other).expect("a socket");
    let mut session = server.start(&connection);
    // The adapter sends before `initialize` was handled.
    output(&session.outbox());
    let (asked, outcome) = mpsc::channel();
    session.outbox().request::<RunInTerminalRequest>(
        RunInTerminalRequestArguments::new("/", vec![]),
        move |result| {
            asked.send(result).expect("the test waits");
        },
    );
    let thread = std::thread::spawn(move || {
        session.run(&mut ());
        drop(connection);
    });
    let mut bytes = frame(&request(1, "threads", "{}"));
    bytes.extend(frame(&INITIALIZE.replace("\"seq\":1", "\"seq\":2")));
    bytes.extend(frame(&INITIALIZE.replace("\"seq\":1", "\"seq\":3")));
    std::io::Write::write_all(&mut &client, &bytes).expect("it reads");
    client
        .shutdown(std::net::Shutdown::Write)
        .expect("a socket");
    let mut decoder = dapple_dap::codec::Decoder::new();
    let mut all = Vec::new();
    std::io::Read::read_to_end(&mut &client, &mut all).expect("it ends");
    decoder.push(&all);
    let mut order = Vec::new();
    while let Some(text) = decoder.next().expect("messages") {
        order.push(wire::short(&text));
    }
    assert_eq!(
        order,
        [
            "1: threads failed: `threads` came before `initialize`; the first request must be `initialize`",
            r#"2: initialize ok {"supportsTerminateRequest":true,"supportsCancelRequest":true}"#,
            "event output",
            "request runInTerminal",
            "3: initialize failed: `initialize` may be sent only once in a session",
        ]
    );
    assert_eq!(outcome.recv(), Ok(Err(RequestError::Disconnected)));
    thread.join().expect("no panic");
}

#[test]
fn run_a_response_comes_before_the_stop_it_causes_and_no_continued_is_told_back() {
    let mut wire = wire();
    wire.write(&request(2, "next", r#"{"threadId":1}"#));
    wire.write(&request(3, "disconnect", "{}"));
    assert_eq!(
        wire.end().0,
        ["2: next ok", "event stopped", "3: disconnect ok"]
    );
}

#[test]
fn end_nothing_but_responses_follows_terminated_and_progress_is_ended_before_it() {
    let mut wire = wire();
    wire.write(&request(2, "terminate", "{}"));
    wire.write(&request(3, "evaluate", r#"{"expression":"drop"}"#));
    wire.write(&request(4, "disconnect", "{}"));
    let (order, program) = wire.end();
    assert_eq!(
        order,
        [
            "event progressStart",
            "2: terminate ok",
            "event exited",
            "event progressEnd",
            "event terminated",
            "3: evaluate failed: the handler of `evaluate` dropped the request without answering",
            "4: disconnect ok",
        ]
    );
    assert!(program.progress.is_some(), "it was still going on");
}

#[test]
fn end_disconnect_is_answered_before_the_end_and_a_second_one_too() {
    let mut wire = wire();
    // Both are read before either is handled: the session is busy until the `cancel` after them is read.
    wire.write(&request(
        2,
        "evaluate",
        r#"{"expression":"wait for its cancellation"}"#,
    ));
    wire.write(&request(3, "disconnect", "{}"));
    wire.write(&request(4, "disconnect", "{}"));
    wire.write(&cancel(5, 2));
    let (order, program) = wire.end();
    assert_eq!(
        order[..3],
        [
            "2: evaluate failed: cancelled",
            "3: disconnect ok",
            "4: disconnect ok"
        ]
    );
    assert_eq!(program.disconnects, 1);
}

#[test]
fn end_a_client_that_vanishes_is_a_disconnect() {
    let mut wire = wire();
    wire.write(&request(2, "evaluate", r#"{"expression":"keep"}"#));
    let (answers, program) = wire.end();
    assert_eq!(program.disconnects, 1);
    assert_eq!(
        answers,
        ["2: evaluate failed: the session ended before `evaluate` was answered"],
        "its reading half is still there"
    );
}

#[test]
fn end_a_cancelled_request_is_answered_once_as_cancelled() {
    let mut wire = wire();
    // The first request is under way when its cancellation is read. The second is not, since both arrive in one piece.
    wire.write(&request(
        2,
        "evaluate",
        r#"{"expression":"wait for its cancellation"}"#,
    ));
    let both = [
        frame(&request(3, "evaluate", r#"{"expression":"keep"}"#)),
        frame(&cancel(4, 3)),
        frame(&cancel(5, 2)),
        frame(&request(6, "disconnect", "{}")),
    ];
    wire.bytes(&both.concat());
    let (answers, program) = wire.end();
    assert_eq!(
        answers,
        [
            "2: evaluate failed: cancelled",
            "3: evaluate failed: cancelled",
            "4: cancel ok",
            "5: cancel ok",
            "6: disconnect ok",
        ]
    );
    assert!(program.waiting.is_empty(), "the second was not started");
}

#[test]
fn end_a_progress_that_is_cancelled_gets_its_end() {
    let (started, tokens) = mpsc::channel::<CancelToken>();
    let server = Server::<Option<Progress>>::builder()
        .on::<ModulesRequest>(move |state: &mut Option<Progress>, _, context| {
            let progress = Progress::start_cancellable(context.outbox(), "Reading");
            started
                .send(progress.cancelled().clone())
                .expect("the test waits");
            *state = Some(progress);
            Ok(ModulesResponse::new(vec![]))
        })
        .on::<ThreadsRequest>(|state, _, _| {
            *state = None;
            Err(Failure::new("no threads"))
        })
        .build();
    let mut wire = Wire::initialized(server, None);
    wire.write(&request(2, "modules", "{}"));
    let start = wire.text().expect("an event");
    let envelope = dapple_dap::envelope::Envelope::parse(&start).expect("an event");
    let dapple_dap::envelope::Kind::Event {
        body: Some(body), ..
    } = envelope.kind
    else {
        panic!("not the event: {start}");
    };
    let body: ProgressStartEventBody = dapple_dap::message::decode(body).expect("its shape");
    assert_eq!(wire.read(), r#"2: modules ok {"modules":[]}"#);
    let arguments = format!(r#"{{"progressId":"{}"}}"#, body.progress_id);
    assert_eq!(wire.say(&request(3, "cancel", &arguments)), "3: cancel ok");
    assert!(tokens.recv().expect("it started").is_cancelled());
    wire.write(&request(4, "threads", "{}"));
    assert_eq!(wire.read(), "event progressEnd");
    assert_eq!(wire.read(), "4: threads failed: no threads");
}

/// A server whose `threads` sends `runInTerminal` to the client, with a timeout.
fn asking(timeout: Duration) -> Server<mpsc::Sender<Result<i64, RequestError>>> {
    Server::builder()
        .on::<ThreadsRequest>(
            move |outcomes: &mut mpsc::Sender<Result<i64, RequestError>>, _, context| {
                let outcomes = outcomes.clone();
                context.outbox().request_within::<RunInTerminalRequest>(
                    timeout,
                    RunInTerminalRequestArguments::new("/", vec![]),
                    move |answer| {
                        let id = answer.map(|answer| answer.process_id.unwrap_or(0));
                        outcomes.send(id).expect("the test waits");
                    },
                );
                Ok(ThreadsResponse::new(vec![]))
            },
        )
        .build()
}

fn answer(request_seq: i64) -> String {
    format!(
        r#"{{"seq":3,"type":"response","request_seq":{request_seq},"success":true,"command":"runInTerminal","body":{{"processId":7}}}}"#
    )
}

#[test]
fn a_reverse_request_that_is_not_answered_in_time_fails_and_its_late_answer_is_dropped() {
    let (sender, outcomes) = mpsc::channel();
    let timeout = Duration::from_millis(20);
    let mut wire = Wire::initialized(asking(timeout), sender);
    assert_eq!(
        wire.say(&request(2, "threads", "{}")),
        r#"2: threads ok {"threads":[]}"#
    );
    assert_eq!(wire.read(), "request runInTerminal");
    let late = RequestError::Timeout {
        command: "runInTerminal",
        after: timeout,
    };
    assert_eq!(outcomes.recv(), Ok(Err(late)));
    wire.write(&answer(3));
    assert_eq!(
        wire.say(&request(4, "threads", "{}")),
        r#"4: threads ok {"threads":[]}"#
    );
    drop(wire.end());
}

#[test]
fn a_reverse_request_that_is_answered_in_time_is_not_told_twice() {
    let (sender, outcomes) = mpsc::channel();
    let mut wire = Wire::initialized(asking(Duration::from_secs(3600)), sender);
    wire.write(&request(2, "threads", "{}"));
    assert_eq!(wire.read(), r#"2: threads ok {"threads":[]}"#);
    assert_eq!(wire.read(), "request runInTerminal");
    wire.write(&answer(3));
    assert_eq!(outcomes.recv(), Ok(Ok(7)));
    drop(wire.end());
    assert!(outcomes.recv().is_err(), "the timer has ended too");
}
