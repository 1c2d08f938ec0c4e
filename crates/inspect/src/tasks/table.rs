//! The tasks that were found at the present stop. They are looked for when they are first asked for, and only as many as are wanted.

use super::awaits::{self, Node, Search, function_of};
use super::executors::{self, Executors, Others, Place};
use super::lists::{self, Kinds, Walk};
use super::numbers::Numbers;
use super::stack::Bodies;
use super::task::Task;
use super::threads::Seen;
use super::waits::{Awaited, Waited};
use super::{FIRST_ID, TaskInfo, TaskPage, TaskState, Wait, locks, numbers, parts, stack};
use crate::ThreadId;
use crate::frame::Frame;
use crate::values::{Reader, Value};
use dapple_symbols::functions::{Function, SourcePosition};
use dapple_symbols::sources;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most threads whose runtimes are looked for.
const MOST_THREADS: usize = 1024;
/// Numbers from here on aren't used for ids directly.
const HALF: i32 = 1 << 29;
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
    others: Others,
    kinds: Kinds,
    bodies: Bodies,
    numbers: Numbers,
    walk: Walk,
    /// The thread that polls a task of tokio's, by the task's number.
    polled: FxHashMap<u64, ThreadId>,
    /// The thread that runs a task, by the address of the task's header.
    running: FxHashMap<u64, ThreadId>,
    tasks: Vec<Entry>,
    by_id: FxHashMap<ThreadId, usize>,
    /// The tasks that hold a lock, by the lock's address, if they were looked for.
    holders: Option<FxHashMap<u64, Vec<u64>>>,
    /// Whether the threads' frames were searched.
    has_threads: bool,
}

