//! The arguments of `launch`: what they mean, and a sentence for each that is wrong.
//!
//! They are the adapter's own (the protocol leaves them open), so they come as JSON. A misspelt one would silently do
//! nothing; each unknown name gets a warning with the nearest known one.

use crate::calls::CallSettings;
use crate::launch_words::{split_words, variables_of};
use crate::source_map::SourceMap;
use dapple_dap::message::Raw;
use dapple_engine::forks::FollowForks;
use dapple_engine::launch::{LaunchOptions, Sink, Stdin};
use dapple_engine::session::stepping::SkipList;
use dapple_engine::signals::SignalTable;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What `launch` asked for.
#[derive(Debug, Default)]
pub struct LaunchArguments {
    /// The program and how to start it.
    pub options: LaunchOptions,
    /// Where its terminal is, if it gets the client's.
    pub console: Console,
    /// Stop at the program's first instruction.
    pub stop_on_entry: bool,
    /// What becomes of signals, before the client's filters say more.
    pub signals: SignalTable,
    /// Code that steps don't enter.
    pub skip: SkipList,
    /// Where the sources are.
    pub source_map: SourceMap,
    /// The user's own presentation of types: Natvis files.
    pub visualizers: Vec<PathBuf>,
    /// How functions are called for expressions.
    pub calls: CallSettings,
    /// Sentences for the user: what was not understood and is ignored.
    pub warnings: Vec<String>,
}

/// Where the program reads and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Console {
    /// As `stdin`, `stdout`, `stderr` and `pty` say.
    #[default]
    Internal,
    /// In a terminal inside the client.
    Integrated,
    /// In a terminal of its own.
    External,
}

/// The names that are understood.
const KNOWN: [&str; 21] = [
    "console",
    "program",
    "args",
    "cwd",
    "env",
    "envFile",
    "stdout",
    "stderr",
    "pty",
    "stopOnEntry",
    "noDebug",
    "stdin",
    "debuginfod",
    "signals",
    "randomize",
    "skip",
    "sourceMap",
    "followForks",
    "visualizerFile",
    "callTimeout",
    "callThreads",
];

/// What editors add for themselves: in VS Code's `launch.json` these stand beside the adapter's own.
pub const CLIENTS_OWN: [&str; 14] = [
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
];

impl LaunchArguments {
    /// Reads the arguments other than those that the protocol itself names.
    ///
    /// # Errors
    /// A sentence that names the argument and says what it should be.
    pub fn read(arguments: &BTreeMap<String, Raw>) -> Result<LaunchArguments, String> {
        let (launch, program) =
            LaunchArguments::read_each(arguments).map_err(|error| format!("launch: {error}"))?;
        match program {
            Some(path) if !path.as_os_str().is_empty() => {
                let mut launch = launch;
                launch.options.program = path;
                Ok(launch)
            }
            _ => Err("launch needs `program`: the path of the executable to debug".into()),
        }
    }

    fn read_each(
        arguments: &BTreeMap<String, Raw>,
    ) -> Result<(LaunchArguments, Option<PathBuf>), String> {
        let mut launch = LaunchArguments::default();
        let mut program = None;
        let mut variables = Vec::new();
        for (name, raw) in arguments {
            let value: &Value = &raw.decode().map_err(|error| format!("`{name}`: {error}"))?;
            match name.as_str() {
                _ if value.is_null() => {}
                "program" => program = Some(PathBuf::from(string(name, value)?)),
                "args" => launch.options.args = words(name, value)?,
                "cwd" => {
                    let cwd = string(name, value)?;
                    launch.options.cwd = (!cwd.is_empty()).then(|| PathBuf::from(cwd));
                }
                "env" => variables = environment(value)?,
                "envFile" => launch.options.env = variables_of(Path::new(string(name, value)?))?,
                "stopOnEntry" => launch.stop_on_entry = boolean(name, value)?,
                "stdin" => launch.options.stdin = stdin(string(name, value)?),
                "stdout" => launch.options.stdout = sink(name, value)?,
                "stderr" => launch.options.stderr = sink(name, value)?,
                "console" => launch.console = console(string(name, value)?)?,
                "pty" => launch.options.terminal = boolean(name, value)?,
                "skip" => launch.skip = skip(name, value)?,
                "sourceMap" => launch.source_map = SourceMap::read(name, value)?,
                "visualizerFile" => launch.visualizers = files(name, value)?,
                "followForks" => launch.options.follow_forks = follow_forks(name, value)?,
                "signals" => launch.signals = signals(name, value)?,
                "debuginfod" => launch.options.debuginfod = boolean(name, value)?,
                "randomize" => launch.options.randomize = boolean(name, value)?,
                "noDebug" => {}
                name if launch.calls.read(name, value)? => {}
                own if own.starts_with('_') || CLIENTS_OWN.contains(&own) => {}
                unknown => launch.warnings.push(match of_others(unknown) {
                    Some(meant) => format!(
                        "launch: the argument `{unknown}` is not known and ignored; it is {meant}"
                    ),
                    None => warning("launch", unknown, &KNOWN),
                }),
            }
        }
        // What stands in the configuration itself comes after what its file says, and so wins.
        launch.options.env.append(&mut variables);
        Ok((launch, program))
    }
}

