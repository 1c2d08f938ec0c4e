//! The Debug Adapter Protocol.

pub mod message;
pub mod types;
