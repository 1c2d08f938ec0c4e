//! Tasks of asynchronous executors: among the threads, and by pages with the custom request `dapple/tasks`.

use crate::adapter::Adapter;
use crate::function_names::FunctionNames;
use crate::to_dap::OrFail;
use dapple_dap::Request;
use dapple_dap::server::{Context, Failure, Outbox};
use dapple_dap::types::{InvalidatedAreas, InvalidatedEvent, InvalidatedEventBody, Thread};
use dapple_engine::tasks::{TaskInfo, TaskState, Wait};
use serde::{Deserialize, Serialize};

/// The most tasks listed among the threads.
const MOST_AS_THREADS: usize = 1000;
/// The most tasks of one page.
const MOST_IN_PAGE: usize = 10_000;

/// Lists tasks of asynchronous executors by pages. The ids can be used as ids of threads in `stackTrace`.
#[derive(Debug)]
pub struct TasksRequest;

/// The arguments of [`TasksRequest`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TasksArguments {
    /// The index of the first task; 0 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// How many tasks to list: at most 10,000, which is also the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// A page of tasks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TasksResponse {
    /// The tasks.
    pub tasks: Vec<ShownTask>,
    /// How many there are in all. Absent if there are more, which weren't counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Why tasks may be missing: sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownTask {
    /// Its id among threads.
    pub id: i64,
    /// The executor's number for it; for a future that a thread drives itself, the thread's id.
    pub number: u64,
    /// Whether a thread drives it itself, with a function called `block_on`, as it does for an `async fn main`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks_thread: bool,
    /// The function or block that it runs.
    pub name: String,
    /// `running`, `scheduled`, `waiting`, `finished` or `cancelled`.
    pub state: String,
    /// The thread that polls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<i64>,
    /// The file of the innermost `await` in the user's code that it is suspended at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line of that `await`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<ShownWait>,
}

/// What a task waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownWait {
    /// A description: `a timer, 1.2 s left`.
    pub text: String,
    /// The numbers of the tasks that it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<u64>,
}

impl Request for TasksRequest {
    const COMMAND: &'static str = "dapple/tasks";
    type Arguments = TasksArguments;
    type Response = TasksResponse;
}

/// Lists a page of tasks.
pub fn tasks(
    adapter: &mut Adapter,
    arguments: TasksArguments,
    context: &mut Context,
) -> Result<TasksResponse, Failure> {
    let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let start = index(arguments.start.unwrap_or(0));
    let count = arguments.count.map_or(MOST_IN_PAGE, index);
    let range = start..start.saturating_add(count.min(MOST_IN_PAGE));
    let page = adapter.partly_stopped()?.tasks(range).or_fail()?;
    let shown = page.tasks.iter().map(|task| ShownTask {
        path: task.place.as_ref().map(|place| {
            let (path, _) = adapter.locate(&place.file);
            path.display().to_string()
        }),
        line: (task.place.as_ref())
            .map(|place| context.conventions().line_to_client(i64::from(place.line))),
        ..shown(task, adapter.function_names)
    });
    Ok(TasksResponse {
        tasks: shown.collect(),
        total: page.total.and_then(|total| total.try_into().ok()),
        problems: page.problems,
    })
}

fn shown(task: &TaskInfo, names: FunctionNames) -> ShownTask {
    let (state, thread) = match task.state {
        TaskState::Running(thread) => ("running", thread),
        TaskState::Scheduled => ("scheduled", None),
        TaskState::Waiting => ("waiting", None),
        TaskState::Finished => ("finished", None),
        TaskState::Cancelled => ("cancelled", None),
    };
    let wait = |wait: &Wait| ShownWait {
        text: wait.text.clone(),
        tasks: wait.tasks.clone(),
    };
    ShownTask {
        id: i64::from(task.id.0),
        number: task.number,
        blocks_thread: task.blocks_thread,
        name: names.name(&task.future),
        state: state.to_owned(),
        thread_id: thread.map(|thread| i64::from(thread.0)),
        path: None,
        line: None,
        waits: task.waits.iter().map(wait).collect(),
    }
}

impl Adapter {
    /// Call when a program's names were indexed. If the threads were listed without tasks, tells the client to ask again.
    pub(crate) fn tasks_can_be_found(&mut self, outbox: &Outbox) {
        let lacks_tasks = std::mem::take(&mut self.lacks_tasks);
        let first = || self.partly_stopped().ok()?.tasks_soon(0..1).ok();
        let is_awaited = lacks_tasks && first().is_some_and(|page| !page.tasks.is_empty());
        let client = outbox.client();
        if is_awaited && client.is_some_and(|it| it.supports_invalidated_event == Some(true)) {
            let body = InvalidatedEventBody::new().with_areas(vec![InvalidatedAreas::Threads]);
            outbox.event::<InvalidatedEvent>(body);
        }
    }
}

/// The first tasks in the form of threads. Empty while the program runs.
pub(super) fn as_threads(adapter: &mut Adapter) -> Vec<Thread> {
    let Ok(debuggee) = adapter.partly_stopped() else {
        return Vec::new();
    };
    let page = debuggee.tasks_soon(0..MOST_AS_THREADS).unwrap_or_default();
    adapter.lacks_tasks = page.is_early;
    let names = adapter.function_names;
    let tasks = page.tasks.iter().map(|task| as_thread(task, names));
    let mut listed: Vec<Thread> = tasks.collect();
    listed.sort_by_key(|thread| thread.id);
    listed
}

fn as_thread(task: &TaskInfo, names: FunctionNames) -> Thread {
    let doing = match task.state {
        TaskState::Running(Some(thread)) => format!("running on thread {thread}"),
        TaskState::Running(None) => "running".to_owned(),
        TaskState::Scheduled => "scheduled".to_owned(),
        TaskState::Finished => "finished".to_owned(),
        TaskState::Cancelled => "cancelled".to_owned(),
        TaskState::Waiting => match task.waits.first() {
            Some(wait) => format!("waiting for {}", wait.text),
            None => "waiting".to_owned(),
        },
    };
    let future = names.name(&task.future);
    let word = if task.blocks_thread {
        "block_on"
    } else {
        "task"
    };
    let name = format!("{word} {}: {future}, {doing}", task.number);
    Thread::new(i64::from(task.id.0), name)
}
