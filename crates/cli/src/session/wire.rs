//! What a session's host and the commands of `dapple session` say to each other: objects of JSON, in the frames of the protocol's messages.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The longest request.
pub const LONGEST_REQUEST: usize = 1 << 20;

/// What is asked of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase")]
pub enum Request {
    /// Carry out commands, one after the other.
    #[serde(rename_all = "camelCase")]
    Exec {
        /// A command each.
        commands: Vec<String>,
        /// Whether a command that lets the program run is over only when that stops or ends.
        waits: bool,
        /// After how many milliseconds to give up waiting. Missing: never.
        #[serde(default)]
        within: Option<u64>,
    },
    /// Wait until the program doesn't run.
    Wait {
        /// After how many milliseconds to give up. Missing: never.
        #[serde(default)]
        within: Option<u64>,
    },
    /// Say how the session is.
    Status,
    /// End the session, and the program unless it was attached to.
    End,
}

impl Request {
    /// How long it may take.
    pub fn within(&self) -> Option<Duration> {
        match self {
            Request::Exec { within, .. } | Request::Wait { within } => {
                within.map(Duration::from_millis)
            }
            Request::Status | Request::End => None,
        }
    }
}

/// What a host says. Any number of records, and one [`Done`] or [`Status`] as the last.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reply {
    /// A record of `dapple debug --json`.
    Record(Box<RawValue>),
    /// So many records were forgotten, because nobody came for them.
    Forgotten(u64),
    /// The request is over.
    Done(Done),
    /// How the session is.
    Status(Status),
}

/// How a request has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// What the program does.
    pub state: State,
    /// Whether the time was over before.
    #[serde(default)]
    pub time_over: bool,
    /// Why commands were not carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// How a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What is debugged, as it was given.
    pub program: String,
    /// What the program does.
    pub state: State,
    /// How many seconds ago the session has begun.
    pub age: u64,
    /// The host's process.
    pub process: u32,
}

/// What the program does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// It has not been started yet.
    #[default]
    NotStarted,
    /// It runs.
    Running,
    /// It is stopped.
    Stopped,
    /// It has ended.
    Ended,
    /// The session itself is over.
    Over,
}

impl State {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            State::NotStarted => "not started",
            State::Running => "running",
            State::Stopped => "stopped",
            State::Ended => "ended",
            State::Over => "over",
        }
    }
}
