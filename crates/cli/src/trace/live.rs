//! What becomes of the bytes that were passed on: the recording, and the lines for the user.
//!
//! Recording comes first. A terminal or editor that doesn't read the lines loses some of them, with a line that counts them; it delays
//! neither the recording nor the session.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use dapple_dap::testing::{Entry, Log};
use dapple_trace::backlog::Backlog;
use dapple_trace::filter::Filter;
use dapple_trace::forward::Observer;
use dapple_trace::{Item, Session};

use super::show::Lines;

/// How many bytes wait in memory to be looked at. More go to a file.
const IN_MEMORY: usize = 64 << 20;

/// How many messages' lines wait for their reader.
const WAITING_LINES: usize = 4096;

/// For how long the last lines may take to be written.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Where recordings and lines go.
pub struct Sinks {
    log: Option<Log>,
    lines: Lines,
    display: Option<Display>,
    /// Whether sessions are told apart in the lines.
    pub several: bool,
}

/// Where lines are shown.
pub enum Place {
    Stderr,
    Stdout,
    File(PathBuf),
    Nowhere,
}

/// A thread that writes lines.
struct Display {
    sender: Sender<String>,
    done: Receiver<()>,
    lost: AtomicU64,
}

/// Opens a file for appending, which only the user may read: messages may contain any of the debuggee's data.
pub fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).open(path)
}

impl Sinks {
    pub fn open(
        recording: Option<&Path>,
        place: Place,
        mut lines: Lines,
        filter: Filter,
    ) -> Result<Self> {
        let log = match recording {
            None => None,
            Some(path) => {
                let file = append(path);
                let file = file.with_context(|| format!("cannot record in {}", path.display()))?;
                Some(Log::new(file))
            }
        };
        let (output, terminal): (Option<Box<dyn Write + Send>>, bool) = match place {
            Place::Nowhere => (None, false),
            Place::Stderr => (Some(Box::new(io::stderr())), io::stderr().is_terminal()),
            Place::Stdout => (Some(Box::new(io::stdout())), io::stdout().is_terminal()),
            Place::File(path) => {
                let file = append(&path);
                let file =
                    file.with_context(|| format!("cannot show lines in {}", path.display()))?;
                let terminal = file.is_terminal();
                (Some(Box::new(file)), terminal)
            }
        };
        lines.filter = filter;
        lines.on_terminal(terminal);
        let display = output.map(Display::start).transpose()?;
        Ok(Self {
            log,
            lines,
            display,
            several: false,
        })
    }

    /// An empty backlog for a session. If it is recorded, nothing is lost that the disk has room for.
    pub fn backlog(&self) -> Backlog {
        match self.log {
            None => Backlog::new(IN_MEMORY),
            Some(_) => Backlog::with_file(IN_MEMORY, nameless_file),
        }
    }

    /// Records and shows a session until its backlog is closed.
    pub fn observe(&self, number: u64, backlog: &Backlog) {
        let name = format!("{}-{number}", std::process::id());
        let mut observer = Observer::new();
        let mut session = Session::new();
        let mut take = |item: Item| {
            self.record(&name, &item);
            if let Some(display) = &self.display {
                let message = session.item(&item);
                if let Some(lines) = self.lines.message(&message) {
                    display.show(self.prefixed(number, lines));
                }
            }
        };
        while let Some(chunk) = backlog.next() {
            observer.chunk(&chunk, &mut take);
        }
        observer.end(&mut take);
        if let Some(display) = &self.display
            && let Some(lines) = self.lines.end(&session.end())
        {
            display.show(self.prefixed(number, lines));
        }
    }

    /// Waits for the last lines.
    pub fn finish(self) {
        if let Some(display) = self.display {
            display.finish();
        }
    }

    fn record(&self, session: &str, item: &Item) {
        let Some(log) = &self.log else { return };
        match item {
            Item::Message(entry) => log.message(session, entry),
            Item::Malformed { time, from, reason } => {
                let entry = Entry {
                    time: *time,
                    from: *from,
                    text: reason.clone(),
                };
                log.malformed(session, &entry);
            }
            _ => {}
        }
    }

    fn prefixed(&self, number: u64, lines: String) -> String {
        match self.several {
            false => lines,
            true => lines
                .lines()
                .map(|line| format!("[{number}] {line}\n"))
                .collect(),
        }
    }
}

impl Display {
    fn start(mut output: Box<dyn Write + Send>) -> Result<Self> {
        let (sender, lines) = bounded::<String>(WAITING_LINES);
        let (end, done) = bounded(0);
        let write = move || {
            for line in lines {
                // A closed terminal is no reason to end the session.
                output.write_all(line.as_bytes()).ok();
                output.flush().ok();
            }
            drop(end);
        };
        thread::Builder::new()
            .name("lines".to_owned())
            .spawn(write)
            .context("cannot start a thread")?;
        Ok(Self {
            sender,
            done,
            lost: AtomicU64::new(0),
        })
    }

    fn show(&self, lines: String) {
        let lost = self.lost.load(Ordering::Relaxed);
        if lost > 0 {
            let line = format!(
                "({lost} messages are not shown here: their lines were not read in time)\n"
            );
            match self.sender.try_send(line) {
                Ok(()) => self.lost.fetch_sub(lost, Ordering::Relaxed),
                Err(_) => self.lost.fetch_add(1, Ordering::Relaxed),
            };
            if self.lost.load(Ordering::Relaxed) > 0 {
                return;
            }
        }
        if let Err(TrySendError::Full(_)) = self.sender.try_send(lines) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn finish(self) {
        drop(self.sender);
        // The thread closes the channel.
        self.done.recv_timeout(LAST_LINES).ok();
    }
}

/// A file without a name, for reading and writing.
fn nameless_file() -> io::Result<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("dapple-trace-{}-{count}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}
