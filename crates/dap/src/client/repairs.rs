//! What was read although it does not have the shape that the protocol requires.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::message::lenient::{self, Repaired};
use crate::message::{DecodeError, Repair, decode_or_default};

/// How many repairs are kept.
const LIMIT: usize = 1000;

/// A value in one of the adapter's messages that does not have the shape that the protocol requires, and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageRepair {
    /// The message's number.
    pub seq: i64,
    /// The command of a response or a reverse request, or the event's name.
    pub name: String,
    /// What was changed about the payload.
    pub repair: Repair,
}

impl fmt::Display for MessageRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (message {}): {}", self.name, self.seq, self.repair)
    }
}

/// The repairs of one session's messages, each with the message's place among those received. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Repairs(Arc<Mutex<Vec<(u64, MessageRepair)>>>);

impl Repairs {
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, MessageRepair)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn list(&self) -> Vec<MessageRepair> {
        let list = self.lock();
        list.iter().map(|(_, repair)| repair.clone()).collect()
    }

    /// Notes the repairs of a message. It may be decoded more than once; its repairs are noted once.
    fn note(&self, received: &Received, name: &str, repairs: Vec<Repair>) {
        let Received { seq, place, .. } = *received;
        let mut list = self.lock();
        if repairs.is_empty() || list.iter().any(|(noted, _)| *noted == place) {
            return;
        }
        for repair in repairs {
            tracing::debug!(seq, name, %repair, "the adapter's message has the wrong shape");
            if list.len() < LIMIT {
                let name = name.to_owned();
                list.push((place, MessageRepair { seq, name, repair }));
            }
        }
    }
}

/// A received message, as far as its repairs are concerned.
#[derive(Clone)]
pub(crate) struct Received {
    seq: i64,
    /// Its place among all that were received. Not every adapter numbers its messages.
    place: u64,
    repairs: Repairs,
}

impl Received {
    pub(crate) fn new(seq: i64, place: u64, repairs: &Repairs) -> Self {
        let repairs = repairs.clone();
        Self {
            seq,
            place,
            repairs,
        }
    }

    /// Decodes the message's payload leniently, and notes what was repaired.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        name: &str,
        payload: Option<&RawValue>,
    ) -> Result<T, DecodeError> {
        self.decode_all(name, payload).map(|(value, _)| value)
    }

    /// As [`decode`](Self::decode), with the indices of the items that were left out of the payload's own list.
    pub(crate) fn decode_all<T: DeserializeOwned>(
        &self,
        name: &str,
        payload: Option<&RawValue>,
    ) -> Result<(T, Vec<usize>), DecodeError> {
        let read = lenient::repaired(payload, decode_or_default(payload), T::deserialize);
        self.noted(name, read)
    }

    /// Notes what was repaired.
    pub(crate) fn noted<T>(
        &self,
        name: &str,
        read: Result<Repaired<T>, DecodeError>,
    ) -> Result<(T, Vec<usize>), DecodeError> {
        let Repaired {
            value,
            repairs,
            dropped,
        } = read?;
        self.repairs.note(self, name, repairs);
        Ok((value, dropped))
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}", self.seq)
    }
}

/// Events are equal whichever messages they came in.
impl PartialEq for Received {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
