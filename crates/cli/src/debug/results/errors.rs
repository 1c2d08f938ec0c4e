//! Why something has failed.

use dapple_dap::ClientError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::debug::interrupts::Interrupted;
use crate::debug::session::TimeOver;

/// Why something has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// Of what kind it is.
    pub reason: FailureKind,
    /// The sentence for people.
    pub message: String,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FailureKind {
    /// The command can't be carried out: it is not known, not complete, or means nothing now.
    Command,
    /// The adapter has refused a request: an expression means nothing, memory can't be read.
    Refused,
    /// The adapter is gone, or can't be started.
    AdapterGone,
    /// The adapter has not answered in time, or the wait was interrupted.
    NotAnswered,
    /// The session has taken as long as it may.
    TimeOver,
    /// Another reason.
    Other,
}

impl Failure {
    /// Why a command has failed.
    pub fn of(error: &anyhow::Error) -> Failure {
        Failure::or(error, FailureKind::Command)
    }

    /// Why something else has failed.
    pub fn of_session(error: &anyhow::Error) -> Failure {
        Failure::or(error, FailureKind::Other)
    }

    /// With a kind for errors that say nothing of themselves.
    fn or(error: &anyhow::Error, otherwise: FailureKind) -> Failure {
        Failure {
            reason: reason_of(error).unwrap_or(otherwise),
            message: format!("{error:#}"),
        }
    }
}

/// What an error says of itself.
fn reason_of(error: &anyhow::Error) -> Option<FailureKind> {
    error.chain().find_map(|it| {
        if it.is::<Interrupted>() {
            return Some(FailureKind::NotAnswered);
        }
        if it.is::<TimeOver>() {
            return Some(FailureKind::TimeOver);
        }
        Some(match it.downcast_ref::<ClientError>()? {
            ClientError::Timeout { .. } => FailureKind::NotAnswered,
            ClientError::Disconnected => FailureKind::AdapterGone,
            ClientError::Failed(_) => FailureKind::Refused,
            _ => FailureKind::Other,
        })
    })
}
