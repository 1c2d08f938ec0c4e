//! Reading and writing without blocking, where the system has that: on Linux.
//!
//! A connection works without it. Its threads then do all the reading and writing, by the streams alone; the messages and their
//! order are the same. What it saves are switches between threads, and it sees that a peer has closed only its reading end.
//!
//! [`Ends`] is what a connection knows of its streams' descriptors. Elsewhere the types of this module have no values.

#[cfg(target_os = "linux")]
mod direct;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use direct::Direct;
#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{Direct, Nudge, Source, Watched};
#[cfg(target_os = "linux")]
pub(super) use linux::{Nudge, Source, Watched};

/// The ways of reading and writing a connection's streams that the streams alone do not offer.
#[derive(Default)]
pub(super) struct Ends {
    /// The input, if it can be read without blocking.
    pub(super) source: Option<Source>,
    /// The output, if it can be written without blocking.
    pub(super) direct: Option<Direct>,
    /// The output, if it can be watched for the peer closing its reading end.
    pub(super) watched: Option<Watched>,
}
