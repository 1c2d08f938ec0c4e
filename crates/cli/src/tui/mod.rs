//! `dapple tui`: the debugger on the full screen.
//!
//! It is a face on the records of `dapple debug --json`, which runs as a child ([`Debugger`]), as for `dapple session`. Each key is a command of the
//! prompt; panes are filled by commands, too ([`query`]). So this process never waits for an adapter, any adapter works, and one that hangs doesn't
//! freeze the screen.
//!
//! [`model`] is what is known, [`app`] the state of the screen, [`act`] what keys do, and [`draw`] draws it, a pure function of the state. This module is
//! the loop between them: keys come first, then as many records as there is time for, and the screen is drawn at most 60 times a second.

mod act;
mod app;
mod draw;
mod keys;
mod layout;
mod log;
mod model;
mod pane;
mod panes;
mod prompt;
mod query;
mod rows;
mod source;
mod terminal;
mod text;
mod theme;
mod told;
mod tree;
mod view;

#[cfg(test)]
mod tests;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use crossbeam_channel::{Receiver, Select, TryRecvError, bounded, unbounded};
use ratatui::crossterm::event::{self, Event, MouseEventKind};
use ratatui::crossterm::style::force_color_output;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};

use crate::debug;
use crate::debug::results::Record;
use crate::debug::style::Style;
use crate::session::child::Debugger;
use app::{App, Effect};
use keys::Action;
use terminal::Terminal;
use theme::Theme;

/// The time between two drawings, where no key was pressed.
const FRAME: Duration = Duration::from_millis(16);
/// How long records are taken before keys are looked for again.
const SLICE: Duration = Duration::from_millis(4);
/// How many records are read ahead. Where more come, who writes them waits.
const RECORDS: usize = 256;
/// The exit code where the terminal is gone: that of SIGHUP.
const TERMINAL_GONE: u8 = 129;
/// How long the debugger may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The options of `dapple tui`.
#[derive(Args)]
#[group(skip)]
pub struct Options {
    /// Leave the mouse to the terminal
    #[arg(long)]
    no_mouse: bool,

    /// Show the session of the `dapple debug` that has started this, whose socket is stdin
    #[arg(long, hide = true)]
    from_prompt: bool,

    #[command(flatten)]
    debug: debug::Options,
}

/// Debugs on the full screen, and returns the exit code.
///
/// # Errors
/// There is no terminal, or the debugger can't be started.
pub fn run(options: Options) -> anyhow::Result<u8> {
    match options.from_prompt {
        true => show_on_screen(&options.debug),
        false => debug_on_screen(options.debug, !options.no_mouse),
    }
}

/// Shows the session of the debugger that has started this process.
fn show_on_screen(options: &debug::Options) -> anyhow::Result<u8> {
    let debugger = Debugger::of_parent()?;
    let mut app = app(options);
    app.is_from_prompt = true;
    show(app, debugger, true)
}

/// The state to begin with.
fn app(options: &debug::Options) -> App {
    let colours = Style::new(options.color).is_enabled();
    force_color_output(colours);
    let program = options.debuggee();
    let program = program.rsplit('/').find(|part| !part.is_empty());
    let program = program.unwrap_or("program");
    App::new(program, Theme { colours }, debug::earlier_lines())
}

/// As [`run`], for `dapple debug --tui`.
pub fn debug_on_screen(mut options: debug::Options, mouse: bool) -> anyhow::Result<u8> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        bail!("the full screen needs a terminal; `dapple debug` works without");
    }
    let mut app = app(&options);
    options.pty = true;
    let (arguments, commands) = options.for_host()?;
    let debugger = Debugger::start(&arguments, None)?;
    for command in commands {
        app.give(&command);
    }
    show(app, debugger, mouse)
}

/// Shows a session until its end, or that of the screen.
fn show(mut app: App, debugger: Debugger, mouse: bool) -> anyhow::Result<u8> {
    let mut screen = Screen {
        terminal: Terminal::take(mouse)?,
        records: read_records(&debugger),
        events: read_events(),
        signals: read_signals()?,
        debugger,
    };
    let outcome = screen.run(&mut app);
    let Screen {
        terminal, debugger, ..
    } = screen;
    drop(terminal);
    debug::remember_lines(app.prompt.new_lines());
    debugger.end(app.is_running(), PATIENCE);
    let (code, error) = outcome?;
    if let Some(error) = error {
        eprintln!("dapple: {error}");
    }
    Ok(code)
}

/// The exit code, and why the debugger has ended, if that is an error.
type End = (u8, Option<String>);

