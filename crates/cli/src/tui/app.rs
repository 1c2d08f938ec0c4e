//! The state of the screen: what is known, where it is looked at, and what is typed. Records and keys change it; what is to be done about them
//! outside are its effects. It is drawn by [`super::draw`], which changes nothing.

use ratatui::layout::Rect;

use crate::debug;
use crate::debug::results::{Ran, Record, State};

use super::layout::{self, Group, Purpose};
use super::log::{Kind, Line};
use super::model::{Model, Needs, Place, Shown};
use super::pane::Pane;
use super::panes::help;
use super::prompt::Prompt;
use super::query::Dialogue;
use super::rows::{self, Spot, StackRow, ThreadRow};
use super::source::Source;
use super::theme::Theme;
use super::view::{View, Views};

/// So many rows below the screen are asked for as well.
const AHEAD: usize = 50;
/// What the prompt looks like.
pub const PROMPT: &str = "(dapple) ";
/// Commands for breakpoints, which are carried out while the program runs, too.
const OF_BREAKPOINTS: &[&str] = &[
    "break",
    "tbreak",
    "delete",
    "clear",
    "disable",
    "enable",
    "condition",
    "hits",
    "ignore",
    "log",
    "catch",
];

/// What is to be done outside.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// The debugger gets a line.
    Give(String),
    /// The debugger's wait for its adapter is to end.
    EndWait,
    /// The session is to end.
    Quit,
    /// The debugger has ended, with this exit code, and perhaps says why.
    Ended(u8, Option<String>),
    /// The process is to be suspended.
    Suspend,
    /// The mouse is to be taken, or left to the terminal.
    Mouse(bool),
    /// Everything is to be drawn anew.
    Redraw,
}

/// The state.
pub struct App {
    /// What is known.
    pub model: Model,
    /// The source text.
    pub source: Source,
    /// Where panes are looked at.
    pub views: Views,
    /// The command that is typed.
    pub prompt: Prompt,
    /// What is typed for the program.
    pub input: Prompt,
    /// The look.
    pub theme: Theme,
    /// Whether there is a prompt to go back to.
    pub is_from_prompt: bool,
    /// The pane that gets the keys.
    pub focus: Pane,
    /// The groups on the screen.
    pub groups: Vec<Group>,
    /// The size of the screen.
    pub size: Rect,
    /// Where the help is looked at, if it is shown.
    pub help: Option<View>,
    /// What is said until the next key.
    pub notice: Option<String>,
    /// What the screen is for.
    pub purpose: Purpose,
    /// The rows of the stack.
    pub stack_rows: Vec<StackRow>,
    /// The rows of the list of threads.
    pub thread_rows: Vec<ThreadRow>,
    /// Runs of frames that are not folded, by their first.
    pub(super) opened_frames: Vec<usize>,
    /// Spots whose threads have a row each.
    pub(super) opened_spots: Vec<Spot>,
    /// Whether the pane with the keys is alone.
    pub(super) is_zoomed: bool,
    /// Whether the mouse is taken.
    pub(super) takes_mouse: bool,
    /// Whether the next key for it ends the session.
    pub(super) quits: bool,
    pub(super) dialogue: Dialogue,
    pub(super) effects: Vec<Effect>,
    /// The panes that were chosen, the last one first.
    recent: Vec<Pane>,
    /// The last command, which an empty line may repeat.
    last_command: String,
    /// How many lines of the log have been seen.
    log_seen: u64,
    /// The cursor is to be on the selected frame.
    follows_selected: bool,
}

impl App {
    /// Nothing is known yet.
    pub fn new(program: &str, theme: Theme, history: Vec<String>) -> App {
        App {
            model: Model::new(program),
            source: Source::default(),
            views: Views::default(),
            prompt: Prompt::with_history(history),
            input: Prompt::default(),
            theme,
            is_from_prompt: false,
            focus: Pane::Prompt,
            groups: Vec::new(),
            size: Rect::default(),
            help: None,
            notice: None,
            purpose: Purpose::default(),
            stack_rows: Vec::new(),
            thread_rows: Vec::new(),
            opened_frames: Vec::new(),
            opened_spots: Vec::new(),
            is_zoomed: false,
            takes_mouse: true,
            quits: false,
            dialogue: Dialogue::default(),
            effects: Vec::new(),
            recent: Vec::new(),
            last_command: String::new(),
            log_seen: 0,
            follows_selected: false,
        }
    }

