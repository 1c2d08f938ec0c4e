//! `dapple debug --follow-forks both`: a program and its children in one terminal.

use crate::support;
use crate::support::terminal::Terminal;
use crate::support::{Run, dapple, line};
use std::path::PathBuf;

const CTRL_C: &str = "\x03";

/// Compiles `fixtures/forks.c` for one test.
fn compile(test: &str) -> PathBuf {
    let program = support::scratch("processes").join(format!("{test}-{}", std::process::id()));
    support::compile("forks.c", &program);
    program
}

fn place(name: &str) -> String {
    format!("fixtures/forks.c:{}", line("forks.c", name))
}

/// `dapple debug --follow-forks both` on a terminal.
fn terminal(test: &str, mode: &str) -> Terminal {
    let program = compile(test);
    let words = [
        env!("CARGO_BIN_EXE_dapple"),
        "debug",
        "--color",
        "never",
        "--follow-forks",
        "both",
        program.to_str().expect("a plain path"),
        mode,
    ];
    Terminal::run_in_workspace(&words)
}

#[test]
fn a_child_stops_for_itself_and_its_parent_goes_on_with_its_exit_code() {
    let mut command = dapple();
    command.args(["debug", "--batch", "--follow-forks", "both"]);
    let child = format!("b {}", place("child"));
    let waited = format!("b {}", place("waited"));
    let first = ["b main", "run", "info processes", "d all"];
    let then = [&*child, &*waited, "c", "info processes", "p child"];
    for line in first.iter().chain(&then).chain(&["c", "p told", "c"]) {
        command.args(["--ex", line]);
    }
    let run = Run::of(command.arg(compile("stops")).arg("once"));
    assert_eq!((run.code, &*run.stderr), (Some(6), ""), "{run:#?}");
    let shown = &run.stdout;
    for part in [
        "process 2 (",
        ") was begun by a fork\n",
        "stopped at breakpoint 2, process 2 (",
        "  process 1 (",
        "): running\n→ process 2 (",
        "): stopped in main at fixtures/forks.c:",
        "child = 0\n",
        "stopped at breakpoint 3, process 1 (",
        "told = 1\n",
        ") exited with code 3\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn stopped_processes_are_looked_at_one_after_the_other_and_steps_stay_in_theirs() {
    let mut terminal = terminal("both", "once");
    terminal.command(&format!("b {}", place("parent")));
    terminal.command(&format!("b {}", place("child")));
    terminal.command("run");
    // The kernel decides which process stops first. The second stop doesn't change the selected process.
    terminal.wait_for("stopped at breakpoint ");
    terminal.wait_for(" also stopped at breakpoint ");
    terminal.wait_for(" looks at it");
    terminal.command("process 2");
    terminal.wait_for(") is stopped");
    terminal.wait_for("→  ");
    terminal.command("step");
    terminal.wait_for("be_child at ");
    terminal.command("next");
    terminal.wait_for("be_child at ");
    terminal.command("process 1");
    terminal.wait_for("process 1 (");
    terminal.wait_for(") is stopped\nmain at ");
    terminal.command("info processes");
    terminal.wait_for("→ process 1 (");
    terminal.wait_for("): stopped in main at ");
    terminal.wait_for("  process 2 (");
    terminal.wait_for("): stopped in be_child at ");
    terminal.command("process 3");
    terminal.wait_for("there is no process 3");
    terminal.command("d all");
    terminal.wait_for("breakpoint 2 deleted");
    // When the selected process runs, the terminal selects the stopped one.
    terminal.command("c");
    terminal.wait_for("process 2 (");
    terminal.wait_for(") is stopped\nbe_child at ");
    terminal.command("c");
    // The sessions report their ends in any order.
    terminal.wait_for(" exited with code ");
    terminal.wait_for(" exited with code ");
    terminal.command("info processes");
    terminal.wait_for("the program is not running");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
    for end in [") exited with code 3", ") exited with code 6"] {
        assert!(shown.contains(end), "{shown}");
    }
}

#[test]
fn a_child_is_interrupted_and_all_end_with_the_session() {
    let mut terminal = terminal("ends", "idle");
    terminal.command(&format!("b {}", place("parent")));
    terminal.command("run");
    // The child is reported when its session is requested, and the stop when it happens, in any order.
    terminal.wait_for_all(&["stopped at breakpoint 1, ", ") was begun by a fork"]);
    terminal.command("p child");
    terminal.wait_for("child = ");
    let child = terminal.digits();
    terminal.command("process 2");
    terminal.wait_for("is running; Ctrl-C stops it");
    terminal.type_keys(CTRL_C);
    terminal.wait_for("stopped by ");
    terminal.wait_for(&format!("process 2 ({child})"));
    terminal.command("kill");
    terminal.wait_for("the program was ended");
    let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    // The child's new parent may not have reaped it yet.
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
    // The program can be started again, and its processes are numbered from 1 again.
    terminal.command("run");
    // The child is reported when its session is requested, and the stop when it happens, in any order.
    terminal.wait_for_all(&["stopped at breakpoint 1, ", ") was begun by a fork"]);
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
}
