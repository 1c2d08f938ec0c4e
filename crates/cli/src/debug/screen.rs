//! Writes to the terminal. All output of the client passes through here, so that its own lines, the program's output that the adapter sends, and
//! the prompt don't mix.
//!
//! While the prompt is shown, the line editor has the terminal in raw mode. Text then replaces the prompt, which is redrawn below it with
//! what had been typed. (rustyline's `ExternalPrinter` isn't used, because it leaves pasted text unread: it waits for the terminal although
//! it has already read further input.) The program's output may stop in the middle of a line; the client's next line then starts on a new
//! one.

use std::io::{self, Write};

use super::complete::Completer;
use super::input::PROMPT;
use super::style::{Role, Style};

/// A stream of the debuggee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// The terminal, or the file or pipe in its place.
pub struct Screen {
    /// The colours.
    pub style: Style,
    /// Knows what has been typed; present only while the line editor has the terminal.
    editor: Option<Completer>,
    line_open: bool,
    /// Other processes may have written to the terminal, so the cursor may not be at the start of a line.
    shared: bool,
}

impl Screen {
    /// A screen on stdout and stderr, without a prompt.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            editor: None,
            line_open: false,
            shared: false,
        }
    }

    /// Call when the line editor is about to show the prompt. Ends a line that the program left unfinished.
    pub fn prompt_shown(&mut self, editor: Completer) {
        self.close_line();
        self.editor = Some(editor);
    }

    /// Call when a line has been entered at the prompt.
    pub fn prompt_answered(&mut self) {
        self.editor = None;
    }

    /// Prints text of the client's own; adds a missing line end.
    pub fn print(&mut self, text: &str) {
        self.close_line();
        let end = if text.ends_with('\n') || text.is_empty() {
            ""
        } else {
            "\n"
        };
        self.write(Stream::Out, &format!("{text}{end}"));
    }

    /// Prints an error on stderr.
    pub fn print_error(&mut self, text: &str) {
        self.close_line();
        let text = format!(
            "{} {}\n",
            self.style.paint(Role::Error, "dapple:"),
            text.trim_end()
        );
        self.write(Stream::Err, &text);
    }

    /// Prints output of the program.
    pub fn program_output(&mut self, stream: Stream, text: &str) {
        if text.is_empty() {
            return;
        }
        self.write(stream, text);
        self.line_open = self.editor.is_none() && !text.ends_with('\n');
    }

    /// Call when the program may write to the terminal itself, or the user may type input for it.
    pub fn share(&mut self) {
        self.shared = true;
    }

    fn close_line(&mut self) {
        let shared = std::mem::take(&mut self.shared);
        if std::mem::take(&mut self.line_open) {
            self.write(Stream::Out, "\n");
        } else if shared
            && self.editor.is_none()
            && let Ok(size) = rustix::termios::tcgetwinsize(io::stdout())
        {
            // If the line is empty, the blanks don't fill it, and the next text overwrites them. Otherwise they make the terminal wrap to
            // the next line.
            let blanks = " ".repeat(usize::from(size.ws_col).saturating_sub(1));
            self.write(Stream::Out, &format!("{blanks}\r"));
        }
    }

    /// Writes text, and ignores errors: a closed pipe means that the reader has seen enough.
    fn write(&mut self, stream: Stream, text: &str) {
        let anew;
        let text = match &self.editor {
            Some(editor) => {
                let end = if text.ends_with('\n') { "" } else { "\r\n" };
                let text = text.replace('\n', "\r\n");
                anew = format!("\r\x1b[K{text}{end}{PROMPT}{}", editor.typed());
                &anew
            }
            None => text,
        };
        let _ = match stream {
            Stream::Out => write_all(&mut io::stdout().lock(), text),
            Stream::Err => write_all(&mut io::stderr().lock(), text),
        };
    }
}

fn write_all(to: &mut impl Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()
}

/// Replaces control characters, which could drive the terminal, by `·` in text from the debuggee or its adapter. Line ends stay.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\n' { '·' } else { c })
        .collect()
}