    /// What is to be done outside, in order.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Gives the debugger a command of the user's. An empty one repeats the last, if that can be repeated.
    pub fn give(&mut self, line: &str) {
        let mut line = line.trim().to_owned();
        if line.is_empty() {
            match debug::repeated(&self.last_command) {
                Some(repeated) => line = repeated,
                None => return,
            }
        }
        self.last_command.clone_from(&line);
        self.model
            .log
            .say(Kind::Command, &format!("{PROMPT}{line}"));
        self.views.of_mut(Pane::Prompt).top = 0;
        match debug::command_name(&line) {
            Some("quit") if !self.is_from_prompt => return self.effects.push(Effect::Quit),
            Some("tui") if self.is_from_prompt => return self.effects.push(Effect::Quit),
            Some("run" | "start") => self.source.reload(),
            // Others wait for the program's stop.
            Some(name) if self.is_running() && OF_BREAKPOINTS.contains(&name) => {
                line = format!("aside {line}");
            }
            _ => {}
        }
        self.dialogue.ask(&line, None, self.model.look);
        self.effects.push(Effect::Give(line));
    }

    /// Whether the program runs.
    pub fn is_running(&self) -> bool {
        self.model.state == State::Running
    }

    /// How many commands wait for their answers.
    pub fn waiting(&self) -> usize {
        self.dialogue.waiting()
    }

    /// Takes a record of the debugger.
    pub fn record(&mut self, record: Record) {
        match record {
            Record::Command(ran) => self.answered(ran),
            Record::Stop(stop) => {
                if self.is_from_prompt {
                    // The program may have written to the terminal.
                    self.effects.push(Effect::Redraw);
                }
                let shown = self.model.stopped(*stop);
                self.show_all(shown);
            }
            Record::Output(output) => self.model.log.output(output.stream, &output.text),
            Record::Exited(exited) => {
                let text = exited.text();
                self.model.log.say(Kind::Stop, &text);
                // The program itself goes on without a process of its own.
                if exited.process.is_none() {
                    self.model.ended(&text);
                }
            }
            Record::Resumed(_) => self.model.set_state(State::Running),
            Record::Notice(notice) => {
                let shown = self.model.noticed(&notice.items);
                self.show_all(shown);
            }
            Record::End(end) => {
                let error = end.error.map(|error| error.message);
                self.effects.push(Effect::Ended(end.code, error));
            }
        }
    }

    fn answered(&mut self, ran: Ran) {
        let asked = match ran.by {
            None => self.dialogue.answered(&ran.command),
            Some(_) => None,
        };
        let shown = match asked {
            Some(asked) => match asked.query {
                Some(query) => self.model.answered(query, asked.look, ran),
                None => self.ran(&ran),
            },
            None => {
                let line = format!("{PROMPT}{}", ran.command);
                self.model.log.say(Kind::Command, &line);
                self.ran(&ran)
            }
        };
        self.show_all(shown);
    }

    fn ran(&mut self, ran: &Ran) -> Vec<Shown> {
        let line = ran.command.strip_prefix("aside ").unwrap_or(&ran.command);
        self.model.ran(ran, debug::command_name(line))
    }

    fn show_all(&mut self, shown: Vec<Shown>) {
        for one in shown {
            match one {
                Shown::Place(place) => self.show_place(&place),
                Shown::Stack => {
                    self.opened_frames.clear();
                    *self.views.of_mut(Pane::Stack) = View::default();
                    self.follows_selected = true;
                    *self.views.of_mut(Pane::Disassembly) = View::default();
                }
            }
        }
    }

    /// Shows a place in the source.
    pub fn show_place(&mut self, place: &Place) {
        self.source.open(&place.path);
        let rows = self.source.lines.len();
        let view = self.views.of_mut(Pane::Source);
        view.rows = rows;
        view.left = 0;
        view.go_to(place.line.saturating_sub(1));
    }

    /// Gives a pane the keys, and shows it.
    pub fn show(&mut self, pane: Pane) {
        self.recent.retain(|one| *one != pane);
        self.recent.insert(0, pane);
        self.focus = pane;
    }

    /// The pane without text that had the keys last.
    pub fn last_pane(&self) -> Pane {
        let last = self.recent.iter().find(|pane| !pane.takes_text());
        last.copied().unwrap_or(Pane::Source)
    }

    /// The panes that are on the screen. The one with the keys is the first.
    fn visible(&self) -> Vec<Pane> {
        let mut panes: Vec<Pane> = self.groups.iter().map(|group| group.shown).collect();
        panes.sort_by_key(|pane| *pane != self.focus);
        panes
    }

