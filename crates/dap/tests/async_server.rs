//! The asynchronous server's public behaviour, over TCP, asynchronous streams, stdio and in memory.
#![cfg(feature = "tokio")]

mod built;

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use dapple_dap::async_client::{AsyncClient, AsyncPending};
use dapple_dap::async_server::{AsyncServer, AsyncServerBuilder};
use dapple_dap::envelope::Kind;
use dapple_dap::testing::{Recorder, TestClient, launch_arguments};
use dapple_dap::transport::listen::{AsyncListener, Reach, TcpServer, UnixServer};
use dapple_dap::transport::{Direction, Incoming, Options};
use dapple_dap::types::*;
use dapple_dap::{Client, ClientError, Connection, Failure};
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(60);

/// A runtime with threads of its own, for clients that block.
fn runtime() -> Runtime {
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build();
    runtime.expect("a runtime")
}

/// Tells a test when it is dropped.
struct Guard(mpsc::Sender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.send(()).ok();
    }
}

/// What the handlers of these tests share.
struct State {
    gate: Arc<Notify>,
    evaluated: usize,
    dropped: mpsc::Sender<()>,
}

impl State {
    fn new() -> (Self, mpsc::Receiver<()>) {
        let (dropped, drops) = mpsc::channel();
        let state = Self {
            gate: Arc::default(),
            evaluated: 0,
            dropped,
        };
        (state, drops)
    }
}

/// `evaluate` awaits what its expression says, and `continue` opens the gate.
fn builder() -> AsyncServerBuilder<State> {
    AsyncServer::builder()
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "main")])))
        .on::<ContinueRequest>(|state: &mut State, _, _| {
            state.gate.notify_waiters();
            Ok(ContinueResponse::new())
        })
        .on_async::<EvaluateRequest, _>(|state, arguments, context| {
            let gate = state.gate.clone().notified_owned();
            let guard = Guard(state.dropped.clone());
            async move {
                let _guard = guard;
                match &*arguments.expression {
                    "gate" => gate.await,
                    "cancellable" => {
                        context.cancelled().await;
                        return Err(Failure::new("not what the client gets"));
                    }
                    "forever" => pending().await,
                    "panic" => panic!("out of luck"),
                    "panic with the state" => {
                        context.with(|_, _| panic!("in the session")).await?;
                    }
                    _ => {}
                }
                let evaluated = context.with(|state, _| {
                    state.evaluated += 1;
                    state.evaluated
                });
                Ok(EvaluateResponse::new(evaluated.await?.to_string(), 0))
            }
        })
}

fn evaluate(expression: &str) -> EvaluateArguments {
    EvaluateArguments::new(expression)
}

/// Serves a client in memory. The task returns the state.
fn served(
    runtime: &Runtime,
    server: AsyncServer<State>,
    state: State,
) -> (TestClient, JoinHandle<State>) {
    let (client, connection) = Connection::memory();
    let session = runtime.spawn(async move { server.run(connection, state).await });
    let client = TestClient::new(client);
    client.initialize();
    (client, session)
}

fn listener() -> (AsyncListener, SocketAddr) {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = TcpServer::bind(any, Reach::Loopback).expect("loopback is there");
    let listener = AsyncListener::tcp(server).expect("a runtime");
    let address = listener.address().expect("bound");
    (listener, address)
}

/// Serves all clients of a port.
fn listening(runtime: &Runtime, server: AsyncServer<State>) -> SocketAddr {
    let _entered = runtime.enter();
    let (listener, address) = listener();
    runtime.spawn(async move { server.serve(&listener, |_| State::new().0).await });
    address
}

