//! A session for each connection of a listener, over real sockets: what ends the serving, and what does not.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use dapple_dap::testing::{Recorder, TestClient};
use dapple_dap::transport::Options;
use dapple_dap::transport::listen::{
    AcceptError, Listener, Reach, TcpServer, UnixServer, serve_each,
};
use dapple_dap::types::*;
use dapple_dap::{Client, Connection, Responder, Server};

const PATIENCE: Duration = Duration::from_secs(60);

/// An adapter whose only thread has the number of `threads` requests so far as its id.
fn counting() -> Server<i64> {
    Server::builder()
        .on::<ThreadsRequest>(|count, _, _| {
            *count += 1;
            Ok(ThreadsResponse::new(vec![Thread::new(*count, "t")]))
        })
        .on::<PauseRequest>(|_, _, _| panic!("this handler always does"))
        .build()
}

fn listening() -> (Arc<TcpServer>, SocketAddr) {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = TcpServer::bind(any, Reach::Loopback).expect("loopback is there");
    let address = server.address().expect("bound");
    (Arc::new(server), address)
}

fn serve(listener: &Arc<TcpServer>) -> JoinHandle<Result<(), AcceptError>> {
    let listener = listener.clone();
    std::thread::spawn(move || counting().serve(&*listener, |_| 0))
}

fn connect(address: SocketAddr) -> TestClient {
    let client = TestClient::from(Client::connect(address).expect("it listens"));
    client.initialize();
    client
}

fn threads(client: &TestClient) -> i64 {
    client.ok::<ThreadsRequest>(Empty).threads[0].id
}

#[test]
fn each_client_has_a_session_and_a_state_of_its_own() {
    let (listener, address) = listening();
    let serving = serve(&listener);
    let clients = [0, 1, 2].map(|_| connect(address));
    for turn in 1..=3 {
        for client in &clients {
            assert_eq!(threads(client), turn);
        }
    }
    for client in &clients {
        client.disconnect();
        client.wait_closed(PATIENCE).expect("the session ends");
    }
    listener.stop();
    serving.join().expect("no panic").expect("it was stopped");
}

#[test]
fn stopping_ends_listening_and_waits_for_the_sessions_there_are() {
    let (listener, address) = listening();
    let serving = serve(&listener);
    let client = connect(address);
    listener.stop();
    let refused = Client::connect(address).expect_err("nobody listens any more");
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    assert_eq!(threads(&client), 1);
    assert!(!serving.is_finished(), "there is a session");
    client.disconnect();
    serving.join().expect("no panic").expect("it was stopped");
    // A second `stop` changes nothing.
    listener.stop();
    let stopped = listener.accept(Options::new());
    assert!(
        matches!(stopped, Err(AcceptError::Stopped)),
        "{:?}",
        stopped.err()
    );
}

#[test]
fn a_unix_socket_is_served_and_stopped_like_any() {
    let path = std::env::temp_dir().join(format!("dap-serving-{}", std::process::id()));
    let listener = Arc::new(UnixServer::bind(&path).expect("the path is free"));
    let serving = {
        let listener = listener.clone();
        std::thread::spawn(move || counting().serve(&*listener, |_| 6))
    };
    let client = TestClient::from(Client::connect_unix(&path).expect("it listens"));
    client.initialize();
    assert_eq!(threads(&client), 7);
    drop(client);
    listener.stop();
    serving.join().expect("no panic").expect("it was stopped");
    assert!(path.exists());
    drop(listener);
    assert!(!path.exists());
}

#[test]
fn a_request_whose_handler_panics_fails_and_its_session_goes_on() {
    let (listener, address) = listening();
    let serving = serve(&listener);
    let [hurt, other] = [0, 1].map(|_| connect(address));
    assert_eq!(
        hurt.fails::<PauseRequest>(PauseArguments::new(1)),
        "the handler of `pause` panicked: this handler always does"
    );
    assert_eq!([threads(&hurt), threads(&other)], [1, 1]);
    assert_eq!(threads(&connect(address)), 1);
    drop((hurt, other));
    listener.stop();
    serving.join().expect("no panic").expect("it was stopped");
}

/// A listener that fails with each of `troubles` before it accepts connections.
struct Troubled {
    listener: Arc<TcpServer>,
    troubles: Mutex<Vec<AcceptError>>,
    failed: AtomicUsize,
}

impl Troubled {
    fn new(listener: Arc<TcpServer>, troubles: Vec<AcceptError>) -> Self {
        Self {
            listener,
            troubles: Mutex::new(troubles),
            failed: AtomicUsize::new(0),
        }
    }
}

