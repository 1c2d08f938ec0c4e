//! What the program is started with: its arguments, working directory and environment. The next `run` uses what was set.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::Value;

use super::{Argument, Command, Flow};
use crate::debug::adapters::arguments::{self, Given};
use crate::debug::render;
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::shell_words::{self, quoted};

/// What `show` shows.
const SHOWN: &[&str] = &["args", "cwd", "env", "values", "convenience"];
/// Where the program's environment comes from.
const INHERITED: &str = "the program has the environment that `dapple debug` was started in";

pub static COMMANDS: &[Command] = &[
    Command {
        name: "env",
        aliases: &[],
        usage: "[NAME | NAME=VALUE]",
        summary: "set a variable of the program's environment, or show what was set",
        details: "The next `run` uses it. `unset env NAME` removes a variable, also one of the environment that `dapple debug` was started in.",
        argument: Argument::None,
        repeats: false,
        run: env,
    },
    Command {
        name: "unset",
        aliases: &[],
        usage: "env NAME",
        summary: "remove a variable from the program's environment",
        details: "The next `run` starts the program without it. `unset args` removes the program's arguments, `unset cwd` the choice of a directory.",
        argument: Argument::Topic(&["env", "args", "cwd"]),
        repeats: false,
        run: unset,
    },
    Command {
        name: "cwd",
        aliases: &["cd"],
        usage: "[DIRECTORY]",
        summary: "set the program's working directory, or show it",
        details: "The next `run` uses it. Relative paths are relative to the one that was set before.",
        argument: Argument::None,
        repeats: false,
        run: cwd,
    },
    Command {
        name: "show",
        aliases: &[],
        usage: "args | cwd | env [NAME] | values | convenience",
        summary: "show what the program is started with, or values that were printed",
        details: "`set args`, `run ARGS`, `cwd` and `env` change what it is started with. `show values` lists the values that were printed last (`$1`), `show convenience` \
                  your own variables (`set $i = 3`).",
        argument: Argument::Topic(SHOWN),
        repeats: false,
        run: show,
    },
];

/// Sets the program's arguments and redirections for the next start.
///
/// # Errors
/// The line can't be split, there is no program to start, or the adapter can't redirect.
pub(super) fn set_arguments(session: &mut Session, line: &str) -> anyhow::Result<()> {
    may_start(session)?;
    let words = shell_words::split(line)?;
    if words.streams != Default::default() && !session.is_own_adapter() {
        bail!("only Dapple's adapter can redirect the program's input and output");
    }
    let program = &mut session.program;
    // cargo's words after `--` are arguments of the program, too.
    if let Some(cargo) = &mut program.cargo
        && let Some(end) = cargo.iter().position(|word| word == "--")
    {
        cargo.truncate(end);
    }
    if let Some(given) = &mut program.given {
        given.arguments.remove("args");
    }
    program.args = words.args;
    program.streams = words.streams;
    program.is_changed = true;
    Ok(())
}

/// Whether there is a program that can be started.
fn may_start(session: &Session) -> anyhow::Result<()> {
    if session.program.attach.is_some() || session.program.replay.is_some() {
        bail!("there is no program to start: `dapple debug PROGRAM` starts one");
    }
    Ok(())
}

