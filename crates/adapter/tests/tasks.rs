//! Tasks of asynchronous executors: which there are, what they wait for, and their frames. The programs are a package with tokio.

use crate::support::arrays::numbers;
use crate::support::project::Project;
use crate::support::{Session, Stopped, package};
use dapple_adapter::{ShownTask, TasksArguments, TasksRequest};
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::collections::HashMap;

/// What the tasks of `waiting` wait for: function, line of the user's innermost `await`, waits. Tasks that are waited for are named by
/// their functions.
const WAITING: &str = "\
accepting: listener.accept().await.unwrap(); // second | a TCP listener, descriptor N
both: sleep(LONG).await | a timer, 99 h left + nothing: it is pending for ever
bounded: timeout(LONG, rx).await | a value (oneshot channel) + a timer, 99 h left
deep: deep(depth - 1).await | futures that are nested too deeply to be followed
embraced: second.lock().await | a lock (Mutex), held by embraced
embraced: second.lock().await | a lock (Mutex), held by embraced
held: sleep(LONG).await | a timer, 99 h left
joining: task.await.unwrap() | timed
main: notify.notified().await | a notification (Notify)
main: permits.acquire().await | permits (Semaphore)
reading: stream.read_exact(&mut bytes).await | a TCP connection, descriptor N
received: rx.recv().await { | a message (mpsc channel)
recursive: sleep(LONG).await | a timer, 99 h left
selecting: sleep(LONG).await | a message (mpsc channel) + a timer, 99 h left
set: set.join_next().await | one of 2 tasks (JoinSet)
timed: sleep(LONG).await | a timer, 99 h left
timed: sleep(LONG).await | a timer, 99 h left
timed: sleep(LONG).await | a timer, 99 h left
unordered: sleep(LONG).await | a timer, 99 h left + a timer, 99 h left + a timer, 99 h left
wanting: m.lock().await; // wanting | a lock (Mutex), held by held";

fn program(name: &str, optimised: bool) -> String {
    program_of("tasks", name, optimised)
}

fn program_of(package: &str, name: &str, optimised: bool) -> String {
    let built = package::built(package, optimised).join(name);
    built.display().to_string()
}

fn source(name: &str) -> String {
    let path = package::folder("tasks").join(format!("src/bin/{name}.rs"));
    path.display().to_string()
}

fn lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(source(name)).expect("the source");
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[track_caller]
fn line(name: &str, part: &str) -> i64 {
    let lines = lines(name);
    let found = lines.iter().position(|line| line.contains(part));
    let found = found.unwrap_or_else(|| panic!("no line of {name} has `{part}`"));
    i64::try_from(found).expect("a line") + 1
}

/// A session with `waiting`, stopped at a breakpoint at which all tasks have come to where they wait.
fn waiting(arguments: &[&str], optimised: bool) -> (Session, Stopped) {
    waiting_in(json!({"program": program("waiting", optimised), "args": arguments}))
}

fn waiting_in(launch: Value) -> (Session, Stopped) {
    let session = Session::new();
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    session.set_lines(&source("waiting"), &[line("waiting", "// stop: stopped")]);
    session.configured();
    let mut last = String::new();
    for _ in 0..400 {
        let stopped = session.stopped(StoppedEventReason::Breakpoint);
        last = table(&tasks(&session));
        if last == WAITING {
            return (session, stopped);
        }
        session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
    }
    panic!("these tasks don't become those of the table:\n{last}");
}

fn tasks(session: &Session) -> Vec<ShownTask> {
    let page = session.ok::<TasksRequest>(TasksArguments::default());
    assert_eq!(page.problems, Vec::<String>::new());
    assert_eq!(page.total, Some(page.tasks.len() as u64));
    let (blocking, tasks): (Vec<_>, Vec<_>) = { page.tasks }
        .into_iter()
        .partition(|task| task.blocks_thread);
    assert_eq!(blocking.len(), 1, "{blocking:?}");
    tasks
}

/// A task's function without path and kind.
fn function(name: &str) -> String {
    let inner = name.split("::").nth(1).unwrap_or(name);
    inner
        .split([' ', '{', '}'])
        .next()
        .unwrap_or(inner)
        .to_owned()
}

/// The tasks in the form of [`WAITING`].
fn table(tasks: &[ShownTask]) -> String {
    let names: HashMap<u64, String> = tasks
        .iter()
        .map(|task| (task.number, function(&task.name)))
        .collect();
    let source = lines("waiting");
    let rows = tasks.iter().map(|task| {
        let awaits = task.line.and_then(|line| source.get(line as usize - 1));
        let waits = task.waits.iter().map(|wait| {
            let mut text = wait.text.clone();
            if let Some((start, _)) = text.split_once("descriptor ") {
                text = format!("{start}descriptor N");
            }
            for number in &wait.tasks {
                text = text.replace(&format!("task {number}"), &names[number]);
            }
            text
        });
        let waits: Vec<String> = waits.collect();
        let awaits = awaits.map_or("", String::as_str);
        let name = function(&task.name);
        // Rows of the table have the part of the line that matters.
        let wanted = WAITING.lines().find_map(|row| {
            let (known, part) = row.split(" | ").next()?.split_once(": ")?;
            (known == name && awaits.contains(part)).then_some(part)
        });
        let state = match &*task.state {
            "waiting" => "",
            state => state,
        };
        format!(
            "{name}: {} | {state}{}",
            wanted.unwrap_or(awaits),
            waits.join(" + ")
        )
    });
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    rows.join("\n")
}

#[test]
fn tasks_are_listed_with_what_they_wait_for() {
    for arguments in [&["one"][..], &[]] {
        let (session, _) = waiting(arguments, false);
        session.disconnect();
    }
}

#[test]
fn in_an_optimised_program_too() {
    let (session, _) = waiting(&[], true);
    session.disconnect();
}

#[test]
fn tasks_of_tokio_of_half_a_year_of_two_and_of_four_years_ago_are_listed_too() {
    for package in ["tasks_2026", "tasks_2024", "tasks_2022"] {
        let program = program_of(package, "waiting", false);
        let (session, _) = waiting_in(json!({"program": program}));
        session.disconnect();
    }
}

#[test]
fn they_are_left_out_where_the_configuration_wants_that() {
    let program = program("waiting", false);
    let (session, _) = waiting_in(json!({"program": program, "tasks": false}));
    let threads = session.ok::<ThreadsRequest>(dapple_dap::message::Empty);
    let is_task = |thread: &&Thread| thread.name.starts_with("task ");
    assert_eq!(threads.threads.iter().find(is_task), None);
    session.disconnect();
}

#[test]
fn a_step_of_a_suspended_task_ends_behind_its_await_and_not_in_tasks_with_the_same_code() {
    let session = Session::new();
    let launch = json!({"program": program("steps", false)});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    session.set_lines(&source("steps"), &[line("steps", "// stop: waiting")]);
    session.configured();
    session.stopped(StoppedEventReason::Breakpoint);
    let listed = tasks(&session);
    let stepped: Vec<&ShownTask> = listed
        .iter()
        .filter(|task| task.name.contains("stepped"))
        .collect();
    assert_eq!(stepped.len(), 3);
    // The one that is woken last.
    let task = stepped
        .iter()
        .max_by_key(|task| task.number)
        .expect("three");
    assert_eq!(
        (&*task.state, task.line),
        ("waiting", Some(line("steps", "// gate")))
    );
    for end in ["// behind", "// asleep", "// second"] {
        session.ok::<NextRequest>(NextArguments::new(task.id));
        let stopped = session.stopped(StoppedEventReason::Step);
        assert_eq!(stopped.top.line, line("steps", end));
        assert_eq!(session.evaluate(&stopped.top, "n"), "9");
    }
    session.disconnect();
}

/// The frames of a task: function and line, or the text between frames.
fn frames(session: &Session, task: &ShownTask) -> Vec<StackFrame> {
    let trace = session.ok::<StackTraceRequest>(StackTraceArguments::new(task.id));
    let frames = trace.stack_frames;
    assert_eq!(trace.total_frames, Some(frames.len() as i64));
    frames
}

/// The frames in the user's source, each as its line, and the labels.
fn written(session: &Session, task: &ShownTask) -> Vec<String> {
    let source = lines("waiting");
    let frames = frames(session, task).into_iter();
    let shown = frames.filter_map(|frame| match frame.presentation_hint {
        Some(StackFramePresentationHint::Label) => Some(format!("- {}", frame.name)),
        Some(_) => None,
        None => source.get(frame.line as usize - 1).cloned(),
    });
    shown.collect()
}

fn task_of<'a>(tasks: &'a [ShownTask], name: &str) -> &'a ShownTask {
    let named = tasks.iter().filter(|task| function(&task.name) == name);
    let found = named.min_by_key(|task| task.number);
    found.unwrap_or_else(|| panic!("no task runs {name}"))
}

