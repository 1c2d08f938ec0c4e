//! `dapple tui` on a pseudo-terminal, whose screen is what a terminal would show.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

/// Time limit of every wait, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `dapple tui`, and the screen.
pub struct FullScreen {
    child: Child,
    keyboard: File,
    bytes: Receiver<Vec<u8>>,
    parser: vt100::Parser,
}

fn number(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a size")
}

impl FullScreen {
    /// Starts `dapple tui …` on a terminal with so many columns and rows.
    pub fn start((columns, rows): (u16, u16), arguments: &[&str]) -> FullScreen {
        FullScreen::with_environment((columns, rows), arguments, &[("NO_COLOR", "1")])
    }

    /// The same with variables of the environment.
    pub fn with_environment(
        size: (u16, u16),
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> FullScreen {
        FullScreen::of_command(size, "tui", arguments, environment)
    }

    /// Starts `dapple debug …`, at whose prompt `tui` may be typed.
    pub fn at_prompt(size: (u16, u16), arguments: &[&str]) -> FullScreen {
        FullScreen::of_command(size, "debug", arguments, &[])
    }

    fn of_command(
        (columns, rows): (u16, u16),
        subcommand: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> FullScreen {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are pseudo-terminals");
        grantpt(&master).expect("the terminal is ours");
        unlockpt(&master).expect("the terminal can be unlocked");
        tcsetwinsize(&master, size(columns, rows)).expect("the terminal has a size");
        let name = ptsname(&master, Vec::new()).expect("the terminal has a name");
        let path = name.to_str().expect("a plain name").to_owned();
        let side = || {
            let mut options = File::options();
            options
                .read(true)
                .write(true)
                .open(&path)
                .expect("the terminal")
        };
        let dapple = super::dapple();
        let mut command = Command::new("setsid");
        command
            .arg("--ctty")
            .arg(dapple.get_program())
            .arg(subcommand)
            .args(arguments);
        for (name, value) in dapple.get_envs() {
            match value {
                Some(value) if name != "NO_COLOR" => command.env(name, value),
                _ => command.env_remove(name),
            };
        }
        command.envs(environment.iter().copied());
        command
            .current_dir(super::root())
            .env("TERM", "xterm-256color");
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn();
        let keyboard = File::from(master);
        let mut screen = keyboard.try_clone().expect("the terminal can be read");
        let (sender, bytes) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 65536];
            // Reading fails with EIO when no process has the terminal open any more.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        FullScreen {
            child: child.expect("setsid is installed"),
            keyboard,
            bytes,
            parser: vt100::Parser::new(number(rows), number(columns), 0),
        }
    }

    /// Types keys.
    pub fn type_keys(&mut self, keys: &str) {
        self.keyboard
            .write_all(keys.as_bytes())
            .expect("the terminal takes keys");
    }

    /// From the prompt, which has the keys at the start, to the source.
    #[track_caller]
    pub fn go_to_source(&mut self) {
        self.type_keys("\x1b");
        self.wait_for(&["━[Source]"]);
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(&self.keyboard, size(columns, rows)).expect("the terminal has a size");
        self.parser.set_size(number(rows), number(columns));
    }

    /// The screen, a line a row.
    pub fn text(&self) -> String {
        let (_, columns) = self.parser.screen().size();
        let rows = self.parser.screen().rows(0, columns.get());
        let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n") + "\n"
    }

