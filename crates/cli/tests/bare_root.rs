//! Debugging in a root file system that contains only the debugger, a program and their libraries: no devices, no sources, and at first no
//! `/proc`.

use crate::support;
use crate::support::Run;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Creates a root file system with `dapple` and a program.
fn bare_root(name: &str) -> PathBuf {
    let root = support::scratch(name);
    std::fs::create_dir_all(root.join("proc")).expect("the root can be written");
    let dapple = Path::new(env!("CARGO_BIN_EXE_dapple"));
    support::install(dapple, &root.join("dapple"), 0o755);
    support::compile("conditions.c", &root.join("conditions"));
    for program in [dapple, &root.join("conditions")] {
        bring_libraries(&root, program);
    }
    root
}

/// Copies a program's dynamic loader and libraries below `root`.
fn bring_libraries(root: &Path, program: &Path) {
    let listed = Command::new("ldd").arg(program).output().expect("ldd");
    let listed = String::from_utf8(listed.stdout).expect("paths");
    let files = listed
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    for file in files {
        let to = root.join(file.trim_start_matches('/'));
        std::fs::create_dir_all(to.parent().expect("it is below the root")).expect("a folder");
        support::install(Path::new(file), &to, 0o755);
    }
}

/// Runs `dapple` with `root` as its root directory, in namespaces of its own. `proc` mounts `/proc` there.
fn dapple_in(root: &Path, proc: bool, arguments: &[&str]) -> Run {
    let mut unshare = Command::new("unshare");
    unshare.args(["--map-root-user", "--pid", "--fork", "--kill-child"]);
    if proc {
        unshare.arg(format!("--mount-proc={}", root.join("proc").display()));
    }
    unshare
        .arg("chroot")
        .arg(root)
        .arg("/dapple")
        .args(arguments);
    Run::of(unshare.env("NO_COLOR", "1").env_remove("XDG_CACHE_HOME"))
}

#[test]
fn a_root_without_devices_or_sources_is_enough() {
    let root = bare_root("bare-root");
    let commands = [
        "b sum",
        "run",
        "bt",
        "p count",
        "d 1",
        "fin",
        "p point.x",
        "c",
    ];
    let mut arguments = vec!["debug", "--batch"];
    for command in commands {
        arguments.extend(["--ex", command]);
    }
    let run = dapple_in(&root, true, &[&arguments[..], &["/conditions"]].concat());
    for part in [
        "stopped at breakpoint 1",
        "#0  sum at ",
        "#1  main at ",
        "count = 3",
        "returned sum() = 6",
        "point.x = 19",
        "total 190",
    ] {
        assert!(run.stdout.contains(part), "{part:?} is missing: {run:#?}");
    }
    assert_eq!(run.code, Some(0), "{run:#?}");
}

#[test]
fn without_proc_it_is_said_what_is_needed() {
    let root = bare_root("bare-root-without-proc");
    let run = dapple_in(
        &root,
        false,
        &["debug", "--batch", "--ex", "run", "/conditions"],
    );
    run.assert_cannot_begin(
        "dapple: cannot launch /conditions: /proc is not mounted here, and the debugger reaches a program's memory only through it: \
         `mount -t proc proc /proc`\n",
    );
    let run = dapple_in(&root, false, &["debug", "--batch", "--attach", "1"]);
    run.assert_cannot_begin(
        "dapple: attach: `pid` 1: /proc is not mounted here, and the debugger reaches a program's memory only through it: \
         `mount -t proc proc /proc`\n",
    );
}
