//! Commands of gdb and lldb that users are accustomed to: each is translated to one of Dapple's, or answered with the alternative.

use anyhow::bail;

/// The meaning of another debugger's command.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    /// A command of Dapple's, which gets the same arguments. `info locals` with arguments becomes `print`.
    Same(&'static str),
    /// No equivalent; the text says what to use instead.
    Advice(&'static str),
}

use Meaning::{Advice, Same};

const NOTHING_TO_SET: &str = "there is nothing to set; `help` lists the commands";
const NO_SWITCH: &str =
    "`condition N false` has breakpoint N stop nowhere, `condition N` everywhere again";
const NO_DISPLAY: &str = "nothing is shown at each stop but the source; `print` shows a value, `watch` stops where one changes";
const NAMES: &str = "`break NAME` finds functions by their names or the ends of them, and says which are similar; `type NAME` shows a value's type";
const NO_SHELL: &str = "it runs no other programs; Ctrl-Z puts it aside";
const NO_WINDOWS: &str =
    "each stop shows the source around it; `list` shows more, `disassemble` the instructions";

/// Of the entries that a line begins with, the longest counts; it has precedence over a command of Dapple's.
static COMMANDS: &[(&str, Meaning)] = &[
    ("locals", Same("info locals")),
    ("vars", Same("info locals")),
    ("variables", Same("info locals")),
    ("args", Same("info args")),
    ("arguments", Same("info args")),
    ("threads", Same("info threads")),
    ("modules", Same("info modules")),
    ("processes", Same("info processes")),
    ("info inferiors", Same("info processes")),
    ("inferior", Same("process")),
    ("breakpoints", Same("info breakpoints")),
    ("inspect", Same("print")),
    ("pp", Same("print")),
    ("stack", Same("backtrace")),
    // gdb
    ("info sharedlibrary", Same("info modules")),
    ("info shared", Same("info modules")),
    ("info registers", Same("registers")),
    ("info all-registers", Same("registers all")),
    ("info stack", Same("backtrace")),
    ("info frame", Same("frame")),
    ("info watchpoints", Same("watch")),
    ("info signals", Same("handle")),
    ("br", Same("break")),
    (
        "ignore",
        Advice("`hits N >= COUNT` has breakpoint N stop from that hit on"),
    ),
    (
        "set args",
        Advice("arguments follow the program: `dapple debug PROGRAM ARGS`"),
    ),
    ("show", Advice(NOTHING_TO_SET)),
    ("display", Advice(NO_DISPLAY)),
    ("call", Same("print")),
    ("info display", Advice(NO_DISPLAY)),
    ("undisplay", Advice(NO_DISPLAY)),
    ("info functions", Advice(NAMES)),
    ("info types", Advice(NAMES)),
    (
        "info symbol",
        Advice("`x/i ADDRESS` shows what is there, with its function"),
    ),
    (
        "info line",
        Advice("`frame` shows the line, `disassemble` its instructions"),
    ),
    (
        "info source",
        Advice("`frame` shows the file, `list` its text"),
    ),
    (
        "clear",
        Advice("`delete N` removes breakpoint N, `info breakpoints` lists them"),
    ),
    ("enable", Advice(NO_SWITCH)),
    ("disable", Advice(NO_SWITCH)),
    (
        "commands",
        Advice("`dprintf LINE TEXT` writes whenever the program gets there"),
    ),
    ("hbreak", Same("break")),
    ("thbreak", Same("tbreak")),
    (
        "rbreak",
        Advice("`break /re EXPRESSION` stops in all functions of such a name"),
    ),
    ("info sources", Advice("`list` shows the text of a source")),
    ("info program", Same("info threads")),
    ("info proc", Same("info processes")),
    (
        "bt full",
        Advice("`bt` shows the stack, `info locals` the variables of the frame that is selected"),
    ),
    (
        "backtrace full",
        Advice("`bt` shows the stack, `info locals` the variables of the frame that is selected"),
    ),
    (
        "printf",
        Advice("`print` shows values, `dprintf LINE TEXT` writes whenever the program gets there"),
    ),
    ("echo", Advice("`print` shows values")),
    ("shell", Advice(NO_SHELL)),
    ("!", Advice(NO_SHELL)),
    ("make", Advice(NO_SHELL)),
    ("tui", Advice(NO_WINDOWS)),
    ("layout", Advice(NO_WINDOWS)),
    (
        "source",
        Advice("commands come from the standard input, or from `--ex`"),
    ),
    (
        "directory",
        Advice("`dapple debug --source-map FROM=TO` says where sources are"),
    ),
    ("set listsize", Advice(NOTHING_TO_SET)),
    ("set pagination", Advice(NOTHING_TO_SET)),
    ("set confirm", Advice(NOTHING_TO_SET)),
    ("set print pretty", Advice(NOTHING_TO_SET)),
    ("set print elements", Advice(NOTHING_TO_SET)),
    ("set disassembly-flavor", Advice(NOTHING_TO_SET)),
    (
        "set env",
        Advice("the program has the environment that `dapple debug` was started in"),
    ),
    (
        "set environment",
        Advice("the program has the environment that `dapple debug` was started in"),
    ),
    (
        "set follow-fork-mode",
        Advice("`dapple debug --follow-forks child` follows the child"),
    ),
    (
        "core-file",
        Advice("`dapple debug --core FILE` looks at a core file"),
    ),
    (
        "core",
        Advice("`dapple debug --core FILE` looks at a core file"),
    ),
    (
        "attach",
        Advice("`dapple debug --attach PID|NAME` attaches to a process"),
    ),
    (
        "file",
        Advice("the program is given at the start: `dapple debug PROGRAM`"),
    ),
    (
        "signal",
        Advice("`handle` says what becomes of signals; none can be sent from here"),
    ),
    (
        "return",
        Advice("`finish` goes on until the function returns; none can be left early"),
    ),
    // lldb
    ("frame variable", Same("info locals")),
    ("frame info", Same("frame")),
    ("frame select", Same("frame")),
    ("fr v", Same("info locals")),
    ("v", Same("info locals")),
    ("po", Same("print")),
    ("expression", Same("print")),
    ("expr", Same("print")),
    ("thread backtrace", Same("backtrace")),
    ("thread list", Same("info threads")),
    ("thread select", Same("thread")),
    ("thread step-in", Same("step")),
    ("thread step-over", Same("next")),
    ("thread step-out", Same("finish")),
    ("thread step-inst", Same("stepi")),
    ("thread continue", Same("continue")),
    ("thread until", Same("until")),
    ("target list", Same("info processes")),
    ("process launch", Same("run")),
    ("process continue", Same("continue")),
    ("process kill", Same("kill")),
    ("process detach", Same("detach")),
    ("thread step-inst-over", Same("nexti")),
    ("process status", Same("frame")),
    ("process interrupt", Advice("Ctrl-C pauses the program")),
    (
        "process attach",
        Advice("`dapple debug --attach PID|NAME` attaches to a process"),
    ),
    (
        "breakpoint set",
        Advice("`break LINE`, `break FILE:LINE` or `break FUNCTION` sets a breakpoint"),
    ),
    ("breakpoint list", Same("info breakpoints")),
    ("breakpoint delete", Same("delete")),
    (
        "breakpoint",
        Advice("`break` sets a breakpoint, `info breakpoints` lists them, `delete` removes them"),
    ),
    (
        "br s",
        Advice("`break LINE`, `break FILE:LINE` or `break FUNCTION` sets a breakpoint"),
    ),
    ("br l", Same("info breakpoints")),
    ("br del", Same("delete")),
    ("watchpoint set variable", Same("watch")),
    ("watchpoint set expression", Same("watch")),
    ("watchpoint list", Same("watch")),
    ("watchpoint delete", Same("delete")),
    ("register read", Same("registers")),
    ("image list", Same("info modules")),
    ("target modules list", Same("info modules")),
    ("memory read", Same("x")),
    ("source list", Same("list")),
    ("settings", Advice(NOTHING_TO_SET)),
];

/// Translates a line into Dapple's commands. A line that begins with no entry of the table stays as it is.
///
/// # Errors
/// There is no equivalent; the message says what to use instead.
pub fn translate(line: &str) -> anyhow::Result<String> {
    let known = COMMANDS
        .iter()
        .filter_map(|(words, meaning)| Some((words.len(), rest_behind(line, words)?, meaning)))
        .max_by_key(|(length, ..)| *length);
    match known {
        None => Ok(line.to_owned()),
        Some((_, rest, Same("info locals"))) if !rest.is_empty() => Ok(format!("print {rest}")),
        Some((_, rest, Same(command))) => Ok(format!("{command} {rest}").trim_end().to_owned()),
        Some((length, _, Advice(instead))) => {
            bail!("there is no command `{}`: {instead}", &line[..length])
        }
    }
}

/// The rest of a line that begins with these words; `None` if it doesn't. A format may follow without a space: `memory read/4x p`.
fn rest_behind<'l>(line: &'l str, words: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(words)?;
    let ends = rest
        .chars()
        .next()
        .is_none_or(|next| next.is_whitespace() || next == '/');
    (ends || words == "!").then(|| rest.trim())
}

