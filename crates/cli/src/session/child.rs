//! The debugger of a hosted session: `dapple debug --json` in a process of its own, so that whatever happens to it, the host can still answer.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

/// The longest record that is read: none is that long.
const LONGEST_RECORD: u64 = 64 << 20;
/// How many records are read ahead.
const RECORDS: usize = 256;
/// The most bytes of what it says on stderr that are kept.
const LONGEST_COMPLAINT: u64 = 16 << 10;

/// A debugger that runs.
pub struct Debugger {
    /// The process. `None`: it has started this one.
    child: Option<Child>,
    /// Lines for its stdin. Sending never waits for it to read.
    commands: Sender<String>,
    /// Its records, a line each. The channel closes at its end.
    pub records: Receiver<String>,
}

impl Debugger {
    /// Starts `dapple debug --json` with more arguments, in a folder or in this process's.
    ///
    /// # Errors
    /// It can't be started.
    pub fn start(arguments: &[OsString], folder: Option<&Path>) -> anyhow::Result<Debugger> {
        let own = std::env::current_exe().context("this program's own file can't be found")?;
        let mut command = Command::new(own);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let mut child = command
            .args(["debug", "--json", "--json-text"])
            .args(arguments)
            // Signals of a terminal are for who has started it, who ends it in order.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("the debugger can't be started")?;
        let (commands, lines) = unbounded::<String>();
        // Where nobody takes them, the debugger waits: a program may write more than there is room for.
        let (sender, records) = bounded(RECORDS);
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write_lines(stdin, &lines));
        }
        if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
            thread::spawn(move || read_records(stdout, stderr, &sender));
        }
        Ok(Debugger {
            child: Some(child),
            commands,
            records,
        })
    }

    /// The debugger that has started this process to show its session. Its end of a socket is this process's stdin.
    ///
    /// # Errors
    /// Stdin is no socket.
    pub fn of_parent() -> anyhow::Result<Debugger> {
        let stdin = std::io::stdin().as_fd().try_clone_to_owned()?;
        let stream = UnixStream::from(stdin);
        let from = stream.try_clone()?;
        from.local_addr().context("stdin is no socket")?;
        let (commands, lines) = unbounded::<String>();
        let (sender, records) = bounded(RECORDS);
        thread::spawn(move || write_lines(stream, &lines));
        thread::spawn(move || read_lines(from, &sender));
        Ok(Debugger {
            child: None,
            commands,
            records,
        })
    }

    /// Gives it a command.
    pub fn command(&self, line: &str) {
        // If it is gone, its records have ended.
        let _ = self.commands.send(line.to_owned());
    }

    /// Ends its wait for an answer of its adapter, as Ctrl-C does.
    pub fn interrupt(&self) {
        let id = match &self.child {
            Some(child) => i32::try_from(child.id())
                .ok()
                .and_then(rustix::process::Pid::from_raw),
            None => rustix::process::getppid(),
        };
        if let Some(id) = id {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
        }
    }

    /// Ends it at once. A program that it has launched ends, one that it has attached to goes on.
    pub fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
        }
    }

    /// Asks it to end, with the program interrupted if that runs, and ends it if it doesn't within a time. One that has started this process goes
    /// on.
    pub fn end(mut self, is_running: bool, patience: Duration) {
        if self.child.is_none() {
            return;
        }
        if is_running {
            self.command("interrupt");
        }
        self.command("quit");
        let deadline = Instant::now() + patience;
        while self.records.recv_deadline(deadline).is_ok() {}
        self.kill();
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}

fn write_lines(mut stdin: impl Write, lines: &Receiver<String>) {
    for line in lines {
        if stdin.write_all(format!("{line}\n").as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads records to the end. What is said on stderr, such as wrong options, becomes a record at the end.
fn read_records(stdout: ChildStdout, stderr: ChildStderr, records: &Sender<String>) {
    let complaint = thread::spawn(move || {
        let mut text = String::new();
        let mut stderr = BufReader::new(stderr);
        let _ = stderr
            .by_ref()
            .take(LONGEST_COMPLAINT)
            .read_to_string(&mut text);
        // It must not wait for somebody to read.
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        text
    });
    read_lines(stdout, records);
    let complaint = complaint.join().unwrap_or_default();
    if !complaint.trim().is_empty() {
        let text = complaint.trim();
        let items = [serde_json::json!({"kind": "text", "text": text})];
        let notice = serde_json::json!({"record": "notice", "items": items, "text": text});
        let _ = records.send(notice.to_string());
    }
}

/// Reads records to the end, or until nobody takes them.
fn read_lines(from: impl Read, records: &Sender<String>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = String::new();
        match from.by_ref().take(LONGEST_RECORD).read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if records.send(line.trim_end().to_owned()).is_err() {
                    return;
                }
            }
        }
    }
}
