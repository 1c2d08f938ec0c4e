//! Commands for tasks of asynchronous executors.

use anyhow::bail;
use dapple_adapter::{TasksArguments, TasksRequest, TasksResponse};

use super::{Argument, Command, Flow, number};
use crate::debug::results::{Item, Task, Tasks};
use crate::debug::session::Session;

/// How many tasks are listed by default.
const USUAL_TASKS: u64 = 100;
/// The most tasks of a tree.
const MOST_TASKS: u64 = 10_000;
/// The word for the tree.
const TREE: &str = "tree";

pub static COMMANDS: &[Command] = &[
    Command {
        name: "tasks",
        aliases: &[],
        usage: "[N | all | tree]",
        summary: "list the tasks of asynchronous executors and what they wait for",
        details: "The executors of tokio, smol, async-std and futures are known. `tasks tree` shows which task waits for which, and marks those that wait for each other in a \
                  circle. `task N` selects one, whose frames `bt` shows.",
        argument: Argument::Topic(&["all", TREE]),
        repeats: false,
        run: tasks,
    },
    Command {
        name: "task",
        aliases: &[],
        usage: "N",
        summary: "select a task and show where it is suspended",
        details: "`tasks` has the numbers. `bt`, `frame`, `locals` and `print` then mean its suspended functions.",
        argument: Argument::None,
        repeats: false,
        run: task,
    },
];

pub(super) fn tasks(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let most = match argument {
        "" => USUAL_TASKS,
        "all" | TREE => MOST_TASKS,
        count => number(count, "a number of tasks")?,
    };
    let page = load(session, most)?;
    let shown = Tasks {
        tasks: page.tasks.into_iter().map(Task::of).collect(),
        more: page.total.is_none(),
        as_tree: argument == TREE,
        problems: page.problems,
    };
    session.screen.show(Item::Tasks(shown));
    Ok(Flow::Go)
}

fn load(session: &mut Session, most: u64) -> anyhow::Result<TasksResponse> {
    session.stop()?;
    if !session.is_own_adapter() {
        bail!("this adapter lists no tasks");
    }
    let mut page = session.request::<TasksRequest>(TasksArguments {
        start: None,
        count: Some(most),
    })?;
    page.tasks.sort_by_key(|task| task.number);
    Ok(page)
}

fn task(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let wanted: u64 = match argument {
        "" => bail!("which task? `tasks` lists them"),
        argument => number(argument, "a task's number")?,
    };
    let page = load(session, MOST_TASKS)?;
    let named = page.tasks.iter().filter(|task| task.number == wanted);
    let Some(found) = named.min_by_key(|task| task.blocks_thread) else {
        bail!("there is no task {wanted}; `tasks` lists them");
    };
    let shown = Task::of(found.clone());
    session.screen.show(Item::Task(shown));
    let before = session.stop()?.thread;
    if let Err(error) = session.select_thread(found.id) {
        session.select_thread(before)?;
        return Err(error);
    }
    session.show_selected()?;
    Ok(Flow::Go)
}
