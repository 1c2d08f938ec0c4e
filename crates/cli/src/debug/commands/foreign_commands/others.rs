//! What delve and nnd have besides, and short names of everybody's.

use super::Meaning::{Advice, Differs, Missing, Ours, Same};
use super::{Group, NO_WINDOWS, PROGRAM};

const CHECKPOINTS: &str =
    "`bookmark` keeps this moment of a recorded program, `goto N` leads back, `when` lists them";

pub static DELVE: &[Group] = &[Group {
    title: "",
    prefixes: &[""],
    rows: &[
        (
            "break",
            Differs("it takes a place, and no name in front of it: `break FILE:LINE if CONDITION`"),
        ),
        (
            "trace",
            Advice("`log PLACE MESSAGE` writes values without stopping"),
        ),
        ("breakpoints, bp", Same("info breakpoints")),
        (
            "clear",
            Differs("`clear` takes a place; `delete N` takes a number"),
        ),
        ("clearall", Same("delete all")),
        (
            "condition, cond",
            Differs("the same; `hits N COUNT` in place of `-hitcount`"),
        ),
        (
            "on",
            Advice("`commands N` runs commands whenever a breakpoint stops the program"),
        ),
        (
            "toggle",
            Advice("`disable N` and `enable N` switch a breakpoint off and on"),
        ),
        (
            "watch",
            Differs("`watch` is for changes, `rwatch` and `awatch` in place of `-r` and `-rw`"),
        ),
        (
            "continue",
            Differs("`until PLACE` in place of `continue PLACE`"),
        ),
        ("stepout", Same("finish")),
        (
            "so",
            Differs("`so` is `source`, as in gdb; `fin` goes on until the function returns"),
        ),
        ("step-instruction", Same("stepi")),
        ("next-instruction", Same("nexti")),
        (
            "rev",
            Advice("`rn`, `rs`, `rc` and `rfin` go backwards in a recorded program"),
        ),
        ("rewind", Same("reverse-continue")),
        (
            "rw",
            Differs("`rw` is `rwatch`, as in gdb; `rc` runs a recorded program backwards"),
        ),
        (
            "check, checkpoints, clear-checkpoint, clearcheck",
            Advice(CHECKPOINTS),
        ),
        (
            "rebuild",
            Advice(
                "`run` starts the program again; what cargo or a source file makes is built again",
            ),
        ),
        ("locals", Same("info locals")),
        ("vars", Same("info variables")),
        ("args", Same("info args")),
        (
            "print, display",
            Differs(
                "the format stands behind a slash: `p/x flags`, `display/x flags`; `undisplay N` takes one away",
            ),
        ),
        (
            "set, whatis",
            Differs("the same, with an expression in the program's language"),
        ),
        ("regs", Ours),
        (
            "examinemem",
            Advice("`x/16xb ADDRESS` shows memory: how many, in which format, and how large each"),
        ),
        ("stack", Same("backtrace")),
        (
            "frame, up, down",
            Differs("they select a frame; the command for it stands on the next line"),
        ),
        ("thread, tr", Same("thread")),
        ("threads", Same("info threads")),
        ("goroutines, grs", Same("info threads")),
        ("goroutine, gr", Same("thread")),
        (
            "deferred",
            Missing("it is a thing of Go; `break` on the deferred function stops in it"),
        ),
        ("funcs", Same("info functions")),
        ("types", Same("info types")),
        (
            "packages",
            Advice("`info functions ^PACKAGE` lists functions by the beginning of their names"),
        ),
        ("libraries", Same("info modules")),
        ("sources", Same("info sources")),
        ("ls", Same("list")),
        (
            "source",
            Differs("the file has commands of this debugger, and no program in Starlark"),
        ),
        ("target switch", Same("process")),
        (
            "target follow-exec",
            Advice("`dapple debug --follow-forks both` debugs the children, too"),
        ),
        (
            "transcript",
            Advice("`dapple debug … | tee FILE` keeps what is shown"),
        ),
        (
            "config",
            Advice(
                "`~/.config/dapple/init` has commands for the start; `alias` and `skip` go there",
            ),
        ),
        (
            "ed",
            Missing("no editor is started; `info source` has the path"),
        ),
    ],
}];

/// A row of nnd's table. nnd has no commands: what it does, it does by keys.
pub struct Keys {
    /// The keys, as nnd's help writes them, or what nnd does without one.
    pub keys: &'static str,
    /// What they do.
    pub what: &'static str,
    /// The names of these actions in nnd's configuration.
    #[cfg_attr(not(test), expect(dead_code, reason = "compared with nnd's own list"))]
    pub actions: &'static str,
    /// What does it here.
    pub here: &'static str,
}

const fn keys(
    keys: &'static str,
    what: &'static str,
    actions: &'static str,
    here: &'static str,
) -> Keys {
    Keys {
        keys,
        what,
        actions,
        here,
    }
}

