//! `dapple debug` with other adapters: how they are found, started and given arguments, and those that are silent, hang or leave.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::thread;

use crate::support::moody::{Mood, moody};
use crate::support::terminal::Terminal;
use crate::support::{Run, compile, dapple, scratch, script};

const DAPPLE: &str = env!("CARGO_BIN_EXE_dapple");

fn tour() -> PathBuf {
    let folder = scratch("adapters");
    let program = folder.join(format!("tour-{:?}", thread::current().id()));
    compile("tour.c", &program);
    program
}

fn at(address: &str, program: &Path) -> Terminal {
    let program = program.to_str().expect("a plain path");
    Terminal::run_in_workspace(&[DAPPLE, "debug", "--connect", address, program])
}

/// Sets a breakpoint at `mean`, and runs the program to it.
#[track_caller]
fn run_to_mean(terminal: &mut Terminal) {
    terminal.command("b mean");
    terminal.command("run");
    terminal.wait_for("mean at fixtures/tour.c:20");
}

#[track_caller]
fn quit(mut terminal: Terminal) {
    terminal.command("quit");
    assert!(terminal.end().0.success());
}

#[track_caller]
fn unserved(requests: &Receiver<String>, name: &str) {
    let patience = std::time::Duration::from_secs(60);
    let got = requests.recv_timeout(patience);
    assert_eq!(got.as_deref(), Ok(name));
}

#[test]
fn an_adapter_that_is_silent_from_the_start_leaves_the_prompt() {
    let (address, requests) = moody(&[Mood::Deaf("initialize"), Mood::Well]);
    let mut terminal = at(&address, &tour());
    unserved(&requests, "initialize");
    terminal.type_keys("\x03");
    terminal.wait_for("the adapter has not answered yet (initialize)");
    run_to_mean(&mut terminal);
    quit(terminal);
}

#[test]
fn a_launch_that_leads_to_nothing_leaves_the_prompt() {
    let (address, requests) = moody(&[Mood::Deaf("launch"), Mood::Well]);
    let mut terminal = at(&address, &tour());
    unserved(&requests, "launch");
    terminal.type_keys("\x03");
    terminal.wait_for("interrupted while the program was being loaded");
    run_to_mean(&mut terminal);
    quit(terminal);
}

#[test]
fn one_request_that_is_not_answered_does_not_end_the_session() {
    let (address, requests) = moody(&[Mood::Deaf("evaluate")]);
    let mut terminal = at(&address, &tour());
    terminal.command("b mean");
    terminal.command("run");
    terminal.command("p count");
    unserved(&requests, "evaluate");
    terminal.type_keys("\x03");
    terminal.wait_for("the adapter has not answered yet (evaluate)");
    terminal.command("info locals");
    terminal.wait_for("count = 3");
    quit(terminal);
}

#[test]
fn breakpoints_outlive_an_adapter_that_leaves() {
    let (address, _) = moody(&[Mood::Leaves("evaluate"), Mood::Well]);
    let mut terminal = at(&address, &tour());
    run_to_mean(&mut terminal);
    terminal.command("p count");
    terminal.wait_for("the debug adapter ended unexpectedly; `run` starts it anew");
    terminal.command("run");
    terminal.wait_for("mean at fixtures/tour.c:20");
    terminal.command("p count");
    terminal.wait_for("count = 3");
    quit(terminal);
}

#[test]
fn an_adapter_that_does_not_stop_the_program_is_given_up() {
    let (address, requests) = moody(&[Mood::Deaf("pause")]);
    let arguments = r#"{"program": "/bin/sh", "args": ["-c", "echo ready; while :; do :; done"]}"#;
    let line = [
        DAPPLE,
        "debug",
        "--connect",
        &address,
        "--launch",
        arguments,
    ];
    let mut terminal = Terminal::run_in_workspace(&line);
    terminal.wait_for("Debugging /bin/sh");
    terminal.command("run");
    terminal.wait_for("ready\n");
    for _ in 0..2 {
        terminal.type_keys("\x03");
        unserved(&requests, "pause");
    }
    terminal.type_keys("\x03");
    terminal.wait_for("Ctrl-C once more ends the debug adapter");
    unserved(&requests, "pause");
    terminal.type_keys("\x03");
    terminal.wait_for("the debug adapter was ended; `run` starts it anew");
    quit(terminal);
}

