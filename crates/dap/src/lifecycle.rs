//! The rules of a session: which message may be sent when.
//!
//! The rules are one pure state machine. It gets each message in either direction, in order, and returns the rule that the message
//! breaks. It knows of payloads only what [`Facts`] carries, and does no I/O. The server session and the client enforce the
//! rules on messages that they send, and report violations of messages that they receive.
//!
//! | rule | |
//! | --- | --- |
//! | the first request is `initialize`, once | [`Violation::BeforeInitialize`], [`Violation::InitializeTwice`] |
//! | before its response to `initialize` the adapter sends no event and no request | [`Violation::BeforeInitializeResponse`] |
//! | `initialized` is sent once | [`Violation::InitializedTwice`] |
//! | `seq` counts from 1, per direction | [`Violation::Sequence`] |
//! | one response to each request, with its command | [`Violation::ResponseToNothing`], [`Violation::WrongCommand`], [`Lifecycle::unanswered`] |
//! | only the adapter sends events | [`Violation::EventFromClient`] |
//! | no `continued` for a resume that the client asked for | [`Violation::RedundantContinued`] |
//! | a progress starts once, and has no events before its start or after its end | [`Violation::ProgressTwice`], [`Violation::NoSuchProgress`] |
//! | a progress that was started is ended | [`Lifecycle::open_progress`] |
//! | after `terminated` the adapter sends only responses | [`Violation::AfterTerminated`] |
//!
//! A proxy or a log checker can use it directly:
//!
//! ```
//! use dapple_dap::envelope::Envelope;
//! use dapple_dap::lifecycle::{Facts, Lifecycle, Side};
//!
//! let mut session = Lifecycle::new();
//! let mut broken = Vec::new();
//! for (from, text) in [
//!     (Side::Client, r#"{"seq":1,"type":"request","command":"initialize"}"#),
//!     (Side::Adapter, r#"{"seq":1,"type":"event","event":"initialized"}"#),
//!     (Side::Adapter, r#"{"seq":3,"type":"response","request_seq":1,"success":true,"command":"initialize"}"#),
//! ] {
//!     let envelope = Envelope::parse(text)?;
//!     broken.extend(session.sequence(from, envelope.seq).err());
//!     broken.extend(session.message(from, Facts::of(&envelope)).err());
//! }
//! let broken: Vec<String> = broken.iter().map(ToString::to_string).collect();
//! assert_eq!(
//!     broken,
//!     ["`initialized` was sent before the response to `initialize`", "`seq` is 3, expected 2"]
//! );
//! # Ok::<(), dapple_dap::envelope::EnvelopeError>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use crate::envelope::{Envelope, Kind};
use crate::message::decode_or_default;
use crate::message::excerpt::of_name;

/// Which end of a connection a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The editor, or another program that controls the adapter.
    Client,
    /// The debug adapter.
    Adapter,
}

/// The parts of a message that the rules depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facts<'a> {
    /// A request.
    Request {
        /// Its number.
        seq: i64,
        /// Its command.
        command: &'a str,
        /// Which threads the request resumes, if it does.
        resumes: Option<Threads>,
    },
    /// A response.
    Response {
        /// The number of the request that it answers.
        request_seq: i64,
        /// The command it repeats.
        command: &'a str,
        /// Whether the request succeeded.
        success: bool,
    },
    /// An event.
    Event {
        /// Its name.
        event: &'a str,
        /// If the event is `continued`: which threads it reports as running.
        threads: Option<Threads>,
        /// If it is a progress event: the JSON text of the `progressId`.
        progress: Option<&'a str>,
    },
}

/// The threads that a resume applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// All of them.
    All,
    /// Only this one.
    One(i64),
}

