//! The client's public behaviour: requests, events, reverse requests, and the end of an adapter that was spawned.

mod addresses;

use std::cell::Cell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use dapple_dap::transport::{Incoming, Message, Outgoing, listen};
use dapple_dap::types::*;
use dapple_dap::{Client, ClientError, Connection, Event, Failure, Server};

const PATIENCE: Duration = Duration::from_secs(30);

/// An adapter that sends `runInTerminal` at `launch`, reports the outcome as output, and later announces that it can step back and
/// cannot restart.
fn adapter() -> Server<()> {
    Server::builder()
        .capabilities(|capabilities| {
            capabilities.supports_restart_request = Some(true);
            capabilities.supports_evaluate_for_hovers = Some(true);
        })
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
            let mut newer = Capabilities::new().with_supports_step_back(true);
            newer.supports_restart_request = Some(false);
            context
                .outbox()
                .event::<CapabilitiesEvent>(CapabilitiesEventBody::new(newer));
            Ok(Empty)
        })
        .on::<AttachRequest>(|_, _, _| Err(Failure::new("there is nothing to attach to")))
        // Never answers.
        .on_deferred::<ThreadsRequest>(|_, _, responder, _| std::mem::forget(responder))
        .build()
}

fn serve(connection: Connection) -> JoinHandle<()> {
    std::thread::spawn(move || adapter().start(&connection).run(&mut ()))
}

fn initialized(client: &Client) {
    let arguments =
        InitializeRequestArguments::new("any").with_supports_run_in_terminal_request(true);
    client
        .request::<InitializeRequest>(arguments)
        .expect("initialize");
}

fn in_memory() -> (Client, JoinHandle<()>) {
    let (ours, theirs) = Connection::memory();
    let thread = serve(theirs);
    let client = Client::new(ours);
    initialized(&client);
    (client, thread)
}

fn launched(client: &Client) -> String {
    client
        .request::<LaunchRequest>(LaunchRequestArguments::new())
        .expect("launch");
    let output = client.wait_for::<OutputEvent>(PATIENCE, |_| true);
    output.expect("what came of the terminal").output
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let error = Client::spawn(&mut Command::new("/no/such/adapter")).expect_err("it isn't there");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    let text = error.to_string();
    assert!(
        text.starts_with("cannot start /no/such/adapter: "),
        "{text}"
    );
}

#[test]
fn capabilities_that_come_later_change_those_of_initialize() {
    let (client, _thread) = in_memory();
    assert!(client.capabilities().supports("supportsRestartRequest"));
    assert!(!client.capabilities().supports("supportsStepBack"));
    launched(&client);
    let capabilities = client.capabilities();
    assert!(!capabilities.supports("supportsRestartRequest"));
    assert!(capabilities.supports("supportsStepBack"));
    assert!(capabilities.supports("supportsEvaluateForHovers"));
}

#[test]
fn a_reverse_request_is_answered_by_its_handler_or_with_an_error() {
    let (client, _thread) = in_memory();
    assert_eq!(
        launched(&client),
        "the request `runInTerminal` is not supported here"
    );

    let (client, _thread) = in_memory();
    client.on::<RunInTerminalRequest>(|arguments| {
        assert_eq!(arguments.args, ["program"]);
        Ok(RunInTerminalResponse::new().with_process_id(77))
    });
    assert_eq!(launched(&client), "process Some(77)");

    let (client, _thread) = in_memory();
    client.on::<RunInTerminalRequest>(|_| Err(Failure::new("no terminal here")));
    assert_eq!(launched(&client), "no terminal here");
}

#[test]
fn a_handler_that_panics_fails_its_request_and_the_client_goes_on() {
    let (client, _thread) = in_memory();
    client.on::<RunInTerminalRequest>(|_| panic!("this is part of the test"));
    assert_eq!(launched(&client), "the handler of `runInTerminal` panicked");
    client
        .request::<DisconnectRequest>(DisconnectArguments::new())
        .expect("the client still takes what comes in");
}

#[test]
fn an_event_is_with_its_subscribers_before_the_response_behind_it_is_returned() {
    let (ours, theirs) = Connection::memory();
    let client = Client::new(ours);
    let events = client.subscribe();
    let initialize = client.send::<InitializeRequest>(InitializeRequestArguments::new("any"));
    let initialize = initialize.expect("sent");
    for text in [
        r#"{"seq":1,"type":"event","event":"output","body":{"output":"early"}}"#,
        r#"{"seq":2,"type":"response","request_seq":1,"success":true,"command":"initialize"}"#,
    ] {
        theirs
            .outgoing
            .send_text(text)
            .expect("the client is there");
    }
    initialize.wait().expect("answered");
    let event = events.try_recv().expect("the event came first");
    let body = event.body::<OutputEvent>().expect("an output");
    assert_eq!(body.output, "early");
    let violations: Vec<_> = client
        .violations()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        violations,
        ["`output` was sent before the response to `initialize`"]
    );
}

