//! The asynchronous client's public behaviour.
#![cfg(feature = "tokio")]

mod addresses;

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dapple_dap::async_client::AsyncClient;
use dapple_dap::testing::Recorder;
use dapple_dap::transport::Direction;
use dapple_dap::types::*;
use dapple_dap::{ClientError, Connection, Failure, Server};
use dapple_schema::validate::Validator;

const PATIENCE: Duration = Duration::from_secs(30);

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

/// An adapter that sends `runInTerminal` at `launch` and reports the outcome as output.
fn adapter() -> Server<()> {
    Server::builder()
        .on::<LaunchRequest>(|_, _, context| {
            let outbox = context.outbox().clone();
            let arguments = RunInTerminalRequestArguments::new("/", vec!["program".to_owned()]);
            context
                .outbox()
                .request::<RunInTerminalRequest>(arguments, move |outcome| {
                    let said = match outcome {
                        Ok(response) => format!("process {:?}", response.process_id),
                        Err(error) => error.to_string(),
                    };
                    outbox.event::<OutputEvent>(OutputEventBody::new(said));
                });
            let newer = Capabilities::new().with_supports_step_back(true);
            context
                .outbox()
                .event::<CapabilitiesEvent>(CapabilitiesEventBody::new(newer));
            Ok(Empty)
        })
        .on::<AttachRequest>(|_, _, _| Err(Failure::new("there is nothing to attach to")))
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(7, "main")])))
        // Never answers.
        .on_deferred::<PauseRequest>(|_, _, responder, _| std::mem::forget(responder))
        .build()
}

fn serve(connection: Connection) -> JoinHandle<()> {
    std::thread::spawn(move || adapter().start(&connection).run(&mut ()))
}

fn streams() -> (tokio::net::UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("two sockets");
    ours.set_nonblocking(true).expect("a socket");
    let ours = tokio::net::UnixStream::from_std(ours).expect("a runtime");
    (ours, theirs)
}

async fn initialized(recorder: &Recorder) -> (AsyncClient, JoinHandle<()>) {
    let (ours, theirs) = streams();
    let thread = serve(Connection::unix(theirs).expect("a connection"));
    let (input, output) = ours.into_split();
    let client = AsyncClient::new_with(input, output, recorder.options());
    let arguments =
        InitializeRequestArguments::new("any").with_supports_run_in_terminal_request(true);
    client
        .request::<InitializeRequest>(arguments)
        .await
        .expect("initialize");
    (client, thread)
}

async fn launched(client: &AsyncClient) -> String {
    client
        .request::<LaunchRequest>(LaunchRequestArguments::new())
        .await
        .expect("launch");
    let output = client.wait_for::<OutputEvent>(PATIENCE, |_| true).await;
    output.expect("what came of the terminal").output
}

#[test]
fn a_session_keeps_the_definition_and_the_rules() {
    let recorder = Recorder::new();
    run(async {
        let (client, thread) = initialized(&recorder).await;
        let mut events = client.subscribe();
        assert!(!client.capabilities().supports("supportsStepBack"));
        assert_eq!(
            launched(&client).await,
            "the request `runInTerminal` is not supported here"
        );
        assert!(client.capabilities().supports("supportsStepBack"));
        let first = events.recv().await.expect("an event");
        assert!(first.is::<CapabilitiesEvent>(), "{first:?}");
        let none = client.request::<AttachRequest>(AttachRequestArguments::new());
        let Err(ClientError::Failed(failure)) = none.await else {
            panic!("`attach` fails");
        };
        assert_eq!(failure.sentence, "there is nothing to attach to");
        client
            .request::<DisconnectRequest>(DisconnectArguments::new())
            .await
            .expect("disconnect");
        client.wait_closed(PATIENCE).await.expect("the end");
        assert_eq!(client.violations(), []);
        assert_eq!(
            client.request::<ThreadsRequest>(Empty).await.unwrap_err(),
            ClientError::Disconnected
        );
        while events.recv().await.is_some() {}
        client.close(PATIENCE).await;
        thread.join().expect("the session ended");
    });
    let validator = Validator::protocol().expect("the definition is readable");
    for message in recorder.messages() {
        let json = serde_json::from_str(&message.text).expect("JSON");
        let problems = validator.message(&json);
        assert!(problems.is_empty(), "{}: {problems:?}", message.text);
    }
}

