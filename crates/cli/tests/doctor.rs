//! The output of `dapple doctor`, with and without problems.

use crate::support;
use crate::support::{Run, dapple, scratch};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An empty folder.
fn empty(name: &str) -> PathBuf {
    let folder = scratch(name);
    std::fs::remove_dir_all(&folder).expect("it was made");
    scratch(name)
}

/// `dapple doctor` for a user without configuration, in a new project, with this `dapple` on the `PATH`, and with only a C compiler, to be
/// quick.
fn doctor(name: &str) -> Command {
    let mut command = dapple();
    let own = Path::new(env!("CARGO_BIN_EXE_dapple"));
    let folder = own.parent().expect("it is in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path)));
    let project = empty(&format!("doctor/{name}"));
    std::fs::write(project.join("Cargo.toml"), "[workspace]\n").expect("the folder is there");
    command
        .args(["doctor"])
        .current_dir(project)
        .env("HOME", empty(&format!("doctor/{name}-home")))
        .env("PATH", path.expect("a path"))
        .env("CXX", "/nowhere/c++")
        .env("RUSTC", "/nowhere/rustc")
        .env_remove("CARGO_PROFILE_DEV_DEBUG")
        .env_remove("DEBUGINFOD_URLS");
    command
}

/// Runs it under `confined`, which forbids it something.
fn confined(doctor: &Command, how: &str) -> Command {
    let program = scratch("doctor").join(format!("confined-{how}"));
    support::compile("confined.c", &program);
    let mut confined = Command::new(program);
    confined.arg(how).arg(doctor.get_program());
    confined.args(doctor.get_args());
    confined.current_dir(doctor.get_current_dir().expect("a folder"));
    for (name, value) in doctor.get_envs() {
        match value {
            Some(value) => confined.env(name, value),
            None => confined.env_remove(name),
        };
    }
    confined
}

/// The lines of a check, including the indented lines below it.
fn lines<'r>(run: &'r Run, check: &str) -> Vec<&'r str> {
    let mut of_it = false;
    let is_of_it = |line: &&str| {
        if !line.starts_with(' ') {
            of_it = line.get(9..).is_some_and(|rest| rest.starts_with(check));
        }
        of_it
    };
    run.stdout.lines().filter(is_of_it).collect()
}

#[track_caller]
fn assert_says(run: &Run, check: &str, level: &str, parts: &[&str]) {
    let lines = lines(run, check);
    let text = lines.join("\n");
    assert!(text.starts_with(level), "{check}: {text}\n{run:#?}");
    for part in parts {
        assert!(text.contains(part), "{check} should say {part:?}: {text}");
    }
}

#[test]
fn where_all_is_well_every_check_is_made() {
    let mut with_compilers = doctor("well");
    with_compilers.env_remove("CXX").env_remove("RUSTC");
    let run = Run::of(&mut with_compilers);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:#?}");
    for check in [
        "/proc",
        "tracing",
        "attaching",
        "data breakpoints",
        "addresses",
        "C ",
        "C++",
        "Rust",
        "cargo",
        "cache",
        "debuginfod",
        "PATH",
        "editors",
        "session",
    ] {
        assert_says(&run, check, "ok ", &[]);
    }
    assert_says(&run, "C ", "ok", &["DWARF"]);
    assert_says(&run, "editors", "ok", &["none is set up", "docs/editors"]);
    assert_says(
        &run,
        "session",
        "ok",
        &["ms from the adapter's start to the first stop"],
    );
    let json = Run::of(doctor("well-json").arg("--json"));
    let report: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(report["works"], true);
    let checks = report["findings"].as_array().expect("a list");
    assert!(
        checks
            .iter()
            .any(|one| one["check"] == "session" && one["level"] == "ok"),
        "{report:#}"
    );
}

#[test]
fn a_sandbox_that_forbids_tracing_is_a_problem_with_a_remedy() {
    let run = Run::of(&mut confined(&doctor("filtered"), "filter"));
    assert_eq!(run.code, Some(1), "{run:#?}");
    let remedy = "--cap-add=SYS_PTRACE --security-opt seccomp=unconfined";
    assert_says(&run, "tracing", "problem", &[remedy]);
    assert_says(&run, "attaching", "warning", &[remedy]);
    assert_says(&run, "data breakpoints", "warning", &[]);
    assert_says(&run, "addresses", "ok", &[]);
    assert_says(&run, "session", "problem", &["can't be debugged", remedy]);
    let json = Run::of(&mut confined(
        doctor("filtered-json").arg("--json"),
        "filter",
    ));
    let report: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(
        (json.code, &report["works"]),
        (Some(1), &Value::Bool(false))
    );
}

