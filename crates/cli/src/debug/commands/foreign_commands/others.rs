//! What delve and nnd have besides, and short names of everybody's.

use super::Meaning::{Advice, Differs, Missing, Ours, Same};
use super::{Group, NO_WINDOWS, PROGRAM};

pub static DELVE: &[Group] = &[Group {
    title: "",
    prefixes: &[""],
    rows: &[
        ("breakpoints, bp", Same("info breakpoints")),
        ("clearall", Same("delete all")),
        (
            "on",
            Advice("`commands N` runs commands whenever a breakpoint stops the program"),
        ),
        (
            "toggle",
            Advice("`disable N` and `enable N` switch a breakpoint off and on"),
        ),
        ("stepout", Same("finish")),
        ("step-instruction", Same("stepi")),
        ("next-instruction", Same("nexti")),
        (
            "rev",
            Advice("`rn`, `rs`, `rc` and `rfin` go backwards in a recorded program"),
        ),
        ("rewind", Same("reverse-continue")),
        (
            "check, checkpoints, clear-checkpoint",
            Advice(
                "`bookmark` keeps this moment of a recorded program, `goto N` leads back, `when` lists them",
            ),
        ),
        (
            "rebuild",
            Advice(
                "`run` starts the program again; what cargo or a source file makes is built again",
            ),
        ),
        ("locals", Same("info locals")),
        ("vars", Same("info locals")),
        ("args", Same("info args")),
        ("regs", Ours),
        ("stack", Same("backtrace")),
        ("threads", Same("info threads")),
        (
            "goroutines, goroutine, grs",
            Advice("`tasks` and `task N` are the same for the tasks of Rust's executors"),
        ),
        ("deferred", Missing("it is a thing of Go")),
        ("funcs", Same("info functions")),
        ("types", Same("info types")),
        ("packages, libraries", Same("info modules")),
        ("sources", Same("info sources")),
        ("examinemem", Same("x")),
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
        (
            "display, watch, whatis, condition, set, source, frame, up, down",
            Differs("the same, with an expression in the program's language"),
        ),
    ],
}];

/// nnd has no commands: what it does, it does by keys.
pub static NND: &[(&str, &str)] = &[
    ("windows for source, stack, threads and watches", NO_WINDOWS),
    (
        "watch expressions that stay",
        "`display EXPRESSION` shows a value at each stop",
    ),
    (
        "a search for functions, files and types as you type",
        "Tab behind `b ` completes functions and files; `info functions REGEX`, `info types REGEX` and `info sources TEXT` list them",
    ),
    (
        "stepping into a chosen call of the line",
        "`step NAME`; `targets` lists the calls",
    ),
    ("steps by statements", "`next statement`, `step statement`"),
    ("disassembly with its source lines", "`disassemble`"),
    (
        "an object as the class that it really is",
        "values are shown as what they really are, by themselves",
    ),
    (
        "containers without their insides",
        "by themselves; `natvis FILE` for your own types",
    ),
    (
        "threads filtered by what they do",
        "`thread apply all bt` shows equal stacks once, `info locks` who waits for whom, `tasks` the tasks of executors",
    ),
    ("opening a core file", "`dapple debug --core FILE`"),
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
