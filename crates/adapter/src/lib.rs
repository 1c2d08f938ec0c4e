//! Translation between engine and protocol.
