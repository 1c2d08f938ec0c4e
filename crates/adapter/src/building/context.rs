//! The surroundings of a build: where its output and progress go, and whether it is cancelled.

use crate::console::say;
use crate::styling;
use dapple_dap::server::{Outbox, Progress};
use dapple_dap::types::{OutputEvent, OutputEventBody, OutputEventCategory};
use dapple_engine::command;
use dapple_engine::event::{ExitStatus, Stream};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The longest line in bytes; longer ones are split.
const LONGEST_LINE: usize = 16 << 20;

/// Why there is nothing to debug.
#[derive(Debug, PartialEq, Eq)]
pub enum Unbuilt {
    /// The build was cancelled.
    Cancelled,
    /// The build failed, with a message for the user.
    Failed(String),
}

impl From<String> for Unbuilt {
    fn from(sentence: String) -> Self {
        Unbuilt::Failed(sentence)
    }
}

/// The surroundings of a build.
pub struct BuildContext {
    report: Report,
    is_styled: bool,
    wanted: Box<dyn FnMut() -> bool + Send>,
    /// The directory for programs that are compiled from a source file.
    pub programs: Option<PathBuf>,
}

/// Where output and progress go.
enum Report {
    /// To a client.
    Client(Outbox, Progress),
    /// To whoever shows texts.
    Texts(Box<dyn Fn(&str) + Send>),
}

/// What to show for lines of output.
#[derive(Debug, Default)]
pub struct LineOutput {
    /// The text for the user.
    text: String,
    progress: Option<(Option<String>, Option<f64>)>,
}

impl LineOutput {
    /// Adds lines to the text.
    pub fn show(&mut self, lines: &str) {
        self.text.push_str(lines);
        if !lines.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Sets the progress: a message, a percentage, or both.
    pub fn progress(&mut self, message: Option<String>, percentage: Option<f64>) {
        self.progress = Some((message, percentage));
    }
}

/// How a command has ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// It has exited.
    With(ExitStatus),
    /// It was killed at its time limit.
    TooLate,
}

impl BuildContext {
    /// A context that reports to the client. The build is cancelled when `wanted` returns `false`.
    pub fn new(
        outbox: &Outbox,
        title: String,
        programs: Option<PathBuf>,
        wanted: impl FnMut() -> bool + Send + 'static,
    ) -> BuildContext {
        let client = outbox.client();
        let progress = Progress::start_cancellable(outbox, title);
        BuildContext {
            is_styled: client.is_some_and(|client| styling::is_wanted(&client)),
            report: Report::Client(outbox.clone(), progress),
            wanted: Box::new(wanted),
            programs,
        }
    }

    /// A context outside of a session, whose output `show` gets. The build is cancelled when `wanted` returns `false`.
    pub fn without_session(
        is_styled: bool,
        show: impl Fn(&str) + Send + 'static,
        wanted: impl FnMut() -> bool + Send + 'static,
    ) -> BuildContext {
        BuildContext {
            is_styled,
            report: Report::Texts(Box::new(show)),
            wanted: Box::new(wanted),
            programs: None,
        }
    }

    /// Whether the client supports colours.
    pub fn is_styled(&self) -> bool {
        self.is_styled
    }

    /// Sends a message of the debugger.
    pub fn say(&self, sentence: &str) {
        match &self.report {
            Report::Client(outbox, _) => say(outbox, sentence),
            Report::Texts(show) => show(&format!("{sentence}\n")),
        }
    }

    /// Sends output of a command.
    pub fn show(&mut self, lines: &str) {
        let mut output = LineOutput::default();
        output.show(lines);
        output.pass_on(&mut self.report, self.is_styled);
    }

    /// Runs a command to its end. `read` gets each line of its output. The inner error says that the build was
    /// cancelled.
    ///
    /// # Errors
    /// The command can't be run.
    pub fn run(
        &mut self,
        command: Command,
        read: &mut dyn FnMut(Stream, &str, &mut LineOutput),
    ) -> io::Result<Result<ExitStatus, Unbuilt>> {
        Ok(match self.run_for(command, Duration::MAX, read)? {
            Ok(Ended::With(status)) => Ok(status),
            Ok(Ended::TooLate) | Err(Unbuilt::Cancelled) => Err(Unbuilt::Cancelled),
            Err(failed) => Err(failed),
        })
    }