#[test]
fn a_request_that_is_not_answered_times_out_and_one_that_is_late_is_dropped() {
    let (ours, theirs) = Connection::memory();
    let client = Client::new(ours).with_timeout(Duration::ZERO);
    let timeout = client.request::<InitializeRequest>(InitializeRequestArguments::new("any"));
    assert_eq!(
        timeout,
        Err(ClientError::Timeout {
            what: "initialize".into(),
            after: Duration::ZERO
        })
    );
    theirs
        .outgoing
        .send(&Outgoing::success(1, "initialize", None))
        .expect("the client is there");
    theirs
        .outgoing
        .send(&Outgoing::event(InitializedEvent::EVENT, None))
        .expect("the client is there");
    client
        .wait_for::<InitializedEvent>(PATIENCE, |_| true)
        .expect("the late response disturbs nothing");
    assert_eq!(client.violations(), []);
}

#[test]
fn what_may_not_be_sent_is_refused_and_uses_up_no_number() {
    let (ours, theirs) = Connection::memory();
    let client = Client::new(ours);
    let early = client.request::<ThreadsRequest>(Empty);
    let Err(ClientError::Lifecycle(violation)) = early else {
        panic!("`threads` was sent before `initialize`: {early:?}");
    };
    assert_eq!(
        violation.to_string(),
        "`threads` came before `initialize`; the first request must be `initialize`"
    );
    let initialize = client.send::<InitializeRequest>(InitializeRequestArguments::new("any"));
    assert_eq!(initialize.expect("sent").seq(), 1);
    let Ok(Incoming::Message(message)) = theirs.incoming.recv_timeout(PATIENCE) else {
        panic!("nothing came");
    };
    assert!(Message::text(&message).contains("\"initialize\""));
}

#[test]
fn a_failed_request_has_the_adapters_words_and_ends_the_wait_for_what_it_was_to_cause() {
    let (client, _thread) = in_memory();
    let attach = client
        .send::<AttachRequest>(AttachRequestArguments::new())
        .expect("sent");
    let none = client.wait_for_caused::<InitializedEvent, _>(&attach, PATIENCE);
    let Err(ClientError::Failed(failure)) = none else {
        panic!("there is no `initialized`: {none:?}");
    };
    assert_eq!(
        (failure.command, &*failure.sentence),
        ("attach", "there is nothing to attach to")
    );
}

#[test]
fn whoever_waits_learns_that_the_adapter_is_gone() {
    let (ours, theirs) = Connection::memory();
    let client = Client::new(ours);
    let initialize = client
        .send::<InitializeRequest>(InitializeRequestArguments::new("any"))
        .expect("sent");
    drop(theirs);
    assert_eq!(initialize.wait(), Err(ClientError::Disconnected));
    assert_eq!(
        client.wait_for::<StoppedEvent>(PATIENCE, |_| true),
        Err(ClientError::Disconnected)
    );
    client.wait_closed(PATIENCE).expect("it is");
    assert!(client.subscribe().recv().is_err());
}

#[test]
fn adapters_are_reached_over_tcp_and_over_a_unix_socket() {
    let any = "127.0.0.1:0".parse().expect("an address");
    let server = listen::TcpServer::bind(any, listen::Reach::Loopback).expect("listening");
    let address = server.address().expect("its address");
    let thread = std::thread::spawn(move || {
        let connection = server.accept(Default::default()).expect("a client");
        adapter().start(&connection).run(&mut ());
    });
    let client = Client::connect(address).expect("connected");
    initialized(&client);
    drop(client);
    thread.join().expect("the session ended");

    let path = std::env::temp_dir().join(format!("dapple-client-{}", std::process::id()));
    let listener = UnixListener::bind(&path).expect("listening");
    let client = Client::connect_unix(&path).expect("connected");
    fs::remove_file(&path).expect("the socket's file");
    let (stream, _) = listener.accept().expect("a client");
    let thread = serve(Connection::unix(stream).expect("a connection"));
    initialized(&client);
    drop(client);
    thread.join().expect("the session ended");
    let nobody = Client::connect_unix(&path).expect_err("nobody is there");
    assert_eq!(nobody.kind(), std::io::ErrorKind::NotFound);
}

/// A name for a port on which a listener exists from the second lookup on.
struct Starting {
    address: SocketAddr,
    lookups: Cell<usize>,
    listener: Cell<Option<TcpListener>>,
}

impl ToSocketAddrs for Starting {
    type Iter = std::option::IntoIter<SocketAddr>;

    fn to_socket_addrs(&self) -> std::io::Result<Self::Iter> {
        self.lookups.set(self.lookups.get() + 1);
        if self.lookups.get() == 2 {
            self.listener.set(Some(TcpListener::bind(self.address)?));
        }
        Ok(Some(self.address).into_iter())
    }
}

