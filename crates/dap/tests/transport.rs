//! Connections over sockets and processes: two sessions at once, peers that disappear, pieces of one byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use dapple_dap::codec::{CodecError, DEFAULT_LIMIT, encode};
use dapple_dap::testing::{Recorder, TestClient};
use dapple_dap::transport::listen::{AcceptError, Reach, TcpServer, UnixServer};
use dapple_dap::transport::{Closed, Direction, Options, Outgoing};
use dapple_dap::types::*;
use dapple_dap::{Client, ClientError, Connection, Incoming, Server};

/// An adapter whose only thread has the number of `threads` requests so far as its id.
fn counting() -> Server<i64> {
    Server::builder()
        .on::<ThreadsRequest>(|count, _, _| {
            *count += 1;
            Ok(ThreadsResponse::new(vec![Thread::new(*count, "t")]))
        })
        .build()
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// The two ends of a TCP stream.
fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = std::net::TcpListener::bind(loopback()).expect("loopback is there");
    let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
    (client, listener.accept().expect("it was connected to").0)
}

fn next(connection: &Connection) -> Incoming {
    connection
        .incoming
        .recv_timeout(Duration::from_secs(30))
        .expect("something comes")
}

fn text(incoming: &Incoming) -> &str {
    match incoming {
        Incoming::Message(message) => message.text(),
        other => panic!("a message was expected: {other:?}"),
    }
}

