//! The arguments of one request, read by the rows of the table.

use super::launch::Console;
use super::row::Row;
use super::table::{self, CLIENTS_OWN};
use super::{Start, others};
use crate::argument_values::Variable;
use crate::argument_values::unknown::{self, Unknown};
use crate::arguments::CallSettings;
use crate::arguments::ShowDisassembly;
use crate::arguments::Shutdown;
use crate::building::cargo::CargoPlan;
use crate::building::shell::CommandPlan;
use crate::function_names::FunctionNames;
use crate::source_map::SourceMap;
use dapple_dap::message::Raw;
use dapple_engine::forks::FollowForks;
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::StubAddress;
use dapple_engine::session::breakpoints::WhereDecided;
use dapple_engine::session::stepping::{SkipList, ThirdParty};
use dapple_engine::signals::SignalTable;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The most warnings about ignored arguments.
const MOST_WARNINGS: usize = 30;

/// Dapple's argument for a core file.
const CORE: &str = "coreFile";
/// The placeholder in `program` that CodeLLDB replaces by the program that its `cargo` argument has built.
const BUILT_BY_CARGO: &str = "${cargo:program}";

/// The arguments as read, before they are checked for completeness.
#[derive(Debug, Default)]
pub struct Given {
    /// The arguments of both requests.
    pub common: Common,
    /// The executable, or the source file or folder to build it from; for `attach`, the executable's path or name.
    pub program: Option<PathBuf>,
    /// The `cargo` argument.
    pub cargo: Option<CargoPlan>,
    /// The `build` argument.
    pub build: Option<CommandPlan>,
    /// How the program is started.
    pub options: LaunchOptions,
    /// Where the program's terminal is.
    pub console: Console,
    /// A file of environment variables.
    pub env_file: Option<PathBuf>,
    /// Environment variables, which override those of the file.
    pub variables: Vec<Variable>,
    /// The id of the process to attach to.
    pub pid: Option<i32>,
    /// Wait for the next process of `program` to start.
    pub wait_for: bool,
    /// The core file.
    pub core: Option<PathBuf>,
    /// The socket of the session that hands over the process.
    pub handed_over: Option<PathBuf>,
    /// Where the stub of a remote process is.
    pub stub: GivenStub,
}

/// What is said of a stub.
#[derive(Debug, Default)]
pub struct GivenStub {
    /// Where it is.
    pub address: Option<StubAddress>,
    /// A host and a port, which are arguments of their own in other debuggers.
    pub host: Option<String>,
    /// See `host`.
    pub port: Option<u16>,
    /// A folder with a copy of the other machine's files.
    pub sysroot: Option<PathBuf>,
    /// A program of the other machine and its arguments.
    pub command: Vec<OsString>,
}

impl GivenStub {
    /// Where the stub is.
    pub fn address(&self) -> Option<StubAddress> {
        let pair = || {
            let host = self.host.clone().unwrap_or_else(|| "localhost".to_owned());
            Some(StubAddress::Tcp(host, self.port?))
        };
        self.address.clone().or_else(pair)
    }
}

/// The arguments that `launch` and `attach` share.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// For `launch`: stop before the program's first instruction. For `attach`: hold the process where it is.
    pub stop_on_entry: bool,
    /// Stop once at the beginning of `main`; never set for a process that is attached to.
    pub stop_at_main: bool,
    /// Ask debuginfod servers.
    pub debuginfod: bool,
    /// Patterns of code that steps don't enter.
    pub skip: SkipList,
    /// Patterns of source files that are others' code.
    pub third_party: ThirdParty,
    /// The mapping of source folders.
    pub source_map: SourceMap,
    /// The user's Natvis files.
    pub visualizers: Vec<PathBuf>,
    /// Show only the address of a plain pointer, without its pointee.
    pub addresses_only: bool,
    /// Settings of inferior calls in expressions.
    pub calls: CallSettings,
    /// Where conditions of breakpoints are decided.
    pub decided: WhereDecided,
    /// Show arguments, locals and the return value as separate scopes.
    pub separate_scopes: bool,
    /// Which frames have a disassembly as their source.
    pub show_disassembly: ShowDisassembly,
    /// How functions are named.
    pub function_names: FunctionNames,
    /// Don't list tasks of asynchronous executors among the threads.
    pub hides_tasks: bool,
    /// How the program is asked to end.
    pub shutdown: Shutdown,
    /// The handling of signals, which the client's filters extend.
    pub signals: SignalTable,
    /// Which process is debugged after a fork.
    pub follow_forks: FollowForks,
    /// The user means another place (`on`).
    pub is_elsewhere: bool,
    /// Messages for the user about ignored arguments.
    pub warnings: Vec<String>,
}

