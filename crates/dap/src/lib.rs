//! The Debug Adapter Protocol.

pub mod cancel;
pub mod codec;
pub mod envelope;
pub mod lifecycle;
pub mod message;
pub mod transport;
pub mod types;
