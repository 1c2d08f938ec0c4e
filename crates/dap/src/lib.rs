//! The Debug Adapter Protocol.