impl Common {
    /// Prefixes the warnings with the request's name, and bounds their number.
    fn sign_warnings(&mut self, start: Start) {
        let more = self.warnings.len().saturating_sub(MOST_WARNINGS);
        self.warnings.truncate(MOST_WARNINGS);
        if more > 0 {
            self.warnings
                .push(format!("{more} more values are like that"));
        }
        for warning in &mut self.warnings {
            *warning = format!("{}: {warning}", start.name());
        }
    }

    /// An error, followed by the warnings: the argument that the error misses may be one whose name is misspelt.
    pub fn with_warnings(&self, sentence: &str) -> String {
        let mut lines = vec![sentence];
        lines.extend(self.warnings.iter().map(String::as_str));
        lines.join("\n")
    }
}

impl Given {
    /// Reads the arguments that the protocol leaves to the adapter.
    ///
    /// # Errors
    /// A message that names the argument and says what it should be.
    pub fn read(start: Start, arguments: &BTreeMap<String, Raw>) -> Result<Given, String> {
        let mut values = BTreeMap::new();
        for (name, raw) in arguments {
            let value: Value = raw.decode().map_err(|error| format!("`{name}`: {error}"))?;
            // `null` counts as missing: some clients send it for arguments that the user hasn't given.
            if !value.is_null() {
                values.insert(name.as_str(), value);
            }
        }
        if values.contains_key("cargo")
            && values
                .get("program")
                .is_some_and(|program| program == BUILT_BY_CARGO)
        {
            values.remove("program");
        }
        let mut given = Given::default();
        for row in table::rows(start) {
            let Some(value) = values.remove(row.name) else {
                continue;
            };
            match row.alias_of().filter(|of| values.contains_key(of)) {
                Some(of) => given.warn(format!(
                    "`{}` is ignored beside `{of}`, which says the same",
                    row.name
                )),
                None => given.take(row, &value)?,
            }
        }
        for (name, value) in values {
            // An argument for a core file is an error in a `launch`, because a launch would run the crashed program again.
            if start == Start::Launch
                && !is_empty(&value)
                && table::rows(Start::Attach).any(|row| row.name == name && row.meant() == CORE)
            {
                return Err(format!(
                    "`{name}` is of a process that has ended: to look at it, \"request\": \"attach\" with `{CORE}`"
                ));
            }
            if let Some(warning) = not_taken(start, name, &value) {
                given.warn(warning);
            }
        }
        given.common.sign_warnings(start);
        Ok(given)
    }

    fn take(&mut self, row: &Row, value: &Value) -> Result<(), String> {
        row.shape
            .check(row.name, value, &mut self.common.warnings)?;
        (row.read)(self, row.name, value)
    }

    /// Adds a warning about something ignored.
    pub fn warn(&mut self, sentence: String) {
        self.common.warnings.push(sentence);
    }
}

/// The warning about an argument that the request doesn't take. `None`: the argument is the client's own, or its value is empty and the
/// other request or another debugger knows its name.
fn not_taken(start: Start, name: &str, value: &Value) -> Option<String> {
    if name.starts_with('_') || CLIENTS_OWN.contains(&name) {
        return None;
    }
    if table::rows(start.other()).any(|row| row.name == name) {
        return (!is_empty(value)).then(|| {
            format!(
                "`{name}` is for \"request\": \"{}\", and ignored",
                start.other().name()
            )
        });
    }
    if let Some(reason) = others::message(start, name) {
        return (!is_empty(value)).then(|| format!("`{name}` is ignored: {reason}"));
    }
    let known: Vec<&str> = table::rows(start).map(|row| row.name).collect();
    Some(unknown::warning(&Unknown {
        inside: None,
        name,
        known: &known,
    }))
}

/// Whether a value is empty or `false`. Templates of configurations have such values for arguments that aren't used.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(flag) => !flag,
        Value::Null | Value::Number(_) => false,
    }
}

/// Whether sessions of forked children inherit an argument: those of both requests are inherited.
pub fn goes_for_children(name: &str) -> bool {
    table::rows(Start::Launch).any(|row| row.name == name && row.is_common())
}
