//! Scripts: a fixed sequence of messages for one end of a connection.
//!
//! A [`FakeAdapter`] and a [`FakeClient`] are lists of steps, one call for each, which a thread runs against the peer. A message
//! that is received before its step is kept for that step. If a message is not received in time, the script panics and says which
//! step it was and which messages were received instead. Messages are typed; [`text`](FakeAdapter::text) sends any text. Scripts are
//! for one exact order of messages. For an adapter that reacts to what it gets, use a [`Server`](crate::Server); for such a client,
//! a [`TestClient`](super::TestClient).

use std::collections::HashMap;
use std::thread::JoinHandle;
use std::time::Duration;

use super::peer::Peer;
use crate::client::DEFAULT_TIMEOUT;
use crate::envelope::Kind;
use crate::failure::{self, Failure};
use crate::message::{self, Event, Raw, Request};
use crate::transport::{Connection, Outgoing};

type Run = Box<dyn FnOnce(&mut Stage) -> Result<(), String> + Send>;

/// The state that the steps of a script share.
struct Stage {
    peer: Peer,
    /// The numbers of the requests sent whose responses no step has waited for yet, by command.
    sent: HashMap<&'static str, Vec<i64>>,
}

/// Steps, each with a description.
struct Script {
    steps: Vec<(String, Run)>,
    timeout: Duration,
}

/// A running script.
#[derive(Debug)]
#[must_use = "only `finish` says whether all went as it was written"]
pub struct Running {
    thread: JoinHandle<Vec<String>>,
}