#[test]
fn an_adapter_that_hangs_at_the_end_is_left_at_once() {
    let (address, requests) = moody(&[Mood::Deaf("disconnect")]);
    let mut terminal = at(&address, &tour());
    terminal.command("b mean");
    terminal.command("run");
    terminal.command("quit");
    unserved(&requests, "disconnect");
    terminal.type_keys("\x03");
    let (_, shown) = terminal.end();
    assert!(
        shown.contains("the adapter did not end in order"),
        "{shown}"
    );
}

#[test]
fn an_adapter_has_a_session_of_its_own_without_a_terminal() {
    let adapter = scratch("adapters").join("without-terminal");
    let text = format!(
        "#!/bin/sh\nif (exec </dev/tty) 2>/dev/null; then echo has one >&2; else echo has none >&2; fi\nexec {DAPPLE} dap\n"
    );
    script(&adapter, &text);
    let adapter = adapter.to_str().expect("a plain path");
    let program = tour();
    let program = program.to_str().expect("a plain path");
    let mut terminal =
        Terminal::run_in_workspace(&[DAPPLE, "debug", "--adapter", adapter, program]);
    terminal.wait_for("has ");
    terminal.wait_for("none");
    quit(terminal);
}

#[test]
fn a_program_that_the_adapter_runs_in_the_terminal_has_it() {
    let adapter = format!("{DAPPLE} dap");
    let script = "echo ready; read line; echo got $line";
    let arguments = format!(
        r#"{{"program": "/bin/sh", "args": ["-c", "{script}"], "console": "integratedTerminal"}}"#
    );
    let line = [
        DAPPLE,
        "debug",
        "--adapter",
        &adapter,
        "--launch",
        &arguments,
    ];
    let mut terminal = Terminal::run_in_workspace(&line);
    terminal.command("run");
    terminal.wait_for("ready\n");
    terminal.type_keys("typed\r");
    terminal.wait_for("got typed");
    terminal.wait_for("exited with code 0");
    quit(terminal);
}

/// Runs a batch with programs of these names, and their texts, as the only ones in `PATH`.
fn with_programs(name: &str, programs: &[(&str, &str)], arguments: &[&str]) -> Run {
    let folder = scratch("adapters").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in programs {
        script(&folder.join(name), &format!("#!/bin/sh\n{text}\n"));
    }
    let program = tour();
    let mut command = dapple();
    command.env("PATH", &folder).env("HOME", &folder);
    command.args(["debug", "--batch"]).args(arguments);
    for line in ["b mean", "run", "p count"] {
        command.args(["--ex", line]);
    }
    Run::of(command.arg(program))
}

#[test]
fn the_newest_of_several_versions_is_taken() {
    let text = |number: u32| format!("echo this is {number} >&2\nexec {DAPPLE} dap");
    let (seven, twelve) = (text(7), text(12));
    let programs = [
        ("lldb-dap-7", &*seven),
        ("lldb-dap-12", &*twelve),
        ("lldb-dap-old", "exit 1"),
    ];
    let run = with_programs("newest", &programs, &["--adapter", "lldb"]);
    assert!(run.stdout.contains("count = 3\n"), "{run:#?}");
    assert!(run.stderr.contains("this is 12\n"), "{run:#?}");
}

#[test]
fn an_adapter_that_says_where_it_listens_is_connected_to() {
    let server = format!("shift; echo starting; {DAPPLE} dap --listen 127.0.0.1:0 2>&1");
    let arguments = ["--adapter", "delve"];
    let run = with_programs("server", &[("dlv", &server)], &arguments);
    assert!(run.stdout.contains("count = 3\n"), "{run:#?}");
}

