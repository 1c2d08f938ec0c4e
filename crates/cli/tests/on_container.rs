//! `--on` with a container of namespaces: files, sources, temporary folders and process ids that are only in there.

use crate::support;
use crate::support::Run;
use crate::support::elsewhere::Container;
use dapple_engine::launch::LaunchOptions;
use dapple_engine::{Event, Session};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A folder that is empty here, and a container in which it has a program with its source.
fn container(name: &str, source: &str, more: &str) -> Option<(PathBuf, Container)> {
    let folder = support::scratch(&format!("container-{name}-{}", std::process::id()));
    let text = support::root().join("fixtures").join(source);
    let setup = format!(
        "mkdir tmp && cp {} main.c && cc -g -pthread -o program \"$PWD/main.c\" {more}",
        text.display()
    );
    let container = Container::start(&folder, &setup)?;
    Some((folder, container))
}

fn debug(container: &Container, commands: &[&str], more: &[&str]) -> Run {
    let mut command = support::dapple();
    command.args(["debug", "--batch", "--on", &container.place]);
    for line in commands {
        command.args(["--ex", line]);
    }
    Run::of(command.args(more))
}

#[track_caller]
fn has_all(run: &Run, parts: &[&str]) {
    for part in parts {
        assert!(run.stdout.contains(part), "{part}: {run:#?}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

#[test]
fn a_program_and_its_source_may_be_in_a_container_alone() {
    let Some((folder, container)) = container("launch", "faults.c", "") else {
        return;
    };
    let program = folder.join("program");
    assert!(!program.exists(), "it is here, too");
    let line = support::line("faults.c", "read_null");
    let breakpoint = format!("b main.c:{line}");
    let more = [text(&program), "read_null"];
    let run = debug(
        &container,
        &[&breakpoint, "run", "p constant[1] + 40", "c"],
        &more,
    );
    has_all(
        &run,
        &[
            "stopped at breakpoint 1",
            "// stop: read_null",
            " = 42",
            "SIGSEGV",
        ],
    );
}

#[test]
fn a_process_is_named_by_its_id_in_the_container() {
    let more = "&& mkfifo in && { ./program <in >out & echo $! >id; } && exec 3>in && until grep -q ready out; do :; done";
    let Some((folder, container)) = container("attach", "server.c", more) else {
        return;
    };
    // It is one of few there, with a small id that another process has here.
    let mut list = support::dapple();
    let listed = Run::of(list.args(["on", &container.place, "processes"]));
    let listed: Vec<serde_json::Value> = serde_json::from_str(&listed.stdout).expect("JSON");
    let mut ours = listed.iter().filter(|one| one["name"] == "program");
    let pid = ours.next().expect("the program")["pid"].to_string();
    assert_eq!(ours.next(), None, "in {}", folder.display());
    let run = debug(&container, &["bt", "detach"], &["--attach", &pid]);
    has_all(&run, &["main at ", "main.c:", "detached from the program"]);
}

#[test]
fn a_core_file_of_a_container_is_looked_at_there() {
    // It is written here, by a program at the path that it has there.
    let made = support::scratch("container-core").join(format!("program-{}", std::process::id()));
    support::compile("faults.c", &made);
    let core = made.with_extension("core");
    let options = LaunchOptions {
        program: made.clone(),
        args: vec!["read_null".into()],
        ..LaunchOptions::default()
    };
    let (events, told) = crossbeam_channel::unbounded();
    let session = Session::launch(options, events).expect("launched");
    session.resume().expect("it runs");
    let next = || told.recv_timeout(Duration::from_secs(60)).expect("a stop");
    while !matches!(next(), Event::Stopped(_)) {}
    session.write_core(&core).expect("a core file");
    drop(session);
    let more = format!("&& mv {} core && mv {} moved", text(&core), text(&made));
    let Some((folder, container)) = container("core", "faults.c", &more) else {
        return;
    };
    let (core, moved) = (folder.join("core"), folder.join("moved"));
    let more = ["--core", text(&core), text(&moved)];
    let run = debug(&container, &["bt", "p constant[1] + 40"], &more);
    has_all(&run, &["stopped by SIGSEGV", "main at ", " = 42"]);
}
