//! Tasks of asynchronous executors, and what they wait for.

use std::collections::{HashMap, HashSet};

use dapple_adapter::ShownTask;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::locks::place;
use super::places::is_false;
use crate::debug::screen::printable;
use crate::debug::style::{Role, Style};

/// How deep a tree of tasks is nested; what is deeper begins again at the left.
const DEEPEST: usize = 30;

/// The tasks of asynchronous executors.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tasks {
    /// They, by their numbers.
    pub tasks: Vec<Task>,
    /// Whether there are more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub more: bool,
    /// Whether they were asked for as a tree, each under one that waits for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub as_tree: bool,
    /// Why tasks may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id among threads.
    pub id: i64,
    /// The executor's number for it; for a future that a thread drives itself, the thread's id.
    pub number: u64,
    /// Whether a thread drives it itself, with a function called `block_on`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocks_thread: bool,
    /// The function or block that it runs.
    pub name: String,
    /// `running`, `scheduled`, `waiting`, `finished` or `cancelled`.
    pub state: String,
    /// The thread that polls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<i64>,
    /// The file of the innermost `await` in the user's code that it is suspended at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line of that `await`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<TaskWait>,
}

/// What a task waits for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskWait {
    /// A description: `a timer, 1.2 s left`.
    pub text: String,
    /// The numbers of the tasks that it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<u64>,
}

impl Task {
    /// A task as the adapter has told of it.
    pub fn of(task: ShownTask) -> Task {
        let waits = task.waits.into_iter().map(|wait| TaskWait {
            text: wait.text,
            tasks: wait.tasks,
        });
        Task {
            id: task.id,
            number: task.number,
            blocks_thread: task.blocks_thread,
            name: task.name,
            state: task.state,
            thread: task.thread_id,
            path: task.path,
            line: task.line,
            waits: waits.collect(),
        }
    }

    /// `task 7  worker  main.rs:12  waiting for a timer, 1.2 s left`.
    pub fn text(&self, style: Style) -> String {
        let word = match self.blocks_thread {
            true => "block_on",
            false => "task",
        };
        let name = style.paint(Role::Function, &printable(&self.name));
        let mut text = format!("{word} {}  {name}", self.number);
        text += &place(self.path.as_deref(), self.line, style);
        let waits = self.waits.iter().map(|wait| printable(&wait.text));
        let waits: Vec<String> = waits.collect();
        text += &match (&*self.state, self.thread, &*waits) {
            ("running", Some(thread), _) => format!("  running on thread {thread}"),
            ("waiting", _, [_, ..]) => format!("  waiting for {}", waits.join(", ")),
            (state, _, _) => format!("  {}", printable(state)),
        };
        text
    }

    fn awaits(&self) -> impl Iterator<Item = u64> {
        let waits = self.waits.iter();
        waits.flat_map(|wait| wait.tasks.iter().copied())
    }
}

impl Tasks {
    /// A line for each, and what is not known.
    pub fn text(&self, style: Style) -> String {
        let line = |task: &Task| format!("  {}", task.text(style));
        let mut lines = match self.as_tree {
            true => tree(&self.tasks, style),
            false => self.tasks.iter().map(line).collect(),
        };
        if lines.is_empty() && !self.more && self.problems.is_empty() {
            lines.push("no executor's tasks are known here".to_owned());
        }
        if self.more {
            let more = "  … there are more; `tasks all` lists the first 10000";
            lines.push(style.paint(Role::Aside, more));
        }
        lines.extend(self.problems.iter().map(|problem| printable(problem)));
        lines.join("\n")
    }
}

/// The tasks, each under one that waits for it.
fn tree(tasks: &[Task], style: Style) -> Vec<String> {
    let in_executors = tasks.iter().filter(|task| !task.blocks_thread);
    let awaited: HashSet<u64> = tasks.iter().flat_map(Task::awaits).collect();
    let mut tree = Tree {
        by_number: in_executors.map(|task| (task.number, task)).collect(),
        shown: HashSet::new(),
        lines: Vec::new(),
        style,
    };
    let is_root = |task: &&Task| task.blocks_thread || !awaited.contains(&task.number);
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

struct Tree<'a> {
    by_number: HashMap<u64, &'a Task>,
    /// The ids of the tasks that have a line.
    shown: HashSet<i64>,
    lines: Vec<String>,
    style: Style,
}

impl Tree<'_> {
    /// Adds a task and those that it waits for. `path` has the ids of the tasks above it.
    fn add(&mut self, task: &Task, path: &mut Vec<i64>) {
        let indent = "  ".repeat(path.len() + 1);
        if path.contains(&task.id) {
            let number = task.number;
            let text =
                format!("{indent}task {number}: a deadlock, these tasks wait for each other");
            self.lines.push(self.style.paint(Role::Error, &text));
            return;
        }
        let line = task.text(self.style);
        if !self.shown.insert(task.id) {
            self.lines.push(format!("{indent}{line}  (see above)"));
            return;
        }
        self.lines.push(format!("{indent}{line}"));
        if path.len() >= DEEPEST {
            return;
        }
        path.push(task.id);
        for number in task.awaits() {
            if let Some(awaited) = self.by_number.get(&number).copied() {
                self.add(awaited, path);
            }
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task that waits for others.
    fn task(number: u64, waits_for: &[u64]) -> Task {
        let wait = |other: &u64| TaskWait {
            text: format!("task {other}"),
            tasks: vec![*other],
        };
        Task {
            id: 1000 + number as i64,
            number,
            blocks_thread: false,
            name: "work".to_owned(),
            state: "waiting".to_owned(),
            thread: None,
            path: None,
            line: None,
            waits: waits_for.iter().map(wait).collect(),
        }
    }

    fn shown(tasks: &[Task]) -> String {
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
        let tasks: Vec<Task> = (0..5000)
            .map(|number| task(number, &[number + 1]))
            .collect();
        assert_eq!(tree(&tasks, Style::plain()).len(), 5000);
    }
}