impl Running {
    /// Waits for the end of the script.
    ///
    /// # Panics
    /// A step failed, or a request was received that is not in the script.
    #[track_caller]
    pub fn finish(self) {
        match self.thread.join() {
            Ok(left) => assert!(
                left.is_empty(),
                "the script has ended, and these requests are not in it:\n  {}",
                left.join("\n  ")
            ),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Script {
    fn new() -> Self {
        Self {
            steps: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
        }
    }

    fn step(
        &mut self,
        what: String,
        run: impl FnOnce(&mut Stage) -> Result<(), String> + Send + 'static,
    ) {
        self.steps.push((what, Box::new(run)));
    }

    fn start(self, connection: Connection) -> Running {
        let thread = std::thread::spawn(move || {
            let mut stage = Stage {
                peer: Peer::new(connection, self.timeout),
                sent: HashMap::new(),
            };
            for (index, (what, run)) in self.steps.into_iter().enumerate() {
                if let Err(reason) = run(&mut stage) {
                    panic!("step {} of the script ({what}): {reason}", index + 1);
                }
            }
            let left = stage.peer.left();
            let requests = left.iter().filter(|message| {
                matches!(
                    message.envelope().map(|envelope| envelope.kind),
                    Ok(Kind::Request { .. })
                )
            });
            requests.map(|message| message.text().to_owned()).collect()
        });
        Running { thread }
    }

    fn text(&mut self, text: &str) {
        let text = text.to_owned();
        self.step(format!("sends `{text}`"), move |stage| {
            stage.peer.send_text(&text);
            Ok(())
        });
    }

    /// Waits for a request and answers it.
    fn answers<R: Request>(
        &mut self,
        handler: impl FnOnce(R::Arguments) -> Result<R::Response, Failure> + Send + 'static,
    ) {
        self.step(format!("waits for the request `{}`", R::COMMAND), |stage| {
            let message = stage.peer.take(|envelope| {
                matches!(&envelope.kind, Kind::Request { command, .. } if command == R::COMMAND)
            })?;
            let envelope = message.envelope().map_err(|error| error.to_string())?;
            let Kind::Request { arguments, .. } = envelope.kind else {
                return Err("no request came".to_owned());
            };
            let arguments = message::decode_or_default::<R::Arguments>(arguments)
                .map_err(|error| format!("its arguments: {error}"))?;
            let result = match handler(arguments) {
                Ok(response) => Ok(payload(&response)?),
                Err(failure) => Err(failure),
            };
            let response = failure::response(envelope.seq, R::COMMAND, result);
            stage.peer.send(&response);
            Ok(())
        });
    }

    fn sends<R: Request>(&mut self, arguments: R::Arguments) {
        self.step(
            format!("sends the request `{}`", R::COMMAND),
            move |stage| {
                let seq = stage
                    .peer
                    .send(&Outgoing::request(R::COMMAND, payload(&arguments)?));
                stage.sent.entry(R::COMMAND).or_default().push(seq);
                Ok(())
            },
        );
    }

    /// Waits for the response to the oldest request of a kind whose response no step has waited for yet.
    fn gets<R: Request>(
        &mut self,
        check: impl FnOnce(Result<R::Response, String>) -> Result<(), String> + Send + 'static,
    ) {
        self.step(
            format!("waits for the response to `{}`", R::COMMAND),
            |stage| {
                let sent = stage
                    .sent
                    .get_mut(R::COMMAND)
                    .filter(|sent| !sent.is_empty());
                let seq = sent
                    .map(|sent| sent.remove(0))
                    .ok_or_else(|| "the script sends no such request before".to_owned())?;
                let message = stage.peer.take(|envelope| {
                matches!(&envelope.kind, Kind::Response { request_seq, .. } if *request_seq == seq)
            })?;
                let envelope = message.envelope().map_err(|error| error.to_string())?;
                match envelope.kind {
                    Kind::Response {
                        success: true,
                        body,
                        ..
                    } => {
                        let response = message::decode_or_default::<R::Response>(body)
                            .map_err(|error| format!("its body: {error}"))?;
                        check(Ok(response))
                    }
                    Kind::Response { message, body, .. } => {
                        check(Err(crate::failure::failure_text(message.as_deref(), body)))
                    }
                    _ => Err("no response came".to_owned()),
                }
            },
        );
    }
}

fn payload(value: &impl serde::Serialize) -> Result<Option<Raw>, String> {
    message::encode(value).map_err(|error| error.to_string())
}

/// Checks that a request succeeded, and passes its response to `check`.
fn succeeded<T>(
    check: impl FnOnce(T) + Send + 'static,
) -> impl FnOnce(Result<T, String>) -> Result<(), String> + Send {
    move |outcome| {
        check(outcome.map_err(|sentence| format!("it failed: {sentence}"))?);
        Ok(())
    }
}

/// An adapter that follows a script, to test clients: a list of steps, one call for each, which a thread runs.
///
/// A message that is received before its step is kept for that step. If a message is not received in time, the script panics and says
/// which step it was and which messages were received instead. For an adapter that reacts, write a [`Server`](crate::Server).
///
/// ```
/// use dapple_dap::{Client, Connection, Failure};
/// use dapple_dap::testing::FakeAdapter;
/// use dapple_dap::types::*;
///
/// let (client, adapter) = Connection::memory();
/// let script = FakeAdapter::new()
///     .answers::<InitializeRequest>(|client| {
///         assert_eq!(client.adapter_id, "fake");
///         Ok(Capabilities::new())
///     })
///     .event::<InitializedEvent>(Empty)
///     .answers::<LaunchRequest>(|_| Err(Failure::new("no such program")))
///     .start(adapter);
///
/// let client = Client::new(client);
/// client.request::<InitializeRequest>(InitializeRequestArguments::new("fake"))?;
/// let error = client.request::<LaunchRequest>(LaunchRequestArguments::new()).unwrap_err();
/// assert_eq!(error.to_string(), "no such program");
/// script.finish();
/// # Ok::<(), dapple_dap::ClientError>(())
/// ```
#[must_use = "nothing is said until `start` is called"]
pub struct FakeAdapter(Script);

impl std::fmt::Debug for FakeAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps = self.0.steps.iter().map(|(what, _)| what);
        f.debug_list().entries(steps).finish()
    }
}

impl Default for FakeAdapter {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeAdapter {
    /// A script without steps.
    pub fn new() -> Self {
        Self(Script::new())
    }

    /// Sets how long each step waits for its message.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = timeout;
        self
    }

    /// Waits for a request and answers it by the handler's result. The handler may check the arguments with assertions.
    pub fn answers<R: Request>(
        mut self,
        handler: impl FnOnce(R::Arguments) -> Result<R::Response, Failure> + Send + 'static,
    ) -> Self {
        self.0.answers::<R>(handler);
        self
    }

    /// Sends an event.
    pub fn event<E: Event>(mut self, body: E::Body) -> Self {
        self.0
            .step(format!("sends the event `{}`", E::EVENT), move |stage| {
                stage.peer.send(&Outgoing::event(E::EVENT, payload(&body)?));
                Ok(())
            });
        self
    }

    /// Sends a reverse request, such as `runInTerminal`, and waits for its response. The response has to be a success.
    pub fn asks<R: Request>(
        mut self,
        arguments: R::Arguments,
        check: impl FnOnce(R::Response) + Send + 'static,
    ) -> Self {
        self.0.sends::<R>(arguments);
        self.0.gets::<R>(succeeded(check));
        self
    }

    /// Sends a text as it is, with a header: for messages that no adapter should send.
    pub fn text(mut self, text: &str) -> Self {
        self.0.text(text);
        self
    }

