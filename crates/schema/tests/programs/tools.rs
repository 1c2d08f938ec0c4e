//! The compilers and checkers of other languages, and the programs they make.
//!
//! A tool is named by a variable, such as `DAPPLE_GO`, and then has to work. Without the variable it is looked for, and a test without its
//! tool says so and ends.

use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The command of a tool; `None`, with a note, if it isn't installed. `version` are the arguments that make it print its version.
pub fn tool(variable: &str, name: &str, version: &[&str]) -> Option<String> {
    let named = std::env::var(variable).ok();
    let command = named.clone().unwrap_or_else(|| name.to_owned());
    let works = Command::new(&command)
        .args(version)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    assert!(
        works || named.is_none(),
        "{variable}: {command} does not work"
    );
    if !works {
        eprintln!("skipped: {name} is not installed");
    }
    works.then_some(command)
}

/// Checks that a program, which reads a message on each line and writes it again, changes none of them.
#[track_caller]
pub fn writes_back(command: &mut Command, messages: &[Value]) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut input = child.stdin.take().expect("it has an input");
    let lines: String = messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(lines.as_bytes()));
        child.wait_with_output().expect("it ends")
    });
    assert!(output.status.success(), "{command:?}: {}", output.status);
    let text = String::from_utf8(output.stdout).expect("it writes text");
    let written: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    for (message, written) in messages.iter().zip(&written) {
        assert_eq!(written, message);
    }
    assert_eq!(written.len(), messages.len(), "a message a line");
}
