//! The full screen in the middle of a session (`tui` at the prompt).
//!
//! It is a process of its own, `dapple tui`, which has the terminal meanwhile. A socket, its stdin, leads from the session to it: the session's records
//! go there, as with `--json`, and lines come from there in place of those of the line editor. Once it has ended, the prompt is back.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The option of `dapple tui` that says so.
pub const FROM_PROMPT: &str = "--from-prompt";

/// How long it may take to give the terminal back.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Ends what it has switched on, for one that could not do so itself: synchronized output, the mouse, pasting, the other screen; and shows the cursor
/// (xterm's private modes).
const GIVE_BACK: &[u8] = b"\x1b[?2026l\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[?1049l\x1b[?25h";

/// The process. Dropping this waits for its end, so that the terminal is as it was before.
#[derive(Debug)]
pub struct FullScreen {
    child: Child,
    /// How the terminal was.
    before: Option<Termios>,
}

impl FullScreen {
    /// Starts it, and returns it with the session's end of the socket. `program`: what is debugged, for its first row.
    ///
    /// # Errors
    /// It can't be started.
    pub fn start(program: &str, colours: bool) -> anyhow::Result<(FullScreen, UnixStream)> {
        let own = std::env::current_exe().context("this program's own file can't be found")?;
        let before = tcgetattr(std::io::stdout()).ok();
        let (ours, theirs) = UnixStream::pair().context("there is no socket")?;
        let child = Command::new(own)
            .args(["tui", FROM_PROMPT, "--color"])
            .arg(if colours { "always" } else { "never" })
            .args(["--", program])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .context("the full screen can't be started")?;
        Ok((FullScreen { child, before }, ours))
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        let until = Instant::now() + PATIENCE;
        let ended = loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() > until => {
                    let _ = self.child.kill();
                }
                Ok(None) => {}
                Ok(Some(status)) => break status.code(),
                Err(_) => break None,
            }
            std::thread::park_timeout(PAUSE);
        };
        if ended.is_none() {
            // A signal has ended it. The terminal may be gone, too.
            let mut terminal = std::io::stdout();
            let _ = terminal
                .write_all(GIVE_BACK)
                .and_then(|()| terminal.flush());
            if let Some(before) = &self.before {
                let _ = tcsetattr(&terminal, OptionalActions::Now, before);
            }
        }
    }
}
