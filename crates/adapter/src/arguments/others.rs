//! Arguments of other debuggers that Dapple ignores, with a message that says why, or what to use instead.

use super::Start;

/// The message about LLDB commands.
const LLDB: &str = "these are commands of LLDB, which isn't here";

/// The message about arguments for remote debugging.
const ELSEWHERE: &str = "`on` says on which machine or in which container the program is, as in \"ssh://me@board\", and the adapter runs there; `target` with \"request\": \"attach\" where a stub is, such as a gdbserver";

/// The messages, each with the names of its arguments.
const MESSAGES: &[(&[&str], &str)] = &[
    (
        &[
            "initCommands",
            "stopCommands",
            "exitCommands",
            "terminateCommands",
            "preTerminateCommands",
            "commandEscapePrefix",
        ],
        LLDB,
    ),
    (
        &["preRunCommands", "postRunCommands"],
        "these are commands of LLDB, which isn't here; `env`, `signals`, `skip`, `sourceMap` and breakpoints say what they are mostly used for",
    ),
    (
        &[
            "targetCreateCommands",
            "processCreateCommands",
            "launchCommands",
            "attachCommands",
        ],
        "these are commands of LLDB, which isn't here; `program`, or `pid` with \"request\": \"attach\", says what is debugged",
    ),
    (
        &[
            "setupCommands",
            "customLaunchSetupCommands",
            "postRemoteConnectCommands",
            "launchCompleteCommand",
        ],
        "these are commands of gdb, which isn't here; values are shown by their meaning without them",
    ),
    (
        &[
            "MIMode",
            "miDebuggerPath",
            "miDebuggerArgs",
            "gdbpath",
            "debugger_args",
        ],
        "no other debugger is behind this one",
    ),
    (
        &[
            "pipeTransport",
            "useExtendedRemote",
            "stopAtConnect",
            "debugServerPath",
            "debugServerArgs",
            "platformName",
            "deploySteps",
            "remote",
            "host",
            "port",
        ],
        ELSEWHERE,
    ),
    (
        &[
            "additionalSOLibSearchPath",
            "symbolSearchPath",
            "symbolLoadInfo",
        ],
        "libraries are found where the program has them (`LD_LIBRARY_PATH` in `env` says where it looks), their debug information by its build id, and with `debuginfod` on servers",
    ),
    (
        &["timeout"],
        "`callTimeout` says how long a call may take; nothing else ends by time",
    ),
    (
        &["expressions"],
        "expressions are read in the language of the frame, and there is one way to evaluate them",
    ),
    (
        &["sourceLanguages"],
        "languages are read from the debug information, for each frame",
    ),
    (
        &["logging", "trace", "verbosity"],
        "`dapple dap --log FILE` writes down all messages",
    ),
    (
        &["showDisplayString", "enableAutoVariableSummaries"],
        "values always have their line",
    ),
    (
        &["enableSyntheticChildDebugging"],
        "what a value is made of is always below `[raw]`",
    ),
    (
        &["targetArchitecture", "targetTriple"],
        "programs say themselves what they are for; those for x86-64 are debugged",
    ),
    (
        &["hardwareBreakpoints"],
        "breakpoints are put into the code, data is watched by the processor",
    ),
    (
        &["reverseDebugging"],
        "`record` is what lets a program run backwards",
    ),
    (
        &["breakpointMode"],
        "each breakpoint has a mode: `file` is in all copies of its file; `sourceMap` says where the program was compiled",
    ),
    (
        &["debuggerRoot"],
        "paths are meant from where the adapter was started; `sourceMap` has `.` for relative sources",
    ),
    (
        &["shellExpandArguments"],
        "nothing is expanded in `args`; for that, launch a shell",
    ),
    (
        &["disableSTDIO"],
        "\"stdout\": \"null\" and \"stderr\": \"null\" lead its output nowhere",
    ),
    (
        &["stepFilters", "skipFiles"],
        "it is `skip` here, a list of patterns",
    ),
    (
        &["detachOnError"],
        "a process that was attached to is let go when the session ends, one that was launched ends",
    ),
    (&["workingDirectory", "workingDir"], "it is `cwd` here"),
    (
        &["arguments", "programArgs", "exeArgs"],
        "it is `args` here",
    ),
    (&["executable", "exe", "binary"], "it is `program` here"),
    (
        &["natvis", "natvisFile", "visualizerFiles"],
        "it is `visualizerFile` here",
    ),
    (
        &["externalTerminal"],
        "it is `console` here: \"externalTerminal\"",
    ),
    (
        &["integratedTerminal"],
        "it is `console` here: \"integratedTerminal\"",
    ),
];

/// The message about an argument of another debugger; `None` for an unknown name.
pub fn message(start: Start, name: &str) -> Option<&'static str> {
    if start == Start::Attach && matches!(name, "executable" | "exe" | "binary") {
        return Some("it is `program` here, or give the `pid`");
    }
    let found = MESSAGES.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, sentence)| *sentence)
}

/// The names of all arguments with a message.
#[cfg(test)]
pub fn names() -> impl Iterator<Item = &'static str> {
    MESSAGES.iter().flat_map(|(names, _)| names.iter().copied())
}
