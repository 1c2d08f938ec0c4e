//! `dapple record` and `dapple replay`.

use crate::support::{self, Run, dapple, line, scratch};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder for a test's recordings, empty.
fn folder(name: &str) -> PathBuf {
    let folder = scratch("records").join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

/// `fixtures/NAME.c`, compiled into a folder.
fn compiled(name: &str, folder: &Path) -> PathBuf {
    let program = folder.join(name);
    support::compile(&format!("{name}.c"), &program);
    program
}

/// Runs `dapple record` in a folder.
fn record(folder: &Path, arguments: &[&str]) -> Run {
    let mut command = dapple();
    command.current_dir(folder).arg("record").args(arguments);
    Run::of(&mut command)
}

/// Runs `dapple replay --batch` with commands.
fn replay(recording: &Path, commands: &[&str]) -> Run {
    let mut command = dapple();
    command.args(["replay", "--batch"]);
    for line in commands {
        command.args(["--ex", line]);
    }
    Run::of(command.arg(recording))
}

/// The lines of a replay that say values, and where it has stopped.
fn said(run: &Run) -> Vec<&str> {
    let lines = run.stdout.lines();
    let lines = lines.filter(|line| !line.starts_with("(dapple)"));
    lines
        .filter(|line| line.starts_with("stopped") || line.contains(" = "))
        .filter(|line| !line.starts_with([' ', '→']))
        .collect()
}

#[test]
fn a_program_is_recorded_as_it_runs_and_debugged_later() {
    let folder = folder("later");
    let program = compiled("fails_sometimes", &folder);
    let run = record(&folder, &["./fails_sometimes", "it drew "]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let drawn = run.stdout.strip_prefix("it drew ").expect("its output");
    let file = folder.join("fails_sometimes.recording");
    assert!(
        run.stderr.contains("recorded in fails_sometimes.recording"),
        "{run:#?}"
    );
    let mode = std::fs::metadata(&file)
        .expect("the recording")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    // From its end, back to the breakpoint.
    let at = format!("b fails_sometimes.c:{}", line("fails_sometimes.c", "drawn"));
    let commands = ["run", &at, "rc", "p last", "p argc", "rn", "p i", "c", "c"];
    let shown = replay(&file, &commands);
    assert_eq!(
        said(&shown),
        [
            "stopped at the end of the recording: the program exited with 0, thread N \"fails_sometimes\"",
            "stopped at breakpoint 1, thread N \"fails_sometimes\"",
            &format!("last = {}", drawn.trim()),
            "argc = 2",
        ],
        "{shown:#?}"
    );
    std::fs::remove_file(&program).expect("it is there");
    let refused = replay(&file, &["run"]);
    assert_eq!(refused.code, Some(126), "{refused:#?}");
    assert!(
        refused.stderr.contains("fails_sometimes can't be read"),
        "{refused:#?}"
    );
}

#[test]
fn nothing_is_overwritten_and_no_link_is_followed() {
    let folder = folder("overwritten");
    for name in ["true.recording", "true.2.recording", "true.3.recording"] {
        let run = record(&folder, &["true"]);
        assert_eq!(run.code, Some(0), "{run:#?}");
        assert!(
            run.stderr.contains(&format!("recorded in {name}")),
            "{run:#?}"
        );
    }
    let there = folder.join("there");
    std::fs::write(&there, "mine").expect("written");
    let link = folder.join("link");
    std::os::unix::fs::symlink(folder.join("target"), &link).expect("a link");
    for name in ["there", "link"] {
        let run = record(&folder, &["-o", name, "true"]);
        assert_eq!(run.code, Some(1), "{run:#?}");
        assert!(run.stderr.contains(&format!("{name} exists")), "{run:#?}");
    }
    assert_eq!(std::fs::read(&there).expect("it is there"), b"mine");
    assert!(!folder.join("target").exists());
}

#[test]
fn a_failure_is_caught_in_a_loop_and_fails_the_same_way_each_time() {
    let folder = folder("failure");
    compiled("fails_sometimes", &folder);
    let run = record(&folder, &["--until-failure", "./fails_sometimes"]);
    assert_eq!(run.code, Some(128 + 6), "{run:#?}");
    assert!(run.stderr.contains("it failed after "), "{run:#?}");
    let drawn = run.stdout.lines().last().expect("its last line").to_owned();
    assert_eq!(drawn.parse::<i32>().expect("a number") % 4, 0);
    let all = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(all, 2, "the program and one recording");
    let file = folder.join("fails_sometimes.recording");
    let mut shown = Vec::new();
    for _ in 0..3 {
        let run = replay(
            &file,
            &["run", "b draw", "rc", "finish", "p drawn[0] + drawn[3]"],
        );
        let end = "stopped at the end of the recording: the program was killed by SIGABRT";
        assert!(run.stdout.contains(end), "{run:#?}");
        let all = said(&run).into_iter();
        let values: Vec<String> = all
            .filter(|line| line.contains(" = "))
            .map(str::to_owned)
            .collect();
        assert!(
            values.last().is_some_and(|it| it.starts_with("drawn[0]")),
            "{run:#?}"
        );
        shown.push(values);
    }
    assert_eq!(shown[0], shown[1]);
    assert_eq!(shown[0], shown[2]);
    let run = record(
        &folder,
        &[
            "--until-failure",
            "--at-most",
            "3",
            "./fails_sometimes",
            "x",
        ],
    );
    assert_eq!(
        (run.code, run.stdout.lines().count()),
        (Some(0), 3),
        "{run:#?}"
    );
    assert!(run.stderr.contains("not failed in 3 runs"), "{run:#?}");
    assert!(!folder.join("fails_sometimes.2.recording").exists());
}

#[test]
fn where_a_program_becomes_another_its_recording_ends() {
    let folder = folder("becomes");
    compiled("runs_on", &folder);
    let run = record(&folder, &["./runs_on", "exec"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(5), "other\n"),
        "{run:#?}"
    );
    let why = "it has executed another program";
    assert!(run.stderr.contains(why), "{run:#?}");
    let shown = replay(
        &folder.join("runs_on.recording"),
        &["b main", "run", "p argc", "c"],
    );
    assert_eq!(said(&shown)[1], "argc = 2", "{shown:#?}");
    assert!(
        shown
            .stdout
            .contains(&format!("nothing more was recorded: {why}")),
        "{shown:#?}"
    );
}

#[test]
fn a_panic_leads_back_to_its_cause() {
    let folder = folder("panic");
    let source = support::write(
        "panics_at_its_end.rs",
        "fn take(values: &[u32], at: usize) -> u32 {\n    values[at]\n}\n\nfn main() {\n    \
         let values = vec![7, 8, 9];\n    for at in 0..4 {\n        take(&values, at);\n    }\n}\n",
    );
    let mut rustc = Command::new("rustc");
    let program = folder.join("panics");
    let built = rustc
        .arg("-g")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status();
    assert!(built.is_ok_and(|status| status.success()));
    let run = record(&folder, &["./panics"]);
    assert_eq!(run.code, Some(101), "{run:#?}");
    assert!(run.stderr.contains("index out of bounds"), "{run:#?}");
    let commands = [
        // To the panic.
        "run",
        "b panics_at_its_end.rs:2",
        "rc",
        "p at",
        "rc",
        "p at",
        "p values",
    ];
    let shown = replay(&folder.join("panics.recording"), &commands);
    let values = said(&shown).into_iter().filter(|line| line.contains(" = "));
    assert_eq!(
        values.collect::<Vec<_>>(),
        ["at = 3", "at = 2", "values = len = 3 [7, 8, 9]"],
        "{shown:#?}"
    );
}

/// Records `runs_on.c`, and waits until it runs. The recorder is in a process group of its own.
fn running(folder: &Path) -> (Child, PathBuf) {
    let program = compiled("runs_on", folder);
    let mut command = dapple();
    command.current_dir(folder).args(["record", "./runs_on"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn().expect("dapple");
    let stdout = child.stdout.take().expect("its output");
    let ready = BufReader::new(stdout).lines().next();
    assert_eq!(ready.expect("a line").expect("a line"), "ready");
    let file = folder.join("runs_on.recording");
    let size = || std::fs::metadata(&file).map_or(0, |data| data.len());
    // What it does behind that line is written, too.
    for _ in 0..2 {
        let before = size();
        wait_until(|| size() > before);
    }
    (child, program)
}

fn is_run(program: &Path) -> bool {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    all.into_iter()
        .any(|entry| std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program))
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "it takes too long");
        std::thread::yield_now();
    }
}

#[test]
fn an_interrupt_ends_the_program_and_its_recording() {
    let folder = folder("interrupt");
    let (child, _) = running(&folder);
    let group = format!("-{}", child.id());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let at = format!("b runs_on.c:{}", line("runs_on.c", "tick"));
    let shown = replay(
        &folder.join("runs_on.recording"),
        &["run", &at, "rc", "p ticks > 0"],
    );
    let said = said(&shown);
    assert!(
        said[0].contains("the program was killed by SIGINT"),
        "{shown:#?}"
    );
    assert!(said[1].starts_with("stopped at breakpoint 1"), "{shown:#?}");
}

#[test]
fn a_killed_recorder_takes_the_program_along_and_leaves_what_it_has() {
    let folder = folder("killed");
    let (mut child, program) = running(&folder);
    let file = folder.join("runs_on.recording");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    wait_until(|| !is_run(&program));
    let shown = replay(&file, &["run", "b main", "rc", "p argc"]);
    let end = "nothing more was recorded: the recorder was ended";
    assert!(shown.stdout.contains(end), "{shown:#?}");
    assert!(shown.stdout.contains("argc = 1"), "{shown:#?}");
}

#[test]
fn what_can_not_be_recorded_or_replayed_is_said() {
    let folder = folder("refused");
    let run = record(&folder, &["./nothing"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stderr.contains("nothing"), "{run:#?}");
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0);
    let run = record(&folder, &["-o", "no/such/folder", "true"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(
        run.stderr.contains("no/such/folder can't be written"),
        "{run:#?}"
    );
    let damaged = folder.join("damaged");
    let run = record(&folder, &["-o", "damaged", "true"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let mut bytes = std::fs::read(&damaged).expect("the recording");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&damaged, bytes).expect("written");
    let run = replay(&damaged, &["run"]);
    assert_eq!(run.code, Some(126), "{run:#?}");
    assert!(
        run.stderr.contains("damaged: it is damaged: chunk"),
        "{run:#?}"
    );
}
