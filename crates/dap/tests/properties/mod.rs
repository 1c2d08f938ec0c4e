//! What has to hold for any input, as functions that panic where it does not.
//!
//! The fuzz targets and the property tests share them: the former look for inputs without end, the latter try some in each run of
//! the tests, and every input that a fuzzer found stays there as a test of its own.

pub mod codec;
pub mod payload;
pub mod session;