#[test]
fn connecting_is_tried_again_until_somebody_listens() {
    let address = addresses::unused();
    let nobody = Client::connect(address).expect_err("nobody listens");
    assert_eq!(
        nobody.to_string(),
        format!("cannot connect to {address}: Connection refused (os error 111)")
    );
    let starting = Starting {
        address,
        lookups: Cell::new(0),
        listener: Cell::new(None),
    };
    Client::connect_within(&starting, PATIENCE).expect("it listens the second time");
    assert_eq!(starting.lookups.get(), 2);
}

#[test]
fn connecting_waits_for_a_unix_socket_but_not_for_ever() {
    let path = std::env::temp_dir().join(format!("dapple-client-waits-{}", std::process::id()));
    let late = Client::connect_unix_within(&path, Duration::from_millis(1));
    let late = late.expect_err("nobody is there").to_string();
    assert!(
        late.starts_with(&format!("cannot connect to {}: ", path.display())),
        "{late}"
    );
    assert!(late.ends_with("; tried for 1ms"), "{late}");
    let waiting = {
        let path = path.clone();
        std::thread::spawn(move || Client::connect_unix_within(path, PATIENCE))
    };
    let listener = UnixListener::bind(&path).expect("the path is free");
    waiting.join().expect("no panic").expect("it listens");
    drop(listener);
    fs::remove_file(&path).expect("the socket's file");
}

/// An adapter that does not end when its client does, with a child in its process group, one in another session, and a
/// grandchild there. Returns the four process ids, which the shells write to a pipe.
fn stubborn() -> (Client, Vec<u32>) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let script = "sleep 1000 & echo $! >&2
        setsid sh -c 'sleep 1000 & echo $! >&2; echo $$ >&2; wait' &
        echo $$ >&2; exec 2>&-; wait; wait";
    let mut command = Command::new("sh");
    command.args(["-c", script]).stderr(Stdio::from(writer));
    let client = Client::spawn(&mut command).expect("sh is there");
    drop(command);
    let lines = BufReader::new(reader).lines().take(4);
    let processes: Vec<u32> = lines
        .map(|line| line.expect("a line").parse().expect("a number"))
        .collect();
    assert!(processes.contains(&client.process_id().expect("it was spawned")));
    for &process in &processes {
        assert!(is_alive(process), "process {process} of {processes:?}");
    }
    (client, processes)
}

/// Whether a process is alive. A killed process stays a zombie until its parent reaps it, which for an orphan may take a moment.
fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
}

fn assert_gone(processes: &[u32]) {
    for &process in processes {
        let until = std::time::Instant::now() + PATIENCE;
        while is_alive(process) {
            assert!(
                std::time::Instant::now() < until,
                "process {process} of {processes:?} is still there"
            );
            std::thread::yield_now();
        }
    }
}

#[test]
fn dropping_a_client_kills_the_adapter_it_spawned_and_all_its_children() {
    let (client, processes) = stubborn();
    drop(client);
    assert_gone(&processes);
}

#[test]
fn a_panic_kills_the_adapter_and_all_its_children_too() {
    let (send, receive) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let (_client, processes) = stubborn();
        send.send(processes).expect("the test is there");
        panic!("this is part of the test");
    });
    let processes = receive.recv().expect("their numbers");
    thread.join().expect_err("it panicked");
    assert_gone(&processes);
}

#[test]
fn an_adapter_that_ends_by_itself_is_not_waited_for_longer() {
    let started = std::time::Instant::now();
    // `cat` ends at the end of its standard input.
    let client = Client::spawn(&mut Command::new("cat")).expect("cat is there");
    let process = client.process_id().expect("it was spawned");
    drop(client);
    assert!(!is_alive(process));
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "no grace was used up"
    );
}

/// A client of a script that has answered `initialize`.
fn of_script(script: dapple_dap::testing::FakeAdapter) -> (Client, dapple_dap::testing::Running) {
    let (client, adapter) = Connection::memory();
    let script = script.start(adapter);
    let client = Client::new(client);
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("any"))
        .expect("the script answers");
    (client, script)
}

fn script(capabilities: Capabilities) -> dapple_dap::testing::FakeAdapter {
    dapple_dap::testing::FakeAdapter::new().answers::<InitializeRequest>(|_| Ok(capabilities))
}