#[test]
fn what_is_not_installed_is_told_with_where_it_was_looked_for() {
    for (name, told) in [
        ("lldb", "no `lldb-dap`, `lldb-dap-22` or the like in PATH"),
        ("gdb", "there is no `gdb` in PATH"),
        ("codelldb", "in the extensions of VS Code"),
        ("debugpy", "there is no `python3` in PATH"),
        ("delve", "there is no `dlv` in PATH or ~/go/bin"),
        ("js", "there is no `node` in PATH"),
    ] {
        let run = with_programs("nothing", &[], &["--adapter", name]);
        assert_eq!(run.code, Some(126), "{run:#?}");
        assert!(run.stderr.contains(told), "{run:#?}");
    }
    let python = [("python3", "exit 1")];
    let run = with_programs("module", &python, &["--adapter", "debugpy"]);
    assert!(
        run.stderr.contains("-m pip install debugpy` installs it"),
        "{run:#?}"
    );
    let old = [("gdb", "exit 1")];
    let run = with_programs("old", &old, &["--adapter", "gdb"]);
    assert!(run.stderr.contains("from version 14 on"), "{run:#?}");
}

/// A folder with files of an editor.
fn workspace(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = scratch("adapters").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join(".vscode")).expect("a folder");
    std::fs::create_dir_all(folder.join("inner")).expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder is there");
    }
    folder
}

const LAUNCH_JSON: &str = r#"{
    // As people have it.
    "version": "0.2.0",
    "configurations": [
        {
            "name": "app", "type": "cppdbg", "request": "launch", "program": "${workspaceFolder}/out/app",
            "args": ["${workspaceFolderBasename}", "${env:DAPPLE_TEST_WORD}"], "cwd": "${workspaceFolder}",
            "preLaunchTask": "build", "stopAtEntry": true,
        },
        { "name": "picked", "type": "lldb", "request": "attach", "pid": "${command:pickProcess}" },
        { "name": "strange", "type": "cobol", "request": "launch" },
    ],
    "compounds": [{ "name": "all", "configurations": ["app", "picked"] }],
}"#;

const TASKS_JSON: &str = r#"{
    "tasks": [
        { "label": "folder", "type": "shell", "command": "mkdir", "args": ["-p", "out"] },
        {
            "label": "build", "type": "process", "command": "cc", "dependsOn": ["folder"],
            "args": ["-g", "app.c", "-o", "${workspaceFolder}/out/app"],
        },
    ],
}"#;

const APP: &str = r#"#include <stdio.h>
int main(int count, char **words) {
    for (int i = 1; i < count; i++)
        puts(words[i]);
    return count;
}
"#;

fn in_workspace(folder: &Path, launch: &str, commands: &[&str]) -> Run {
    let mut command = dapple();
    command
        .current_dir(folder)
        .env("DAPPLE_TEST_WORD", "two words");
    command.args(["debug", "--batch", "--launch", launch]);
    for line in commands {
        command.args(["--ex", line]);
    }
    Run::of(&mut command)
}

#[test]
fn a_configuration_of_an_editor_is_built_and_run() {
    let files = [
        (".vscode/launch.json", LAUNCH_JSON),
        (".vscode/tasks.json", TASKS_JSON),
        ("app.c", APP),
    ];
    let folder = workspace("editor's", &files);
    let commands = ["run", "p count", "c"];
    let run = in_workspace(&folder.join("inner"), "launch.json:app", &commands);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stdout.contains("main at "), "{run:#?}");
    assert!(run.stdout.contains("count = 3\n"), "{run:#?}");
    assert!(run.stdout.contains("editor's\ntwo words\n"), "{run:#?}");
}

