//! `dapple debug` with adapters that answer in ways of their own: each was seen with a real one, whose name is beside it.

use std::thread;

use crate::support::moody::{Mood, moody};
use crate::support::terminal::Terminal;
use crate::support::{Run, compile, dapple, scratch, script};

const DAPPLE: &str = env!("CARGO_BIN_EXE_dapple");

fn tour() -> String {
    let program = scratch("others").join(format!("tour-{:?}", thread::current().id()));
    compile("tour.c", &program);
    program.to_str().expect("a plain path").to_owned()
}

/// Runs a batch that goes on behind what fails.
fn batch(mood: Mood, commands: &[&str]) -> Run {
    let (address, _) = moody(&[mood]);
    let mut command = dapple();
    command.args(["debug", "--batch", "--keep-going", "--connect", &address]);
    for line in commands {
        command.args(["--ex", line]);
    }
    Run::of(command.arg(tour()))
}

#[test]
fn whole_numbers_have_formats_with_any_adapter() {
    let run = batch(
        Mood::Well,
        &[
            "b mean",
            "run",
            "p/o count",
            "p/t count",
            "p/x sum",
            "p $ + 1",
        ],
    );
    assert!(run.stdout.contains("count = 0o3\n"), "{run:#?}");
    assert!(run.stdout.contains("count = 0b11\n"), "{run:#?}");
    assert!(
        run.stderr.contains("`/x` shows whole numbers only"),
        "{run:#?}"
    );
    assert!(
        run.stdout.contains("sum + 1") || run.stdout.contains("$ + 1"),
        "{run:#?}"
    );
}

/// delve and CodeLLDB.
#[test]
fn a_variable_is_set_also_where_other_places_are_not() {
    let mood = Mood::Without("supportsSetExpression");
    let commands = [
        "b mean",
        "run",
        "set count = 5",
        "p count",
        "set count += 2",
        "p count",
        "set values[0] = 1",
    ];
    let run = batch(mood, &commands);
    assert!(run.stdout.contains("count = 5\n"), "{run:#?}");
    assert!(run.stdout.contains("count = 7\n"), "{run:#?}");
    assert!(
        run.stderr
            .contains("this adapter sets only variables of the frame, and `values[0]` is none"),
        "{run:#?}"
    );
}

/// js-debug, after breakpoints were set again.
#[test]
fn a_breakpoint_that_a_stop_does_not_name_is_found_by_its_line() {
    let mood = Mood::Says(&[("\"hitBreakpointIds\":", "\"unknownIds\":")]);
    let run = batch(
        mood,
        &[
            "tb mean",
            "b fixtures/tour.c:49",
            "run",
            "info breakpoints",
            "c",
            "info breakpoints",
        ],
    );
    assert!(run.stdout.contains("stopped at breakpoint 1,"), "{run:#?}");
    assert!(run.stdout.contains("stopped at breakpoint 2,"), "{run:#?}");
    assert!(run.stdout.contains("hit once"), "{run:#?}");
    assert!(
        !run.stdout
            .contains("temporary breakpoint 1 on mean at fixtures/tour.c:20, hit"),
        "{run:#?}"
    );
}

/// CodeLLDB counts places, js-debug gives the name of a text.
#[test]
fn what_is_no_sentence_is_not_shown_beside_a_breakpoint() {
    let mood = Mood::Says(&[(
        "\"verified\":true",
        "\"verified\":true,\"message\":\"Resolved locations: 1\"",
    )]);
    let run = batch(mood, &["b fixtures/tour.c:20", "info breakpoints"]);
    assert!(
        run.stdout.contains("breakpoint 1 at fixtures/tour.c:20"),
        "{run:#?}"
    );
    assert!(!run.stdout.contains("Resolved"), "{run:#?}");
}

/// debugpy, CodeLLDB and js-debug.
#[test]
fn an_error_comes_without_the_stack_of_the_adapters_own_code() {
    let mood = Mood::Says(&[(
        "no variable `cuont` here",
        "Traceback (most recent call last):\\n  File \\\"a.py\\\", line 1\\nNameError: no `cuont`",
    )]);
    let run = batch(mood, &["b mean", "run", "p cuont"]);
    assert!(
        run.stderr.contains("dapple: NameError: no `cuont`"),
        "{run:#?}"
    );
    assert!(!run.stderr.contains("Traceback"), "{run:#?}");
}