/// `set args …`, `set cwd …` and `set env …`. Returns whether it was one of them, and no assignment to a variable of the program's.
pub(super) fn set(session: &mut Session, argument: &str) -> anyhow::Result<bool> {
    let (word, rest) = first_word(argument);
    let operator = rest.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    if operator.starts_with('=') {
        return Ok(false);
    }
    match word {
        "args" => set_arguments(session, rest)?,
        "cwd" => set_directory(session, rest)?,
        "env" | "environment" => set_variable(session, rest)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// Parses `NAME=VALUE`, `NAME = VALUE` or gdb's `NAME VALUE`; without a value it is empty.
fn set_variable(session: &mut Session, text: &str) -> anyhow::Result<()> {
    may_start(session)?;
    let is_end = |c: char| c == '=' || c.is_whitespace();
    let (name, value) = text.split_at(text.find(is_end).unwrap_or(text.len()));
    if name.is_empty() {
        bail!("set which variable? `env NAME=VALUE`");
    }
    let value = value.trim_start();
    let value = value.strip_prefix('=').unwrap_or(value).trim();
    // Quotes around the whole value are for this line, not for the program.
    let words = match value.starts_with(['"', '\'']) {
        true => shell_words::split(value)?.args,
        false => Vec::new(),
    };
    let value = match &words[..] {
        [word] => word.clone(),
        _ => value.to_owned(),
    };
    session.program.env.insert(name.to_owned(), Some(value));
    session.program.is_changed = true;
    Ok(())
}

fn env(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.contains(|c: char| c == '=' || c.is_whitespace()) {
        set_variable(session, argument)?;
    } else {
        show_environment(session, argument)?;
    }
    Ok(Flow::Go)
}

fn show_environment(session: &mut Session, name: &str) -> anyhow::Result<()> {
    let set = arguments::environment(&session.program);
    if !name.is_empty() {
        let value = match set.get(name) {
            Some(value) => value.clone(),
            None => std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
        };
        let value = value.with_context(|| format!("`{name}` is not set"))?;
        session.screen.print(&printable(&format!("{name}={value}")));
        return Ok(());
    }
    let lines = set.iter().map(|(name, value)| match value {
        Some(value) => printable(&format!("{name}={value}")),
        None => printable(&format!("{name} is unset")),
    });
    let lines: Vec<String> = lines.collect();
    let text = match lines.is_empty() {
        true => INHERITED.to_owned(),
        false => format!("{INHERITED}, except for\n{}", lines.join("\n")),
    };
    session.screen.print(&text);
    Ok(())
}

fn unset(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    may_start(session)?;
    let (what, name) = first_word(argument);
    match what {
        "env" | "environment" if name.is_empty() => bail!("unset which variable? `unset env NAME`"),
        "env" | "environment" => remove_variable(session, name)?,
        "args" => set_arguments(session, "")?,
        "cwd" => session.program.cwd = None,
        _ => bail!("unset what? `unset env NAME`"),
    }
    session.program.is_changed = true;
    Ok(Flow::Go)
}

fn remove_variable(session: &mut Session, name: &str) -> anyhow::Result<()> {
    if !session.starts_adapter() {
        bail!(
            "the program may inherit `{name}` from the adapter, which was not started here; `env {name}=` makes it empty"
        );
    }
    session.program.env.insert(name.to_owned(), None);
    Ok(())
}

fn cwd(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    match argument {
        "" => show_directory(session)?,
        directory => set_directory(session, directory)?,
    }
    Ok(Flow::Go)
}

/// The directory that the program is started in.
fn directory(session: &Session) -> anyhow::Result<PathBuf> {
    let program = &session.program;
    let given = program.given.as_ref().and_then(Given::cwd);
    match program.cwd.as_deref().or(given) {
        Some(directory) if session.is_elsewhere() => Ok(directory.to_owned()),
        None if session.is_elsewhere() => {
            bail!(
                "the program runs elsewhere, in the directory of a shell there; `cwd DIRECTORY` sets another"
            )
        }
        Some(directory) => std::path::absolute(directory).context("the working directory is gone"),
        None => std::env::current_dir().context("the working directory is gone"),
    }
}

fn set_directory(session: &mut Session, text: &str) -> anyhow::Result<()> {
    may_start(session)?;
    let words = shell_words::split(text)?.args;
    let [word] = &words[..] else {
        bail!("which directory? `cwd DIRECTORY`");
    };
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let given = match word.strip_prefix('~').map(|rest| rest.strip_prefix('/')) {
        _ if session.is_elsewhere() => None,
        Some(Some(rest)) => home().map(|home| home.join(rest)),
        None if word == "~" => home(),
        _ => None,
    };
    let given = given.unwrap_or_else(|| PathBuf::from(word));
    if session.is_elsewhere() {
        if !given.is_absolute() {
            bail!("the program runs elsewhere: give the directory's whole path there");
        }
        session.program.cwd = Some(given);
        session.program.is_changed = true;
        return Ok(());
    }
    let path = directory(session)?.join(given);
    let path = { path.canonicalize() }
        .ok()
        .filter(|path| path.is_dir())
        .with_context(|| format!("there is no directory {}", path.display()))?;
    session.program.cwd = Some(path);
    session.program.is_changed = true;
    Ok(())
}

fn show_directory(session: &mut Session) -> anyhow::Result<()> {
    let directory = directory(session)?;
    let text = printable(&directory.to_string_lossy());
    session.screen.print(&text);
    Ok(())
}

fn show(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (what, rest) = first_word(argument);
    match what {
        "args" => {
            let text = arguments_line(session);
            session.screen.print(&text);
        }
        "cwd" => show_directory(session)?,
        "env" | "environment" => show_environment(session, rest)?,
        "values" => {
            let lines = session.values.listed();
            list(session, lines, "no value has been printed yet");
        }
        "convenience" | "conv" => {
            let none = "there are none; `set $i = 3` makes one";
            let lines = session.values.listed_variables();
            list(session, lines, none);
        }
        "" => {
            let text = format!("args: {}", arguments_line(session));
            session.screen.print(&text);
            show_directory(session)?;
            show_environment(session, "")?;
        }
        _ => bail!(
            "there is nothing about `{what}` to show, only {}; `info` shows more",
            SHOWN.join(", ")
        ),
    }
    Ok(Flow::Go)
}

fn list(session: &mut Session, lines: Vec<String>, none: &str) {
    let lines: Vec<String> = lines.iter().map(|line| printable(line)).collect();
    let text = match lines.is_empty() {
        true => none.to_owned(),
        false => lines.join("\n"),
    };
    session.screen.print(&text);
}

/// The program's arguments as a line of words.
fn words_line(session: &Session) -> String {
    let program = &session.program;
    let given = program.given.as_ref();
    let given = given.and_then(|given| given.arguments.get("args"));
    let given: Vec<&str> = match given.filter(|_| program.args.is_empty()) {
        Some(Value::String(line)) => return line.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let of_cargo = program.cargo.iter().flatten();
    let of_cargo = of_cargo.skip_while(|word| *word != "--").skip(1);
    let own = of_cargo.chain(&program.args).map(String::as_str);
    let words: Vec<String> = own.chain(given).map(quoted).collect();
    words.join(" ")
}

/// The arguments and redirections, as `run` takes them.
fn arguments_line(session: &Session) -> String {
    let program = &session.program;
    let mut line = words_line(session);
    // Writing to a string can't fail.
    if let Some(file) = &program.streams.stdin {
        let _ = write!(line, " < {}", render::path(file));
    }
    for (mark, output) in [
        ("", &program.streams.stdout),
        ("2", &program.streams.stderr),
    ] {
        if let Some(output) = output {
            let arrow = if output.append { ">>" } else { ">" };
            let _ = write!(line, " {mark}{arrow} {}", render::path(&output.file));
        }
    }
    match line.trim() {
        "" => "none".to_owned(),
        line => printable(line),
    }
}
