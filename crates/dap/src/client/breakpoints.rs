//! Breakpoints under ids that stay the same, whatever the adapter does with its own.
//!
//! The protocol sets all breakpoints of a source, or of a kind, at once, and answers them by their order. The adapter's ids are optional,
//! may be other ones in each answer, and end with the session. [`Breakpoints`] keeps what is wanted and what the adapter makes of it. It
//! tells which requests to send, and takes their answers and the `breakpoint` events, in the order received. It does no I/O;
//! [`send`](Breakpoints::send) does both steps with a client.
//!
//! ```
//! use dapple_dap::client::breakpoints::{Breakpoints, Wanted};
//! # use dapple_dap::{ClientError, Server};
//! # use dapple_dap::types::*;
//!
//! # let server = Server::<()>::builder()
//! #     .on::<SetBreakpointsRequest>(|_, asked, _| {
//! #         let lines = asked.breakpoints.unwrap_or_default().into_iter().map(|asked| asked.line + 1);
//! #         Ok(SetBreakpointsResponse::new(lines.map(|line| Breakpoint::new(true).with_line(line)).collect()))
//! #     })
//! #     .build();
//! # let (client, session) = dapple_dap::testing::TestClient::of(&server, ());
//! # client.initialize();
//! # let client: &dapple_dap::Client = &client;
//! let mut breakpoints = Breakpoints::new();
//! let first = breakpoints.add(Wanted::line("/src/a.c", 7));
//! let other = breakpoints.add(Wanted::line("/src/a.c", 9));
//! breakpoints.send(client)?;
//! breakpoints.remove(first);
//! breakpoints.send(client)?;
//! let entry = breakpoints.get(other).unwrap();
//! assert!(entry.is_verified());
//! assert_eq!(entry.line(), Some(10));
//! # client.request::<DisconnectRequest>(DisconnectArguments::new())?;
//! # session.join().unwrap();
//! # Ok::<(), ClientError>(())
//! ```

mod update;

use std::fmt;

use crate::types::{
    Breakpoint, BreakpointEventBody, BreakpointEventReason, DataBreakpoint, FunctionBreakpoint,
    InstructionBreakpoint, Source, SourceBreakpoint, StoppedEventBody,
};
pub use update::{Arguments, Update};

/// The id of a breakpoint for the user. It is not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BreakpointId(
    /// The number, from 1 unless the caller [chooses](Breakpoints::put) another.
    pub u32,
);

impl fmt::Display for BreakpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where a breakpoint is wanted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Wanted {
    /// At a place in a source.
    Source(Box<Source>, SourceBreakpoint),
    /// At a function.
    Function(FunctionBreakpoint),
    /// When data is accessed.
    Data {
        /// The breakpoint, with the `dataId` of `dataBreakpointInfo`.
        breakpoint: DataBreakpoint,
        /// `canPersist` of `dataBreakpointInfo`: whether the `dataId` is good for later sessions.
        persists: bool,
    },
    /// At an instruction.
    Instruction(InstructionBreakpoint),
}

impl Wanted {
    /// At a line of a file, counted as `initialize` says.
    pub fn line(path: impl Into<String>, line: i64) -> Self {
        Self::in_file(path, SourceBreakpoint::new(line))
    }

    /// In a file, with a condition, a column and the like.
    pub fn in_file(path: impl Into<String>, breakpoint: SourceBreakpoint) -> Self {
        let path = path.into();
        let name = path.rsplit(['/', '\\']).next().map(str::to_owned);
        let mut source = Source::new().with_path(path);
        source.name = name;
        Self::Source(Box::new(source), breakpoint)
    }

    /// At a function, by its name.
    pub fn function(name: impl Into<String>) -> Self {
        Self::Function(FunctionBreakpoint::new(name))
    }

    /// The set that is sent together.
    pub fn set(&self) -> Set {
        match self {
            Self::Source(source, _) => Set::Source(source.clone()),
            Self::Function(_) => Set::Function,
            Self::Data { .. } => Set::Data,
            Self::Instruction(_) => Set::Instruction,
        }
    }