/// A rule that a message breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A request was sent before `initialize`.
    #[error(
        "`{}` came before `initialize`; the first request must be `initialize`",
        of_name(command)
    )]
    BeforeInitialize {
        /// The request's command.
        command: Box<str>,
    },
    /// A second `initialize`.
    #[error("`initialize` may be sent only once in a session")]
    InitializeTwice,
    /// The adapter sent something before its response to `initialize`.
    #[error("`{message}` was sent before the response to `initialize`")]
    BeforeInitializeResponse {
        /// The event's name or the request's command.
        message: Box<str>,
    },
    /// A second `initialized` event.
    #[error("the event `initialized` may be sent only once in a session")]
    InitializedTwice,
    /// A message's number is not one more than the one before.
    #[error("`seq` is {found}, expected {expected}")]
    Sequence {
        /// One more than the last number from this side.
        expected: i64,
        /// The message's number.
        found: i64,
    },
    /// A response to a request that was never sent or was answered already.
    #[error(
        "a response to request {request_seq} (`{}`), which is not waiting for one",
        of_name(command)
    )]
    ResponseToNothing {
        /// The number the response names.
        request_seq: i64,
        /// The command the response names.
        command: Box<str>,
    },
    /// A response that names another command than its request.
    #[error(
        "the response to request {request_seq} (`{expected}`) names the command `{}`",
        of_name(found)
    )]
    WrongCommand {
        /// The request's number.
        request_seq: i64,
        /// The request's command.
        expected: Box<str>,
        /// The response's command.
        found: Box<str>,
    },
    /// An event from the client.
    #[error(
        "the client sent the event `{}`; only the adapter sends events",
        of_name(event)
    )]
    EventFromClient {
        /// The event's name.
        event: Box<str>,
    },
    /// A `continued` event for a resume that the client itself asked for.
    #[error("a `continued` event for threads that the client resumed itself")]
    RedundantContinued,
    /// A `progressStart` for a progress that is already open.
    #[error("progress {id} is started a second time")]
    ProgressTwice {
        /// The progress's id, as JSON.
        id: Box<str>,
    },
    /// An event for a progress that was not started, or has ended.
    #[error("`{event}` for progress {id}, which does not go on")]
    NoSuchProgress {
        /// The event's name.
        event: Box<str>,
        /// The progress's id, as JSON.
        id: Box<str>,
    },
    /// Something other than a response after `terminated`.
    #[error("`{message}` was sent after `terminated`; only responses may follow it")]
    AfterTerminated {
        /// The event's name or the request's command.
        message: Box<str>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No `initialize` yet.
    Start,
    /// The `initialize` of this number is not answered yet.
    Initializing(i64),
    /// The normal state.
    Open,
    /// `terminated` was sent.
    Terminated,
}

/// The state of a session as far as the rules depend on it.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    phase: Phase,
    initialized: bool,
    /// Resumes by the client since the last stop.
    resumed: Vec<Threads>,
    /// The requests without a response, by the [`Side`] that sent them.
    waiting: [Waiting; 2],
    /// The last number seen, by [`Side`].
    last_seq: [i64; 2],
    /// The ids of the progresses that were started and not ended.
    progress: BTreeSet<Box<str>>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self::new()
    }
}

/// How many resumes since the last stop are kept one by one. With more, all threads count as resumed.
const RESUMED_LIMIT: usize = 256;

/// How many progresses are tracked at once. While that many are open, the events of further ones are not checked.
const PROGRESS_LIMIT: usize = 4096;

impl Lifecycle {
    /// A session before its first message.
    pub fn new() -> Self {
        Self {
            phase: Phase::Start,
            initialized: false,
            resumed: Vec::new(),
            waiting: [Waiting::default(), Waiting::default()],
            last_seq: [0, 0],
            progress: BTreeSet::new(),
        }
    }

    /// Checks the number of a message and notes it, even a wrong one. Separate from [`message`](Self::message), since an end need not check
    /// the numbers that it assigns itself: they are right by construction.
    ///
    /// # Errors
    /// The number is not one more than that of the message before from the same side.
    pub fn sequence(&mut self, from: Side, seq: i64) -> Result<(), Violation> {
        let last = &mut self.last_seq[from as usize];
        let expected = last.saturating_add(1);
        *last = seq;
        if seq == expected {
            Ok(())
        } else {
            Err(Violation::Sequence {
                expected,
                found: seq,
            })
        }
    }

    /// Checks a message and applies it to the state. A message that breaks a rule leaves the state as it is.
    ///
    /// # Errors
    /// The rule that the message breaks.
    pub fn message(&mut self, from: Side, message: Facts<'_>) -> Result<(), Violation> {
        self.check(from, message)?;
        self.apply(from, message);
        Ok(())
    }

