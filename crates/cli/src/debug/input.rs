//! Reads commands: from `--ex`, then from the line editor on a terminal or plain lines from a pipe.
//!
//! A separate thread reads a line, and only when the session asks for one, so the session can handle the adapter's messages while the user
//! types. While the program runs no command is read, and on a terminal stdin is the program's. With `--json`, commands are read then, too.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, IsTerminal};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};

use rustyline::error::ReadlineError;
use rustyline::history::{FileHistory, History};
use rustyline::{CompletionType, Config, Editor};

use super::complete::Completer;
use super::interrupts;
use super::link::ProgramStdin;
use super::session::{Event, Origin, Scripted};

/// The prompt.
pub const PROMPT: &str = "(dapple) ";
/// The prompt for the lines of a block, up to `end`.
pub const PROMPT_OF_BLOCK: &str = "> ";

/// The result of a request for a line.
#[derive(Debug)]
pub enum Line {
    /// A command.
    Command(String),
    /// Ctrl-C at the prompt: what was typed is discarded.
    Cleared,
    /// Ctrl-D, or the end of the input.
    End,
}

/// What happens after the last scripted command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Commands are read from stdin.
    Interactive,
    /// The session ends (`--batch`).
    End,
}

/// The source of commands.
pub struct Input {
    scripted: VecDeque<Scripted>,
    then: Then,
    /// Stdin has come to its end.
    has_ended: bool,
    /// The request channel of the reader thread, which is started when first needed.
    requests: Option<Sender<&'static str>>,
    events: crossbeam_channel::Sender<Event>,
    completer: Completer,
    terminal: bool,
    /// The line editor's request channel, while lines come from somewhere else.
    set_aside: Option<Option<Sender<&'static str>>>,
}

/// The answer to a request for a line.
pub enum Next {
    /// A scripted line, at once.
    Scripted(Scripted),
    /// An [`Event::Line`] will follow.
    Requested,
    /// There are no more commands.
    NoMore,
}

impl Input {
    /// Takes commands from `scripted`, then from stdin if `then` says so. `is_json`: a program types them, also at a terminal.
    pub fn new(
        scripted: Vec<Scripted>,
        then: Then,
        completer: Completer,
        events: crossbeam_channel::Sender<Event>,
        is_json: bool,
    ) -> Self {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let terminal = is_terminal && !is_json;
        Self {
            scripted: scripted.into(),
            then,
            has_ended: false,
            requests: None,
            events,
            completer,
            terminal,
            set_aside: None,
        }
    }

    /// Whether the user types commands at a terminal.
    pub fn is_interactive(&self) -> bool {
        self.terminal && self.then == Then::Interactive
    }

    /// Takes lines from somebody else than who sits at the terminal, until [`Self::take_from_terminal`].
    pub fn take_from(&mut self, lines: UnixStream) {
        self.set_aside = Some(self.requests.take());
        self.terminal = false;
        let (sender, requests) = mpsc::channel();
        self.requests = Some(sender);
        let events = self.events.clone();
        std::thread::spawn(move || read_lines(BufReader::new(lines), &requests, &events));
    }

    /// Takes lines from the terminal again.
    pub fn take_from_terminal(&mut self) {
        if let Some(requests) = self.set_aside.take() {
            self.requests = requests;
            self.terminal = true;
        }
    }

    /// Whether the program may have this process's stdin. On a terminal, no command is read while the program runs; a pipe is either for
    /// commands or for the program.
    pub fn program_stdin(&self) -> ProgramStdin {
        if self.is_interactive() {
            ProgramStdin::Terminal
        } else if self.then == Then::End || self.terminal {
            ProgramStdin::Inherit
        } else {
            ProgramStdin::Null
        }
    }

    /// Whether commands come from stdin, and there may be more.
    pub fn reads_stdin(&self) -> bool {
        self.then == Then::Interactive && !self.has_ended
    }

    /// Whether commands wait that are known already.
    pub fn has_scripted(&self) -> bool {
        !self.scripted.is_empty()
    }

    /// Puts a line behind those that wait.
    pub fn queue(&mut self, line: String) {
        self.scripted.push_back(Scripted::new(&line, Origin::Input));
    }

    /// Stdin has come to its end: the session ends behind the lines that wait.
    pub fn ends(&mut self) {
        self.has_ended = true;
    }

    /// Whether a failing command ends the session.
    pub fn is_batch(&self) -> bool {
        self.then == Then::End
    }

    /// Puts lines in front of those that wait.
    pub fn interpose(&mut self, lines: Vec<Scripted>) {
        for line in lines.into_iter().rev() {
            self.scripted.push_front(line);
        }
    }