    fn line_number(&self) -> Option<i64> {
        match self {
            Self::Source(_, breakpoint) => Some(breakpoint.line),
            _ => None,
        }
    }
}

/// Breakpoints that are sent in one request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Set {
    /// Those of a source. Two sources are the same if they have the same `sourceReference` or, without one, the same path.
    Source(Box<Source>),
    /// Those of functions.
    Function,
    /// Those of data.
    Data,
    /// Those of instructions.
    Instruction,
}

impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Source(one), Self::Source(other)) => is_same(one, other),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(source) => {
                let name = source.path.as_ref().or(source.name.as_ref());
                write!(
                    f,
                    "`{}`",
                    name.map_or("a source without a path", |name| name)
                )
            }
            Self::Function => f.write_str("functions"),
            Self::Data => f.write_str("data"),
            Self::Instruction => f.write_str("instructions"),
        }
    }
}

fn is_same(one: &Source, other: &Source) -> bool {
    let reference = |source: &Source| source.source_reference.filter(|&reference| reference > 0);
    reference(one) == reference(other)
        && match reference(one) {
            Some(_) => true,
            None if one.path.is_some() || other.path.is_some() => one.path == other.path,
            None => one.name == other.name,
        }
}

/// A breakpoint, as it is wanted and as it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Its id.
    pub id: BreakpointId,
    /// Where it is wanted; `None` for a breakpoint that the adapter created and for which it gave no source and line. That one is never sent.
    pub wanted: Option<Wanted>,
    /// What the adapter last said of it, in an answer or in events; `None` if it has said nothing in this session.
    pub answer: Option<Breakpoint>,
    /// The adapter has set it by itself, e.g. by a command in its console.
    pub is_adapters: bool,
}

impl Entry {
    /// Whether the adapter has set it.
    pub fn is_verified(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.verified)
    }

    /// Why it is not set, or another remark of the adapter's.
    pub fn message(&self) -> Option<&str> {
        self.answer.as_ref()?.message.as_deref()
    }

    /// Its source: the adapter's, or else the one that is wanted.
    pub fn source(&self) -> Option<&Source> {
        let answered = self
            .answer
            .as_ref()
            .and_then(|answer| answer.source.as_ref());
        answered.or(match &self.wanted {
            Some(Wanted::Source(source, _)) => Some(source),
            _ => None,
        })
    }

    /// Its line: the adapter's, or else the one that is wanted.
    pub fn line(&self) -> Option<i64> {
        let answered = self.answer.as_ref().and_then(|answer| answer.line);
        answered.or_else(|| self.wanted.as_ref()?.line_number())
    }

    fn adapter_id(&self) -> Option<i64> {
        self.answer.as_ref()?.id
    }

    fn is_in(&self, set: &Set) -> bool {
        self.wanted
            .as_ref()
            .is_some_and(|wanted| wanted.set() == *set)
    }
}

/// What an answer or event has changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The adapter has set a breakpoint by itself.
    Added(BreakpointId),
    /// What the adapter says of a breakpoint is different.
    Changed(BreakpointId),
    /// The adapter has removed a breakpoint, or the entry was a duplicate of another entry with the same adapter id. It is not sent again,
    /// unless it is [put](Breakpoints::put) back.
    Removed(Box<Entry>),
}

/// What an adapter said that no breakpoint, or not every breakpoint, could be found for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// An answer has more or fewer breakpoints than its request. In a source, those on the very line that was asked for are taken.
    WrongCount {
        /// What was set.
        set: Box<Set>,
        /// How many were asked for.
        asked: usize,
        /// How many were answered.
        answered: usize,
    },
    /// An event for a breakpoint without an id, whose place does not tell which it is either.
    Unidentified(Box<Breakpoint>),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongCount {
                set,
                asked,
                answered,
            } => {
                write!(
                    f,
                    "of {asked} breakpoints for {set}, {answered} were answered"
                )
            }
            Self::Unidentified(_) => f.write_str(
                "a `breakpoint` event has no id, and its place is not that of one breakpoint",
            ),
        }
    }
}

/// How many problems are kept.
const PROBLEMS: usize = 1000;

