//! Commands that are run for the user: their output, their exit status, and that none of their processes is left.

use dapple_engine::command;
use dapple_engine::event::{ExitStatus, Stream};
use std::process::Command;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn what_a_command_writes_is_told_as_it_comes_and_its_end_once() {
    let (mut out, mut err) = (String::new(), String::new());
    let status = command::run(
        shell("cat; echo one; echo two >&2; exit 3"),
        &mut |stream, bytes| match stream {
            Stream::Stdout => out.push_str(&String::from_utf8_lossy(bytes)),
            Stream::Stderr => err.push_str(&String::from_utf8_lossy(bytes)),
        },
        &mut || true,
    );
    assert_eq!(status.expect("it runs"), Some(ExitStatus::Code(3)));
    assert_eq!((out.as_str(), err.as_str()), ("one\n", "two\n"));
}

#[test]
fn what_goes_on_behind_a_command_is_not_waited_for() {
    let mut out = String::new();
    let status = command::run(
        shell("sleep 1000 & echo $!"),
        &mut |_, bytes| out.push_str(&String::from_utf8_lossy(bytes)),
        &mut || true,
    );
    assert_eq!(status.expect("it runs"), Some(ExitStatus::Code(0)));
    assert!(is_alive(&out), "{out}");
    let killed = Command::new("kill").arg(out.trim()).status();
    assert!(killed.expect("kill runs").success());
}

#[test]
fn a_command_that_is_given_up_is_gone_with_all_its_processes() {
    // One of the processes ignores SIGTERM.
    let script = "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1000; done' & echo $$; wait";
    let mut out = String::new();
    let told = std::cell::RefCell::new(&mut out);
    let status = command::run(
        shell(script),
        &mut |_, bytes| told.borrow_mut().push_str(&String::from_utf8_lossy(bytes)),
        &mut || told.borrow().lines().count() < 2,
    );
    assert_eq!(status.expect("it runs"), None);
    for id in out.lines() {
        assert!(!is_alive(id), "{id}");
    }
}

#[test]
fn a_command_that_is_not_there_is_an_error() {
    let command = Command::new("/nowhere/at/all");
    let error = command::run(command, &mut |_, _| {}, &mut || true).expect_err("it isn't there");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// Whether the process exists and isn't a zombie.
fn is_alive(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    stat.is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| !rest.starts_with(" Z"))
    })
}
