//! The example adapter, whose messages are changed on their way.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dapple_check::{Adapter, Marks, Options, Started};
use dapple_dap::Connection;
use dapple_dap::codec::Decoder;
use serde_json::{Value, json};

/// What happens to the messages of a session.
#[derive(Default)]
pub struct State {
    /// What the client has asked so far, by number.
    pub asked: std::collections::BTreeMap<i64, (String, Value)>,
    /// How often each command was answered or event was sent.
    pub counts: std::collections::BTreeMap<String, usize>,
    /// The last number sent.
    pub seq: i64,
    /// For what a mutation has to remember.
    pub kept: Vec<Value>,
    /// Nothing more is passed on.
    pub is_closed: bool,
}

type Change = dyn Fn(&mut State, Vec<Value>) -> Vec<Value> + Send + Sync;
type Requests = dyn Fn(&mut State, Value) -> Option<Value> + Send + Sync;

/// The example adapter with a change. `change` gets each message of the adapter, and returns what the client gets in its place. Messages are numbered
/// anew, unless they have a number that is below 0: that is the number to send.
pub struct Mutant {
    pub name: &'static str,
    change: Arc<Change>,
    requests: Arc<Requests>,
    /// Messages keep the numbers that they have.
    pub keeps_numbers: bool,
}

impl Mutant {
    pub fn of(
        name: &'static str,
        change: impl Fn(&mut State, Vec<Value>) -> Vec<Value> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            change: Arc::new(change),
            requests: Arc::new(|_, request| Some(request)),
            keeps_numbers: false,
        }
    }

    /// Changes once more what the client gets.
    pub fn then(
        mut self,
        change: impl Fn(&mut State, Vec<Value>) -> Vec<Value> + Send + Sync + 'static,
    ) -> Self {
        let first = self.change.clone();
        self.change = Arc::new(move |state, messages| {
            let messages = first(state, messages);
            change(state, messages)
        });
        self
    }

    /// Also changes what the adapter gets.
    pub fn requests(
        mut self,
        requests: impl Fn(&mut State, Value) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        self.requests = Arc::new(requests);
        self
    }
}

pub fn options() -> Options {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/marked.tiny");
    let text = std::fs::read_to_string(&source).expect("the test's program");
    Options {
        launch: json!({"program": source}),
        marks: Marks::of(&text),
        source,
        patience: Duration::from_secs(20),
        ..Options::default()
    }
}

impl Adapter for Mutant {
    fn start(&self) -> io::Result<Started> {
        let (ours, theirs) = UnixStream::pair()?;
        let (inner, adapter) = UnixStream::pair()?;
        std::thread::spawn(move || {
            if let Ok(connection) = Connection::unix(adapter) {
                crate::adapter::serve(&connection);
            }
        });
        let state = Arc::new(std::sync::Mutex::new(State::default()));
        let (asked, requests) = (state.clone(), self.requests.clone());
        let (from_client, to_adapter) = (theirs.try_clone()?, inner.try_clone()?);
        std::thread::spawn(move || {
            each_message(from_client, |message| {
                let mut state = asked.lock().expect("no panic");
                if let Some(seq) = message["seq"].as_i64() {
                    let command = message["command"].as_str().unwrap_or_default().to_owned();
                    state
                        .asked
                        .insert(seq, (command, message["arguments"].clone()));
                }
                let message = requests(&mut state, message);
                drop(state);
                message.is_none_or(|message| write(&to_adapter, &message))
            });
            to_adapter.shutdown(std::net::Shutdown::Both).ok();
        });
        let (change, keeps_numbers) = (self.change.clone(), self.keeps_numbers);
        std::thread::spawn(move || {
            each_message(inner, |message| {
                let mut state = state.lock().expect("no panic");
                let name = message["command"].as_str().or(message["event"].as_str());
                *state
                    .counts
                    .entry(name.unwrap_or_default().to_owned())
                    .or_default() += 1;
                for mut message in change(&mut state, vec![message]) {
                    if !keeps_numbers {
                        state.seq += 1;
                        message["seq"] = json!(state.seq);
                    }
                    let raw = message["raw"].as_str().map(str::to_owned);
                    let sent = match raw {
                        Some(raw) => (&theirs).write_all(raw.as_bytes()).is_ok(),
                        None => write(&theirs, &message),
                    };
                    if !sent {
                        return false;
                    }
                }
                !state.is_closed
            });
            theirs.shutdown(std::net::Shutdown::Both).ok();
        });
        started(ours)
    }
}

/// An adapter at the other end of a connection.
pub fn started(connection: UnixStream) -> io::Result<Started> {
    Ok(Started {
        input: Box::new(ClosedOnDrop(connection.try_clone()?)),
        output: Box::new(connection),
        process: None,
        server: None,
    })
}

/// What the client writes to. The adapter's input ends when it is dropped, as that of a pipe does.
struct ClosedOnDrop(UnixStream);

impl Write for ClosedOnDrop {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for ClosedOnDrop {
    fn drop(&mut self) {
        self.0.shutdown(std::net::Shutdown::Write).ok();
    }
}

/// Passes each message on until `pass` says that it's over.
fn each_message(mut from: UnixStream, mut pass: impl FnMut(Value) -> bool) {
    let mut decoder = Decoder::new();
    let mut piece = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        decoder.push(&piece[..length]);
        loop {
            match decoder.next() {
                Ok(None) => break,
                Err(_) => {}
                Ok(Some(text)) => {
                    if let Ok(message) = serde_json::from_str(&text)
                        && !pass(message)
                    {
                        return;
                    }
                }
            }
        }
    }
}

fn write(mut to: &UnixStream, message: &Value) -> bool {
    let text = message.to_string();
    let message = format!("Content-Length: {}\r\n\r\n{text}", text.len());
    to.write_all(message.as_bytes()).is_ok()
}