    /// Whether a message would be allowed now.
    ///
    /// # Errors
    /// The rule that the message would break.
    pub fn check(&self, from: Side, message: Facts<'_>) -> Result<(), Violation> {
        match message {
            Facts::Request { command, .. } if from == Side::Client => match (self.phase, command) {
                (Phase::Start, "initialize") => Ok(()),
                (_, "initialize") => Err(Violation::InitializeTwice),
                (Phase::Start, _) => Err(Violation::BeforeInitialize {
                    command: command.into(),
                }),
                _ => Ok(()),
            },
            Facts::Request { command, .. } => self.adapter_may_send(command),
            Facts::Response {
                request_seq,
                command,
                ..
            } => match self.waiting[from.other() as usize].find(request_seq, command) {
                None => Err(Violation::ResponseToNothing {
                    request_seq,
                    command: command.into(),
                }),
                Some((_, expected)) if expected != command => {
                    let found = command.into();
                    Err(Violation::WrongCommand {
                        request_seq,
                        expected: expected.into(),
                        found,
                    })
                }
                Some(_) => Ok(()),
            },
            Facts::Event { event, .. } if from == Side::Client => Err(Violation::EventFromClient {
                event: event.into(),
            }),
            Facts::Event {
                event,
                threads,
                progress,
            } => {
                self.adapter_may_send(event)?;
                match (event, progress) {
                    ("initialized", _) if self.initialized => Err(Violation::InitializedTwice),
                    ("continued", _) if self.client_resumed(threads) => {
                        Err(Violation::RedundantContinued)
                    }
                    (_, Some(id)) => self.progress_may_be(event, id),
                    _ => Ok(()),
                }
            }
        }
    }

    fn adapter_may_send(&self, message: &str) -> Result<(), Violation> {
        match self.phase {
            Phase::Start | Phase::Initializing(_) => Err(Violation::BeforeInitializeResponse {
                message: message.into(),
            }),
            Phase::Open => Ok(()),
            Phase::Terminated => Err(Violation::AfterTerminated {
                message: message.into(),
            }),
        }
    }

    fn progress_may_be(&self, event: &str, id: &str) -> Result<(), Violation> {
        let (known, full) = (
            self.progress.contains(id),
            self.progress.len() >= PROGRESS_LIMIT,
        );
        match event {
            "progressStart" if known => Err(Violation::ProgressTwice { id: id.into() }),
            "progressUpdate" | "progressEnd" if !known && !full => Err(Violation::NoSuchProgress {
                event: event.into(),
                id: id.into(),
            }),
            _ => Ok(()),
        }
    }

    fn client_resumed(&self, threads: Option<Threads>) -> bool {
        let covers = |resumed: &Threads| match (resumed, threads) {
            (Threads::All, _) => true,
            (Threads::One(_), None | Some(Threads::All)) => false,
            (Threads::One(one), Some(Threads::One(other))) => *one == other,
        };
        self.resumed.iter().any(covers)
    }

    fn apply(&mut self, from: Side, message: Facts<'_>) {
        match message {
            Facts::Request {
                seq,
                command,
                resumes,
            } => {
                self.note_request(from, seq, command);
                if from == Side::Client && command == "initialize" {
                    self.phase = Phase::Initializing(seq);
                }
                if let Some(threads) = resumes {
                    if self.resumed.len() < RESUMED_LIMIT {
                        self.resumed.push(threads);
                    } else {
                        self.resumed = vec![Threads::All];
                    }
                }
            }
            Facts::Response {
                request_seq,
                command,
                success,
            } => {
                self.waiting[from.other() as usize].remove(request_seq, command);
                if self.phase == Phase::Initializing(request_seq) {
                    // After a failure the client may try again.
                    self.phase = if success { Phase::Open } else { Phase::Start };
                }
                if !success && is_resume(command) {
                    self.resumed.pop();
                }
            }
            Facts::Event {
                event, progress, ..
            } => match (event, progress) {
                ("initialized", _) => self.initialized = true,
                ("stopped", _) => self.resumed.clear(),
                ("terminated", _) => self.phase = Phase::Terminated,
                ("progressStart", Some(id)) if self.progress.len() < PROGRESS_LIMIT => {
                    self.progress.insert(id.into());
                }
                ("progressEnd", Some(id)) => {
                    self.progress.remove(id);
                }
                _ => {}
            },
        }
    }

    /// Notes a request that has to be answered although it breaks a rule.
    pub fn note_request(&mut self, from: Side, seq: i64, command: &str) {
        self.waiting[from as usize].insert(seq, command);
    }

    /// True once `initialize` is answered with success.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Terminated)
    }

    /// True once `terminated` was sent.
    pub fn is_terminated(&self) -> bool {
        self.phase == Phase::Terminated
    }

    /// The unanswered requests of one side: number and command, lowest number first.
    pub fn unanswered(&self, side: Side) -> impl Iterator<Item = (i64, &str)> {
        self.waiting[side as usize]
            .0
            .iter()
            .map(|(&(seq, _), command)| (seq, &**command))
    }

    /// The ids, as JSON, of the progresses that were started and not ended.
    pub fn open_progress(&self) -> impl Iterator<Item = &str> {
        self.progress.iter().map(|id| &**id)
    }

    /// True if a request of this side and number is not answered yet.
    pub fn is_waiting(&self, side: Side, seq: i64) -> bool {
        self.waiting[side as usize].at(seq).next().is_some()
    }
}

