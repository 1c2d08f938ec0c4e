//! A connection to an adapter on its stdio, which is read and written by the thread that asks, as gdb's is: no other has to be woken for an answer.

use std::collections::VecDeque;
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};
use dapple_dap::codec;
use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::message::{self, Event, Raw, Request};

/// The connection. The adapter ends with it.
pub struct Wire {
    adapter: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    sent: i64,
    /// Events that nobody has waited for yet, by name and body.
    events: VecDeque<(String, Option<Raw>)>,
}

impl Wire {
    /// Starts an adapter.
    pub fn start(command: &mut Command) -> anyhow::Result<Wire> {
        let mut adapter = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = adapter.stdin.take().context("no input")?;
        let output = BufReader::new(adapter.stdout.take().context("no output")?);
        Ok(Wire {
            adapter,
            input,
            output,
            sent: 0,
            events: VecDeque::new(),
        })
    }

    /// Sends a request, and waits for its answer.
    pub fn request<R: Request>(&mut self, arguments: R::Arguments) -> anyhow::Result<R::Response> {
        self.sent += 1;
        let request = Envelope {
            seq: self.sent,
            kind: Kind::Request {
                command: R::COMMAND.into(),
                arguments: Some(&arguments),
            },
        };
        let mut bytes = Vec::new();
        codec::encode_envelope(&mut bytes, &request)?;
        self.input.write_all(&bytes)?;
        loop {
            let text = self.receive()?;
            match Envelope::parse(&text)?.kind {
                Kind::Response {
                    request_seq,
                    success,
                    message,
                    body,
                    ..
                } if request_seq == self.sent => {
                    if !success {
                        bail!("{}: {}", R::COMMAND, message.unwrap_or_default());
                    }
                    return Ok(message::decode_or_default(body)?);
                }
                Kind::Event { event, body } => self.keep(&event, body)?,
                _ => {}
            }
        }
    }

    /// Waits for an event, unless it has come already. Forgets those before it.
    pub fn wait_for<E: Event>(&mut self) -> anyhow::Result<E::Body> {
        loop {
            while let Some((event, body)) = self.events.pop_front() {
                if event == E::EVENT {
                    let body = body.as_ref().map(Raw::as_raw_value);
                    return Ok(message::decode_or_default(body)?);
                }
            }
            let text = self.receive()?;
            if let Kind::Event { event, body } = Envelope::parse(&text)?.kind {
                self.keep(&event, body)?;
            }
        }
    }

    fn receive(&mut self) -> anyhow::Result<String> {
        codec::read(&mut self.output)?.context("the adapter has ended")
    }

    fn keep(
        &mut self,
        event: &str,
        body: Option<&serde_json::value::RawValue>,
    ) -> anyhow::Result<()> {
        let body = body.map(|body| Raw::from_text(body.get())).transpose()?;
        self.events.push_back((event.to_owned(), body));
        Ok(())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = self.adapter.kill();
        let _ = self.adapter.wait();
    }
}
