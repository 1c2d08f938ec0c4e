//! Sessions recorded to a file as they happen.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::record::{Entry, write_line, write_malformed};
use crate::lifecycle::Side;
use crate::transport::{Direction, Options};

/// Writes the messages of connections to a file or another output, a line for each message when it is sent or received.
/// [`Recording::parse_all`](super::Recording::parse_all) reads such a file.
///
/// Each line is written in one piece, so that several processes may append to one file. If the log cannot be written, the session
/// goes on without it.
///
/// ```
/// use dapple_dap::lifecycle::Side;
/// use dapple_dap::testing::{Log, Recording};
///
/// let path = std::env::temp_dir().join(format!("doc-log-{}", std::process::id()));
/// let log = Log::new(std::fs::File::create(&path)?);
/// for session in ["first", "second"] {
///     let (client, adapter) = log.options(session, Side::Client).memory();
///     client.outgoing.send_text("{}").expect("the other end is there");
/// }
/// let recordings = Recording::parse_all(&std::fs::read_to_string(&path)?)?;
/// assert_eq!(recordings[1].session.as_deref(), Some("second"));
/// assert_eq!(recordings[1].entries[0].text, "{}");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Log {
    output: Arc<Mutex<Output>>,
}

struct Output {
    file: Box<dyn Write + Send>,
    failed: bool,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

impl Log {
    /// A log that writes to `file`.
    pub fn new(file: impl Write + Send + 'static) -> Self {
        let output = Output {
            file: Box::new(file),
            failed: false,
        };
        Self {
            output: Arc::new(Mutex::new(output)),
        }
    }

    /// Options for a connection whose messages are logged. `session` distinguishes these messages from those of other connections in the
    /// same file; `own` is the side of this end of the connection. Times count from the connection's first message.
    pub fn options(&self, session: impl Into<String>, own: Side) -> Options {
        let (log, session) = (self.clone(), session.into());
        let start = OnceLock::new();
        Options::new().tap(move |direction, message| {
            let now = Instant::now();
            let entry = Entry {
                time: now.duration_since(*start.get_or_init(|| now)),
                from: match direction {
                    Direction::Sent => own,
                    Direction::Received => own.other(),
                },
                text: String::from_utf8_lossy(message).into_owned(),
            };
            log.message(&session, &entry);
        })
    }

    /// Writes a message's line.
    pub fn message(&self, session: &str, entry: &Entry) {
        let mut line = String::new();
        // Writing JSON to a string cannot fail, since any text is valid in it.
        write_line(&mut line, Some(session), entry).ok();
        self.write(&line);
    }

    /// Writes a line about bytes that were no message, which [`Recording`](super::Recording) skips. `entry.text` says what was wrong with
    /// them.
    pub fn malformed(&self, session: &str, entry: &Entry) {
        let mut line = String::new();
        // As for a message.
        write_malformed(&mut line, Some(session), entry).ok();
        self.write(&line);
    }

    fn write(&self, line: &str) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = output.file.write_all(line.as_bytes())
            && !std::mem::replace(&mut output.failed, true)
        {
            tracing::warn!(%error, "messages cannot be written to their log");
        }
    }
}
