//! gdb's commands, in the order of its manual's chapters.

use super::Meaning::{Advice, Differs, Missing, Ours, Same};
use super::{
    ATTACH, CORE, Group, NO_LEAVING, NO_SHELL, NO_SYMBOL_FILES, NO_WINDOWS, PROGRAM, REMOTE,
    SETTING, SINGLE,
};

const SCRIPTING: &str =
    "no language is built in; `--json` lets a program in any language drive the session";
const TRACEPOINTS: &str =
    "tracepoints are not supported; `log LINE MESSAGE` writes values without stopping";
const BY_FRAME: &str = "`bt` shows the numbers, `frame N` selects one";
const INSTRUCTION_HISTORY: &str =
    "instructions are not listed; `reverse-nexti` and `reverse-step` go back in a recorded program";
const MEMORY_TO_FILE: &str =
    "memory is written to a file only as a core file: `gcore FILE`; `x` shows it";
const TAGS: &str = "memory tags are not read";
const MACROS: &str = "macros are not in the debug information that is read";
const REMEMBERED: &str =
    "only a recorded program has earlier states: `bookmark` keeps this one, `goto N` leads back";
const OTHER_PROGRAMS: &str =
    "one program is debugged at a time, with its children by `dapple debug --follow-forks both`";
const CONDITIONALS: &str =
    "scripts have no conditions and loops; `--json` lets a program drive the session";
const CATCH_ONCE: &str =
    "`catch` lists what it can stop at; `catch FILTER off` takes it back after the stop";
const CATCH_CALLS: &str = "`break` on the function that makes the call (`b dlopen`, `b fork`) stops there; \
                           `dapple debug --follow-forks` debugs children";
const WITH: &str = "formats are given with the value: `p/x flags`, `p -full text`";