pub static NND: &[Keys] = &[
    keys("r", "start", "Run", "`run`"),
    keys("c", "continue", "Continue", "`continue`"),
    keys("p, C-c", "suspend", "Suspend", "Ctrl-C"),
    keys("C-k", "kill", "Kill", "`kill`"),
    keys(
        "M-k",
        "send SIGINT",
        "SendSigint",
        "`handle SIGINT nostop pass`, then Ctrl-C",
    ),
    keys("C-q", "quit, or detach", "Quit", "`quit`; `detach`"),
    keys(
        "s",
        "step into a line; before the start: run to main",
        "StepIntoLine",
        "`step`; `start`",
    ),
    keys("n", "step over a line", "StepOverLine", "`next`"),
    keys(
        "m",
        "step over a statement",
        "StepOverColumn",
        "`next statement`, `step statement`",
    ),
    keys(
        "S, N",
        "step by an instruction",
        "StepIntoInstruction, StepOverInstruction",
        "`stepi`, `nexti`",
    ),
    keys("f", "step out", "StepOut", "`finish`"),
    keys(
        "F",
        "step out of the function that inlined frames are in",
        "StepOutNoInline",
        "`frame N` of that function, then `finish`",
    ),
    keys("C", "run to the cursor", "StepToCursor", "`until LINE`"),
    keys(
        "",
        "stepping into a chosen call of the line",
        "",
        "`step NAME`; `targets` lists the calls",
    ),
    keys(
        "[, ]",
        "select a frame",
        "PreviousStackFrame, NextStackFrame",
        "`down`, `up`, `frame N`",
    ),
    keys(
        "{, }",
        "select a thread",
        "PreviousThread, NextThread",
        "`thread N`; `info threads` lists them",
    ),
    keys(
        "Enter, Del",
        "set, switch off and delete a breakpoint, add and delete a watch",
        "Enter, DeleteRow",
        "`break`, `disable N`, `enable N`, `delete N`; `display EXPRESSION`, `undisplay N`",
    ),
    keys(
        "M-Enter",
        "edit a breakpoint's condition",
        "EditCondition",
        "`condition N EXPRESSION`",
    ),
    keys(
        "b, B, M-b, M-B",
        "stop where a value is written or read, also with a condition",
        "DataWriteBreakpoint, DataReadWriteBreakpoint, ConditionalDataWriteBreakpoint, ConditionalDataReadWriteBreakpoint",
        "`watch EXPRESSION`, `awatch EXPRESSION`; `condition N EXPRESSION`",
    ),
    keys(
        "o",
        "find a function, a file, or a variable",
        "Open",
        "Tab behind `b `; `info functions REGEX`, `info sources TEXT`, `info variables REGEX`",
    ),
    keys(
        "t",
        "find a type",
        "FindType",
        "`info types REGEX`; `ptype NAME`",
    ),
    keys(
        "g",
        "go to a line or an address",
        "GoToLine",
        "`list LINE`; `disassemble ADDRESS`",
    ),
    keys(
        "/, M-g, M-G",
        "find in the source, filter threads",
        "Find, NextMatch, PreviousMatch",
        "sources are not searched: `list NAME` shows a function. `thread apply all bt` shows equal stacks once, `info locks` who waits for whom, `tasks` the tasks of executors",
    ),
    keys(
        "., ,",
        "the addresses of a line, the levels of inlined functions",
        "NextLocation, PreviousLocation",
        "`info line N`; `bt` has a frame for each inlined function",
    ),
    keys(
        "+",
        "sort threads by processor time",
        "ToggleSort",
        "`info threads` is in the order of their start",
    ),
    keys(
        "d, D, y",
        "copy a watch, an address, a value",
        "DuplicateRow, AddValueRefWatch, CopyValue",
        "`display EXPRESSION`, `p &EXPRESSION`; `p -full EXPRESSION` shows the whole value",
    ),
    keys(
        "Tab",
        "the whole of a long value or path",
        "Tooltip",
        "`p -full EXPRESSION`; `info frame`, `info source`",
    ),
    keys(
        "digits, M-arrows, C-t, M-t, C-w, C-PgUp, C-PgDn, arrows, PgUp, PgDn, Home, End",
        "windows for source, stack, threads and watches, their tabs, and the cursor in them",
        "WindowUp, WindowDown, WindowLeft, WindowRight, Window0, Window1, Window2, Window3, Window4, Window5, Window6, Window7, Window8, Window9, \
         NextTab, PreviousTab, CloseTab, ReorderRowUp, ReorderRowDown, CursorUp, CursorDown, CursorLeft, CursorRight, PageUp, PageDown, Home, End",
        NO_WINDOWS,
    ),
    keys("?, h", "help", "Help", "`help`, `help COMMAND`"),
    keys(
        "Esc, C-g",
        "close a dialog",
        "Cancel",
        "Ctrl-C at the prompt drops the line",
    ),
    keys(
        "C-l, C-p",
        "drop what is cached, show how long drawing takes",
        "DropCaches, ToggleProfiler",
        "nothing is drawn, and what is read is read anew after each stop",
    ),
    keys("", "disassembly with its source lines", "", "`disassemble`"),
    keys(
        "",
        "an object as the class that it really is",
        "",
        "values are shown as what they really are, by themselves",
    ),
    keys(
        "",
        "containers without their insides",
        "",
        "by themselves; `natvis FILE` for your own types",
    ),
    keys(
        "",
        "opening a core file, writing one",
        "",
        "`dapple debug --core FILE`; `gcore FILE`",
    ),
];

/// Names that several debuggers and editors have.
pub static SHORT: &[Group] = &[Group {
    title: "",
    prefixes: &[""],
    rows: &[
        ("variables", Same("info locals")),
        ("arguments", Same("info args")),
        ("modules", Same("info modules")),
        ("processes", Same("info processes")),
        ("pp", Same("print")),
        ("target remote", Advice(super::REMOTE)),
        ("exec-file", Advice(PROGRAM)),
    ],
}];
