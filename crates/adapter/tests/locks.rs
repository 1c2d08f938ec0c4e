//! Threads that wait for locks and for each other: what each waits for, who holds it, and deadlocks.

use crate::support::fixture::{Linking, Optimization};
use crate::support::{Fixture, Session, Stopped, core_of, package};
use dapple_adapter::{LocksRequest, LocksResponse};
use dapple_dap::message::Empty;
use dapple_dap::types::*;
use serde_json::json;
use std::collections::HashMap;

/// What threads wait for: function and the comment at the end of the line that waits, what, its variable, and the functions that those wait in
/// who hold it: `main` if none of them waits. Then the circles.
fn table(found: &LocksResponse) -> String {
    let source = |path: &Option<String>, line: Option<i64>| {
        let text = std::fs::read_to_string(path.as_ref()?).ok()?;
        let line = text.lines().nth(line? as usize - 1)?.to_owned();
        Some(line)
    };
    let mark = |path: &Option<String>, line: Option<i64>| {
        let line = source(path, line).unwrap_or_default();
        let comment = line.rsplit_once("/* ").or(line.rsplit_once("// "));
        let (_, comment) = comment.unwrap_or_default();
        comment.trim_end_matches("*/").trim().to_owned()
    };
    let marks: HashMap<i64, String> = { found.threads.iter() }
        .map(|thread| (thread.thread_id, mark(&thread.path, thread.line)))
        .collect();
    let rows = found.threads.iter().map(|thread| {
        let holders = thread.holders.iter().map(|holder| {
            let mark = marks.get(&holder.thread_id).map_or("main", String::as_str);
            let guard = { holder.guard_in.as_ref() }
                .map(|function| format!(" (guard in {function})"))
                .unwrap_or_default();
            format!("{mark}{guard}")
        });
        let holders: Vec<String> = holders.collect();
        let variable = thread.variable.as_deref().unwrap_or("");
        let mark = &marks[&thread.thread_id];
        format!(
            "{mark} | {} {variable} | {}",
            thread.text,
            holders.join(", ")
        )
    });
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    for circle in &found.deadlocks {
        let marks: Vec<&str> = circle.iter().map(|thread| &*marks[thread]).collect();
        rows.push(format!("deadlock of {}", marks.join(", ")));
    }
    rows.join("\n")
}

fn locks(session: &Session) -> String {
    let found = session.ok::<LocksRequest>(Empty);
    assert_eq!(found.problems, Vec::<String>::new());
    table(&found)
}

/// A session with a program, stopped where its threads are those of the table.
fn waiting(program: &str, source: &str, line: i64, wanted: &str) -> (Session, Stopped) {
    let session = Session::new();
    let launch = json!({"program": program});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    session.set_lines(source, &[line]);
    session.configured();
    let mut last = String::new();
    for _ in 0..100 {
        let stopped = session.stopped(StoppedEventReason::Breakpoint);
        last = locks(&session);
        if last == wanted {
            return (session, stopped);
        }
        session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    }
    panic!("these threads don't become those of the table:\n{last}");
}

fn waiting_in(fixture: &Fixture, wanted: &str) {
    let line = fixture.line("stopped");
    let (session, _) = waiting(&fixture.program(), &fixture.path(), line, wanted);
    session.disconnect();
}

const C: &str = "\
aside | a mutex apart | main
embraced | a mutex mutexes | embraced
embraced | a mutex mutexes+40 | embraced
embraced | a mutex mutexes+80 | embraced
joining | the end of a thread  | embraced
reading | a read-write lock written | main
told | a condition variable never | 
wanting | a mutex mutexes | embraced
deadlock of embraced, embraced, embraced";

#[test]
fn a_deadlock_of_three_threads_is_found_in_c() {
    waiting_in(&Fixture::new("locks.c"), C);
}

#[test]
fn it_is_found_in_an_optimised_program_and_in_a_static_one() {
    let fixture = Fixture::built("locks.c", Optimization::Full, Linking::Pie);
    waiting_in(&fixture, C);
    let fixture = Fixture::built("locks.c", Optimization::None, Linking::Static);
    waiting_in(&fixture, C);
}

#[test]
fn it_is_found_in_a_core_file() {
    let core = core_of(&Fixture::new("locks.c"), "broken");
    let session = Session::new();
    let attach = serde_json::from_value(json!({"coreFile": core})).expect("arguments");
    session.ok::<AttachRequest>(attach);
    session.configured();
    session.stopped(StoppedEventReason::Exception);
    assert_eq!(locks(&session), C);
    session.disconnect();
}

#[test]
fn a_deadlock_is_found_in_cpp() {
    let wanted = "\
finish | the end of a thread  | transfer
look | a read-write lock book | main
transfer | a mutex here | transfer
transfer | a mutex there | transfer
deadlock of transfer, transfer";
    waiting_in(&Fixture::new("locks.cpp"), wanted);
}

#[test]
fn a_deadlock_is_found_in_rust_by_the_guards_of_threads() {
    let wanted = "\
again | a mutex  | transfer (guard in locks::transfer)
finish | the end of a thread  | transfer
transfer | a mutex  | transfer (guard in locks::transfer)
transfer | a mutex  | transfer (guard in locks::transfer)
write | a read-write lock locks::LEDGER | main (guard in locks::main)
deadlock of transfer, transfer";
    waiting_in(&Fixture::new("locks.rs"), wanted);
}

#[test]
fn a_deadlock_is_found_with_locks_of_parking_lot() {
    let wanted = "\
again | a mutex  | transfer (guard in parking_locks::transfer)
transfer | a mutex  | transfer (guard in parking_locks::transfer)
transfer | a mutex  | transfer (guard in parking_locks::transfer)
write | a read-write lock  | main (guard in parking_locks::main)
deadlock of transfer, transfer";
    let program = package::built("executors", false).join("parking_locks");
    let source = package::folder("executors").join("src/bin/parking_locks.rs");
    let text = std::fs::read_to_string(&source).expect("the source");
    let line = { text.lines() }.position(|line| line.contains("// stop: stopped"));
    let line = line.expect("a marker") as i64 + 1;
    let program = program.display().to_string();
    let source = source.display().to_string();
    let (session, _) = waiting(&program, &source, line, wanted);
    session.disconnect();
}
