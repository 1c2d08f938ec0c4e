//! What is known of the program: what the debugger's records have said. Nothing here is drawn or typed.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::debug::results::{
    Breakpoint, Frame, Item, Listing, Ran, Row, State, Stop, Thread, ThreadLine, Value,
};
use crate::debug::style::Style;

use super::log::{Kind, Log};
use super::pane::Pane;
use super::query::{Query, ROWS};
use super::tree::Tree;

/// What the program does before anything is known of it.
const LOADING: &str = "loading";
/// Commands after which the breakpoints are what they were.
const KEEP_BREAKPOINTS: &[&str] = &[
    "next",
    "step",
    "finish",
    "continue",
    "stepi",
    "nexti",
    "interrupt",
    "frame",
    "up",
    "down",
    "thread",
    "print",
    "display",
    "undisplay",
    "info",
    "backtrace",
    "x",
    "list",
    "input",
    "set",
];

/// A list that is asked for by pages.
#[derive(Debug)]
pub struct Paged<T> {
    /// What is known, from the first on.
    pub known: Vec<T>,
    /// Whether that is all.
    pub is_whole: bool,
}

impl<T> Default for Paged<T> {
    fn default() -> Paged<T> {
        Paged {
            known: Vec::new(),
            is_whole: false,
        }
    }
}

impl<T> Paged<T> {
    fn clear(&mut self) {
        self.known.clear();
        self.is_whole = false;
    }
}

/// A frame, or a text between frames.
#[derive(Debug)]
pub enum Entry {
    /// A frame.
    Frame(Box<Frame>),
    /// A text.
    Label(String),
}

/// Lines of text, with those that have changed since the last stop.
#[derive(Debug, Default)]
pub struct Lines {
    /// The lines.
    pub lines: Vec<String>,
    /// Those of the last stop.
    before: Vec<String>,
}

impl Lines {
    /// Whether a line was another one at the last stop. Lines begin with an address.
    pub fn is_changed(&self, line: &str) -> bool {
        let head = |line: &str| line.split(':').next().map(str::to_owned);
        let before = self.before.iter().find(|before| head(before) == head(line));
        before.is_some_and(|before| before != line)
    }
}

/// A place in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// What is known.
#[derive(Debug)]
pub struct Model {
    /// What is debugged, for people.
    pub program: String,
    /// What the program does.
    pub state: State,
    /// The same for people, with the reason.
    pub headline: String,
    /// Counts what is looked at: stops, frames that are selected, commands that may have changed something.
    pub look: u64,
    /// The selected thread.
    pub thread: Option<Thread>,
    /// The frames of its stack.
    pub stack: Paged<Entry>,
    /// The number of the selected frame.
    pub selected: usize,
    /// The function of the selected frame.
    pub function: String,
    /// Where the selected frame is.
    pub place: Option<Place>,
    /// The threads.
    pub threads: Paged<ThreadLine>,
    /// How many of them are of this look. The others were so at the last one.
    threads_now: usize,
    /// The breakpoints.
    pub breakpoints: Vec<Breakpoint>,
    /// Watchpoints, and what else there is to say of breakpoints.
    pub watchpoints: Vec<String>,
    /// The breakpoints have to be asked for anew.
    pub breakpoints_are_old: bool,
    /// The variables of the selected frame.
    pub locals: Tree,
    /// What is shown at each stop.
    pub watches: Tree,
    /// What is shown at each stop, also where it means nothing.
    pub displays: BTreeMap<u32, String>,
    /// The registers.
    pub registers: Tree,
    /// Instructions.
    pub disassembly: Lines,
    /// There are no more instructions than these.
    code_has_ended: bool,
    /// Memory.
    pub memory: Lines,
    /// The command that shows the memory.
    pub memory_command: Option<String>,
    /// Filters of exceptions.
    pub exceptions: Lines,
    /// What was written.
    pub log: Log,
    /// Why panes have nothing to show.
    pub problems: HashMap<Pane, String>,
    /// For which look a pane was filled.
    filled: HashMap<Pane, u64>,
    /// What `list` is to show before the program is started, unless that was asked for.
    main: Option<&'static str>,
}

/// What the screen has to do about a record.
#[derive(Debug, PartialEq, Eq)]
pub enum Shown {
    /// The source is to be shown there.
    Place(Place),
    /// The stack is another one.
    Stack,
}

