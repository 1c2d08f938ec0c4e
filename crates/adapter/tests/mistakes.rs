//! Mistakes in launch configurations: the message names what is wrong and, if possible, what the user meant.

use crate::support;
use crate::support::{Fixture, Session, file, text};
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The error message of a launch that is refused.
fn refusal(arguments: &Value) -> String {
    let session = Session::new();
    let failure = session.refused::<LaunchRequest>(launch_arguments(arguments));
    session.wait_for::<TerminatedEvent>();
    session.disconnect();
    failure.sentence
}

#[track_caller]
fn is_told(program: impl Into<PathBuf>, end: &str) {
    let program = program.into();
    let sentence = refusal(&json!({"program": program}));
    assert_eq!(
        sentence,
        format!("launch: `program` {}: {end}", program.display())
    );
}

#[test]
fn a_file_that_is_not_there_is_told_with_what_may_be_meant() {
    let fixture = Fixture::new("exit.c");
    let program = text(&fixture.binary);
    let misspelt = program.replace("exit.c", "exti.c");
    is_told(
        &misspelt,
        &format!("there is no such file; did you mean {program}?"),
    );
    is_told(
        "/nowhere/at/all",
        "there is no such file; the folder /nowhere does not exist",
    );
    is_told(
        "sh",
        &format!(
            "there is no such file in {}; if you mean the command, give its whole path, {}",
            text(&std::env::current_dir().expect("a folder")),
            text(&in_path("sh"))
        ),
    );
}

fn in_path(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a search path");
    let found = std::env::split_paths(&path).map(|folder| folder.join(name));
    let mut found = found.filter(|file| file.is_file());
    found.next().expect("it is there")
}

#[test]
fn a_source_is_told_from_a_program() {
    let source = Fixture::new("exit.c").source;
    is_told(
        source,
        "it is a source file, and this debugger has no folder for programs that it compiles; compile it with debug information (-g), and launch what that makes",
    );
    let script = file("no-first-line.sh", b"echo hello\n", 0o755);
    is_told(script, "it is not an ELF program");
    let script = file("first-line.sh", b"#!/bin/sh -e\n", 0o755);
    is_told(
        script,
        "it is a script; to debug its interpreter, launch /bin/sh -e with the script as argument",
    );
    is_told("/tmp", "it is a directory, not a program");
}

#[test]
fn a_program_for_another_machine_is_told_from_one_for_this() {
    let whole = std::fs::read(Fixture::new("exit.c").binary).expect("the program");
    let changed = |name: &str, at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        file(name, &bytes, 0o755)
    };
    is_told(
        changed("for-aarch64", 18, 183),
        "it is a program for AArch64 (ELF machine 183); only x86-64 programs can be debugged",
    );
    is_told(
        changed("big-endian", 5, 2),
        "it is a big-endian program of another machine; only x86-64 programs can be debugged",
    );
    is_told(
        changed("object", 16, 1),
        "it is an object file: link it first",
    );
    is_told(changed("core", 16, 4), "it is a core file, not a program");
    let plain = file("plain-program", &whole, 0o644);
    is_told(plain, "it is not executable (chmod +x would make it so)");
}

#[test]
fn a_program_that_is_cut_off_anywhere_is_told_so() {
    let whole = std::fs::read(Fixture::new("exit.c").binary).expect("the program");
    let cut = |length: usize| file(&format!("part-{length}"), &whole[..length], 0o755);
    for length in [5, 40, 100] {
        is_told(cut(length), "its ELF header is broken or cut off");
    }
    is_told(
        cut(3000),
        "the file is cut off: it has 3000 bytes, and parts of the program are behind them",
    );
}

#[test]
fn the_interpreter_that_is_missing_is_named() {
    let mut bytes = std::fs::read(Fixture::new("exit.c").binary).expect("the program");
    let name = b"/lib64/ld-linux-x86-64.so.2";
    let at = bytes.windows(name.len()).position(|part| part == name);
    let at = at.expect("the name of its interpreter");
    bytes[at + 1..at + 6].copy_from_slice(b"xxxxx");
    is_told(
        file("no-interpreter-here", &bytes, 0o755),
        "its interpreter /xxxxx/ld-linux-x86-64.so.2 is missing",
    );
}

/// The warnings about arguments that are not understood. The program runs nevertheless.
fn warnings(arguments: Value) -> Vec<String> {
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, arguments, &[]);
    assert_eq!(session.exit_code(), 0);
    let written = session.output(OutputEventCategory::Console);
    session.disconnect();
    let lines = written.lines().filter(|line| line.starts_with("launch:"));
    lines.map(str::to_owned).collect()
}

#[test]
fn arguments_that_do_nothing_here_are_told_with_what_does() {
    let told = warnings(json!({
        "MIMode": "gdb",
        "arg": ["5"],
        "cargoes": {},
        "envfile": "x",
        "initCommands": ["settings set x y"],
        "pid": 3,
        "stdout": {"file": "/dev/null", "apend": true},
        "workingDirectory": "/",
        // Arguments that belong to the client.
        "name": "a", "preLaunchTask": "b", "__sessionId": "c",
    }));
    let expected = [
        "launch: the argument `stdout.apend` is not known and ignored; did you mean `stdout.append`?",
        "launch: `MIMode` is ignored: no other debugger is behind this one",
        "launch: the argument `arg` is not known and ignored; did you mean `args`?",
        "launch: the argument `cargoes` is not known and ignored",
        "launch: the argument `envfile` is not known and ignored; did you mean `envFile`?",
        "launch: `initCommands` is ignored: these are commands of LLDB, which isn't here",
        "launch: `pid` is for \"request\": \"attach\", and ignored",
        "launch: `workingDirectory` is ignored: it is `cwd` here",
    ];
    assert_eq!(told, expected);
}

