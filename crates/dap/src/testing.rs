//! Tests of debug adapters and of their clients.
//!
//! | to test | against | use |
//! | --- | --- | --- |
//! | an adapter | what a user does | [`TestClient`], with verbs that panic with what they saw instead |
//! | an adapter | one exact conversation | [`FakeClient`], a script |
//! | a client | one exact conversation | [`FakeAdapter`], a script |
//! | either | a conversation that happened | [`Recorder`] or [`Log`], [`Recording`] and [`Replay`] |
//!
//! All of them talk over a [`Connection`](crate::Connection): in this process over
//! [`Connection::memory`](crate::Connection::memory), and over pipes and sockets to whatever is there. This module is for tests and
//! tools: it panics, waits for seconds and holds whole conversations in memory, which a session for users must not.

mod client;
mod log;
mod peer;
mod record;
mod replay;
mod script;

pub use client::{TestClient, launch_arguments};
pub use log::Log;
pub use record::{Entry, Recorded, Recorder, Recording, RecordingError};
pub use replay::{Difference, Replay};
pub use script::{FakeAdapter, FakeClient, Running};