/// What does here what an argument of other debuggers does, or of `attach`.
fn of_others(name: &str) -> Option<&'static str> {
    Some(match name {
        "environment" => "`env` here",
        "workingDirectory" => "`cwd` here",
        "externalConsole" => "`console` here: \"externalTerminal\"",
        "natvis" | "natvisFile" | "visualizerFiles" => "`visualizerFile` here",
        "terminal" => "`console` here: \"integratedTerminal\"",
        "pid" | "processId" => "for \"request\": \"attach\"",
        _ => return None,
    })
}

/// What is said of an argument that is not known.
pub fn warning(request: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(known) => format!(
            "{request}: the argument `{name}` is not known and ignored; did you mean `{known}`?"
        ),
        None => format!("{request}: the argument `{name}` is not known and ignored"),
    }
}

/// The known name that `name` is most likely meant to be.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let (known, distance) = known
        .iter()
        .map(|known| {
            (
                *known,
                distance(&name.to_lowercase(), &known.to_lowercase()),
            )
        })
        .min_by_key(|(_, distance)| *distance)?;
    (distance <= known.len().max(name.len()) / 4).then_some(known)
}

/// Levenshtein's distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// What is said of an argument of the wrong type.
pub fn wrong(name: &str, expected: &str, value: &Value) -> String {
    let got = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("`{name}` must be {expected}, not {got}")
}

/// A text argument.
pub fn string<'a>(name: &str, value: &'a Value) -> Result<&'a str, String> {
    let text = value
        .as_str()
        .ok_or_else(|| wrong(name, "a string", value))?;
    no_nul(name, text)
}

/// A truth value.
pub fn boolean(name: &str, value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| wrong(name, "true or false", value))
}

/// What becomes of the program's children.
pub fn follow_forks(name: &str, value: &Value) -> Result<FollowForks, String> {
    match string(name, value)? {
        "parent" => Ok(FollowForks::Parent),
        "child" => Ok(FollowForks::Child),
        "both" => Ok(FollowForks::Both),
        other => Err(format!(
            "`{name}` must be \"parent\", \"child\" or \"both\", not {other:?}"
        )),
    }
}

/// `"FILE"`, or a list of files.
pub fn files(name: &str, value: &Value) -> Result<Vec<PathBuf>, String> {
    let files = match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| string(&format!("{name}[{index}]"), item))
            .collect::<Result<Vec<&str>, String>>()?,
        Value::String(_) => vec![string(name, value)?],
        other => return Err(wrong(name, "a file's path or a list of them", other)),
    };
    let named = files.into_iter().filter(|file| !file.is_empty());
    Ok(named.map(PathBuf::from).collect())
}

fn strings(name: &str, value: &Value) -> Result<Vec<OsString>, String> {
    let items = value
        .as_array()
        .ok_or_else(|| wrong(name, "a string or an array of strings", value))?;
    items
        .iter()
        .enumerate()
        .map(|(index, item)| string(&format!("{name}[{index}]"), item).map(OsString::from))
        .collect()
}

/// `{"NAME": "value", "GONE": null}`, or `["NAME=value"]` as some clients write it.
fn environment(value: &Value) -> Result<Vec<(OsString, Option<OsString>)>, String> {
    match value {
        Value::Object(entries) => entries
            .iter()
            .map(|(name, value)| {
                let label = format!("env.{name}");
                variable_name(&label, name)?;
                let value = match value {
                    Value::Null => None,
                    Value::Number(number) => Some(number.to_string().into()),
                    Value::Bool(flag) => Some(flag.to_string().into()),
                    other => Some(string(&label, other)?.into()),
                };
                Ok((name.into(), value))
            })
            .collect(),
        Value::Array(entries) => entries
            .iter()
            .enumerate()
            .map(|(index, entry)| {
                let label = format!("env[{index}]");
                let (name, value) = string(&label, entry)?
                    .split_once('=')
                    .ok_or_else(|| format!("`{label}` must have the form NAME=value"))?;
                variable_name(&label, name)?;
                Ok((name.into(), Some(value.into())))
            })
            .collect(),
        other => Err(wrong("env", "an object of strings", other)),
    }
}

fn variable_name(label: &str, name: &str) -> Result<(), String> {
    if name.is_empty() || name.contains('=') {
        return Err(format!(
            "`{label}` is no name an environment variable can have"
        ));
    }
    no_nul(label, name).map(drop)
}

