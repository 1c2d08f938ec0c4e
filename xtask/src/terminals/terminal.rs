//! A session of `dapple debug` on a pseudo-terminal, with a user who looks at the screen before typing on.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::screen::Screen;

/// The prompt.
const PROMPT: &str = "(dapple)";
/// How long a wait may take. Some adapters load much, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(40);
/// When nothing was shown for so long, the user takes the output as complete.
const QUIET: Duration = Duration::from_millis(400);
/// Longer lines wrap.
const WIDTH: u16 = 200;

/// What a command has shown.
#[derive(Debug)]
pub struct Shown {
    /// The lines below the typed one.
    pub lines: Vec<String>,
    /// How many of them came when the prompt was there already.
    pub late: usize,
    /// Whether the prompt has come.
    pub in_time: bool,
}

/// The session.
pub struct Terminal {
    child: Child,
    keyboard: File,
    output: Receiver<Vec<u8>>,
    screen: Screen,
    /// The row of the line that was typed last.
    typed: usize,
}

/// Starts a command on a new terminal of this size, which it makes its own (`setsid --ctty`). Returns it, the terminal's keyboard, and what is written
/// to the terminal.
pub fn on_terminal(
    mut command: Command,
    columns: u16,
    rows: u16,
) -> anyhow::Result<(Child, File, Receiver<Vec<u8>>)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size)?;
    let name = ptsname(&master, Vec::new())?;
    let path = name.to_str()?.to_owned();
    let side = || File::options().read(true).write(true).open(&path);
    let child = command
        .stdin(side()?)
        .stdout(side()?)
        .stderr(side()?)
        .spawn()
        .context("cannot run setsid")?;
    let keyboard = File::from(master);
    let mut master = keyboard.try_clone()?;
    let (sender, output) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 65536];
        // Reading fails with EIO when no process has the terminal open any more.
        while let Ok(count @ 1..) = master.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    Ok((child, keyboard, output))
}

impl Terminal {
    /// Starts a command as the leader of a session on a new terminal.
    pub fn start(mut command: Command) -> anyhow::Result<Terminal> {
        command.env("TERM", "xterm");
        let (child, keyboard, output) = on_terminal(command, WIDTH, 50)?;
        Ok(Terminal {
            child,
            keyboard,
            output,
            screen: Screen::new(usize::from(WIDTH)),
            typed: 0,
        })
    }

    /// Types a line at the prompt.
    pub fn enter(&mut self, line: &str) -> anyhow::Result<()> {
        self.typed = self.screen.row();
        self.keys(&format!("{line}\r"))
    }

    /// Types keys.
    pub fn keys(&mut self, keys: &str) -> anyhow::Result<()> {
        self.keyboard.write_all(keys.as_bytes())?;
        Ok(())
    }

    /// Waits for an empty prompt below the typed line, and until nothing more comes.
    pub fn until_prompt(&mut self) -> Shown {
        let is_prompt = |terminal: &Terminal| {
            terminal.row() > terminal.typed && terminal.screen.line() == PROMPT
        };
        let in_time = self.wait(PATIENCE, is_prompt);
        let first = self.row();
        loop {
            self.until_quiet();
            if !in_time || is_prompt(self) {
                break;
            }
            if !self.wait(PATIENCE, is_prompt) {
                break;
            }
        }
        Shown {
            lines: self.screen.lines(self.typed + 1, self.row()),
            late: self.row().saturating_sub(first),
            in_time,
        }
    }

    /// Waits until a text is shown below the typed line, and nothing more comes.
    pub fn until_text(&mut self, text: &str) -> Shown {
        let has = |terminal: &Terminal| {
            let lines = terminal.screen.lines(terminal.typed + 1, usize::MAX);
            lines.iter().any(|line| line.contains(text))
        };
        let in_time = self.wait(PATIENCE, has);
        self.until_quiet();
        Shown {
            lines: self.screen.lines(self.typed + 1, usize::MAX),
            late: 0,
            in_time,
        }
    }

    /// Waits until the line that is typed has this text.
    pub fn until_typed(&mut self, text: &str) -> Shown {
        let in_time = self.wait(PATIENCE / 4, |terminal| {
            terminal.screen.line().contains(text)
        });
        Shown {
            lines: vec![self.screen.line()],
            late: 0,
            in_time,
        }
    }

    /// Waits for the end of the session.
    pub fn end(&mut self) -> anyhow::Result<(ExitStatus, Shown)> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self
                .output
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(bytes) => self.screen.write(&bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => bail!("the session has not ended"),
            }
        }
        let status = self.child.wait()?;
        let shown = Shown {
            lines: self.screen.lines(self.typed + 1, usize::MAX),
            late: 0,
            in_time: true,
        };
        Ok((status, shown))
    }

    fn row(&self) -> usize {
        self.screen.row()
    }

    /// Shows output until `is_seen`, at most for so long. Returns whether it was seen.
    fn wait(&mut self, patience: Duration, is_seen: impl Fn(&Terminal) -> bool) -> bool {
        let until = Instant::now() + patience;
        loop {
            if is_seen(self) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.output.recv_timeout(left) else {
                return false;
            };
            self.screen.write(&bytes);
        }
    }

    fn until_quiet(&mut self) {
        while let Ok(bytes) = self.output.recv_timeout(QUIET) {
            self.screen.write(&bytes);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Ends the session after a failure. After `end`, it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
