//! `info locks`: threads that wait for locks and for each other.

use std::path::Path;

use anyhow::bail;
use dapple_adapter::{LocksRequest, LocksResponse, ShownHolder, ShownThreadWait};
use dapple_dap::message::Empty;

use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::style::{Role, Style};

/// Lists the threads that wait.
pub(super) fn show(session: &mut Session) -> anyhow::Result<()> {
    session.stop()?;
    if !session.is_own_adapter() {
        bail!("this adapter doesn't tell what threads wait for");
    }
    let found = session.request::<LocksRequest>(Empty)?;
    let text = lines(&found, session.screen.style).join("\n");
    session.screen.print(&text);
    Ok(())
}

fn lines(found: &LocksResponse, style: Style) -> Vec<String> {
    let threads = found.threads.iter();
    let mut lines: Vec<String> = threads.map(|thread| line(thread, style)).collect();
    if lines.is_empty() {
        lines.push("no thread waits for a lock or for another thread".to_owned());
    }
    for circle in &found.deadlocks {
        let by_guard = |thread: &&ShownThreadWait| {
            let mut holders = thread.holders.iter();
            let holds = |holder: &ShownHolder| circle.contains(&holder.thread_id);
            circle.contains(&thread.thread_id)
                && holders.any(|holder| holds(holder) && holder.guard_in.is_some())
        };
        let is_sure = !found.threads.iter().any(|thread| by_guard(&thread));
        let text = match circle.as_slice() {
            [thread] => format!("thread {thread} waits for itself"),
            circle => {
                let again = circle.iter().chain(circle.first());
                let path: Vec<String> = again.map(i64::to_string).collect();
                format!("these threads wait for each other: {}", path.join(" → "))
            }
        };
        // A guard that was dropped before the end of its variable's block can't be told from one that wasn't.
        let text = match is_sure {
            true => format!("deadlock: {text}"),
            false => format!("deadlock, unless a guard was dropped early: {text}"),
        };
        lines.push(style.paint(Role::Error, &text));
    }
    lines.extend(found.problems.iter().map(|problem| printable(problem)));
    lines
}

/// `  thread 12 "worker"  run  main.c:14  waiting for a mutex, first (0x404080), held by thread 13`.
fn line(thread: &ShownThreadWait, style: Style) -> String {
    let mut text = format!("  thread {}", thread.thread_id);
    if !thread.name.is_empty() {
        text += &format!(" \"{}\"", printable(&thread.name));
    }
    if let Some(function) = &thread.function {
        text += &format!("  {}", style.paint(Role::Function, &printable(function)));
    }
    if let (Some(path), Some(line)) = (&thread.path, thread.line) {
        let file = Path::new(path).file_name().unwrap_or_default();
        let place = format!("{}:{line}", printable(&file.to_string_lossy()));
        text += &format!("  {}", style.paint(Role::Location, &place));
    }
    text += &format!("  waiting for {}", printable(&thread.text));
    text += &match (&thread.variable, &thread.address) {
        (Some(variable), Some(address)) => format!(", {} ({address})", printable(variable)),
        (None, Some(address)) => format!(" at {address}"),
        _ => String::new(),
    };
    let is_join = thread.address.is_none();
    let holders: Vec<String> = thread.holders.iter().map(holder).collect();
    match holders.is_empty() {
        true => text,
        false if is_join => format!("{text}: {}", holders.join(", ")),
        false => format!("{text}, held by {}", holders.join(", ")),
    }
}

/// `thread 13 (guard in run)`.
fn holder(holder: &ShownHolder) -> String {
    let note = match (&holder.guard_in, holder.has_ended) {
        (_, true) => " (which has ended)".to_owned(),
        (Some(function), _) => format!(" (guard in {})", printable(function)),
        (None, _) => String::new(),
    };
    format!("thread {}{note}", holder.thread_id)
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
            lines(&found, Style::plain()),
            [
                "  thread 1 \"worker\"  run  main.c:14  waiting for a mutex at 0x4040, held by thread 2",
                "  thread 2 \"worker\"  run  main.c:14  waiting for a mutex at 0x4040, held by thread 1 (guard in hold)",
                "  thread 3 \"worker\"  run  main.c:14  waiting for the end of a thread: thread 1",
                "deadlock, unless a guard was dropped early: these threads wait for each other: 1 → 2 → 1",
            ]
        );
    }
}
