//! The tasks that were found at the present stop. They are looked for when they are first asked for, and only as many as are wanted.

use super::awaits::{self, Node, Search, function_of};
use super::blocking::Blocking;
use super::cells::Cell;
use super::executors::{self, Executors, Place};
use super::lists::{self, Kinds, Walk};
use super::stack::Bodies;
use super::waits::Waited;
use super::{FIRST_ID, TaskInfo, TaskPage, TaskState, Wait, locks, parts, stack};
use crate::ThreadId;
use crate::frame::Frame;
use crate::values::{Reader, Value};
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::sources;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most threads whose runtimes are looked for.
const MOST_THREADS: usize = 1024;
/// Numbers from here on aren't used for ids directly.
const HALF: u64 = 1 << 29;
/// The most tasks that are searched for the holders of locks.
const MOST_SEARCHED: usize = 20_000;
/// The most things that a task is said to wait for.
const MOST_WAITS: usize = 8;

/// The tasks of a process that were found at the present stop.
#[derive(Debug, Default)]
pub struct TaskTable(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The stop that the tasks were found at.
    stop: Option<u64>,
    /// The version of the set of modules that `contexts` and `kinds` belong to.
    modules: Option<u64>,
    contexts: Option<Vec<Place>>,
    kinds: Kinds,
    bodies: Bodies,
    walk: Walk,
    polled: FxHashMap<u64, ThreadId>,
    tasks: Vec<Entry>,
    by_id: FxHashMap<ThreadId, usize>,
    /// Whether the futures that threads drive themselves are among `tasks`.
    has_blocking: bool,
}

#[derive(Debug, Clone)]
struct Entry {
    id: ThreadId,
    number: u64,
    source: Source,
}

/// Where a task was found.
#[derive(Debug, Clone)]
enum Source {
    /// In an executor's list.
    List(Cell),
    /// On a thread that drives it itself.
    Thread(Blocking),
}

impl Source {
    fn state(&self, reader: &Reader<'_>, polled: Option<ThreadId>) -> Option<TaskState> {
        match self {
            Source::List(cell) => cell.state(reader, polled),
            Source::Thread(blocking) => Some(match blocking.is_polled {
                true => TaskState::Running(Some(blocking.thread)),
                false => TaskState::Waiting,
            }),
        }
    }

    fn future(&self, reader: &Reader<'_>) -> Option<Value> {
        match self {
            Source::List(cell) => cell.future(reader),
            Source::Thread(blocking) => Some(blocking.future.clone()),
        }
    }

    /// The name of the future's type.
    fn future_type(&self, reader: &Reader<'_>) -> String {
        match self {
            Source::List(cell) => cell.kind.future.clone(),
            Source::Thread(blocking) => {
                let type_ = reader.resolve(&blocking.future);
                type_.map_or_else(String::new, |it| it.type_.name.to_string())
            }
        }
    }
}

/// A stopped process, as far as its tasks are concerned.
pub(crate) struct Process<'a> {
    /// Reads its values.
    pub reader: &'a Reader<'a>,
    /// The number of the stop.
    pub stop: u64,
    /// The time of the clock that timers use, if the process is alive.
    pub now: Option<Duration>,
    /// Whether to wait until the program's names are indexed, if they aren't.
    pub waits: bool,
    /// Its threads with their thread pointers.
    pub threads: &'a dyn Fn(usize) -> Vec<(ThreadId, u64)>,
}

/// The frames of a task.
pub(crate) enum TaskFrames {
    /// The thread that polls it has them.
    OfThread(ThreadId),
    /// It is suspended.
    Suspended(Vec<Frame>),
    /// It has none, for this reason.
    None(String),
}

impl TaskTable {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the task that a stopped thread polls. Other threads may be running. `None`: it polls none, or it isn't known.
    pub fn polled_by(
        &self,
        reader: &Reader<'_>,
        thread: ThreadId,
        thread_pointer: u64,
    ) -> Option<u64> {
        let mut state = self.state();
        let version = Some(reader.modules.version());
        if state.contexts.is_none() || state.modules != version {
            *state = State {
                contexts: executors::contexts(reader, false),
                modules: version,
                ..State::default()
            };
        }
        let contexts = state.contexts.as_ref()?;
        let found = Executors::of(reader, contexts, &[(thread, thread_pointer)]);
        found.polled.first().map(|(number, _)| *number)
    }

    /// The memory was changed: the tasks are to be found again.
    pub fn forget(&self) {
        self.state().stop = None;
    }

    /// Whether the futures that threads drive themselves are to be found, and given to [`TaskTable::add_blocking`], before tasks are listed.
    pub(crate) fn wants_blocking(&self, process: &Process<'_>) -> bool {
        let mut state = self.state();
        state.renew(process);
        let contexts = state.contexts.as_ref();
        let has_executor = contexts.is_some_and(|all| !all.is_empty());
        has_executor && !state.has_blocking
    }