/// The breakpoints that are wanted of one adapter, and what it says of them.
#[derive(Debug, Clone, Default)]
pub struct Breakpoints {
    entries: Vec<Entry>,
    last: u32,
    /// The sets that are not at the adapter as they are here, each with the number of its last change.
    unsent: Vec<(Set, u64)>,
    changes: u64,
    session: u64,
    problems: Vec<Problem>,
}

impl Breakpoints {
    /// No breakpoints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a breakpoint, to be sent.
    pub fn add(&mut self, wanted: Wanted) -> BreakpointId {
        let id = self.new_id();
        self.put(id, wanted);
        id
    }

    /// Changes a breakpoint, or adds one under an id that the caller chooses. If it is wanted like that already, nothing has to be sent.
    pub fn put(&mut self, id: BreakpointId, wanted: Wanted) {
        self.last = self.last.max(id.0);
        let index = self.entries.iter().position(|entry| entry.id == id);
        let set = wanted.set();
        match index.map(|index| &mut self.entries[index]) {
            Some(entry) if entry.wanted.as_ref() == Some(&wanted) => {
                entry.is_adapters = false;
                return;
            }
            Some(entry) => {
                let before = entry.wanted.replace(wanted).map(|before| before.set());
                if before.as_ref() != Some(&set) {
                    entry.answer = None;
                }
                entry.is_adapters = false;
                before.into_iter().for_each(|before| self.resend(before));
            }
            None => self.entries.push(Entry {
                id,
                wanted: Some(wanted),
                answer: None,
                is_adapters: false,
            }),
        }
        self.resend(set);
    }

