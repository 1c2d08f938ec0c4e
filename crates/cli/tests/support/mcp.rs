//! A client of `dapple mcp`, which sends lines of JSON and reads them.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::dapple;

/// A client and its server.
pub struct Mcp {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last: u64,
}

impl Mcp {
    /// A server for a folder, which has answered `initialize`.
    pub fn start(folder: &Path, options: &[&str]) -> Mcp {
        let mut command = dapple();
        command.arg("mcp").arg("--folder").arg(folder).args(options);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("dapple can be started");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut client = Mcp {
            child,
            stdin,
            stdout,
            last: 0,
        };
        let answer = client.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "dapple", "{answer}");
        client.notify("notifications/initialized", &json!({}));
        client
    }

    /// Sends a line as it is.
    pub fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| stdin.flush())
            .expect("the server reads");
    }

    pub fn notify(&mut self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send(&message.to_string());
    }

    /// Sends a request, and returns its number.
    pub fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        self.send(&message.to_string());
        self.last
    }

    /// The next message of the server.
    pub fn message(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.stdout.read_line(&mut line).expect("the server writes");
        (length > 0).then(|| serde_json::from_str(&line).expect("a message"))
    }

    /// The response to a request.
    pub fn response(&mut self, number: u64) -> Value {
        loop {
            let message = self.message().expect("the server is there");
            if message["id"] == number {
                return message;
            }
        }
    }

    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let number = self.ask(method, params);
        self.response(number)
    }

    /// Sends a call of a tool, and returns its number.
    pub fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool, and returns what it says, and whether it has failed.
    pub fn called(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let number = self.begin(tool, arguments);
        text(&self.response(number))
    }

    /// What a tool says that succeeds.
    #[track_caller]
    pub fn ok(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, failed) = self.called(tool, arguments);
        assert!(!failed, "{tool} {arguments}: {text}");
        text
    }

    /// What a tool says that fails.
    #[track_caller]
    pub fn fails(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, failed) = self.called(tool, arguments);
        assert!(failed, "{tool} {arguments}: {text}");
        text
    }

    /// The server's process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Closes the server's stdin, and returns its exit code.
    pub fn leave(mut self) -> Option<i32> {
        self.stdin = None;
        while self.message().is_some() {}
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }
}

/// What a response says, and whether it tells of a failure.
pub fn text(response: &Value) -> (String, bool) {
    let result = &response["result"];
    let parts = result["content"].as_array().into_iter().flatten();
    let texts = parts.filter_map(|part| part["text"].as_str());
    let text: Vec<&str> = texts.collect();
    match text.is_empty() {
        true => (response["error"]["message"].to_string(), true),
        false => (text.join("\n"), result["isError"] == true),
    }
}
