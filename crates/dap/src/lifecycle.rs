//! The rules of a session: which message may be sent when.
//!
//! The rules are one pure state machine. It gets each message in either direction, in order, and returns the rule that the message
//! breaks. It does no I/O. The server session and the client send no message that the specification forbids, and report violations
//! of messages that they receive.
//!
//! | rule | |
//! | --- | --- |
//! | the first request is `initialize`, once | [`Violation::BeforeInitialize`], [`Violation::InitializeTwice`] |
//! | before the response to `initialize` neither side sends anything else | [`Violation::RequestBeforeInitializeResponse`], [`Violation::BeforeInitializeResponse`] |
//! | what depends on a capability is sent to a receiver that advertises it | [`Violation::NotAdvertised`] |
//! | `seq` counts from 1, per direction | [`Violation::Sequence`] |
//! | one response to each request, with its command | [`Violation::ResponseToNothing`], [`Violation::WrongCommand`], [`Lifecycle::unanswered`] |
//! | only the adapter sends events | [`Violation::EventFromClient`] |
//! | a progress starts once, and has no events before its start or after its end | [`Violation::ProgressTwice`], [`Violation::NoSuchProgress`] |
//!
//! Conventions that clients rely on, though the specification doesn't state them, are [`Severity::Advice`]:
//!
//! | convention | |
//! | --- | --- |
//! | `initialized` is sent once | [`Violation::InitializedTwice`] |
//! | no `continued` for a resume that the client asked for | [`Violation::RedundantContinued`] |
//! | a progress that was started is ended | [`Lifecycle::open_progress`] |
//! | after `terminated` the adapter sends only responses | [`Violation::AfterTerminated`] |
//!
//! A proxy or a log checker can use it directly:
//!
//! ```
//! use dapple_dap::envelope::Envelope;
//! use dapple_dap::lifecycle::{Facts, Lifecycle, Severity, Side};
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
//!     broken.extend(session.observe(from, Facts::of(&envelope)));
//! }
//! assert_eq!(broken[0].rule(), "before-initialize-response");
//! assert_eq!(broken[0].severity(), Severity::Violation);
//! let broken: Vec<String> = broken.iter().map(ToString::to_string).collect();
//! assert_eq!(
//!     broken,
//!     ["`initialized` was sent before the response to `initialize`", "`seq` is 3, expected 2"]
//! );
//! # Ok::<(), dapple_dap::envelope::EnvelopeError>(())
//! ```

mod advertised;
mod violation;

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::envelope::{Envelope, Kind};
use crate::message::decode_or_default;
use advertised::{Advertised, Needed};
pub use violation::{Severity, Violation};

/// Which end of a connection a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The editor, or another program that controls the adapter.
    Client,
    /// The debug adapter.
    Adapter,
}

/// The parts of a message that the rules depend on.
#[derive(Debug, Clone, Copy)]
pub enum Facts<'a> {
    /// A request.
    Request {
        /// Its number.
        seq: i64,
        /// Its command.
        command: &'a str,
        /// Its arguments.
        arguments: Option<&'a RawValue>,
    },
    /// A response.
    Response {
        /// The number of the request that it answers.
        request_seq: i64,
        /// The command it repeats.
        command: &'a str,
        /// Whether the request succeeded.
        success: bool,
        /// Its body.
        body: Option<&'a RawValue>,
    },
    /// An event.
    Event {
        /// Its name.
        event: &'a str,
        /// Its body.
        body: Option<&'a RawValue>,
    },
}

/// The threads that a resume applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Threads {
    /// All of them.
    All,
    /// Only this one.
    One(i64),
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
    /// Requests by which the client resumed threads since the last stop, by number.
    resumed: Vec<(i64, Threads)>,
    /// The requests without a response, by the [`Side`] that sent them.
    waiting: [Waiting; 2],
    /// The last number seen, by [`Side`].
    last_seq: [i64; 2],
    /// The capabilities of each [`Side`].
    advertised: [Advertised; 2],
    /// The progresses that were started, by id, and whether they go on.
    progress: BTreeMap<Box<str>, bool>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self::new()
    }
}