/// The loop, and what it listens to.
struct Screen {
    terminal: Terminal,
    debugger: Debugger,
    records: Receiver<Record>,
    events: Receiver<Event>,
    signals: Receiver<i32>,
}

impl Screen {
    /// Runs until the session ends.
    fn run(&mut self, app: &mut App) -> anyhow::Result<End> {
        let mut drawn = Instant::now();
        let (mut is_old, mut is_urgent) = (true, true);
        loop {
            loop {
                match self.events.try_recv() {
                    Ok(event) => is_urgent |= take_event(app, event),
                    Err(TryRecvError::Empty) => break,
                    // Nobody can type any more.
                    Err(TryRecvError::Disconnected) => return Ok((TERMINAL_GONE, None)),
                }
            }
            while let Ok(signal) = self.signals.try_recv() {
                match signal {
                    SIGTSTP => app.act(Action::Suspend),
                    SIGINT => app.act(Action::Interrupt),
                    _ => return Ok((128 + u8::try_from(signal).unwrap_or(0), None)),
                }
                is_urgent = true;
            }
            let is_gone = self.take_records(app, &mut is_old);
            is_urgent |= is_gone;
            if is_urgent || is_old && drawn.elapsed() >= FRAME {
                self.terminal.draw(app)?;
                drawn = Instant::now();
                (is_old, is_urgent) = (false, false);
            }
            for effect in app.take_effects() {
                if let Some(end) = self.effect(effect, &mut is_urgent)? {
                    return Ok(end);
                }
            }
            if is_gone {
                return Ok((1, Some("the debugger has ended unexpectedly".to_owned())));
            }
            self.wait(
                is_urgent,
                is_old.then(|| FRAME.saturating_sub(drawn.elapsed())),
            );
        }
    }

    /// Takes the records that are there, for a short time. Returns whether there will be no more.
    fn take_records(&self, app: &mut App, is_old: &mut bool) -> bool {
        let end = Instant::now() + SLICE;
        while Instant::now() < end {
            match self.records.try_recv() {
                Ok(record) => {
                    app.record(record);
                    *is_old = true;
                }
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => return true,
            }
        }
        false
    }

    fn effect(&mut self, effect: Effect, is_urgent: &mut bool) -> anyhow::Result<Option<End>> {
        match effect {
            Effect::Give(line) => self.debugger.command(&line),
            Effect::EndWait => self.debugger.interrupt(),
            Effect::Quit => return Ok(Some((0, None))),
            Effect::Ended(code, error) => return Ok(Some((code, error))),
            Effect::Suspend => {
                self.terminal.meanwhile(|| {
                    // It comes back when the shell lets this process go on.
                    let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
                })?;
                *is_urgent = true;
            }
            Effect::Mouse(mouse) => self.terminal.set_mouse(mouse)?,
            Effect::Redraw => {
                self.terminal.forget()?;
                *is_urgent = true;
            }
        }
        Ok(None)
    }

    /// Waits until something has happened, or for a time.
    fn wait(&self, is_urgent: bool, at_most: Option<Duration>) {
        if is_urgent {
            return;
        }
        let mut select = Select::new();
        select.recv(&self.events);
        select.recv(&self.signals);
        select.recv(&self.records);
        match at_most {
            // Records are taken when the screen is due.
            Some(time) => {
                let _ = select.ready_timeout(time);
            }
            None => {
                let _ = select.ready();
            }
        }
    }
}

/// Takes what has happened at the terminal. Returns whether it is to be drawn at once.
fn take_event(app: &mut App, event: Event) -> bool {
    match event {
        Event::Key(key) => app.key(&key),
        Event::Mouse(mouse) if matches!(mouse.kind, MouseEventKind::Up(_)) => return false,
        Event::Mouse(mouse) => app.mouse(&mouse),
        Event::Paste(text) => app.paste(&text),
        // The size is asked for when it is drawn.
        Event::Resize(..) => {}
        Event::FocusGained | Event::FocusLost => return false,
    }
    true
}

fn read_records(debugger: &Debugger) -> Receiver<Record> {
    let lines = debugger.records.clone();
    let (sender, records) = bounded(RECORDS);
    std::thread::spawn(move || {
        for record in lines.iter().filter_map(|line| told::read(&line)) {
            if sender.send(record).is_err() {
                return;
            }
        }
    });
    records
}

fn read_events() -> Receiver<Event> {
    let (sender, events) = unbounded();
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if sender.send(event).is_err() {
                return;
            }
        }
    });
    events
}

fn read_signals() -> anyhow::Result<Receiver<i32>> {
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGTSTP, SIGINT])
        .context("can't listen for signals")?;
    let (sender, receiver) = unbounded();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(signal).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}
