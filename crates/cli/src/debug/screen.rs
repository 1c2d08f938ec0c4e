//! What the user sees: one place writes to the terminal, so that our lines, the program's output and the prompt never
//! run into each other.
//!
//! While the prompt stands the terminal is the line editor's, in raw mode: text then takes the place of the prompt, which
//! is drawn anew below it with what had been typed. (The editor's own printer for this leaves pasted text lying: it
//! waits for the terminal although it has read on.) What the program writes may stop in the middle of a line; our next
//! line then starts on a new one.

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

/// The terminal, or what stands in its place.
pub struct Screen {
    /// The colours.
    pub style: Style,
    /// Knows what has been typed; there only while the line editor has the terminal.
    editor: Option<Completer>,
    line_open: bool,
    /// Others have written to the terminal as well, so that the line may be open.
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

    /// The prompt is about to be shown by the line editor. Closes a line that the program left open.
    pub fn prompt_shown(&mut self, editor: Completer) {
        self.close_line();
        self.editor = Some(editor);
    }

    /// The prompt has been answered.
    pub fn prompt_answered(&mut self) {
        self.editor = None;
    }

    /// Prints text of ours; a missing line end is added.
    pub fn say(&mut self, text: &str) {
        self.close_line();
        let end = if text.ends_with('\n') || text.is_empty() {
            ""
        } else {
            "\n"
        };
        self.write(Stream::Out, &format!("{text}{end}"));
    }

    /// Prints what went wrong, on stderr.
    pub fn complain(&mut self, text: &str) {
        self.close_line();
        let text = format!(
            "{} {}\n",
            self.style.paint(Role::Error, "dapple:"),
            text.trim_end()
        );
        self.write(Stream::Err, &text);
    }

    /// Passes on what the program wrote.
    pub fn program_output(&mut self, stream: Stream, text: &str) {
        if text.is_empty() {
            return;
        }
        self.write(stream, text);
        self.line_open = self.editor.is_none() && !text.ends_with('\n');
    }

    /// From now on the program, or who types for it, may write to the terminal by itself.
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
            // Where the line is empty, these don't fill it, and the next one is written over them; else they lead to the next line.
            let blanks = " ".repeat(usize::from(size.ws_col).saturating_sub(1));
            self.write(Stream::Out, &format!("{blanks}\r"));
        }
    }

    /// A closed pipe is no error worth a word: whoever reads has seen enough.
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

/// Text from the debuggee or its adapter with the characters that would drive the terminal shown as `·`; line ends stay.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\n' { '·' } else { c })
        .collect()
}
