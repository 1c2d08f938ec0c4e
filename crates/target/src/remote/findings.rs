//! What valgrind has found: its text of the error at which it has stopped a thread. Its stub has a command for that; the stop itself says nothing.

use crate::ThreadId;
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::{Client, Error};
use std::time::Duration;

/// The command of valgrind's stub.
const COMMAND: &[u8] = b"v.info last_error";
/// How long the answer may take.
const LONGEST: Duration = Duration::from_secs(10);
/// The most of a text that is kept, in bytes.
const MOST: usize = 64 << 10;

/// The last finding.
#[derive(Debug, Default)]
pub(super) struct Findings {
    last: Option<(ThreadId, String)>,
    /// Whether the stub is another one.
    is_other: bool,
}

impl Findings {
    /// Asks for the text of what has stopped a thread by a trap that nothing explains. `false`: the stub isn't valgrind's.
    ///
    /// # Errors
    /// Those that end the connection.
    pub(super) fn ask(&mut self, client: &mut Client, thread: ThreadId) -> Result<bool, Error> {
        self.last = None;
        if self.is_other {
            return Ok(false);
        }
        let answer = match client.monitor_until(COMMAND, after(LONGEST)) {
            Ok(answer) => answer,
            Err(error) if error.ends_connection() => return Err(error),
            Err(_) => None,
        };
        let text = answer.as_deref().and_then(text_of);
        self.is_other = text.is_none();
        self.last = text.map(|text| (thread, text));
        Ok(!self.is_other)
    }

    /// What has stopped a thread last.
    pub(super) fn of(&self, thread: ThreadId) -> Option<String> {
        let (of, text) = self.last.as_ref()?;
        (*of == thread).then(|| text.clone())
    }

    /// The threads run.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }
}

/// The text of an answer, without the number of the process in front of most lines (`==4711== `). `None`: it isn't valgrind's.
fn text_of(answer: &[u8]) -> Option<String> {
    let answer = String::from_utf8_lossy(answer.get(..MOST).unwrap_or(answer));
    without_number(answer.lines().next()?)?;
    let lines = answer
        .lines()
        .map(|line| without_number(line).unwrap_or(line));
    let text = lines.map(str::trim_end).collect::<Vec<_>>().join("\n");
    let text = text.trim_matches('\n').to_owned();
    (!text.is_empty()).then_some(text)
}

/// What is behind the number of the process in a line. `None`: there is none.
fn without_number(line: &str) -> Option<&str> {
    let (number, text) = line.strip_prefix("==")?.split_once("==")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.strip_prefix(' ').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_valgrinds_is_told_from_others() {
        let answer =
            b"==42== \n==42== Invalid read of size 4\n==42==    at 0x1: pick (v.c:4)\n==42== \n";
        let text = "Invalid read of size 4\n   at 0x1: pick (v.c:4)";
        assert_eq!(text_of(answer).as_deref(), Some(text));
        assert_eq!(text_of(b"Unknown monitor command.\n"), None);
        assert_eq!(text_of(b"==x== no\n"), None);
        assert_eq!(text_of(b""), None);
    }
}
