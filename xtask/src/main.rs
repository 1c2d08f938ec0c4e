//! Project chores: `cargo xtask CHORE`.
//!
//! - `bench`: measures starting and stepping next to other debuggers.
//! - `bench data`: measures inspecting a stopped program next to other debuggers.
//! - `bench protocol`: measures reading and writing the protocol's messages next to other crates.
//! - `bench run`: measures running, stopping and stepping, next to other debuggers and to the system's limits.
//! - `bench remote`: measures programs behind a stub, next to gdb on the same stub.
//! - `bench screen`: measures how long a key takes to the full screen beside much output.
//! - `bench symbols`: measures the first stop in programs with much debug information, next to other debuggers.
//! - `bench trace`: measures what `dapple trace` adds to a round trip.
//! - `bench travel`: measures recording and running backwards, next to gdb and rr, and the memory of a recorded session.
//! - `codegen [--check]`: writes the protocol's types from the definition, and the schema and page of the launch arguments from their table,
//!   or says whether they are up to date.
//! - `dist`: builds the release: a static binary, in an archive with manual pages and completions.
//! - `e2e [EDITOR]`: debugs a program in a real editor, which is installed for that; without a name, lists the editors.
//! - `package`: packs the crates as they would be published, and builds a program against the packages of the protocol's.
//! - `schema diff A [B]`: compares the structure of two definitions of the protocol.
//! - `tidy`: checks the invariants of ARCHITECTURE.md.

mod bench;
mod codegen;
mod dist;
mod e2e;
mod package;
mod schema;
mod terminals;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE
  bench               measure starting and stepping, next to lldb-dap and gdb where they are installed
  bench data [WORD]   measure locals, pages of containers, trees, deep stacks and evaluations, next to lldb-dap and gdb;
                      only what has one of the words in its name
  bench protocol      measure decoding and encoding next to other crates
  bench run [WORD]    measure conditions, steps, pauses and output, next to lldb-dap, gdb and the system's limits;
                      only what has one of the words in its name
  bench remote        measure programs behind gdbserver and QEMU, next to gdb, with the packets counted
  bench screen        measure how long a key takes to the screen of `dapple tui` while the program writes a million lines
  bench symbols       measure the first stop in large programs; builds them first, which takes half an hour once
  bench trace         measure what `dapple trace` adds to a round trip
  bench travel [WORD] measure recording, steps and searches backwards, and their memory, next to gdb and rr; only what has one
                      of the words in its name
  codegen [--check]   write crates/dap/src/types.rs from crates/schema/protocol.json, and from the adapter's table of launch
                      arguments its schema, its page and VS Code's manifest (or check that all are up to date)
  dist                make what people install in target/dist: a static binary, in an archive with manual pages and completions
  e2e terminals [NAME] type the same script at the terminal's prompt with each adapter, or those whose names begin so
  e2e [EDITOR]        debug a program in a real editor and check what it shows (DAPPLE=PROGRAM: with that adapter);
                      without a name, list the editors
  package             pack the crates as they would be published, check the packages, and build a program against those of
                      the protocol's
  schema diff A [B]   list the structural differences of two definitions (B: crates/schema/protocol.json)
  tidy                check the invariants of ARCHITECTURE.md that a program can check";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["bench", ..] if cfg!(debug_assertions) => bench::in_release(&root(), &words),
        ["bench"] => bench::run(&root()),
        ["bench", "protocol"] => bench::protocol(&root()),
        ["bench", "data", words @ ..] => bench::data(&root(), words),
        ["bench", "run", words @ ..] => bench::running(&root(), words),
        ["bench", "remote"] => bench::remote(&root()),
        ["bench", "screen"] => bench::screen(&root()),
        ["bench", "symbols"] => bench::symbols(&root()),
        ["bench", "trace"] => bench::trace(&root()),
        ["bench", "travel", words @ ..] => bench::travel(&root(), words),
        ["dist"] => dist::run(&root()),
        ["codegen"] => codegen::write(&root()),
        ["codegen", "--check"] => codegen::check(&root()),
        ["e2e"] => e2e::list(),
        ["e2e", editor, words @ ..] => e2e::run(&root(), editor, words),
        ["package"] => package::run(&root()),
        ["schema", "diff", first] => schema::compare(&root(), first, None),
        ["schema", "diff", first, second] => schema::compare(&root(), first, Some(second)),
        ["tidy"] => tidy::run(&root()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root directory.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(|| ".".into(), Path::to_path_buf)
}
