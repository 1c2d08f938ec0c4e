//! Exceptions and signals in whole sessions of `dapple debug --batch`.

use crate::support::{batch, write};
use std::process::Command;

const THROWS: &str = r#"#include <stdexcept>
static void work(int n) {
    if (n > 2) throw std::out_of_range("too much");
}
int main() {
    for (int n = 0; n < 5; n++)
        try { work(n); } catch (const std::exception &) {}
    return 0;
}
"#;

#[test]
fn exceptions_are_caught_when_asked_for_and_off_again() {
    let source = write("throws.cpp", THROWS);
    let run = batch(
        source.to_str().expect("plain path"),
        &[
            "catch cpp_throw std::logic_error",
            "run",
            "why",
            "catch cpp_throw off",
            "c",
        ],
    );
    assert!(
        run.stdout
            .contains("cpp_throw: on if std::logic_error (C++: on throw)"),
        "{run:#?}"
    );
    assert!(
        run.stdout
            .contains("stopped by std::out_of_range: too much (thrown, main"),
        "{run:#?}"
    );
    assert!(
        run.stdout.contains("→    3      if (n > 2) throw"),
        "{run:#?}"
    );
    assert_eq!(run.stdout.matches("stopped by").count(), 1, "{run:#?}");
    assert_eq!(run.code, Some(0), "{run:#?}");
}

#[test]
fn an_exception_at_a_breakpoint_is_told_with_it_and_counted() {
    let source = write("both.cpp", THROWS);
    let run = batch(
        source.to_str().expect("plain path"),
        &[
            "catch cpp_throw",
            "b __cxa_throw",
            "run",
            "info breakpoints",
            "c",
        ],
    );
    let told = "stopped by std::out_of_range: too much (thrown, main catches it), at breakpoint 1,";
    assert_eq!(run.stdout.matches(told).count(), 2, "{run:#?}");
    assert!(run.stdout.contains("hit once"), "{run:#?}");
}

#[test]
fn a_panics_text_is_below_the_line_that_tells_of_the_stop() {
    let source = write(
        "uneven.rs",
        "fn main() {\n    let numbers = vec![1, 2];\n    assert_eq!(numbers, [1, 3]);\n}\n",
    );
    let path = source.to_str().expect("plain path");
    let run = batch(path, &["run", "why"]);
    let text = format!(
        "assertion `left == right` failed\n  left: [1, 2]\n right: [1, 3]\npanicked at {path}:3:5\n"
    );
    let mut parts = run.stdout.split(&text);
    let before = parts.next().and_then(|part| part.lines().last());
    assert!(
        before.is_some_and(|line| line.starts_with("stopped at a panic, thread ")),
        "{run:#?}"
    );
    assert_eq!(
        parts.count(),
        2,
        "once at the stop, once for `why`: {run:#?}"
    );
}

#[test]
fn the_filters_are_listed_and_what_is_wrong_is_said() {
    let source = write("listed.cpp", THROWS);
    let path = source.to_str().expect("plain path");
    let run = batch(path, &["catch"]);
    for line in [
        "cpp_throw: off (C++: on throw)",
        "cpp_uncaught: on (C++: uncaught)",
        "rust_panic: on (Rust: panic)",
        "faults: on (Signals: faults and aborts)",
    ] {
        assert!(run.stdout.contains(line), "{run:#?}");
    }
    let run = batch(path, &["catch throw std::*", "catch uncaught off"]);
    for line in [
        "cpp_throw: on if std::*",
        "\ncpp_uncaught: off",
        "\nrust_uncaught: off",
    ] {
        assert!(run.stdout.contains(line), "{run:#?}");
    }
    for (command, part) in [
        (
            "catch everything",
            "there is nothing to catch called `everything`; there are cpp_throw",
        ),
        ("catch faults x", "`faults` takes no condition"),
        ("catch cpp_throw a,,b", "empty pattern"),
        ("handle SIGFOO stop", "there is no signal `SIGFOO`"),
        (
            "handle SIGUSR1 often",
            "`often` is nothing that can be done",
        ),
        ("handle SIGUSR1", "handle it how?"),
    ] {
        let run = batch(path, &[command]);
        assert!(run.stderr.contains(part), "{command}: {run:#?}");
        assert_eq!(run.code, Some(125), "{command}");
    }
}

#[test]
fn signals_are_handled_as_told() {
    let source = write(
        "signalled.c",
        "#include <signal.h>\nstatic int count;\nstatic void on(int n) { count += n; }\nint main(void) {\n    signal(SIGUSR1, on);\n    signal(SIGUSR2, on);\n    raise(SIGUSR1);\n    raise(SIGUSR2);\n    return count;\n}\n",
    );
    let path = source.to_str().expect("plain path");
    let run = batch(
        path,
        &[
            "handle SIGUSR1 stop nopass",
            "handle SIGUSR2 print",
            "handle",
            "run",
            "why",
            "c",
        ],
    );
    assert!(
        run.stdout.contains("SIGUSR1: stop nopass\nSIGUSR2: print"),
        "{run:#?}"
    );
    assert!(
        run.stdout
            .contains("stopped by SIGUSR1: sent by the program itself (kept from the program)"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("SI_TKILL"), "{run:#?}");
    assert!(
        run.stdout.contains("SIGUSR2: sent by the program itself"),
        "{run:#?}"
    );
    assert_eq!(run.code, Some(12), "only SIGUSR2 came: {run:#?}");
}

#[test]
fn a_sanitizers_report_is_told_where_the_error_is_and_its_whole_text_by_why() {
    let source = write(
        "sanitized.c",
        "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv) {\n    char *text = malloc(4);\n    text[argc + 3] = 0;\n    return 0;\n}\n",
    );
    let program = source.with_extension("");
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-fsanitize=address", "-o"]);
    let compiled = gcc.arg(&program).arg(&source).status();
    assert!(compiled.is_ok_and(|status| status.success()));
    let run = batch(
        program.to_str().expect("plain path"),
        &["run", "catch", "catch rust_panic off", "why", "c"],
    );
    let mut lines = run.stdout.lines();
    let stop = lines.find(|line| line.starts_with("stopped at a sanitizer's report, thread "));
    assert!(stop.is_some(), "{run:#?}");
    let told = lines.next().unwrap_or_default();
    assert!(
        told.starts_with("AddressSanitizer: heap-buffer-overflow on address 0x"),
        "{run:#?}"
    );
    for part in [
        "\nWRITE of size 1 at 0x",
        "→    5      text[argc + 3] = 0;",
        "sanitizers: on (Sanitizers: reports)\nfaults: on",
        "rust_panic: off (Rust: panic); the program has nothing for it so far\n",
        "SUMMARY: AddressSanitizer: heap-buffer-overflow ",
        "allocated by thread T0 here:",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run:#?}");
    }
    assert!(!run.stdout.contains("rust_uncaught"), "{run:#?}");
    assert_eq!(run.code, Some(1), "{run:#?}");
}