#[test]
fn what_is_wrong_with_a_configuration_is_told() {
    let broken = TASKS_JSON.replace("app.c", "gone.c");
    let files = [
        (".vscode/launch.json", LAUNCH_JSON),
        (".vscode/tasks.json", &*broken),
    ];
    let folder = workspace("broken", &files);
    for (launch, told) in [
        (
            "launch.json",
            "there are several configurations: \"app\", \"picked\", \"strange\"",
        ),
        (
            "launch.json:other",
            "there is no configuration \"other\"; there are \"app\"",
        ),
        (
            "launch.json:all",
            "\"all\" stands for several configurations",
        ),
        (
            "launch.json:picked",
            "`${command:pickProcess}` asks VS Code",
        ),
        (
            "launch.json:strange",
            "no adapter is known for the type \"cobol\"",
        ),
        ("launch.json:app", "the task `build` has failed"),
        (
            "elsewhere/launch.json:app",
            "there is no file elsewhere/launch.json",
        ),
        ("[1]", "an object is needed"),
        ("@nowhere.json", "nowhere.json"),
    ] {
        let run = in_workspace(&folder, launch, &["run"]);
        assert_eq!(run.code, Some(126), "{launch}: {run:#?}");
        assert!(run.stderr.contains(told), "{launch}: {run:#?}");
        assert!(run.stderr.contains("--launch"), "{launch}: {run:#?}");
    }
}

