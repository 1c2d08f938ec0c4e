//! Checks that the session in the README is what its command prints.

use crate::support::{Run, dapple, normalised, root, words};

/// The text of the first block fenced as `language`.
fn block<'t>(text: &'t str, language: &str) -> &'t str {
    let (_, rest) = text
        .split_once(&format!("```{language}\n"))
        .unwrap_or_else(|| panic!("the README has a block of {language}"));
    rest.split_once("```").expect("the block is closed").0
}

/// The session without lines that depend on the standard library's version: its frames and its iterators.
fn of_any_compiler(session: &str) -> Vec<&str> {
    let kept = |line: &&str| !line.starts_with("  … and ") && !line.starts_with("iter = ");
    session.lines().filter(kept).collect()
}

#[test]
fn the_readmes_session_is_as_it_shows() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("it is there");
    let command = block(&readme, "sh").replace("\\\n", " ");
    let ours = command
        .trim()
        .strip_prefix("cargo run --release -- ")
        .expect("it is the command that a newcomer has");
    let run = Run::of(dapple().args(words(ours)));
    let shown = normalised(block(&readme, "text"));
    assert_eq!(of_any_compiler(&shown), of_any_compiler(&run.stdout));
    assert_eq!((run.code, run.stderr.as_str()), (Some(3), ""));
}
