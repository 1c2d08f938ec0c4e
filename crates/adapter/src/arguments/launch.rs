//! The arguments of `launch`.

use super::Start;
use super::given::{Common, Given};
use crate::argument_values::words::variables_of;
use crate::building::Plan;
use crate::building::arguments::plans;
use dapple_dap::message::Raw;
use dapple_engine::launch::LaunchOptions;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The arguments of `launch`.
#[derive(Debug, Default)]
pub struct LaunchArguments {
    /// The arguments shared with `attach`.
    pub common: Common,
    /// The program and how to start it.
    pub options: LaunchOptions,
    /// Where the program's terminal is.
    pub console: Console,
    /// The builds to run first.
    pub plans: Vec<Plan>,
}

/// Where the program's terminal is (`console`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Console {
    /// No terminal of the client: `stdin`, `stdout`, `stderr` and `pty` apply.
    #[default]
    Internal,
    /// In a terminal inside the client.
    Integrated,
    /// In a terminal window of its own.
    External,
    /// In a terminal inside the client, if the client has one.
    IfThere,
}

impl LaunchArguments {
    /// Reads the arguments that the protocol leaves to the adapter.
    ///
    /// # Errors
    /// A message that names the argument and says what it should be.
    pub fn read(arguments: &BTreeMap<String, Raw>) -> Result<LaunchArguments, String> {
        let given =
            Given::read(Start::Launch, arguments).map_err(|error| format!("launch: {error}"))?;
        if given.options.replay.is_some() {
            return LaunchArguments::of_recording(given)
                .map_err(|error| format!("launch: {error}"));
        }
        let (plans, program) = plans(
            given.program,
            given.options.cwd.as_deref(),
            given.cargo,
            given.build,
        )
        .map_err(|error| given.common.with_warnings(&format!("launch{error}")))?;
        let program = program.map(|program| found(program, given.options.cwd.as_deref()));
        let mut env = match given.env_file {
            Some(file) => variables_of(&file).map_err(|error| format!("launch: {error}"))?,
            None => Vec::new(),
        };
        // Variables in the configuration override those of its file.
        env.extend(given.variables);
        let common = given.common;
        Ok(LaunchArguments {
            options: LaunchOptions {
                program: program.unwrap_or_default(),
                env,
                follow_forks: common.follow_forks,
                ..given.options
            },
            console: given.console,
            plans,
            common,
        })
    }
}

impl LaunchArguments {
    /// Those that count for a recording, which says itself which program it is of.
    fn of_recording(given: Given) -> Result<LaunchArguments, String> {
        let other = [
            ("program", given.program.is_some()),
            ("cargo", given.cargo.is_some()),
            ("build", given.build.is_some()),
            ("record", given.options.record),
        ];
        if let Some((name, _)) = other.iter().find(|(_, is_given)| *is_given) {
            return Err(format!(
                "`replay` says which program is debugged, and takes no `{name}`; leave out one"
            ));
        }
        Ok(LaunchArguments {
            options: LaunchOptions {
                replay: given.options.replay,
                checkpoints: given.options.checkpoints,
                ..LaunchOptions::default()
            },
            common: given.common,
            ..LaunchArguments::default()
        })
    }
}