/// Requests without a response, by number. If a sender uses a number twice, both requests are answered; the second half of the
/// key distinguishes them.
#[derive(Debug, Clone, Default)]
struct Waiting(BTreeMap<(i64, u32), Box<str>>);

impl Waiting {
    fn at(&self, seq: i64) -> impl DoubleEndedIterator<Item = ((i64, u32), &str)> {
        self.0
            .range((seq, 0)..=(seq, u32::MAX))
            .map(|(&key, command)| (key, &**command))
    }

    /// The request that a response answers: one with the number and the command that the response names or, without one, the first with
    /// the number.
    fn find(&self, seq: i64, command: &str) -> Option<((i64, u32), &str)> {
        let same = self.at(seq).find(|(_, waiting)| *waiting == command);
        same.or_else(|| self.at(seq).next())
    }

    fn insert(&mut self, seq: i64, command: &str) {
        let nth = self
            .at(seq)
            .next_back()
            .map_or(0, |((_, nth), _)| nth.saturating_add(1));
        self.0.insert((seq, nth), command.into());
    }

    fn remove(&mut self, seq: i64, command: &str) {
        if let Some((key, _)) = self.find(seq, command) {
            self.0.remove(&key);
        }
    }
}

impl Side {
    /// The opposite end.
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Adapter,
            Self::Adapter => Self::Client,
        }
    }
}

/// True for the requests that resume the debuggee until an event reports a stop.
pub fn is_resume(command: &str) -> bool {
    matches!(
        command,
        "continue" | "next" | "stepIn" | "stepOut" | "stepBack" | "reverseContinue"
    )
}

/// The fields that the rules need: two of a resume's arguments, and two of a `continued` event's body.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadFields {
    thread_id: Option<i64>,
    single_thread: Option<bool>,
    all_threads_continued: Option<bool>,
}

impl<'a> Facts<'a> {
    /// Takes the facts from an envelope.
    pub fn of(envelope: &'a Envelope<'_>) -> Self {
        match &envelope.kind {
            Kind::Request { command, arguments } => {
                let resumes = Self::resumes(command, *arguments);
                Facts::Request {
                    seq: envelope.seq,
                    command,
                    resumes,
                }
            }
            Kind::Response {
                request_seq,
                success,
                command,
                ..
            } => Facts::Response {
                request_seq: *request_seq,
                command,
                success: *success,
            },
            Kind::Event { event, body } => Self::event(event, *body),
        }
    }

    /// Takes the facts from an event.
    pub fn event(event: &'a str, body: Option<&'a RawValue>) -> Self {
        Facts::Event {
            event,
            threads: event_threads(event, body),
            progress: progress_id(event, body),
        }
    }

    /// Which threads a client's request resumes. `None` if the request resumes nothing.
    pub fn resumes(command: &str, arguments: Option<&RawValue>) -> Option<Threads> {
        if !is_resume(command) {
            return None;
        }
        match decode_or_default::<ThreadFields>(arguments) {
            Ok(ThreadFields {
                thread_id: Some(id),
                single_thread: Some(true),
                ..
            }) => Some(Threads::One(id)),
            _ => Some(Threads::All),
        }
    }
}

/// The JSON text of a progress event's `progressId`. `None` for other events, and for an event without a `progressId`.
fn progress_id<'a>(event: &str, body: Option<&'a RawValue>) -> Option<&'a str> {
    #[derive(serde::Deserialize)]
    struct Id<'a> {
        #[serde(borrow, rename = "progressId")]
        id: &'a RawValue,
    }
    if !matches!(event, "progressStart" | "progressUpdate" | "progressEnd") {
        return None;
    }
    let body: Id<'a> = serde_json::from_str(body?.get()).ok()?;
    Some(body.id.get())
}

/// Which threads a `continued` event reports as running. `None` for other events, and if the event names no threads.
fn event_threads(event: &str, body: Option<&RawValue>) -> Option<Threads> {
    if event != "continued" {
        return None;
    }
    match decode_or_default::<ThreadFields>(body) {
        Ok(ThreadFields {
            all_threads_continued: Some(true),
            ..
        }) => Some(Threads::All),
        Ok(ThreadFields {
            thread_id: Some(id),
            ..
        }) => Some(Threads::One(id)),
        _ => None,
    }
}
