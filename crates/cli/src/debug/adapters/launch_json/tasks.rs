//! The tasks of VS Code's `tasks.json` that a configuration wants to be run before the program is.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use super::{parse, text};
use crate::debug::adapters::variables::Variables;
use crate::debug::shell_words::quoted;

/// The most tasks that one may depend on, one behind the other.
const DEEPEST: usize = 20;

/// Runs a task and those that it depends on. Their output goes to the terminal, or to stderr, if they may not share our streams.
pub(super) fn run(
    folder: &Path,
    task: &Value,
    open: Option<&Path>,
    shares_streams: bool,
) -> anyhow::Result<()> {
    let file = folder.join(".vscode/tasks.json");
    let parsed = match file.is_file() {
        true => parse(&file)?,
        false => Value::Null,
    };
    let tasks = Tasks {
        folder,
        all: parsed["tasks"].as_array().map_or(&[], Vec::as_slice),
        variables: Variables::new(folder, open, &parsed["inputs"]),
        shares_streams,
    };
    tasks.run(task, 0)
}

struct Tasks<'t> {
    folder: &'t Path,
    all: &'t [Value],
    variables: Variables,
    shares_streams: bool,
}

impl Tasks<'_> {
    fn run(&self, wanted: &Value, depth: usize) -> anyhow::Result<()> {
        if depth > DEEPEST {
            bail!("the tasks of .vscode/tasks.json depend on one another");
        }
        let name = match wanted {
            Value::String(name) => name.clone(),
            other => match other["task"].as_str().or(other["script"].as_str()) {
                Some(name) => name.to_owned(),
                None => bail!("`preLaunchTask` names no task"),
            },
        };
        let found = self.find(&name);
        let task =
            found.with_context(|| format!("there is no task `{name}` in .vscode/tasks.json"))?;
        let depends = match &task["dependsOn"] {
            Value::Null => &[],
            Value::Array(several) => several.as_slice(),
            one => std::slice::from_ref(one),
        };
        for other in depends {
            self.run(other, depth + 1)?;
        }
        let fields = task.as_object().context("a task is an object")?;
        let mut fields = fields.clone();
        let here = fields.get("linux").and_then(Value::as_object).cloned();
        fields.extend(here.into_iter().flatten());
        if fields.get("isBackground") == Some(&Value::Bool(true)) {
            bail!("the task `{name}` goes on in the background; start it yourself");
        }
        let Some(mut command) = self.command(&name, &fields)? else {
            // It stands for those that it depends on.
            return Ok(());
        };
        if !self.shares_streams {
            command.stdin(Stdio::null()).stdout(std::io::stderr());
        }
        let status = command.status();
        let status = status.with_context(|| format!("the task `{name}` can't be run"))?;
        match status.success() {
            true => Ok(()),
            false => bail!("the task `{name}` has failed: {status}"),
        }
    }

    fn find(&self, name: &str) -> Option<&Value> {
        if name == "${defaultBuildTask}" {
            let is_default = |task: &&Value| {
                let group = &task["group"];
                group["kind"] == "build" && group["isDefault"] == true
            };
            return self.all.iter().find(is_default);
        }
        let is = |task: &&Value| {
            let own = ["label", "taskName"].map(|field| task[field].as_str());
            // Tasks of extensions have names that are made of their types: `cargo: build`.
            let made = match (
                task["type"].as_str(),
                task["command"].as_str(),
                task["script"].as_str(),
            ) {
                (Some("npm"), _, Some(script)) => Some(format!("npm: {script}")),
                (Some(of), Some(command), _) => Some(format!("{of}: {command}")),
                _ => None,
            };
            own.contains(&Some(name)) || made.as_deref() == Some(name)
        };
        self.all.iter().find(is)
    }

    fn command(&self, name: &str, fields: &Map<String, Value>) -> anyhow::Result<Option<Command>> {
        let given = |field: &str| -> anyhow::Result<Option<String>> {
            let Some(value) = fields.get(field) else {
                return Ok(None);
            };
            self.word(value).map(Some)
        };
        let args = fields.get("args").and_then(Value::as_array);
        let args = args.into_iter().flatten().map(|arg| self.word(arg));
        let args: Vec<String> = args.collect::<anyhow::Result<_>>()?;
        let mut command = match (text(fields, "type"), given("command")?) {
            (Some("shell") | None, Some(command)) => {
                let words = args.iter().map(|arg| word_for_shell(arg));
                let line: Vec<String> = std::iter::once(command).chain(words).collect();
                let mut shell = Command::new("sh");
                shell.args(["-c", &line.join(" ")]);
                shell
            }
            (Some("process" | "cppbuild"), Some(command)) => {
                let mut process = Command::new(command);
                process.args(args);
                process
            }
            (Some("cargo"), Some(command)) => {
                let mut cargo = Command::new("cargo");
                cargo.arg(command).args(args);
                cargo
            }
            (Some("npm"), _) => {
                let script = given("script")?.context("a task of npm has a `script`")?;
                let mut npm = Command::new("npm");
                npm.args(["run", &script]);
                npm
            }
            (Some("shell" | "process") | None, None) => return Ok(None),
            (Some(of), _) => {
                bail!("the task `{name}` is of the type \"{of}\", which only VS Code knows")
            }
        };
        command.current_dir(self.folder);
        if let Some(options) = fields.get("options") {
            if options.get("cwd").is_some() {
                command.current_dir(self.word(&options["cwd"])?);
            }
            for (name, value) in options["env"].as_object().into_iter().flatten() {
                command.env(name, self.word(value)?);
            }
        }
        Ok(Some(command))
    }

    /// A word, or an object with one and how it is to be quoted.
    fn word(&self, value: &Value) -> anyhow::Result<String> {
        let value = match value {
            Value::Object(fields) => fields.get("value").unwrap_or(&Value::Null),
            value => value,
        };
        match self.variables.replaced(value)? {
            Value::String(text) => Ok(text),
            Value::Array(words) => {
                let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
                Ok(words.context("a word of a task is no text")?.join(" "))
            }
            Value::Number(number) => Ok(number.to_string()),
            _ => bail!("a word of a task is no text"),
        }
    }
}

/// A word for the shell, as VS Code has it, which leaves `$NAME` to the shell in words without blanks.
fn word_for_shell(word: &str) -> String {
    const SPECIAL: [char; 11] = [' ', '\'', '"', '\\', ';', '&', '|', '<', '>', '(', ')'];
    match word.is_empty() || word.contains(SPECIAL) {
        true => quoted(word),
        false => word.to_owned(),
    }
}
