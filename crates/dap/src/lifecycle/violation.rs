//! The rules that a message can break, each with its severity and the sentence it rests on.

use std::borrow::Cow;

use super::{Side, advertised};
use crate::message::excerpt::of_name;

/// How much a broken rule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The specification allows it, but clients rely on something else. Such a message is sent and handled as any other.
    Advice,
    /// The specification forbids it.
    Violation,
}

impl Severity {
    /// `advice` or `violation`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Advice => "advice",
            Self::Violation => "violation",
        }
    }
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
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
    /// The client sent a request before it had the response to `initialize`.
    #[error(
        "`{}` was sent before the response to `initialize` was received",
        of_name(command)
    )]
    RequestBeforeInitializeResponse {
        /// The request's command.
        command: Box<str>,
    },
    /// The adapter sent something before its response to `initialize`.
    #[error("`{message}` was sent before the response to `initialize`")]
    BeforeInitializeResponse {
        /// The event's name or the request's command.
        message: Box<str>,
    },
    /// A second `initialized` event.
    #[error("the event `initialized` was sent a second time")]
    InitializedTwice,
    /// A request or event whose receiver has not advertised the capability that it depends on.
    #[error(
        "`{}` needs `{capability}`, which the {receiver} does not advertise",
        of_name(message)
    )]
    NotAdvertised {
        /// The request's command or the event's name.
        message: Box<str>,
        /// The capability.
        capability: &'static str,
        /// Who would have to advertise it.
        receiver: Side,
    },
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
    /// A `continued` event for a resume that the client asked for.
    #[error("a `continued` event for threads that the client resumed itself")]
    RedundantContinued,
    /// A `progressStart` for a progress that was started before.
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
    #[error("`{message}` was sent after `terminated`; clients may no longer listen")]
    AfterTerminated {
        /// The event's name or the request's command.
        message: Box<str>,
    },
}

impl Violation {
    /// The rule's name, for programs: lower-case words joined by hyphens, e.g. `wrong-command`. Names stay as they are.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::BeforeInitialize { .. } => "before-initialize",
            Self::InitializeTwice => "initialize-twice",
            Self::RequestBeforeInitializeResponse { .. } => "request-before-initialize-response",
            Self::BeforeInitializeResponse { .. } => "before-initialize-response",
            Self::InitializedTwice => "initialized-twice",
            Self::NotAdvertised { .. } => "not-advertised",
            Self::Sequence { .. } => "sequence",
            Self::ResponseToNothing { .. } => "response-to-nothing",
            Self::WrongCommand { .. } => "wrong-command",
            Self::EventFromClient { .. } => "event-from-client",
            Self::RedundantContinued => "redundant-continued",
            Self::ProgressTwice { .. } => "progress-twice",
            Self::NoSuchProgress { .. } => "no-such-progress",
            Self::AfterTerminated { .. } => "after-terminated",
        }
    }

    /// Whether the specification forbids the message.
    pub fn severity(&self) -> Severity {
        match self {
            Self::InitializedTwice | Self::RedundantContinued | Self::AfterTerminated { .. } => {
                Severity::Advice
            }
            _ => Severity::Violation,
        }
    }

    /// The sentence of the specification that the message breaks. For [advice](Severity::Advice), what clients rely on.
    pub fn sentence(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::BeforeInitialize { .. } => {
                "The `initialize` request is sent as the first request from the client to the debug adapter in order to configure it \
                 with client capabilities and to retrieve capabilities from the debug adapter."
            }
            Self::InitializeTwice => "The `initialize` request may only be sent once.",
            Self::RequestBeforeInitializeResponse { .. } => {
                "Until the debug adapter has responded with an `initialize` response, the client must not send any additional requests \
                 or events to the debug adapter."
            }
            Self::BeforeInitializeResponse { .. } => {
                "In addition the debug adapter is not allowed to send any requests or events to the client until it has responded with \
                 an `initialize` response."
            }
            Self::InitializedTwice => {
                "Clients send their whole configuration in response to each `initialized` event."
            }
            Self::NotAdvertised {
                message,
                capability,
                ..
            } => return Cow::Owned(advertised::sentence(message, capability)),
            Self::Sequence { .. } => {
                "The `seq` for the first message sent by a client or debug adapter is 1, and for each subsequent message is 1 greater \
                 than the previous message sent by that actor."
            }
            Self::ResponseToNothing { .. } => "Sequence number of the corresponding request.",
            Self::WrongCommand { .. } => "The command requested.",
            Self::EventFromClient { .. } => "A debug adapter initiated event.",
            Self::RedundantContinued => {
                "Please note: a debug adapter is not expected to send this event in response to a request that implies that execution \
                 continues (e.g. `launch` or `continue`)."
            }
            Self::ProgressTwice { .. } => "IDs must be unique within a debug session.",
            Self::NoSuchProgress { .. } => {
                "The ID that was introduced in the initial `progressStart` event."
            }
            Self::AfterTerminated { .. } => {
                "Clients end the session at `terminated`: what comes later, such as an exit code, may not be shown."
            }
        })
    }
}
