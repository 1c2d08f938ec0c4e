//! `dapple cache`: building, listing and removing indexes, in a folder of the test's own.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Run, dapple, scratch};

/// A folder with a program, and its program. There are no indexes.
fn program(name: &str, flags: &[&str]) -> (PathBuf, PathBuf) {
    let folder = scratch(name);
    // Removes an earlier run's indexes.
    let _ = std::fs::remove_dir_all(folder.join("dapple"));
    let (source, program) = (folder.join("main.c"), folder.join("program"));
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("the folder is there");
    let compiled = Command::new("gcc")
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status();
    assert!(compiled.expect("gcc is needed").success());
    (folder, program)
}

fn cache(folder: &Path, arguments: &[&str]) -> Run {
    Run::of(
        dapple()
            .env("XDG_CACHE_HOME", folder)
            .arg("cache")
            .args(arguments),
    )
}

#[test]
fn indexes_are_made_listed_and_removed() {
    let (folder, program) = program("cache-life", &["-g"]);
    let path = program.display().to_string();
    let none = cache(&folder, &["list"]);
    assert!(
        none.stdout.starts_with("0 indexes of 0.0 MB in "),
        "{none:?}"
    );
    let built = cache(&folder, &["build", &path]);
    assert_eq!(built.stdout, format!("{path}: made\n"), "{built:?}");
    let again = cache(&folder, &["build", &path]);
    assert_eq!(again.stdout, format!("{path}: there is one already\n"));
    let listed = cache(&folder, &["list"]);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{listed:?}");
    assert!(
        lines[0].contains("just now") && lines[0].ends_with(&path),
        "{listed:?}"
    );
    assert!(lines[1].starts_with("1 index of 0.1 MB in "), "{listed:?}");
    let cleared = cache(&folder, &["clear"]);
    assert_eq!(cleared.stdout, "0.1 MB freed\n");
    assert_eq!(cache(&folder, &["list"]).stdout, none.stdout);
}

#[test]
fn what_can_not_be_indexed_or_kept_is_said() {
    let (folder, program) = program("cache-wrong", &["-g"]);
    let missing = cache(&folder, &["build", "no/such/program"]);
    assert_eq!(missing.code, Some(1));
    assert_eq!(missing.stderr, "dapple: no/such/program: no such file\n");
    let script = folder.join("script");
    std::fs::write(&script, "#!/bin/sh\n").expect("a file");
    let script = cache(&folder, &["build", &script.display().to_string()]);
    assert!(script.stderr.contains("script: "), "{script:?}");

    // A damaged index is named, and built again.
    let path = program.display().to_string();
    cache(&folder, &["build", &path]);
    let kept = folder.join("dapple/index");
    let file = std::fs::read_dir(&kept).expect("a folder").next();
    let file = file.expect("an index").expect("an entry").path();
    std::fs::write(&file, "DAPPLEIXnot really").expect("damaged");
    let listed = cache(&folder, &["list"]);
    assert!(listed.stdout.contains("which is damaged"), "{listed:?}");
    let built = cache(&folder, &["build", &path]);
    assert_eq!(built.stdout, format!("{path}: made\n"));
    assert!(built.stderr.starts_with("warning: the index "), "{built:?}");

    // Other users could write indexes into such a folder.
    std::fs::set_permissions(&kept, PermissionsExt::from_mode(0o777)).expect("its mode");
    let open = cache(&folder, &["list"]);
    assert_eq!(open.code, Some(1));
    assert!(
        open.stderr.contains("can be written by other users"),
        "{open:?}"
    );
    std::fs::set_permissions(&kept, PermissionsExt::from_mode(0o700)).expect("its mode");
}
