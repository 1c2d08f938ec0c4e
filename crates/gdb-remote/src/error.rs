//! What can go wrong between a client and a stub. An error says what was asked for, and what came instead.
//!
//! An empty answer, by which a stub says that it doesn't know a packet, is no error where a command may be missing: such methods return
//! `Option` or [`Support`]. It is [`Error::NotSupported`] for commands without which nothing can be done.

use std::io;

/// What a command gives.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The stub has closed the connection, or it was given up after an earlier error.
    #[error(
        "the connection was closed while waiting for {what}{}",
        after_all(said)
    )]
    Closed {
        /// What was awaited.
        what: String,
        /// What the stub's command has written to its standard error in the end, if the stub is one ([`Address::Command`](crate::Address::Command)).
        said: String,
    },
    /// There was no answer in time.
    #[error("no {what} in time")]
    TimedOut {
        /// What was awaited.
        what: String,
    },
    /// [`Handle::cancel`](crate::connection::Handle::cancel) has ended the wait.
    #[error("the wait for {what} was cancelled")]
    Cancelled {
        /// What was awaited.
        what: String,
    },
    /// The stub's answer is an error.
    #[error("the stub answers {asked} with {error}")]
    Stub {
        /// The packet, shortened.
        asked: String,
        /// The answer.
        error: StubError,
    },
    /// The stub does not know a packet that is necessary.
    #[error("the stub does not support {asked}")]
    NotSupported {
        /// The packet, shortened.
        asked: String,
    },
    /// The answer is not one that the protocol has for the packet.
    #[error("unexpected answer to {asked}: {got}")]
    Unexpected {
        /// The packet, shortened.
        asked: String,
        /// The answer, shortened, or what is wrong with it.
        got: String,
    },
    /// Something is longer than its limit. After a packet that is too long, the connection is given up.
    #[error("{what} is longer than {limit} bytes")]
    TooLong {
        /// What is too long.
        what: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// Checksums were wrong each time.
    #[error("{what} was damaged {times} times")]
    Damaged {
        /// What was awaited.
        what: String,
        /// How often the packet came.
        times: u32,
    },
    /// The stub has answered each sending of a packet with a NAK.
    #[error("the stub has refused {asked} {times} times")]
    Refused {
        /// The packet, shortened.
        asked: String,
        /// How often it was sent.
        times: u32,
    },
    /// A document of the stub cannot be read.
    #[error("cannot read {document}: {reason}")]
    Document {
        /// The document's name.
        document: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The system has refused something.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

/// An answer of the stub that means that a command failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StubError {
    /// `E NN`. What the number means is the stub's affair; many use numbers of errno(3).
    #[error("error {0:#04x}")]
    Number(u8),
    /// `E.TEXT`
    #[error("the error \"{0}\"")]
    Text(String),
    /// An error of a file operation (`vFile`), in the numbers of gdb's File-I/O protocol, which are those of Linux up to 30.
    #[error("file error {0}")]
    File(u32),
}

fn after_all(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!("; its command said: {said}"),
    }
}

/// Whether a stub knows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Support {
    /// It does, and has carried it out.
    Done,
    /// It has given an empty answer: it does not know the packet, and has done nothing.
    NotSupported,
}

/// The longest text of a packet in a message, in bytes of the packet.
const SHOWN: usize = 80;

/// A packet's body as text for messages: shortened, and with what is not printable ASCII escaped.
pub(crate) fn shown(body: &[u8]) -> String {
    let text = body.get(..SHOWN).unwrap_or(body).escape_ascii();
    match body.len() > SHOWN {
        true => format!("`{text}…` ({} bytes)", body.len()),
        false => format!("`{text}`"),
    }
}

impl Error {
    /// Whether nothing more can be asked after this: the connection is closed, or answers don't come.
    #[must_use]
    pub fn ends_connection(&self) -> bool {
        !matches!(
            self,
            Error::Stub { .. }
                | Error::NotSupported { .. }
                | Error::Unexpected { .. }
                | Error::Document { .. }
                | Error::TooLong { .. }
        )
    }

    pub(crate) fn unexpected(asked: &[u8], got: &[u8]) -> Error {
        Error::Unexpected {
            asked: shown(asked),
            got: shown(got),
        }
    }

    /// An answer that has the right form, and is wrong for the reason `what`.
    pub(crate) fn wrong(asked: &[u8], what: impl Into<String>) -> Error {
        Error::Unexpected {
            asked: shown(asked),
            got: what.into(),
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |source| Error::Io { what, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_in_messages_are_short_and_printable() {
        assert_eq!(shown(b"m7f\xff,4"), "`m7f\\xff,4`");
        let long = shown(&[b'x'; 1000]);
        assert!(long.ends_with("…` (1000 bytes)"), "{long}");
        assert!(long.len() < 120);
    }
}
