//! Writes to the terminal. All output of the client passes through here, so that its own lines, the program's output that the adapter sends, and
//! the prompt don't mix. With `--json`, what is shown is collected here, and leaves in records ([`super::results`]).
//!
//! While the prompt is shown, the line editor has the terminal in raw mode. Text then replaces the prompt, which is redrawn below it with
//! what had been typed. (rustyline's `ExternalPrinter` isn't used, because it leaves pasted text unread: it waits for the terminal although
//! it has already read further input.) The program's output may stop in the middle of a line; the client's next line then starts on a new
//! one.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::complete::Completer;
use super::input::PROMPT;
use super::results::{self, Failure, FailureKind, Item, Record};
use super::style::{Role, Style};

/// A stream of the debuggee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// How much of the program's output a stop tells again, in bytes.
const OUTPUT_AT_STOP: usize = 8 << 10;

/// What `--json` collects.
#[derive(Default)]
struct Collected {
    /// What was shown since the last record.
    items: Vec<Item>,
    /// The end of what the program has written since it was let run.
    output: String,
    /// How many bytes of that were before it.
    output_cut: usize,
    /// Whether records have their text, too.
    has_text: bool,
    /// Nobody reads the records any more.
    is_closed: bool,
    /// Who reads them, in place of who reads stdout; and the colours of the terminal, for afterwards.
    reader: Option<(UnixStream, Style)>,
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
    /// Objects are written in place of text.
    json: Option<Collected>,
}

impl Screen {
    /// A screen on stdout and stderr, without a prompt.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            editor: None,
            line_open: false,
            shared: false,
            json: None,
        }
    }

    /// A stream of records on stdout (`--json`). `has_text`: each has the text that a terminal shows of it, too.
    pub fn json(has_text: bool) -> Self {
        let collected = Collected {
            has_text,
            ..Collected::default()
        };
        Self {
            json: Some(collected),
            ..Self::new(Style::plain())
        }
    }

    /// Writes records with their text to somebody else, until [`Self::restore`]. What is on the terminal stays as it is.
    pub fn divert(&mut self, reader: UnixStream) {
        self.close_line();
        let style = std::mem::replace(&mut self.style, Style::plain());
        self.json = Some(Collected {
            has_text: true,
            reader: Some((reader, style)),
            ..Collected::default()
        });
    }

    /// Writes text on the terminal again.
    pub fn restore(&mut self) {
        let collected = self.json.take();
        if let Some((_, style)) = collected.and_then(|it| it.reader) {
            self.style = style;
        }
    }

    /// The colours of the terminal, also while records go to somebody else.
    pub fn terminal_style(&self) -> Style {
        let reader = self.json.as_ref().and_then(|it| it.reader.as_ref());
        reader.map_or(self.style, |(_, style)| *style)
    }

    /// Whether objects are written in place of text.
    pub fn is_json(&self) -> bool {
        self.json.is_some()
    }

    /// Shows something.
    pub fn show(&mut self, item: Item) {
        match &mut self.json {
            Some(collected) => collected.items.push(item),
            None => self.print_text(&item.text(self.style)),
        }
    }

    /// With `--json`: what was shown since the last record.
    pub fn take_items(&mut self) -> Vec<Item> {
        let collected = self.json.as_mut();
        collected.map_or_else(Vec::new, |it| std::mem::take(&mut it.items))
    }

    /// With `--json`: the end of what the program has written since this was last taken, and how many bytes were before it.
    pub fn take_output(&mut self) -> (String, usize) {
        let Some(collected) = &mut self.json else {
            return (String::new(), 0);
        };
        let output = std::mem::take(&mut collected.output);
        (output, std::mem::take(&mut collected.output_cut))
    }

    /// With `--json`: writes a record.
    pub fn record(&mut self, record: &Record) {
        if let Some(collected) = &mut self.json
            && let Ok(line) = match collected.has_text {
                true => serde_json::to_string(&record.with_text()),
                false => serde_json::to_string(record),
            }
        {
            match &mut collected.reader {
                // Its end is told by its lines.
                Some((reader, _)) => drop(write_all(reader, &(line + "\n"))),
                None => {
                    let written = write_all(&mut io::stdout().lock(), &(line + "\n"));
                    collected.is_closed |= written.is_err();
                }
            }
        }
    }

    /// With `--json`: whether nobody reads the records any more.
    pub fn is_closed(&self) -> bool {
        self.json.as_ref().is_some_and(|it| it.is_closed)
    }

    /// With `--json`: writes what was shown since the last record, if anything was.
    pub fn record_notice(&mut self) {
        let items = self.take_items();
        if !items.is_empty() {
            self.record(&Record::Notice(results::Notice { items }));
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

    /// Shows text of the client's own.
    pub fn print(&mut self, text: &str) {
        match &mut self.json {
            Some(collected) => {
                let text = text.trim_end().to_owned();
                collected.items.push(Item::Text(results::Text { text }));
            }
            None => self.print_text(text),
        }
    }

    /// Prints text; adds a missing line end.
    fn print_text(&mut self, text: &str) {
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
        if let Some(collected) = &mut self.json {
            return collected.items.push(Item::Problem(Failure {
                reason: FailureKind::Other,
                message: text.trim_end().to_owned(),
            }));
        }
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
        if let Some(collected) = &mut self.json {
            collected.add_output(text);
            let stream = match stream {
                Stream::Out => results::Stream::Stdout,
                Stream::Err => results::Stream::Stderr,
            };
            let text = text.to_owned();
            return self.record(&Record::Output(results::Output { stream, text }));
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

impl Collected {
    fn add_output(&mut self, text: &str) {
        self.output.push_str(text);
        let over = self.output.len().saturating_sub(OUTPUT_AT_STOP);
        let is_boundary = |at: &usize| self.output.is_char_boundary(*at);
        let cut = (over..).find(is_boundary).unwrap_or(over);
        self.output_cut += cut;
        self.output.drain(..cut);
    }
}

/// Whether somebody may still read what is written to stdout. `false`: it is a pipe or a terminal whose other end is gone.
pub fn has_reader() -> bool {
    !is_left(Some(&Timespec::default()))
}

/// Waits until nobody can read any more what is written to stdout, which may be for ever.
pub fn wait_until_left() {
    while !is_left(None) {}
}

fn is_left(within: Option<&Timespec>) -> bool {
    let stdout = io::stdout();
    // Errors are told without being asked for (poll(2)).
    let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut polled, within) {
        Ok(count) => count > 0,
        Err(Errno::INTR) => false,
        // It can't be asked, so what is written will tell.
        Err(_) => within.is_none(),
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