    /// Removes a breakpoint, and returns it. Its set has to be sent.
    pub fn remove(&mut self, id: BreakpointId) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.id == id)?;
        let entry = self.entries.remove(index);
        if let Some(wanted) = &entry.wanted {
            self.resend(wanted.set());
        }
        Some(entry)
    }

    /// Has a set sent again although nothing in it has changed, e.g. because its source was edited.
    pub fn resend(&mut self, set: Set) {
        self.changes += 1;
        let changes = self.changes;
        match self.unsent.iter_mut().find(|(unsent, _)| *unsent == set) {
            Some((_, change)) => *change = changes,
            None => self.unsent.push((set, changes)),
        }
    }

    /// The breakpoint with this id.
    pub fn get(&self, id: BreakpointId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// All breakpoints, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The breakpoints with this id of the adapter's. Some adapters give one id to several at the same place.
    pub fn with_adapter_id(&self, id: i64) -> impl Iterator<Item = &Entry> {
        let with_id = move |entry: &&Entry| entry.adapter_id() == Some(id);
        self.entries.iter().filter(with_id)
    }

    /// The breakpoints that a stop was caused by, as far as the adapter says.
    pub fn hit<'a>(&'a self, stopped: &'a StoppedEventBody) -> impl Iterator<Item = &'a Entry> {
        let hit = stopped.hit_breakpoint_ids.as_deref().unwrap_or_default();
        let is_hit = |entry: &&Entry| entry.adapter_id().is_some_and(|id| hit.contains(&id));
        self.entries.iter().filter(is_hit)
    }

    /// What was wrong with answers and events since the last call, at most a thousand.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    /// Call when the adapter starts another session, or is another one. What the old one said is forgotten, and all that is wanted has to
    /// be sent. Returns the breakpoints that ended with the session: those of data that don't persist, of instructions, of sources without
    /// a path, and those that the adapter had set by itself.
    pub fn restarted(&mut self) -> Vec<Entry> {
        self.session += 1;
        self.unsent.clear();
        let mut ended = Vec::new();
        for mut entry in std::mem::take(&mut self.entries) {
            let stays = match &mut entry.wanted {
                _ if entry.is_adapters => false,
                Some(Wanted::Source(source, _)) => {
                    source.source_reference = None;
                    source.path.is_some()
                }
                Some(Wanted::Function(_)) => true,
                Some(Wanted::Data { persists, .. }) => *persists,
                Some(Wanted::Instruction(_)) | None => false,
            };
            match entry.wanted.as_ref().map(Wanted::set) {
                Some(set) if stays => {
                    entry.answer = None;
                    self.entries.push(entry);
                    self.resend(set);
                }
                _ => ended.push(entry),
            }
        }
        ended
    }

    /// Takes a `breakpoint` event. `new` with an id that no answer has had yet adds a breakpoint of the adapter's own. Other events for such
    /// an id change nothing: the answer will tell the same or more.
    pub fn event(&mut self, event: &BreakpointEventBody) -> Vec<Change> {
        let told = &event.breakpoint;
        let is_new = event.reason == BreakpointEventReason::New;
        let known: Vec<BreakpointId> = match told.id {
            Some(id) => self.with_adapter_id(id).map(|entry| entry.id).collect(),
            None if is_new => Vec::new(),
            None => match self.at_place(told) {
                Some(id) => vec![id],
                None => {
                    self.note(Problem::Unidentified(Box::new(told.clone())));
                    return Vec::new();
                }
            },
        };
        match event.reason {
            BreakpointEventReason::Removed => { known.into_iter() }
                .filter_map(|id| self.take(id))
                .map(|entry| Change::Removed(Box::new(entry)))
                .collect(),
            BreakpointEventReason::New if known.is_empty() => vec![self.add_adapters(told)],
            _ => { known.into_iter() }
                .filter(|&id| self.tell(id, |before| merged(before, told)))
                .map(Change::Changed)
                .collect(),
        }
    }

    fn new_id(&mut self) -> BreakpointId {
        self.last += 1;
        BreakpointId(self.last)
    }

    fn note(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// The only breakpoint at a place, for events of adapters that give no ids.
    fn at_place(&self, told: &Breakpoint) -> Option<BreakpointId> {
        let (source, line) = (told.source.as_ref()?, told.line?);
        let is_there = |entry: &&Entry| {
            let is_here = entry.line() == Some(line)
                || entry.wanted.as_ref().and_then(Wanted::line_number) == Some(line);
            is_here && entry.source().is_some_and(|own| is_same(own, source))
        };
        let mut there = self.entries.iter().filter(is_there);
        let found = there.next()?;
        there.next().is_none().then_some(found.id)
    }

    /// Takes an entry out of the list. The adapter has removed it, so its set need not be sent.
    fn take(&mut self, id: BreakpointId) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.id == id)?;
        Some(self.entries.remove(index))
    }

    /// Keeps what the adapter says of a breakpoint. False if it said that before, or the breakpoint is gone.
    fn tell(
        &mut self,
        id: BreakpointId,
        told: impl FnOnce(Option<&Breakpoint>) -> Option<Breakpoint>,
    ) -> bool {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == id) else {
            return false;
        };
        let told = told(entry.answer.as_ref());
        let is_news = entry.answer != told;
        entry.answer = told;
        is_news
    }

    fn add_adapters(&mut self, told: &Breakpoint) -> Change {
        let wanted = told.source.as_ref().zip(told.line).map(|(source, line)| {
            let mut breakpoint = SourceBreakpoint::new(line);
            breakpoint.column = told.column;
            Wanted::Source(Box::new(source.clone()), breakpoint)
        });
        let id = self.new_id();
        self.entries.push(Entry {
            id,
            wanted,
            answer: Some(told.clone()),
            is_adapters: true,
        });
        Change::Added(id)
    }
}

/// What the adapter has said of a breakpoint, with what an event adds. Events often have only what has changed; a remark and the reason of
/// a failure are of the moment.
fn merged(before: Option<&Breakpoint>, told: &Breakpoint) -> Option<Breakpoint> {
    let mut now = told.clone();
    if let Some(before) = before {
        now.id = now.id.or(before.id);
        now.source = now.source.or_else(|| before.source.clone());
        if now.line.is_none() {
            (now.line, now.column) = (before.line, before.column);
            (now.end_line, now.end_column) = (before.end_line, before.end_column);
        }
        if now.instruction_reference.is_none() {
            now.instruction_reference
                .clone_from(&before.instruction_reference);
            now.offset = before.offset;
        }
    }
    Some(now)
}