    /// Drops the lines that were put in front.
    pub fn drop_interposed(&mut self) {
        self.scripted.retain(|it| match it.origin {
            Origin::Option | Origin::Input | Origin::Script(..) => true,
            Origin::File(..) | Origin::Breakpoint | Origin::Defined => false,
        });
    }

    /// Drops the rest of `--script`.
    pub fn drop_script(&mut self) {
        let is_script = |it: &Scripted| matches!(it.origin, Origin::Script(..));
        self.scripted.retain(|it| !is_script(it));
    }

    /// Drops the rest of a breakpoint's commands.
    pub fn drop_commands_of_breakpoint(&mut self) {
        let is_of_breakpoint = |it: &Scripted| it.origin == Origin::Breakpoint;
        while self.scripted.front().is_some_and(is_of_breakpoint) {
            self.scripted.pop_front();
        }
    }

    /// Asks for the next command, with a prompt.
    pub fn next(&mut self, prompt: &'static str) -> Next {
        if let Some(line) = self.scripted.pop_front() {
            return Next::Scripted(line);
        }
        self.request(prompt)
    }

    /// Asks for a line from stdin, whatever waits.
    pub fn request(&mut self, prompt: &'static str) -> Next {
        if !self.reads_stdin() {
            return Next::NoMore;
        }
        if self.requests.is_none() {
            self.start_reader();
        }
        match &self.requests {
            Some(requests) if requests.send(prompt).is_ok() => Next::Requested,
            _ => Next::NoMore,
        }
    }

    fn start_reader(&mut self) {
        let (sender, requests) = mpsc::channel();
        self.requests = Some(sender);
        let events = self.events.clone();
        if self.terminal
            && let Ok(mut editor) = editor(self.completer.clone())
        {
            std::thread::spawn(move || edit_lines(&mut editor, &requests, &events));
            return;
        }
        std::thread::spawn(move || read_lines(std::io::stdin().lock(), &requests, &events));
    }
}

/// Reads a line for each request.
fn read_lines(
    mut from: impl BufRead,
    requests: &mpsc::Receiver<&'static str>,
    events: &crossbeam_channel::Sender<Event>,
) {
    for _ in requests {
        let mut line = String::new();
        let line = match from.read_line(&mut line) {
            Ok(0) | Err(_) => Line::End,
            Ok(_) => Line::Command(line.trim_end_matches(['\n', '\r']).to_owned()),
        };
        if events.send(Event::Line(line)).is_err() {
            return;
        }
    }
}

type LineEditor = Editor<Completer, FileHistory>;

fn editor(completer: Completer) -> rustyline::Result<LineEditor> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_dups(true)?
        .auto_add_history(true)
        .max_history_size(2000)?
        .build();
    let mut editor = interrupts::kept(|| Editor::with_config(config))?;
    editor.set_helper(Some(completer));
    if let Some(path) = history_file() {
        // The file doesn't exist in the first session, and an unreadable one must not prevent debugging.
        let _ = editor.load_history(&path);
    }
    Ok(editor)
}

fn edit_lines(
    editor: &mut LineEditor,
    requests: &mpsc::Receiver<&'static str>,
    events: &crossbeam_channel::Sender<Event>,
) {
    for prompt in requests {
        let line = match editor.readline(prompt) {
            Ok(line) => Line::Command(line),
            Err(ReadlineError::Interrupted) => Line::Cleared,
            Err(_) => Line::End,
        };
        // The history is written after each line, because any command may end the process.
        if let (Line::Command(text), Some(path)) = (&line, history_file())
            && !text.trim().is_empty()
        {
            let _ = editor.append_history(&path);
        }
        if events.send(Event::Line(line)).is_err() {
            return;
        }
    }
}

/// The lines of earlier sessions, the oldest first.
pub fn earlier_lines() -> Vec<String> {
    let mut history = FileHistory::new();
    match history_file() {
        // It doesn't exist in the first session.
        Some(path) if history.load(&path).is_ok() => history.iter().cloned().collect(),
        _ => Vec::new(),
    }
}

/// Adds lines to those of earlier sessions.
pub fn remember_lines(lines: &[String]) {
    let mut history = FileHistory::new();
    for line in lines {
        // A line that can't be kept is only forgotten.
        let _ = history.add(line);
    }
    if let Some(path) = history_file().filter(|_| !lines.is_empty()) {
        let _ = history.append(&path);
    }
}

/// `$XDG_STATE_HOME/dapple/history` or `~/.local/state/dapple/history`; the editor creates it for this user only.
fn history_file() -> Option<PathBuf> {
    let directory = crate::folders::user_directory("XDG_STATE_HOME", ".local/state")?;
    dapple_adapter::building::source::create_private(&directory).ok()?;
    Some(directory.join("history"))
}
