//! A single-threaded client, so that the measurements contain no switches between the client's own threads.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};
use dapple_dap::codec::{self, Decoder};
use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::message::{self, Event, Raw, Request};

use super::awake::Awake;

/// An adapter, which is killed when this is dropped.
pub struct Wire {
    adapter: Child,
    input: ChildStdin,
    output: Awake<ChildStdout>,
    /// The read buffer.
    bytes: Box<[u8]>,
    decoder: Decoder,
    seq: i64,
    /// Events that have not been taken yet.
    events: VecDeque<Happened>,
    /// Answers that have not been taken yet, with the `seq` of their request.
    answers: Vec<(i64, Answer)>,
}

/// An event.
pub struct Happened {
    name: String,
    body: Option<Raw>,
}

type Answer = Result<Option<Raw>, String>;

/// A request that was sent.
pub struct Sent(i64);

impl Happened {
    /// Its body, if it is an `E`.
    pub fn body<E: Event>(&self) -> anyhow::Result<Option<E::Body>> {
        if self.name != E::EVENT {
            return Ok(None);
        }
        let body = self.body.as_ref().map(Raw::as_raw_value);
        Ok(Some(message::decode_or_default(body)?))
    }
}

impl Wire {
    /// Starts an adapter.
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut adapter = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{:?} can't be started", command.get_program()))?;
        Ok(Self {
            input: adapter.stdin.take().context("no input")?,
            output: Awake::new(adapter.stdout.take().context("no output")?)?,
            bytes: vec![0; 1 << 16].into(),
            adapter,
            decoder: Decoder::new(),
            seq: 0,
            events: VecDeque::new(),
            answers: Vec::new(),
        })
    }

    /// The adapter's process.
    pub fn process(&self) -> u32 {
        self.adapter.id()
    }

    /// Sends a request.
    pub fn send<R: Request>(&mut self, arguments: &R::Arguments) -> anyhow::Result<Sent> {
        self.seq += 1;
        let request = Envelope {
            seq: self.seq,
            kind: Kind::Request {
                command: R::COMMAND.into(),
                arguments: Some(arguments),
            },
        };
        let mut bytes = Vec::new();
        codec::encode_envelope(&mut bytes, &request)?;
        self.input.write_all(&bytes)?;
        Ok(Sent(self.seq))
    }

    /// Waits for a request's answer.
    pub fn answer<R: Request>(&mut self, sent: &Sent) -> anyhow::Result<R::Response> {
        loop {
            if let Some(index) = self.answers.iter().position(|(seq, _)| *seq == sent.0) {
                return match self.answers.swap_remove(index).1 {
                    Ok(body) => {
                        let body = body.as_ref().map(Raw::as_raw_value);
                        Ok(message::decode_or_default(body)?)
                    }
                    Err(message) => bail!("{} failed: {message}", R::COMMAND),
                };
            }
            self.read()?;
        }
    }

    /// Sends a request and waits for its answer.
    pub fn request<R: Request>(&mut self, arguments: &R::Arguments) -> anyhow::Result<R::Response> {
        let sent = self.send::<R>(arguments)?;
        self.answer::<R>(&sent)
    }

    /// The next event.
    pub fn event(&mut self) -> anyhow::Result<Happened> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            self.read()?;
        }
    }

    /// Reads and decodes the next messages.
    fn read(&mut self) -> anyhow::Result<()> {
        let count = self.output.read(&mut self.bytes)?;
        if count == 0 {
            bail!("the debugger has ended");
        }
        self.decoder.push(&self.bytes[..count]);
        while let Some(text) = self.decoder.next()? {
            let raw = |body: Option<&serde_json::value::RawValue>| body.map(Raw::new).transpose();
            match Envelope::parse(&text)?.kind {
                Kind::Response {
                    request_seq,
                    success,
                    message,
                    body,
                    ..
                } => {
                    let answer = match success {
                        true => Ok(raw(body)?),
                        false => Err(message.unwrap_or_default().into_owned()),
                    };
                    self.answers.push((request_seq, answer));
                }
                Kind::Event { event, body } => self.events.push_back(Happened {
                    name: event.into_owned(),
                    body: raw(body)?,
                }),
                // No reverse requests are expected.
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = self.adapter.kill();
        let _ = self.adapter.wait();
    }
}