#[test]
fn an_empty_working_directory_is_none() {
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, json!({"cwd": ""}), &[]);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

fn refusal_of(arguments: Value) -> String {
    let mut all = json!({"program": "/bin/true"});
    for (name, value) in arguments.as_object().expect("an object") {
        all[name] = value.clone();
    }
    refusal(&all)
}

#[test]
fn a_variable_that_the_client_has_not_replaced_is_told() {
    for (arguments, named) in [
        (
            json!({"program": "${workspaceFolder}/x"}),
            "`program`: the client has not replaced the variable ${workspaceFolder} in \"${workspaceFolder}/x\"",
        ),
        (
            json!({"cwd": "${fileDirname}"}),
            "`cwd`: the client has not replaced the variable ${fileDirname}",
        ),
        (
            json!({"envFile": "/x/${env:STAGE}"}),
            "`envFile`: the client has not replaced the variable ${env:STAGE}",
        ),
        (
            json!({"stdout": {"file": "${file}.out"}}),
            "`stdout.file`: the client has not replaced the variable ${file}",
        ),
        (
            json!({"sourceMap": {"/a": "${workspaceFolder}"}}),
            "`sourceMap./a`: the client has not replaced the variable ${workspaceFolder}",
        ),
        (
            json!({"visualizerFile": ["${workspaceFolder}/a.natvis"]}),
            "`visualizerFile[0]`: the client has not replaced the variable ${workspaceFolder}",
        ),
    ] {
        let sentence = refusal_of(arguments);
        assert!(
            sentence.starts_with(&format!("launch: {named}")),
            "{sentence}"
        );
        assert!(
            sentence.ends_with(", which it may not know; write what it stands for"),
            "{sentence}"
        );
    }
    // Only a warning, because the program may really expect this text. `${HOME}` is left to shells, without a warning.
    assert_eq!(
        warnings(
            json!({"args": ["0", "${workspaceFolder}/x", "${HOME}"], "env": {"A": "${env:B}"}})
        ),
        [
            "launch: `args[1]`: the client has not replaced the variable ${workspaceFolder}; it is left as it is",
            "launch: `env.A`: the client has not replaced the variable ${env:B}; it is left as it is",
        ]
    );
}

#[test]
fn a_path_may_begin_with_the_users_folder() {
    let home = std::env::var("HOME").expect("a home");
    let sentence = refusal(&json!({"program": "~/no-such-program-anywhere"}));
    let whole = format!(
        "launch: `program` {}/no-such-program-anywhere: there is no such file",
        home.trim_end_matches('/')
    );
    assert_eq!(sentence, whole);
    let fixture = Fixture::new("exit.c");
    let session = Session::started(&fixture, json!({"cwd": "~"}), &[]);
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
    let sentence = refusal(&json!({"program": "~someone/x"}));
    assert_eq!(
        sentence,
        "launch: `program`: other users' folders are not looked up, give the whole path for \"~someone/x\""
    );
}

#[test]
fn a_working_directory_that_can_not_be_one_is_told_why() {
    let folder = support::fixture::fixtures_folder().join(format!("folder-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let near = text(&folder).replace("folder-", "foldre-");
    for (cwd, why) in [
        (
            "/nowhere/at/all".to_owned(),
            "there is no such folder; /nowhere does not exist".to_owned(),
        ),
        (
            near,
            format!(
                "there is no such folder; did you mean {}?",
                folder.display()
            ),
        ),
        ("/etc/passwd".to_owned(), "it is no folder".to_owned()),
    ] {
        assert_eq!(
            refusal_of(json!({"cwd": cwd})),
            format!("launch: `cwd` {cwd}: {why}")
        );
    }
    std::fs::remove_dir(&folder).expect("removed");
}

#[test]
fn a_file_that_an_argument_names_is_told_with_the_argument() {
    let variables = file("wrong.env", b"A=1\n\nthis is none\n", 0o644);
    for (arguments, said) in [
        (
            json!({"envFile": variables}),
            format!(
                "`envFile` {}: line 3 must have the form NAME=value",
                variables.display()
            ),
        ),
        (
            json!({"envFile": "/tmp"}),
            "`envFile` /tmp: it is no regular file".to_owned(),
        ),
        (
            json!({"envFile": "/dev/zero"}),
            "`envFile` /dev/zero: it is no regular file".to_owned(),
        ),
        (
            json!({"stdin": "/nowhere"}),
            "`stdin` /nowhere: No such file or directory (os error 2)".to_owned(),
        ),
        (
            json!({"stdin": ""}),
            "`stdin` is empty: it names no file".to_owned(),
        ),
        (
            json!({"stdout": "/tmp"}),
            "`stdout` /tmp: Is a directory (os error 21)".to_owned(),
        ),
        (
            json!({"stderr": {"file": "/nowhere/x"}}),
            "`stderr` /nowhere/x: No such file or directory (os error 2)".to_owned(),
        ),
    ] {
        assert_eq!(refusal_of(arguments), format!("launch: {said}"));
    }
}

#[test]
fn a_misspelt_program_is_told_with_what_is_missing() {
    assert_eq!(
        refusal(&json!({"progam": "/bin/true", "exe": "/bin/true"})),
        "launch needs `program`: the path of the executable to debug, of a source file or of a folder with a Cargo.toml; or `cargo`: what cargo is to build\n\
         launch: `exe` is ignored: it is `program` here\n\
         launch: the argument `progam` is not known and ignored; did you mean `program`?"
    );
}