/// How many resumes since the last stop are kept one by one. With more, all threads count as resumed.
const RESUMED_LIMIT: usize = 256;

/// How many progresses are tracked. With more, ended ones are forgotten; while that many are open, the events of further ones are not
/// checked.
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
            advertised: [Advertised::default(), Advertised::default()],
            progress: BTreeMap::new(),
        }
    }

    /// Checks the number of a message and notes it, even a wrong one. Separate from [`observe`](Self::observe), since an end need not check
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

    /// Applies a message that was sent, whether it was allowed or not, and returns the rule that it breaks.
    ///
    /// A request always counts as unanswered from now on. A response answers the request that it names. An event that breaks a
    /// rule, other than a mere [convention](Severity::Advice), has no further effect.
    pub fn observe(&mut self, from: Side, message: Facts<'_>) -> Option<Violation> {
        let violation = self.check(from, message).err();
        self.apply(from, message, violation.as_ref());
        violation
    }

    /// Applies a message that is about to be sent, unless it breaks a rule that `permits` doesn't let pass.
    ///
    /// # Errors
    /// The rule; nothing has changed, and the message should not be sent.
    pub fn send(
        &mut self,
        from: Side,
        message: Facts<'_>,
        permits: impl FnOnce(&Violation) -> bool,
    ) -> Result<Option<Violation>, Violation> {
        let violation = self.check(from, message).err();
        match violation {
            Some(violation) if !permits(&violation) => Err(violation),
            violation => {
                self.apply(from, message, violation.as_ref());
                Ok(violation)
            }
        }
    }

    fn apply(&mut self, from: Side, message: Facts<'_>, violation: Option<&Violation>) {
        let is_allowed = violation.is_none_or(|violation| violation.severity() == Severity::Advice);
        match message {
            Facts::Request {
                seq,
                command,
                arguments,
            } => {
                self.note_request(from, seq, command);
                if is_allowed && from == Side::Client {
                    self.apply_request(seq, command, arguments);
                }
            }
            Facts::Response {
                request_seq,
                command,
                success,
                body,
            } => {
                if !matches!(violation, Some(Violation::ResponseToNothing { .. })) {
                    self.apply_response(from, request_seq, command, success, body);
                }
            }
            Facts::Event { event, body } => {
                if is_allowed {
                    self.apply_event(event, body);
                }
            }
        }
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
                (Phase::Initializing(_), _) => Err(Violation::RequestBeforeInitializeResponse {
                    command: command.into(),
                }),
                _ => self.is_advertised(from, command, Needed::by_request(from, command)),
            },
            Facts::Request { command, .. } => {
                self.is_advertised(from, command, Needed::by_request(from, command))?;
                self.adapter_may_send(command)
            }
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
            Facts::Event { event, body } => {
                if !self.is_open() {
                    return self.adapter_may_send(event);
                }
                self.is_advertised(from, event, Needed::by_event(event))?;
                if let Some(id) = progress_id(event, body) {
                    self.progress_may_be(event, id)?;
                }
                self.adapter_may_send(event)?;
                match event {
                    "initialized" if self.initialized => Err(Violation::InitializedTwice),
                    "continued" if self.client_resumed(continued_threads(body)) => {
                        Err(Violation::RedundantContinued)
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn is_advertised(
        &self,
        from: Side,
        message: &str,
        needed: Option<&Needed>,
    ) -> Result<(), Violation> {
        match needed {
            Some(needed)
                if self.is_open() && !self.advertised[from.other() as usize].has(needed) =>
            {
                Err(Violation::NotAdvertised {
                    message: message.into(),
                    capability: needed.capability,
                    receiver: from.other(),
                })
            }
            _ => Ok(()),
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
        let goes_on = self.progress.get(id);
        let is_full = self.progress.len() >= PROGRESS_LIMIT;
        match event {
            "progressStart" if goes_on.is_some() => Err(Violation::ProgressTwice { id: id.into() }),
            "progressUpdate" | "progressEnd"
                if goes_on == Some(&false) || goes_on.is_none() && !is_full =>
            {
                Err(Violation::NoSuchProgress {
                    event: event.into(),
                    id: id.into(),
                })
            }
            _ => Ok(()),
        }
    }

    fn client_resumed(&self, threads: Option<Threads>) -> bool {
        let covers = |resumed: &Threads| match (resumed, threads) {
            (Threads::All, _) => true,
            (Threads::One(_), None | Some(Threads::All)) => false,
            (Threads::One(one), Some(Threads::One(other))) => *one == other,
        };
        self.resumed.iter().any(|(_, threads)| covers(threads))
    }

    fn apply_request(&mut self, seq: i64, command: &str, arguments: Option<&RawValue>) {
        if command == "initialize" {
            self.phase = Phase::Initializing(seq);
            self.advertised[Side::Client as usize].merge(arguments);
        }
        let Some(threads) = resumed_threads(command, arguments) else {
            return;
        };
        if self.resumed.len() >= RESUMED_LIMIT {
            self.resumed.retain(|(_, threads)| *threads == Threads::All);
            self.resumed.truncate(1);
            self.resumed.push((seq, Threads::All));
        } else {
            self.resumed.push((seq, threads));
        }
    }

    fn apply_response(
        &mut self,
        from: Side,
        request_seq: i64,
        command: &str,
        success: bool,
        body: Option<&RawValue>,
    ) {
        self.waiting[from.other() as usize].remove(request_seq, command);
        if from != Side::Adapter {
            return;
        }
        if self.phase == Phase::Initializing(request_seq) {
            // After a failure the client may try again.
            self.phase = if success { Phase::Open } else { Phase::Start };
            if success {
                self.advertised[Side::Adapter as usize].merge(body);
            }
        }
        if !success {
            self.resumed.retain(|(seq, _)| *seq != request_seq);
        }
    }

    fn apply_event(&mut self, event: &str, body: Option<&RawValue>) {
        match event {
            "initialized" => self.initialized = true,
            "stopped" => self.resumed.clear(),
            "terminated" => self.phase = Phase::Terminated,
            "capabilities" => {
                if let Ok(ChangedCapabilities { capabilities }) = decode_or_default(body) {
                    self.advertised[Side::Adapter as usize].merge(capabilities.as_deref());
                }
            }
            _ => {}
        }
        let Some(id) = progress_id(event, body) else {
            return;
        };
        match event {
            "progressStart" => {
                if self.progress.len() >= PROGRESS_LIMIT {
                    self.progress.retain(|_, goes_on| *goes_on);
                }
                if self.progress.len() < PROGRESS_LIMIT {
                    self.progress.insert(id.into(), true);
                }
            }
            "progressEnd" => {
                if let Some(goes_on) = self.progress.get_mut(id) {
                    *goes_on = false;
                }
            }
            _ => {}
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
        self.progress
            .iter()
            .filter(|(_, goes_on)| **goes_on)
            .map(|(id, _)| &**id)
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

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Adapter => "adapter",
        })
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

/// The body of a `capabilities` event.
#[derive(Default, serde::Deserialize)]
struct ChangedCapabilities {
    capabilities: Option<Box<RawValue>>,
}

impl<'a> Facts<'a> {
    /// Takes the facts from an envelope.
    pub fn of(envelope: &'a Envelope<'_>) -> Self {
        match &envelope.kind {
            Kind::Request { command, arguments } => Facts::Request {
                seq: envelope.seq,
                command,
                arguments: *arguments,
            },
            Kind::Response {
                request_seq,
                success,
                command,
                body,
                ..
            } => Facts::Response {
                request_seq: *request_seq,
                command,
                success: *success,
                body: *body,
            },
            Kind::Event { event, body } => Facts::Event { event, body: *body },
        }
    }
}

/// Which threads a client's request resumes. `None` if the request resumes nothing.
fn resumed_threads(command: &str, arguments: Option<&RawValue>) -> Option<Threads> {
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

/// Which threads a `continued` event reports as running. `None` if the event names no threads.
fn continued_threads(body: Option<&RawValue>) -> Option<Threads> {
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
