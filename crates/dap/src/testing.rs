//! Tests of debug adapters and of their clients.
//!
//! | to test | against | use |
//! | --- | --- | --- |
//! | an adapter | a user's actions | [`TestClient`], whose methods panic with what they found instead |
//! | an adapter | one exact sequence of messages | [`FakeClient`], a script |
//! | a client | one exact sequence of messages | [`FakeAdapter`], a script |
//! | either | a recorded session | [`Recorder`] or [`Log`], [`Recording`] and [`Replay`] |
//!
//! [`Names`] finds the references of one session again in another.
//!
//! All of them use a [`Connection`](crate::Connection): [`Connection::memory`](crate::Connection::memory) within this process, or
//! pipes and sockets to another program. This module is for tests and tools: it panics, waits for seconds and keeps whole sessions
//! in memory. A session for users must do none of these.

mod client;
mod log;
mod names;
mod peer;
mod record;
mod replay;
mod script;
mod verbs;

pub use client::{TestClient, launch_arguments};
pub use log::Log;
pub use names::Names;
pub use record::{Entry, Recorded, Recorder, Recording, RecordingError};
pub use replay::{Difference, Replay};
pub use script::{FakeAdapter, FakeClient, Running};
pub use verbs::{Place, Resume, attach_arguments};