#[test]
fn a_handler_may_ask_the_adapter_before_it_answers() {
    run(async {
        let (client, _thread) = initialized(&Recorder::new()).await;
        let client = Arc::new(client);
        let asker = Arc::downgrade(&client);
        client.on::<RunInTerminalRequest, _>(move |arguments| {
            let asker = asker.upgrade();
            async move {
                assert_eq!(arguments.args, ["program"]);
                let client = asker.ok_or(Failure::new("the client is gone"))?;
                let threads = client.request::<ThreadsRequest>(Empty).await?.threads;
                Ok(RunInTerminalResponse::new().with_process_id(threads[0].id))
            }
        });
        assert_eq!(launched(&client).await, "process Some(7)");
    });
}

#[test]
fn a_handler_that_panics_fails_its_request_and_the_client_goes_on() {
    run(async {
        let (client, _thread) = initialized(&Recorder::new()).await;
        client.on::<RunInTerminalRequest, _>(|arguments| async move {
            if arguments.args == ["program"] {
                panic!("this is part of the test");
            }
            Ok(RunInTerminalResponse::new())
        });
        assert_eq!(
            launched(&client).await,
            "the handler of `runInTerminal` panicked"
        );
        let threads = client.request::<ThreadsRequest>(Empty).await;
        assert_eq!(threads.expect("still there").threads[0].id, 7);
    });
}

#[test]
fn requests_time_out_and_their_futures_may_be_dropped() {
    let recorder = Recorder::new();
    run(async {
        let (client, _thread) = initialized(&recorder).await;
        let pending = client.send::<PauseRequest>(PauseArguments::new(7)).await;
        assert_eq!(
            pending
                .expect("sent")
                .wait_at_most(Duration::ZERO)
                .await
                .unwrap_err(),
            ClientError::Timeout {
                what: "pause".into(),
                after: Duration::ZERO
            }
        );
        for _ in 0..100 {
            // The timeout drops the future at any point of the request.
            let asked = client.request::<ThreadsRequest>(Empty);
            tokio::time::timeout(Duration::ZERO, asked).await.ok();
        }
        let threads = client.request::<ThreadsRequest>(Empty).await;
        assert_eq!(threads.expect("answered").threads[0].id, 7);
        assert_eq!(client.violations(), []);
    });
    let sent: Vec<i64> = recorder
        .messages()
        .iter()
        .filter(|message| message.direction == Direction::Sent)
        .map(|message| {
            let json: serde_json::Value = serde_json::from_str(&message.text).expect("JSON");
            json["seq"].as_i64().expect("a number")
        })
        .collect();
    assert!(sent.len() > 3, "{sent:?}");
    assert!(sent.iter().copied().eq(1..=sent.len() as i64), "{sent:?}");
}

#[test]
fn a_request_that_fails_ends_the_wait_for_what_it_was_to_cause() {
    run(async {
        let (client, _thread) = initialized(&Recorder::new()).await;
        let mut attach = client
            .send::<AttachRequest>(AttachRequestArguments::new())
            .await
            .expect("sent");
        let none = client
            .wait_for_caused::<InitializedEvent, _>(&mut attach, PATIENCE)
            .await;
        assert!(matches!(none, Err(ClientError::Failed(_))), "{none:?}");
    });
}