#[test]
fn the_frames_of_a_suspended_task_have_its_variables() {
    let (session, _) = waiting(&[], false);
    let tasks = tasks(&session);
    let recursive = task_of(&tasks, "recursive");
    assert_eq!(
        written(&session, recursive),
        [
            "- waiting for a timer, 99 h left",
            "sleep(LONG).await;",
            "return timed(depth).await;",
            "recursive(depth - 1).await + 1",
            "recursive(depth - 1).await + 1",
        ]
    );
    let inner = &frames(&session, recursive)[1..];
    let depths: Vec<String> = inner[1..]
        .iter()
        .map(|frame| session.evaluate(frame, "depth"))
        .collect();
    assert_eq!(depths, ["0", "1", "2"]);
    let timed = &frames(&session, task_of(&tasks, "timed"))[1];
    assert_eq!(session.variable(timed, "Locals", "n").value, "3");
    assert_eq!(session.variable(timed, "Locals", "twice").value, "6");
    assert_eq!(session.evaluate(timed, "n * 10 + twice"), "36");
    // What is written is in the future: it is there when it is resumed.
    let arguments = SetExpressionArguments::new("twice", "7").with_frame_id(timed.id);
    assert_eq!(session.ok::<SetExpressionRequest>(arguments).value, "7");
    assert_eq!(session.evaluate(timed, "twice"), "7");
    let both = written(&session, task_of(&tasks, "both"));
    assert_eq!(
        both,
        [
            "- waiting for a timer, 99 h left",
            "sleep(LONG).await;",
            "- at the same time:",
            "- waiting for nothing: it is pending for ever",
            "let (a, b) = tokio::join!(timed(1), async { std::future::pending::<u64>().await });",
            "let (a, b) = tokio::join!(timed(1), async { std::future::pending::<u64>().await });",
        ]
    );
    session.disconnect();
}

