//! lldb's commands.

use super::Meaning::{Advice, Differs, Missing, Ours, Same};
use super::{
    ALIAS, ATTACH, CORE, Group, NO_LEAVING, NO_SHELL, NO_SYMBOL_FILES, PROGRAM, REMOTE, SETTING,
};

const SCRIPTS: &str =
    "no language is built in; `--json` lets a program in any language drive the session";
const TRACES: &str = "traces of the processor are not read; `record on` records the program, so that it runs backwards";
const NAMES: &str = "breakpoints have numbers, and no names";
const VIEWS: &str = "`natvis FILE` says how values of your types are shown";
const PLANS: &str = "steps that have not ended have no list; Ctrl-C ends the one that runs";
const STOP_HOOK: &str = "`display EXPRESSION` shows a value at each stop, `commands N` runs commands at those of a breakpoint";
const OWN_COMMANDS: &str =
    "`define NAME` makes a command of several, `alias` gives one another name";

pub static GROUPS: &[Group] = &[
    Group {
        title: "Running",
        prefixes: &[""],
        rows: &[
            ("process launch --, process launch, run, r", Same("run")),
            (
                "process continue, thread continue, continue, c",
                Same("continue"),
            ),
            ("thread step-over, next, n", Same("next")),
            ("thread step-in, step, s, sif", Same("step")),
            ("thread step-out, finish", Same("finish")),
            ("thread step-inst, stepi, si", Same("stepi")),
            ("thread step-inst-over, nexti, ni", Same("nexti")),
            ("thread until", Same("until")),
            ("thread step-scripted", Missing(SCRIPTS)),
            (
                "thread jump",
                Advice("`jump LINE` goes on from another line"),
            ),
            ("jump, j", Ours),
            ("thread return", Missing(NO_LEAVING)),
            ("process kill, kill", Same("kill")),
            ("process detach, detach", Same("detach")),
            ("process interrupt", Same("interrupt")),
            ("process attach, attach", Advice(ATTACH)),
            ("process status", Same("frame")),
            (
                "process handle",
                Advice("`handle SIGUSR1 stop` says what becomes of a signal"),
            ),
            (
                "process signal",
                Advice(
                    "`p raise(10)` has the program send itself one; `handle` says what becomes of it",
                ),
            ),
            ("process save-core", Same("gcore")),
            (
                "process load, process unload",
                Advice("`p dlopen(\"PATH\", 2)` has the program load a library"),
            ),
            (
                "process connect, gdb-remote, kdp-remote, platform",
                Missing(REMOTE),
            ),
            (
                "process plugin, process trace, thread trace, trace",
                Missing(TRACES),
            ),
        ],
    },
    Group {
        title: "Breakpoints and watchpoints",
        prefixes: &[""],
        rows: &[
            (
                "breakpoint set, br s, breakpoint add",
                Advice(
                    "`break LINE`, `break FILE:LINE` or `break FUNCTION` sets a breakpoint; the usual options are understood: `breakpoint set -n main`, `-f FILE -l LINE`, `-r REGEX`, `-c CONDITION`, `-o true`",
                ),
            ),
            (
                "b, tbreak",
                Differs("`b 12`, `b list.h:12`, `b total`; `b /re ^parse_` for names that match"),
            ),
            ("breakpoint list, br l", Same("info breakpoints")),
            ("breakpoint delete, br del", Same("delete")),
            (
                "breakpoint clear",
                Advice("`clear LINE` removes the breakpoints of a place"),
            ),
            ("breakpoint enable, br en", Same("enable")),
            ("breakpoint disable, br dis", Same("disable")),
            (
                "breakpoint modify",
                Advice("`condition N EXPRESSION`, `ignore N COUNT` and `hits N COUNT` change one"),
            ),
            ("breakpoint command add", Same("commands")),
            (
                "breakpoint command list, breakpoint command delete, breakpoint command",
                Advice("`commands N` and `end` on the next line removes them"),
            ),
            (
                "breakpoint write",
                Advice("`save breakpoints FILE` writes them"),
            ),
            (
                "breakpoint read",
                Advice("`source FILE` reads those that `save breakpoints FILE` has written"),
            ),
            ("breakpoint name", Missing(NAMES)),
            (
                "breakpoint",
                Advice(
                    "`break` sets a breakpoint, `info breakpoints` lists them, `delete` removes them",
                ),
            ),
            (
                "watchpoint set variable, watchpoint set expression",
                Same("watch"),
            ),
            ("watchpoint list", Same("watch")),
            ("watchpoint delete", Same("delete")),
            (
                "watchpoint enable, watchpoint disable, watchpoint ignore, watchpoint modify, watchpoint command",
                Missing(
                    "a watch is set by `watch`, `rwatch` or `awatch`, and taken away by `delete N`",
                ),
            ),
            (
                "watchpoint",
                Advice(
                    "`watch EXPRESSION` watches a value, `watch` lists them, `delete N` removes one",
                ),
            ),
        ],
    },
    Group {
        title: "Threads and the stack",
        prefixes: &[""],
        rows: &[
            ("thread backtrace, bt", Same("backtrace")),
            ("thread list", Same("info threads")),
            ("thread select, t", Same("thread")),
            ("thread info", Same("thread")),
            ("thread exception, thread siginfo", Same("why")),
            ("thread plan", Missing(PLANS)),
            ("frame select, f", Same("frame")),
            ("frame info", Same("frame")),
            ("frame variable, fr v, v, var, vo", Same("info locals")),
            ("frame diagnose", Same("why")),
            (
                "frame recognizer",
                Missing(
                    "frames of libraries are recognized by themselves: `bt` shows them as one line, `skip` has steps not enter them",
                ),
            ),
            ("up, down", Ours),
        ],
    },
    Group {
        title: "Values and memory",
        prefixes: &[""],
        rows: &[
            (
                "print, p, po, dwim-print, expression, expr, e, call",
                Same("print"),
            ),
            (
                "parray, poarray",
                Advice("`p *POINTER@8` shows eight elements"),
            ),
            (
                "target variable",
                Advice("`p NAME` shows a global variable, `info variables REGEX` finds it"),
            ),
            ("display, undisplay", Ours),
            (
                "type lookup, image lookup -t, target modules lookup -t",
                Same("info types"),
            ),
            (
                "type summary, type synthetic, type filter, type format, type category",
                Advice(VIEWS),
            ),
            (
                "type",
                Differs("`type EXPRESSION` shows the type of a value; `type lookup` works as well"),
            ),
            ("memory read, x", Same("x")),
            ("memory find", Same("find")),
            (
                "memory write",
                Advice("`set *(int *)0x1234 = 3` writes memory"),
            ),
            ("memory region", Same("info mappings")),
            (
                "memory history",
                Advice("`why` says where memory was allocated and freed that a sanitizer reports"),
            ),
            ("memory tag", Missing("memory tags are not read")),
            (
                "memory",
                Advice("`x ADDRESS` shows memory, `find` searches it, `info mappings` lists it"),
            ),
            ("register read, re r", Same("registers")),
            ("register write", Advice("`set $rax = 0` writes a register")),
            (
                "register info",
                Advice("`registers rax` shows one, `type $rax` its type"),
            ),
            ("register, re", Same("registers")),
            ("disassemble, di", Same("disassemble")),
            (
                "dis",
                Differs("`disassemble`, `disas`; `dis` is `disable`, as in gdb"),
            ),
        ],
    },
    Group {
        title: "Sources, modules and targets",
        prefixes: &[""],
        rows: &[
            ("source list, list, l", Same("list")),
            ("source info", Same("info line")),
            (
                "source cache",
                Missing("sources are read again at each start of the program"),
            ),
            ("image list, target modules list", Same("info modules")),
            (
                "image lookup -a, image lookup --address, target modules lookup -a, target modules lookup --address",
                Same("info symbol"),
            ),
            (
                "image lookup -n, image lookup -F, image lookup --name, image lookup --function, target modules lookup -n, target modules lookup --name",
                Same("info functions"),
            ),
            (
                "image lookup -s, image lookup --symbol, target modules lookup -s",
                Same("info variables"),
            ),
            (
                "image lookup --type, target modules lookup --type",
                Same("info types"),
            ),
            (
                "image lookup, target modules lookup",
                Advice(
                    "`info symbol ADDRESS`, `info functions REGEX` and `info types REGEX` look things up",
                ),
            ),
            (
                "image dump, target modules dump, image show-unwind, target modules show-unwind",
                Advice("`dapple symbols` shows what a program's debug information says"),
            ),
            (
                "image search-paths, target modules search-paths",
                Advice("`dapple debug --source-map FROM=TO` says where sources are"),
            ),
            (
                "image, target modules",
                Advice("`info modules` lists the program and its libraries"),
            ),
            (
                "image add, image load, target modules add, target modules load, target symbols add, target symbols, add-dsym",
                Missing(NO_SYMBOL_FILES),
            ),
            ("target create -c, target create --core", Advice(CORE)),
            ("target create, file", Advice(PROGRAM)),
            ("target list", Same("info processes")),
            ("target select", Same("process")),
            (
                "process",
                Differs(
                    "`process N` selects a process of a program with children; lldb's commands that begin with `process` work as well",
                ),
            ),
            (
                "target delete, target dump, target frame-provider",
                Missing(
                    "one program is debugged at a time, with its children by `dapple debug --follow-forks both`",
                ),
            ),
            ("target show-launch-environment", Same("show env")),
            ("target stop-hook list", Same("display")),
            ("target stop-hook", Advice(STOP_HOOK)),
            ("target", Advice(PROGRAM)),
        ],
    },
    Group {
        title: "Settings",
        prefixes: &[""],
        rows: &[
            (
                "settings set target.run-args, settings set -- target.run-args",
                Same("set args"),
            ),
            ("settings show target.run-args", Same("show args")),
            ("settings set target.env-vars", Same("env")),
            ("settings show target.env-vars", Same("show env")),
            (
                "settings set target.source-map",
                Advice("`dapple debug --source-map FROM=TO` says where sources are"),
            ),
            (
                "settings set target.process.follow-fork-mode",
                Advice("`dapple debug --follow-forks child` follows the child"),
            ),
            (
                "settings set target.max-string-summary-length, settings set target.max-children-count",
                Advice("`p -full text` leaves nothing out"),
            ),
            (
                "settings set target.x86-disassembly-flavor",
                Missing("instructions are shown in Intel's syntax"),
            ),
            (
                "settings set target.skip-prologue, settings set target.process.thread.step-avoid-regexp",
                Advice("`skip` says which code steps don't enter"),
            ),
            ("settings", Missing(SETTING)),
            ("env", Ours),
        ],
    },
    Group {
        title: "Commands and scripts",
        prefixes: &[""],
        rows: &[
            ("help, h", Ours),
            ("apropos", Ours),
            ("quit, q, exit", Ours),
            ("command source", Same("source")),
            ("command", Same("commands")),
            ("command alias", Advice(ALIAS)),
            (
                "command unalias, command delete",
                Advice("`alias NAME =` removes a name"),
            ),
            (
                "command regex, command script, command container",
                Advice(OWN_COMMANDS),
            ),
            ("script, scripting", Missing(SCRIPTS)),
            (
                "history, session history",
                Advice("the up arrow and Ctrl-R find earlier commands"),
            ),
            (
                "session save, session",
                Advice("`dapple debug … | tee FILE` keeps what is shown"),
            ),
            ("shell", Advice(NO_SHELL)),
            ("gui", Same("tui")),
            ("version", Advice("`dapple --version` shows it")),
            (
                "log",
                Differs(
                    "`dapple debug --log FILE` writes the messages of the protocol; `log LINE MESSAGE` is for messages of a breakpoint",
                ),
            ),
            (
                "statistics, diagnostics",
                Advice("`dapple doctor` tries what a session needs"),
            ),
            (
                "plugin, protocol-server, language",
                Missing("there are no plug-ins"),
            ),
        ],
    },
];
