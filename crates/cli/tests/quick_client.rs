//! A client that sends each request immediately after an answer. The adapter waits for it without sleeping, and sends related messages
//! together. No message may get lost or be late because of that.

use crate::support;
use crate::support::{compile, line, root, scratch};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A single-threaded client that does nothing but send requests.
struct Client {
    adapter: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    read: Vec<u8>,
    seq: i64,
}

impl Client {
    /// Starts an adapter, and a program in it that is stopped in its loop.
    fn launch(name: &str) -> (Self, i64) {
        let program = scratch("quick").join(name);
        compile("quick.c", &program);
        let mut adapter = support::dapple()
            .arg("dap")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("dapple runs");
        let mut client = Client {
            input: adapter.stdin.take(),
            output: adapter.stdout.take().expect("a pipe"),
            adapter,
            read: Vec::new(),
            seq: 0,
        };
        client.send("initialize", json!({"adapterID": "dapple"}));
        client.send("launch", json!({"program": program}));
        client.until(|message| message["event"] == "initialized");
        client.stop_at(&["quick"]);
        client.send("configurationDone", json!({}));
        let stopped = client.until(|message| message["event"] == "stopped");
        client.stop_at(&[]);
        let thread = stopped["body"]["threadId"].as_i64().expect("a thread");
        (client, thread)
    }

    fn frame(&mut self, command: &str, arguments: &Value) -> Vec<u8> {
        self.seq += 1;
        let request = json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        });
        let text = request.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
    }

    fn send(&mut self, command: &str, arguments: Value) {
        let bytes = self.frame(command, &arguments);
        let input = self.input.as_mut().expect("it isn't closed");
        input.write_all(&bytes).expect("dapple reads");
    }

    /// The next message. `None` at the end.
    fn next(&mut self) -> Option<Value> {
        loop {
            let text = String::from_utf8_lossy(&self.read);
            if let Some((header, _)) = text.split_once("\r\n\r\n") {
                let length: usize = header
                    .strip_prefix("Content-Length: ")
                    .and_then(|length| length.parse().ok())
                    .expect("a length");
                let begin = header.len() + 4;
                if self.read.len() >= begin + length {
                    let message = serde_json::from_slice(&self.read[begin..begin + length]);
                    self.read.drain(..begin + length);
                    return Some(message.expect("JSON"));
                }
            }
            let mut piece = [0; 1 << 16];
            let count = self.output.read(&mut piece).expect("a pipe");
            if count == 0 {
                return None;
            }
            self.read.extend_from_slice(&piece[..count]);
        }
    }

    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().expect("dapple goes on");
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Replaces the breakpoints by ones on these lines.
    fn stop_at(&mut self, marks: &[&str]) {
        self.stop_at_if(marks, None);
    }

    /// Like [`Client::stop_at`], with a condition.
    fn stop_at_if(&mut self, marks: &[&str], condition: Option<&str>) {
        let lines = marks
            .iter()
            .map(|mark| json!({"line": line("quick.c", mark), "condition": condition}));
        let breakpoints: Vec<Value> = lines.collect();
        let source = json!({"path": root().join("fixtures/quick.c")});
        self.send(
            "setBreakpoints",
            json!({"source": source, "breakpoints": breakpoints}),
        );
        let seq = self.seq;
        self.until(|message| message["request_seq"] == seq);
    }

    /// Resumes the program until it stops, several times. Each answer must come before its stop.
    fn run_to_stop(&mut self, thread: i64, times: usize) {
        for _ in 0..times {
            self.send("continue", json!({"threadId": thread}));
            let answer = self.until(|message| message["event"] != "output");
            assert_eq!(answer["request_seq"], self.seq);
            let stopped = self.until(|message| message["event"] != "output");
            assert_eq!(stopped["body"]["reason"], "breakpoint", "{stopped}");
        }
    }

    /// Steps by instruction, several times. Each answer must come before its stop.
    fn step(&mut self, thread: i64, times: usize) {
        for _ in 0..times {
            let arguments = json!({"threadId": thread, "granularity": "instruction"});
            self.send("stepIn", arguments);
            let seq = self.seq;
            let answer = self.until(|message| message["type"] == "response");
            assert_eq!(
                (&answer["request_seq"], &answer["success"]),
                (&json!(seq), &json!(true))
            );
            let stopped = self.until(|message| message["type"] == "event");
            assert_eq!(stopped["event"], "stopped", "{stopped}");
            assert_eq!(stopped["body"]["reason"], "step");
        }
    }

    fn pause(&mut self, thread: i64) {
        self.send("pause", json!({"threadId": thread}));
        let stopped = self.until(|message| message["event"] == "stopped");
        assert_eq!(stopped["body"]["reason"], "pause");
    }

    fn end(mut self) {
        self.send("disconnect", json!({"terminateDebuggee": true}));
        while self.next().is_some() {}
        assert!(self.adapter.wait().expect("it ends").success());
    }
}