#[test]
fn the_future_of_a_thread_that_blocks_on_it_is_listed_too() {
    let session = Session::new();
    let launch = json!({"program": program("waiting", false), "args": ["one"]});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    let lines = ["// stop: stopped", "let twice = n * 2;"].map(|part| line("waiting", part));
    session.set_lines(&source("waiting"), &lines);
    session.configured();
    let blocking = || {
        let page = session.ok::<TasksRequest>(TasksArguments::default());
        let mut tasks = page.tasks.into_iter();
        tasks.find(|task| task.blocks_thread).expect("it blocks")
    };
    // A task runs in its thread, so it is suspended.
    let in_task = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(in_task.top.line, lines[1]);
    let main = blocking();
    assert_eq!(
        (&*main.state, main.line),
        ("waiting", Some(line("waiting", "yield_now().await")))
    );
    assert_eq!(
        written(&session, &main)[1],
        "tokio::task::yield_now().await;"
    );
    session.set_lines(&source("waiting"), &lines[..1]);
    session.ok::<ContinueRequest>(ContinueArguments::new(in_task.thread));
    let in_main = session.stopped(StoppedEventReason::Breakpoint);
    let main = blocking();
    assert_eq!(
        (&*main.state, main.thread_id),
        ("running", Some(in_main.thread))
    );
    assert_eq!(frames(&session, &main)[0].name, in_main.top.name);
    session.disconnect();
}