/// delve and js-debug.
#[test]
fn an_end_without_an_exit_code_is_told() {
    let mood = Mood::Says(&[("\"event\":\"exited\"", "\"event\":\"unknown\"")]);
    let run = batch(mood, &["run"]);
    assert!(run.stdout.contains("the program has ended\n"), "{run:#?}");
    let run = batch(Mood::Well, &["run"]);
    assert!(run.stdout.contains("exited with code 3"), "{run:#?}");
    assert!(!run.stdout.contains("has ended"), "{run:#?}");
}

/// lldb-dap stops the program by a signal, and tells that as a failure.
#[test]
fn a_pause_that_is_told_as_a_signal_is_a_pause() {
    let (address, _) = moody(&[Mood::Says(&[
        ("\"description\":", "\"unknown\":"),
        (
            "\"reason\":\"pause\"",
            "\"reason\":\"exception\",\"description\":\"signal SIGSTOP\"",
        ),
    ])]);
    let arguments = r#"{"program": "/bin/sh", "args": ["-c", "echo ready; while :; do :; done"]}"#;
    let mut terminal = Terminal::run_in_workspace(&[
        DAPPLE,
        "debug",
        "--connect",
        &address,
        "--launch",
        arguments,
    ]);
    terminal.command("run");
    terminal.wait_for("ready\n");
    terminal.type_keys("\x03");
    terminal.wait_for("stopped by a pause");
    terminal.command("quit");
    assert!(terminal.end().0.success());
}

/// js-debug.
#[test]
fn a_session_that_only_asks_for_another_one_is_not_shown() {
    let (address, _) = moody(&[Mood::Relays, Mood::Well]);
    let program = tour();
    let mut terminal =
        Terminal::run_in_workspace(&[DAPPLE, "debug", "--connect", &address, &program]);
    terminal.command("b fixtures/tour.c:20");
    terminal.wait_for("breakpoint 1 at fixtures/tour.c:20 (pending: not found yet)");
    terminal.command("run");
    terminal.wait_for("stopped at breakpoint 1, thread");
    terminal.command("info processes");
    terminal.command("kill");
    terminal.wait_for("the program was ended");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{shown}");
    assert!(
        !shown.contains("process 2") && !shown.contains("process 0"),
        "{shown}"
    );
}

/// delve 1.20 leaves its own output to the program.
#[test]
fn what_a_server_writes_behind_its_address_is_the_programs_output() {
    let folder = scratch("others").join("server");
    std::fs::create_dir_all(&folder).expect("a folder");
    let server = format!(
        "#!/bin/sh\nshift\n{DAPPLE} dap --listen 127.0.0.1:0 2>&1 | while read -r line; do echo \"$line\"; echo written beside it; done\n"
    );
    script(&folder.join("dlv"), &server);
    let path = std::env::var("PATH").expect("a search path");
    let path = format!("{}:{path}", folder.display());
    let mut command = dapple();
    command.env("PATH", path);
    command.args([
        "debug",
        "--batch",
        "--adapter",
        "delve",
        "--ex",
        "b mean",
        "--ex",
        "run",
        "--ex",
        "p count",
    ]);
    let run = Run::of(command.arg(tour()));
    assert!(run.stdout.contains("written beside it\n"), "{run:#?}");
    assert!(run.stdout.contains("count = 3\n"), "{run:#?}");
}

#[test]
fn our_own_adapter_as_another_program_is_as_good() {
    let tour = tour();
    let run = |adapter: Option<&str>| {
        let mut command = dapple();
        command.args(["debug", "--batch", "--keep-going"]);
        if let Some(adapter) = adapter {
            command.args(["--adapter", adapter]);
        }
        for line in [
            "b mean",
            "run",
            "info args",
            "info locals",
            "bt -args",
            "finish",
            "p/x town->celsius",
            "p town->celsius@1",
            "info functions ^mean$",
            "info locks",
            "tasks",
            "info breakpoints",
            "skip",
            "b 64 if visits > 0",
            "hits 2 > 1",
            "c",
            "when",
            "d 1",
            "c",
        ] {
            command.args(["--ex", line]);
        }
        Run::of(command.arg(&tour))
    };
    let own = run(None);
    let as_program = run(Some(&format!("{DAPPLE} dap")));
    // The program's own output goes to the terminal with the one, and comes as events with the other.
    let without_output = |text: &str| {
        let lines = text.lines().filter(|line| !line.contains(": "));
        crate::support::normalised(&lines.collect::<Vec<_>>().join("\n"))
    };
    assert!(own.stdout.contains("count = 3"), "{}", own.stdout);
    assert!(own.stdout.contains("returned mean() = "), "{}", own.stdout);
    assert_eq!(
        without_output(&as_program.stdout),
        without_output(&own.stdout)
    );
    assert_eq!(as_program.stderr, own.stderr);
}
