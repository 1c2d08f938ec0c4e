//! The arguments of `attach`: which process, and a sentence for each that is wrong.

use crate::calls::CallSettings;
use crate::handlers::forks::HANDED_OVER;
use crate::launch_arguments::{
    CLIENTS_OWN, boolean, files, follow_forks, signals, skip, string, warning, wrong,
};
use crate::source_map::SourceMap;
use dapple_dap::message::Raw;
use dapple_engine::forks::FollowForks;
use dapple_engine::session::stepping::SkipList;
use dapple_engine::signals::SignalTable;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What `attach` asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct AttachArguments {
    /// The process.
    pub target: Target,
    /// Hold it after attaching, instead of letting it run on.
    pub stop_on_entry: bool,
    /// Ask debuginfod servers.
    pub debuginfod: bool,
    /// Code that steps don't enter.
    pub skip: SkipList,
    /// Where the sources are.
    pub source_map: SourceMap,
    /// The user's own presentation of types: Natvis files.
    pub visualizers: Vec<PathBuf>,
    /// How functions are called for expressions.
    pub calls: CallSettings,
    /// What becomes of signals, before the client's filters say more.
    pub signals: SignalTable,
    /// What becomes of its children.
    pub follow_forks: FollowForks,
    /// Where a session waits that holds the process.
    pub handed_over: Option<PathBuf>,
    /// Sentences for the user: what was not understood and is ignored.
    pub warnings: Vec<String>,
}

/// Which process is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The one with this id.
    Pid(i32),
    /// The one of this name or path that runs.
    Named(String),
    /// The next of this name or path that starts.
    Next(String),
    /// One that has ended, and left this.
    Core {
        /// The core file.
        core: PathBuf,
        /// The program, if it is named.
        program: Option<PathBuf>,
    },
}

/// The names that are understood.
const KNOWN: [&str; 15] = [
    "coreFile",
    "pid",
    "processId",
    "name",
    "program",
    "waitFor",
    "stopOnEntry",
    "debuginfod",
    "skip",
    "sourceMap",
    "followForks",
    "signals",
    "visualizerFile",
    "callTimeout",
    "callThreads",
];

impl AttachArguments {
    /// Reads the arguments other than those that the protocol itself names.
    ///
    /// # Errors
    /// A sentence that names the argument and says what it should be.
    pub fn read(arguments: &BTreeMap<String, Raw>) -> Result<AttachArguments, String> {
        AttachArguments::read_each(arguments).map_err(|error| format!("attach: {error}"))
    }

    fn read_each(arguments: &BTreeMap<String, Raw>) -> Result<AttachArguments, String> {
        let (mut pid, mut name, mut program, mut wait) = (None, None, None, false);
        let (mut stop_on_entry, mut debuginfod, mut warnings) = (false, false, Vec::new());
        let (mut skipped, mut source_map) = (SkipList::default(), SourceMap::default());
        let (mut follow, mut handed_over) = (FollowForks::default(), None);
        let mut table = SignalTable::default();
        let (mut core, mut visualizers) = (None, Vec::new());
        let mut calls = CallSettings::default();
        for (argument, raw) in arguments {
            let value: &Value = &raw
                .decode()
                .map_err(|error| format!("`{argument}`: {error}"))?;
            match argument.as_str() {
                _ if value.is_null() => {}
                "pid" | "processId" => pid = Some(process_id(argument, value)?),
                // In VS Code, `name` is what the configuration is called.
                "name" => name = Some(string(argument, value)?.to_owned()),
                "program" => program = Some(string(argument, value)?.to_owned()),
                "coreFile" => core = Some(PathBuf::from(string(argument, value)?)),
                "waitFor" => wait = boolean(argument, value)?,
                "stopOnEntry" => stop_on_entry = boolean(argument, value)?,
                "skip" => skipped = skip(argument, value)?,
                "sourceMap" => source_map = SourceMap::read(argument, value)?,
                "visualizerFile" => visualizers = files(argument, value)?,
                "signals" => table = signals(argument, value)?,
                "followForks" => follow = follow_forks(argument, value)?,
                HANDED_OVER => handed_over = Some(PathBuf::from(string(argument, value)?)),
                "debuginfod" => debuginfod = boolean(argument, value)?,
                name if calls.read(name, value)? => {}
                own if own.starts_with('_') || CLIENTS_OWN.contains(&own) => {}
                unknown => warnings.push(warning("attach", unknown, &KNOWN)),
            }
        }
        if core.is_some() && (pid.is_some() || wait) {
            return Err(
                "`coreFile` is of a process that has ended: give neither `pid` nor `waitFor`"
                    .into(),
            );
        }
        let core = core.map(|core| Target::Core {
            core,
            program: program.clone().map(PathBuf::from),
        });
        let named = program.or(name).filter(|name| !name.is_empty());
        let target = match (core, pid, named, wait) {
            (Some(core), ..) => core,
            (None, Some(_), _, true) => {
                return Err("`waitFor` waits for a name: give `program`, not `pid`".into());
            }
            (None, Some(pid), _, false) => Target::Pid(pid),
            (None, None, Some(name), false) => Target::Named(name),
            (None, None, Some(name), true) => Target::Next(name),
            (None, None, None, _) => {
                return Err(
                    "which process? give `pid`, or `program`: the name or path of an executable; or a `coreFile`"
                        .into(),
                );
            }
        };
        Ok(AttachArguments {
            target,
            stop_on_entry,
            debuginfod,
            skip: skipped,
            source_map,
            visualizers,
            calls,
            signals: table,
            follow_forks: follow,
            handed_over,
            warnings,
        })
    }
}

