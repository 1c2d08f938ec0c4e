//! `dapple` on a pseudo-terminal, with a user who waits for output before typing.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Time limit of every wait, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `dapple debug`, and all its output.
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// All output so far.
    shown: String,
    /// The length of the output up to the last text that was waited for.
    seen: usize,
}

impl Terminal {
    /// Starts `dapple debug PROGRAM` as a session leader on a new terminal.
    pub fn debug(program: &Path) -> Self {
        let dapple = super::dapple();
        let arguments = ["debug".as_ref(), program.as_os_str()];
        let mut command = Command::new("setsid");
        command
            .arg("--ctty")
            .arg(dapple.get_program())
            .args(arguments);
        for (name, value) in dapple.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(super::root());
        Self::start(command)
    }

    /// Starts any command line in the same way.
    pub fn run(command_line: &[String]) -> Self {
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(command_line);
        Self::start(command)
    }

    /// Starts a command line in the workspace's folder, with the environment of [`super::dapple`].
    pub fn run_in_workspace(command_line: &[&str]) -> Self {
        let dapple = super::dapple();
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(command_line);
        command.envs(
            dapple
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command.current_dir(super::root());
        Self::start(command)
    }

    /// The number after the last text that was waited for.
    #[track_caller]
    pub fn digits(&mut self) -> u32 {
        let start = self.seen;
        self.wait_for("\n");
        let text = self.shown[start..self.seen].trim();
        text.parse().expect("a number")
    }

    /// `setsid` makes the terminal the controlling one, so that Ctrl-C sends a signal, and then executes the command.
    fn start(mut command: Command) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are pseudo-terminals");
        grantpt(&master).expect("the terminal is ours");
        unlockpt(&master).expect("the terminal can be unlocked");
        let size = Winsize {
            ws_row: 40,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).expect("the terminal has a size");
        let name = ptsname(&master, Vec::new()).expect("the terminal has a name");
        let path = name
            .to_str()
            .expect("terminals have plain names")
            .to_owned();
        let side = || {
            File::options()
                .read(true)
                .write(true)
                .open(&path)
                .expect("the terminal can be opened")
        };

        command.env("TERM", "xterm");
        let child = command
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .expect("setsid is installed");

        let keyboard = File::from(master);
        let mut screen = keyboard.try_clone().expect("the terminal can be read");
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails with EIO when no process has the terminal open any more.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keyboard,
            screen: receiver,
            shown: String::new(),
            seen: 0,
        }
    }

    /// Waits until this text appears after the last text that was waited for.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            match self
                .screen
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(bytes) => self
                    .shown
                    .push_str(&without_escapes(&String::from_utf8_lossy(&bytes))),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("`{text}` did not appear in time in:\n{}", self.shown)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("`{text}` did not appear before the end in:\n{}", self.shown)
                }
            }
        }
    }

    /// Waits for the prompt, then types a command.
    #[track_caller]
    pub fn command(&mut self, line: &str) {
        self.wait_for("(dapple) ");
        self.type_keys(&format!("{line}\r"));
    }

    /// Waits until all of these texts are shown, in any order.
    #[track_caller]
    pub fn wait_for_all(&mut self, texts: &[&str]) {
        let from = self.seen;
        let mut last = from;
        for text in texts {
            self.seen = from;
            self.wait_for(text);
            last = last.max(self.seen);
        }
        self.seen = last;
    }

    /// Types keys.
    pub fn type_keys(&mut self, keys: &str) {
        self.keyboard
            .write_all(keys.as_bytes())
            .expect("the terminal takes keys");
    }

    /// Waits for the process's end. Returns its status and all output.
    #[track_caller]
    pub fn end(mut self) -> (ExitStatus, String) {
        let until = Instant::now() + PATIENCE;
        loop {
            match self
                .screen
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(bytes) => self
                    .shown
                    .push_str(&without_escapes(&String::from_utf8_lossy(&bytes))),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("dapple did not end in time:\n{}", self.shown)
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.child.wait().expect("dapple was started here");
        (status, std::mem::take(&mut self.shown))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Ends the process after a failed test. After `end`, it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text without escape sequences. A sequence that is split between two reads stays in part, which no test looks at.
fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' if chars.peek() == Some(&'[') => {
                chars.next();
                for c in chars.by_ref() {
                    if c.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
            '\r' | '\x07' => {}
            c => out.push(c),
        }
    }
    out
}
