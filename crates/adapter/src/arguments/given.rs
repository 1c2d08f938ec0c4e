//! What the arguments of one request say, row by row of the table.

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
use crate::source_map::SourceMap;
use dapple_dap::message::Raw;
use dapple_engine::forks::FollowForks;
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::stepping::SkipList;
use dapple_engine::signals::SignalTable;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many sentences are said of what does nothing.
const MOST_WARNINGS: usize = 30;

/// Ours for what a process has left.
const CORE: &str = "coreFile";
/// What stands in `program` where another debugger (CodeLLDB) puts what its `cargo` has built.
const BUILT_BY_CARGO: &str = "${cargo:program}";

/// What is asked for, before it is known to be enough.
#[derive(Debug, Default)]
pub struct Given {
    /// What is for both requests.
    pub common: Common,
    /// The executable, or its name.
    pub program: Option<PathBuf>,
    /// What cargo is to build.
    pub cargo: Option<CargoPlan>,
    /// What builds it.
    pub build: Option<CommandPlan>,
    /// How it is started.
    pub options: LaunchOptions,
    /// Where its terminal is.
    pub console: Console,
    /// A file of variables.
    pub env_file: Option<PathBuf>,
    /// Variables, which come after the file's.
    pub variables: Vec<Variable>,
    /// The process.
    pub pid: Option<i32>,
    /// The next process is meant.
    pub wait_for: bool,
    /// What a process has left.
    pub core: Option<PathBuf>,
    /// Where a session waits that holds the process.
    pub handed_over: Option<PathBuf>,
}

/// What is for a program however it is come by.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// Stop at the program's first instruction, or hold the process where it is.
    pub stop_on_entry: bool,
    /// Stop once at the beginning of `main`; never set for a process that is attached to.
    pub stop_at_main: bool,
    /// Ask debuginfod servers.
    pub debuginfod: bool,
    /// Code that steps don't enter.
    pub skip: SkipList,
    /// Where the sources are.
    pub source_map: SourceMap,
    /// The user's own presentation of types: Natvis files.
    pub visualizers: Vec<PathBuf>,
    /// A plain pointer shows its address, and not what it points to.
    pub addresses_only: bool,
    /// How functions are called for expressions.
    pub calls: CallSettings,
    /// Arguments, locals and what was returned are a scope each.
    pub separate_scopes: bool,
    /// Which frames get a disassembly as their source.
    pub show_disassembly: ShowDisassembly,
    /// How the program is asked to end.
    pub shutdown: Shutdown,
    /// What becomes of signals, before the client's filters say more.
    pub signals: SignalTable,
    /// What becomes of its children.
    pub follow_forks: FollowForks,
    /// Sentences for the user: what was not understood and is ignored.
    pub warnings: Vec<String>,
}

impl Common {
    /// Says whose the warnings are, and not without end.
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

    /// Why it can't be begun, with what was not understood: that may be what is missing, misspelt.
    pub fn with_warnings(&self, sentence: &str) -> String {
        let mut lines = vec![sentence];
        lines.extend(self.warnings.iter().map(String::as_str));
        lines.join("\n")
    }
}

impl Given {
    /// Reads a request's arguments other than those that the protocol itself names.
    ///
    /// # Errors
    /// A sentence that names the argument and says what it should be.
    pub fn read(start: Start, arguments: &BTreeMap<String, Raw>) -> Result<Given, String> {
        let mut values = BTreeMap::new();
        for (name, raw) in arguments {
            let value: Value = raw.decode().map_err(|error| format!("`{name}`: {error}"))?;
            // As if it weren't there: clients fill in what they have nothing for.
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
            // Better nothing than a second run of what has crashed.
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

    /// Says what does nothing.
    pub fn warn(&mut self, sentence: String) {
        self.common.warnings.push(sentence);
    }
}

/// What is said of an argument that no row of the request's takes; nothing, if it is the client's own.
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
    if let Some(reason) = others::told(start, name) {
        return (!is_empty(value)).then(|| format!("`{name}` is ignored: {reason}"));
    }
    let known: Vec<&str> = table::rows(start).map(|row| row.name).collect();
    Some(unknown::warning(&Unknown {
        inside: None,
        name,
        known: &known,
    }))
}

/// Whether nothing is said by a value, as templates have it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(flag) => !flag,
        Value::Null | Value::Number(_) => false,
    }
}

/// Whether an argument is for all processes of a program, so that a child's session gets it, too: what is for both requests is.
pub fn goes_for_children(name: &str) -> bool {
    table::rows(Start::Launch).any(|row| row.name == name && row.is_common())
}
