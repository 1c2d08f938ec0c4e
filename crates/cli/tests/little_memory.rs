//! With too little memory, the adapter ends, and doesn't keep its client waiting.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// The result with a limited address space.
enum Outcome {
    Answered,
    /// The adapter has written the reason.
    Refused,
    /// The kernel could not load the program, and killed the process that called execve(2).
    NotLoaded,
}

/// Sends `initialize` to an adapter whose address space is limited to this many MiB.
fn ask(mebibytes: u32) -> Outcome {
    let script = format!("ulimit -v {}; exec \"$0\" dap", mebibytes << 10);
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_dapple")]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("a shell");
    let text =
        r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"dapple"}}"#;
    let mut input = child.stdin.take().expect("a pipe");
    // The process may have ended already.
    let _ = write!(input, "Content-Length: {}\r\n\r\n{text}", text.len());
    let mut output = child.stdout.take().expect("a pipe");
    let (sender, first) = mpsc::channel();
    let reading = std::thread::spawn(move || sender.send(output.read(&mut [0; 16])));
    let first = first.recv_timeout(PATIENCE);
    let first = first.unwrap_or_else(|_| panic!("neither answer nor end with {mebibytes} MiB"));
    drop(input);
    let mut said = String::new();
    let mut errors = child.stderr.take().expect("a pipe");
    errors.read_to_string(&mut said).expect("text");
    let status = child.wait().expect("its end");
    reading.join().expect("no panic").expect("somebody waits");
    if first.expect("bytes, or the end") > 0 {
        return Outcome::Answered;
    }
    assert!(!status.success(), "{mebibytes} MiB: {status}, {said}");
    if status.signal() == Some(libc::SIGSEGV) && said.is_empty() {
        return Outcome::NotLoaded;
    }
    assert!(!said.is_empty(), "{mebibytes} MiB: {status}");
    Outcome::Refused
}

#[test]
fn an_adapter_without_memory_says_so_and_ends() {
    let (mut refused, mut answered) = (0, 0);
    for mebibytes in 4..1024 {
        match ask(mebibytes) {
            Outcome::Answered => answered += 1,
            Outcome::Refused => refused += 1,
            Outcome::NotLoaded => {}
        }
        if answered == 8 {
            break;
        }
    }
    assert_eq!(answered, 8);
    assert!(refused > 0);
}
