//! The protocol definition as data.