    /// As [`run`](Self::run), but kills the command at a time limit.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_for(
        &mut self,
        command: Command,
        limit: Duration,
        read: &mut dyn FnMut(Stream, &str, &mut LineOutput),
    ) -> io::Result<Result<Ended, Unbuilt>> {
        let began = Instant::now();
        let mut streams = [Lines::default(), Lines::default()];
        let (report, is_styled) = (&mut self.report, self.is_styled);
        let by_client = match report {
            Report::Client(_, progress) => Some(progress.cancelled().clone()),
            Report::Texts(_) => None,
        };
        let wanted = &mut self.wanted;
        let mut cancelled =
            move || by_client.as_ref().is_some_and(|it| it.is_cancelled()) || !wanted();
        let (mut is_cancelled, mut is_late) = (false, false);
        let ended = command::run(
            command,
            &mut |stream, bytes| {
                let mut output = LineOutput::default();
                let lines = match stream {
                    Stream::Stdout => &mut streams[0],
                    Stream::Stderr => &mut streams[1],
                };
                lines.push(bytes, &mut |line| read(stream, line, &mut output));
                output.pass_on(report, is_styled);
            },
            &mut || {
                is_cancelled = cancelled();
                is_late = began.elapsed() > limit;
                !is_cancelled && !is_late
            },
        )?;
        let mut output = LineOutput::default();
        let [out, err] = &mut streams;
        out.finish(&mut |line| read(Stream::Stdout, line, &mut output));
        err.finish(&mut |line| read(Stream::Stderr, line, &mut output));
        output.pass_on(report, is_styled);
        Ok(match ended {
            Some(status) => Ok(Ended::With(status)),
            None if is_cancelled => Err(Unbuilt::Cancelled),
            None => Ok(Ended::TooLate),
        })
    }
}

impl LineOutput {
    fn pass_on(self, report: &mut Report, is_styled: bool) {
        let text = match is_styled {
            true => self.text,
            false => styling::without(&self.text),
        };
        let (outbox, progress) = match report {
            Report::Client(outbox, progress) => (outbox, progress),
            Report::Texts(show) => return show(&text),
        };
        if !text.is_empty() {
            let body = OutputEventBody::new(text).with_category(OutputEventCategory::Console);
            outbox.event::<OutputEvent>(body);
        }
        if let Some((message, percentage)) = self.progress {
            progress.update(message, percentage);
        }
    }
}

/// Splits output into lines. A carriage return also ends a line, because terminals overwrite the line after it.
#[derive(Debug, Default)]
struct Lines {
    pending: Vec<u8>,
    /// Whether the last byte was a carriage return, which a line feed may follow.
    has_returned: bool,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], line: &mut dyn FnMut(&str)) {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            if std::mem::replace(&mut self.has_returned, piece.ends_with(b"\r")) && piece == b"\n" {
                continue;
            }
            self.pending.extend_from_slice(piece);
            if piece.ends_with(b"\n") || piece.ends_with(b"\r") || self.pending.len() > LONGEST_LINE
            {
                self.finish(line);
            }
        }
    }

    fn finish(&mut self, line: &mut dyn FnMut(&str)) {
        let text = String::from_utf8_lossy(&self.pending);
        // Removes the escape sequence that clears a line in a terminal.
        let text = text.replace("\x1b[K", "");
        let text = text.trim_end_matches(['\n', '\r']);
        if !text.is_empty() || self.pending == b"\n" {
            line(text);
        }
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_are_whole_however_they_come() {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for piece in ["on", "e\ntwo\r", "\x1b[Kthree\r\n", "\n", "fo", "ur"] {
            lines.push(piece.as_bytes(), &mut |line| found.push(line.to_owned()));
        }
        lines.finish(&mut |line| found.push(line.to_owned()));
        assert_eq!(found, ["one", "two", "three", "", "four"]);
    }
}
