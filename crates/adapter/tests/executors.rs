//! Tasks of executors other than tokio's runtimes: which there are, what they wait for, and their frames. The programs are a package with
//! smol, async-std, futures and tokio's smaller executors.

use crate::support::arrays::numbers;
use crate::support::{Session, Stopped, package};
use dapple_adapter::{ShownTask, TasksArguments, TasksRequest};
use dapple_dap::types::*;
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;

const PACKAGE: &str = "executors";

fn source(name: &str) -> String {
    let path = package::folder(PACKAGE).join(format!("src/bin/{name}.rs"));
    path.display().to_string()
}

fn lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(source(name)).expect("the source");
    text.lines().map(|line| line.trim().to_owned()).collect()
}

fn line(name: &str, part: &str) -> i64 {
    let lines = lines(name);
    let found = lines.iter().position(|line| line.contains(part));
    found.unwrap_or_else(|| panic!("no line of {name} has `{part}`")) as i64 + 1
}

/// All tasks, without those of libraries.
fn tasks(session: &Session) -> Vec<ShownTask> {
    let page = session.ok::<TasksRequest>(TasksArguments::default());
    assert_eq!(page.problems, Vec::<String>::new());
    assert_eq!(page.total, Some(page.tasks.len() as u64));
    let own = { page.tasks }.into_iter();
    let is_librarys = |name: &str| name.contains("async_process") || name.contains("tokio_util");
    own.filter(|task| !is_librarys(&task.name)).collect()
}

/// A task's function without path and kind.
fn function(name: &str) -> String {
    let inner = name.split("::").nth(1).unwrap_or(name);
    let end = inner.find([' ', '{', '}']).unwrap_or(inner.len());
    inner[..end].to_owned()
}

/// What tasks do: function, line of the user's innermost `await` as far as a row of `wanted` has it, state, waits. Tasks that are waited for
/// are named by their functions.
fn table(tasks: &[ShownTask], program: &str, wanted: &str) -> String {
    let names: HashMap<u64, String> = { tasks.iter() }
        .map(|task| (task.number, function(&task.name)))
        .collect();
    let source = lines(program);
    let rows = tasks.iter().map(|task| {
        let waits = task.waits.iter().map(|wait| {
            let mut text = wait.text.clone();
            if let Some((start, _)) = text.split_once("descriptor ") {
                text = format!("{start}descriptor N");
            }
            for number in &wait.tasks {
                let name = names.get(number).expect("a task that is waited for");
                text = text.replace(&format!("task {number}"), name);
            }
            text
        });
        let waits: Vec<String> = waits.collect();
        let at = task.line.and_then(|line| source.get(line as usize - 1));
        let at = at.map_or("", String::as_str);
        let name = function(&task.name);
        let part = wanted.lines().find_map(|row| {
            let (known, part) = row.split(" | ").next()?.split_once(": ")?;
            (known == name && !part.is_empty() && at.contains(part)).then_some(part)
        });
        let state = match &*task.state {
            "waiting" => "",
            state => state,
        };
        let driven = if task.blocks_thread { "block_on " } else { "" };
        let part = part.unwrap_or(at);
        format!("{driven}{name}: {part} | {state}{}", waits.join(" + "))
    });
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    rows.join("\n")
}

/// A session with a program, at a stop where its tasks are those of the table.
fn waiting(program: &str, arguments: &[&str], optimised: bool, wanted: &str) -> (Session, Stopped) {
    let built = package::built(PACKAGE, optimised).join(program);
    waiting_in(&built, program, arguments, wanted)
}

fn waiting_in(built: &Path, program: &str, arguments: &[&str], wanted: &str) -> (Session, Stopped) {
    let session = Session::new();
    let launch = json!({"program": built, "args": arguments});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    session.set_lines(&source(program), &[line(program, "// stop: stopped")]);
    session.configured();
    let mut last = String::new();
    for _ in 0..100 {
        let stopped = session.stopped(StoppedEventReason::Breakpoint);
        last = table(&tasks(&session), program, wanted);
        if last == wanted {
            return (session, stopped);
        }
        session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    }
    panic!("these tasks don't become those of the table:\n{last}");
}

