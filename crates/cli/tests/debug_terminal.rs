//! `dapple debug` as a person has it: on a terminal, with a prompt, keys and Ctrl-C.

mod support;

use std::path::PathBuf;

use support::terminal::Terminal;
use support::write;

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// Runs for ever, and shows that it does.
fn endless() -> PathBuf {
    let text = r#"
#include <stdio.h>
int main(void) {
    for (volatile unsigned long turns = 1;; turns++) {
        if (turns % 10000000 == 0) {
            printf("round and round\n");
            fflush(stdout);
        }
    }
}
"#;
    write("endless.c", text)
}

/// Asks for a name and greets.
fn greeter() -> PathBuf {
    write(
        "greeter.c",
        "#include <stdio.h>\nint main(void) {\n    char name[32];\n    printf(\"who are you?\\n\");\n    fflush(stdout);\n    if (scanf(\"%31s\", name) != 1) return 1;\n    printf(\"hello %s\\n\", name);\n    return 5;\n}\n",
    )
}

#[test]
fn ctrl_c_pauses_the_program_once_and_it_can_go_on() {
    let mut terminal = Terminal::debug(&endless());
    terminal.command("run");
    terminal.wait_for("round and round");
    terminal.type_keys(CTRL_C);
    terminal.wait_for("stopped ");
    terminal.wait_for("main at ");
    terminal.command("print turns > 0");
    terminal.wait_for("turns > 0 = ");
    terminal.command("continue");
    // A key that came before the program has the terminal would be the prompt's.
    terminal.wait_for("round and round");
    terminal.type_keys(CTRL_C);
    terminal.wait_for("stopped ");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
    assert_eq!(
        shown.matches("stopped ").count(),
        2,
        "one stop for each Ctrl-C:\n{shown}"
    );
    assert!(
        !shown.contains("exited"),
        "the program got a signal that was meant for the debugger:\n{shown}"
    );
}

#[test]
fn what_is_typed_while_the_program_runs_is_the_programs() {
    let mut terminal = Terminal::debug(&greeter());
    terminal.command("run");
    terminal.wait_for("who are you?");
    terminal.type_keys("Ada\r");
    terminal.wait_for("hello Ada");
    terminal.wait_for("program exited with code 5");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
}

#[test]
fn at_the_prompt_ctrl_c_clears_the_line_and_ctrl_d_leaves() {
    let mut terminal = Terminal::debug(&greeter());
    terminal.wait_for("(dapple) ");
    terminal.type_keys("nonsense");
    terminal.wait_for("nonsense");
    terminal.type_keys(CTRL_C);
    terminal.command("help step");
    terminal.wait_for("into calls");
    terminal.wait_for("(dapple) ");
    terminal.type_keys(CTRL_D);
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
    assert!(
        !shown.contains("no command"),
        "the cleared line was run:\n{shown}"
    );
}

#[test]
fn tab_completes_commands_and_an_empty_line_repeats_a_step() {
    let mut terminal = Terminal::debug(&greeter());
    terminal.wait_for("(dapple) ");
    terminal.type_keys("tbre\t4\r");
    terminal.wait_for("temporary breakpoint 1 at ");
    terminal.command("run");
    terminal.wait_for("→    4");
    terminal.command("next");
    terminal.wait_for("→    5");
    terminal.command("");
    terminal.wait_for("→    6");
    terminal.command("kill");
    terminal.wait_for("the program was ended");
    terminal.command("next");
    terminal.wait_for("dapple: the program is not running; `run` starts it");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
}