/// The path of the program. A relative path is looked for in the debugger's working directory, then in the program's.
fn found(program: PathBuf, cwd: Option<&Path>) -> PathBuf {
    let there = cwd.map(|cwd| cwd.join(&program));
    match there {
        Some(there) if program.is_relative() && !program.exists() && there.is_file() => there,
        _ => program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dapple_dap::types::LaunchRequestArguments;
    use dapple_engine::launch::{Sink, Stdin};
    use dapple_engine::signals::SignalTable;
    use serde_json::{Value, json};
    use std::path::PathBuf;

    fn read(value: Value) -> Result<LaunchArguments, String> {
        let arguments: LaunchRequestArguments = serde_json::from_value(value).expect("an object");
        LaunchArguments::read(&arguments.other)
    }

    #[test]
    fn everything_that_is_documented_is_read() {
        let launch = read(json!({
            "program": "/bin/x", "args": ["a", "b c"], "cwd": "/tmp", "stopOnEntry": true, "stdin": "in.txt",
            "env": {"A": "1", "B": null, "C": 3}, "type": "dapple", "__sessionId": "7",
        }))
        .expect("valid");
        assert_eq!(launch.options.program, PathBuf::from("/bin/x"));
        assert_eq!(launch.options.args, ["a", "b c"]);
        assert_eq!(launch.options.cwd, Some("/tmp".into()));
        assert_eq!(launch.options.stdin, Stdin::File("in.txt".into()));
        assert_eq!(
            launch.options.env,
            [
                ("A".into(), Some("1".into())),
                ("B".into(), None),
                ("C".into(), Some("3".into()))
            ]
        );
        assert!(launch.common.stop_on_entry);
        assert_eq!(launch.common.warnings, Vec::<String>::new());
    }

    #[test]
    fn signals_are_a_text_a_list_or_an_object() {
        let mut expected = SignalTable::default();
        expected.change("SIGUSR1, SIGCHLD:print").expect("valid");
        for signals in [
            json!("SIGUSR1, SIGCHLD:print"),
            json!(["SIGUSR1", "SIGCHLD print"]),
            json!({"SIGUSR1": "stop", "SIGCHLD": "print nostop"}),
        ] {
            let launch = read(json!({"program": "x", "signals": signals})).expect("valid");
            assert_eq!(launch.common.signals, expected, "{signals}");
        }
    }

    #[test]
    fn an_environment_may_be_an_array_of_assignments() {
        let launch = read(json!({"program": "x", "env": ["A=1=2", "B=", "C"]})).expect("valid");
        assert_eq!(
            launch.options.env,
            [
                ("A".into(), Some("1=2".into())),
                ("B".into(), Some("".into())),
                ("C".into(), Some("".into()))
            ]
        );
    }

    #[test]
    fn a_wrong_argument_is_named_with_what_was_expected() {
        for (arguments, part) in [
            (json!({}), "launch needs `program`"),
            (json!({"program": ""}), "launch needs `program`"),
            (json!({"program": null}), "launch needs `program`"),
            (
                json!({"program": 3}),
                "`program` must be a string, not a number",
            ),
            (json!({"program": "a\u{0}b"}), "`program` contains a NUL"),
            (
                json!({"program": "x", "args": 1}),
                "`args` must be an array of strings or a string, not a number",
            ),
            (
                json!({"program": "x", "args": ["a", {}]}),
                "`args[1]` must be a string, not an object",
            ),
            (
                json!({"program": "x", "args": "a 'b"}),
                "`args`: the quotation mark ' at position 3 has no second one",
            ),
            (
                json!({"program": "x", "stdout": {"append": true}}),
                "`stdout.file` is missing: where it goes",
            ),
            (
                json!({"program": "x", "envFile": "/nowhere/.env"}),
                "`envFile` /nowhere/.env",
            ),
            (
                json!({"program": "x", "env": {"A": []}}),
                "`env.A` must be a string",
            ),
            (
                json!({"program": "x", "env": ["=x"]}),
                "`env[0]` is no name",
            ),
            (
                json!({"program": "x", "env": {"": "x"}}),
                "`env.` is no name",
            ),
            (
                json!({"program": "x", "skip": "std"}),
                "`skip` must be a list of patterns, not a string",
            ),
            (
                json!({"program": "x", "skip": ["std", "f(int)"]}),
                "`skip[1]`: `f(int)` is neither a path nor a function's name: a name has no `(`",
            ),
            (
                json!({"program": "x", "skip": [1]}),
                "`skip[0]` must be a string, not a number",
            ),
            (
                json!({"program": "x", "signals": "SIGFOO"}),
                "`signals`: there is no signal `SIGFOO`",
            ),
            (
                json!({"program": "x", "signals": {"SIGUSR1": "often"}}),
                "`often` is nothing that can be done",
            ),
            (
                json!({"program": "x", "stopOnEntry": "yes"}),
                "`stopOnEntry` must be true or false",
            ),
        ] {
            let error = read(arguments.clone()).expect_err("refused");
            assert!(error.contains(part), "{arguments}: {error}");
        }
    }

    #[test]
    fn streams_may_be_given_at_once() {
        let file = |path: &str| Sink::File {
            path: path.into(),
            append: false,
        };
        let told = Sink::Events;
        for (stdio, input, out, err) in [
            (json!(null), Stdin::Null, told.clone(), told.clone()),
            (json!([]), Stdin::Null, told.clone(), told.clone()),
            (
                json!("/dev/pts/3"),
                Stdin::File("/dev/pts/3".into()),
                file("/dev/pts/3"),
                file("/dev/pts/3"),
            ),
            (
                json!([null, "log", null]),
                Stdin::Null,
                file("log"),
                told.clone(),
            ),
            (
                json!(["in", "log"]),
                Stdin::File("in".into()),
                file("log"),
                file("log"),
            ),
            (
                json!({"stdin": "console", "stderr": "null"}),
                Stdin::Sent,
                told.clone(),
                Sink::Null,
            ),
        ] {
            let launch = read(json!({"program": "x", "stdio": stdio})).expect("valid");
            let options = launch.options;
            assert_eq!(
                (options.stdin, options.stdout, options.stderr),
                (input, out, err),
                "{stdio}"
            );
            assert_eq!(launch.common.warnings, Vec::<String>::new());
        }
        let launch = read(json!({"program": "x", "stdio": "a", "stdout": "b"})).expect("valid");
        assert_eq!(
            (launch.options.stdout, launch.options.stderr),
            (file("b"), file("a"))
        );
        let launch =
            read(json!({"program": "x", "stdio": [null, null, null, "d"]})).expect("valid");
        assert!(launch.common.warnings[0].contains("`stdio` has 4 streams"));
    }

    #[test]
    fn ours_wins_over_another_name_for_it() {
        let launch =
            read(json!({"program": "x", "terminal": "external", "console": "integratedTerminal"}));
        let launch = launch.expect("valid");
        assert_eq!(launch.console, Console::Integrated);
        assert_eq!(
            launch.common.warnings,
            ["launch: `terminal` is ignored beside `console`, which says the same"]
        );
    }
}