#[test]
fn a_wait_for_an_event_of_the_wrong_shape_says_what_is_wrong_and_takes_it() {
    let wrong = r#"{"seq":2,"type":"event","event":"exited","body":{"exitCode":"none"}}"#;
    let script = script(Capabilities::new())
        .text(wrong)
        .event::<ExitedEvent>(ExitedEventBody::new(3));
    let (client, script) = of_script(script);
    let error = client.wait_for::<ExitedEvent>(PATIENCE, |_| true);
    assert_eq!(
        error.expect_err("it is no number").to_string(),
        "the event `exited` has the wrong shape: `exitCode`: invalid type: string \"none\", expected i64"
    );
    let exited = client.wait_for::<ExitedEvent>(PATIENCE, |_| true);
    assert_eq!(exited.expect("the next one").exit_code, 3);
    script.finish();
}

#[test]
fn one_of_several_events_can_be_waited_for() {
    let script = script(Capabilities::new())
        .event::<OutputEvent>(OutputEventBody::new("x"))
        .event::<TerminatedEvent>(TerminatedEventBody::new());
    let (client, script) = of_script(script);
    let names = [StoppedEvent::EVENT, TerminatedEvent::EVENT];
    let event = client.wait_for_any(PATIENCE, &names).expect("it ended");
    assert_eq!(event.event, "terminated");
    assert_eq!(
        client.untaken_events().len(),
        1,
        "the output is still there"
    );
    script.finish();
    let none = client.wait_for_any(Duration::from_millis(1), &names);
    assert_eq!(none, Err(ClientError::Disconnected));
}

#[test]
fn a_request_that_is_not_advertised_is_not_sent_unless_that_is_allowed() {
    let server = Server::<()>::builder()
        .on::<StepBackRequest>(|_, _, _| Ok(Empty))
        .build();
    let (client, adapter) = Connection::memory();
    let session = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    let client = Client::new(client);
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("any"))
        .expect("it is answered");
    assert!(client.supports::<StepBackRequest>());
    assert!(client.supports::<ThreadsRequest>());
    assert!(!client.supports::<ReadMemoryRequest>());
    let error = client.request::<ReadMemoryRequest>(ReadMemoryArguments::new("0x10", 4));
    assert_eq!(
        error.expect_err("it is refused").to_string(),
        "`readMemory` needs `supportsReadMemoryRequest`, which the adapter does not advertise"
    );
    let client = client.with_unadvertised_requests();
    let error = client.request::<ReadMemoryRequest>(ReadMemoryArguments::new("0x10", 4));
    assert_eq!(
        error.expect_err("the adapter has no handler").to_string(),
        "the request `readMemory` is not supported here"
    );
    drop(client);
    session.join().expect("no panic");
}

#[test]
fn a_request_is_cancelled_by_its_pending_response() {
    let capabilities = Capabilities::new().with_supports_cancel_request(true);
    let script = script(capabilities).answers::<CancelRequest>(|arguments| {
        assert_eq!(arguments.request_id, Some(2));
        Ok(Empty)
    });
    let (client, script) = of_script(script);
    let threads = client.send::<ThreadsRequest>(Empty).expect("it is sent");
    client.cancel(&threads).expect("it is sent");
    // The request is left over: the script does not look at it.
    drop((threads, script));
}

#[test]
fn events_that_nobody_waits_for_take_a_bounded_part_of_memory() {
    let (client, adapter) = Connection::memory();
    let client = Client::new(client);
    let (sent, long) = (1000, "x".repeat(32 << 10));
    let events = client.subscribe();
    for seq in 1..=sent {
        let event = format!(
            r#"{{"seq":{seq},"type":"event","event":"output","body":{{"output":"{long}"}}}}"#
        );
        adapter
            .outgoing
            .send_text(&event)
            .expect("the client is there");
    }
    for _ in 0..sent {
        events.recv_timeout(PATIENCE).expect("each comes");
    }
    let kept = client.untaken_events().len();
    assert!((400..=512).contains(&kept), "{kept} of {sent} are kept");
}

#[test]
fn a_wait_has_no_limit_if_its_timeout_is_beyond_the_clock() {
    let server = Server::<()>::builder()
        .on::<LaunchRequest>(|_, _, context| {
            context.outbox().event::<InitializedEvent>(Empty);
            context.outbox().ended(3);
            Ok(Empty)
        })
        .build();
    let (connection, adapter) = Connection::memory();
    let session = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
    let client = Client::new(connection).with_timeout(Duration::MAX);
    client
        .request::<InitializeRequest>(InitializeRequestArguments::new("any"))
        .expect("answered");
    let launch = client.start::<LaunchRequest>(LaunchRequestArguments::new());
    client
        .configured(launch.expect("initialized"))
        .expect("an adapter without `configurationDone`");
    let names = [ExitedEvent::EVENT];
    let ended = client.wait_for_any(Duration::MAX, &names).expect("it ends");
    let ended = ended.body::<ExitedEvent>().expect("its body");
    assert_eq!(ended.exit_code, 3);
    client
        .request::<DisconnectRequest>(DisconnectArguments::new())
        .expect("answered");
    session.join().expect("no panic");
    client.wait_closed(Duration::MAX).expect("closed");
}