impl Listener for Troubled {
    fn accept(&self, options: Options) -> Result<Connection, AcceptError> {
        let trouble = self.troubles.lock().expect("no panic").pop();
        match trouble {
            Some(error) => {
                self.failed.fetch_add(1, Ordering::SeqCst);
                Err(error)
            }
            None => self.listener.accept(options),
        }
    }
}

fn system(errno: rustix::io::Errno) -> AcceptError {
    AcceptError::Io(errno.into())
}

#[test]
fn strangers_lost_connections_and_shortages_do_not_end_it() {
    use rustix::io::Errno;
    let (listener, address) = listening();
    let peer = "127.0.0.1:1".to_owned();
    let troubles = vec![
        AcceptError::UnknownUser { peer: peer.clone() },
        AcceptError::OtherUser {
            peer,
            uid: 65534,
            own: 1000,
        },
        system(Errno::CONNABORTED),
        system(Errno::INTR),
        system(Errno::NETUNREACH),
        system(Errno::MFILE),
    ];
    let count = troubles.len();
    let troubled = Arc::new(Troubled::new(listener.clone(), troubles));
    let recorders = Arc::new(Mutex::new(Vec::new()));
    let serving = {
        let (troubled, recorders) = (troubled.clone(), recorders.clone());
        std::thread::spawn(move || {
            let options = |number| {
                let recorder = Recorder::new();
                let options = recorder.options();
                recorders.lock().expect("no panic").push((number, recorder));
                options
            };
            serve_each(&*troubled, options, |number, connection| {
                counting()
                    .start(&connection)
                    .run(&mut (number as i64 * 100));
            })
        })
    };
    assert_eq!(threads(&connect(address)), 101);
    assert_eq!(threads(&connect(address)), 201);
    listener.stop();
    serving.join().expect("no panic").expect("it was stopped");
    assert_eq!(troubled.failed.load(Ordering::SeqCst), count);
    let kept: Vec<_> = recorders
        .lock()
        .expect("no panic")
        .iter()
        .map(|(number, recorder)| (*number, recorder.messages().is_empty()))
        .filter(|(_, empty)| !empty)
        .collect();
    assert_eq!(kept, [(1, false), (2, false)]);
}

#[test]
fn an_error_of_the_listener_itself_ends_it() {
    let (listener, _) = listening();
    let troubled = Troubled::new(listener, vec![system(rustix::io::Errno::BADF)]);
    let error = counting()
        .serve(&troubled, |_| 0)
        .expect_err("it is broken");
    assert!(!error.is_passing());
    assert!(
        error.to_string().starts_with("cannot accept connections: "),
        "{error}"
    );
}

#[test]
fn an_interpreter_runs_on_until_a_late_answer_to_disconnect_ends_the_session() {
    #[derive(Default)]
    struct Endless {
        is_running: bool,
        lines: u64,
        /// How many lines are executed before `disconnect` is answered.
        lines_left: u64,
        leaving: Option<Responder<DisconnectRequest>>,
    }

    let server = Server::builder()
        .on::<ConfigurationDoneRequest>(|endless: &mut Endless, _, _| {
            endless.is_running = true;
            Ok(Empty)
        })
        .on_deferred::<DisconnectRequest>(|endless, _, responder, _| {
            endless.lines_left = 3;
            endless.leaving = Some(responder);
        })
        .build();
    let (connection, adapter) = Connection::memory();
    let session = std::thread::spawn(move || {
        let mut endless = Endless::default();
        server
            .start(&adapter)
            .run_interpreter(&mut endless, |endless, outbox| {
                if !endless.is_running {
                    return false;
                }
                endless.lines += 1;
                if endless.lines == 1 {
                    outbox.output(OutputEventCategory::Stdout, "it runs\n");
                }
                match endless.leaving.take() {
                    Some(responder) if endless.lines_left == 0 => responder.respond(Empty),
                    leaving => endless.leaving = leaving,
                }
                endless.lines_left = endless.lines_left.saturating_sub(1);
                true
            });
        endless
    });
    let client = TestClient::new(connection);
    client.initialize();
    client.ok::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new());
    client.assert_output("stdout", "it runs\n");
    client.disconnect();
    // The connection is still open: nothing but the answer ends the session.
    let endless = session.join().expect("no panic");
    assert!(endless.lines > 3, "{}", endless.lines);
    assert!(endless.leaving.is_none());
    client.assert_no_violations();
}