/// How many rows of a list are on the screen, or above it.
pub type Needs = HashMap<Pane, usize>;

impl Model {
    /// Nothing is known yet.
    pub fn new(program: &str) -> Model {
        Model {
            program: program.to_owned(),
            state: State::NotStarted,
            headline: LOADING.to_owned(),
            look: 0,
            thread: None,
            stack: Paged::default(),
            selected: 0,
            function: String::new(),
            place: None,
            threads: Paged::default(),
            threads_now: 0,
            breakpoints: Vec::new(),
            watchpoints: Vec::new(),
            breakpoints_are_old: true,
            locals: Tree::default(),
            watches: Tree::default(),
            displays: BTreeMap::new(),
            registers: Tree::default(),
            disassembly: Lines::default(),
            code_has_ended: false,
            memory: Lines::default(),
            memory_command: None,
            exceptions: Lines::default(),
            log: Log::default(),
            problems: HashMap::new(),
            filled: HashMap::new(),
            main: Some("main"),
        }
    }

    /// The tree of a pane with values.
    pub fn tree(&self, pane: Pane) -> Option<&Tree> {
        match pane {
            Pane::Locals => Some(&self.locals),
            Pane::Watches => Some(&self.watches),
            Pane::Registers => Some(&self.registers),
            _ => None,
        }
    }

    /// The same, to change it.
    pub fn tree_mut(&mut self, pane: Pane) -> Option<&mut Tree> {
        match pane {
            Pane::Locals => Some(&mut self.locals),
            Pane::Watches => Some(&mut self.watches),
            Pane::Registers => Some(&mut self.registers),
            _ => None,
        }
    }

    /// Takes what the program does now.
    pub fn set_state(&mut self, state: State) {
        if state != self.state || self.headline == LOADING {
            match state {
                State::NotStarted => self.headline = "not started: F5 runs it".to_owned(),
                State::Running => self.headline = "running".to_owned(),
                State::Stopped => {}
                State::Ended => self.ended("the program has ended: F5 runs it again"),
            }
        }
        self.state = state;
    }

    /// The program is gone.
    pub fn ended(&mut self, headline: &str) {
        self.state = State::Ended;
        headline.clone_into(&mut self.headline);
        self.look += 1;
        self.stack.clear();
        self.threads.clear();
        self.thread = None;
        self.place = None;
        self.locals.fill("", Vec::new());
        self.registers.fill("", Vec::new());
        self.breakpoints_are_old = true;
    }

    /// Takes a stop.
    pub fn stopped(&mut self, stop: Stop) -> Vec<Shown> {
        let is_beside = stop.process.as_ref().is_some_and(|process| process.beside);
        let text = stop.text(Style::plain());
        if !stop.cause.expected {
            self.log.say(Kind::Stop, &text);
        }
        if is_beside || stop.selected_thread.is_some() {
            self.look += 1;
            return Vec::new();
        }
        for tree in [&mut self.locals, &mut self.watches, &mut self.registers] {
            tree.resumes();
        }
        for lines in [&mut self.memory, &mut self.disassembly] {
            lines.before.clone_from(&lines.lines);
        }
        self.headline = text.lines().next().unwrap_or_default().to_owned();
        self.state = State::Stopped;
        self.thread = Some(stop.thread);
        self.look += 1;
        self.take_frames(stop.frames, stop.more_frames);
        self.breakpoints_are_old |= !stop.cause.breakpoints.is_empty();
        if stop.more_locals == 0 {
            let locals = stop.locals.into_iter().map(|value| (None, value));
            let function = self.function.clone();
            self.locals.fill(&function, locals.collect());
            self.filled.insert(Pane::Locals, self.look);
            self.problems.remove(&Pane::Locals);
        }
        let mut shown = vec![Shown::Stack];
        shown.extend(self.place.clone().map(Shown::Place));
        let displays: Vec<(u32, Value)> = displays_of(&stop.items);
        self.fill_watches(displays);
        self.say_items(&stop.items);
        shown
    }