    /// The screen as a terminal has it.
    pub fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// Waits until the screen is as it is to be.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, mut is_so: impl FnMut(&FullScreen) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so(self) {
            let left = until.saturating_duration_since(Instant::now());
            // Not all that is waited for is drawn.
            match self
                .bytes
                .recv_timeout(left.min(Duration::from_millis(100)))
            {
                Ok(bytes) => self.parser.process(&bytes),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(RecvTimeoutError::Timeout) => panic!("not in time: {what}:\n{}", self.text()),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("not before the end: {what}:\n{}", self.text())
                }
            }
        }
    }

    /// Waits until all of these texts are on the screen.
    #[track_caller]
    pub fn wait_for(&mut self, texts: &[&str]) {
        self.wait_until(&texts.join(", "), |this| {
            let text = this.text();
            texts.iter().all(|one| text.contains(one))
        });
    }

    /// Types keys again and again, until a text is on the screen.
    #[track_caller]
    pub fn type_until(&mut self, keys: &str, text: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.text().contains(text) {
            assert!(
                Instant::now() < until,
                "no {text} in time:\n{}",
                self.text()
            );
            self.type_keys(keys);
            // Each key is answered by a screen.
            let mut is_answered = false;
            self.wait_until("an answer", |_| std::mem::replace(&mut is_answered, true));
        }
    }

    /// Waits until a text is no more on the screen.
    #[track_caller]
    pub fn wait_without(&mut self, text: &str) {
        self.wait_until(&format!("without {text}"), |this| {
            !this.text().contains(text)
        });
    }

    /// Waits until nothing has been drawn for a while, for a screen that is to be stored.
    pub fn settle(&mut self) {
        while let Ok(bytes) = self.bytes.recv_timeout(Duration::from_secs(2)) {
            self.parser.process(&bytes);
        }
    }

    /// Whether a signal has stopped the process.
    pub fn is_stopped(&self) -> bool {
        super::running::status(self.child.id().cast_signed(), "State").starts_with('T')
    }

    /// Sends a signal to it.
    pub fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).expect("a process id");
        kill_process(Pid::from_raw(id).expect("a process id"), signal).expect("it is there");
    }

    /// Kills a child of its process that has this word among its arguments.
    #[track_caller]
    pub fn kill_child(&self, word: &str) {
        let parent = self.child.id().to_string();
        let children = format!("/proc/{parent}/task/{parent}/children");
        let children = std::fs::read_to_string(children).expect("the process is there");
        let child = children.split_whitespace().find(|child| {
            let words = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            words
                .split(|byte| *byte == 0)
                .any(|it| it == word.as_bytes())
        });
        let child = child.expect("there is such a child").parse();
        let child = Pid::from_raw(child.expect("a process id")).expect("a process id");
        kill_process(child, Signal::KILL).expect("it is there");
    }

    /// Whether the terminal passes on lines and signals, as for a shell.
    pub fn is_for_lines(&self) -> bool {
        let attributes = tcgetattr(&self.keyboard).expect("the terminal has attributes");
        let modes = attributes.local_modes;
        modes.contains(rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ISIG)
    }

    /// Waits for the end. Returns the status, and what is on the screen then.
    #[track_caller]
    pub fn end(mut self) -> (ExitStatus, String) {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.bytes.recv_timeout(left) {
                Ok(bytes) => self.parser.process(&bytes),
                Err(RecvTimeoutError::Timeout) => panic!("it has not ended:\n{}", self.text()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.child.wait().expect("it was started here");
        (status, self.text())
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        // After a failed test. After `end`, it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// A screen without what differs from run to run: the digits of addresses, and the numbers of threads.
pub fn normalised(text: &str) -> String {
    let mut out = String::new();
    let thread = text.lines().find_map(thread_in).unwrap_or_default();
    for line in text.lines() {
        let line = with_masked_addresses(&without_row_of_thread(line, thread));
        out += without_thread(&line).trim_end();
        out.push('\n');
    }
    out
}

/// The number behind `thread `.
fn thread_in(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("thread ")?;
    let end = after.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then_some(&after[..end])
}

/// The number of a thread in its row is `N`. What is at the right of its pane stays there.
fn without_row_of_thread(line: &str, thread: &str) -> String {
    let row = format!("→{thread} ");
    let Some((before, after)) = line.split_once(&row).filter(|_| !thread.is_empty()) else {
        return line.to_owned();
    };
    let (name, rest) = after.split_once("  ").unwrap_or((after, ""));
    let moved = " ".repeat(thread.len() - 1);
    format!("{before}→N {name}{moved}  {rest}")
}

/// The digits of addresses become `x`, so that no column moves.
fn with_masked_addresses(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("0x") {
        let (before, after) = rest.split_at(at + 2);
        out += before;
        let end = after
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(after.len());
        out += &"x".repeat(end);
        rest = &after[end..];
    }
    out + rest
}

/// `thread 4711` is `thread N`. Nothing is in a line behind it that would move.
fn without_thread(line: &str) -> String {
    let Some((before, after)) = line.split_once("thread ") else {
        return line.to_owned();
    };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = after.len() - rest.len();
    if digits == 0 {
        return line.to_owned();
    }
    // What is at the right of it stays there.
    let (rest, right) = rest.split_once("  ").unwrap_or((rest, ""));
    let moved = " ".repeat(digits - 1);
    format!("{before}thread N{rest}{moved}  {right}")
}

/// A left click, in the encoding of xterm's mode 1006. Columns and rows from 1.
pub fn click(column: usize, row: usize) -> String {
    format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m")
}

/// The row and the column, from 1, at which a text begins.
pub fn place_of(screen: &FullScreen, text: &str) -> (usize, usize) {
    let shown = screen.text();
    let found = shown.lines().zip(1..).find_map(|(line, row)| {
        let at = line.find(text)?;
        Some((row, line[..at].chars().count() + 1))
    });
    found.unwrap_or_else(|| panic!("no {text} in:\n{shown}"))
}
