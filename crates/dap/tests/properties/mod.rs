//! Properties that have to hold for any input, as functions that panic where they do not.
//!
//! The fuzz targets and the property tests share them. The fuzzers search for inputs without end; the property tests try some in each
//! run, and all inputs that a fuzzer has found to fail.

pub mod codec;
pub mod payload;
pub mod session;
