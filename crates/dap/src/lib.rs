//! The Debug Adapter Protocol.

pub mod cancel;
pub mod codec;
pub mod envelope;
pub mod lifecycle;
pub mod message;
pub mod server;
pub mod transport;
pub mod types;

pub use cancel::CancelToken;
pub use message::{Event, Request};
pub use server::{Context, Failure, Flow, Outbox, Responder, Server, Session};
pub use transport::{Connection, Incoming};
