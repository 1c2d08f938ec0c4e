//! Reads the values of arguments whose shape was checked. Values can still be invalid in other ways.

pub mod shape;
pub mod unknown;
pub mod words;

use dapple_engine::launch::{Sink, Stdin};
use dapple_engine::session::stepping::{SkipList, ThirdParty};
use dapple_engine::signals::SignalTable;
use serde_json::{Map, Value};
use shape::Type;
use std::ffi::OsString;
use std::path::PathBuf;
use words::split_words;

/// A change to the program's environment; `None` removes the variable.
pub type Variable = (OsString, Option<OsString>);

/// The error for an argument of the wrong type.
pub fn wrong(name: &str, expected: &str, value: &Value) -> String {
    let got = Type::of(value).name();
    format!("`{name}` must be {expected}, not {got}")
}

/// A string.
///
/// # Errors
/// The value is no string, or has a NUL character.
pub fn string<'a>(name: &str, value: &'a Value) -> Result<&'a str, String> {
    let text = value
        .as_str()
        .ok_or_else(|| wrong(name, "a string", value))?;
    no_nul(name, text)?;
    Ok(text)
}

/// Refuses NUL characters, which system calls can't take.
///
/// # Errors
/// The text has a NUL character.
pub fn no_nul(name: &str, text: &str) -> Result<(), String> {
    match text.contains('\0') {
        true => Err(format!("`{name}` contains a NUL character")),
        false => Ok(()),
    }
}

/// A boolean.
///
/// # Errors
/// The value is no boolean.
pub fn boolean(name: &str, value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| wrong(name, "true or false", value))
}

/// A whole number of at least `least`.
///
/// # Errors
/// The value is something else, or too large for the type.
pub fn whole_number<N: TryFrom<u64>>(name: &str, value: &Value, least: u64) -> Result<N, String> {
    let number = value.as_u64().filter(|number| *number >= least);
    let number = number.and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| wrong(name, &format!("a whole number of at least {least}"), value))
}

/// A path; `~/` is the user's home directory. `None` for an empty string.
///
/// # Errors
/// As [`string`], or the home directory isn't known.
pub fn path(name: &str, value: &Value) -> Result<Option<PathBuf>, String> {
    let text = string(name, value)?;
    if text.is_empty() {
        return Ok(None);
    }
    let Some(rest) = text
        .strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
    else {
        return Ok(Some(text.into()));
    };
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| {
        format!("`{name}`: `~` is not known here (`HOME` is not set); give the whole path")
    })?;
    Ok(Some(PathBuf::from(home).join(rest.trim_start_matches('/'))))
}

/// `"FILE"`, or a list of files.
///
/// # Errors
/// As [`path`].
pub fn paths(name: &str, value: &Value) -> Result<Vec<PathBuf>, String> {
    let each = labelled(name, value);
    let paths = each.map(|(label, item)| path(&label, item).transpose());
    paths.flatten().collect()
}

/// The items of a list, each labelled with `name` and its index. A value that is no list is itself the only item,
/// labelled with `name`.
fn labelled<'a>(
    name: &str,
    value: &'a Value,
) -> Box<dyn Iterator<Item = (String, &'a Value)> + 'a> {
    let name = name.to_owned();
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            Box::new(items.map(move |(index, item)| (format!("{name}[{index}]"), item)))
        }
        other => Box::new(std::iter::once((name, other))),
    }
}

/// `["a", "b c"]`, or `"a 'b c'"`, which is split as a shell would.
///
/// # Errors
/// As [`split_words`], or an item of the list is no string.
pub fn words(name: &str, value: &Value) -> Result<Vec<OsString>, String> {
    match value {
        Value::String(text) => split_words(text).map_err(|error| format!("`{name}`: {error}")),
        list => labelled(name, list)
            .map(|(label, item)| string(&label, item).map(OsString::from))
            .collect(),
    }
}

/// `{"NAME": "value", "GONE": null}`, or `["NAME=value", "EMPTY"]`.
///
/// # Errors
/// A name or value that no variable can have.
pub fn variables(name: &str, value: &Value) -> Result<Vec<Variable>, String> {
    match value {
        Value::Object(entries) => entries
            .iter()
            .map(|(variable, value)| {
                let label = format!("{name}.{variable}");
                variable_name(&label, variable)?;
                let value = match value {
                    Value::Null => None,
                    Value::Number(number) => Some(number.to_string().into()),
                    Value::Bool(flag) => Some(flag.to_string().into()),
                    other => Some(string(&label, other)?.into()),
                };
                Ok((variable.into(), value))
            })
            .collect(),
        list => labelled(name, list)
            .map(|(label, entry)| {
                let entry = string(&label, entry)?;
                let (variable, value) = entry.split_once('=').unwrap_or((entry, ""));
                variable_name(&label, variable)?;
                Ok((variable.into(), Some(value.into())))
            })
            .collect(),
    }
}