/// A number, or a text with one, as clients with a process picker send it.
fn process_id(name: &str, value: &Value) -> Result<i32, String> {
    let number = match value {
        Value::String(text) => text.trim().parse::<i64>().ok(),
        other => other.as_i64(),
    };
    match number.map(i32::try_from) {
        Some(Ok(pid)) if pid > 0 => Ok(pid),
        Some(_) => Err(format!("`{name}`: {value} is no process id")),
        None => Err(wrong(name, "a process id", value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dapple_dap::types::AttachRequestArguments;
    use serde_json::json;

    fn read(value: Value) -> Result<AttachArguments, String> {
        let arguments: AttachRequestArguments = serde_json::from_value(value).expect("an object");
        AttachArguments::read(&arguments.other)
    }

    #[test]
    fn a_process_is_named_by_id_name_or_path() {
        for (arguments, target) in [
            (json!({"pid": 7}), Target::Pid(7)),
            (
                json!({"processId": " 7 ", "name": "Attach"}),
                Target::Pid(7),
            ),
            (json!({"name": "server"}), Target::Named("server".into())),
            (
                json!({"name": "Attach", "program": "/bin/x"}),
                Target::Named("/bin/x".into()),
            ),
            (
                json!({"program": "x", "waitFor": true, "type": "dapple"}),
                Target::Next("x".into()),
            ),
        ] {
            let read = read(arguments.clone()).expect("valid");
            assert_eq!(read.target, target, "{arguments}");
            assert_eq!(read.warnings, Vec::<String>::new());
        }
    }

    #[test]
    fn a_wrong_argument_is_named_with_what_was_expected() {
        for (arguments, part) in [
            (json!({}), "attach: which process? give `pid`"),
            (
                json!({"pid": "x"}),
                "`pid` must be a process id, not a string",
            ),
            (
                json!({"pid": []}),
                "`pid` must be a process id, not an array",
            ),
            (json!({"pid": 0}), "0 is no process id"),
            (json!({"pid": 1e12}), "`pid` must be a process id"),
            (
                json!({"pid": 4294967297_i64}),
                "4294967297 is no process id",
            ),
            (
                json!({"pid": 3, "waitFor": true}),
                "`waitFor` waits for a name",
            ),
            (
                json!({"pid": 3, "stopOnEntry": 1}),
                "`stopOnEntry` must be true or false",
            ),
        ] {
            let error = read(arguments.clone()).expect_err("refused");
            assert!(error.contains(part), "{arguments}: {error}");
        }
        let warnings = read(json!({"pid": 3, "waitfor": true}))
            .expect("valid")
            .warnings;
        assert!(
            warnings[0].contains("did you mean `waitFor`?"),
            "{warnings:?}"
        );
    }
}
