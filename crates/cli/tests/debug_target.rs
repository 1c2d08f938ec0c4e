//! `dapple debug --target`: programs behind a stub, on a terminal. `DAPPLE_GDBSERVER` names gdbserver, which then has to be there; else tests that need
//! it say so and do nothing where it isn't.

use crate::support;
use crate::support::gdbserver::gdbserver;
use crate::support::terminal::Terminal;
use std::process::Command;

const CTRL_C: &str = "\x03";

/// gdbserver would take the terminal for its program, and Ctrl-C would go there.
#[test]
fn ctrl_c_pauses_a_program_behind_a_command() {
    let Some(server) = gdbserver() else { return };
    let source = support::write(
        "ticking.c",
        "#include <stdio.h>\n\
         volatile int ticks;\n\
         int main(void)\n\
         {\n    \
             puts(\"ticking\");\n    \
             fflush(stdout);\n    \
             for (;;)\n        \
                 ticks++;\n\
         }\n",
    );
    let program = support::scratch("target").join("ticking");
    let mut compile = Command::new("gcc");
    compile.args(["-g", "-o"]).arg(&program).arg(&source);
    assert!(compile.status().is_ok_and(|status| status.success()));
    let program = program.display().to_string();
    let target = format!("|exec {server} --once - {program}");
    let dapple = support::dapple().get_program().to_owned();
    let dapple = dapple.to_str().expect("a path");
    let mut terminal =
        Terminal::run_in_workspace(&[dapple, "debug", "--target", &target, &program]);
    terminal.command("continue");
    terminal.wait_for("ticking");
    terminal.type_keys(CTRL_C);
    terminal.wait_for("stopped ");
    terminal.wait_for("main at ");
    terminal.command("print ticks != 0");
    terminal.wait_for("ticks != 0 = true");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert_eq!(status.code(), Some(0), "{shown}");
    // It was started for this session.
    let process = shown.split("created; pid = ").nth(1).expect("its number");
    let process = process.split_whitespace().next().expect("its number");
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    assert!(status.is_err(), "it is still there:\n{shown}");
}

#[test]
fn ctrl_c_gives_up_connecting() {
    let dapple = support::dapple().get_program().to_owned();
    let dapple = dapple.to_str().expect("a path");
    let target = "|echo no answer >&2; exec sleep 1000";
    let mut terminal = Terminal::run_in_workspace(&[dapple, "debug", "--target", target]);
    terminal.wait_for("no answer");
    terminal.type_keys(CTRL_C);
    let (status, shown) = terminal.end();
    assert_eq!(status.code(), Some(1), "{shown}");
    assert!(
        shown.contains("interrupted while the program was being loaded"),
        "{shown}"
    );
}
