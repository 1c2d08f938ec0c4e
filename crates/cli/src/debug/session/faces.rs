//! The two faces that a session at a terminal may have: the prompt, and the full screen.

use anyhow::{Context, bail};

use super::{Session, State};
use crate::debug::full_screen::FullScreen;
use crate::debug::results;

impl Session {
    /// Shows the session on the full screen, until that is left.
    pub fn show_full_screen(&mut self) -> anyhow::Result<()> {
        if !self.input.is_interactive() {
            bail!("the full screen is for a terminal at which commands are typed");
        }
        let name = self.program.path.file_name().unwrap_or_default();
        let name = match name.is_empty() {
            true => "program".to_owned(),
            false => name.to_string_lossy().into_owned(),
        };
        let (screen, stream) = FullScreen::start(&name, self.screen.style.is_enabled())?;
        let lines = stream.try_clone().context("the socket can't be used")?;
        self.input.take_from(lines);
        self.screen.divert(stream);
        self.full_screen = Some(screen);
        self.use_own_terminal(true);
        if let State::Stopped(_) = self.process.state {
            self.tell_where_it_is()?;
        }
        Ok(())
    }

    /// The full screen has ended: the prompt is back.
    pub(super) fn leave_full_screen(&mut self) {
        self.input.take_from_terminal();
        self.screen.restore();
        // It has given the terminal back before it ended.
        self.full_screen = None;
        self.use_own_terminal(false);
        match self.process.state {
            State::Stopped(_) => {
                if let Err(error) = self.show_selected() {
                    self.screen.print_error(&format!("{error:#}"));
                }
            }
            State::Running | State::Starting => {
                self.screen.print("the program runs; Ctrl-C stops it");
            }
            State::Ready | State::Over => {}
        }
    }

    /// Whether the program gets a terminal of its own, as the full screen has this one. It is so from the next `run` on.
    fn use_own_terminal(&mut self, is_own: bool) {
        self.program.pty = is_own;
        self.program.is_changed = true;
    }

    /// The full screen is told of the stop that it has missed.
    fn tell_where_it_is(&mut self) -> anyhow::Result<()> {
        let thread = self.stop()?.thread;
        let threads = self.threads().unwrap_or_default();
        let shown = results::Thread::of(thread, &threads);
        let Some(cause) = self.process.cause.clone() else {
            return Ok(());
        };
        let process = self.stopped_process();
        self.complete_stop(results::Stop::of(cause, shown, process));
        Ok(())
    }
}