#[derive(Debug, Clone)]
struct Entry {
    id: ThreadId,
    number: u64,
    task: Task,
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
        let state = self.state();
        let is_known = state.modules == Some(reader.modules.version());
        let known = state.contexts.as_ref().filter(|_| is_known);
        let found;
        let contexts = match known {
            Some(contexts) => contexts,
            None => {
                found = executors::contexts(reader, false)?;
                &found
            }
        };
        let found = Executors::of(reader, contexts, &[], &[(thread, thread_pointer)]);
        found.polled.first().map(|(number, _)| *number)
    }

    /// The memory was changed: the tasks are to be found again.
    pub fn forget(&self) {
        self.state().stop = None;
    }

    /// Whether the threads' frames are to be searched, and what they tell to be given to [`TaskTable::add_threads`], before tasks are listed.
    pub(crate) fn wants_threads(&self, process: &Process<'_>) -> bool {
        let mut state = self.state();
        state.renew(process);
        let contexts = state.contexts.as_ref();
        let has_executor = contexts.is_some_and(|all| !all.is_empty()) || state.others.any;
        has_executor && !state.has_threads
    }

    /// Adds what the threads' frames tell.
    pub(crate) fn add_threads(&self, reader: &Reader<'_>, seen: Seen) {
        let mut state = self.state();
        state.has_threads = true;
        state.running.extend(seen.running);
        state.walk.add(seen.lists);
        for blocking in seen.blocking {
            state.add(reader, Task::Driven(Box::new(blocking)));
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
        let runner = state.runner(&entry);
        Some(match entry.task.state(reader, runner) {
            Some(TaskState::Running(Some(thread))) => TaskFrames::OfThread(thread),
            Some(TaskState::Running(None)) => {
                TaskFrames::None("a thread polls it, but it isn't known which".to_owned())
            }
            Some(TaskState::Finished) => TaskFrames::None("it has ended".to_owned()),
            _ => match entry.task.future(reader) {
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
            self.kinds = Kinds::default();
            self.bodies.forget();
        }
        if !is_known {
            self.contexts = executors::contexts(process.reader, process.waits);
            self.others = match self.contexts {
                Some(_) => executors::others(process.reader),
                None => Others::default(),
            };
            self.modules = Some(version);
        }
        self.stop = Some(process.stop);
        self.tasks.clear();
        self.by_id.clear();
        self.polled.clear();
        self.running.clear();
        self.has_threads = false;
        self.holders = None;
        let walk = std::mem::take(&mut self.walk);
        if !walk.has_more() {
            self.numbers.retain(|address| walk.has_seen(address));
        }
        let Some(contexts) = &self.contexts else {
            return;
        };
        let has_any = !contexts.is_empty() || !self.others.statics.is_empty();
        if !has_any {
            return;
        }
        let threads = (process.threads)(MOST_THREADS);
        let statics = &self.others.statics;
        let found = Executors::of(process.reader, contexts, statics, &threads);
        self.polled.extend(found.polled);
        self.walk.add(found.lists);
    }

    /// Finds tasks until `is_enough`, or there are no more.
    fn reach(&mut self, reader: &Reader<'_>, is_enough: impl Fn(&State) -> bool) {
        while !is_enough(self) {
            let Some(task) = self.walk.advance(reader, &mut self.kinds) else {
                return;
            };
            self.add(reader, task);
        }
    }

    /// Names a task by the user's function of its future, as frames are named. A library's function has the user's among its generic
    /// arguments, and so in the name that the task has already.
    fn name(&self, reader: &Reader<'_>, future: &Value, info: &mut TaskInfo) {
        let meant = awaits::wrapped(reader, future);
        if meant.type_id != future.type_id
            && let Some(type_) = parts::type_of(reader, &meant)
        {
            info.future = function_of(&type_.name);
        }
        // Only the body has the name of an `impl`'s type. To find it takes long.
        if !info.future.contains("{impl#") {
            return;
        }
        let body = meant
            .type_id
            .and_then(|type_id| self.bodies.body(&meant.module, type_id));
        let is_users = |body: &Arc<Function>| {
            let declared = body.declaration.as_ref();
            declared.is_some_and(|at| sources::origin(&at.file).is_none())
        };
        if let Some(body) = body.filter(is_users) {
            info.future.clone_from(&body.name);
        }
    }

    fn add(&mut self, reader: &Reader<'_>, task: Task) {
        let index = self.tasks.len();
        let (number, id) = match (&task, task.own_number(reader)) {
            (Task::Driven(blocking), _) => {
                let thread = blocking.thread.0;
                (
                    u64::from(thread.unsigned_abs()),
                    HALF.saturating_add(thread),
                )
            }
            (Task::Raw(_) | Task::Unordered(_), _) => {
                let number = self.given_number(task.address());
                (number, numbers::id_of(number))
            }
            (Task::Tokio(_), number) => {
                let free = HALF.saturating_add(i32::try_from(index).unwrap_or(i32::MAX));
                let number = number.unwrap_or(u64::from(free.unsigned_abs()));
                let wanted = i32::try_from(number).ok().filter(|id| *id < HALF);
                (number, wanted.unwrap_or(free))
            }
        };
        let id = ThreadId(FIRST_ID.saturating_add(id));
        self.by_id.insert(id, index);
        self.tasks.push(Entry { id, number, task });
    }

    /// The number of a task whose executor has none for it.
    fn given_number(&mut self, address: u64) -> u64 {
        let has_tokio = self.contexts.as_ref().is_some_and(|all| !all.is_empty());
        self.numbers.of(address, has_tokio)
    }

    /// The thread that runs a task.
    fn runner(&self, entry: &Entry) -> Option<ThreadId> {
        let by_address = self.running.get(&entry.task.address());
        let by_number = || match entry.task {
            Task::Tokio(_) => self.polled.get(&entry.number),
            _ => None,
        };
        by_address.or_else(by_number).copied()
    }

    /// What is to be listed of a task, and the locks that it waits for, one for each of its waits.
    fn info(&mut self, process: &Process<'_>, entry: &Entry) -> (TaskInfo, Vec<Option<u64>>) {
        let reader = process.reader;
        let state = entry.task.state(reader, self.runner(entry));
        let state = state.unwrap_or(TaskState::Waiting);
        let mut info = TaskInfo {
            id: entry.id,
            number: entry.number,
            blocks_thread: matches!(entry.task, Task::Driven(_)),
            future: function_of(&entry.task.future_type(reader)),
            state,
            place: None,
            waits: Vec::new(),
        };
        let mut locks = Vec::new();
        let Some(future) = entry.task.future(reader) else {
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
            if waits.iter().any(|wait| !wait.is_minor) {
                waits.retain(|wait| !wait.is_minor);
            }
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
        if self.holders.is_none() {
            self.reach(process.reader, |state| state.tasks.len() >= MOST_SEARCHED);
        }
        let (tasks_known, bodies) = (&self.tasks, &self.bodies);
        let holders = self.holders.get_or_insert_with(|| {
            let mut holders: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
            for entry in tasks_known.iter().take(MOST_SEARCHED) {
                let Some(future) = entry.task.future(process.reader) else {
                    continue;
                };
                let nodes = Search::new(process.reader, bodies, None).nodes(&future);
                for lock in locks::held(process.reader, &nodes) {
                    holders.entry(lock).or_default().push(entry.number);
                }
            }
            holders
        });
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
        let number = match waited.task.clone() {
            Some(Awaited::Tokio(header)) => {
                let cell = lists::cell_of(reader, &mut self.kinds, header);
                cell.and_then(|cell| cell.number(reader))
            }
            Some(Awaited::Raw(address)) => Some(self.given_number(address)),
            None => None,
        };
        if let Some(number) = number {
            wait.text = format!("task {number}");
            wait.tasks.push(number);
        }
        wait
    }

    /// Why tasks may be missing.
    fn problems(&self, process: &Process<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        let is_without = self.contexts.as_ref().is_some_and(Vec::is_empty) && !self.others.any;
        if process.waits && is_without && executors::is_any_with_tokio(process.reader) {
            problems.push(
                "tokio's tasks can't be listed: the debug information doesn't describe its variables; in cargo's profile, `debug = true` makes it whole"
                    .to_owned(),
            );
        }
        if let Some(executor) = self.walk.broken {
            problems.push(format!(
                "not all tasks can be listed: this version of {executor} isn't known here"
            ));
        }
        problems
    }
}
