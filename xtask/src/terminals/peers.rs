//! The adapters that the script is run against, and the program for each.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The folder of the program's sources.
pub const SOURCES: &str = "editors/e2e/market";

/// An adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapter {
    /// Dapple's, on a thread of `dapple debug`.
    Own,
    /// Dapple's, as another program.
    OwnCommand,
    /// LLVM's `lldb-dap`.
    Lldb,
    /// `gdb -i=dap`.
    Gdb,
    /// CodeLLDB.
    Codelldb,
    /// debugpy.
    Debugpy,
    /// delve.
    Delve,
    /// vscode-js-debug.
    Js,
}

impl Adapter {
    /// All others than Dapple's.
    pub const OTHERS: [Adapter; 6] = [
        Adapter::Lldb,
        Adapter::Gdb,
        Adapter::Codelldb,
        Adapter::Debugpy,
        Adapter::Delve,
        Adapter::Js,
    ];

    /// Its name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Adapter::Own => "dapple",
            Adapter::OwnCommand => "dapple dap",
            Adapter::Lldb => "lldb-dap",
            Adapter::Gdb => "gdb",
            Adapter::Codelldb => "CodeLLDB",
            Adapter::Debugpy => "debugpy",
            Adapter::Delve => "delve",
            Adapter::Js => "js-debug",
        }
    }

    /// The version that the differences were seen with.
    pub fn version(self) -> &'static str {
        match self {
            Adapter::Own | Adapter::OwnCommand => "",
            Adapter::Lldb => "22.1 (Debian's `lldb-22`)",
            Adapter::Gdb => "18.1 (PyPI's `gdb-for-pwndbg`); any from 14 on",
            Adapter::Codelldb => "1.11.8",
            Adapter::Debugpy => "1.8.22 (PyPI)",
            Adapter::Delve => "1.20 (Debian)",
            Adapter::Js => "1.105",
        }
    }

    /// The value of `--adapter`; empty for Dapple's own.
    pub fn option(self) -> &'static str {
        match self {
            Adapter::Own => "",
            Adapter::OwnCommand => "dapple dap",
            Adapter::Lldb => "lldb",
            Adapter::Gdb => "gdb",
            Adapter::Codelldb => "codelldb",
            Adapter::Debugpy => "debugpy",
            Adapter::Delve => "delve",
            Adapter::Js => "js",
        }
    }
}

/// A language of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Cpp,
    Rust,
    Python,
    Go,
    JavaScript,
}

impl Language {
    /// The ending of the source file's name.
    pub fn ending(self) -> &'static str {
        match self {
            Language::Cpp => "cpp",
            Language::Rust => "rs",
            Language::Python => "py",
            Language::Go => "go",
            Language::JavaScript => "js",
        }
    }

    /// Its name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Language::Cpp => "C++",
            Language::Rust => "Rust",
            Language::Python => "Python",
            Language::Go => "Go",
            Language::JavaScript => "JavaScript",
        }
    }
}

/// An adapter with the program in a language.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    pub adapter: Adapter,
    pub language: Language,
}

/// All of them.
pub const PEERS: &[Peer] = &[
    Peer::of(Adapter::Own, Language::Cpp),
    Peer::of(Adapter::Own, Language::Rust),
    Peer::of(Adapter::OwnCommand, Language::Cpp),
    Peer::of(Adapter::Lldb, Language::Cpp),
    Peer::of(Adapter::Lldb, Language::Rust),
    Peer::of(Adapter::Gdb, Language::Cpp),
    Peer::of(Adapter::Gdb, Language::Rust),
    Peer::of(Adapter::Codelldb, Language::Cpp),
    Peer::of(Adapter::Codelldb, Language::Rust),
    Peer::of(Adapter::Debugpy, Language::Python),
    Peer::of(Adapter::Delve, Language::Go),
    Peer::of(Adapter::Js, Language::JavaScript),
];

impl Peer {
    const fn of(adapter: Adapter, language: Language) -> Peer {
        Peer { adapter, language }
    }

    /// Its name in reports, such as `gdb-rs`.
    pub fn name(&self) -> String {
        format!(
            "{}-{}",
            self.adapter.name().replace(' ', "-"),
            self.language.ending()
        )
    }

    /// Compiles the program, where it has to be. Returns what is debugged.
    pub fn build(&self, work: &Path) -> anyhow::Result<PathBuf> {
        let ending = self.language.ending();
        let source = work.join(format!("market.{ending}"));
        let program = work.join(format!("market-{ending}"));
        let words: &[&str] = match self.language {
            Language::Cpp => &["g++", "-g", "-O0", "-o"],
            Language::Rust => &["rustc", "-g", "--edition", "2024", "-o"],
            Language::Go => &["go", "build", "-gcflags=all=-N -l", "-o"],
            Language::Python | Language::JavaScript => return Ok(source),
        };
        if !program.exists() {
            let status = Command::new(words[0])
                .args(&words[1..])
                .args([&program, &source])
                .current_dir(work)
                .status()
                .with_context(|| format!("cannot run {}", words[0]))?;
            if !status.success() {
                bail!("{} does not compile the program", words[0]);
            }
        }
        Ok(program)
    }
}