    fn take_frames(&mut self, frames: Vec<Frame>, are_more: bool) {
        let selected = frames.iter().find(|frame| frame.selected);
        let selected = selected.or(frames.first());
        self.selected = selected.and_then(|frame| frame.index).unwrap_or(0);
        self.function = selected.map_or_else(String::new, |frame| frame.function.clone());
        self.place = selected.and_then(place_of);
        let in_order = { frames.into_iter().enumerate() }
            .take_while(|(at, frame)| frame.index == Some(*at))
            .map(|(_, frame)| Entry::Frame(Box::new(frame)));
        self.stack.known = in_order.collect();
        self.stack.is_whole = !are_more;
    }

    /// Takes what a command of the user's has shown, and says it in the log.
    pub fn ran(&mut self, ran: &Ran, name: Option<&str>) -> Vec<Shown> {
        self.set_state(ran.state);
        self.say_items(&ran.items);
        if let Some(error) = &ran.error {
            self.log.say(Kind::Error, &error.message);
        } else {
            match name {
                Some("undisplay") => self.displays.clear(),
                Some("x") => self.note_memory(ran),
                Some("catch") => self.refill(Pane::Exceptions),
                _ => {}
            }
        }
        if ran.state == State::Stopped {
            self.look += 1;
        }
        self.breakpoints_are_old |= name.is_none_or(|name| !KEEP_BREAKPOINTS.contains(&name));
        self.absorb(&ran.items)
    }

    /// Memory that the user has asked for is shown at each stop from now on.
    fn note_memory(&mut self, ran: &Ran) {
        // `x` alone goes on from there, which is another command each time.
        if ran.command.trim() != "x" {
            self.memory_command = Some(ran.command.trim().to_owned());
        }
    }

    /// Takes what has been shown between commands.
    pub fn noticed(&mut self, items: &[Item]) -> Vec<Shown> {
        self.say_items(items);
        self.absorb(items)
    }

    /// Looks at what items say of the selection.
    fn absorb(&mut self, items: &[Item]) -> Vec<Shown> {
        let mut shown = Vec::new();
        for item in items {
            match item {
                Item::Thread(thread) => {
                    self.thread = Some(thread.clone());
                    self.stack.clear();
                    shown.push(Shown::Stack);
                }
                Item::Frame(frame) if frame.selected => {
                    self.selected = frame.index.unwrap_or(0);
                    self.function.clone_from(&frame.function);
                    self.place = place_of(frame);
                    shown.extend(self.place.clone().map(Shown::Place));
                }
                Item::Source(listing) => shown.extend(place_in(listing).map(Shown::Place)),
                Item::Display(display) => {
                    let (number, name) = (display.number, display.value.name.clone());
                    self.displays.insert(number, name);
                    self.filled.remove(&Pane::Watches);
                }
                Item::Breakpoint(_) => self.breakpoints_are_old = true,
                _ => {}
            }
        }
        shown
    }