const SMOL: &str = "\
accepting: listener.accept().await.unwrap(); // second | a TCP listener, descriptor N
block_on main:  | running
blocked: barrier.wait().await | other tasks (Barrier)
blocking:  | running
blocking: smol::unblock(move || busy(rx)).await; // blocking | blocking
both: Timer::after(LONG).await | a timer, 99 h left + nothing: it is pending for ever
embraced: second.lock().await | a lock (Mutex), held by embraced
embraced: second.lock().await | a lock (Mutex), held by embraced
full: tx.send(n).await | room for a message (channel)
held: Timer::after(LONG).await | a timer, 99 h left
joining: task.await | timed
listening: listener.await | an event (Event)
local: Timer::after(LONG).await | a timer, 99 h left
looking: l.read().await | a lock (RwLock), held by written
owned: m.lock_arc().await | a lock (Mutex), held by held
permitted: permits.acquire().await | permits (Semaphore)
queued:  | scheduled
queued: await; // queued | queued
racing: rx.recv().await.unwrap() | a message (channel) + a timer, 99 h left
reading: stream.read_exact(&mut bytes).await | a TCP connection, descriptor N
received: rx.recv().await | a message (channel)
timed: Timer::after(LONG).await | a timer, 99 h left
wanting: m.lock().await; // wanting | a lock (Mutex), held by held
written: Timer::after(LONG).await | a timer, 99 h left";

#[test]
fn tasks_of_smol_are_listed_with_what_they_wait_for() {
    let (session, _) = waiting("smol_waiting", &[], false, SMOL);
    // Their frames have their variables.
    let listed = tasks(&session);
    let timed = listed.iter().find(|task| task.name.contains("timed"));
    let arguments = StackTraceArguments::new(timed.expect("timed").id);
    let frames = session.ok::<StackTraceRequest>(arguments).stack_frames;
    assert_eq!(frames[0].name, "waiting for a timer, 99 h left");
    assert_eq!(session.evaluate(&frames[1], "n * 10 + twice"), "36");
    session.disconnect();
}

#[test]
fn those_of_an_optimised_program_too() {
    let (session, _) = waiting("smol_waiting", &[], true, SMOL);
    session.disconnect();
}

#[test]
fn those_of_smol_of_2023_too() {
    let built = package::built("executors_2023", false).join("smol_waiting");
    let (session, _) = waiting_in(&built, "smol_waiting", &[], SMOL);
    session.disconnect();
}

#[test]
fn those_of_programs_with_the_new_mangling_of_names_too() {
    let built = package::built_with_v0_names(PACKAGE);
    let (session, _) = waiting_in(&built.join("smol_waiting"), "smol_waiting", &[], SMOL);
    session.disconnect();
    let path = built.join("tokio_local");
    let (session, _) = waiting_in(&path, "tokio_local", &[], &local_table(LOCAL));
    session.disconnect();
}

const ASYNC_STD: &str = "\
accepting: listener.accept().await.unwrap(); // second | a TCP listener, descriptor N
block_on main:  | running
bounded: timeout(LONG, rx.recv()).await | a message (channel) + a timer, 99 h left
held: sleep(LONG).await; // held | a timer, 99 h left
joining: task.await | timed
reading: stream.read_exact(&mut bytes).await | a TCP connection, descriptor N
received: rx.recv().await | a message (channel)
timed: sleep(LONG).await; // timed | a timer, 99 h left
wanting: m.lock().await; // wanting | a lock (Mutex), held by held";

#[test]
fn tasks_of_async_std_are_listed_with_what_they_wait_for() {
    let (session, _) = waiting("async_std_waiting", &[], false, ASYNC_STD);
    session.disconnect();
}