#[test]
fn addresses_that_cannot_be_fixed_are_a_warning() {
    let run = Run::of(&mut confined(&doctor("varying"), "vary"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_says(
        &run,
        "addresses",
        "warning",
        &["change from run to run", "seccomp=unconfined"],
    );
    assert_says(&run, "tracing", "ok", &[]);
    assert_says(&run, "session", "ok", &[]);
}

#[test]
fn missing_compilers_are_named_and_sessions_work_without() {
    let mut bare = doctor("bare");
    bare.env_remove("CXX").env_remove("RUSTC");
    let run = Run::of(bare.env("PATH", "/nowhere"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_says(&run, "C ", "warning", &["no `cc` here", "gcc"]);
    assert_says(&run, "C++", "warning", &["no `c++` here", "g++"]);
    assert_says(&run, "Rust", "warning", &["no `rustc` here", "rustup"]);
    assert_says(&run, "cargo", "warning", &["no `cargo` here"]);
    assert_says(
        &run,
        "PATH",
        "warning",
        &["has no `dapple`", "export PATH="],
    );
    assert_says(&run, "session", "ok", &["for want of a compiler"]);
}

#[test]
fn a_compiler_that_does_not_compile_says_why() {
    let folder = empty("doctor/broken-bin");
    support::script(
        &folder.join("mycc"),
        "#!/bin/sh\n[ \"$1\" = --version ] && echo mycc 1.0 && exit\necho 'ld: error: no crt1.o' >&2\nexit 1\n",
    );
    let run = Run::of(doctor("broken").env("CC", folder.join("mycc")));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_says(&run, "C ", "warning", &["mycc 1.0", "ld: error: no crt1.o"]);
}

#[test]
fn a_project_built_without_debug_information_is_noticed() {
    let mut doctor = doctor("lean");
    let manifest = doctor
        .get_current_dir()
        .expect("a folder")
        .join("Cargo.toml");
    let text = "[workspace]\n[profile.dev]\ndebug = \"line-tables-only\"\n";
    std::fs::write(manifest, text).expect("the folder is there");
    let run = Run::of(&mut doctor);
    let named = "debug is line-tables-only in ";
    assert_says(&run, "cargo", "warning", &["full debug information", named]);
    let run = Run::of(doctor.env("CARGO_PROFILE_DEV_DEBUG", "2"));
    assert_says(&run, "cargo", "ok", &[]);
    assert_eq!(run.code, Some(0), "{run:#?}");
}

#[test]
fn a_cache_that_cannot_be_written_is_a_warning() {
    let mut doctor = doctor("uncached");
    doctor
        .env_remove("XDG_CACHE_HOME")
        .env("HOME", "/proc/none");
    let run = Run::of(&mut doctor);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_says(
        &run,
        "cache",
        "warning",
        &["/proc/none/.cache/dapple/index", "XDG_CACHE_HOME"],
    );
}

#[test]
fn debuginfod_without_its_program_is_a_warning() {
    let mut doctor = doctor("served");
    doctor
        .env("DEBUGINFOD_URLS", "https://debuginfod.example/")
        .env("PATH", "/nowhere");
    let run = Run::of(&mut doctor);
    assert_says(
        &run,
        "debuginfod",
        "warning",
        &["no `debuginfod-find`", "https://debuginfod.example/"],
    );
}

#[test]
fn a_launch_json_is_held_against_the_arguments() {
    let mut doctor = doctor("misspelt");
    let folder = doctor.get_current_dir().expect("a folder").join(".vscode");
    std::fs::create_dir(&folder).expect("the folder is there");
    let text = r#"{
        // As editors write it.
        "version": "0.2.0",
        "configurations": [
            { "type": "dapple", "request": "launch", "name": "App", "progam": "${workspaceFolder}/app", },
            { "type": "dapple", "request": "attach", "name": "Pick", "pid": "${command:pickProcess}" },
            { "type": "dapple", "request": "launch", "name": "Odd", "program": "/bin/true", "stopOnEntry": "yes" },
            { "type": "dapple", "request": "start", "name": "Wrong" },
            { "type": "other", "request": "launch", "name": "Theirs", "what": 1 },
        ],
    }"#;
    std::fs::write(folder.join("launch.json"), text).expect("the folder is there");
    let run = Run::of(&mut doctor);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let said = lines(&run, "launch.json");
    let said: Vec<&&str> = said.iter().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(said.len(), 3, "{said:#?}");
    for (line, parts) in said.iter().zip([
        [".vscode/launch.json", "\"App\"", "`progam`", "`program`"],
        [
            ".vscode/launch.json",
            "\"Odd\"",
            "`stopOnEntry`",
            "true or false",
        ],
        [".vscode/launch.json", "\"Wrong\"", "`request`", "\"start\""],
    ]) {
        for part in parts {
            assert!(line.contains(part), "{part} is missing: {line}");
        }
    }
}

#[test]
fn editors_that_are_set_up_are_told_with_their_files() {
    let mut doctor = doctor("edited");
    let here = doctor.get_current_dir().expect("a folder").to_owned();
    let home = here.with_file_name("edited-home");
    let write = |path: PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a folder");
    };
    write(
        home.join(".vscode/extensions/dapple.dapple-9.8.7/package.json"),
        r#"{"publisher": "dapple", "name": "dapple", "version": "9.8.7"}"#,
    );
    write(
        home.join(".config/Code/User/settings.json"),
        "{ // mine\n\"dapple.path\": \"/nowhere/dapple\" }",
    );
    write(
        home.join(".config/nvim/lua/plugins/debug.lua"),
        "dap.adapters.dapple = {}",
    );
    write(home.join(".config/helix/languages.toml"), "[[language]]\n");
    write(here.join(".helix/languages.toml"), "command = 'dapple'");
    let run = Run::of(&mut doctor);
    let said = lines(&run, "editors").join("\n");
    for part in [
        "VS Code: extension 9.8.7 in ",
        "Neovim: ",
        ".config/nvim/lua/plugins/debug.lua",
        "Helix: .helix/languages.toml here",
    ] {
        assert!(said.contains(part), "{part:?} is missing: {said}");
    }
    assert!(!said.contains(".config/helix"), "{said}");
    let wrong = said.lines().find(|line| line.starts_with("warning"));
    assert!(
        wrong.is_some_and(|line| line.contains("/nowhere/dapple, which is no program")),
        "{said}"
    );
}

#[test]
fn another_dapple_on_the_path_is_noticed() {
    let folder = empty("doctor/other-bin");
    support::script(&folder.join("dapple"), "#!/bin/sh\necho dapple 0.0.1\n");
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let run = Run::of(doctor("other").env("PATH", path));
    assert_says(
        &run,
        "PATH",
        "warning",
        &["another `dapple`", "dapple 0.0.1"],
    );
}