/// `[{"name": "NAME", "value": "value"}]`, as cpptools has them.
///
/// # Errors
/// A name or value that no variable can have.
pub fn named_variables(name: &str, value: &Value) -> Result<Vec<Variable>, String> {
    labelled(name, value)
        .map(|(label, entry)| {
            let field = |field: &str| {
                string(
                    &format!("{label}.{field}"),
                    entry.get(field).unwrap_or(&Value::Null),
                )
            };
            let variable = field("name")?;
            variable_name(&format!("{label}.name"), variable)?;
            Ok((variable.into(), Some(field("value")?.into())))
        })
        .collect()
}

fn variable_name(label: &str, name: &str) -> Result<(), String> {
    if name.is_empty() || name.contains('=') {
        return Err(format!(
            "`{label}` is no name an environment variable can have"
        ));
    }
    no_nul(label, name)
}

/// A list of patterns of functions and files.
///
/// # Errors
/// A pattern is invalid.
pub fn skip(name: &str, value: &Value) -> Result<SkipList, String> {
    let mut patterns = Vec::new();
    for (label, item) in labelled(name, value) {
        let pattern = string(&label, item)?;
        SkipList::parse([pattern]).map_err(|error| format!("`{label}`: {error}"))?;
        patterns.push(pattern);
    }
    SkipList::parse(patterns).map_err(|error| format!("`{name}`: {error}"))
}

/// A list of patterns of source files.
///
/// # Errors
/// A pattern is invalid.
pub fn third_party(name: &str, value: &Value) -> Result<ThirdParty, String> {
    let mut patterns = Vec::new();
    for (label, item) in labelled(name, value) {
        let pattern = string(&label, item)?;
        ThirdParty::parse([pattern]).map_err(|error| format!("`{label}`: {error}"))?;
        patterns.push(pattern);
    }
    ThirdParty::parse(patterns).map_err(|error| format!("`{name}`: {error}"))
}

/// `"SIGUSR1, SIGCHLD:nopass"`, the same as an array, or an object from names to actions.
///
/// # Errors
/// A signal or an action is unknown.
pub fn signals(name: &str, value: &Value) -> Result<SignalTable, String> {
    let mut table = SignalTable::default();
    let mut change = |label: &str, list: &str| {
        let changed = table.change(list);
        changed.map_err(|sentence| format!("`{label}`: {sentence}"))
    };
    match value {
        Value::Object(entries) => {
            for (signal, words) in entries {
                let words = string(&format!("{name}.{signal}"), words)?;
                change(name, &format!("{signal}:{words}"))?;
            }
        }
        list => {
            for (label, item) in labelled(name, list) {
                change(&label, string(&label, item)?)?;
            }
        }
    }
    Ok(table)
}

/// The standard input: `"null"`, `"console"`, `"inherit"` or `"FILE"`.
///
/// # Errors
/// As [`file()`].
pub fn stdin(name: &str, value: &Value) -> Result<Stdin, String> {
    Ok(match value.as_str() {
        Some("null") => Stdin::Null,
        Some("console") => Stdin::Sent,
        Some("inherit") => Stdin::Inherit,
        _ => Stdin::File(file(name, value)?),
    })
}

/// Where output goes: `"FILE"`, `"null"`, `"console"`, or `{"file": "FILE", "append": true}`.
///
/// # Errors
/// As [`file()`].
pub fn sink(name: &str, value: &Value) -> Result<Sink, String> {
    Ok(match (value.as_str(), value) {
        (Some("null"), _) => Sink::Null,
        (Some("console"), _) => Sink::Events,
        (_, Value::Object(fields)) => sink_of(name, fields)?,
        _ => Sink::File {
            path: file(name, value)?,
            append: false,
        },
    })
}

fn sink_of(name: &str, fields: &Map<String, Value>) -> Result<Sink, String> {
    let path = fields.get("file").unwrap_or(&Value::Null);
    let append = fields.get("append").filter(|append| !append.is_null());
    Ok(Sink::File {
        path: file(&format!("{name}.file"), path)?,
        append: match append {
            Some(append) => boolean(&format!("{name}.append"), append)?,
            None => false,
        },
    })
}

/// A path that must not be empty.
///
/// # Errors
/// As [`path`], or the path is empty.
pub fn file(name: &str, value: &Value) -> Result<PathBuf, String> {
    path(name, value)?.ok_or_else(|| format!("`{name}` is empty: it names no file"))
}

/// A process id, as a number or a string: clients with a process picker send a string.
///
/// # Errors
/// The value can't be a process id.
pub fn process_id(name: &str, value: &Value) -> Result<i32, String> {
    let number = match value {
        Value::String(text) => text.trim().parse::<i64>().ok(),
        other => other.as_i64(),
    };
    match number.map(i32::try_from) {
        Some(Ok(pid)) if pid > 0 => Ok(pid),
        Some(_) => Err(format!("`{name}`: {value} is no process id")),
        None => match value.as_str().filter(|text| text.contains("${")) {
            Some(variable) => Err(format!(
                "`{name}`: the client has not replaced {variable}, which it may not know; give the process id, a number"
            )),
            None => Err(wrong(name, "a process id", value)),
        },
    }
}