    /// Says items in the log. Source has its own pane.
    fn say_items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Source(_) => {}
                Item::Problem(failure) => self.log.say(Kind::Error, &failure.message),
                item => self.log.say(Kind::Answer, &item.text(Style::plain())),
            }
        }
    }

    fn fill_watches(&mut self, values: Vec<(u32, Value)>) {
        let named = values
            .iter()
            .map(|(number, value)| (*number, value.name.clone()));
        self.displays.extend(named);
        let mut values: BTreeMap<u32, Value> = values.into_iter().collect();
        let all = self.displays.iter().map(|(number, name)| {
            let nothing = || Value {
                name: name.clone(),
                value: "means nothing here".to_owned(),
                ..Value::default()
            };
            (Some(*number), values.remove(number).unwrap_or_else(nothing))
        });
        let all = all.collect();
        let function = self.function.clone();
        self.watches.fill(&function, all);
        self.filled.insert(Pane::Watches, self.look);
    }

    /// Takes the answer to a query. `look`: when it was asked.
    pub fn answered(&mut self, query: Query, look: u64, ran: Ran) -> Vec<Shown> {
        self.set_state(ran.state);
        let pane = query.pane();
        let is_of_any = matches!(query, Query::Breakpoints | Query::Main(_));
        if look != self.look && !is_of_any {
            return Vec::new();
        }
        self.filled.insert(pane, look);
        self.problems.remove(&pane);
        if let Some(error) = ran.error {
            match query {
                // A script has no main function, but is its own source.
                Query::Main("main") => self.main = Some("1"),
                Query::Main(_) => {}
                Query::Parts(pane, wanted) => {
                    if let Some(tree) = self.tree_mut(pane) {
                        tree.has_no_parts(&wanted.path);
                    }
                }
                Query::Frames(_) => self.stack.is_whole = true,
                Query::Threads(_) => self.threads.is_whole = true,
                Query::Code(_) => self.code_has_ended = true,
                Query::Breakpoints => {}
                query => self.fail(&query, error.message),
            }
            return Vec::new();
        }
        self.fill(query, ran.items)
    }

    fn fail(&mut self, query: &Query, message: String) {
        let pane = query.pane();
        self.problems.insert(pane, message);
        match query {
            Query::Disassembly => self.disassembly.lines.clear(),
            Query::Memory(_) => self.memory.lines.clear(),
            Query::Exceptions => self.exceptions.lines.clear(),
            _ => {
                if let Some(tree) = self.tree_mut(pane) {
                    tree.fill("", Vec::new());
                }
            }
        }
    }

    fn fill(&mut self, query: Query, items: Vec<Item>) -> Vec<Shown> {
        let function = self.function.clone();
        match query {
            Query::Frames(from) => self.fill_frames(from, items),
            Query::Locals => self.locals.fill(&function, values_of(items)),
            Query::Registers => self.registers.fill("registers", values_of(items)),
            Query::Watches => self.fill_watches(displays_of(&items)),
            Query::Threads(from) => self.fill_threads(from, items),
            Query::Breakpoints => self.fill_breakpoints(items),
            Query::Disassembly => {
                self.disassembly.lines = lines_of(&items);
                self.code_has_ended = false;
            }
            Query::Code(_) => {
                let lines = lines_of(&items);
                // The first is the last one that is there, perhaps with its source line in front of it.
                let last = self.disassembly.lines.last();
                let known = lines.iter().position(|line| Some(line) == last);
                let count = self.disassembly.lines.len();
                let new = lines.into_iter().skip(known.map_or(0, |at| at + 1));
                self.disassembly.lines.extend(new);
                self.code_has_ended = self.disassembly.lines.len() == count;
            }
            Query::Memory(_) => self.memory.lines = lines_of(&items),
            Query::Exceptions => self.exceptions.lines = lines_of(&items),
            Query::Parts(pane, wanted) => {
                let values = values_of(items).into_iter().map(|(_, value)| value);
                let values = values.collect();
                if let Some(tree) = self.tree_mut(pane) {
                    tree.fill_parts(&wanted, values);
                }
            }
            Query::Main(_) => return self.absorb(&items),
        }
        Vec::new()
    }

    fn fill_frames(&mut self, from: usize, items: Vec<Item>) {
        self.stack.known.truncate(from);
        for item in items {
            let Item::Stack(stack) = item else { continue };
            self.stack.is_whole = stack.rest.is_none();
            let entries = stack.rows.into_iter().map(|row| match row {
                Row::Frame(frame) => Entry::Frame(frame),
                Row::Label(label) => Entry::Label(label.text),
                Row::Folded(folded) => Entry::Label(folded.whose),
            });
            self.stack.known.extend(entries);
        }
    }

    fn fill_threads(&mut self, from: usize, items: Vec<Item>) {
        let lines = items.into_iter().filter_map(|item| match item {
            Item::ThreadLine(line) => Some(line),
            _ => None,
        });
        let lines: Vec<ThreadLine> = lines.collect();
        let known = &mut self.threads.known;
        let from = from.min(known.len());
        self.threads_now = from + lines.len();
        self.threads.is_whole = lines.len() < ROWS;
        let end = match self.threads.is_whole {
            true => known.len(),
            false => self.threads_now.min(known.len()),
        };
        drop(known.splice(from..end, lines));
    }

    fn fill_breakpoints(&mut self, items: Vec<Item>) {
        self.breakpoints_are_old = false;
        self.breakpoints.clear();
        self.watchpoints.clear();
        for item in items {
            match item {
                Item::Breakpoint(breakpoint) => self.breakpoints.push(breakpoint),
                Item::Watchpoint(watchpoint) => self.watchpoints.push(watchpoint.text()),
                // That there are none is seen.
                _ => {}
            }
        }
    }

    /// What is to be asked for next, for the panes that are on the screen. `needs`: how many rows of them are wanted.
    pub fn next_query(&mut self, visible: &[Pane], needs: &Needs) -> Option<Query> {
        if std::mem::take(&mut self.breakpoints_are_old) {
            return Some(Query::Breakpoints);
        }
        let is_loaded = self.headline != LOADING;
        if self.state == State::NotStarted
            && is_loaded
            && let Some(main) = self.main.take()
        {
            return Some(Query::Main(main));
        }
        if self.state != State::Stopped {
            return None;
        }
        visible.iter().find_map(|pane| self.need_of(*pane, needs))
    }

    fn need_of(&self, pane: Pane, needs: &Needs) -> Option<Query> {
        let is_filled = self.filled.get(&pane) == Some(&self.look);
        let needed = needs.get(&pane).copied().unwrap_or(0);
        match pane {
            Pane::Stack => {
                let known = self.stack.known.len();
                let is_wanted = !self.stack.is_whole && known < needed.max(1);
                is_wanted.then_some(Query::Frames(known))
            }
            Pane::Threads => {
                // What is known stays until it is asked for anew.
                let known = if is_filled { self.threads_now } else { 0 };
                let is_wanted = !is_filled || !self.threads.is_whole && known < needed;
                is_wanted.then_some(Query::Threads(known))
            }
            Pane::Locals | Pane::Watches | Pane::Registers => {
                if pane == Pane::Watches && self.displays.is_empty() {
                    return None;
                }
                if !is_filled {
                    return Some(match pane {
                        Pane::Locals => Query::Locals,
                        Pane::Watches => Query::Watches,
                        _ => Query::Registers,
                    });
                }
                let wanted = self.tree(pane)?.wanted()?;
                Some(Query::Parts(pane, wanted))
            }
            Pane::Disassembly if !is_filled => Some(Query::Disassembly),
            Pane::Disassembly if self.disassembly.lines.len() < needed && !self.code_has_ended => {
                let last = self.disassembly.lines.last()?;
                let address = last
                    .split_whitespace()
                    .find(|word| word.starts_with("0x"))?;
                Some(Query::Code(address.to_owned()))
            }
            Pane::Memory if !is_filled => self.memory_command.clone().map(Query::Memory),
            Pane::Exceptions if !is_filled => Some(Query::Exceptions),
            _ => None,
        }
    }

    /// Another command shows the memory.
    pub fn show_memory(&mut self, command: String) {
        self.memory_command = Some(command);
        self.filled.remove(&Pane::Memory);
    }

    /// A pane is to be filled anew.
    pub fn refill(&mut self, pane: Pane) {
        self.filled.remove(&pane);
    }

    /// The breakpoint at a line.
    pub fn breakpoint_at(&self, path: &std::path::Path, line: usize) -> Option<&Breakpoint> {
        self.breakpoints.iter().find(|breakpoint| {
            let is_line = breakpoint.line.and_then(|it| usize::try_from(it).ok()) == Some(line);
            let file = breakpoint.path.as_deref().map(std::path::Path::new);
            is_line && file == Some(path)
        })
    }
}

