//! Builds with a command of the user: `make`, `ninja`, a script.

use super::Built;
use super::context::{BuildContext, Unbuilt};
use super::first_error::FirstError;
use dapple_engine::event::ExitStatus;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// A build with a command.
#[derive(Debug, Clone)]
pub struct CommandPlan {
    /// The command.
    pub command: Line,
    /// The working directory; `None`: the debugger's.
    pub cwd: Option<PathBuf>,
    /// Changes to the debugger's environment; `None` removes a variable.
    pub env: Vec<(OsString, Option<OsString>)>,
}

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line for the shell.
    Shell(OsString),
    /// A program and its arguments.
    Words(OsString, Vec<OsString>),
}

impl Line {
    /// The command as the user would type it.
    fn shown(&self) -> String {
        match self {
            Line::Shell(line) => line.to_string_lossy().into_owned(),
            Line::Words(program, args) => {
                let words = std::iter::once(program).chain(args);
                let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
                words.join(" ")
            }
        }
    }
}

impl CommandPlan {
    /// The title of its progress.
    pub fn title(&self) -> String {
        format!("Building: {}", self.command.shown())
    }
}

/// Runs the command.
///
/// # Errors
/// The command was cancelled, can't be run, or failed.
pub fn build(plan: &CommandPlan, context: &mut BuildContext) -> Result<Built, Unbuilt> {
    let shown = plan.command.shown();
    let mut command = match &plan.command {
        Line::Shell(line) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(line);
            shell
        }
        Line::Words(program, args) => {
            let mut command = Command::new(program);
            command.args(args);
            command
        }
    };
    set_up(&mut command, plan.cwd.as_ref(), &plan.env)
        .map_err(|sentence| format!("build: {sentence}"))?;
    context.say(&shown);
    let mut first = FirstError::default();
    let status = context
        .run(command, &mut |_, line, output| {
            first.look(line);
            output.show(line);
        })
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("build: there is no such command: `{shown}`"),
            _ => format!("build: `{shown}` can't be run: {error}"),
        })??;
    match status {
        ExitStatus::Code(0) => Ok(Built::default()),
        ExitStatus::Code(code) => Err(Unbuilt::Failed(match first.sentence() {
            Some(error) => format!("build: `{shown}` failed with exit code {code}: {error}"),
            None => format!("build: `{shown}` failed with exit code {code}; its output says why"),
        })),
        ExitStatus::Signal(signal) => Err(Unbuilt::Failed(format!(
            "build: `{shown}` was killed by {}",
            dapple_engine::signals::name(signal)
        ))),
    }
}

/// Sets a command's working directory and environment.
///
/// # Errors
/// The directory doesn't exist.
pub fn set_up(
    command: &mut Command,
    cwd: Option<&PathBuf>,
    env: &[(OsString, Option<OsString>)],
) -> Result<(), String> {
    if let Some(cwd) = cwd {
        if !cwd.is_dir() {
            return Err(format!("there is no folder {}", cwd.display()));
        }
        command.current_dir(cwd);
    }
    for (name, value) in env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Ok(())
}
