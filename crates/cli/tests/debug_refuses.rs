//! Programs that can't be debugged: one message on stderr, and exit code 126.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{Run, batch, dapple, scratch, write};

#[test]
fn a_program_that_is_not_there() {
    batch("no/such/program", &[])
        .assert_cannot_begin("dapple: can't debug no/such/program: there is no such file\n");
}

#[test]
fn a_directory() {
    batch("fixtures", &[]).assert_cannot_begin("dapple: fixtures is a directory, not a program\n");
}

#[test]
fn nothing_at_all() {
    let run = Run::of(dapple().arg("debug"));
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(
        run.stderr
            .starts_with("dapple: the following required arguments were not provided"),
        "{run:#?}"
    );
}

#[test]
fn a_source_that_does_not_compile() {
    let source = write("broken.rs", "fn main() { let x: u32 = \"three\"; }");
    let run = Run::of(dapple().args(["debug", "--batch"]).arg(&source));
    assert_eq!(run.code, Some(126), "{run:#?}");
    assert!(
        run.stdout.contains("expected `u32`, found `&str`"),
        "the compiler's own words are missing: {run:#?}"
    );
    let source = source.display();
    let last =
        format!("dapple: rustc could not compile {source}: {source}:1:26: mismatched types\n");
    assert_eq!(run.stderr, last, "{run:#?}");
}

#[test]
fn a_source_without_a_compiler() {
    let source = write("fine.c", "int main(void) { return 0; }");
    let run = Run::of(
        dapple()
            .env("CC", "/no/such/cc")
            .args(["debug", "--batch"])
            .arg(source),
    );
    run.assert_cannot_begin(
        "dapple: the C compiler `/no/such/cc` is not installed; install it, or compile the program yourself and give that\n",
    );
}

#[test]
fn an_argument_that_the_protocol_can_not_carry() {
    use std::os::unix::ffi::OsStrExt;
    let argument = std::ffi::OsStr::from_bytes(b"\xff");
    let run = Run::of(
        dapple()
            .args(["debug", "--batch", "fixtures/tour.rs"])
            .arg(argument),
    );
    run.assert_cannot_begin(
        "dapple: the protocol can't carry the argument \"\\xFF\": it is not UTF-8\n",
    );
}

#[test]
fn an_adapter_that_is_no_adapter() {
    let program = env!("CARGO_BIN_EXE_dapple");
    let run = Run::of(dapple().args(["debug", "--batch", "--adapter", "true", program]));
    assert_eq!(run.code, Some(126), "{run:#?}");
    assert!(
        run.stderr.starts_with("dapple: the adapter did not start"),
        "{run:#?}"
    );
}

#[test]
fn what_it_compiles_is_kept_where_only_the_user_can_look() {
    let source = write("private.rs", "fn main() {}");
    let cache = scratch("private-cache").join(std::process::id().to_string());
    // The result of the session doesn't matter here, only the files that it leaves.
    let _ = Run::of(
        dapple()
            .env("XDG_CACHE_HOME", &cache)
            .args(["debug", "--batch"])
            .arg(source),
    );
    let mode = |path: &Path| {
        std::fs::metadata(path)
            .expect("the cache is there")
            .permissions()
            .mode()
            & 0o777
    };
    let build = cache.join("dapple/build");
    for directory in [&cache.join("dapple"), &build] {
        assert_eq!(mode(directory), 0o700, "{}", directory.display());
    }
    let kept: Vec<_> = std::fs::read_dir(build)
        .expect("the cache is there")
        .collect::<Result<_, _>>()
        .expect("readable");
    assert_eq!(kept.len(), 1);
    assert!(
        kept[0].path().join("private").is_file(),
        "the program has its source's name"
    );
    std::fs::remove_dir_all(cache).expect("the cache is ours");
}

#[test]
fn waiting_for_nothing() {
    Run::of(dapple().args(["debug", "--wait", "fixtures/tour.c"])).assert_fails(
        "dapple: --wait is for --attach: which program's start is to be waited for?\n",
    );
}
