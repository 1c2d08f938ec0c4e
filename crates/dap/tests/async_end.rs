//! How sessions of an asynchronous server end: with requests and reverse requests that are not answered.
#![cfg(feature = "tokio")]

use std::future::pending;
use std::sync::mpsc;
use std::time::Duration;

use dapple_dap::Connection;
use dapple_dap::async_server::AsyncServer;
use dapple_dap::server::RequestError;
use dapple_dap::transport::Incoming;
use dapple_dap::types::*;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(60);

fn runtime() -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build();
    runtime.expect("a runtime")
}

/// Tells a test when it is dropped.
struct Guard(#[expect(dead_code, reason = "dropped with this")] mpsc::Sender<()>);

/// Serves a client in memory, whose messages the test writes itself.
fn served(runtime: &Runtime, server: AsyncServer<()>) -> (Connection, JoinHandle<()>) {
    let (client, connection) = Connection::memory();
    let session = runtime.spawn(async move { server.run(connection, ()).await });
    (client, session)
}

fn ended(runtime: &Runtime, session: JoinHandle<()>) {
    let joined = runtime.block_on(async { tokio::time::timeout(PATIENCE, session).await });
    joined.expect("it ends").expect("it does not panic");
}

fn send(client: &Connection, seq: i64, command: &str, arguments: &str) {
    let text = format!(
        r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{arguments}}}"#
    );
    client.outgoing.send_text(&text).expect("the session reads");
}

fn initialize(client: &Connection) {
    let arguments = r#"{"adapterID":"any","supportsRunInTerminalRequest":true}"#;
    send(client, 1, "initialize", arguments);
}

/// The commands of the responses, and the names of the events.
fn received(client: &Connection) -> Vec<String> {
    let mut names = Vec::new();
    loop {
        let next = client.incoming.recv_timeout(PATIENCE).expect("more comes");
        let Incoming::Message(message) = next else {
            return names;
        };
        let message: serde_json::Value = serde_json::from_str(message.text()).expect("JSON");
        let name = message["command"].as_str().or(message["event"].as_str());
        names.push(name.expect("a name").to_owned());
    }
}

#[test]
fn a_session_with_as_many_futures_as_may_run_ends_with_its_client() {
    let runtime = runtime();
    let (started, starts) = mpsc::channel();
    let server = AsyncServer::builder()
        .on_async::<EvaluateRequest, _>(move |(), _, _| {
            started.send(()).ok();
            async { pending().await }
        })
        .build();
    let (client, session) = served(&runtime, server);
    initialize(&client);
    for seq in 2..1100 {
        send(&client, seq, "evaluate", r#"{"expression":"1"}"#);
    }
    for _ in 0..1024 {
        starts.recv_timeout(PATIENCE).expect("it is started");
    }
    // Without `disconnect`.
    drop(client);
    ended(&runtime, session);
}

#[test]
fn a_reverse_request_that_is_not_answered_fails_when_the_session_ends() {
    let runtime = runtime();
    let (sender, outcomes) = mpsc::channel();
    let (guard, alive) = mpsc::channel();
    let guard = std::sync::Mutex::new(Some(guard));
    let server = AsyncServer::builder()
        .on::<LaunchRequest>(move |(), _, context| {
            let (outbox, sender) = (context.outbox().clone(), sender.clone());
            let guard = guard.lock().unwrap().take().map(Guard);
            tokio::spawn(async move {
                let program = || RunInTerminalRequestArguments::new("/", vec!["true".to_owned()]);
                let _guard = guard;
                let answer = outbox.ask::<RunInTerminalRequest>(program()).await;
                sender.send(answer).ok();
                // After the end, it fails at once.
                let answer = outbox.ask::<RunInTerminalRequest>(program()).await;
                sender.send(answer).ok();
            });
            Ok(Empty)
        })
        .build();
    let (client, session) = served(&runtime, server);
    initialize(&client);
    send(&client, 2, "launch", "{}");
    for name in ["initialize", "launch", "runInTerminal"] {
        let next = client.incoming.recv_timeout(PATIENCE).expect("it comes");
        let Incoming::Message(message) = next else {
            panic!("{next:?}");
        };
        assert!(message.text().contains(name), "{}", message.text());
    }
    send(&client, 3, "disconnect", "{}");
    ended(&runtime, session);
    for _ in 0..2 {
        let outcome = outcomes.recv_timeout(PATIENCE).expect("the future ends");
        assert_eq!(outcome, Err(RequestError::Disconnected));
    }
    let over = alive.recv_timeout(PATIENCE);
    assert_eq!(over, Err(mpsc::RecvTimeoutError::Disconnected));
}

#[test]
fn the_events_of_a_cancelled_request_leave_before_the_response_to_disconnect() {
    let runtime = runtime();
    let (started, starts) = mpsc::channel();
    let server = AsyncServer::builder()
        .on::<LaunchRequest>(|(), _, _| Ok(Empty))
        .on_async::<PauseRequest, _>(move |(), _, context| {
            let started = started.clone();
            async move {
                context.outbox().stopped(StoppedEventReason::Pause, 1);
                started.send(()).ok();
                pending().await
            }
        })
        .build();
    let (client, session) = served(&runtime, server);
    initialize(&client);
    send(&client, 2, "launch", "{}");
    send(&client, 3, "pause", r#"{"threadId":1}"#);
    starts.recv_timeout(PATIENCE).expect("its future runs");
    send(&client, 4, "disconnect", "{}");
    ended(&runtime, session);
    assert_eq!(
        received(&client),
        ["initialize", "launch", "pause", "stopped", "disconnect"]
    );
}
