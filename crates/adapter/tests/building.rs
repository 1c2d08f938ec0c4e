//! Builds while the session is open: the user's own build commands, single source files, and builds that are cancelled or abandoned.

use crate::support;
use crate::support::project::{self, Project, console, launch, refused};
use crate::support::{PATIENCE, Session, is_alive};
use dapple_adapter::{ServeOptions, serve};
use dapple_dap::client::{Client, Pending};
use dapple_dap::testing::launch_arguments;
use dapple_dap::transport::Connection;
use dapple_dap::types::*;
use serde_json::json;
use std::process::Command;
use std::sync::mpsc;

const APP: &str = "#include <stdio.h>
int main(int argc, char **argv) {
    int count = argc;
    printf(\"%d\\n\", count); // here
    return 0;
}
";

#[test]
fn a_command_builds_the_program_first() {
    let makefile = "app: app.c\n\t$(CC) $(FLAGS) -o app app.c\n";
    let project = Project::new("make", &[("app.c", APP), ("Makefile", makefile)]);
    let program = project.path("app");
    let folder = project.folder();
    for build in [
        json!("echo it builds && make FLAGS=-g app"),
        json!(["make", "-B", "app", "FLAGS=-g"]),
        json!({"command": "cd $FOLDER && make -B", "cwd": "/", "env": {"FOLDER": folder, "FLAGS": "-g"}}),
    ] {
        let session = project::session(false);
        launch(
            &session,
            &json!({"program": program, "cwd": folder, "build": build}),
        );
        session.wait_for::<InitializedEvent>();
        let line = project.line("app.c", "// here");
        assert!(session.set_lines(&project.path("app.c"), &[line])[0].verified);
        session.configured();
        let stopped = session.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stopped.top, "count"), "1");
        assert!(
            console(&session).contains("-o app app.c\n"),
            "{}",
            console(&session)
        );
        session.disconnect();
    }
    project.write("app.c", "int main(void) {\n    return none;\n}\n");
    let session = project::session(false);
    let make = json!({"program": program, "cwd": folder, "build": "make"});
    let sentence = refused(&session, &make);
    assert!(
        sentence.starts_with("build: `make` failed with exit code 2: app.c:2:12: ")
            && sentence.contains("undeclared"),
        "{sentence}"
    );
    assert!(console(&session).contains("    2 |     return none;\n"));
    for (build, sentence) in [
        (
            json!("exit 3"),
            "build: `exit 3` failed with exit code 3; its output says why",
        ),
        (
            json!("kill -9 $$"),
            "build: `kill -9 $$` was killed by SIGKILL",
        ),
        (
            json!(["no-such-command", "x"]),
            "build: there is no such command: `no-such-command x`",
        ),
        (
            json!({"command": "make", "cwd": "/nowhere"}),
            "build: there is no folder /nowhere",
        ),
        (json!(" "), "launch: `build` is empty"),
        (json!({"command": []}), "launch: `build.command` is empty"),
        (
            json!({"cwd": "/"}),
            "launch: `build.command` is missing: what is run",
        ),
    ] {
        let arguments = json!({"program": "/bin/true", "build": build});
        assert_eq!(refused(&project::session(false), &arguments), sentence);
    }
}

#[test]
fn a_source_file_is_compiled_and_kept() {
    let app = APP.replace("= argc", "= argc + MORE");
    let app = format!("#include \"more.h\"\n{app}");
    let files = [
        ("app.c", app.as_str()),
        ("more.h", "#define MORE 1\n"),
        (
            "app.rs",
            "fn main() {\n    let word = \"rust\";\n    println!(\"{word}\"); // here\n}\n",
        ),
        ("broken.cpp", "int main() {\n  return nothing;\n}\n"),
    ];
    let project = Project::new("source", &files);
    let runs = |source: &str, variable: &str, value: &str| {
        let session = project::session(false);
        let path = project.path(source);
        launch(&session, &json!({"program": path, "args": ["x"]}));
        session.set_lines(&path, &[project.line(source, "// here")]);
        session.configured();
        let stopped = session.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(session.evaluate(&stopped.top, variable), value);
        let told = console(&session);
        session.disconnect();
        told.starts_with(&format!("compiling {path} with "))
    };
    assert!(runs("app.c", "count", "3"));
    assert!(!runs("app.c", "count", "3"), "it is there already");
    // A change to an included file builds the program again. File timestamps may be coarse, so set a later time.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(2);
    project.write("more.h", "#define MORE 2\n");
    let header = std::fs::File::options()
        .write(true)
        .open(project.path("more.h"));
    header
        .and_then(|file| file.set_modified(later))
        .expect("its time is set");
    assert!(runs("app.c", "count", "4"));
    assert!(runs("app.rs", "word", "\"rust\""));
    let session = project::session(true);
    let path = project.path("broken.cpp");
    let sentence = refused(&session, &json!({"program": path}));
    let place = format!("could not compile {path}: {path}:2:10: ");
    assert!(sentence.contains(&place), "{sentence}");
    assert!(console(&session).contains('\x1b'), "{}", console(&session));
    // A missing source file gets the same message as a missing program.
    let missing = json!({"program": project.path("brokn.cpp")});
    let sentence = refused(&project::session(false), &missing);
    assert!(
        sentence.ends_with(&format!("did you mean {path}?")),
        "{sentence}"
    );
    // Refused with a reason if the session has no folder for compiled programs.
    let sentence = refused(&Session::new(), &json!({"program": path}));
    assert!(
        sentence.contains("this debugger has no folder for programs that it compiles"),
        "{sentence}"
    );
}

