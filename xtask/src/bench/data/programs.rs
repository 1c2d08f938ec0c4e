//! The debuggees.

use std::path::Path;

use crate::bench::run::programs::{Compiler, compile};
use crate::bench::run::session::Debuggee;

/// The programs, compiled.
pub struct Programs {
    pub cpp: Debuggee,
    pub rust: Debuggee,
    pub deep: Debuggee,
}

/// Writes and compiles them into `directory`.
pub fn build(directory: &Path) -> anyhow::Result<Programs> {
    let of = |compiler, name, text| compile(directory, compiler, name, text, "-O0");
    Ok(Programs {
        cpp: of(
            Compiler::Cpp,
            "containers.cpp",
            include_str!("programs/containers.cpp"),
        )?,
        rust: of(
            Compiler::Rust,
            "collections.rs",
            include_str!("programs/collections.rs"),
        )?,
        deep: of(Compiler::C, "deep.c", include_str!("programs/deep.c"))?,
    })
}
