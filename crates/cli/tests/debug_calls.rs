//! `p f()` calls functions of the program, and Ctrl-C interrupts them.

use crate::support;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::terminal::Terminal;
use crate::support::{batch, typed};

const CTRL_C: &str = "\x03";

#[test]
fn functions_are_called_and_what_goes_wrong_in_them_is_told() {
    let stop = format!("b {}", support::line("called.c", "ready"));
    let run = batch(
        "fixtures/called.c",
        &[
            &stop,
            "run",
            "p add(1, 2)",
            "p swap(here)",
            "p/x add(8, 8)",
            "set count = add(count, 1)",
            "type swap(here)",
            "p $ + 1",
            "c",
        ],
    );
    assert!(run.stdout.contains("add(1, 2) = 3\n"), "{run:#?}");
    assert!(
        run.stdout.contains("swap(here) = {x = 2, y = 1}\n"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("add(8, 8) = 0x…\n"), "{run:#?}");
    assert!(run.stdout.contains("count = 6\n"), "{run:#?}");
    assert!(
        run.stdout.contains("struct point\n  x: int\n  y: int\n"),
        "{run:#?}"
    );
    let line = support::line("called.c", "crash");
    let run = typed(
        &["fixtures/called.c"],
        &[&stop, "run", "p crash(0)", "p count", "c"],
    );
    let told = format!(
        "dapple: `crash` ran into SIGSEGV: read of address 0x…, a null pointer at called.c:{line} in `crash`; the call was aborted: registers and stack are as before, what it has written to memory stays\n"
    );
    assert!(run.stderr.contains(&told), "{run:#?}");
    assert!(run.stdout.contains("count = 5\n"), "{run:#?}");
    assert!(
        run.stdout.contains("program exited with code 0\n"),
        "{run:#?}"
    );
}

#[test]
fn ctrl_c_ends_a_call_and_no_stop_follows() {
    let stop = format!("b {}", support::line("called.c", "ready"));
    let mut terminal = Terminal::debug("fixtures/called.c".as_ref());
    terminal.command(&stop);
    terminal.command("run");
    terminal.wait_for("stopped at breakpoint 1");
    // When this is shown, the terminal is back in its own mode, so that Ctrl-C sends a signal.
    terminal.command("p (int)puts(\"now\") + spin()");
    terminal.wait_for("now\n");
    terminal.type_keys(CTRL_C);
    // By then the first call may have returned, and the second one is interrupted.
    terminal.wait_for(" was interrupted");
    terminal.command("p add(3, 4)");
    terminal.wait_for("add(3, 4) = 7");
    terminal.command("c");
    terminal.wait_for("program exited with code 0");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
    assert_eq!(shown.matches("stopped ").count(), 1, "{shown}");
}

#[test]
fn ctrl_c_ends_a_call_in_a_process_that_was_attached_to() {
    let program = support::scratch("attach").join(format!("called-{}", std::process::id()));
    support::compile("server.c", &program);
    let mut server = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut output = BufReader::new(server.stdout.take().expect("its output"));
    let dapple = env!("CARGO_BIN_EXE_dapple");
    let process = server.id().to_string();
    let words = [dapple, "debug", "--color", "never", "--attach", &process];
    let mut terminal = Terminal::run_in_workspace(&words);
    terminal.wait_for("stopped where it was, thread ");
    terminal.command("p (int)puts(\"now\") + (int)pause()");
    let mut line = String::new();
    while line != "now\n" {
        line.clear();
        output.read_line(&mut line).expect("its output");
    }
    terminal.type_keys(CTRL_C);
    terminal.wait_for("dapple: cancelled");
    terminal.command("p 3 + 4");
    terminal.wait_for("3 + 4 = 7");
    terminal.command("quit");
    terminal.wait_for("detached from the program");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
    drop(server.stdin.take());
    assert_eq!(server.wait().expect("its end").code(), Some(0));
}
