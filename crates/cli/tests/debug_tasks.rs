//! The commands for tasks of asynchronous programs.

use crate::support::{Run, line, root, typed};
use std::path::PathBuf;
use std::process::Command;

/// A program of the package with tasks. cargo builds it, where the adapter's tests have their own.
fn program(name: &str) -> PathBuf {
    let target = root().join("target/fixtures/tasks");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--quiet", "--bin", name])
        .current_dir(root().join("fixtures/tasks"))
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS")
        .status();
    assert!(built.expect("cargo runs").success());
    target.join("debug").join(name)
}

/// Types lines where all tasks wait.
fn waiting(name: &str, lines: &[&str]) -> Run {
    let at = line(&format!("tasks/src/bin/{name}.rs"), "waiting");
    let stop = format!("b {name}.rs:{at}");
    let mut all = vec![&*stop, "run"];
    all.extend(lines);
    typed(&[&program(name).to_string_lossy()], &all)
}

#[track_caller]
fn has(run: &Run, text: &str) {
    assert!(run.stdout.contains(text), "{text}: {run:#?}");
}

#[test]
fn tasks_are_listed_selected_and_finished() {
    let run = waiting(
        "steps",
        &["tasks", "task 3", "bt", "p n", "n", "p twice", "task 99"],
    );
    let place = "steps::Stepper::stepped (async)  steps.rs:17  waiting for a notification (Notify)";
    for number in 1..=3 {
        has(&run, &format!("\n  task {number}  {place}\n"));
    }
    has(
        &run,
        "waiting for a notification (Notify)\nsteps::Stepper::stepped (async) at ",
    );
    has(
        &run,
        "\n→ #1  steps::Stepper::stepped (async) at fixtures/tasks/src/bin/steps.rs:17\n",
    );
    // The step goes on in that task.
    has(&run, "\nn = 9\n");
    has(&run, "steps.rs:18\n");
    assert!(run.stderr.contains("99"), "{run:#?}");
}

#[test]
fn a_suspended_task_can_be_finished_from_its_innermost_function() {
    let run = waiting("steps", &["task 3", "n", "n", "task 1", "fin"]);
    has(&run, "steps.rs:19\n");
    assert_eq!(run.stderr, "", "{run:#?}");
}
#[test]
fn tasks_that_wait_for_each_other_are_marked() {
    let run = waiting("embrace", &["tasks tree"]);
    has(&run, "waiting for a lock (Mutex), held by task 2");
    has(&run, "waiting for a lock (Mutex), held by task 1");
    has(&run, "deadlock");
}
