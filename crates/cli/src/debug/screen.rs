//! What the user sees: one place writes to the terminal, so that our lines, the program's output and the prompt never
//! run into each other.
//!
//! While the prompt stands, text goes through the line editor's printer, which draws the line anew below it. What the
//! program writes may stop in the middle of a line; our next line then starts on a new one.

use std::io::{self, Write};

use rustyline::ExternalPrinter;

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
    printer: Option<Box<dyn ExternalPrinter + Send>>,
    prompting: bool,
    line_open: bool,
}

impl Screen {
    /// A screen on stdout and stderr, without a prompt.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            printer: None,
            prompting: false,
            line_open: false,
        }
    }

    /// From now on, prints by way of the line editor while the prompt stands.
    pub fn attach_printer(&mut self, printer: Box<dyn ExternalPrinter + Send>) {
        self.printer = Some(printer);
    }

    /// The prompt is about to be shown. Closes a line that the program left open.
    pub fn prompt_shown(&mut self) {
        self.close_line();
        self.prompting = true;
    }

    /// The prompt has been answered.
    pub fn prompt_answered(&mut self) {
        self.prompting = false;
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
        self.line_open = !text.ends_with('\n');
    }

    fn close_line(&mut self) {
        if std::mem::take(&mut self.line_open) {
            self.write(Stream::Out, "\n");
        }
    }

    /// A closed pipe is no error worth a word: whoever reads has seen enough.
    fn write(&mut self, stream: Stream, text: &str) {
        if self.prompting
            && let Some(printer) = &mut self.printer
        {
            let _ = printer.print(text.to_owned());
            return;
        }
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
