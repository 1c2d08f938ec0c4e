//! The table of arguments, from which values are read, and the schema, the documentation and the suggestions of editors are generated.
//!
//! To add an argument, add a row here and a test of its effect to `tests/every_argument.md`, and run `cargo xtask codegen`.

use super::aliases::ALIASES;
use super::attach::HANDED_OVER;
use super::built::{CARGO, COMMAND, VARIABLES};
use super::elsewhere::ON;
use super::launch::Console;
use super::row::{Origin, Requests, Row};
use super::{Start, remote};
use crate::argument_values::shape::{Field, Shape, Word};
use crate::argument_values::{
    boolean, file, path, paths, process_id, signals, sink, skip, stdin, string, third_party,
    variables, whole_number, words,
};
use crate::arguments::ShowDisassembly;
use crate::building::arguments;
use crate::function_names::FunctionNames;
use crate::source_map::SourceMap;
use dapple_engine::forks::FollowForks;
use dapple_engine::session::breakpoints::WhereDecided;
use serde_json::Value;

/// Arguments of the editors themselves, which VS Code's `launch.json` has beside those of the adapter.
pub const CLIENTS_OWN: [&str; 15] = [
    "type",
    "request",
    "name",
    "order",
    "presentation",
    "preLaunchTask",
    "postDebugTask",
    "internalConsoleOptions",
    "debugServer",
    "serverReadyAction",
    "suppressMultipleSessionWarning",
    "linux",
    "osx",
    "windows",
    "$schema",
];

/// The arguments of a request. Aliases come first, so that Dapple's own names override them.
pub fn rows(start: Start) -> impl Iterator<Item = &'static Row> {
    ALIASES
        .iter()
        .chain(remote::ALIASES)
        .chain(ARGUMENTS)
        .chain(remote::ARGUMENTS)
        .filter(move |row| row.is_for(start))
}

/// Keywords for a standard input that is no file.
const INPUTS: &[Word] = &[
    Word {
        word: "null",
        meaning: "nothing",
    },
    Word {
        word: "console",
        meaning: "lines that begin with `>` in the debug console",
    },
    Word {
        word: "inherit",
        meaning: "the adapter's own, where a client leaves that free",
    },
];

/// Keywords for an output that is no file.
const OUTPUTS: &[Word] = &[
    Word {
        word: "null",
        meaning: "nowhere",
    },
    Word {
        word: "console",
        meaning: "the debug console",
    },
];

/// Where output goes.
const SINK: Shape = Shape::Any(&[
    Shape::PathOr(OUTPUTS),
    Shape::Object(&[
        Field {
            name: "file",
            shape: Shape::Path,
            required: true,
            meaning: "where it goes",
        },
        Field {
            name: "append",
            shape: Shape::Boolean,
            required: false,
            meaning: "write behind what it has",
        },
    ]),
]);

/// A stream of `stdio`.
const STREAM: Shape = Shape::Any(&[Shape::PathOr(INPUTS), Shape::Null]);

/// A boolean, or the object of cpptools.
const DEBUGINFOD: Shape = Shape::Any(&[
    Shape::Boolean,
    Shape::Object(&[
        Field {
            name: "enabled",
            shape: Shape::Boolean,
            required: false,
            meaning: "whether they are asked; `true` if it is left out",
        },
        Field {
            name: "timeout",
            shape: Shape::Number,
            required: false,
            meaning: "not used here: nothing waits for them",
        },
    ]),
]);

