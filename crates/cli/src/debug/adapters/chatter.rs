//! What other adapters say that tells a user nothing, or in words that are not for users.
//!
//! Each entry was seen with an adapter, whose name is beside it. An adapter that says something else loses nothing.

/// The beginnings of lines that adapters write to the console of every session: greetings, and what is shown here in another way.
const GREETINGS: &[&str] = &[
    // lldb-dap 22
    "To get started with the debug console try ",
    "For more information visit https://lldb.llvm.org/",
    "Executable binary set to ",
    "Attached to process ",
    // CodeLLDB 1.11
    "Console is in 'commands' mode",
    "Console is in 'evaluate' mode",
    "Launching: ",
    "Launched process ",
    "Process exited with code ",
    "Stop reason: signal SIGSTOP",
    // delve 1.20
    "Type 'dlv help' for list of commands.",
    "Detaching and terminating target process",
];

/// A console's text without lines that tell nothing.
pub fn without_greetings(text: &str) -> String {
    let lines = text.lines().filter(|line| !is_greeting(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_greeting(line: &str) -> bool {
    let starts = GREETINGS.iter().any(|start| line.starts_with(start));
    // lldb-dap: `Process 4711 exited with status = 0 (0x00000000)`. The event `exited` says it, too.
    let ends = line.starts_with("Process ") && line.contains(" exited with status = ");
    starts || ends
}

/// Whether a line is one of gdb's about a breakpoint that is told as an event, too: `Breakpoint 4 (-function order) pending.`, `Breakpoint 4 at 0x1139:
/// file a.c, line 3.`, and why it is pending.
pub fn is_of_gdb(line: &str) -> bool {
    let line = line.trim_end();
    let is_why = line.starts_with("❌️ No source file named /")
        || line == "❌️ No symbol table is loaded.  Use the \"file\" command.";
    let is_placed = line.ends_with(") pending.") || line.contains(" at 0x");
    is_why || line.starts_with("Breakpoint ") && is_placed
}

/// What an adapter says of a breakpoint, if it is for users.
pub fn of_breakpoint(message: &str) -> Option<&str> {
    // js-debug: `breakpoint.provisionalBreakpoint`, the name of a text that it has not found.
    let is_name = !message.trim().contains(char::is_whitespace) && message.contains('.');
    // CodeLLDB: the count of places, for each breakpoint.
    let is_count = message.starts_with("Resolved locations: ");
    (!is_name && !is_count).then_some(message)
}

/// An error's sentence without the stack of the adapter's own code.
pub fn of_error(sentence: &str) -> String {
    // debugpy and CodeLLDB: Python's text, whose indented lines are the stack.
    if let Some(stack) = sentence.strip_prefix("Traceback (most recent call last):") {
        let from = { stack.lines().skip(1) }.skip_while(|line| line.starts_with([' ', '\t']));
        let error = from.collect::<Vec<_>>().join("\n");
        let error = error.trim();
        if !error.is_empty() {
            return error
                .strip_prefix("Exception: ")
                .unwrap_or(error)
                .to_owned();
        }
    }
    // js-debug: `Uncaught ReferenceError ReferenceError: x is not defined`, and the stack of the evaluated text.
    let lines = { sentence.lines() }.filter(|line| !line.starts_with("    at "));
    let plain = lines.collect::<Vec<_>>().join("\n");
    let plain = plain.strip_prefix("Uncaught ").unwrap_or(&plain);
    match plain.split_once(' ') {
        Some((kind, rest)) if rest.starts_with(&format!("{kind}:")) => rest.to_owned(),
        _ => plain.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_are_dropped_and_nothing_else() {
        let text = "Executable binary set to '/a' (x86_64).\r\nAttached to process 1.\r\nwarning: no debug information";
        assert_eq!(without_greetings(text), "warning: no debug information");
        assert_eq!(
            without_greetings("Process 12 exited with status = 9 (0x9) killed\n"),
            ""
        );
        assert!(is_of_gdb("❌️ No source file named /a.c.\n"));
        assert!(is_of_gdb("Breakpoint 1 (-source /a.c -line 3) pending.\n"));
        assert!(is_of_gdb("Breakpoint 2 at 0x1139: file /a.c, line 3.\n"));
        assert!(!is_of_gdb("Breakpoint 2, main ()\n"));
        assert_eq!(
            without_greetings("Process 12 stopped"),
            "Process 12 stopped"
        );
    }

    #[test]
    fn of_a_breakpoint_only_sentences_are_shown() {
        assert_eq!(of_breakpoint("breakpoint.provisionalBreakpoint"), None);
        assert_eq!(of_breakpoint("Resolved locations: 1"), None);
        let sentence = "no line 99 in a.rs";
        assert_eq!(of_breakpoint(sentence), Some(sentence));
    }

    #[test]
    fn an_error_is_told_without_the_stack_behind_it() {
        let python = "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nNameError: name 'x' is not defined\n";
        assert_eq!(of_error(python), "NameError: name 'x' is not defined");
        let deeper = "Traceback (most recent call last):\n  File \"a.py\", line 9\n    raise\nException: error: use of undeclared identifier 'x'\n    1 | x\n";
        assert_eq!(
            of_error(deeper),
            "error: use of undeclared identifier 'x'\n    1 | x"
        );
        let javascript =
            "Uncaught ReferenceError ReferenceError: x is not defined\n    at eval (repl:1:1)\n";
        assert_eq!(of_error(javascript), "ReferenceError: x is not defined");
        assert_eq!(of_error("no such variable"), "no such variable");
        assert_eq!(
            of_error("Traceback (most recent call last):"),
            "Traceback (most recent call last):"
        );
    }
}
