//! The lines that were written: by the program, and in answer to commands. So many are kept.

use std::collections::VecDeque;

use crate::debug::results::Stream;

/// How many lines are kept.
pub const LINES: usize = 10_000;
/// The most bytes of a line that are kept.
const LONGEST: usize = 4096;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A command that the user has given.
    Command,
    /// What a command shows.
    Answer,
    /// Why the program has stopped or ended.
    Stop,
    /// Why something has failed.
    Error,
    /// Standard output of the program.
    Stdout,
    /// Standard error of the program.
    Stderr,
    /// What was typed for the program.
    Typed,
}

impl Kind {
    /// Whether it belongs to what the program reads and writes.
    pub fn is_of_program(self) -> bool {
        matches!(self, Kind::Stdout | Kind::Stderr | Kind::Typed)
    }
}

/// A line, as it came.
#[derive(Debug, Clone)]
pub struct Line {
    /// What it is.
    pub kind: Kind,
    /// Its text, which may have anything in it.
    pub text: String,
}

/// The lines.
#[derive(Debug, Default)]
pub struct Log {
    lines: VecDeque<Line>,
    /// Whether the last line of the program's has no end yet.
    is_open: bool,
    /// Whether a `\r` was the last that came: what follows replaces the line, if it is no line's end.
    returns: bool,
    /// How many lines there have been.
    pub total: u64,
}

impl Log {
    /// The lines that are kept, the oldest first.
    pub fn lines(&self) -> &VecDeque<Line> {
        &self.lines
    }

    /// Adds lines of the debugger's own.
    pub fn say(&mut self, kind: Kind, text: &str) {
        self.is_open = false;
        for line in text.lines() {
            self.push(kind, line);
        }
    }

    /// Adds what the program has written.
    pub fn output(&mut self, stream: Stream, text: &str) {
        let kind = match stream {
            Stream::Stdout => Kind::Stdout,
            Stream::Stderr => Kind::Stderr,
        };
        for piece in text.split_inclusive('\n') {
            let (piece, ends) = match piece.strip_suffix('\n') {
                Some(piece) => (piece.strip_suffix('\r').unwrap_or(piece), true),
                None => (piece, false),
            };
            self.add(kind, piece);
            self.is_open = !ends;
            self.returns &= !ends;
        }
    }

    /// Adds a part of a line. What comes behind a `\r` replaces what is there, as on a terminal.
    fn add(&mut self, kind: Kind, piece: &str) {
        let continues = self.is_open && self.lines.back().is_some_and(|last| last.kind == kind);
        if !continues {
            self.push(kind, "");
        }
        let Some(last) = self.lines.back_mut() else {
            return;
        };
        let is_progress = piece.contains('\r');
        if (self.returns && continues) && !piece.is_empty() {
            last.text.clear();
        }
        let (piece, returns) = match piece.strip_suffix('\r') {
            Some(piece) => (piece, true),
            None => (piece, false),
        };
        if !piece.is_empty() || is_progress {
            self.returns = returns;
        }
        let piece = match piece.rsplit_once('\r') {
            Some((_, after)) => {
                last.text.clear();
                after
            }
            None => piece,
        };
        let room = LONGEST.saturating_sub(last.text.len());
        let is_boundary = |at: &usize| piece.is_char_boundary(*at);
        let end = (0..=room.min(piece.len())).rfind(is_boundary);
        last.text.push_str(&piece[..end.unwrap_or(0)]);
    }

    fn push(&mut self, kind: Kind, text: &str) {
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        let is_boundary = |at: &usize| text.is_char_boundary(*at);
        let end = (0..=LONGEST.min(text.len())).rfind(is_boundary);
        let text = text[..end.unwrap_or(0)].to_owned();
        self.lines.push_back(Line { kind, text });
        self.total += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(log: &Log) -> Vec<&str> {
        log.lines().iter().map(|line| &*line.text).collect()
    }

    #[test]
    fn pieces_make_lines_and_a_line_of_ours_begins_its_own() {
        let mut log = Log::default();
        log.output(Stream::Stdout, "one\r\ntw");
        log.output(Stream::Stdout, "o\nthr");
        log.say(Kind::Command, "n");
        log.output(Stream::Stdout, "ee\n");
        log.output(Stream::Stderr, "four");
        log.output(Stream::Stdout, "five");
        assert_eq!(
            texts(&log),
            ["one", "two", "thr", "n", "ee", "four", "five"]
        );
    }

    #[test]
    fn a_carriage_return_lets_the_line_be_written_anew() {
        let mut log = Log::default();
        log.output(Stream::Stdout, "10%\r20%\r");
        assert_eq!(texts(&log), ["20%"]);
        log.output(Stream::Stdout, "100%");
        assert_eq!(texts(&log), ["100%"]);
        log.output(Stream::Stdout, "\r");
        log.output(Stream::Stdout, "\nnext\n");
        assert_eq!(texts(&log), ["100%", "next"]);
    }

    #[test]
    fn only_so_much_is_kept() {
        let mut log = Log::default();
        log.output(Stream::Stdout, &"x\n".repeat(LINES + 5));
        log.output(Stream::Stdout, &"ä".repeat(LONGEST));
        log.output(Stream::Stdout, "and more");
        assert_eq!(log.lines().len(), LINES);
        assert_eq!(
            log.lines().back().map(|line| line.text.len()),
            Some(LONGEST)
        );
        assert_eq!(log.total, LINES as u64 + 6);
    }
}
