//! Turns the arguments about builds into plans.

use super::Plan;
use super::cargo::{CargoPlan, CommandLine, Filter, Kind};
use super::shell::{CommandPlan, Line};
use super::source::Language;
use crate::argument_values::{path, string, variables, words};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `{"args": ["test", "--lib"], "cwd": …, "env": …, "filter": {"name": …, "kind": …}}`, or only the `args`.
///
/// # Errors
/// A field has an invalid value, or the arguments build no program.
pub fn cargo(name: &str, value: &Value) -> Result<CargoPlan, String> {
    let mut plan = CargoPlan::default();
    let (fields, label) = fields_of(name, "args", value);
    let mut args = Vec::new();
    for (field, value) in present(&fields) {
        let of = format!("{name}.{field}");
        match field {
            "args" => args = texts(words(&label, value)?),
            "cwd" => plan.cwd = path(&of, value)?,
            "env" => plan.env = variables(&of, value)?,
            "filter" => plan.filter = filter(&of, value)?,
            // The check of the shape has warned about unknown fields.
            _ => {}
        }
    }
    plan.line = CommandLine::read(&args).map_err(|sentence| format!("`{label}`: {sentence}"))?;
    Ok(plan)
}

fn filter(name: &str, value: &Value) -> Result<Filter, String> {
    let mut filter = Filter::default();
    for (field, value) in present(value.as_object().unwrap_or(&Map::new())) {
        let text = string(&format!("{name}.{field}"), value)?;
        match field {
            "name" => filter.name = Some(text.to_owned()),
            "kind" => {
                let kind = Kind::ALL.iter().find(|(_, name)| *name == text);
                filter.kind = kind.map(|(kind, _)| *kind);
            }
            _ => {}
        }
    }
    Ok(filter)
}

/// `"make app"` for the shell, `["make", "app"]`, or `{"command": …, "cwd": …, "env": …}`.
///
/// # Errors
/// There is no command, or a field has an invalid value.
pub fn command(name: &str, value: &Value) -> Result<CommandPlan, String> {
    let (fields, label) = fields_of(name, "command", value);
    let (mut line, mut cwd, mut env) = (None, None, Vec::new());
    for (field, value) in present(&fields) {
        let of = format!("{name}.{field}");
        match field {
            "command" => line = Some(command_line(&label, value)?),
            "cwd" => cwd = path(&of, value)?,
            "env" => env = variables(&of, value)?,
            _ => {}
        }
    }
    let command = line.ok_or_else(|| format!("`{label}` is missing: what is to be run"))?;
    Ok(CommandPlan { command, cwd, env })
}

/// The fields of an object; any other value counts as an object with only the field `first`. Also returns the label
/// of the field `first`.
fn fields_of(name: &str, first: &str, value: &Value) -> (Map<String, Value>, String) {
    match value {
        Value::Object(fields) => (fields.clone(), format!("{name}.{first}")),
        other => (
            Map::from_iter([(first.to_owned(), other.clone())]),
            name.to_owned(),
        ),
    }
}

fn present(fields: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let fields = fields.iter().filter(|(_, value)| !value.is_null());
    fields.map(|(field, value)| (field.as_str(), value))
}

fn command_line(label: &str, value: &Value) -> Result<Line, String> {
    if let Value::String(_) = value {
        return match string(label, value)? {
            text if text.trim().is_empty() => Err(format!("`{label}` is empty")),
            text => Ok(Line::Shell(text.into())),
        };
    }
    let mut words = words(label, value)?.into_iter();
    match words.next().filter(|program| !program.is_empty()) {
        Some(program) => Ok(Line::Words(program, words.collect())),
        None => Err(format!("`{label}` is empty")),
    }
}

/// The builds that the arguments ask for, in order, and the program if no build determines it.
///
/// # Errors
/// The arguments contradict each other, or name no program. The caller puts the request's name in front of the
/// message.
pub fn plans(
    program: Option<PathBuf>,
    cwd: Option<&Path>,
    cargo: Option<CargoPlan>,
    command: Option<CommandPlan>,
) -> Result<(Vec<Plan>, Option<PathBuf>), String> {
    let mut plans = Vec::new();
    if let Some(mut command) = command {
        command.cwd = command.cwd.or_else(|| cwd.map(Path::to_owned));
        plans.push(Plan::Command(command));
    }
    let is_package = |folder: &Path| folder.join("Cargo.toml").is_file();
    match (program, cargo) {
        (Some(program), Some(_)) => {
            return Err(format!(
                ": `cargo` says which program is debugged, and `program` ({}) does, too; leave out one",
                program.display()
            ));
        }
        (None, Some(mut cargo)) => {
            cargo.cwd_is_cargos = cargo.cwd.is_none();
            cargo.cwd = cargo.cwd.or_else(|| cwd.map(Path::to_owned));
            plans.push(Plan::Cargo(Box::new(cargo)));
        }
        (Some(program), None) if is_package(&program) => {
            plans.push(Plan::Cargo(Box::new(of_folder(&program)?)));
        }
        (Some(program), None) => match Language::of(&program) {
            // A source file that doesn't exist, and that no build makes, is left to the launch, which suggests
            // similar names.
            Some(language) if program.exists() || !plans.is_empty() => {
                plans.push(Plan::Source(program, language));
            }
            _ => return Ok((plans, Some(program))),
        },
        (None, None) => match cwd.filter(|cwd| is_package(cwd)) {
            Some(cwd) => plans.push(Plan::Cargo(Box::new(of_folder(cwd)?))),
            None => {
                return Err(
                    " needs `program`: the path of the executable to debug, of a source file or of a folder with a Cargo.toml; or `cargo`: what cargo is to build"
                        .to_owned(),
                );
            }
        },
    }
    Ok((plans, None))
}

/// A plan that builds the program of the package in a folder.
fn of_folder(folder: &Path) -> Result<CargoPlan, String> {
    Ok(CargoPlan {
        line: CommandLine::read(&["run".to_owned()])?,
        cwd: Some(folder.to_owned()),
        ..CargoPlan::default()
    })
}

fn texts(words: Vec<OsString>) -> Vec<String> {
    // The words come from JSON, so they are UTF-8.
    let texts = words.into_iter();
    texts
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}
