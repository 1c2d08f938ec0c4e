//! What threads wait for: locks, and each other.

use std::path::Path;

use dapple_adapter::{LocksResponse, ShownHolder, ShownThreadWait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::is_false;
use crate::debug::screen::printable;
use crate::debug::style::{Role, Style};

/// The threads that wait for locks and for each other.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Locks {
    /// The threads that wait.
    pub threads: Vec<WaitingThread>,
    /// Circles of threads that wait for each other.
    pub deadlocks: Vec<Deadlock>,
    /// Why threads may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A thread that waits.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingThread {
    /// The id of the thread.
    pub id: i64,
    /// Its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it waits for: `a mutex`.
    pub waits_for: String,
    /// The address of the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The static variable that the lock is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The function in the user's code that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The source file of that function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line at which it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// The threads that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
}

/// A thread that another one waits for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// Its id.
    pub thread: i64,
    /// Whether it has ended; the lock still has its id.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_ended: bool,
    /// The function with a guard of the lock among its variables. Missing: the lock itself has the thread's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard_in: Option<String>,
}

/// A circle of threads, each waiting for the next, and the last for the first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deadlock {
    /// Their ids.
    pub threads: Vec<i64>,
    /// Whether it is known by the variables of functions, and a guard may have been dropped before the end of its block.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_guess: bool,
}

impl Locks {
    /// The threads as the adapter has told of them.
    pub fn of(found: LocksResponse) -> Locks {
        let by_guard = |circle: &[i64], thread: &ShownThreadWait| {
            let holds = |holder: &ShownHolder| circle.contains(&holder.thread_id);
            let mut holders = thread.holders.iter();
            circle.contains(&thread.thread_id)
                && holders.any(|holder| holds(holder) && holder.guard_in.is_some())
        };
        let deadlocks = found.deadlocks.into_iter().map(|threads| Deadlock {
            is_guess: { found.threads.iter() }.any(|thread| by_guard(&threads, thread)),
            threads,
        });
        let deadlocks = deadlocks.collect();
        Locks {
            deadlocks,
            threads: found.threads.into_iter().map(WaitingThread::of).collect(),
            problems: found.problems,
        }
    }

    /// A line for each thread, one for each deadlock, and what is not known.
    pub fn text(&self, style: Style) -> String {
        let threads = self.threads.iter();
        let mut lines: Vec<String> = threads.map(|thread| thread.text(style)).collect();
        if lines.is_empty() {
            lines.push("no thread waits for a lock or for another thread".to_owned());
        }
        let deadlocks = self.deadlocks.iter().map(Deadlock::text);
        lines.extend(deadlocks.map(|text| style.paint(Role::Error, &text)));
        lines.extend(self.problems.iter().map(|problem| printable(problem)));
        lines.join("\n")
    }
}

impl WaitingThread {
    fn of(thread: ShownThreadWait) -> WaitingThread {
        let holders = thread.holders.into_iter().map(|holder| Holder {
            thread: holder.thread_id,
            has_ended: holder.has_ended,
            guard_in: holder.guard_in,
        });
        WaitingThread {
            id: thread.thread_id,
            name: thread.name,
            waits_for: thread.text,
            address: thread.address,
            variable: thread.variable,
            function: thread.function,
            path: thread.path,
            line: thread.line,
            holders: holders.collect(),
        }
    }

    /// `  thread 12 "worker"  run  main.c:14  waiting for a mutex, first (0x404080), held by thread 13`.
    fn text(&self, style: Style) -> String {
        let mut text = format!("  thread {}", self.id);
        if !self.name.is_empty() {
            text += &format!(" \"{}\"", printable(&self.name));
        }
        if let Some(function) = &self.function {
            text += &format!("  {}", style.paint(Role::Function, &printable(function)));
        }
        text += &place(self.path.as_deref(), self.line, style);
        text += &format!("  waiting for {}", printable(&self.waits_for));
        text += &match (&self.variable, &self.address) {
            (Some(variable), Some(address)) => format!(", {} ({address})", printable(variable)),
            (None, Some(address)) => format!(" at {address}"),
            _ => String::new(),
        };
        let is_join = self.address.is_none();
        let holders: Vec<String> = self.holders.iter().map(Holder::text).collect();
        match holders.is_empty() {
            true => text,
            false if is_join => format!("{text}: {}", holders.join(", ")),
            false => format!("{text}, held by {}", holders.join(", ")),
        }
    }
}

/// `  main.rs:12`, if both are known.
pub(super) fn place(path: Option<&str>, line: Option<i64>, style: Style) -> String {
    let (Some(path), Some(line)) = (path, line) else {
        return String::new();
    };
    let file = Path::new(path).file_name().unwrap_or_default();
    let place = format!("{}:{line}", printable(&file.to_string_lossy()));
    format!("  {}", style.paint(Role::Location, &place))
}

impl Holder {
    /// `thread 13 (guard in run)`.
    fn text(&self) -> String {
        let note = match (&self.guard_in, self.has_ended) {
            (_, true) => " (which has ended)".to_owned(),
            (Some(function), _) => format!(" (guard in {})", printable(function)),
            (None, _) => String::new(),
        };
        format!("thread {}{note}", self.thread)
    }
}

impl Deadlock {
    fn text(&self) -> String {
        let text = match self.threads.as_slice() {
            [thread] => format!("thread {thread} waits for itself"),
            circle => {
                let again = circle.iter().chain(circle.first());
                let path: Vec<String> = again.map(i64::to_string).collect();
                format!("these threads wait for each other: {}", path.join(" → "))
            }
        };
        match self.is_guess {
            false => format!("deadlock: {text}"),
            true => format!("deadlock, unless a guard was dropped early: {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: i64, holders: Vec<ShownHolder>) -> ShownThreadWait {
        ShownThreadWait {
            thread_id: id,
            name: "worker".to_owned(),
            text: "a mutex".to_owned(),
            address: Some("0x4040".to_owned()),
            variable: None,
            function: Some("run".to_owned()),
            path: Some("/src/main.c".to_owned()),
            line: Some(14),
            holders,
        }
    }

    #[test]
    fn a_deadlock_is_a_line_of_its_own() {
        let held = |id: i64, guard: Option<&str>| ShownHolder {
            thread_id: id,
            has_ended: false,
            guard_in: guard.map(str::to_owned),
        };
        let joins = ShownThreadWait {
            address: None,
            text: "the end of a thread".to_owned(),
            ..thread(3, vec![held(1, None)])
        };
        let found = LocksResponse {
            threads: vec![
                thread(1, vec![held(2, None)]),
                thread(2, vec![held(1, Some("hold"))]),
                joins,
            ],
            deadlocks: vec![vec![1, 2]],
            problems: Vec::new(),
        };
        assert_eq!(
            Locks::of(found)
                .text(Style::plain())
                .lines()
                .collect::<Vec<_>>(),
            [
                "  thread 1 \"worker\"  run  main.c:14  waiting for a mutex at 0x4040, held by thread 2",
                "  thread 2 \"worker\"  run  main.c:14  waiting for a mutex at 0x4040, held by thread 1 (guard in hold)",
                "  thread 3 \"worker\"  run  main.c:14  waiting for the end of a thread: thread 1",
                "deadlock, unless a guard was dropped early: these threads wait for each other: 1 → 2 → 1",
            ]
        );
    }
}