pub static GROUPS: &[Group] = &[
    Group {
        title: "Running",
        prefixes: &[""],
        rows: &[
            ("run, r", Ours),
            ("start", Ours),
            (
                "starti",
                Advice(
                    "`start` stops in main; `\"stopOnEntry\": true` in `--launch` stops before the first instruction",
                ),
            ),
            ("continue, c, fg", Same("continue")),
            ("next, n", Ours),
            ("step, s", Ours),
            ("stepi, si", Ours),
            ("nexti, ni", Ours),
            ("finish, fin", Ours),
            ("until, u, advance", Ours),
            ("jump, j", Ours),
            ("return", Missing(NO_LEAVING)),
            ("call", Same("print")),
            ("kill, k", Ours),
            ("kill inferiors", Same("kill")),
            ("detach, disconnect", Same("detach")),
            ("detach inferiors", Same("detach")),
            ("interrupt", Ours),
            (
                "stop",
                Missing("hooks don't exist; `display EXPRESSION` shows a value at each stop"),
            ),
            ("attach", Advice(ATTACH)),
            ("handle", Ours),
            (
                "signal, queue-signal",
                Advice(
                    "`p raise(10)` has the program send itself one; `handle` says what becomes of it",
                ),
            ),
            ("taas", Same("thread apply all")),
            (
                "tfaas",
                Advice("`thread apply all bt full` shows the variables of all frames"),
            ),
            ("thread, t", Ours),
            ("thread apply, thread apply all", Ours),
            (
                "thread find",
                Advice("`info threads` lists the threads with their names"),
            ),
            (
                "thread name",
                Missing("threads keep the names that the program gives them"),
            ),
            (
                "task",
                Differs(
                    "Ada's tasks are not known; `tasks` and `task` are about those of Rust's executors",
                ),
            ),
            ("inferior", Same("process")),
            (
                "add-inferior, clone-inferior, remove-inferiors",
                Missing(OTHER_PROGRAMS),
            ),
            (
                "checkpoint, delete checkpoint, detach checkpoint",
                Advice(REMEMBERED),
            ),
            (
                "restart",
                Advice(
                    "`run` starts the program again; `goto N` leads back to a `bookmark` of a recorded program",
                ),
            ),
        ],
    },
    Group {
        title: "Running backwards",
        prefixes: &[""],
        rows: &[
            (
                "record",
                Differs("`record on`, or `dapple debug --record PROGRAM` from its beginning"),
            ),
            ("rec", Same("record")),
            (
                "record full, rec full, record btrace, rec btrace, record b, rec b",
                Same("record on"),
            ),
            (
                "record stop, record s, rec stop, rec s, record delete, record del, record d, rec delete, rec del, rec d",
                Missing("a recording goes on until the program ends or is let go"),
            ),
            (
                "record save, rec save, record full restore, rec full restore",
                Advice("`dapple record PROGRAM` writes a recording that `dapple replay` debugs"),
            ),
            (
                "record goto begin, record goto start, rec goto begin, rec goto start",
                Same("goto beginning"),
            ),
            ("record goto end, rec goto end", Same("goto present")),
            (
                "record goto, rec goto",
                Advice("`goto` leads to a bookmark or to a write that `who` has found"),
            ),
            (
                "record function-call-history, record instruction-history, rec function-call-history, rec instruction-history",
                Missing(INSTRUCTION_HISTORY),
            ),
            ("record bts, record pt, rec bts, rec pt", Same("record on")),
            ("reverse-continue, rc", Ours),
            ("reverse-next, rn", Ours),
            ("reverse-step, rs", Ours),
            ("reverse-finish", Ours),
            ("reverse-nexti, rni", Ours),
            (
                "reverse-stepi, rsi",
                Advice(
                    "`reverse-nexti` goes back by an instruction, over calls; `reverse-step` goes back into them by lines",
                ),
            ),
            ("info record, info rec", Same("when")),
            ("info bookmarks", Same("when")),
            ("delete bookmark", Same("bookmark -delete")),
        ],
    },
    Group {
        title: "Breakpoints",
        prefixes: &[""],
        rows: &[
            ("break, brea, bre, br, b", Same("break")),
            ("tbreak, tb", Ours),
            ("hbreak", Same("break")),
            ("thbreak", Same("tbreak")),
            ("rbreak", Same("break /re")),
            (
                "break-range",
                Missing(
                    "ranges are not supported; `break` takes a line, a function, or all functions whose names match (`/re`)",
                ),
            ),
            ("info breakpoints, info b", Ours),
            ("delete, del, d, delete breakpoints", Same("delete")),
            ("clear, cl", Same("clear")),
            ("disable, disa, dis, disable breakpoints", Same("disable")),
            ("enable, en, enable breakpoints", Same("enable")),
            (
                "enable once, enable delete, enable count, enable breakpoints once, enable breakpoints delete, enable breakpoints count",
                Advice("`tbreak` stops once; `hits N COUNT` chooses by the number of hits"),
            ),
            ("condition", Ours),
            ("ignore", Ours),
            ("commands", Ours),
            ("dprintf", Ours),
            ("watch", Ours),
            ("rwatch", Ours),
            ("awatch", Ours),
            ("info watchpoints", Same("watch")),
            ("catch", Ours),
            ("catch throw", Same("catch cpp_throw")),
            ("catch catch", Same("catch cpp_catch")),
            (
                "catch rethrow",
                Advice("`catch cpp_throw` stops there, too"),
            ),
            (
                "catch signal",
                Advice("`handle SIGUSR1 stop` stops at a signal, `catch signals` at all others"),
            ),
            (
                "catch exec, catch fork, catch vfork, catch load, catch unload, catch syscall",
                Missing(CATCH_CALLS),
            ),
            (
                "catch assert, catch exception, catch handlers",
                Missing("Ada's exceptions are not known; `catch` lists what it can stop at"),
            ),
            ("tcatch", Advice(CATCH_ONCE)),
            ("save, save breakpoints", Ours),
            ("skip", Ours),
            ("skip file, skip function", Same("skip")),
            ("skip delete", Ours),
            (
                "skip enable, skip disable",
                Advice("`skip delete PATTERN` has code entered again, `skip PATTERN` not"),
            ),
            ("info skip", Same("skip")),
        ],
    },
    Group {
        title: "The stack",
        prefixes: &[""],
        rows: &[
            ("backtrace, bt, where", Ours),
            ("info stack, info s", Same("backtrace")),
            ("frame, f", Ours),
            ("frame level, select-frame", Same("frame")),
            ("select-frame level", Same("frame")),
            (
                "frame address, frame function, frame view, select-frame address, select-frame function, select-frame view",
                Advice(BY_FRAME),
            ),
            (
                "frame apply, frame apply all, frame apply level, faas",
                Advice("`bt full` shows the variables of all frames, `bt -args` their arguments"),
            ),
            ("up", Ours),
            ("down, dow, do", Same("down")),
            ("up-silently", Same("up")),
            ("down-silently", Same("down")),
            ("info frame, info f", Same("frame")),
            ("info frame level", Same("frame")),
            (
                "info frame address, info frame function, info frame view",
                Advice(BY_FRAME),
            ),
            ("info locals", Ours),
            ("info args", Ours),
            (
                "info frame-filter, enable frame-filter, disable frame-filter",
                Missing("frames are not filtered by scripts; `bt all` shows those of libraries"),
            ),
            (
                "info unwinder, enable unwinder, disable unwinder",
                Missing("no scripts unwind the stack"),
            ),
        ],
    },
    Group {
        title: "Values and memory",
        prefixes: &[""],
        rows: &[
            ("print, inspect, p, print-object, po", Same("print")),
            ("output", Same("print")),
            ("printf", Ours),
            ("echo", Ours),
            ("explore", Same("print")),
            ("explore type", Same("type")),
            ("explore value", Same("print")),
            ("ptype, whatis", Same("type")),
            ("display", Ours),
            ("undisplay, delete display", Same("undisplay")),
            ("info display", Same("display")),
            (
                "enable display, disable display",
                Advice("`undisplay N` takes a value away, `display EXPRESSION` brings it back"),
            ),
            ("set, set variable, set var", Ours),
            ("x", Ours),
            ("find", Ours),
            ("info registers, info r", Same("registers")),
            ("info all-registers", Same("registers all")),
            (
                "info float, info vector",
                Advice("`registers` names the groups of registers, `registers xmm0` shows one"),
            ),
            ("disassemble", Ours),
            (
                "info scope",
                Advice("`info locals` shows the variables where the program is"),
            ),
            (
                "info address",
                Advice("`print &NAME` shows where something is"),
            ),
            ("info symbol", Ours),
            (
                "info vtbl",
                Advice("`p *POINTER` shows an object as what it really is"),
            ),
            ("show values, show convenience, show conv", Ours),
            (
                "init-if-undefined",
                Advice("`set $i = 3` makes a variable of your own"),
            ),
            ("compile, expression", Same("print")),
            (
                "compile code, compile file, compile print",
                Missing(
                    "no compiler runs; `print` evaluates expressions, and calls functions of the program",
                ),
            ),
            ("with", Advice(WITH)),
            (
                "w",
                Differs("`w` is `watch`; formats are given with the value: `p/x flags`"),
            ),
            ("dump, append, restore", Missing(MEMORY_TO_FILE)),
            ("generate-core-file, gcore", Same("gcore")),
            (
                "mem, info mem, delete mem, enable mem, disable mem",
                Missing("memory has no attributes to set; `info mappings` shows the map"),
            ),
            ("memory-tag", Missing(TAGS)),
            ("macro, info macro, info macros", Missing(MACROS)),
            (
                "info pretty-printer, enable pretty-printer, disable pretty-printer, info type-printers, enable type-printer, disable type-printer",
                Same("natvis"),
            ),
            (
                "info xmethod, enable xmethod, disable xmethod",
                Missing(
                    "methods of the program are called (`p items.size()`); scripts can't replace them",
                ),
            ),
            (
                "function, function _any_caller_is, function _any_caller_matches, function _caller_is, function _caller_matches",
                Advice(
                    "`$called_from(\"NAME\")` in an expression tells whether a function is a caller",
                ),
            ),
            (
                "function _as_string, function _cimag, function _creal, function _gdb_maint_setting, function _gdb_maint_setting_str, function _gdb_setting, function _gdb_setting_str, function _isvoid, function _memeq, function _regex, function _streq, function _strlen",
                Missing(
                    "expressions are in the program's language: texts are compared by `==`, and its functions can be called",
                ),
            ),
        ],
    },
    Group {
        title: "Sources and files",
        prefixes: &[""],
        rows: &[
            ("list, l", Ours),
            ("+", Same("list")),
            ("info source", Ours),
            ("info sources", Ours),
            ("info line", Ours),
            ("info functions", Ours),
            ("info variables", Ours),
            ("info types", Ours),
            (
                "search, forward-search, fo, reverse-search, rev",
                Missing(
                    "sources are not searched; `list NAME` shows a function, `info functions REGEX` finds it",
                ),
            ),
            ("-", Advice("`list 10,20` shows any lines")),
            ("<", Missing(NO_WINDOWS)),
            (
                ">",
                Differs(
                    "`> TEXT` sends a text to the adapter's console; there are no windows to scroll",
                ),
            ),
            (
                "edit",
                Missing("no editor is started; `info source` has the path"),
            ),
            (
                "directory, update",
                Advice("`dapple debug --source-map FROM=TO` says where sources are"),
            ),
            ("file, exec-file", Advice(PROGRAM)),
            (
                "symbol-file, add-symbol-file, add-symbol-file-from-memory, remove-symbol-file, section, load, overlay, ov, ovly, jit-reader-load, jit-reader-unload",
                Missing(NO_SYMBOL_FILES),
            ),
            ("core-file, core", Advice(CORE)),
            ("target core", Advice(CORE)),
            ("target", Advice(REMOTE)),
            ("target exec, target native", Advice(PROGRAM)),
            ("monitor", Ours),
            ("remote, flash-erase, compare-sections", Missing(REMOTE)),
            ("cd", Ours),
            ("pwd", Same("show cwd")),
            ("path", Advice("`env PATH=…` sets it for the program")),
            (
                "info sharedlibrary, info shared, info dll, sharedlibrary",
                Same("info modules"),
            ),
            ("nosharedlibrary", Missing(NO_SYMBOL_FILES)),
            (
                "info modules, info module",
                Differs("`info modules` lists the program and its libraries, with their addresses"),
            ),
            ("info files, info target", Same("info modules")),
            (
                "save gdb-index",
                Advice(
                    "`dapple cache` manages the indexes of large programs, which are made by themselves",
                ),
            ),
            (
                "demangle",
                Missing(
                    "names are shown demangled; `info symbol ADDRESS` names what is at an address",
                ),
            ),
        ],
    },
    Group {
        title: "The program",
        prefixes: &[""],
        rows: &[
            ("info threads", Ours),
            ("info inferiors", Same("info processes")),
            ("info program", Same("info threads")),
            ("info proc", Same("info processes")),
            ("info proc mappings", Same("info mappings")),
            (
                "info proc all, info proc cmdline, info proc cwd, info proc exe, info proc files, info proc stat, info proc status",
                Advice("`info processes` has the process's id: /proc/PID has the rest"),
            ),
            (
                "info os, info auxv, info connections, info terminal, info dcache",
                Missing(
                    "/proc/PID has what the system knows of a process; `info processes` has its id",
                ),
            ),
            ("info signals, info handle", Same("handle")),
            ("info exceptions", Same("catch")),
            ("info checkpoints", Advice(REMEMBERED)),
            (
                "info tasks",
                Differs("those of Rust's executors: the same as `tasks`"),
            ),
            ("set args, show args", Ours),
            ("set environment, unset environment, show environment", Ours),
            ("set cwd, show cwd", Ours),
            ("unset", Ours),
            (
                "unset exec-wrapper, unset substitute-path, unset tdesc",
                Missing(SETTING),
            ),
            (
                "tty",
                Advice("`run < FILE > FILE` says where its input and output are"),
            ),
            (
                "info common, info selectors, info classes",
                Missing("Fortran and Objective-C are not supported"),
            ),
            (
                "info probes, enable probes, disable probes",
                Missing("probes are not listed; `break` on the function stops there"),
            ),
            (
                "maintenance, mt",
                Missing(
                    "`dapple symbols` shows what a program's debug information says, `dapple doctor` what a session needs",
                ),
            ),
        ],
    },
    Group {
        title: "Commands and scripts",
        prefixes: &[""],
        rows: &[
            ("help, h", Ours),
            ("apropos", Ours),
            ("info, inf, i", Ours),
            ("show", Ours),
            ("info set", Same("show")),
            ("quit, exit, q", Ours),
            ("source", Ours),
            ("define", Ours),
            (
                "define-prefix, document, dont-repeat, show user",
                Missing("commands of your own (`define NAME`) have no help text and no parts"),
            ),
            ("alias", Ours),
            ("if, while, eval", Missing(CONDITIONALS)),
            (
                "end",
                Advice("`end` closes the block of `define` or `commands`"),
            ),
            (
                "python, python-interactive, pi, py, guile, guile-repl, gu, gr, info guile, info gu, info extensions, info auto-load, add-auto-load-safe-path, add-auto-load-scripts-directory",
                Missing(SCRIPTING),
            ),
            (
                "interpreter-exec, new-ui",
                Advice("`dapple debug --json` is for programs"),
            ),
            ("complete", Advice("Tab completes")),
            ("shell, !, make, pipe, |", Advice(NO_SHELL)),
            ("show version", Advice("`dapple --version` shows it")),
            (
                "show commands",
                Advice("the up arrow and Ctrl-R find earlier commands"),
            ),
            (
                "show copying, show warranty, info copying, info warranty, show configuration, show info",
                Advice("`dapple --version` shows the version; the licence is MIT or Apache 2.0"),
            ),
            ("show paths", Same("env PATH")),
        ],
    },
    Group {
        title: "Windows",
        prefixes: &[""],
        rows: &[
            ("tui, tui enable", Same("tui")),
            (
                "tui disable, tui focus, tui layout, tui reg, tui refresh, tui window, tui new-layout, layout, focus, fs, refresh, winheight, wh, winwidth, info win",
                Missing(NO_WINDOWS),
            ),
        ],
    },
    Group {
        title: "Tracepoints",
        prefixes: &[""],
        rows: &[(
            "trace, trac, tra, tp, ftrace, strace, actions, collect, passcount, tdump, teval, tfind, tsave, tstart, tstatus, tstop, tvariable, while-stepping, \
             stepping, ws, agent-printf, save tracepoints, delete tracepoints, delete tr, delete tvariable, info tracepoints, info tp, info tvariables, \
             info static-tracepoint-markers",
            Missing(TRACEPOINTS),
        )],
    },
    Group {
        title: "Settings, with `set` and `show`",
        prefixes: &["set ", "show "],
        rows: &[
            (
                "listsize",
                Advice("`list 10,20` shows as many lines as you like"),
            ),
            (
                "pagination, height, width",
                Missing("nothing is paged or cut to the terminal's width"),
            ),
            ("confirm", Missing("nothing is asked before it is done")),
            (
                "print pretty, print array, print array-indexes, print union, print object, print vtbl, print static-members, print symbol, print address, print finish",
                Missing(
                    "values are opened up over lines where they are long, with what pointers point to",
                ),
            ),
            (
                "print elements, print repeats, print max-depth, print characters, max-value-size",
                Advice("`p -full text` leaves nothing out"),
            ),
            (
                "print frame-arguments, print entry-values, print frame-info",
                Advice("`bt -args` shows the arguments of frames, `bt full` the variables"),
            ),
            (
                "print thread-events, print inferior-events",
                Missing("threads are not told as they come; `info threads` lists them"),
            ),
            (
                "print, p, pr, print demangle, print asm-demangle, demangle-style",
                Missing("`p -full`, `p/x` and `natvis FILE` choose how values are shown"),
            ),
            (
                "output-radix, input-radix, radix",
                Advice(
                    "`p/x`, `p/o`, `p/t` show numbers in another base, `0x10` and `0b10` are understood",
                ),
            ),
            (
                "disassembly-flavor, disassembler-options",
                Missing("instructions are shown in Intel's syntax"),
            ),
            (
                "disassemble-next-line",
                Advice("`stepi` shows the instruction that is next, `disassemble` those around it"),
            ),
            (
                "follow-fork-mode, detach-on-fork, follow-exec-mode, schedule-multiple",
                Advice("`dapple debug --follow-forks child` follows the child, `both` debugs all"),
            ),
            ("scheduler-locking, non-stop, observer", Missing(SINGLE)),
            (
                "breakpoint pending, breakpoint",
                Missing("a breakpoint whose code isn't loaded yet is kept, and set when it is"),
            ),
            (
                "can-use-hw-watchpoints",
                Missing("the processor watches: four places of up to eight bytes"),
            ),
            (
                "backtrace, backtrace limit, backtrace past-main",
                Advice(
                    "`bt 5` and `bt -5` show a part of the stack, `bt all` also frames of libraries one by one",
                ),
            ),
            (
                "substitute-path, directories, sysroot, solib-search-path, solib-absolute-prefix",
                Advice("`dapple debug --source-map FROM=TO` says where sources are"),
            ),
            (
                "debug-file-directory, debuginfod, debuginfod enabled, debuginfod urls",
                Advice(
                    "`dapple debug --debuginfod` asks the servers of DEBUGINFOD_URLS; files of debug information are found where distributions put them",
                ),
            ),
            (
                "disable-randomization",
                Advice("`\"randomize\": true` in `--launch` lets addresses differ in each run"),
            ),
            (
                "startup-with-shell, exec-wrapper",
                Missing(
                    "no shell starts the program: its arguments are split as a shell does, and nothing is expanded",
                ),
            ),
            (
                "inferior-tty",
                Advice("`run < FILE > FILE` says where its input and output are"),
            ),
            (
                "step-mode, skip-solib-deps",
                Advice("`skip` says which code steps don't enter"),
            ),
            (
                "stop-on-solib-events",
                Missing("`break dlopen` stops where a library is loaded"),
            ),
            (
                "unwindonsignal, unwind-on-terminating-exception, unwind-on-signal, unwind-on-timeout",
                Missing("a function that is called and crashes is left, and all is as before"),
            ),
            (
                "history, history save, history size, history filename, history expansion, history remove-duplicates",
                Missing("the last 2000 lines are kept in ~/.local/state/dapple/history"),
            ),
            (
                "logging, logging enabled, logging file, trace-commands",
                Advice(
                    "`dapple debug … | tee FILE` keeps what is shown, `--log FILE` the messages of the protocol",
                ),
            ),
            (
                "style, style enabled",
                Advice(
                    "`dapple debug --color never`, or NO_COLOR in the environment, shows no colours",
                ),
            ),
            (
                "prompt, extended-prompt, editing, annotate, interactive-mode, startup-quietly, verbose, complaints, suppress-cli-notifications",
                Missing(
                    "the prompt and the messages are as they are; `--batch` and `--json` are for scripts",
                ),
            ),
            (
                "language",
                Missing("expressions are in the language of the selected frame"),
            ),
            ("exec-direction", Advice("`rn`, `rs` and `rc` go backwards")),
            (
                "record, rec, record full, record full insn-number-max",
                Missing(
                    "`checkpoints` and `checkpointMemory` in `--launch` say what is kept of a recorded program",
                ),
            ),
            (
                "auto-load, auto-load safe-path, python, guile, gu, g, script-extension",
                Missing(SCRIPTING),
            ),
            (
                "architecture, processor, endian, osabi, gnutarget, cp-abi",
                Missing("the program's file says it"),
            ),
            ("tui", Missing(NO_WINDOWS)),
            (
                "remote, tcp, serial, remotetimeout, tdesc, mi-async",
                Missing(REMOTE),
            ),
            (
                "debug",
                Advice("`dapple debug --log FILE` writes the messages of the protocol"),
            ),
            (
                "write, may-write-memory, may-write-registers, may-call-functions, may-insert-breakpoints, may-interrupt",
                Missing("files are never written, a running program may be changed"),
            ),
            (
                "dprintf-style, dprintf-function, dprintf-channel",
                Missing("the debugger writes the messages of `log`"),
            ),
            (
                "index-cache",
                Advice("`dapple cache` manages the indexes of large programs"),
            ),
            (
                "charset, host-charset, target-charset, target-wide-charset",
                Missing("texts are taken for UTF-8, wide ones for UTF-16 and UTF-32"),
            ),
            (
                "filename-display, basenames-may-differ",
                Missing("paths are shown relative to the working directory where they are in it"),
            ),
            (
                "displaced-stepping",
                Missing("threads always step past breakpoints without running into each other"),
            ),
            (
                "multiple-symbols, overload-resolution",
                Missing(
                    "`break NAME` stops in all functions of that name, an expression takes the overload that fits",
                ),
            ),
            (
                "max-completions, max-user-call-depth",
                Missing("the limits are fixed"),
            ),
            (
                "ada, agent, auto-connect-native-target, auto-solib-add, basenames, c, case-sensitive, ch, check, circular-trace-buffer, code-cache, coerce-float-to-double, \
                 compile-args, compile-gcc, data-directory, dcache, default-collect, disconnected-dprintf, disconnected-tracing, dump-excluded-mappings, \
                 exec-done-display, exec-file-mismatch, extension-language, fortran, frame-filter, libthread-db-search-path, may-insert-fast-tracepoints, \
                 may-insert-tracepoints, mem, mpx, opaque-type-resolution, range-stepping, ravenscar, remoteaddresssize, remotecache, remoteflow, remotelogbase, \
                 remotelogfile, remotewritesize, source, stack-cache, struct-convention, target-file-system-kind, trace-buffer-size, trace-notes, \
                 trace-stop-notes, trace-user, trust-readonly-sections, use-coredump-filter, use-deprecated-index-sections, varsize-limit, watchdog",
                Missing(SETTING),
            ),
        ],
    },
];