#[test]
fn whoever_waits_learns_that_the_adapter_is_gone() {
    run(async {
        let (ours, theirs) = streams();
        let (input, output) = ours.into_split();
        let client = AsyncClient::new(input, output);
        let client = Arc::new(client);
        let (asking, waiting) = (client.clone(), client);
        let asking = tokio::spawn(async move {
            let arguments = InitializeRequestArguments::new("any");
            asking.request::<InitializeRequest>(arguments).await
        });
        let waiting =
            tokio::spawn(async move { waiting.wait_for::<StoppedEvent>(PATIENCE, |_| true).await });
        tokio::task::yield_now().await;
        drop(theirs);
        let gone = ClientError::Disconnected;
        assert_eq!(asking.await.expect("no panic").unwrap_err(), gone);
        assert_eq!(waiting.await.expect("no panic").unwrap_err(), gone);
    });
}

/// An adapter that does not end when its client does, with a child in another session. Returns both process ids.
fn stubborn() -> (AsyncClient, Vec<u32>) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let script = "setsid sleep 1000 & echo $! >&2; echo $$ >&2; exec 2>&-; wait; wait";
    let mut command = Command::new("sh");
    command.args(["-c", script]).stderr(Stdio::from(writer));
    let client = AsyncClient::spawn(command).expect("sh is there");
    let lines = BufReader::new(reader).lines().take(2);
    let processes: Vec<u32> = lines
        .map(|line| line.expect("a line").parse().expect("a number"))
        .collect();
    assert_eq!(client.process_id(), Some(processes[1]));
    (client, processes)
}

/// Waits until processes are dead. A killed process stays a zombie until its parent reaps it, which for an orphan may take a moment.
fn assert_gone(processes: &[u32]) {
    let is_alive = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
    };
    let until = Instant::now() + PATIENCE;
    while let Some(process) = processes.iter().find(|process| is_alive(process)) {
        assert!(Instant::now() < until, "process {process} is still there");
        std::thread::yield_now();
    }
}

#[test]
fn a_spawned_adapter_is_killed_with_its_children_on_drop_and_on_panic() {
    run(async {
        let (client, processes) = stubborn();
        drop(client);
        assert_gone(&processes);

        let (send, receive) = std::sync::mpsc::channel();
        let task = tokio::spawn(async move {
            let (_client, processes) = stubborn();
            send.send(processes).expect("the test is there");
            panic!("this is part of the test");
        });
        task.await.expect_err("it panicked");
        assert_gone(&receive.recv().expect("their numbers"));
    });
}

#[test]
fn closing_gives_a_spawned_adapter_time_to_end_and_kills_it_then() {
    run(async {
        // `cat` ends at the end of its standard input.
        let client = AsyncClient::spawn(Command::new("cat")).expect("cat is there");
        let process = client.process_id().expect("it was spawned");
        let started = Instant::now();
        client.close(PATIENCE).await;
        assert_gone(&[process]);
        assert!(started.elapsed() < PATIENCE, "the grace was used up");

        let (client, processes) = stubborn();
        client.close(Duration::from_millis(50)).await;
        assert_gone(&processes);
    });
}

#[test]
fn connecting_waits_for_an_adapter_but_not_for_ever() {
    run(async {
        let address = addresses::unused();
        let late = AsyncClient::connect_within(address, Duration::from_millis(1)).await;
        assert_eq!(
            late.expect_err("nobody listens").to_string(),
            format!(
                "cannot connect to {address}: Connection refused (os error 111); tried for 1ms"
            )
        );
        let connecting = tokio::spawn(AsyncClient::connect_within(address, PATIENCE));
        // Lets the task run: its first try may have failed by then.
        tokio::task::yield_now().await;
        let listener = TcpListener::bind(address).expect("the port is free");
        connecting.await.expect("no panic").expect("it listens");
        drop(listener);

        let path = std::env::temp_dir().join(format!("dapple-async-{}", std::process::id()));
        let connecting = tokio::spawn(AsyncClient::connect_unix_within(path.clone(), PATIENCE));
        tokio::task::yield_now().await;
        let listener = UnixListener::bind(&path).expect("the path is free");
        connecting.await.expect("no panic").expect("it listens");
        drop(listener);
        std::fs::remove_file(&path).expect("the socket's file");
    });
}