    /// Runs the script against the client at the other end, and then closes the connection.
    pub fn start(self, connection: Connection) -> Running {
        self.0.start(connection)
    }
}

/// A client that follows a script, to test adapters: the counterpart of [`FakeAdapter`]. For a client that reacts, use a
/// [`TestClient`](super::TestClient).
///
/// ```
/// use dapple_dap::{Connection, Server};
/// use dapple_dap::testing::FakeClient;
/// use dapple_dap::types::*;
///
/// let server = Server::<()>::builder()
///     .on::<LaunchRequest>(|_, _, context| {
///         context.outbox().event::<InitializedEvent>(Empty);
///         Ok(Empty)
///     })
///     .build();
/// let (client, adapter) = Connection::memory();
/// let script = FakeClient::new()
///     .asks::<InitializeRequest>(InitializeRequestArguments::new("x"), |capabilities| {
///         assert_eq!(capabilities.supports_cancel_request, Some(true));
///     })
///     .sends::<LaunchRequest>(LaunchRequestArguments::new())
///     .event::<InitializedEvent>(|_| ())
///     .gets::<LaunchRequest>(|_| ())
///     .fails::<ThreadsRequest>(Empty, "the request `threads` is not supported here")
///     .start(client);
/// server.start(&adapter).run(&mut ());
/// script.finish();
/// ```
#[must_use = "nothing is said until `start` is called"]
pub struct FakeClient(Script);

impl std::fmt::Debug for FakeClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps = self.0.steps.iter().map(|(what, _)| what);
        f.debug_list().entries(steps).finish()
    }
}

impl Default for FakeClient {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeClient {
    /// A script without steps.
    pub fn new() -> Self {
        Self(Script::new())
    }

    /// Sets how long each step waits for its message.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = timeout;
        self
    }

    /// Sends a request without waiting for its response; [`gets`](Self::gets) waits.
    pub fn sends<R: Request>(mut self, arguments: R::Arguments) -> Self {
        self.0.sends::<R>(arguments);
        self
    }

    /// Waits for the response to a request sent before. The response has to be a success.
    pub fn gets<R: Request>(mut self, check: impl FnOnce(R::Response) + Send + 'static) -> Self {
        self.0.gets::<R>(succeeded(check));
        self
    }

    /// Sends a request and waits for its response. The response has to be a success.
    pub fn asks<R: Request>(
        self,
        arguments: R::Arguments,
        check: impl FnOnce(R::Response) + Send + 'static,
    ) -> Self {
        self.sends::<R>(arguments).gets::<R>(check)
    }

    /// Sends a request and waits for its response. The response has to be an error with this sentence.
    pub fn fails<R: Request>(mut self, arguments: R::Arguments, sentence: &str) -> Self {
        let expected = sentence.to_owned();
        self.0.sends::<R>(arguments);
        self.0.gets::<R>(move |outcome| match outcome {
            Err(sentence) if sentence == expected => Ok(()),
            Err(sentence) => Err(format!("it failed with {sentence:?}, not {expected:?}")),
            Ok(response) => Err(format!("it succeeded with {response:?}")),
        });
        self
    }

    /// Waits for the next event of a kind. Other messages stay for later steps.
    pub fn event<E: Event>(mut self, check: impl FnOnce(E::Body) + Send + 'static) -> Self {
        self.0
            .step(format!("waits for the event `{}`", E::EVENT), |stage| {
                let message = stage.peer.take(|envelope| {
                matches!(&envelope.kind, Kind::Event { event, .. } if event == E::EVENT)
            })?;
                let envelope = message.envelope().map_err(|error| error.to_string())?;
                let Kind::Event { body, .. } = envelope.kind else {
                    return Err("no event came".to_owned());
                };
                check(
                    message::decode_or_default::<E::Body>(body)
                        .map_err(|error| format!("its body: {error}"))?,
                );
                Ok(())
            });
        self
    }

    /// Waits for a reverse request and answers it.
    pub fn answers<R: Request>(
        mut self,
        handler: impl FnOnce(R::Arguments) -> Result<R::Response, Failure> + Send + 'static,
    ) -> Self {
        self.0.answers::<R>(handler);
        self
    }

    /// Sends a text as it is, with a header: for messages that no client should send.
    pub fn text(mut self, text: &str) -> Self {
        self.0.text(text);
        self
    }

    /// Runs the script against the adapter at the other end, and then closes the connection.
    pub fn start(self, connection: Connection) -> Running {
        self.0.start(connection)
    }
}
