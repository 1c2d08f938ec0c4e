//! Properties that must hold for any input, as functions that panic if they don't.
//!
//! The fuzz targets and `robustness` share them. The fuzz targets search without end. `robustness` tries some inputs in each run of the
//! tests, and repeats every input that a fuzzer has found.

#![allow(dead_code, missing_docs)]

pub mod cfi;
pub mod elf_file;
pub mod index;
pub mod lines;
pub mod location;
pub mod module;
