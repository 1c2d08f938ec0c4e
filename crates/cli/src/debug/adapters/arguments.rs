//! The arguments of `launch` and `attach`: those that the options of `dapple debug` and the commands for the next `run` stand for, in the names of
//! each adapter, and those that the user has given as JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dapple_dap::message::Raw;
use serde_json::{Map, Value};

use super::Adapter;
use super::presets::StubArgument;
use crate::debug::link::{Attach, FollowForks, Program, ProgramStdin};

/// The arguments, by their names.
pub type Arguments = BTreeMap<String, Raw>;

/// The request that begins a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `launch`
    Launch,
    /// `attach`
    Attach,
}

/// Arguments that the user has given, all of them or beside a program.
#[derive(Debug, Clone)]
pub struct Given {
    /// For which request.
    pub kind: Kind,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

impl Given {
    /// Parses the JSON of `--launch` or `--attach-with`: an object, or `@FILE` with one. Comments are allowed, as in `launch.json`.
    ///
    /// # Errors
    /// The file can't be read, or it is no JSON object.
    pub fn parse(kind: Kind, text: &str) -> anyhow::Result<Given> {
        let (text, of) = match text.strip_prefix('@') {
            Some(file) => {
                let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
                (text, file.to_owned())
            }
            None => (text.to_owned(), "the arguments".to_owned()),
        };
        let text = crate::jsonc::without_comments(&text);
        let value: Value =
            serde_json::from_str(&text).with_context(|| format!("{of}: this is no JSON"))?;
        match value {
            Value::Object(arguments) => Ok(Given { kind, arguments }),
            _ => bail!("{of}: an object is needed, as in {{\"program\": \"a.out\"}}"),
        }
    }

