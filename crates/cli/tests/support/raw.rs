//! `dapple dap` over raw bytes: for input that no client sends, and for clients that read slowly.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};

/// A `dapple dap` process with raw input and output.
pub struct Raw {
    pub child: Child,
    pub output: Option<BufReader<ChildStdout>>,
    pub seq: i64,
    /// The number of bytes received.
    pub read: usize,
}

impl Raw {
    pub fn start() -> Raw {
        let mut command = super::dapple();
        command.arg("dap").stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("dapple runs");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Raw {
            child,
            output: Some(output),
            seq: 0,
            read: 0,
        }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(bytes).expect("it reads");
        input.flush().expect("it reads");
    }

    pub fn request(&mut self, command: &str, arguments: &Value) {
        self.seq += 1;
        let text = json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        })
        .to_string();
        self.send(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// The next message. `None` at the end.
    pub fn message(&mut self) -> Option<Value> {
        let output = self.output.as_mut()?;
        let mut length = None;
        loop {
            let mut line = String::new();
            if output.read_line(&mut line).expect("text") == 0 {
                return None;
            }
            self.read += line.len();
            match line.trim_end().split_once(": ") {
                Some((_, value)) => length = value.parse::<usize>().ok(),
                None => break,
            }
        }
        let mut body = vec![0; length.expect("a length")];
        output.read_exact(&mut body).expect("a body");
        self.read += body.len();
        Some(serde_json::from_slice(&body).expect("JSON"))
    }

    /// The answer to the last request, and the console output before it.
    pub fn answer(&mut self) -> (Value, String) {
        let mut console = String::new();
        loop {
            let message = self.message().expect("an answer");
            if message["event"] == "output" {
                console += message["body"]["output"].as_str().expect("a text");
            }
            if message["request_seq"] == self.seq {
                return (message, console);
            }
        }
    }
}