    /// Adds the futures that threads drive themselves.
    pub(crate) fn add_blocking(&self, found: Vec<Blocking>) {
        let mut state = self.state();
        state.has_blocking = true;
        for blocking in found {
            let thread = blocking.thread.0;
            let id = ThreadId(FIRST_ID.saturating_add((HALF as i32).saturating_add(thread)));
            let index = state.tasks.len();
            state.by_id.insert(id, index);
            state.tasks.push(Entry {
                id,
                number: u64::from(thread.unsigned_abs()),
                source: Source::Thread(blocking),
            });
        }
    }

    /// A page of the tasks. Tasks behind the page are counted only if the page reaches the last one.
    pub(crate) fn page(&self, process: &Process<'_>, range: Range<usize>) -> TaskPage {
        let mut state = self.state();
        state.renew(process);
        state.reach(process.reader, |state| state.tasks.len() > range.end);
        let end = range.end.min(state.tasks.len());
        let entries = state.tasks.get(range.start.min(end)..end);
        let entries = entries.unwrap_or_default().to_vec();
        let mut tasks = Vec::with_capacity(entries.len());
        let mut locks = Vec::new();
        for entry in &entries {
            let (info, awaited) = state.info(process, entry);
            let waits = awaited.into_iter().enumerate();
            locks.extend(waits.filter_map(|(at, lock)| Some((tasks.len(), at, lock?))));
            tasks.push(info);
        }
        if process.waits && !locks.is_empty() {
            state.add_holders(process, &locks, &mut tasks);
        }
        let is_all = !state.walk.has_more() && state.tasks.len() <= range.end;
        TaskPage {
            tasks,
            total: is_all.then_some(state.tasks.len()),
            problems: state.problems(process),
            is_early: state.contexts.is_none(),
        }
    }

    /// The frames of the task with this id. `None`: there is no such task.
    pub(crate) fn frames(&self, process: &Process<'_>, id: ThreadId) -> Option<TaskFrames> {
        let mut state = self.state();
        state.renew(process);
        state.reach(process.reader, |state| state.by_id.contains_key(&id));
        let entry = state.tasks.get(*state.by_id.get(&id)?)?.clone();
        let reader = process.reader;
        let polled = state.polled.get(&entry.number).copied();
        Some(match entry.source.state(reader, polled) {
            Some(TaskState::Running(Some(thread))) => TaskFrames::OfThread(thread),
            Some(TaskState::Running(None)) => {
                TaskFrames::None("a thread polls it, but it isn't known which".to_owned())
            }
            Some(TaskState::Finished) => TaskFrames::None("it has ended".to_owned()),
            _ => match entry.source.future(reader) {
                Some(future) => {
                    let nodes = Search::new(reader, &state.bodies, process.now).nodes(&future);
                    TaskFrames::Suspended(stack::frames(
                        reader,
                        &state.bodies,
                        id,
                        process.stop,
                        &nodes,
                    ))
                }
                None => TaskFrames::None(
                    "its future can't be read: the program has no debug information of its type"
                        .to_owned(),
                ),
            },
        })
    }
}

impl State {
    /// Looks for the executors of a new stop.
    fn renew(&mut self, process: &Process<'_>) {
        let version = process.reader.modules.version();
        let is_known = self.modules == Some(version) && self.contexts.is_some();
        if self.stop == Some(process.stop) && is_known {
            return;
        }
        if self.modules != Some(version) {
            self.kinds.clear();
            self.bodies.forget();
        }
        if !is_known {
            self.contexts = executors::contexts(process.reader, process.waits);
            self.modules = Some(version);
        }
        self.stop = Some(process.stop);
        self.tasks.clear();
        self.by_id.clear();
        self.polled.clear();
        self.has_blocking = false;
        self.walk = Walk::default();
        let Some(contexts) = &self.contexts else {
            return;
        };
        if contexts.is_empty() {
            return;
        }
        let threads = (process.threads)(MOST_THREADS);
        let found = Executors::of(process.reader, contexts, &threads);
        self.polled.extend(found.polled);
        self.walk = Walk::through(found.lists);
    }

    /// Finds tasks until `is_enough`, or there are no more.
    fn reach(&mut self, reader: &Reader<'_>, is_enough: impl Fn(&State) -> bool) {
        while !is_enough(self) {
            let Some(cell) = self.walk.advance(reader, &mut self.kinds) else {
                return;
            };
            let index = self.tasks.len();
            let number = cell.number(reader).unwrap_or(HALF + index as u64);
            let wanted = i32::try_from(number)
                .ok()
                .filter(|id| u64::from(id.unsigned_abs()) < HALF);
            let free = (HALF as i32).saturating_add(i32::try_from(index).unwrap_or(i32::MAX));
            let id = ThreadId(FIRST_ID.saturating_add(wanted.unwrap_or(free)));
            self.by_id.insert(id, index);
            self.tasks.push(Entry {
                id,
                number,
                source: Source::List(cell),
            });
        }
    }

