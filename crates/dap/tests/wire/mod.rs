//! A client that writes bytes, and an adapter at the other end of a real socket.

// Each test file uses only a part of this module.
#![allow(dead_code)]

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

use dapple_dap::codec::Decoder;
use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::{Connection, Server};

/// One end of a socket; a thread serves a session at the other end.
pub struct Wire<S> {
    pub socket: UnixStream,
    decoder: Decoder,
    session: Option<JoinHandle<S>>,
}

/// The `initialize` request of these tests.
pub const INITIALIZE: &str = r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x","supportsProgressReporting":true,"supportsRunInTerminalRequest":true}}"#;

impl<S: Send + 'static> Wire<S> {
    /// Serves a session.
    pub fn new(server: Server<S>, mut state: S) -> Self {
        let (socket, other) = UnixStream::pair().expect("a pair of sockets");
        let limit = Some(Duration::from_secs(60));
        socket
            .set_read_timeout(limit)
            .expect("a limit for the test");
        let session = std::thread::spawn(move || {
            let connection = Connection::unix(other).expect("a socket");
            server.start(&connection).run(&mut state);
            state
        });
        Self {
            socket,
            decoder: Decoder::new(),
            session: Some(session),
        }
    }

    /// Serves a session that is initialized.
    pub fn initialized(server: Server<S>, state: S) -> Self {
        let mut wire = Self::new(server, state);
        wire.write(INITIALIZE);
        let answer = wire.read();
        assert!(answer.starts_with("1: initialize ok"), "{answer}");
        wire
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("the session reads");
    }

    /// Writes a text with its header.
    pub fn write(&mut self, text: &str) {
        self.bytes(&frame(text));
    }

    /// The JSON of the next message, `None` at the end.
    pub fn text(&mut self) -> Option<String> {
        let mut piece = [0; 4096];
        loop {
            if let Some(text) = self.decoder.next().expect("the session writes messages") {
                return Some(text);
            }
            match self.socket.read(&mut piece) {
                Ok(0) => return None,
                Ok(length) => self.decoder.push(&piece[..length]),
                // Also the end: of a session that has not read all bytes written to it.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing comes: {error}"),
            }
        }
    }

    /// The next message in short; see [`short`].
    pub fn read(&mut self) -> String {
        self.text()
            .map_or("the end".to_owned(), |text| short(&text))
    }

    /// Writes a text and reads one message.
    pub fn say(&mut self, text: &str) -> String {
        self.write(text);
        self.read()
    }

    /// Closes the writing half, waits for the end of the session, and returns its remaining messages and its state.
    pub fn end(mut self) -> (Vec<String>, S) {
        self.socket.shutdown(Shutdown::Write).ok();
        let mut left = Vec::new();
        while let Some(text) = self.text() {
            left.push(short(&text));
        }
        let session = self.session.take().expect("it ends once");
        (left, session.join().expect("the session does not panic"))
    }
}

pub fn frame(text: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

pub fn request(seq: i64, command: &str, arguments: &str) -> String {
    format!(r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{arguments}}}"#)
}

/// `SEQ: COMMAND ok BODY`, `SEQ: COMMAND failed: MESSAGE`, `event NAME`, or `request COMMAND`.
pub fn short(text: &str) -> String {
    let envelope = Envelope::parse(text).expect("the session writes messages");
    match envelope.kind {
        Kind::Response {
            request_seq,
            success: true,
            command,
            body,
            ..
        } => format!(
            "{request_seq}: {command} ok {}",
            body.map_or("", |body| body.get())
        )
        .trim_end()
        .to_owned(),
        Kind::Response {
            request_seq,
            command,
            message,
            ..
        } => format!(
            "{request_seq}: {command} failed: {}",
            message.unwrap_or_default()
        ),
        Kind::Event { event, .. } => format!("event {event}"),
        Kind::Request { command, .. } => format!("request {command}"),
        _ => unreachable!("there are three kinds"),
    }
}
