//! Commands of gdb and lldb that users are accustomed to: each is translated to one of Dapple's, or answered with the alternative.

use anyhow::bail;

/// The meaning of another debugger's command.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    /// A command of Dapple's, which gets the same arguments.
    Same(&'static str),
    /// No equivalent; the text says what to use instead.
    Said(&'static str),
}

use Meaning::{Said, Same};

const NOTHING_TO_SET: &str = "there is nothing to set; `help` lists the commands";
const NO_SWITCH: &str =
    "`condition N false` has breakpoint N stop nowhere, `condition N` everywhere again";
const NO_DISPLAY: &str = "nothing is shown at each stop but the source; `print` shows a value, `watch` stops where one changes";
const NAMES: &str = "`break NAME` finds functions by their names or the ends of them, and says which are similar; `type NAME` shows a value's type";
const NO_SHELL: &str = "it runs no other programs; Ctrl-Z puts it aside";
const NO_WINDOWS: &str =
    "each stop shows the source around it; `list` shows more, `disassemble` the instructions";

/// Longer entries precede their prefixes. No entry begins with a whole command of Dapple's that takes the rest as its argument.
static WORDS: &[(&str, Meaning)] = &[
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
        Said("`hits N >= COUNT` has breakpoint N stop from that hit on"),
    ),
    (
        "set args",
        Said("arguments follow the program: `dapple debug PROGRAM ARGS`"),
    ),
    ("show", Said(NOTHING_TO_SET)),
    ("display", Said(NO_DISPLAY)),
    ("call", Same("print")),
    ("info display", Said(NO_DISPLAY)),
    ("undisplay", Said(NO_DISPLAY)),
    ("info functions", Said(NAMES)),
    ("info types", Said(NAMES)),
    (
        "info symbol",
        Said("`x/i ADDRESS` shows what is there, with its function"),
    ),
    (
        "info line",
        Said("`frame` shows the line, `disassemble` its instructions"),
    ),
    (
        "info source",
        Said("`frame` shows the file, `list` its text"),
    ),
    (
        "clear",
        Said("`delete N` removes breakpoint N, `info breakpoints` lists them"),
    ),
    ("enable", Said(NO_SWITCH)),
    ("disable", Said(NO_SWITCH)),
    (
        "commands",
        Said("`dprintf LINE TEXT` writes whenever the program gets there"),
    ),
    ("hbreak", Same("break")),
    ("thbreak", Same("tbreak")),
    (
        "rbreak",
        Said("`break /re EXPRESSION` stops in all functions of such a name"),
    ),
    ("info sources", Said("`list` shows the text of a source")),
    ("info program", Same("info threads")),
    ("info proc", Same("info processes")),
    (
        "bt full",
        Said("`bt` shows the stack, `info locals` the variables of the frame that is selected"),
    ),
    (
        "backtrace full",
        Said("`bt` shows the stack, `info locals` the variables of the frame that is selected"),
    ),
    (
        "printf",
        Said("`print` shows values, `dprintf LINE TEXT` writes whenever the program gets there"),
    ),
    ("echo", Said("`print` shows values")),
    ("shell", Said(NO_SHELL)),
    ("!", Said(NO_SHELL)),
    ("make", Said(NO_SHELL)),
    ("tui", Said(NO_WINDOWS)),
    ("layout", Said(NO_WINDOWS)),
    (
        "source",
        Said("commands come from the standard input, or from `--ex`"),
    ),
    (
        "directory",
        Said("`dapple debug --source-map FROM=TO` says where sources are"),
    ),
    ("set listsize", Said(NOTHING_TO_SET)),
    ("set pagination", Said(NOTHING_TO_SET)),
    ("set confirm", Said(NOTHING_TO_SET)),
    ("set print pretty", Said(NOTHING_TO_SET)),
    ("set print elements", Said(NOTHING_TO_SET)),
    ("set disassembly-flavor", Said(NOTHING_TO_SET)),
    (
        "set env",
        Said("the program has the environment that `dapple debug` was started in"),
    ),
    (
        "set environment",
        Said("the program has the environment that `dapple debug` was started in"),
    ),
    (
        "set follow-fork-mode",
        Said("`dapple debug --follow-forks child` follows the child"),
    ),
    (
        "core-file",
        Said("`dapple debug --core FILE` looks at a core file"),
    ),
    (
        "core",
        Said("`dapple debug --core FILE` looks at a core file"),
    ),
    (
        "attach",
        Said("`dapple debug --attach PID|NAME` attaches to a process"),
    ),
    (
        "file",
        Said("the program is given at the start: `dapple debug PROGRAM`"),
    ),
    (
        "signal",
        Said("`handle` says what becomes of signals; none can be sent from here"),
    ),
    (
        "return",
        Said("`finish` goes on until the function returns; none can be left early"),
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
    ("process interrupt", Said("Ctrl-C pauses the program")),
    (
        "process attach",
        Said("`dapple debug --attach PID|NAME` attaches to a process"),
    ),
    (
        "breakpoint set",
        Said("`break LINE`, `break FILE:LINE` or `break FUNCTION` sets a breakpoint"),
    ),
    ("breakpoint list", Same("info breakpoints")),
    ("breakpoint delete", Same("delete")),
    (
        "breakpoint",
        Said("`break` sets a breakpoint, `info breakpoints` lists them, `delete` removes them"),
    ),
    (
        "br s",
        Said("`break LINE`, `break FILE:LINE` or `break FUNCTION` sets a breakpoint"),
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
    ("settings", Said(NOTHING_TO_SET)),
];

/// Translates a line into Dapple's commands.
///
/// # Errors
/// There is no equivalent; the message says what to use instead.
pub fn ours(line: &str) -> anyhow::Result<String> {
    let known = WORDS
        .iter()
        .filter_map(|(words, meaning)| Some((words.len(), rest_behind(line, words)?, meaning)))
        .max_by_key(|(length, ..)| *length);
    match known {
        None => Ok(line.to_owned()),
        Some((_, rest, Same("info locals"))) if !rest.is_empty() => Ok(format!("print {rest}")),
        Some((_, rest, Same(command))) => Ok(format!("{command} {rest}").trim_end().to_owned()),
        Some((length, _, Said(instead))) => {
            bail!("there is no command `{}`: {instead}", &line[..length])
        }
    }
}

/// The rest of a line that begins with these words. `x` may also be followed by `/4x`.
fn rest_behind<'l>(line: &'l str, words: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(words)?;
    let ends = rest
        .chars()
        .next()
        .is_none_or(|next| next.is_whitespace() || next == '/');
    (ends || words == "!").then(|| rest.trim())
}

/// The single-word entries with their commands.
pub fn single() -> impl Iterator<Item = (&'static str, &'static str)> {
    WORDS.iter().filter_map(|(words, meaning)| match meaning {
        Same(command) if !words.contains(' ') => Some((*words, *command)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_names_commands_that_there_are() {
        for (words, meaning) in WORDS {
            if let Same(command) = meaning {
                let first = command.split(' ').next().unwrap_or_default();
                assert!(super::super::find(first).is_ok(), "{words}: {command}");
            }
        }
    }

    #[test]
    fn what_follows_the_words_follows_the_command() {
        let ours = |line| ours(line).map_err(|error| error.to_string());
        assert_eq!(ours("vars").as_deref(), Ok("info locals"));
        assert_eq!(ours("frame variable a.b").as_deref(), Ok("print a.b"));
        assert_eq!(ours("frame 2").as_deref(), Ok("frame 2"));
        assert_eq!(ours("thread backtrace all").as_deref(), Ok("backtrace all"));
        assert_eq!(ours("xyz").as_deref(), Ok("xyz"));
        assert_eq!(ours("x/4xw p").as_deref(), Ok("x/4xw p"));
        assert_eq!(ours("memory read p").as_deref(), Ok("x p"));
        assert_eq!(ours("call f()").as_deref(), Ok("print f()"));
        let shown = ours("bt full").expect_err("no such command");
        assert!(
            shown.starts_with("there is no command `bt full`: "),
            "{shown}"
        );
        assert_eq!(ours("set printed = 3").as_deref(), Ok("set printed = 3"));
    }
}