#[test]
fn an_answer_comes_when_no_stop_follows_it() {
    let (mut client, thread) = Client::launch("answer");
    for _ in 0..20 {
        client.stop_at(&["for ever"]);
        client.run_to_stop(thread, 200);
        client.stop_at(&[]);
        client.send("continue", json!({"threadId": thread}));
        // If the answer were held back until a stop, this would never end.
        let answer = client.until(|message| message["command"] == "continue");
        assert_eq!(answer["success"], true);
        client.pause(thread);
    }
    client.end();
}

#[test]
fn output_that_comes_when_no_stop_follows_is_told_of() {
    let (mut client, thread) = Client::launch("late");
    client.step(thread, 200);
    // Runs through the loop. The adapter doesn't know when it ends.
    client.send("continue", json!({"threadId": thread}));
    client
        .until(|message| message["event"] == "output" && message["body"]["output"] == "through\n");
    client.pause(thread);
    client.step(thread, 200);
    client.end();
}

#[test]
fn requests_are_answered_while_conditions_are_false_one_after_the_other() {
    let (mut client, thread) = Client::launch("storm");
    for _ in 0..20 {
        client.stop_at(&["for ever"]);
        client.run_to_stop(thread, 200);
        client.stop_at_if(&["for ever"], Some("total == 0 && total == 1"));
        client.send("continue", json!({"threadId": thread}));
        client.until(|message| message["command"] == "continue");
        client.send("threads", json!({}));
        let answer = client.until(|message| message["command"] == "threads");
        assert_eq!(answer["body"]["threads"][0]["id"], thread);
        client.pause(thread);
    }
    client.end();
}

#[test]
fn many_requests_at_once_are_all_answered_in_their_order() {
    let (mut client, thread) = Client::launch("many");
    client.step(thread, 200);
    let first = client.seq + 1;
    let count = 6000;
    let requests: Vec<u8> = (0..count)
        .flat_map(|_| client.frame("threads", &json!({})))
        .collect();
    let mut input = client.input.take().expect("it isn't closed");
    let writing = std::thread::spawn(move || {
        input.write_all(&requests).expect("dapple reads");
        input
    });
    for seq in first..first + count {
        let answer = client.until(|message| message["command"] == "threads");
        assert_eq!(answer["request_seq"], seq);
        assert_eq!(answer["body"]["threads"][0]["id"], thread);
    }
    client.input = Some(writing.join().expect("all is written"));
    client.step(thread, 200);
    client.end();
}

#[test]
fn what_comes_in_parts_is_understood_wherever_the_program_is() {
    let (mut client, thread) = Client::launch("parts");
    for running in [false, true] {
        if running {
            client.send("continue", json!({"threadId": thread}));
            client.until(|message| message["command"] == "continue");
        }
        let bytes = client.frame("threads", &json!({}));
        for byte in bytes {
            let input = client.input.as_mut().expect("it isn't closed");
            input.write_all(&[byte]).expect("dapple reads");
        }
        let answer = client.until(|message| message["command"] == "threads");
        assert_eq!(answer["body"]["threads"][0]["id"], thread);
    }
    client.end();
}

#[test]
fn a_client_that_goes_takes_its_program_along_wherever_that_is() {
    for running in [false, true] {
        let (mut client, thread) = Client::launch("gone");
        client.step(thread, 200);
        if running {
            client.send("continue", json!({"threadId": thread}));
            client.until(|message| message["command"] == "continue");
        }
        drop(client.input.take());
        while client.next().is_some() {}
        client.adapter.wait().expect("it ends");
        // The thread's id is also the process id.
        assert!(!std::path::Path::new(&format!("/proc/{thread}")).exists());
    }
}
