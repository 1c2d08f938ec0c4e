//! The terminal: taken for the full screen, and given back as it was, whatever ends the session.

use std::io::{self, BufWriter, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute, queue};

use super::app::App;
use super::draw::draw;

/// So much is written at once: a whole screen.
const BUFFER: usize = 256 << 10;

/// Has the terminal tell presses, releases and the wheel of the mouse, in the encoding for large screens (xterm's modes 1000 and 1006). Not its
/// movements, which would be many.
const TAKE_MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
const LEAVE_MOUSE: &str = "\x1b[?1006l\x1b[?1000l";

/// Whether the terminal is taken.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal.
pub struct Terminal {
    screen: ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    mouse: bool,
}

impl Terminal {
    /// Takes the terminal. A panic gives it back before it is reported.
    pub fn take(mouse: bool) -> anyhow::Result<Terminal> {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            report(panic);
        }));
        enter(mouse).context("the terminal can't be used for the full screen")?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(BUFFER, stdout()));
        let screen = ratatui::Terminal::new(backend).context("the terminal has no size")?;
        Ok(Terminal { screen, mouse })
    }

    /// Draws the state. The size may have changed.
    pub fn draw(&mut self, app: &mut App) -> anyhow::Result<()> {
        self.screen.autoresize()?;
        let size = self.screen.get_frame().area();
        app.prepare(size);
        queue!(self.screen.backend_mut(), BeginSynchronizedUpdate)?;
        self.screen.draw(|frame| draw(app, frame))?;
        execute!(self.screen.backend_mut(), EndSynchronizedUpdate)?;
        Ok(())
    }

    /// Draws everything from now on, whatever is there.
    pub fn forget(&mut self) -> anyhow::Result<()> {
        // `clear` would ask the terminal for its cursor, whose answer the thread that reads keys would get.
        let size = self.screen.size()?;
        Ok(self.screen.resize(size.into())?)
    }

    /// Takes the mouse, or leaves it to the terminal.
    pub fn set_mouse(&mut self, mouse: bool) -> io::Result<()> {
        self.mouse = mouse;
        match mouse {
            true => execute!(stdout(), Print(TAKE_MOUSE)),
            false => execute!(stdout(), Print(LEAVE_MOUSE)),
        }
    }

    /// Gives the terminal back, lets something happen, and takes it again.
    pub fn meanwhile(&mut self, act: impl FnOnce()) -> anyhow::Result<()> {
        give_back();
        act();
        enter(self.mouse)?;
        self.forget()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    match mouse {
        true => execute!(stdout(), Print(TAKE_MOUSE)),
        false => Ok(()),
    }
}

/// Gives the terminal back, if it is taken. It may be gone.
fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(
        stdout(),
        EndSynchronizedUpdate,
        Print(LEAVE_MOUSE),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = stdout().flush();
    let _ = disable_raw_mode();
}
