#![doc = include_str!("../README.md")]
//!
//! The front paragraph of each module says what it is responsible for.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod bytecode;
pub mod client;
pub mod connection;
pub mod description;
pub mod documents;
pub mod error;
pub mod features;
mod hex;
pub mod packet;
pub mod resume;
pub mod signal;
pub mod stop_reply;
pub mod thread_id;
mod xml;

pub use client::Client;
pub use connection::{Address, Connection, Handle};
pub use error::{Error, Result};