    /// The program or process that they name, as it is shown to the user.
    pub fn name(&self) -> Option<String> {
        let names = [
            "program",
            "processId",
            "pid",
            "coreFile",
            "target",
            "module",
            "port",
        ];
        let value = names.iter().find_map(|name| self.arguments.get(*name))?;
        Some(match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    /// The program's working directory, as it was given.
    pub fn cwd(&self) -> Option<&Path> {
        let cwd = self.arguments.get("cwd")?.as_str()?;
        Some(Path::new(cwd))
    }

    /// The variables of the program's environment, as an object, as a list of `NAME=VALUE`, or as a list of objects. `None` for those that are
    /// removed.
    fn environment(&self) -> BTreeMap<String, Option<String>> {
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let mut variables = BTreeMap::new();
        for name in ["environment", "env"] {
            match self.arguments.get(name) {
                Some(Value::Object(fields)) => {
                    let fields = fields.iter();
                    variables.extend(fields.map(|(name, value)| (name.clone(), text(value))));
                }
                Some(Value::Array(items)) => {
                    variables.extend(items.iter().filter_map(|item| match item {
                        Value::String(line) => {
                            let (name, value) = line.split_once('=').unwrap_or((line, ""));
                            Some((name.to_owned(), Some(value.to_owned())))
                        }
                        other => Some((other["name"].as_str()?.to_owned(), text(&other["value"]))),
                    }));
                }
                _ => {}
            }
        }
        variables
    }
}

/// The files that a program's streams are redirected to; `None` for those that are not redirected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Streams {
    /// The file of its standard input.
    pub stdin: Option<PathBuf>,
    /// The file of its standard output.
    pub stdout: Option<OutputFile>,
    /// The file of its standard error.
    pub stderr: Option<OutputFile>,
}

/// A file that output is written to; relative paths are relative to the program's working directory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct OutputFile {
    /// Its path.
    pub file: PathBuf,
    /// Whether what is in it stays.
    pub append: bool,
}

/// The arguments to launch the program.
///
/// # Errors
/// A path isn't Unicode, which JSON requires, or the working directory is gone.
pub fn launch(
    program: &Program,
    stdin: ProgramStdin,
    adapter: &Adapter,
) -> anyhow::Result<Arguments> {
    let mut arguments = Arguments::new();
    let cwd = std::env::current_dir().context("the working directory is gone")?;
    let mut set = |name: &str, value: Raw| arguments.insert(name.to_owned(), value);
    if let Some(file) = &program.replay {
        set("replay", Raw::new(text_of(file)?)?);
        set("stopOnEntry", Raw::new(&false)?);
        add_common(&mut arguments, program)?;
        return Ok(arguments);
    }
    match &program.cargo {
        // cargo is run here, and the program elsewhere.
        Some(words) if program.cwd.is_some() => {
            let cargo = serde_json::json!({"args": words, "cwd": text_of(&cwd)?});
            set("cargo", Raw::new(&cargo)?)
        }
        Some(words) => set("cargo", Raw::new(words)?),
        None if program.path.as_os_str().is_empty() => None,
        None => set("program", Raw::new(text_of(&program.path)?)?),
    };
    if !program.args.is_empty() || program.given.is_none() {
        set("args", Raw::new(&program.args)?);
    }
    // Our own directory says nothing about one elsewhere.
    let here = Some(&cwd).filter(|_| adapter.place().is_none());
    if let Some(directory) = program.cwd.as_ref().or(here) {
        set("cwd", Raw::new(text_of(directory)?)?);
    }
    if program.given.is_none() {
        set("stopOnEntry", Raw::new(&false)?);
    }
    if program.record {
        set("record", Raw::new(&true)?);
    }
    let is_redirected = program.streams != Streams::default();
    if adapter.is_own() && program.pty && !is_redirected {
        set("pty", Raw::new(&true)?);
    }
    if adapter.is_here() && stdin != ProgramStdin::Null {
        set("stdin", Raw::new("inherit")?);
    }
    if adapter.is_here() && stdin == ProgramStdin::Terminal {
        // If the program's output were a pipe, the C library would buffer it, and it would appear late or only at the end.
        for stream in ["stdout", "stderr"] {
            set(stream, Raw::new("/dev/tty")?);
        }
    }
    if let Some(preset) = adapter.preset() {
        for (name, value) in preset.launch {
            set(name, serde_json::from_str(value)?);
        }
        if let Some(mode) = preset.mode {
            set("mode", Raw::new(mode(&program.path))?);
        }
    }
    add_common(&mut arguments, program)?;
    add_given(&mut arguments, program)?;
    add_environment(&mut arguments, program, adapter)?;
    add_streams(&mut arguments, &program.streams)?;
    Ok(arguments)
}

/// The arguments to attach to a process, or to look at a core file. `stopOnEntry` stops the process where it is, so that the user can look at it.
///
/// # Errors
/// A path isn't Unicode, or the adapter can't do that.
pub fn attach(attach: &Attach, program: &Program, adapter: &Adapter) -> anyhow::Result<Arguments> {
    let mut arguments = Arguments::new();
    let mut set = |name: &str, value: Raw| arguments.insert(name.to_owned(), value);
    let names = adapter.preset().map(|preset| &preset.attaches);
    if let Some(preset) = adapter.preset() {
        for (name, value) in preset.attach {
            set(name, serde_json::from_str(value)?);
        }
    }
    match attach {
        Attach::Given => {}
        Attach::Process { target, wait } => {
            let process = names.map_or("pid", |names| names.process);
            match target.parse::<i32>() {
                Ok(pid) if !wait => set(process, Raw::new(&pid)?),
                _ => set("program", Raw::new(target)?),
            };
            if *wait {
                set("waitFor", Raw::new(&true)?);
            }
            set("stopOnEntry", Raw::new(&true)?);
        }
        Attach::Stub {
            address,
            program,
            sysroot,
        } => {
            let stub = names.map_or(StubArgument::Address("target"), |names| names.stub);
            match stub {
                StubArgument::None => bail!("this adapter can't debug what is behind a stub"),
                StubArgument::Address(name) => {
                    set(name, Raw::new(address)?);
                }
                StubArgument::HostAndPort(host, port) => {
                    let place = address.rsplit_once(':').and_then(|(host, port)| {
                        let port: u16 = port.parse().ok()?;
                        Some((host, port))
                    });
                    let (name, number) =
                        place.context("this adapter can only be told of HOST:PORT")?;
                    set(host, Raw::new(name)?);
                    set(port, Raw::new(&number)?);
                }
            }
            for (name, path) in [("program", program), ("sysroot", sysroot)] {
                if let Some(path) = path {
                    set(name, Raw::new(text_of(path)?)?);
                }
            }
            set("stopOnEntry", Raw::new(&true)?);
        }
        Attach::Core { file, program } => {
            let name = match names {
                Some(names) => names
                    .core
                    .context("this adapter can't look at core files")?,
                None => "coreFile",
            };
            set(name, Raw::new(file)?);
            if let Some(program) = program {
                set("program", Raw::new(program)?);
            }
        }
    }
    add_common(&mut arguments, program)?;
    add_given(&mut arguments, program)?;
    Ok(arguments)
}

/// Adds the arguments that launch and attach have in common.
fn add_common(arguments: &mut Arguments, program: &Program) -> anyhow::Result<()> {
    let mut set = |name: &str, value: Raw| arguments.insert(name.to_owned(), value);
    if program.debuginfod {
        set("debuginfod", Raw::new(&true)?);
    }
    if !program.source_map.is_empty() {
        let folders = program.source_map.iter();
        let folders: Vec<_> = folders.map(|map| [&map.from, &map.to]).collect();
        set("sourceMap", Raw::new(&folders)?);
    }
    if !program.visualizers.is_empty() {
        let files = program.visualizers.iter().map(|file| text_of(file));
        let files = files.collect::<anyhow::Result<Vec<&str>>>()?;
        set("visualizerFile", Raw::new(&files)?);
    }
    let follow = match program.follow_forks {
        FollowForks::Parent => None,
        FollowForks::Child => Some("child"),
        FollowForks::Both => Some("both"),
    };
    if let Some(follow) = follow {
        set("followForks", Raw::new(follow)?);
    }
    Ok(())
}

/// The user's own come before all others, but for the program, its arguments and its directory, if they are given beside them.
fn add_given(arguments: &mut Arguments, program: &Program) -> anyhow::Result<()> {
    let Some(given) = &program.given else {
        return Ok(());
    };
    for (name, value) in &given.arguments {
        let is_beside = match &**name {
            "program" => !program.path.as_os_str().is_empty(),
            "args" => !program.args.is_empty(),
            "cwd" => program.cwd.is_some(),
            _ => false,
        };
        if !is_beside {
            arguments.insert(name.clone(), Raw::new(value)?);
        }
    }
    Ok(())
}

/// The variables of the program's environment that differ from ours; `None` for those that are removed. Those that were set at the prompt come
/// before those that were given.
pub fn environment(program: &Program) -> BTreeMap<String, Option<String>> {
    let mut variables = { program.given.as_ref() }
        .map(Given::environment)
        .unwrap_or_default();
    variables.extend(program.env.clone());
    variables
}

/// The variables that were removed at the prompt. Not all adapters can do that, and the program inherits theirs.
pub fn removed(program: &Program) -> Vec<&str> {
    let removed = program.env.iter().filter(|(_, value)| value.is_none());
    removed.map(|(name, _)| &**name).collect()
}

/// Adds the environment, if it was changed at the prompt. For other adapters it is the whole environment: some start the program with nothing
/// else.
fn add_environment(
    arguments: &mut Arguments,
    program: &Program,
    adapter: &Adapter,
) -> anyhow::Result<()> {
    if program.env.is_empty() {
        return Ok(());
    }
    let mut env = environment(program);
    if adapter.is_own() {
        // What it has is in the other one.
        arguments.remove("environment");
    } else {
        for (name, value) in std::env::vars_os() {
            // JSON can only carry Unicode.
            if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) {
                env.entry(name).or_insert(Some(value));
            }
        }
        env.retain(|_, value| value.is_some());
    }
    arguments.insert("env".to_owned(), Raw::new(&env)?);
    Ok(())
}

