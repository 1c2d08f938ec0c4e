//! `dapple debug --cargo`: builds in the terminal.

use crate::support::{Run, dapple};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time limit of every wait. A test that passes never waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A package with a program and a failing test, and `dapple debug` in its folder with these commands.
fn debug(test: &str, commands: &[&str], words: &[&str]) -> (Command, PathBuf) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cargo-{test}"));
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file of the tests");
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"counted\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[profile.dev.package.counted]\ndebug = 2\n[workspace]\n",
    );
    write(
        "src/main.rs",
        "fn main() {
    let words = std::env::args().count();
    println!(\"{words} words\");
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts() {
        let given = 2;
        assert_eq!(given + 1, 4, \"one is missing\");
    }
}
",
    );
    let mut command = dapple();
    command.args(["debug", "--batch", "--color", "never"]);
    for line in commands {
        command.args(["--ex", line]);
    }
    command.arg("--cargo").args(words);
    command.current_dir(&folder).env_remove("CARGO_TARGET_DIR");
    (command, folder)
}

#[test]
fn what_cargo_run_would_run_stops_at_a_breakpoint() {
    let commands = ["b main.rs:3", "run", "p words", "c"];
    let (mut command, _) = debug("run", &commands, &["run", "--offline", "--", "a", "-b"]);
    let run = Run::of(&mut command);
    assert_eq!(run.code, Some(0), "{run:#?}");
    for part in ["cargo run --offline\n", "\nwords = 3\n", "\n3 words\n"] {
        assert!(run.stdout.contains(part), "{part}: {run:#?}");
    }
}

#[test]
fn a_test_stops_where_it_panics() {
    let commands = ["run", "p given"];
    let (mut command, _) = debug("test", &commands, &["test", "--offline", "counts"]);
    let run = Run::of(&mut command);
    for part in [
        "one is missing",
        "counted::tests::counts at src/main.rs:11\n",
        "(dapple) p given\ngiven = 2\n",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run:#?}");
    }
}

/// A guardian process ends the build: no other process knows of the build any more.
#[test]
fn a_debugger_that_is_killed_leaves_nothing_of_a_build() {
    let (mut command, folder) = debug("killed", &[], &["run", "--offline"]);
    let script = "fn main() {
    std::fs::write(\"who\", std::process::id().to_string()).unwrap();
    std::fs::read(\"go\").unwrap();
}
";
    std::fs::write(folder.join("build.rs"), script).expect("a file of the tests");
    for fifo in ["who", "go"] {
        let _ = std::fs::remove_file(folder.join(fifo));
        let made = Command::new("mkfifo").arg(folder.join(fifo)).status();
        assert!(made.expect("mkfifo runs").success());
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut debugger = command.spawn().expect("dapple runs");
    let (sender, told) = mpsc::channel();
    let who = folder.join("who");
    std::thread::spawn(move || sender.send(std::fs::read_to_string(who)));
    let script = told.recv_timeout(PATIENCE).expect("it is built");
    let script = script.expect("the build script's id");
    assert!(is_alive(&script));
    debugger.kill().expect("it runs");
    debugger.wait().expect("it ends");
    let begun = Instant::now();
    while is_alive(&script) {
        assert!(begun.elapsed() < PATIENCE, "the build goes on");
        std::thread::yield_now();
    }
}

/// Whether the process exists and isn't a zombie.
fn is_alive(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z"))
}

#[test]
fn what_is_no_command_of_cargo_is_said() {
    let (mut command, _) = debug("no", &[], &["check"]);
    Run::of(&mut command).assert_cannot_begin(
        "dapple: launch: `cargo`: `cargo check` isn't one of \"run\", \"test\", \"bench\", \"build\" and \"rustc\"; if it is an alias of yours, write what it stands for\n",
    );
    let (mut command, folder) = debug("no", &[], &["run", "--bin", "none"]);
    assert!(folder.is_dir());
    let run = Run::of(&mut command);
    assert!(
        run.stderr
            .starts_with("dapple: `cargo run --bin none` failed: no bin target named `none`"),
        "{run:#?}"
    );
}
