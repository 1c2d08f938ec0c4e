//! Files of a test, and programs that are run on them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// An empty folder for the files of a test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

/// Writes a file of a test.
pub fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("the target directory can be written");
}

/// Runs a command to its end. Returns whether it succeeded, and all that it printed.
pub fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("the tool can be started");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (output.status.success(), text.concat())
}

/// Runs a command that has to succeed. Returns what it printed.
#[track_caller]
pub fn succeeds(command: &mut Command) -> String {
    let (succeeded, text) = run(command);
    assert!(succeeded, "{command:?} failed:\n{text}");
    text
}