#[test]
fn tasks_are_among_the_threads() {
    let (session, stopped) = waiting(&[], false);
    let threads = session
        .ok::<ThreadsRequest>(dapple_dap::message::Empty)
        .threads;
    let names: Vec<&str> = threads.iter().map(|thread| &*thread.name).collect();
    let is_timed = |name: &&&str| {
        name.starts_with("task ")
            && name.contains("timed")
            && name.ends_with("waiting for a timer, 99 h left")
    };
    assert_eq!(names.iter().filter(is_timed).count(), 3, "{names:#?}");
    let listed = tasks(&session);
    for task in &listed {
        assert!(
            threads.iter().any(|thread| thread.id == task.id),
            "{task:?}"
        );
    }
    // What needs a thread says that it is a task.
    let task = task_of(&listed, "held").id;
    let frame = frames(&session, task_of(&listed, "held"))[1].id;
    let says = |message: String| assert!(message.contains("this is a task"), "{message}");
    says(
        session
            .refused::<RestartFrameRequest>(RestartFrameArguments::new(frame))
            .to_string(),
    );
    says(
        session
            .refused::<StepInTargetsRequest>(StepInTargetsArguments::new(frame))
            .to_string(),
    );
    says(
        session
            .refused::<ExceptionInfoRequest>(ExceptionInfoArguments::new(task))
            .to_string(),
    );
    let alone = ContinueArguments::new(task).with_single_thread(true);
    says(session.refused::<ContinueRequest>(alone).to_string());
    let targets = session.ok::<GotoTargetsRequest>(GotoTargetsArguments::new(
        Source::new().with_path(source("waiting")),
        line("waiting", "// wanting"),
    ));
    let there = GotoArguments::new(task, targets.targets[0].id);
    says(session.refused::<GotoRequest>(there).to_string());
    // Continuing a task continues the program.
    session.ok::<ContinueRequest>(ContinueArguments::new(task));
    let again = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(again.thread, stopped.thread);
    session.disconnect();
}

/// Compares what tasks are said to wait for with what each has noted itself. Returns how many were compared.
fn compare(session: &Session, frame: &StackFrame, count: usize) -> usize {
    let tasks = tasks(session);
    let by_number: HashMap<u64, &ShownTask> =
        tasks.iter().map(|task| (task.number, task)).collect();
    let doing = numbers(session, frame, "&random::DOING", count);
    let own = numbers(session, frame, "&random::NUMBERS", count);
    let mut compared = 0;
    for (number, doing) in own.into_iter().zip(doing) {
        let Some(task) = by_number.get(&number) else {
            assert_eq!(number, 0, "a task that lives isn't listed");
            continue;
        };
        let (kind, line) = (doing & 0xff, (doing >> 8) as i64);
        if task.state == "running" {
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
            4 => "a value (oneshot channel)",
            5 => "a message (mpsc channel)",
            6 => "task ",
            7 => "a notification (Notify)",
            8 => "nothing",
            9 => "its next turn (yield_now)",
            kind => panic!("it notes {kind}, and is {task:?}"),
        };
        assert!(
            task.waits[0].text.starts_with(wanted),
            "{task:?}, which notes {kind}"
        );
    }
    compared
}

#[test]
fn a_thousand_tasks_are_as_each_notes_of_itself_at_any_moment() {
    for flavour in ["one", "several"] {
        let session = Session::new();
        let launch = json!({"program": program("random", false), "args": ["1000", flavour]});
        session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
        session.configured();
        let mut compared = 0;
        for round in 1..6 {
            session.wait_for_output(&format!("round {}.", round * 2));
            session.ok::<PauseRequest>(PauseArguments::new(0));
            let stopped = session.stopped(StoppedEventReason::Pause);
            compared += compare(&session, &stopped.top, 1000);
            session.ok::<ContinueRequest>(ContinueArguments::new(stopped.thread));
        }
        assert!(compared > 3000, "{flavour}: {compared} of 5000");
        session.disconnect();
    }
}

#[test]
fn where_the_debug_information_has_too_little_of_tokio_it_is_said() {
    let project = Project::new(
        "poor",
        &[
            (
                "tokio-9.9.9/src/lib.rs",
                "#[inline(never)]\npub fn work() {}\n",
            ),
            ("main.rs", "fn main() {\n    tokio::work();\n}\n"),
        ],
    );
    let compile = |arguments: &[&str]| {
        let mut rustc = std::process::Command::new("rustc");
        let rustc = rustc
            .current_dir(project.folder())
            .args(["-g", "--edition=2024"]);
        assert!(rustc.args(arguments).status().expect("rustc").success());
    };
    let library = project.path("tokio-9.9.9/src/lib.rs");
    compile(&["--crate-type=rlib", "--crate-name=tokio", &library]);
    compile(&["--extern=tokio=libtokio.rlib", "main.rs"]);
    let session = Session::new();
    let launch = json!({"program": project.path("main"), "stopOnEntry": true});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&launch));
    session.configured();
    session.stopped(StoppedEventReason::Entry);
    let page = session.ok::<TasksRequest>(TasksArguments::default());
    assert_eq!(page.tasks, []);
    let said = page.problems.join(" ");
    assert!(
        said.starts_with("tokio's tasks can't be listed: the debug information"),
        "{said}"
    );
    session.disconnect();
}
