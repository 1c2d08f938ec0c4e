//! Sends bytes to a program's standard input. A thread does the writing, because the program may not read and a write would then block.

use crate::Error;
use crossbeam_channel::{Sender, unbounded};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

/// The end of input on a terminal: Ctrl-D at the beginning of a line (termios(3), `VEOF`).
const END_OF_FILE: &[u8] = &[4];

/// A program's standard input.
#[derive(Debug)]
pub struct Input {
    /// `None` if the thread that writes can't be started, or once the input has been ended. A terminal's input is never ended.
    bytes: Option<Sender<Vec<u8>>>,
    terminal: bool,
}

/// The write end of a program's standard input.
#[derive(Debug)]
pub enum InputEnd {
    /// The write end of a pipe.
    Pipe(OwnedFd),
    /// The controlling side of a pseudoterminal.
    Terminal(OwnedFd),
}

impl Input {
    /// Starts the thread that writes.
    pub fn start(end: InputEnd) -> Input {
        let (bytes, to_write) = unbounded::<Vec<u8>>();
        let (end, terminal) = match end {
            InputEnd::Pipe(end) => (end, false),
            InputEnd::Terminal(end) => (end, true),
        };
        let write = move || {
            let mut end = File::from(end);
            for bytes in to_write {
                if end.write_all(&bytes).is_err() {
                    // The program has closed its input or has ended.
                    return;
                }
            }
        };
        let writer = std::thread::Builder::new().name("stdin writer".into());
        let started = writer.spawn(write).is_ok();
        Input {
            bytes: started.then_some(bytes),
            terminal,
        }
    }

    /// Whether the program reads its input from a pseudoterminal of its own.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Queues bytes for a program's input, or ends the input if `bytes` is `None`. The program may read the bytes later or never.
    ///
    /// # Errors
    /// The program's input doesn't come from the debugger, or is known to have ended.
    pub fn take(input: Option<&mut Input>, bytes: Option<Vec<u8>>) -> Result<(), Error> {
        let refuse = |reason: &str| Error::System {
            operation: "nothing can be sent to the program".into(),
            reason: reason.into(),
        };
        let input = input.ok_or_else(|| refuse("its standard input is not the debugger's"))?;
        let taken = match bytes {
            Some(bytes) => input.send(bytes),
            None => input.end(),
        };
        match taken {
            true => Ok(()),
            false => Err(refuse("its input has ended")),
        }
    }

    /// Queues bytes for the thread that writes. Returns `false` if the input has ended.
    fn send(&self, bytes: Vec<u8>) -> bool {
        let sender = self.bytes.as_ref();
        sender.is_some_and(|sender| sender.send(bytes).is_ok())
    }

    /// Ends the input; returns `false` if it had already ended. To a terminal, only sends Ctrl-D, after which more input can be sent.
    fn end(&mut self) -> bool {
        match self.terminal {
            true => self.send(END_OF_FILE.to_vec()),
            false => self.bytes.take().is_some(),
        }
    }
}