fn no_nul<'a>(name: &str, text: &'a str) -> Result<&'a str, String> {
    if text.contains('\0') {
        return Err(format!("`{name}` contains a NUL character"));
    }
    Ok(text)
}

/// A list of patterns of functions and files.
pub fn skip(name: &str, value: &Value) -> Result<SkipList, String> {
    let Value::Array(items) = value else {
        return Err(wrong(name, "a list of patterns", value));
    };
    let mut patterns = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let name = format!("{name}[{index}]");
        let pattern = string(&name, item)?;
        SkipList::parse([pattern]).map_err(|error| format!("`{name}`: {error}"))?;
        patterns.push(pattern);
    }
    SkipList::parse(patterns).map_err(|error| format!("`{name}`: {error}"))
}

/// `"SIGUSR1, SIGCHLD:nopass"`, or the same as an array, or an object from names to what becomes of them.
pub fn signals(name: &str, value: &Value) -> Result<SignalTable, String> {
    let lists = match value {
        Value::String(list) => vec![list.clone()],
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, item)| string(&format!("{name}[{index}]"), item).map(str::to_owned))
                .collect::<Result<_, _>>()?
        }
        Value::Object(entries) => entries
            .iter()
            .map(|(signal, words)| {
                let words = string(&format!("{name}.{signal}"), words)?;
                Ok(format!("{signal}:{words}"))
            })
            .collect::<Result<_, String>>()?,
        other => return Err(wrong(name, "a list of signals", other)),
    };
    let mut table = SignalTable::default();
    for list in lists {
        table
            .change(&list)
            .map_err(|sentence| format!("`{name}`: {sentence}"))?;
    }
    Ok(table)
}

/// `["a", "b c"]`, or `"a 'b c'"` as a shell would take it.
fn words(name: &str, value: &Value) -> Result<Vec<OsString>, String> {
    match value.as_str() {
        Some(text) => {
            let words = split_words(no_nul(name, text)?);
            words.map_err(|error| format!("`{name}`: {error}"))
        }
        None => strings(name, value),
    }
}

/// `"FILE"`, `"null"`, `"console"`, or `{"file": "FILE", "append": true}`.
fn sink(name: &str, value: &Value) -> Result<Sink, String> {
    let file = |path: &str, append| Sink::File {
        path: path.into(),
        append,
    };
    match value {
        Value::Object(fields) => {
            let path = fields.get("file").unwrap_or(&Value::Null);
            let path = string(&format!("{name}.file"), path)?;
            let append = match fields.get("append") {
                Some(append) => boolean(&format!("{name}.append"), append)?,
                None => false,
            };
            Ok(file(path, append))
        }
        other => Ok(match other.as_str() {
            Some("null") => Sink::Null,
            Some("console") => Sink::Told,
            Some(path) => file(no_nul(name, path)?, false),
            None => return Err(wrong(name, "a file's path", other)),
        }),
    }
}

fn console(text: &str) -> Result<Console, String> {
    match text {
        "internalConsole" => Ok(Console::Internal),
        "integratedTerminal" => Ok(Console::Integrated),
        "externalTerminal" => Ok(Console::External),
        other => Err(format!(
            "`console` must be \"internalConsole\", \"integratedTerminal\" or \"externalTerminal\", not {other:?}"
        )),
    }
}

fn stdin(text: &str) -> Stdin {
    match text {
        "null" => Stdin::Null,
        "console" => Stdin::Sent,
        "inherit" => Stdin::Inherit,
        path => Stdin::File(path.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dapple_dap::types::LaunchRequestArguments;
    use serde_json::json;

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
        assert!(launch.stop_on_entry);
        assert_eq!(launch.warnings, Vec::<String>::new());
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
            assert_eq!(launch.signals, expected, "{signals}");
        }
    }

    #[test]
    fn an_environment_may_be_an_array_of_assignments() {
        let launch = read(json!({"program": "x", "env": ["A=1=2", "B="]})).expect("valid");
        assert_eq!(
            launch.options.env,
            [
                ("A".into(), Some("1=2".into())),
                ("B".into(), Some("".into()))
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
                "`args` must be a string or an array of strings",
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
                "`stdout.file` must be a string",
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
                json!({"program": "x", "env": ["A"]}),
                "`env[0]` must have the form NAME=value",
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
    fn an_unknown_argument_is_answered_with_the_nearest_known_one() {
        let launch =
            read(json!({"program": "x", "stopAtEntry": true, "MIMode": "gdb", "arguments": []}))
                .expect("valid");
        let text = launch.warnings.join("\n");
        assert!(
            text.contains("`stopAtEntry` is not known and ignored; did you mean `stopOnEntry`?"),
            "{text}"
        );
        assert!(
            text.contains("`MIMode` is not known and ignored\n")
                || text.ends_with("`MIMode` is not known and ignored"),
            "{text}"
        );
    }
}