    /// Brings everything in order for the screen: call it before drawing. Asks for what is missing on it.
    pub fn prepare(&mut self, size: Rect) {
        self.size = size;
        self.arrange();
        if let Some(view) = &mut self.help {
            view.height = usize::from(help::area(size).height.saturating_sub(1));
            view.rows = help::rows().len();
        }
        let source = *self.views.of(Pane::Source);
        if self.theme.colours {
            self.source.colour(source.top, source.height);
        }
        self.ask();
    }

    /// Makes the rows of all panes, and keeps the views on them. Keys that come in one go are taken before anything is drawn: after one that
    /// changes the rows, this has to be done for the next.
    pub(super) fn arrange(&mut self) {
        let size = self.size;
        let zoomed = self.is_zoomed.then_some(self.focus);
        self.groups = layout::groups(size, self.purpose, &self.recent, zoomed);
        self.stack_rows = rows::of_stack(
            &self.model.stack.known,
            self.model.selected,
            &self.opened_frames,
        );
        if std::mem::take(&mut self.follows_selected) {
            let selected = StackRow::Entry(self.model.selected);
            let row = self.stack_rows.iter().position(|row| *row == selected);
            self.views.of_mut(Pane::Stack).cursor = row.unwrap_or(0);
        }
        self.thread_rows = rows::of_threads(&self.model.threads.known, &self.opened_spots);
        for group in self.groups.clone() {
            let height = usize::from(group.inner().height);
            let pane = group.shown;
            if pane.takes_text() {
                self.fit_log(pane, height);
                continue;
            }
            let rows = self.rows(pane);
            self.views.of_mut(pane).fit(rows, height);
        }
        self.log_seen = self.model.log.total;
    }

    /// Asks for what panes on the screen lack, unless an answer is waited for.
    fn ask(&mut self) {
        if !self.dialogue.is_quiet() {
            return;
        }
        let visible = self.visible();
        let mut needs = Needs::new();
        for pane in &visible {
            let view = self.views.of(*pane);
            let mut rows = view.top + view.height + AHEAD;
            if *pane == Pane::Stack {
                // Folded frames take no rows, but are known.
                rows += self
                    .model
                    .stack
                    .known
                    .len()
                    .saturating_sub(self.stack_rows.len());
            }
            if *pane == Pane::Threads {
                rows += self
                    .model
                    .threads
                    .known
                    .len()
                    .saturating_sub(self.thread_rows.len());
            }
            needs.insert(*pane, rows);
        }
        if let Some(query) = self.model.next_query(&visible, &needs) {
            let line = query.line();
            self.dialogue.ask(&line, Some(query), self.model.look);
            self.effects.push(Effect::Give(line));
        }
    }

    /// How many rows a pane has.
    pub fn rows(&self, pane: Pane) -> usize {
        match pane {
            Pane::Source => self.source.lines.len(),
            Pane::Stack => self.stack_rows.len(),
            Pane::Locals | Pane::Watches | Pane::Registers => {
                self.model.tree(pane).map_or(0, |tree| tree.rows().len())
            }
            Pane::Threads => self.thread_rows.len(),
            Pane::Breakpoints => self.model.breakpoints.len() + self.model.watchpoints.len(),
            Pane::Disassembly => self.model.disassembly.lines.len(),
            Pane::Memory => self.model.memory.lines.len(),
            Pane::Exceptions => self.model.exceptions.lines.len(),
            Pane::Prompt | Pane::Output => 0,
        }
    }

    /// Whether a pane shows a line of the log. The prompt has the program's output only where that has no pane of its own.
    pub fn has_line(&self, pane: Pane, line: &Line) -> bool {
        match pane {
            Pane::Output => line.kind.is_of_program(),
            _ => !line.kind.is_of_program() || !self.is_output_shown(),
        }
    }

    fn is_output_shown(&self) -> bool {
        self.groups.iter().any(|group| group.shown == Pane::Output)
    }

    /// What is written stays where it is while somebody looks at it: its view's `top` is how many lines are below the screen.
    fn fit_log(&mut self, pane: Pane, height: usize) {
        let new = self.model.log.total.saturating_sub(self.log_seen);
        let lines = self.model.log.lines();
        let count = lines
            .iter()
            .rev()
            .take(usize::try_from(new).unwrap_or(usize::MAX));
        let new = count.filter(|line| self.has_line(pane, line)).count();
        let rows = lines
            .iter()
            .filter(|line| self.has_line(pane, line))
            .count();
        let view = self.views.of_mut(pane);
        if view.top > 0 {
            view.top += new;
        }
        (view.height, view.rows) = (height, rows);
        view.top = view.top.min(rows.saturating_sub(1));
    }
}