/// What tasks do in `tokio_local` where the set is awaited, and where it drives the runtime itself.
const LOCAL: &str = "\
block_on main:  | running
run:  | running";
const LOCAL_DRIVEN: &str = "block_on run:  | running";
/// What the other tasks do.
const LOCAL_TASKS: &str = "\
blocking:  | running
blocking: spawn_blocking(move | blocking
held: sleep(LONG).await; // held | a timer, 99 h left
joining: spawn_local(timed(n)).await | timed
notified: Notify::new().notified().await | a notification (Notify)
queued:  | scheduled
queued: spawn_blocking( | queued
set: set.join_next().await | one of 2 tasks (JoinSet)
timed: sleep(LONG).await; // timed | a timer, 99 h left
timed: sleep(LONG).await; // timed | a timer, 99 h left
timed: sleep(LONG).await; // timed | a timer, 99 h left
wanting: m.lock().await; // wanting | a lock (Mutex), held by held";

#[test]
fn tasks_of_a_local_set_and_functions_on_threads_for_blocking_ones_are_listed() {
    for (arguments, own) in [(&["one"][..], LOCAL_DRIVEN), (&[], LOCAL)] {
        let wanted = local_table(own);
        let (session, _) = waiting("tokio_local", arguments, false, &wanted);
        session.disconnect();
    }
}

/// The table of `tokio_local`, with these rows of its own.
fn local_table(own: &str) -> String {
    let mut rows: Vec<&str> = own.lines().chain(LOCAL_TASKS.lines()).collect();
    rows.sort();
    rows.join("\n")
}

const POOL: &str = "\
block_on main:  | running
joining: handle.await; // joining | the result of a task (RemoteHandle)
main: rx.await.unwrap_or_default() // answered | a value (oneshot channel)
received: rx.next().await | a message (mpsc channel)
waiting_for_it: std::future::pending::<()>().await; // pending | nothing: it is pending for ever
waiting_for_it: std::future::pending::<()>().await; // pending | nothing: it is pending for ever";

#[test]
fn tasks_of_a_local_pool_are_listed() {
    let (session, _) = waiting("futures_pools", &[], false, POOL);
    session.disconnect();
}

/// Which of the program's tasks a task is: the variable `me` of its outermost frame that has one.
fn me(session: &Session, task: &ShownTask) -> usize {
    let trace = session.ok::<StackTraceRequest>(StackTraceArguments::new(task.id));
    let mut frames = trace.stack_frames.iter().rev();
    let frame = frames.find(|frame| frame.name.starts_with("async_random::work "));
    let frame = frame.unwrap_or_else(|| panic!("{task:?}: {:#?}", trace.stack_frames));
    session.evaluate(frame, "me").parse().expect("a number")
}

/// Compares what tasks are said to wait for with what each has noted itself. Returns how many were compared.
fn compare(session: &Session, frame: &StackFrame, count: usize) -> usize {
    let doing = numbers(session, frame, "&async_random::DOING", count);
    let listed = tasks(session);
    let is_worker = |task: &&ShownTask| task.name.starts_with("async_random::work ");
    let workers = listed.iter().filter(is_worker);
    let workers: Vec<&ShownTask> = workers.collect();
    assert_eq!(workers.len(), count);
    let mut compared = 0;
    for task in workers {
        if task.state == "running" {
            continue;
        }
        let doing = doing[me(session, task)];
        let (kind, line) = (doing & 0xff, (doing >> 8) as i64);
        if kind == 0 && task.state == "scheduled" && task.line.is_none() {
            continue;
        }
        assert_eq!(task.line, Some(line), "{task:?}, which notes {kind}");
        compared += 1;
        if task.state != "waiting" {
            continue;
        }
        let wanted = match kind {
            1 => "a timer",
            2 => "a lock (Mutex)",
            3 => "permits (Semaphore)",
            4 => "a message (channel)",
            5 => "room for a message (channel)",
            6 => "task ",
            7 => "an event (Event)",
            8 => "nothing",
            9 => "its next turn (yield_now)",
            kind => panic!("it notes {kind}, and is {task:?}"),
        };
        let text = &task.waits[0].text;
        assert!(text.starts_with(wanted), "{task:?}, which notes {kind}");
    }
    compared
}

#[test]
fn they_are_as_each_notes_of_itself_at_any_moment() {
    const COUNT: usize = 250;
    for flavour in ["smol", "async-std", "local"] {
        let session = Session::new();
        let program = package::built(PACKAGE, false).join("async_random");
        let launch = json!({
            "program": program,
            "args": [COUNT.to_string(), flavour],
            "env": {"SMOL_THREADS": "3", "ASYNC_STD_THREAD_COUNT": "3"},
        });
        session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
        session.configured();
        let mut compared = 0;
        for _ in 1..6 {
            let written = session.output(OutputEventCategory::Stdout);
            let rounds = written.lines().count();
            session.wait_for_output(&format!("round {}.", rounds + 2));
            session.ok::<PauseRequest>(PauseArguments::new(0));
            let stopped = session.stopped(StoppedEventReason::Pause);
            compared += compare(&session, &stopped.top, COUNT);
            session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
        }
        eprintln!("{flavour}: {compared} of {}", 5 * COUNT);
        assert!(compared > 3 * COUNT, "{flavour}: {compared}");
        session.disconnect();
    }
}