/// Dapple's own arguments, in the order of the documentation.
pub const ARGUMENTS: &[Row] = &[
    Row {
        name: "program",
        requests: Requests::Launch,
        shape: Shape::Path,
        default: None,
        description: "The executable to debug; of a source file (`.c`, `.cpp`, `.rs`) or a folder with a `Cargo.toml`, its program is built first.",
        example: r#""/home/me/app/target/debug/app""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.program = path(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "cargo",
        requests: Requests::Launch,
        shape: CARGO,
        default: None,
        description: "Instead of `program`, what cargo is to build: the arguments of `cargo run`, `test`, `bench` or `build`, and what goes with them.",
        example: r#"{"args": ["test", "--lib"]}"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.cargo = Some(arguments::cargo(name, value)?);
            Ok(())
        },
    },
    Row {
        name: "build",
        requests: Requests::Launch,
        shape: COMMAND,
        default: None,
        description: "A command that is run first, to build the program: a string for the shell, or a list of words.",
        example: r#""make app""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.build = Some(arguments::command(name, value)?);
            Ok(())
        },
    },
    Row {
        name: "args",
        requests: Requests::Launch,
        shape: Shape::Any(&[Shape::List(&Shape::Text), Shape::Text]),
        default: Some("[]"),
        description: "Its arguments: a list, or one string that is cut as a shell does, with nothing expanded.",
        example: r#"["--port", "8080"]"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.args = words(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "cwd",
        requests: Requests::Launch,
        shape: Shape::Path,
        default: None,
        description: "Its working directory; without it, the one that the client has started the adapter in.",
        example: r#""/home/me/app""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.cwd = path(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "env",
        requests: Requests::Launch,
        shape: VARIABLES,
        default: Some("{}"),
        description: "Variables to set besides those of the client, `null` to remove one; or a list of `NAME=value`.",
        example: r#"{"RUST_LOG": "debug", "LANG": null}"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.variables = variables(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "envFile",
        requests: Requests::Launch,
        shape: Shape::Path,
        default: None,
        description: "A file of variables, `NAME=value` on each line; what `env` says wins.",
        example: r#""/home/me/app/.env""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.env_file = path(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "stopOnEntry",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Stop before the program's first instruction.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.stop_on_entry = boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "stopAtEntry",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Stop once at the beginning of `main`.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.stop_at_main = boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "console",
        requests: Requests::Launch,
        shape: Shape::Word(&[
            Word {
                word: "internalConsole",
                meaning: "its output is shown in the debug console",
            },
            Word {
                word: "integratedTerminal",
                meaning: "it runs in a terminal inside the client, which its streams are",
            },
            Word {
                word: "externalTerminal",
                meaning: "it runs in a terminal window of its own",
            },
        ]),
        default: Some(r#""internalConsole""#),
        description: "Where the program runs: its output shown in the debug console, or in a terminal of the client's.",
        example: r#""integratedTerminal""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.console = match string(name, value)? {
                "integratedTerminal" => Console::Integrated,
                "externalTerminal" => Console::External,
                _ => Console::Internal,
            };
            Ok(())
        },
    },
    Row {
        name: "stdio",
        requests: Requests::Launch,
        shape: Shape::Any(&[
            Shape::PathOr(INPUTS),
            Shape::List(&STREAM),
            Shape::Object(&[
                Field {
                    name: "stdin",
                    shape: STREAM,
                    required: false,
                    meaning: "its input",
                },
                Field {
                    name: "stdout",
                    shape: STREAM,
                    required: false,
                    meaning: "its output",
                },
                Field {
                    name: "stderr",
                    shape: STREAM,
                    required: false,
                    meaning: "its errors",
                },
            ]),
        ]),
        default: None,
        description: "`stdin`, `stdout` and `stderr` at once: a list in that order, whose last goes for the rest if it isn't the only one; `null` leaves one as it is. One file, as a text or alone in a list, is the input; what is no file, such as a terminal, is all three.",
        example: r#"[null, "out.txt"]"#,
        origin: Origin::Own,
        read: super::stdio::read,
    },
    Row {
        name: "stdin",
        requests: Requests::Launch,
        shape: Shape::PathOr(INPUTS),
        default: Some(r#""null""#),
        description: "A file to be its standard input; `\"null\"` for none, `\"console\"` for what is typed in the debug console.",
        example: r#""input.txt""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.stdin = stdin(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "stdout",
        requests: Requests::Launch,
        shape: SINK,
        default: Some(r#""console""#),
        description: "A file to be made of its standard output, `\"null\"` for nowhere, `\"console\"` for the debug console.",
        example: r#"{"file": "out.txt", "append": true}"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.stdout = sink(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "stderr",
        requests: Requests::Launch,
        shape: SINK,
        default: Some(r#""console""#),
        description: "The same for its standard error.",
        example: r#""errors.txt""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.stderr = sink(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "pty",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Give it a terminal of its own instead of pipes, shown in the debug console, where what is typed behind `>` is its input.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.terminal = boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "randomize",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Let the system place the program and its stack elsewhere in each run; else addresses repeat.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.randomize = boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "record",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Record the program, so that it can be run backwards. Its threads run one at a time then.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.record = boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "replay",
        requests: Requests::Launch,
        shape: Shape::Path,
        default: None,
        description: "A recording that `dapple record` has made, to be debugged in place of a `program`: the same run again, forwards and backwards.",
        example: r#""/home/me/app.recording""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.replay = path(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "checkpoints",
        requests: Requests::Launch,
        shape: Shape::Called("a number of at least 2", &Shape::Integer),
        default: Some("64"),
        description: "How many checkpoints of a recorded program are kept, besides those with bookmarks. The fewer there are, the longer the ways back take.",
        example: "200",
        origin: Origin::Own,
        read: |given, name, value| {
            given.options.checkpoints.count = whole_number(name, value, 2)?;
            Ok(())
        },
    },
    Row {
        name: "checkpointMemory",
        requests: Requests::Launch,
        shape: Shape::Called("a number of megabytes", &Shape::Integer),
        default: Some("512"),
        description: "About how many megabytes of memory the checkpoints of a recorded program may take.",
        example: "2048",
        origin: Origin::Own,
        read: |given, name, value| {
            let megabytes: u64 = whole_number(name, value, 1)?;
            given.options.checkpoints.memory = megabytes.saturating_mul(1 << 20);
            Ok(())
        },
    },
    Row {
        name: "noDebug",
        requests: Requests::Launch,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Run it without debugging: nothing traces it.",
        example: "true",
        origin: Origin::Own,
        // The protocol defines `noDebug`: it is read as a field of the request's type.
        read: |_, _, _| Ok(()),
    },
    Row {
        name: "pid",
        requests: Requests::Attach,
        shape: Shape::Called("a process id", &Shape::Any(&[Shape::Integer, Shape::Text])),
        default: None,
        description: "The process: its id, a number or a text with one, as `\"${command:pickProcess}\"` gives it.",
        example: "4711",
        origin: Origin::Own,
        read: |given, name, value| {
            given.pid = Some(process_id(name, value)?);
            Ok(())
        },
    },
    Row {
        name: "program",
        requests: Requests::Attach,
        shape: Shape::Path,
        default: None,
        description: "Or the name or path of its executable; with `coreFile`, where the program is now, if not where it was.",
        example: r#""server""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.program = path(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "waitFor",
        requests: Requests::Attach,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Wait for the next process of that `program` to start.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            given.wait_for = boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "coreFile",
        requests: Requests::Attach,
        shape: Shape::Path,
        default: None,
        description: "Instead of a process, the core file that one has left: all is as it was, and nothing can be run or changed.",
        example: r#""/tmp/core.4711""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.core = Some(file(name, value)?);
            Ok(())
        },
    },
    Row {
        name: "stopOnEntry",
        requests: Requests::Attach,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Hold the process where it is, instead of letting it run on.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.stop_on_entry = boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: HANDED_OVER,
        requests: Requests::Attach,
        shape: Shape::Path,
        default: None,
        description: "Where the session that holds this process waits for the one that takes it over.",
        example: r#""/tmp/meeting""#,
        origin: Origin::Internal,
        read: |given, name, value| {
            given.handed_over = Some(file(name, value)?);
            Ok(())
        },
    },
    ON,
    Row {
        name: "sourceMap",
        requests: Requests::Both,
        shape: Shape::Any(&[
            Shape::Called(
                "an object from folders of the debug information to folders here",
                &Shape::Map(&Shape::Any(&[Shape::Path, Shape::Null])),
            ),
            Shape::List(&Shape::Pair(&Shape::Path)),
        ]),
        default: Some("{}"),
        description: "Where the sources are, if not where the program was compiled: folders that the debug information names (`.` for relative names), each with the folder here, or `null` where they are not to be looked for.",
        example: r#"{"/build/app": "/home/me/app"}"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.source_map = SourceMap::read(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "skip",
        requests: Requests::Both,
        shape: Shape::Called("a list of patterns", &Shape::List(&Shape::Text)),
        default: Some(r#"["std"]"#),
        description: "Code that steps don't enter: functions, source files, `std` for the standard libraries, and `dependencies` for packages that cargo has fetched or vendored; `[]` for none.",
        example: r#"["std", "dependencies", "*/third_party/*", "my::parse"]"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.skip = skip(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "thirdParty",
        requests: Requests::Both,
        shape: Shape::Called("a list of patterns", &Shape::List(&Shape::Text)),
        default: Some("[]"),
        description: "Source files that are others' code, besides those of packages that cargo has fetched or vendored: their frames are set aside, no step out ends in them, and `dependencies` in `skip` includes them.",
        example: r#"["*/third_party/*"]"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.third_party = third_party(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "signals",
        requests: Requests::Both,
        shape: Shape::Called(
            "a list of signals",
            &Shape::Any(&[
                Shape::Map(&Shape::Text),
                Shape::List(&Shape::Text),
                Shape::Text,
            ]),
        ),
        default: None,
        description: "What becomes of signals: whether one stops the program, is told, and is passed on to it.",
        example: r#"{"SIGUSR1": "stop", "SIGTERM": "nostop print"}"#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.signals = signals(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "followForks",
        requests: Requests::Both,
        shape: Shape::Word(&[
            Word {
                word: "parent",
                meaning: "children run free",
            },
            Word {
                word: "child",
                meaning: "the first child is debugged in its parent's place",
            },
            Word {
                word: "both",
                meaning: "each child gets a session of its own",
            },
        ]),
        default: Some(r#""parent""#),
        description: "Which process is debugged when it forks.",
        example: r#""both""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.follow_forks = match string(name, value)? {
                "child" => FollowForks::Child,
                "both" => FollowForks::Both,
                _ => FollowForks::Parent,
            };
            Ok(())
        },
    },
    Row {
        name: "visualizerFile",
        requests: Requests::Both,
        shape: Shape::Called(
            "a file's path or a list of them",
            &Shape::Any(&[Shape::Path, Shape::List(&Shape::Path)]),
        ),
        default: None,
        description: "A Natvis file, or a list of them: how values of your own types are shown.",
        example: r#""/home/me/app/app.natvis""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.visualizers = paths(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "pointees",
        requests: Requests::Both,
        shape: Shape::Boolean,
        default: Some("true"),
        description: "Show behind a plain pointer's address what it points to.",
        example: "false",
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.addresses_only = !boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "callTimeout",
        requests: Requests::Both,
        shape: Shape::Called("a number of seconds", &Shape::Number),
        default: Some("5"),
        description: "The seconds that a function called by an expression may take. After that the call is aborted, and the thread is put back to where it was.",
        example: "0.5",
        origin: Origin::Own,
        read: |given, name, value| given.common.calls.read_time_limit(name, value),
    },
    Row {
        name: "callThreads",
        requests: Requests::Both,
        shape: Shape::Word(&[
            Word {
                word: "one",
                meaning: "the calling thread alone",
            },
            Word {
                word: "all",
                meaning: "all threads",
            },
            Word {
                word: "none",
                meaning: "nobody: expressions, conditions and log messages call no functions",
            },
        ]),
        default: Some(r#""one""#),
        description: "Who runs while an expression calls a function.",
        example: r#""all""#,
        origin: Origin::Own,
        read: |given, name, value| given.common.calls.read_threads(name, value),
    },
    Row {
        name: "conditionsInProgram",
        requests: Requests::Both,
        shape: Shape::Boolean,
        default: Some("true"),
        description: "Let a breakpoint that is often passed decide its condition and count its hits in the program, by code that is put there. Otherwise every hit stops the thread for a moment.",
        example: "false",
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.decided = match boolean(name, value)? {
                true => WhereDecided::InProgram,
                false => WhereDecided::AtStops,
            };
            Ok(())
        },
    },
    Row {
        name: "separateScopes",
        requests: Requests::Both,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Arguments, locals and what a function has just returned in a scope each (`Arguments`, `Locals`, `Return Value`), instead of one called `Locals` with all of them.",
        example: "true",
        origin: Origin::Own,
        read: |given, _, value| {
            given.common.separate_scopes = value == true;
            Ok(())
        },
    },
    Row {
        name: "showDisassembly",
        requests: Requests::Both,
        shape: Shape::Word(&[
            Word {
                word: "never",
                meaning: "frames without a source are not opened",
            },
            Word {
                word: "auto",
                meaning: "for frames whose source isn't on this machine",
            },
            Word {
                word: "always",
                meaning: "for all frames",
            },
        ]),
        default: Some(r#""auto""#),
        description: "Which frames open as the disassembly of their function, where steps go by instructions.",
        example: r#""never""#,
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.show_disassembly = ShowDisassembly::read(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "wholeNames",
        requests: Requests::Both,
        shape: Shape::Boolean,
        default: Some("false"),
        description: "Name functions in stack frames and at stops as the debug information does, with all generic arguments.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.function_names = match boolean(name, value)? {
                true => FunctionNames::Whole,
                false => FunctionNames::Readable,
            };
            Ok(())
        },
    },
    Row {
        name: "tasks",
        requests: Requests::Both,
        shape: Shape::Boolean,
        default: Some("true"),
        description: "List the tasks of asynchronous executors (tokio, smol, async-std, futures) among the threads, with what each waits for and its suspended functions.",
        example: "false",
        origin: Origin::Own,
        read: |given, name, value| {
            given.common.hides_tasks = !boolean(name, value)?;
            Ok(())
        },
    },
    Row {
        name: "gracefulShutdown",
        requests: Requests::Both,
        shape: Shape::Called("a signal", &Shape::Text),
        default: Some(r#""SIGTERM""#),
        description: "The signal that asks the program to end (the client's stop button); asked a second time it is killed.",
        example: r#""SIGINT""#,
        origin: Origin::Own,
        read: |given, name, value| given.common.shutdown.read_signal(name, value),
    },
    Row {
        name: "shutdownTimeout",
        requests: Requests::Both,
        shape: Shape::Called("a number of seconds", &Shape::Number),
        default: None,
        description: "How many seconds the program has to end once it was asked to; then it is killed, unless it is stopped in the debugger.",
        example: "10",
        origin: Origin::Own,
        read: |given, name, value| given.common.shutdown.read_patience(name, value),
    },
    Row {
        name: "debuginfod",
        requests: Requests::Both,
        shape: DEBUGINFOD,
        default: Some("false"),
        description: "Ask debuginfod servers (`DEBUGINFOD_URLS`, through `debuginfod-find`) for the debug information of modules that have none, and for sources that aren't here.",
        example: "true",
        origin: Origin::Own,
        read: |given, name, value| {
            let enabled = match value {
                Value::Object(fields) => fields.get("enabled").filter(|it| !it.is_null()),
                other => Some(other),
            };
            // In an object, `enabled` is `true` if it is left out, as in cpptools.
            given.common.debuginfod = enabled.is_none_or(|it| it == true);
            if value.get("timeout").is_some_and(|it| !it.is_null()) {
                given.warn(format!(
                    "`{name}.timeout` is ignored: `DEBUGINFOD_TIMEOUT` in the debugger's own environment says how long a server may take, and nothing waits for it"
                ));
            }
            Ok(())
        },
    },
];
