//! Configurations of VS Code's `launch.json`, which other editors read as well.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use super::arguments::{Given, Kind};
use super::variables::Variables;
use super::{Adapter, Preset};
use crate::debug::screen::printable;

mod tasks;

/// Longer files, in bytes, are not read.
const LONGEST: u64 = 1 << 20;
/// What is for the editor, and not for the adapter.
const OF_EDITOR: &[&str] = &[
    "preLaunchTask",
    "postDebugTask",
    "presentation",
    "internalConsoleOptions",
    "debugServer",
    "serverReadyAction",
    "linux",
    "osx",
    "windows",
];

/// A configuration, ready to be used.
#[derive(Debug)]
pub struct Configuration {
    /// What the adapter is given.
    pub given: Given,
    /// The adapter that its `type` means.
    pub adapter: Adapter,
}

/// The file and the name in `launch.json:NAME`, or `None` if the text isn't of this form. The name may be missing.
pub fn named(text: &str) -> Option<(PathBuf, Option<&str>)> {
    const FILE: &str = "launch.json";
    if text.trim_start().starts_with('{') {
        return None;
    }
    let end = text.find(FILE)? + FILE.len();
    let (file, rest) = text.split_at(end);
    let name = match rest {
        "" => None,
        rest => Some(rest.strip_prefix(':')?),
    };
    Some((file.into(), name))
}

/// Reads a configuration, and runs its `preLaunchTask`. `open`: the file that stands for the one in the editor. `shares_streams`: the task may read our
/// stdin and write to our stdout.
///
/// # Errors
/// There is no such configuration, it needs the editor, or the task has failed.
pub fn read(
    file: &Path,
    name: Option<&str>,
    open: Option<&Path>,
    shares_streams: bool,
) -> anyhow::Result<Configuration> {
    let file = find(file)?;
    let shown = file.display();
    let folder = folder_of(&file);
    let parsed = parse(&file)?;
    let all = parsed["configurations"].as_array();
    let all: Vec<&Map<String, Value>> = all
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .collect();
    let found = choose(&all, name, &parsed).with_context(|| shown.to_string())?;
    let mut fields = found.clone();
    let here = fields.get("linux").and_then(Value::as_object).cloned();
    fields.extend(here.into_iter().flatten());
    let variables = Variables::new(&folder, open, &parsed["inputs"]);
    let about = || format!("{shown}, \"{}\"", text(&fields, "name").unwrap_or_default());
    let kind = match text(&fields, "request") {
        Some("launch") => Kind::Launch,
        Some("attach") => Kind::Attach,
        _ => bail!("{}: `request` must be \"launch\" or \"attach\"", about()),
    };
    let adapter = match fields.get("debugServer") {
        Some(port) => listening(&variables.replaced(port)?),
        None => adapter_of(text(&fields, "type").unwrap_or_default()),
    };
    let adapter = adapter.with_context(about)?;
    if let Some(task) = fields.get("preLaunchTask") {
        tasks::run(&folder, task, open, shares_streams).with_context(about)?;
    }
    let mut arguments = Map::new();
    for (name, value) in &fields {
        if !OF_EDITOR.contains(&&**name) {
            let value = variables.replaced(value);
            arguments.insert(name.clone(), value.with_context(about)?);
        }
    }
    Ok(Configuration {
        given: Given { kind, arguments },
        adapter,
    })
}

fn text<'f>(fields: &'f Map<String, Value>, name: &str) -> Option<&'f str> {
    fields.get(name).and_then(Value::as_str)
}

/// Our own adapter takes the arguments of the others for native programs.
fn adapter_of(of: &str) -> anyhow::Result<Adapter> {
    match of {
        "cppdbg" | "lldb" | "lldb-dap" | "lldb-vscode" | "gdb" => Ok(Adapter::Own),
        of => Adapter::of_type(of).with_context(|| {
            format!(
                "no adapter is known for the type \"{}\"; name one by --adapter: a command, or one of {}",
                printable(of),
                Preset::names()
            )
        }),
    }
}

/// The adapter that listens on this port of this machine, as editors understand `debugServer`.
fn listening(port: &Value) -> anyhow::Result<Adapter> {
    let number = match port {
        Value::String(text) => text.trim().parse().ok(),
        port => port.as_u64().and_then(|number| u16::try_from(number).ok()),
    };
    match number {
        Some(number @ 1..) => Ok(Adapter::At(
            SocketAddr::from((Ipv4Addr::LOCALHOST, number)).into(),
            None,
        )),
        _ => bail!("`debugServer` must be the port on which an adapter listens: {port} is none"),
    }
}

fn choose<'a>(
    all: &[&'a Map<String, Value>],
    name: Option<&str>,
    parsed: &Value,
) -> anyhow::Result<&'a Map<String, Value>> {
    let names: Vec<_> = all
        .iter()
        .map(|fields| {
            format!(
                "\"{}\"",
                printable(text(fields, "name").unwrap_or_default())
            )
        })
        .collect();
    let list = names.join(", ");
    let Some(name) = name else {
        return match all {
            [one] => Ok(one),
            [] => bail!("there is no configuration"),
            _ => bail!("there are several configurations: {list}; choose by `launch.json:NAME`"),
        };
    };
    if let Some(found) = all.iter().find(|fields| text(fields, "name") == Some(name)) {
        return Ok(found);
    }
    let compounds = parsed["compounds"].as_array();
    let mut compounds = compounds.into_iter().flatten();
    if compounds.any(|compound| compound["name"] == name) {
        bail!(
            "\"{name}\" stands for several configurations, which are debugged one at a time here"
        );
    }
    match all {
        [] => bail!("there is no configuration"),
        _ => bail!("there is no configuration \"{name}\"; there are {list}"),
    }
}

/// The file as it is given, or in `.vscode` of this folder or one above.
fn find(file: &Path) -> anyhow::Result<PathBuf> {
    if file.is_file() {
        return std::path::absolute(file).context("the working directory is gone");
    }
    let here = std::env::current_dir().context("the working directory is gone")?;
    if file == Path::new("launch.json") {
        let mut found = here
            .ancestors()
            .map(|folder| folder.join(".vscode/launch.json"));
        let found = found.find(|file| file.is_file());
        return found.with_context(|| {
            format!(
                "there is no .vscode/launch.json in {} or above",
                here.display()
            )
        });
    }
    bail!("there is no file {}", file.display())
}

/// The folder that is open in the editor.
fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(file);
    match folder.file_name().is_some_and(|name| name == ".vscode") {
        true => folder.parent().unwrap_or(folder).to_owned(),
        false => folder.to_owned(),
    }
}

fn parse(file: &Path) -> anyhow::Result<Value> {
    let about = || format!("{}", file.display());
    if file.metadata().with_context(about)?.len() > LONGEST {
        bail!("{} has more than a megabyte", file.display());
    }
    let text = std::fs::read_to_string(file).with_context(about)?;
    serde_json::from_str(&crate::jsonc::without_comments(&text))
        .with_context(|| format!("{} is no JSON", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_named_behind_the_file() {
        let named =
            |text: &'static str| named(text).map(|(file, name)| (file.display().to_string(), name));
        let file = |file: &str, name| Some((file.to_owned(), name));
        assert_eq!(named("launch.json"), file("launch.json", None));
        assert_eq!(named("launch.json:a: b"), file("launch.json", Some("a: b")));
        assert_eq!(named("a/launch.json:b"), file("a/launch.json", Some("b")));
        assert_eq!(named("{\"program\": \"launch.json\"}"), None);
        assert_eq!(named("@launch.jsonc"), None);
    }
}