    /// Names a task by the function of its future, as frames are named.
    fn name(&self, reader: &Reader<'_>, future: &Value, info: &mut TaskInfo) {
        let meant = awaits::wrapped(reader, future);
        let body = meant
            .type_id
            .and_then(|type_id| self.bodies.body(&meant.module, type_id));
        let type_ = || parts::type_of(reader, &meant);
        let name = body.map(|body| body.name.clone());
        let name = name.or_else(|| type_().map(|type_| function_of(&type_.name)));
        if let Some(name) = name {
            info.future = name;
        }
    }

    /// What is to be listed of a task, and the locks that it waits for, one for each of its waits.
    fn info(&mut self, process: &Process<'_>, entry: &Entry) -> (TaskInfo, Vec<Option<u64>>) {
        let reader = process.reader;
        let polled = self.polled.get(&entry.number).copied();
        let state = entry
            .source
            .state(reader, polled)
            .unwrap_or(TaskState::Waiting);
        let mut info = TaskInfo {
            id: entry.id,
            number: entry.number,
            blocks_thread: matches!(entry.source, Source::Thread(_)),
            future: function_of(&entry.source.future_type(reader)),
            state,
            place: None,
            waits: Vec::new(),
        };
        let mut locks = Vec::new();
        let Some(future) = entry.source.future(reader) else {
            return (info, locks);
        };
        self.name(reader, &future, &mut info);
        if matches!(state, TaskState::Running(_) | TaskState::Finished) {
            return (info, locks);
        }
        let nodes = Search::new(reader, &self.bodies, process.now).nodes(&future);
        let is_users = |at: &SourcePosition| sources::origin(&at.file).is_none();
        info.place = Node::innermost(&nodes, &is_users);
        if state == TaskState::Waiting {
            let mut waits = Vec::new();
            Node::waits(&nodes, &mut waits);
            waits.truncate(MOST_WAITS);
            locks = waits.iter().map(|wait| wait.lock).collect();
            let waits = waits.into_iter();
            info.waits = waits.map(|wait| self.wait(reader, wait)).collect();
        }
        (info, locks)
    }

    /// Adds the holders of awaited locks. `locks` has for each the index of the task and of its wait.
    fn add_holders(
        &mut self,
        process: &Process<'_>,
        locks: &[(usize, usize, u64)],
        tasks: &mut [TaskInfo],
    ) {
        self.reach(process.reader, |state| state.tasks.len() >= MOST_SEARCHED);
        let mut holders: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        for entry in self.tasks.iter().take(MOST_SEARCHED) {
            let Some(future) = entry.source.future(process.reader) else {
                continue;
            };
            let nodes = Search::new(process.reader, &self.bodies, None).nodes(&future);
            for lock in locks::held(process.reader, &nodes) {
                holders.entry(lock).or_default().push(entry.number);
            }
        }
        for (task, wait, lock) in locks {
            let wait = tasks
                .get_mut(*task)
                .and_then(|task| task.waits.get_mut(*wait));
            if let (Some(wait), Some(holders)) = (wait, holders.get(lock)) {
                let numbers: Vec<String> = holders.iter().map(u64::to_string).collect();
                let word = if numbers.len() == 1 { "task" } else { "tasks" };
                wait.text += &format!(", held by {word} {}", numbers.join(", "));
                wait.tasks.extend(holders);
            }
        }
    }

    /// What a task waits for, with the numbers of the tasks that it depends on.
    fn wait(&mut self, reader: &Reader<'_>, waited: &Waited) -> Wait {
        let mut wait = waited.wait.clone();
        if let Some(header) = waited.task.clone() {
            let cell = lists::cell_of(reader, &mut self.kinds, header);
            if let Some(number) = cell.and_then(|cell| cell.number(reader)) {
                wait.text = format!("task {number}");
                wait.tasks.push(number);
            }
        }
        wait
    }

    /// Why tasks may be missing.
    fn problems(&self, process: &Process<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        let is_without = self.contexts.as_ref().is_some_and(Vec::is_empty);
        if process.waits && is_without && executors::is_any_with_tokio(process.reader) {
            problems.push(
                "tokio's tasks can't be listed: the debug information doesn't describe its variables; in cargo's profile, `debug = true` makes it whole"
                    .to_owned(),
            );
        }
        if self.walk.is_broken {
            problems.push(
                "not all tasks can be listed: this version of tokio isn't known here".to_owned(),
            );
        }
        problems
    }
}
