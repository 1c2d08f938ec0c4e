//! Ids of processes and threads (gdb manual, "thread-id syntax"): `TID`, or with the multiprocess extensions `pPID.TID`. Both numbers are
//! hexadecimal; 0 is any one and -1 is all.

use crate::hex;
use std::fmt;

/// Which process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// 0: the stub chooses.
    Any,
    /// -1
    All,
    /// One, by its number, which is not 0.
    Number(u64),
}

impl Id {
    fn parse(text: &[u8]) -> Option<Id> {
        match text {
            b"-1" => Some(Id::All),
            _ => Some(Id::from(hex::number(text)?)),
        }
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Id {
        match number {
            0 => Id::Any,
            _ => Id::Number(number),
        }
    }
}

impl fmt::Display for Id {
    /// As it is in packets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Any => f.write_str("0"),
            Id::All => f.write_str("-1"),
            Id::Number(number) => write!(f, "{number:x}"),
        }
    }
}

/// A thread, or a set of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    /// The process; `None` without the multiprocess extensions.
    pub process: Option<Id>,
    /// The thread in it.
    pub thread: Id,
}

impl ThreadId {
    /// All threads of all processes, where there are no multiprocess extensions: `-1`.
    pub const ALL: ThreadId = ThreadId {
        process: None,
        thread: Id::All,
    };

    /// Any thread: `0`.
    pub const ANY: ThreadId = ThreadId {
        process: None,
        thread: Id::Any,
    };

    /// Reads an id. `pPID` alone is all threads of a process.
    ///
    /// ```
    /// use dapple_gdb_remote::thread_id::{Id, ThreadId};
    ///
    /// let thread = ThreadId::parse(b"p1f.-1").ok_or("no thread")?;
    /// assert_eq!(thread.process, Some(Id::Number(31)));
    /// assert_eq!(thread.thread, Id::All);
    /// assert_eq!(thread.to_string(), "p1f.-1");
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<ThreadId> {
        let Some(rest) = text.strip_prefix(b"p") else {
            return Some(ThreadId {
                process: None,
                thread: Id::parse(text)?,
            });
        };
        let mut parts = rest.splitn(2, |byte| *byte == b'.');
        let process = Id::parse(parts.next()?)?;
        let thread = parts.next().map_or(Some(Id::All), Id::parse)?;
        Some(ThreadId {
            process: Some(process),
            thread,
        })
    }

    /// All threads of this thread's process, or all there are if no process is known.
    #[must_use]
    pub fn whole_process(self) -> ThreadId {
        ThreadId {
            thread: Id::All,
            ..self
        }
    }

    /// The number of the process, if there is one.
    #[must_use]
    pub fn process_number(self) -> Option<u64> {
        match self.process {
            Some(Id::Number(number)) => Some(number),
            _ => None,
        }
    }
}

impl fmt::Display for ThreadId {
    /// As it is in packets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(f, "p{process}.{}", self.thread),
            None => write!(f, "{}", self.thread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_and_written() {
        for text in ["0", "-1", "1f", "p1.2", "p-1.-1", "p0.0", "p1.-1"] {
            let read = ThreadId::parse(text.as_bytes()).map(|id| id.to_string());
            assert_eq!(read.as_deref(), Some(text));
        }
        assert_eq!(
            ThreadId::parse(b"p01").map(|id| id.to_string()).as_deref(),
            Some("p1.-1")
        );
        for text in ["", "p", "p1.", "p.1", "-2", "g", "p1.2.3", "1.2"] {
            assert_eq!(ThreadId::parse(text.as_bytes()), None, "{text}");
        }
    }
}