/// A client on asynchronous streams, in a runtime that has no other thread than the test's.
async fn joined<S: Send + 'static>(
    server: AsyncServer<S>,
    state: S,
    options: Options,
) -> (AsyncClient, JoinHandle<S>) {
    let (ours, theirs) = tokio::io::duplex(1 << 10);
    let (input, output) = tokio::io::split(theirs);
    let connection = Connection::asynchronous(input, output);
    let session = tokio::spawn(async move { server.run(connection, state).await });
    let (input, output) = tokio::io::split(ours);
    let client = AsyncClient::new_with(input, output, options);
    let arguments = InitializeRequestArguments::new("any")
        .with_supports_run_in_terminal_request(true)
        .with_supports_progress_reporting(true);
    let initialized = client.request::<InitializeRequest>(arguments).await;
    initialized.expect("initialize");
    (client, session)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

async fn disconnect(client: &AsyncClient) {
    let left = client.request::<DisconnectRequest>(DisconnectArguments::new());
    left.await.expect("disconnect");
    assert_eq!(client.violations(), []);
}

#[test]
fn an_asynchronous_stream_is_read_on_for_any_loop_that_takes_the_messages() {
    const COUNT: usize = 10_000;
    let runtime = runtime();
    let (theirs, ours) = tokio::io::duplex(1 << 20);
    let connection = {
        let _entered = runtime.enter();
        let (input, output) = tokio::io::split(ours);
        Connection::asynchronous(input, output)
    };
    runtime.spawn(async move {
        let (_input, mut output) = tokio::io::split(theirs);
        let messages = "Content-Length: 2\r\n\r\n{}".repeat(COUNT);
        let written = output.write_all(messages.as_bytes()).await;
        written.expect("it is read");
        pending::<()>().await
    });
    // The reader has filled the queue, and waits.
    while connection.incoming.len() < 4000 {
        std::thread::yield_now();
    }
    for count in 0..COUNT {
        let next = connection.incoming.recv_timeout(PATIENCE);
        assert!(
            matches!(next, Ok(Incoming::Message(_))),
            "{count}: {next:?}"
        );
    }
}

/// What the adapter has sent: commands of responses, and names of events.
fn sent_to(recorder: &Recorder) -> Vec<String> {
    let messages = recorder.messages();
    let received = messages
        .iter()
        .filter(|message| message.direction == Direction::Received);
    let name = |text: &str| {
        let envelope = dapple_dap::envelope::Envelope::parse(text).expect("a message");
        match envelope.kind {
            Kind::Response {
                command,
                success: true,
                ..
            } => command.into_owned(),
            Kind::Response {
                command, message, ..
            } => format!("{command}: {}", message.unwrap_or_default()),
            Kind::Event { event, .. } => format!("event {event}"),
            _ => panic!("neither a response nor an event: {text}"),
        }
    };
    received.map(|message| name(&message.text)).collect()
}

#[test]
fn later_requests_are_answered_while_one_is_awaited() {
    let runtime = runtime();
    let address = listening(&runtime, builder().build());
    let client = TestClient::from(Client::connect(address).expect("it listens"));
    client.initialize();
    let first = client.send::<EvaluateRequest>(evaluate("gate"));
    let second = client.send::<EvaluateRequest>(evaluate("gate"));
    assert_eq!(client.ok::<ThreadsRequest>(Empty).threads[0].name, "main");
    assert_eq!(client.ok::<EvaluateRequest>(evaluate("1")).result, "1");
    client.ok::<ContinueRequest>(ContinueArguments::new(1));
    let [first, second] = [first, second].map(|sent| sent.expect("sent").wait());
    let mut results = [first, second].map(|answer| answer.expect("the gate is open").result);
    results.sort();
    assert_eq!(results, ["2", "3"]);
    client.disconnect();
    client.assert_no_violations();
}

#[test]
fn an_awaited_request_is_cancelled() {
    block_on(async {
        let (client, _session) = joined(builder().build(), State::new().0, Options::new()).await;
        let [first, second] =
            [0, 1].map(|_| client.send::<EvaluateRequest>(evaluate("cancellable")));
        let (first, second) = (first.await.expect("sent"), second.await.expect("sent"));
        client.cancel(&second).await.expect("sent");
        let cancelled = second.wait().await.expect_err("it is cancelled");
        assert_eq!(cancelled.to_string(), "cancelled");
        let arguments = CancelArguments::new().with_request_id(first.seq());
        client
            .request::<CancelRequest>(arguments)
            .await
            .expect("it is there");
        let cancelled = first.wait().await.expect_err("it is cancelled");
        assert_eq!(cancelled.to_string(), "cancelled");
        disconnect(&client).await;
    });
}

#[test]
fn a_panic_fails_the_request_and_the_session_goes_on() {
    let runtime = runtime();
    let server = builder().on_async::<PauseRequest, _>(|state, _, _| {
        assert_eq!(state.evaluated, 7, "no number of mine");
        async { Ok(Empty) }
    });
    let (client, session) = served(&runtime, server.build(), State::new().0);
    for (expression, text) in [
        ("panic", "out of luck"),
        ("panic with the state", "in the session"),
    ] {
        assert_eq!(
            client.fails::<EvaluateRequest>(evaluate(expression)),
            format!("the handler of `evaluate` panicked: {text}")
        );
    }
    let sentence = client.fails::<PauseRequest>(PauseArguments::new(1));
    assert!(sentence.contains("no number of mine"), "{sentence}");
    assert_eq!(client.ok::<EvaluateRequest>(evaluate("1")).result, "1");
    client.disconnect();
    client.assert_no_violations();
    let state = runtime.block_on(session).expect("no panic");
    assert_eq!(state.evaluated, 1);
}

#[test]
fn the_response_leaves_before_the_events_of_its_handler() {
    let server = AsyncServer::<()>::builder()
        .on_async::<LaunchRequest, _>(|(), _, context| async move {
            context
                .outbox()
                .event::<ThreadEvent>(ThreadEventBody::new(ThreadEventReason::Started, 1));
            context
                .outbox()
                .event::<OutputEvent>(OutputEventBody::new("at once"));
            context.at_once().event::<InitializedEvent>(Empty);
            tokio::task::yield_now().await;
            let outbox = context.outbox().clone();
            tokio::spawn(async move {
                context.cancelled().await;
                outbox.event::<ExitedEvent>(ExitedEventBody::new(0));
            });
            Ok(Empty)
        })
        .on::<PauseRequest>(|(), _, context| {
            context
                .outbox()
                .event::<StoppedEvent>(StoppedEventBody::new(StoppedEventReason::Pause));
            Ok(Empty)
        })
        .build();
    let recorder = Recorder::new();
    block_on(async {
        let (client, _session) = joined(server, (), recorder.options()).await;
        let launch = client.request::<LaunchRequest>(LaunchRequestArguments::new());
        launch.await.expect("launched");
        let pause = client.request::<PauseRequest>(PauseArguments::new(1));
        pause.await.expect("paused");
        disconnect(&client).await;
    });
    let expected = [
        "initialize",
        "event output",
        "event initialized",
        "launch",
        "event thread",
    ];
    assert_eq!(sent_to(&recorder)[..5], expected);
    assert_eq!(
        sent_to(&recorder)[5..],
        ["pause", "event stopped", "disconnect"]
    );
}

#[test]
fn a_disconnect_cancels_what_is_awaited_before_it_is_answered() {
    let (state, drops) = State::new();
    let recorder = Recorder::new();
    block_on(async {
        let server = builder().on_async::<DisconnectRequest, _>(|_, _, context| async move {
            let evaluated = context.with(|state, _| state.evaluated).await?;
            assert_eq!(evaluated, 1);
            Ok(Empty)
        });
        let (client, session) = joined(server.build(), state, recorder.options()).await;
        let awaited: Vec<AsyncPending<EvaluateRequest>> = {
            let first = client.send(evaluate("forever")).await;
            let second = client.send(evaluate("forever")).await;
            vec![first.expect("sent"), second.expect("sent")]
        };
        client
            .request::<EvaluateRequest>(evaluate("1"))
            .await
            .expect("it is quick");
        disconnect(&client).await;
        for request in awaited {
            let cancelled = request.wait().await.expect_err("it is cancelled");
            assert_eq!(cancelled.to_string(), "cancelled");
        }
        client
            .wait_closed(PATIENCE)
            .await
            .expect("the session is over");
        assert_eq!(session.await.expect("no panic").evaluated, 1);
    });
    let expected = [
        "evaluate",
        "evaluate: cancelled",
        "evaluate: cancelled",
        "disconnect",
    ];
    assert_eq!(sent_to(&recorder)[1..], expected);
    assert_eq!(drops.try_iter().count(), 3);
}

#[test]
fn a_client_that_vanishes_ends_what_is_awaited() {
    let runtime = runtime();
    let (state, drops) = State::new();
    let (client, session) = served(&runtime, builder().build(), state);
    let _awaited = client.send::<EvaluateRequest>(evaluate("forever"));
    client.ok::<EvaluateRequest>(evaluate("1"));
    drop(client);
    let state = runtime.block_on(session).expect("no panic");
    assert_eq!(state.evaluated, 1);
    assert_eq!(drops.try_iter().count(), 2);
}

#[test]
fn futures_are_dropped_with_their_session() {
    let runtime = runtime();
    let (state, drops) = State::new();
    let (client, session) = served(&runtime, builder().build(), state);
    let awaited = client.send::<EvaluateRequest>(evaluate("forever"));
    client.ok::<ThreadsRequest>(Empty);
    session.abort();
    drops.recv_timeout(PATIENCE).expect("the future is dropped");
    assert!(awaited.expect("sent").wait().is_err());
    client
        .wait_closed(PATIENCE)
        .expect("the connection is closed");
}

#[test]
fn a_thousand_requests_are_awaited_at_once() {
    const COUNT: usize = 1000;
    let server = AsyncServer::<(usize, Arc<Notify>)>::builder()
        .on_async::<EvaluateRequest, _>(|(count, all), arguments, _| {
            *count += 1;
            let all_there = all.clone().notified_owned();
            if *count == COUNT {
                all.notify_waiters();
            }
            async move {
                all_there.await;
                Ok(EvaluateResponse::new(arguments.expression, 0))
            }
        })
        .build();
    block_on(async {
        let (client, session) = joined(server, (0, Arc::default()), Options::new()).await;
        let mut sent = Vec::new();
        for number in 0..COUNT {
            let request = client.send::<EvaluateRequest>(evaluate(&number.to_string()));
            sent.push(request.await.expect("sent"));
        }
        for (number, request) in sent.into_iter().enumerate() {
            let answer = request.wait().await.expect("all are there");
            assert_eq!(answer.result, number.to_string());
        }
        disconnect(&client).await;
        assert_eq!(session.await.expect("no panic").0, COUNT);
    });
}

#[test]
fn more_requests_than_are_awaited_at_once_do_not_keep_a_client_from_leaving() {
    block_on(async {
        let (client, session) = joined(builder().build(), State::new().0, Options::new()).await;
        let mut sent = Vec::new();
        for _ in 0..3000 {
            let request = client.send::<EvaluateRequest>(evaluate("forever"));
            sent.push(request.await.expect("sent"));
        }
        disconnect(&client).await;
        for request in sent {
            let error = request.wait().await.expect_err("it never ends");
            assert_eq!(error.to_string(), "cancelled");
        }
        session.await.expect("no panic");
    });
}

#[test]
fn sessions_have_states_of_their_own_and_stopping_waits_for_them() {
    block_on(async {
        let (listener, address) = listener();
        let listener = Arc::new(listener);
        let accepting = listener.clone();
        let server = builder().build();
        let serving =
            tokio::spawn(async move { server.serve(&accepting, |_| State::new().0).await });
        let mut clients = Vec::new();
        for _ in 0..2 {
            let client = AsyncClient::connect(address).await.expect("it listens");
            let arguments = InitializeRequestArguments::new("any");
            client
                .request::<InitializeRequest>(arguments)
                .await
                .expect("initialize");
            clients.push(client);
        }
        let waiting = clients[0].send::<EvaluateRequest>(evaluate("gate")).await;
        for turn in 1..=3 {
            for client in &clients {
                let answer = client.request::<EvaluateRequest>(evaluate("1")).await;
                assert_eq!(answer.expect("a number").result, turn.to_string());
            }
        }
        listener.stop();
        let stopped = listener.accept(Options::new()).await.expect_err("stopped");
        assert!(stopped.to_string().contains("stopped"), "{stopped}");
        assert!(!serving.is_finished(), "there are sessions");
        // The other session has a gate of its own.
        for client in clients.iter().rev() {
            let arguments = ContinueArguments::new(1);
            client
                .request::<ContinueRequest>(arguments)
                .await
                .expect("running");
        }
        let answer = waiting
            .expect("sent")
            .wait()
            .await
            .expect("the gate is open");
        assert_eq!(answer.result, "4");
        for client in clients {
            disconnect(&client).await;
            client.close(PATIENCE).await;
        }
        serving.await.expect("no panic").expect("it was stopped");
    });
}

#[test]
fn a_unix_socket_is_served_and_its_file_removed() {
    let path = std::env::temp_dir().join(format!("dap-async-{}", std::process::id()));
    block_on(async {
        let listener = UnixServer::bind(&path).expect("the path is free");
        let listener = Arc::new(AsyncListener::unix(listener).expect("a runtime"));
        let accepting = listener.clone();
        let server = builder().build();
        let serving =
            tokio::spawn(async move { server.serve(&accepting, |_| State::new().0).await });
        let client = AsyncClient::connect_unix(&path).await.expect("it listens");
        let arguments = InitializeRequestArguments::new("any");
        client
            .request::<InitializeRequest>(arguments)
            .await
            .expect("initialize");
        let answer = client.request::<EvaluateRequest>(evaluate("1")).await;
        assert_eq!(answer.expect("a number").result, "1");
        drop(client);
        listener.stop();
        serving.await.expect("no panic").expect("it was stopped");
    });
    assert!(!path.exists());
}

/// `launch` asks for a terminal, and its response says what came of that.
fn in_terminal() -> AsyncServer<()> {
    AsyncServer::builder()
        .on_async::<LaunchRequest, _>(|(), _, context| async move {
            let arguments = RunInTerminalRequestArguments::new("/", vec!["program".to_owned()]);
            let answer = context
                .outbox()
                .ask::<RunInTerminalRequest>(arguments)
                .await?;
            Err(Failure::new(format!("process {:?}", answer.process_id)))
        })
        .on::<ThreadsRequest>(|(), _, _| Ok(ThreadsResponse::new(vec![Thread::new(7, "main")])))
        .build()
}

#[test]
fn a_handler_awaits_the_clients_answer() {
    block_on(async {
        let (client, _session) = joined(in_terminal(), (), Options::new()).await;
        let launch = || async {
            let launch = client.request::<LaunchRequest>(LaunchRequestArguments::new());
            let Err(ClientError::Failed(failure)) = launch.await else {
                panic!("`launch` says what happened");
            };
            failure.sentence
        };
        assert_eq!(
            launch().await,
            "the request `runInTerminal` is not supported here"
        );
        client.on::<RunInTerminalRequest, _>(|arguments| async move {
            assert_eq!(arguments.args, ["program"]);
            Ok(RunInTerminalResponse::new().with_process_id(4711))
        });
        assert_eq!(launch().await, "process Some(4711)");
        disconnect(&client).await;
    });
    let runtime = runtime();
    let (client, connection) = Connection::memory();
    runtime.spawn(async move { in_terminal().run(connection, ()).await });
    let client = TestClient::new(client);
    client.initialize();
    assert_eq!(
        client.fails::<LaunchRequest>(LaunchRequestArguments::new()),
        "the client does not support `runInTerminal`"
    );
}

/// An adapter whose `launch` sends this many events of 1 MiB, and counts them.
fn flooding(
    count: usize,
    how: &'static str,
) -> (AsyncServer<()>, Arc<AtomicUsize>, mpsc::Receiver<()>) {
    let (sent, (news, receiver)) = (Arc::new(AtomicUsize::new(0)), mpsc::channel());
    let counter = sent.clone();
    let server = AsyncServer::<()>::builder()
        .on_async::<LaunchRequest, _>(move |(), _, context| {
            let (counter, news) = (counter.clone(), news.clone());
            async move {
                for _ in 0..count {
                    let text = "x".repeat(1 << 20) + "\n";
                    let stopped =
                        StoppedEventBody::new(StoppedEventReason::Step).with_text(text.clone());
                    match how {
                        "in turn" => {
                            context
                                .at_once()
                                .event_in_turn::<StoppedEvent>(stopped)
                                .await
                        }
                        "output" => context
                            .outbox()
                            .event::<OutputEvent>(OutputEventBody::new(text)),
                        _ => context.at_once().event::<StoppedEvent>(stopped),
                    }
                    counter.fetch_add(1, Ordering::SeqCst);
                    news.send(()).ok();
                }
                Ok(Empty)
            }
        })
        .on::<ThreadsRequest>(|(), _, _| Ok(ThreadsResponse::new(vec![])))
        .build();
    (server, sent, receiver)
}

/// More MiB than wait for a client that does not read.
const COUNT: usize = 100;

/// Waits until all events were sent.
fn all_of(news: &mpsc::Receiver<()>) {
    for _ in 0..COUNT {
        news.recv_timeout(PATIENCE).expect("sending never blocks");
    }
}

/// Launches, and reads nothing before `wait` has returned.
fn flooded(
    server: AsyncServer<()>,
    wait: impl FnOnce(),
) -> (Runtime, std::net::TcpStream, JoinHandle<()>) {
    use std::io::{Read, Write};
    let runtime = runtime();
    let (listener, address) = {
        let _entered = runtime.enter();
        listener()
    };
    let session = runtime.spawn(async move {
        let connection = listener.accept(Options::new()).await.expect("the own user");
        server.run(connection, ()).await;
    });
    let mut socket = std::net::TcpStream::connect(address).expect("it listens");
    socket
        .set_read_timeout(Some(PATIENCE))
        .expect("a limit for the test");
    let mut send = |text: &str| {
        let message = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        socket
            .write_all(message.as_bytes())
            .expect("the session reads");
    };
    send(r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}"#);
    send(r#"{"seq":2,"type":"request","command":"launch","arguments":{}}"#);
    let mut first = [0; 100];
    socket.read_exact(&mut first).expect("a response");
    wait();
    (runtime, socket, session)
}

/// Reads up to the response to `launch`. Returns how much was read, and its end.
fn read_to_launch(mut socket: std::net::TcpStream) -> (usize, String) {
    use std::io::Read;
    let (mut total, mut piece, mut tail) = (0, vec![0; 1 << 20], String::new());
    loop {
        let length = socket.read(&mut piece).expect("more is sent");
        assert_ne!(length, 0, "the session goes on");
        total += length;
        tail.push_str(&String::from_utf8_lossy(&piece[..length]));
        if tail.contains(r#""command":"launch""#) {
            return (total, tail);
        }
        let keep = tail.len().saturating_sub(1000);
        tail.replace_range(..keep, "");
    }
}

#[test]
fn tasks_that_send_in_turn_wait_for_a_client_that_does_not_read() {
    let (server, sent, news) = flooding(COUNT, "in turn");
    // Nothing more is sent when the channel is empty for a second.
    let wait = || while news.recv_timeout(Duration::from_secs(1)).is_ok() {};
    let (_runtime, socket, _session) = flooded(server, wait);
    let before = sent.load(Ordering::SeqCst);
    assert!(before < 60, "{before} MiB were accepted");
    let (total, _) = read_to_launch(socket);
    assert!(total > 100 << 20, "{total}");
    assert_eq!(sent.load(Ordering::SeqCst), COUNT);
}

#[test]
fn a_client_that_does_not_read_at_all_is_gone_at_last() {
    let (server, sent, news) = flooding(COUNT, "events");
    let (runtime, _socket, session) = flooded(server, || all_of(&news));
    assert_eq!(sent.load(Ordering::SeqCst), COUNT, "sending never blocks");
    let ended = async { tokio::time::timeout(PATIENCE, session).await };
    runtime.block_on(ended).expect("it ends").expect("no panic");
}

#[test]
fn output_beyond_bounds_is_left_out_and_the_session_goes_on() {
    let (server, sent, news) = flooding(COUNT, "output");
    let (_runtime, socket, _session) = flooded(server, || all_of(&news));
    assert_eq!(sent.load(Ordering::SeqCst), COUNT, "sending never blocks");
    let mut output = socket.try_clone().expect("a handle");
    let (total, tail) = read_to_launch(socket);
    assert!(total < 80 << 20, "{total}");
    use std::io::{Read, Write};
    let disconnect = r#"{"seq":3,"type":"request","command":"disconnect"}"#;
    write!(
        output,
        "Content-Length: {}\r\n\r\n{disconnect}",
        disconnect.len()
    )
    .expect("sent");
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).expect("the end");
    let all = tail + &String::from_utf8_lossy(&rest);
    assert!(all.contains("lines of output were left out"));
    assert!(total + rest.len() < 80 << 20, "{}", rest.len());
}

#[test]
fn the_example_runs_as_a_child_and_awaits_the_next_line() {
    let program = std::env::temp_dir().join(format!("dap-slides-{}", std::process::id()));
    std::fs::write(&program, "one\ntwo\nthree\nfour\n").expect("a file for the test");
    let recorder = Recorder::new();
    let client = Client::spawn_with(&mut built::example("slides"), recorder.options());
    let client = TestClient::from(client.expect("it is built"));
    client.hit_breakpoint(
        launch_arguments(
            &[("program", &program)]
                .into_iter()
                .collect::<std::collections::BTreeMap<_, _>>(),
        ),
        &program,
        2,
    );
    let next = client
        .send::<EvaluateRequest>(evaluate("next"))
        .expect("sent");
    let never = client
        .send::<EvaluateRequest>(evaluate("next"))
        .expect("sent");
    assert_eq!(client.top_frame(1).line, 2);
    client.cancel(&never).expect("sent");
    assert_eq!(
        never.wait().expect_err("cancelled").to_string(),
        "cancelled"
    );
    client.ok::<NextRequest>(NextArguments::new(1));
    assert_eq!(next.wait().expect("a line was shown").result, "3");
    client.assert_stopped_at("step", &program, 3);
    let other = client.set_breakpoints("/other", &[1]).breakpoints;
    assert!(!other[0].verified);
    client.resume(1);
    client.assert_output("stdout", "four");
    client.wait_for::<TerminatedEvent>();
    client.disconnect();
    client.assert_no_violations();
    let messages = sent_to(&recorder);
    let at = |name| messages.iter().position(|message| message == name);
    let step = at("next").expect("it was answered");
    let stops = messages.iter().enumerate();
    let mut stops = stops.filter(|(_, message)| *message == "event stopped");
    let of_step = stops.nth(1).expect("two stops").0;
    assert!(step < of_step, "{messages:?}");
    assert!(at("continue") < at("event exited"), "{messages:?}");
    std::fs::remove_file(program).expect("it is there");
}
