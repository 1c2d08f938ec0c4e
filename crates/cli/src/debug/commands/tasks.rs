//! Commands for tasks of asynchronous executors.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::bail;
use dapple_adapter::{ShownTask, TasksArguments, TasksRequest, TasksResponse};

use super::{Argument, Command, Flow, number};
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::style::{Role, Style};

/// How many tasks are listed by default.
const USUAL_TASKS: u64 = 100;
/// The most tasks of a tree.
const MOST_TASKS: u64 = 10_000;
/// How deep the tree is nested; what is deeper begins again at the left.
const DEEPEST: usize = 30;
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
    let style = session.screen.style;
    let mut lines = match argument {
        TREE => tree(&page.tasks, style),
        _ => page.tasks.iter().map(|task| line(task, style)).collect(),
    };
    match page.total {
        Some(0) if page.problems.is_empty() => {
            lines.push("no executor's tasks are known here".to_owned())
        }
        Some(_) => {}
        None => {
            let more = "  … there are more; `tasks all` lists the first 10000";
            lines.push(style.paint(Role::Aside, more));
        }
    }
    lines.extend(page.problems.iter().map(|problem| printable(problem)));
    session.screen.print(&lines.join("\n"));
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

/// `  task 7  worker  main.rs:12  waiting for a timer, 1.2 s left`.
fn line(task: &ShownTask, style: Style) -> String {
    let word = if task.blocks_thread {
        "block_on"
    } else {
        "task"
    };
    let mut text = format!(
        "  {word} {}  {}",
        task.number,
        style.paint(Role::Function, &printable(&task.name))
    );
    if let (Some(path), Some(line)) = (&task.path, task.line) {
        let file = Path::new(path).file_name().unwrap_or_default();
        let place = format!("{}:{line}", printable(&file.to_string_lossy()));
        text += &format!("  {}", style.paint(Role::Location, &place));
    }
    let waits: Vec<String> = task
        .waits
        .iter()
        .map(|wait| printable(&wait.text))
        .collect();
    text += &match (&*task.state, task.thread_id, &*waits) {
        ("running", Some(thread), _) => format!("  running on thread {thread}"),
        ("waiting", _, [_, ..]) => format!("  waiting for {}", waits.join(", ")),
        (state, _, _) => format!("  {}", printable(state)),
    };
    text
}

/// The tasks, each under one that waits for it.
fn tree(tasks: &[ShownTask], style: Style) -> Vec<String> {
    let in_executors = tasks.iter().filter(|task| !task.blocks_thread);
    let by_number: HashMap<u64, &ShownTask> =
        in_executors.map(|task| (task.number, task)).collect();
    let awaited: HashSet<u64> = tasks.iter().flat_map(awaits).collect();
    let mut tree = Tree {
        by_number,
        shown: HashSet::new(),
        lines: Vec::new(),
        style,
    };
    let is_root = |task: &&ShownTask| task.blocks_thread || !awaited.contains(&task.number);
    for root in tasks.iter().filter(is_root) {
        tree.add(root, &mut Vec::new());
    }
    // What is left waits in circles.
    for task in tasks {
        if !tree.shown.contains(&task.id) {
            tree.add(task, &mut Vec::new());
        }
    }
    tree.lines
}

fn awaits(task: &ShownTask) -> impl Iterator<Item = u64> {
    let waits = task.waits.iter();
    waits.flat_map(|wait| wait.tasks.iter().copied())
}

struct Tree<'a> {
    by_number: HashMap<u64, &'a ShownTask>,
    /// The ids of the tasks that have a line.
    shown: HashSet<i64>,
    lines: Vec<String>,
    style: Style,
}

impl Tree<'_> {
    /// Adds a task and those that it waits for. `path` has the ids of the tasks above it.
    fn add(&mut self, task: &ShownTask, path: &mut Vec<i64>) {
        let indent = "  ".repeat(path.len());
        if path.contains(&task.id) {
            let number = task.number;
            let text =
                format!("{indent}  task {number}: a deadlock, these tasks wait for each other");
            self.lines.push(self.style.paint(Role::Error, &text));
            return;
        }
        let line = line(task, self.style);
        if !self.shown.insert(task.id) {
            self.lines.push(format!("{indent}{line}  (see above)"));
            return;
        }
        self.lines.push(format!("{indent}{line}"));
        if path.len() >= DEEPEST {
            return;
        }
        path.push(task.id);
        for number in awaits(task) {
            if let Some(awaited) = self.by_number.get(&number).copied() {
                self.add(awaited, path);
            }
        }
        path.pop();
    }
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
    let shown = line(found, session.screen.style);
    session.screen.print(shown.trim_start());
    let before = session.stop()?.thread;
    if let Err(error) = session.select_thread(found.id) {
        session.select_thread(before)?;
        return Err(error);
    }
    session.show_selected()?;
    Ok(Flow::Go)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dapple_adapter::ShownWait;

    /// A task that waits for others.
    fn task(number: u64, waits_for: &[u64]) -> ShownTask {
        let wait = |other: &u64| ShownWait {
            text: format!("task {other}"),
            tasks: vec![*other],
        };
        ShownTask {
            id: 1000 + number as i64,
            number,
            blocks_thread: false,
            name: "work".to_owned(),
            state: "waiting".to_owned(),
            thread_id: None,
            path: None,
            line: None,
            waits: waits_for.iter().map(wait).collect(),
        }
    }

    fn shown(tasks: &[ShownTask]) -> String {
        tree(tasks, Style::plain()).join("\n")
    }

    #[test]
    fn each_task_is_under_one_that_waits_for_it() {
        let tasks = [task(1, &[]), task(2, &[1, 3]), task(3, &[1])];
        let wanted = "  task 2  work  waiting for task 1, task 3
    task 1  work  waiting
    task 3  work  waiting for task 1
      task 1  work  waiting  (see above)";
        assert_eq!(shown(&tasks), wanted);
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_marked() {
        let tasks = [task(1, &[2]), task(2, &[1]), task(3, &[1])];
        let wanted = "  task 3  work  waiting for task 1
    task 1  work  waiting for task 2
      task 2  work  waiting for task 1
        task 1: a deadlock, these tasks wait for each other";
        assert_eq!(shown(&tasks), wanted);
    }

    #[test]
    fn a_long_chain_is_shown_whole() {
        let tasks: Vec<ShownTask> = (0..5000)
            .map(|number| task(number, &[number + 1]))
            .collect();
        assert_eq!(tree(&tasks, Style::plain()).len(), 5000);
    }
}
