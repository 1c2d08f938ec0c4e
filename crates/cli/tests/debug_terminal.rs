//! `dapple debug` as users run it: on a terminal, with a prompt, keys and Ctrl-C.

use crate::support;
use crate::support::write;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::terminal::Terminal;

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// A program that runs forever, and writes that it does.
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

/// A program that asks for a name and greets the user.
fn greeter() -> PathBuf {
    write(
        "greeter.c",
        "#include <stdio.h>\nint main(void) {\n    char name[32];\n    printf(\"who are you?\\n\");\n    fflush(stdout);\n    if (scanf(\"%31s\", name) != 1) return 1;\n    printf(\"hello %s\\n\", name);\n    return 5;\n}\n",
    )
}

#[test]
fn ctrl_c_leaves_a_block_of_commands() {
    let mut terminal = Terminal::debug(&greeter());
    terminal.wait_for("(dapple) ");
    terminal.type_keys("define twice\r");
    terminal.wait_for("> ");
    terminal.type_keys(CTRL_C);
    terminal.command("twice");
    terminal.wait_for("there is no command `twice`");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
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
    // A key typed before the program has the terminal would go to the prompt.
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

#[test]
fn a_program_has_the_terminal_and_what_is_said_of_it_begins_on_a_line_of_its_own() {
    let source = write(
        "asker.c",
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n    printf(\"terminal %d %d\\n\", isatty(1), isatty(2));\n    char name[32];\n    printf(\"your name: \");\n    if (scanf(\"%31s\", name) != 1) return 1;\n    write(1, \"half\", 4);\n    return 5;\n}\n",
    );
    let mut terminal = Terminal::debug(&source);
    terminal.command("b 9");
    terminal.command("run");
    terminal.wait_for("terminal 1 1");
    // Through a pipe, the output without a newline would still be buffered.
    terminal.wait_for("your name: ");
    terminal.type_keys("Ada\r");
    // The terminal has 100 columns: the message begins at the start of the next line.
    terminal.wait_for(&format!("half{}stopped at breakpoint 1", " ".repeat(99)));
    terminal.command("p name");
    terminal.wait_for("\"Ada\"");
    terminal.command("c");
    terminal.wait_for("program exited with code 5");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
}

#[test]
fn ctrl_c_pauses_a_process_that_was_attached_to_and_does_not_get_the_key() {
    let program = support::scratch("attach").join(format!("paused-{}", std::process::id()));
    support::compile("server.c", &program);
    let mut server = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let dapple = env!("CARGO_BIN_EXE_dapple");
    let process = server.id().to_string();
    let words = [dapple, "debug", "--color", "never", "--attach", &process];
    let mut terminal = Terminal::run_in_workspace(&words);
    terminal.wait_for("stopped where it was, thread ");
    let line = support::line("server.c", "work");
    terminal.command(&format!("log fixtures/server.c:{line} it works"));
    terminal.wait_for("logs ");
    terminal.command("c");
    // A key typed before the program runs would go to the prompt.
    let mut input = server.stdin.take().expect("its input");
    writeln!(input, "work").expect("it reads");
    terminal.wait_for("it works\n");
    terminal.type_keys(CTRL_C);
    terminal.wait_for("stopped by a pause");
    terminal.command("quit");
    terminal.wait_for("detached from the program");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
    drop(input);
    assert_eq!(server.wait().expect("its end").code(), Some(0));
}

#[test]
fn functions_and_files_of_the_program_are_completed_before_it_runs() {
    let folder = support::scratch("completed");
    let program = folder.join("tour");
    support::compile("tour.c", &program);
    let mut terminal = Terminal::debug(&program);
    terminal.wait_for("(dapple) ");
    terminal.type_keys("b mea\t\r");
    terminal.wait_for("breakpoint 1 on mean at ");
    terminal.wait_for("(dapple) ");
    terminal.type_keys("tb tou\t");
    terminal.wait_for("tb tour.c:");
    terminal.type_keys("20\r");
    terminal.wait_for("breakpoint 2 at ");
    terminal.wait_for("(dapple) ");
    terminal.type_keys("appli\x15hbreak mea\t\r");
    terminal.wait_for("hbreak mean");
    terminal.command("inf\x15info loca\t");
    terminal.wait_for("info locals");
    terminal.command("quit");
    let (status, shown) = terminal.end();
    assert!(status.success(), "{status}:\n{shown}");
}