#[test]
fn a_process_is_attached_to_by_arguments_as_json() {
    let mut sleeper = std::process::Command::new("sleep")
        .arg("1000")
        .spawn()
        .expect("sleep");
    let arguments = format!(r#"{{"pid": {}, "stopOnEntry": true}}"#, sleeper.id());
    let mut command = dapple();
    command.args(["debug", "--batch", "--attach-with", &arguments]);
    let run = Run::of(command.args(["--ex", "info threads", "--ex", "detach"]));
    assert!(run.stdout.contains("detached from the program"), "{run:#?}");
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(sleeper.try_wait().is_ok_and(|ended| ended.is_none()));
    sleeper.kill().expect("it is ours");
    sleeper.wait().expect("it is ours");
}

#[test]
fn a_function_is_looked_up_in_the_source_where_the_adapter_takes_no_names() {
    let (address, _) = moody(&[Mood::Without("supportsFunctionBreakpoints")]);
    let mut command = dapple();
    command.args(["debug", "--batch", "--connect", &address]);
    for line in ["b mean", "run", "b nowhere"] {
        command.args(["--ex", line]);
    }
    let run = Run::of(command.arg("fixtures/tour.c"));
    assert!(
        run.stdout.contains("breakpoint 1 at fixtures/tour.c:20 (a function begins on line 19; moved to line 20, where its arguments are in place)\n")
            && run.stdout.contains("\nmean at fixtures/tour.c:20"),
        "{run:#?}"
    );
    run.assert_command_fails(
        "dapple: fixtures/tour.c defines no function `nowhere`, and this adapter can't look for it elsewhere; use FILE:LINE\n",
    );
}

#[test]
fn what_an_adapter_lacks_is_said_by_the_commands_that_need_it() {
    for (capability, lines, said) in [
        (
            "supportsReadMemoryRequest",
            &["x/2dw &sum", "find &sum, +8, 1"][..],
            "this adapter can't read memory",
        ),
        (
            "supportsDisassembleRequest",
            &["x/i $pc", "info symbol main", "disassemble"],
            "this adapter can't disassemble",
        ),
        (
            "supportsGotoTargetsRequest",
            &["info line 20"],
            "this adapter doesn't say where the code of a line is",
        ),
        (
            "supportsLoadedSourcesRequest",
            &["info sources"],
            "this adapter doesn't list sources",
        ),
        (
            "supportsValueFormattingOptions",
            &["bt -args"],
            "this adapter can't show arguments in the stack; `bt full` lists them below",
        ),
        (
            "supportsNothing",
            &["gcore"],
            "only Dapple's adapter writes core files; this one may have a command of its own",
        ),
        (
            "supportsNothing",
            &["info functions", "info variables", "info types"],
            "only Dapple's adapter lists names; `break NAME` finds a function",
        ),
        (
            "supportsNothing",
            &["unset env HOME"],
            "the program may inherit `HOME` from the adapter, which was not started here; `env HOME=` makes it empty",
        ),
    ] {
        let moods = vec![Mood::Without(capability); lines.len()];
        let (address, _) = moody(&moods);
        for line in lines {
            let mut command = dapple();
            command.args(["debug", "--batch", "--connect", &address]);
            for line in ["b 20", "run", line] {
                command.args(["--ex", line]);
            }
            let run = Run::of(command.arg("fixtures/tour.c"));
            run.assert_command_fails(&format!("dapple: {said}\n"));
        }
    }
}

#[test]
fn a_debug_server_of_an_editor_is_connected_to() {
    let (address, _) = moody(&[Mood::Well]);
    let (_, port) = address.rsplit_once(':').expect("a port");
    let program = tour();
    let program = program.to_str().expect("a plain path");
    let configuration = |server: &str| {
        format!(
            "{{\"configurations\": [{{\"name\": \"it\", \"type\": \"cobol\", \"request\": \"launch\", \"program\": \"{program}\", \"debugServer\": {server}}}]}}"
        )
    };
    let text = configuration(port);
    let folder = workspace("debug-server", &[(".vscode/launch.json", &*text)]);
    // Only another adapter is told from our own by a format that it doesn't have.
    let run = in_workspace(&folder, "launch.json:it", &["b mean", "run", "p/s count"]);
    assert_eq!(run.code, Some(125), "{run:#?}");
    assert!(run.stdout.contains("mean at "), "{run:#?}");
    assert!(
        run.stderr
            .contains("`/s` is a format of Dapple's adapter only"),
        "{run:#?}"
    );
    for wrong in ["\"here:80\"", "0", "65536", "true"] {
        let text = configuration(wrong);
        let folder = workspace("debug-server-wrong", &[(".vscode/launch.json", &*text)]);
        let run = in_workspace(&folder, "launch.json:it", &["run"]);
        assert_eq!(run.code, Some(126), "{wrong}: {run:#?}");
        let told =
            format!("`debugServer` must be the port on which an adapter listens: {wrong} is none");
        assert!(run.stderr.contains(&told), "{run:#?}");
    }
}

#[test]
fn a_text_is_sent_to_the_console_of_the_adapter_as_it_is() {
    let (address, _) = moody(&[Mood::Well]);
    let log = scratch("adapters").join("console.ndjson");
    let _ = std::fs::remove_file(&log);
    let program = tour();
    let mut command = dapple();
    command.args([
        "debug",
        "--batch",
        "--keep-going",
        "--connect",
        &address,
        "--log",
    ]);
    command.arg(&log);
    for line in [
        "> 1 + 1",
        "b mean",
        "run",
        "p count",
        ">count = 7",
        "p count",
        "> $1 @",
        ">",
    ] {
        command.args(["--ex", line]);
    }
    let run = Run::of(command.arg(&program));
    assert_eq!(run.code, Some(125), "{run:#?}");
    assert!(run.stdout.contains("(dapple) >count = 7\n7\n"), "{run:#?}");
    assert!(
        run.stdout.contains("(dapple) p count\ncount = 7\n"),
        "{run:#?}"
    );
    assert!(
        run.stderr
            .ends_with("dapple: send what? `> register read` is a command of lldb\n"),
        "{run:#?}"
    );
    let log = std::fs::read_to_string(log).expect("the log");
    for sent in ["1 + 1", "count = 7", "$1 @"] {
        let is_sent = |line: &&str| {
            line.contains(&format!("\"expression\":\"{sent}\""))
                && line.contains("\"context\":\"repl\"")
        };
        assert_eq!(log.lines().filter(is_sent).count(), 1, "{sent}: {log}");
    }
}

#[test]
fn completion_waits_for_no_adapter_that_is_silent() {
    let (address, unserved_requests) = moody(&[Mood::Deaf("loadedSources")]);
    let mut terminal = at(&address, &tour());
    terminal.wait_for("(dapple) ");
    terminal.type_keys("b tou\t");
    unserved(&unserved_requests, "loadedSources");
    // The second Tab doesn't ask again.
    terminal.type_keys("\t\x15b mean\r");
    terminal.wait_for("breakpoint 1 on mean at ");
    quit(terminal);
    assert!(unserved_requests.try_recv().is_err());
}
