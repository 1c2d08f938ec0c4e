//! Tasks of asynchronous executors: which there are, what they wait for, and the frames of futures that no thread runs.
//!
//! Executors and futures are known by the names of types and fields in the debug information, and each step is checked: a list that
//! doesn't have the expected fields is left out, with a sentence that says so. A future's awaits are read from its state, as the compiler
//! lays it out. `lists` finds the tasks, `awaits` follows a future down to what it waits for, and `stack` makes frames of that.

mod awaits;
mod blocking;
mod cells;
pub mod dropped;
mod executors;
mod lists;
mod locks;
mod numbers;
pub(crate) mod parts;
pub mod polled;
mod raw_task;
mod stack;
mod table;
mod task;
pub(crate) mod threads;
mod unordered;
mod waits;

pub use table::TaskTable;
pub(crate) use table::{Process, TaskFrames};

use crate::ThreadId;
use dapple_symbols::functions::SourcePosition;

/// Ids of tasks begin here, above all ids of threads: the kernel has at most 2^22.
const FIRST_ID: i32 = 1 << 30;

/// Whether an id is a task's, not a thread's.
pub fn is_task(id: ThreadId) -> bool {
    id.0 >= FIRST_ID
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// A thread polls it now. `None`: which one isn't known.
    Running(Option<ThreadId>),
    /// It was woken and waits for a thread.
    Scheduled,
    /// It is suspended until something wakes it.
    Waiting,
    /// It has ended; its result wasn't taken yet.
    Finished,
    /// It is to be dropped: it was aborted.
    Cancelled,
}

/// A task.
#[derive(Debug, Clone)]
pub struct TaskInfo {
    /// Its id among threads.
    pub id: ThreadId,
    /// The executor's own number for it, or one that is given here; for a future that a thread drives itself, the thread's id.
    pub number: u64,
    /// Whether a thread drives it itself, with a function called `block_on`. No executor knows it.
    pub blocks_thread: bool,
    /// The function or block whose future it runs: `one::worker::{async_fn#0}`, or the future's type.
    pub future: String,
    /// What it does.
    pub state: TaskState,
    /// The position of the innermost `await` in the user's code that it is suspended at.
    pub place: Option<SourcePosition>,
    /// What it waits for: `a timer, 1.2 s left`. Several, if it waits for several at once.
    pub waits: Vec<Wait>,
}

/// What a future waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// A description: `a message (mpsc channel)`.
    pub text: String,
    /// The tasks that it depends on: the task that is joined, or the holder of the lock.
    pub tasks: Vec<u64>,
}

/// A page of tasks.
#[derive(Debug, Clone, Default)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<TaskInfo>,
    /// How many tasks there are in all; `None`: not counted yet, more than the page has.
    pub total: Option<usize>,
    /// Why tasks may be missing: sentences.
    pub problems: Vec<String>,
    /// Whether the executors can't be found yet, because the program's names aren't indexed.
    pub is_early: bool,
}