/// A package whose build script writes its process ids, and then waits until the test writes to `go`.
fn slow(name: &str) -> Project {
    let script = "fn main() {
        let mut child = std::process::Command::new(\"sleep\").arg(\"10000\").spawn().unwrap();
        std::fs::write(\"who\", format!(\"{} {}\", std::process::id(), child.id())).unwrap();
        std::fs::read(\"go\").unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }";
    let files = [("src/main.rs", "fn main() {}"), ("build.rs", script)];
    let project = Project::package(name, "", &files);
    for fifo in ["who", "go"] {
        let made = Command::new("mkfifo").arg(project.path(fifo)).status();
        assert!(made.expect("mkfifo runs").success());
    }
    project
}

/// Starts a build and waits until its script runs. Returns the pending launch and the processes of the build.
fn begun(session: &Client, project: &Project) -> (Pending<LaunchRequest>, Vec<i64>) {
    let asked = session.send::<LaunchRequest>(launch_arguments(&project.cargo("run")));
    let (sender, who) = mpsc::channel();
    let path = project.path("who");
    std::thread::spawn(move || sender.send(std::fs::read_to_string(path)));
    let who = who
        .recv_timeout(PATIENCE)
        .expect("it is built")
        .expect("a pipe");
    let processes: Vec<i64> = who
        .split(' ')
        .map(|id| id.parse().expect("an id"))
        .collect();
    assert!(processes.iter().all(|process| is_alive(*process)));
    (asked.expect("it is sent"), processes)
}

fn assert_gone(processes: &[i64]) {
    for process in processes {
        assert!(
            !is_alive(*process),
            "process {process} of the build is left"
        );
    }
}

#[test]
fn while_it_builds_requests_are_answered() {
    let project = slow("slow");
    let session = project::session(false);
    let (asked, processes) = begun(&session, &project);
    session.wait_for::<InitializedEvent>();
    let early = &session.set_lines(&project.path("src/main.rs"), &[1])[0];
    assert_eq!(early.reason, Some(BreakpointReason::Pending));
    session.configured();
    let threads = session.ok::<ThreadsRequest>(Default::default()).threads;
    assert!(threads.is_empty(), "{threads:?}");
    let paused = session.refused::<PauseRequest>(PauseArguments::new(1));
    assert_eq!(paused.sentence, "the program is being built");
    let second = session.refused::<LaunchRequest>(launch_arguments(&project.cargo("run")));
    assert!(second.sentence.contains("launched already"), "{second:?}");
    let restart = session.refused::<RestartRequest>(Default::default());
    assert_eq!(restart.sentence, "the program is being built");
    std::fs::write(project.path("go"), "").expect("a pipe");
    asked.wait().expect("it is built");
    // Breakpoints that were set during the build are in effect.
    let stopped = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(
        stopped.event.hit_breakpoint_ids,
        early.id.map(|id| vec![id])
    );
    session.disconnect();
    assert_gone(&processes);
}

#[test]
fn a_build_ends_with_the_session_with_all_its_processes() {
    let project = slow("left");
    let session = project::session(false);
    let (asked, processes) = begun(&session, &project);
    session.disconnect();
    assert_gone(&processes);
    asked.wait().expect_err("nothing was launched");
    // A client that closes the connection without `disconnect`.
    let (ours, theirs) = Connection::memory();
    let serving = std::thread::spawn(move || serve(theirs, ServeOptions::default()));
    let client = Client::new(ours);
    let greeting = support::initialize_arguments();
    client
        .request::<InitializeRequest>(greeting)
        .expect("initialized");
    let (asked, processes) = begun(&client, &project);
    drop((asked, client));
    assert!(serving.join().is_ok(), "the adapter ends in order");
    assert_gone(&processes);
}

#[test]
fn a_build_can_be_given_up() {
    let project = slow("cancelled");
    let session = project::session(false);
    let (asked, processes) = begun(&session, &project);
    session.ok::<TerminateRequest>(Default::default());
    asked.wait().expect_err("nothing was launched");
    session.wait_for::<TerminatedEvent>();
    assert_gone(&processes);
    session.disconnect();
    let session = project::session(false);
    let (asked, processes) = begun(&session, &project);
    let shown = session.wait_for::<ProgressStartEvent>();
    assert_eq!(
        (shown.title.as_str(), shown.cancellable),
        ("cargo run", Some(true))
    );
    session.ok::<CancelRequest>(CancelArguments::new().with_progress_id(shown.progress_id));
    let refused = asked.wait().expect_err("nothing was launched");
    assert!(refused.to_string().contains("cancelled"), "{refused}");
    session.wait_for::<TerminatedEvent>();
    assert_gone(&processes);
    session.disconnect();
    // The launch request can be cancelled, too.
    let session = project::session(false);
    let (asked, processes) = begun(&session, &project);
    session.ok::<CancelRequest>(CancelArguments::new().with_request_id(asked.seq()));
    asked.wait().expect_err("nothing was launched");
    assert_gone(&processes);
    session.disconnect();
}