#[test]
fn two_sessions_over_tcp_have_their_own_state_and_numbers() {
    let server = TcpServer::bind(loopback(), Reach::Loopback).expect("loopback is there");
    let address = server.address().expect("bound");
    let sessions = std::thread::spawn(move || {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let connection = server.accept(Options::new()).expect("the same user");
                std::thread::spawn(move || {
                    let mut count = 0;
                    counting().start(&connection).run(&mut count);
                    count
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect::<Vec<_>>()
    });
    let clients = [0, 1].map(|_| TestClient::from(Client::connect(address).expect("it listens")));
    for client in &clients {
        client.initialize();
    }
    for turn in 1..=3 {
        for client in &clients {
            assert_eq!(client.ok::<ThreadsRequest>(Empty).threads[0].id, turn);
        }
    }
    for client in &clients {
        client.disconnect();
        client.assert_no_violations();
        client
            .wait_closed(Duration::from_secs(30))
            .expect("the adapter closes the connection");
        assert_eq!(
            client.request::<ThreadsRequest>(Empty),
            Err(ClientError::Disconnected)
        );
    }
    assert_eq!(sessions.join().expect("no panic"), [3, 3]);
}

/// Only root can start a process of another user. For other users, the tests within `listen` fake the owner of a connection.
#[test]
fn root_refuses_a_process_of_another_user_and_serves_the_next() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    const NOBODY: u32 = 65534;
    let server = TcpServer::bind(loopback(), Reach::Loopback).expect("loopback is there");
    let address = server.address().expect("bound");
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{} && cat <&3", address.port());
    let mut stranger = Command::new("bash")
        .args(["-c", &connect])
        .uid(NOBODY)
        .spawn()
        .expect("a shell");
    let refused = server.accept(Options::new()).expect_err("it is nobody's");
    assert!(
        matches!(refused, AcceptError::OtherUser { uid: NOBODY, .. }),
        "{refused}"
    );
    // The stranger's connection is closed, so the process ends.
    assert!(stranger.wait().expect("it is our child").success());
    let client = TcpStream::connect(address).expect("it listens");
    server.accept(Options::new()).expect("the same user");
    drop(client);
}

#[test]
fn a_session_over_a_unix_socket_whose_file_goes_with_the_server() {
    let directory = std::env::temp_dir().join(format!("dap-transport-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let path = directory.join("socket");
    let server = UnixServer::bind(&path).expect("the path is free");
    assert!(UnixServer::bind(&path).is_err(), "it is taken");
    let probe = server.accept(Options::new()).expect("the same user");
    assert!(
        matches!(next(&probe), Incoming::Closed(Closed::ByPeer)),
        "it only looked whether anybody listens"
    );
    let client = UnixStream::connect(&path).expect("it listens");
    let adapter = server.accept(Options::new()).expect("the same user");
    let thread = std::thread::spawn(move || counting().start(&adapter).run(&mut 0));
    let client = TestClient::new(Connection::unix(client).expect("a socket"));
    client.initialize();
    client.disconnect();
    thread.join().expect("no panic");
    drop(server);
    assert!(!path.exists());
    // The socket's file that a killed process leaves behind is replaced.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("the path is free"));
    assert!(path.exists());
    drop(UnixServer::bind(&path).expect("nobody listens there"));
    std::fs::remove_dir(&directory).expect("it is empty");
}

#[test]
fn pieces_of_one_byte_and_junk_between_messages_are_read() {
    let (mut peer, ours) = tcp_pair();
    let connection = Connection::tcp(ours).expect("a socket");
    peer.set_nodelay(true).expect("a socket");
    let bytes = [
        &encode(&"one").expect("JSON")[..],
        b"noise\n",
        &encode(&"two").expect("JSON"),
    ]
    .concat();
    for byte in bytes {
        peer.write_all(&[byte]).expect("it reads");
    }
    assert_eq!(text(&next(&connection)), "\"one\"");
    let noise = next(&connection);
    assert!(
        matches!(noise, Incoming::Malformed(CodecError::NotAHeader { .. })),
        "{noise:?}"
    );
    assert_eq!(text(&next(&connection)), "\"two\"");
    drop(peer);
    let end = next(&connection);
    assert!(matches!(end, Incoming::Closed(Closed::ByPeer)), "{end:?}");
}

#[test]
fn a_stream_that_ends_within_a_message_or_cannot_be_read_says_so() {
    for (bytes, expected) in [
        (&b"Content-Length: 10\r\n\r\n{"[..], Closed::Truncated),
        (b"Content-Le", Closed::Truncated),
        (
            b"Content-Length: 99999999999\r\n\r\n",
            Closed::Lost(CodecError::TooLong {
                length: 99_999_999_999,
                limit: DEFAULT_LIMIT,
            }),
        ),
    ] {
        let (mut peer, ours) = tcp_pair();
        let connection = Connection::tcp(ours).expect("a socket");
        peer.write_all(bytes).expect("it reads");
        drop(peer);
        match next(&connection) {
            Incoming::Closed(reason) => assert_eq!(reason, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn writing_to_a_peer_that_is_gone_fails_and_does_no_more() {
    let (peer, ours) = tcp_pair();
    let connection = Connection::tcp(ours).expect("a socket");
    drop(peer);
    assert!(matches!(next(&connection), Incoming::Closed(_)));
    let event = Outgoing::Event {
        event: "output".into(),
        body: None,
    };
    // The kernel accepts some writes before it reports that the peer is gone.
    for _ in 0..1_000_000 {
        if connection.outgoing.send(&event).is_err() {
            assert!(connection.outgoing.is_closed());
            return;
        }
        connection.outgoing.flush(Duration::from_secs(30));
    }
    panic!("a million events went to nobody");
}

#[test]
fn a_peer_that_does_not_read_does_not_fill_the_memory() {
    let (peer, ours) = tcp_pair();
    let connection = Connection::tcp(ours).expect("a socket");
    let writer = connection.outgoing.clone();
    let (progress, sent) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let text = "x".repeat(1 << 20);
        for _ in 0..200 {
            if writer.send_text(&text).is_err() {
                return;
            }
            progress.send(()).ok();
        }
    });
    let mut count = 0;
    while sent.recv_timeout(Duration::from_millis(500)).is_ok() {
        count += 1;
    }
    assert!(
        count < 100,
        "{count} MiB were taken for a peer that reads nothing"
    );
    drop(peer);
    thread
        .join()
        .expect("the sender is woken when the peer is gone");
}

#[test]
fn closing_writes_what_was_sent() {
    let (peer, ours) = tcp_pair();
    let connection = Connection::tcp(ours).expect("a socket");
    for _ in 0..1000 {
        let event = Outgoing::Event {
            event: "output".into(),
            body: None,
        };
        connection.outgoing.send(&event).expect("the peer is there");
    }
    connection.close();
    let mut bytes = String::new();
    BufReader::new(peer)
        .read_to_string(&mut bytes)
        .expect("it ends");
    assert_eq!(bytes.matches("Content-Length").count(), 1000);
    assert!(
        bytes.ends_with("{\"seq\":1000,\"type\":\"event\",\"event\":\"output\"}"),
        "{}",
        &bytes[bytes.len() - 60..]
    );
}

#[test]
fn only_content_length_is_sent_as_a_header() {
    let (peer, ours) = tcp_pair();
    let connection = Connection::tcp(ours).expect("a socket");
    connection
        .outgoing
        .send_text("{}")
        .expect("the peer is there");
    let mut lines = BufReader::new(peer).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    assert_eq!(
        (line().as_str(), line().as_str()),
        ("Content-Length: 2", "")
    );
}

#[test]
fn a_tap_sees_both_directions_in_order() {
    let recorder = Recorder::new();
    let (client, adapter) = recorder.options().memory();
    let thread = std::thread::spawn(move || counting().start(&adapter).run(&mut 0));
    let client = TestClient::new(client);
    client.initialize();
    client.ok::<ThreadsRequest>(Empty);
    client.disconnect();
    thread.join().expect("no panic");
    let directions: Vec<_> = recorder
        .messages()
        .iter()
        .map(|message| message.direction)
        .collect();
    assert_eq!(directions, [Direction::Sent, Direction::Received].repeat(3));
    assert!(recorder.messages()[2].text.contains("\"threads\""));
}

#[test]
fn a_spawned_adapter_is_killed_with_its_client() {
    // This adapter neither answers nor ends at the end of its input.
    let mut command = Command::new("sh");
    command.args(["-c", "echo not a header; exec tail -f /dev/null"]);
    let client = Client::spawn(&mut command)
        .expect("a shell")
        .with_timeout(Duration::from_millis(10));
    let process = client.process_id().expect("it was spawned");
    let answer = client.request::<InitializeRequest>(InitializeRequestArguments::new("x"));
    assert!(
        matches!(
            answer,
            Err(ClientError::Timeout {
                ref what,
                ..
            }) if what == "initialize"
        ),
        "{answer:?}"
    );
    drop(client);
    assert!(
        !std::path::Path::new(&format!("/proc/{process}")).exists(),
        "it is still there"
    );
}

#[test]
fn an_adapter_behind_a_shell_is_killed_with_their_process_group() {
    let (mut held_open, errors) = std::io::pipe().expect("a pipe");
    let mut command = Command::new("sh");
    command
        .args(["-c", "tail -f /dev/null & wait"])
        .process_group(0)
        .stderr(errors);
    drop(Client::spawn(&mut command).expect("a shell"));
    // The command has a copy of the pipe's writing end.
    drop(command);
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || sender.send(held_open.read_to_end(&mut Vec::new()).is_ok()));
    assert_eq!(
        ended.recv_timeout(Duration::from_secs(30)),
        Ok(true),
        "`tail` holds it open"
    );
}

#[test]
fn an_adapter_that_ends_is_gone() {
    let client = Client::spawn(Command::new("sh").args(["-c", "exit 3"])).expect("a shell");
    let answer = client.request::<InitializeRequest>(InitializeRequestArguments::new("x"));
    assert_eq!(answer, Err(ClientError::Disconnected));
    assert!(Client::spawn(&mut Command::new("/no/such/adapter")).is_err());
}

#[test]
fn a_loop_that_waits_for_something_else_is_told_of_all_that_comes_in() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let stream = (
        Options::new().unix(ours).unwrap(),
        Options::new().unix(theirs).unwrap(),
    );
    for (here, there) in [Connection::memory(), stream] {
        let (rung, rings) = crossbeam_channel::unbounded();
        there.outgoing.send_text(r#"{"before":1}"#).unwrap();
        here.on_incoming(move || rung.send(()).unwrap());
        let wait = || {
            // A ring may be without a new item, but each new item is followed by a ring.
            loop {
                rings.recv_timeout(Duration::from_secs(60)).expect("a ring");
                if let Ok(incoming) = here.incoming.try_recv() {
                    return incoming;
                }
            }
        };
        assert!(matches!(wait(), Incoming::Message(_)));
        there.outgoing.send_text(r#"{"after":1}"#).unwrap();
        assert!(matches!(wait(), Incoming::Message(_)));
        drop(there);
        assert!(matches!(wait(), Incoming::Closed(_)));
    }
}

#[test]
fn an_answer_overtakes_output_that_nobody_reads_and_all_of_it_comes_in_order() {
    const EVENTS: usize = 2000;
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let ours = Connection::unix(ours).expect("a connection");
    let output = |index: usize| Outgoing::Event {
        event: "output".into(),
        body: dapple_dap::message::Raw::from_text(format!(
            "{{\"output\":\"{index} {}\"}}",
            "x".repeat(1000)
        ))
        .ok(),
    };
    let kept = std::sync::Arc::new(());
    for index in 0..EVENTS {
        let kept = Box::new(kept.clone());
        ours.outgoing
            .send_output(output(index), Some(kept))
            .expect("it never waits");
    }
    assert!(
        std::sync::Arc::strong_count(&kept) > EVENTS / 2,
        "most wait"
    );
    let answer = Outgoing::success(1, "threads", None);
    ours.outgoing.send(&answer).expect("it is there");
    let theirs = Connection::unix(theirs).expect("a connection");
    let (mut outputs, mut answered) = (0, None);
    for seq in 1..=EVENTS + 1 {
        let incoming = next(&theirs);
        let message: serde_json::Value = serde_json::from_str(text(&incoming)).expect("JSON");
        assert_eq!(message["seq"], seq, "numbers follow the order");
        if message["type"] == "response" {
            answered = Some(outputs);
        } else {
            let output = message["body"]["output"].as_str().expect("a text");
            assert!(output.starts_with(&format!("{outputs} ")), "{output}");
            outputs += 1;
        }
    }
    assert!(
        answered.expect("an answer") < EVENTS / 2,
        "{answered:?} came before it"
    );
    assert_eq!(std::sync::Arc::strong_count(&kept), 1);
}

#[test]
fn a_full_queue_is_the_end_of_a_peer_that_closed_its_half_and_reads_nothing() {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let ours = Connection::unix(ours).expect("a connection");
    theirs
        .shutdown(std::net::Shutdown::Write)
        .expect("it is open");
    let answer = "x".repeat(1 << 20);
    let mut sent = 0;
    while ours.outgoing.send_text(&answer).is_ok() {
        sent += 1;
        assert!(sent < 100, "all was queued");
    }
    assert!(sent >= 16, "{sent} MiB were queued");
}
