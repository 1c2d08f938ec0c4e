//! What has to hold for any input, as functions that panic where it does not.
//!
//! The fuzz targets and `robustness` share them: the former look for inputs without end, the latter tries some in each run of
//! the tests, and every input that a fuzzer found stays there as a test of its own.

#![allow(dead_code, missing_docs)]

pub mod cfi;
pub mod elf_file;
pub mod index;
pub mod lines;
pub mod location;
pub mod module;