/// Where a frame is.
pub fn place_of(frame: &Frame) -> Option<Place> {
    Some(Place {
        path: PathBuf::from(frame.path.as_ref()?),
        line: frame.line?,
    })
}

fn place_in(listing: &Listing) -> Option<Place> {
    let middle = listing.lines.get(listing.lines.len() / 2);
    // The program may be elsewhere in the file.
    let is_listed = |line: &usize| listing.lines.iter().any(|listed| listed.number == *line);
    let current = listing.current.filter(is_listed);
    Some(Place {
        path: PathBuf::from(&listing.path),
        line: current.or(middle.map(|line| line.number))?,
    })
}

fn values_of(items: Vec<Item>) -> Vec<(Option<u32>, Value)> {
    let mut values = Vec::new();
    for item in items {
        if let Item::Values(all) = item {
            values.extend(all.values.into_iter().map(|value| (None, value)));
        }
    }
    values
}

fn displays_of(items: &[Item]) -> Vec<(u32, Value)> {
    let displays = items.iter().filter_map(|item| match item {
        Item::Display(display) => Some((display.number, display.value.clone())),
        _ => None,
    });
    displays.collect()
}

fn lines_of(items: &[Item]) -> Vec<String> {
    let mut lines = Vec::new();
    for item in items {
        let text = item.text(Style::plain());
        lines.extend(text.lines().map(str::to_owned));
    }
    lines
}