/// The single-word entries that have a command of Dapple's, with that command.
pub fn single_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    COMMANDS
        .iter()
        .filter_map(|(words, meaning)| match meaning {
            Same(command) if !words.contains(' ') => Some((*words, *command)),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_names_commands_that_there_are() {
        for (words, meaning) in COMMANDS {
            if let Same(command) = meaning {
                let first = command.split(' ').next().unwrap_or_default();
                assert!(super::super::find(first).is_ok(), "{words}: {command}");
            }
        }
    }

    #[test]
    fn what_follows_the_words_follows_the_command() {
        let translated = |line| translate(line).map_err(|error| error.to_string());
        assert_eq!(translated("vars").as_deref(), Ok("info locals"));
        assert_eq!(translated("frame variable a.b").as_deref(), Ok("print a.b"));
        assert_eq!(translated("frame 2").as_deref(), Ok("frame 2"));
        assert_eq!(
            translated("thread backtrace all").as_deref(),
            Ok("backtrace all")
        );
        assert_eq!(translated("xyz").as_deref(), Ok("xyz"));
        assert_eq!(translated("x/4xw p").as_deref(), Ok("x/4xw p"));
        assert_eq!(translated("memory read p").as_deref(), Ok("x p"));
        assert_eq!(translated("call f()").as_deref(), Ok("print f()"));
        let shown = translated("bt full").expect_err("no such command");
        assert!(
            shown.starts_with("there is no command `bt full`: "),
            "{shown}"
        );
        assert_eq!(
            translated("set printed = 3").as_deref(),
            Ok("set printed = 3")
        );
    }
}