/// Adds the files of redirected streams, which only Dapple's adapter takes.
fn add_streams(arguments: &mut Arguments, streams: &Streams) -> anyhow::Result<()> {
    let mut set = |name: &str, value: Raw| arguments.insert(name.to_owned(), value);
    if let Some(file) = &streams.stdin {
        set("stdin", Raw::new(text_of(file)?)?);
    }
    for (name, output) in [("stdout", &streams.stdout), ("stderr", &streams.stderr)] {
        if let Some(output) = output {
            set(name, Raw::new(output)?);
        }
    }
    Ok(())
}

/// Adds what only Dapple's adapter takes: the patterns of code that steps don't enter, and separate scopes for arguments and return values,
/// which `info args` and `finish` need.
pub fn add_own(
    arguments: &mut Arguments,
    skip: &[String],
    adapter: &Adapter,
) -> anyhow::Result<()> {
    if adapter.is_own() {
        arguments.insert("skip".to_owned(), Raw::new(skip)?);
        arguments.insert("separateScopes".to_owned(), Raw::new(&true)?);
    }
    Ok(())
}

/// A path as text, because JSON can only carry Unicode.
fn text_of(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| {
        format!(
            "the protocol can't carry the path {}: it is not UTF-8",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_an_object_with_comments_if_one_likes() {
        let given = Given::parse(Kind::Launch, "{\"program\": \"a\", // this one\n}").unwrap();
        assert_eq!(given.name().as_deref(), Some("a"));
        for wrong in ["[]", "{", "@/nowhere/at/all", ""] {
            assert!(Given::parse(Kind::Launch, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_the_user_gives_comes_first_but_for_a_program_beside_it() {
        let given = Given::parse(
            Kind::Launch,
            "{\"stopOnEntry\": true, \"program\": \"other\", \"cwd\": \"/\"}",
        );
        let program = Program {
            path: "/bin/true".into(),
            given: Some(given.unwrap()),
            ..Program::default()
        };
        let adapter = Adapter::of(Some("delve".to_owned()), None);
        let arguments = launch(&program, ProgramStdin::Null, &adapter).unwrap();
        let text = serde_json::to_string(&arguments).unwrap();
        assert_eq!(
            text,
            "{\"cwd\":\"/\",\"mode\":\"exec\",\"outputMode\":\"remote\",\"program\":\"/bin/true\",\"stopOnEntry\":true}"
        );
    }

    #[test]
    fn an_environment_is_given_in_several_forms_and_changed_by_what_is_set() {
        let given = Given::parse(
            Kind::Launch,
            r#"{"environment": [{"name": "A", "value": "1"}], "env": {"B": 2, "C": null}}"#,
        );
        let mut program = Program {
            given: Some(given.unwrap()),
            ..Program::default()
        };
        let of = |text: &str| Some(text.to_owned());
        let shown = |program: &Program| environment(program).into_values().collect::<Vec<_>>();
        assert_eq!(shown(&program), [of("1"), of("2"), None]);
        program.env = BTreeMap::from([("A".to_owned(), None), ("D".to_owned(), of("4"))]);
        assert_eq!(shown(&program), [None, of("2"), None, of("4")]);
        assert_eq!(removed(&program), ["A"]);
        let launched = |adapter: &Adapter| {
            let arguments = launch(&program, ProgramStdin::Null, adapter).unwrap();
            serde_json::to_value(&arguments).unwrap()
        };
        let own = launched(&Adapter::Own);
        let expected = serde_json::json!({"A": null, "B": "2", "C": null, "D": "4"});
        assert_eq!(
            (&own["env"], &own["environment"]),
            (&expected, &Value::Null)
        );
        let whole = launched(&Adapter::of(Some("gdb".to_owned()), None))["env"].clone();
        let path = std::env::var("PATH").unwrap();
        assert_eq!(whole["PATH"], path);
        assert_eq!((&whole["B"], whole.get("A")), (&Value::from("2"), None));
    }
}
