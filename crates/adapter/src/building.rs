//! Builds programs before they are debugged: by cargo, by a command of the user, or from one source file.
//!
//! [`build`] carries out a [`Plan`], and returns what to debug. A build may take long: the session runs it on a thread of its own. Nothing here
//! knows of the session: a [`BuildContext`] takes a build's output and progress, and says whether the build is cancelled.

pub mod arguments;
pub mod cargo;
mod context;
mod first_error;
pub mod shell;
pub mod source;

pub use context::{BuildContext, Unbuilt};

use crate::styling;
use dapple_engine::launch::LaunchOptions;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A build.
#[derive(Debug, Clone)]
pub enum Plan {
    /// A cargo command.
    Cargo(Box<cargo::CargoPlan>),
    /// A command of the user.
    Command(shell::CommandPlan),
    /// A source file to compile.
    Source(PathBuf, source::Language),
}

impl Plan {
    /// The title of its progress.
    pub fn title(&self) -> String {
        match self {
            Plan::Cargo(plan) => plan.title(),
            Plan::Command(plan) => plan.title(),
            Plan::Source(path, _) => format!("Compiling {}", path.display()),
        }
    }
}

/// The result of a build: the program, and how to run it.
#[derive(Debug, Default)]
pub struct Built {
    /// The program; `None` if the launch names it.
    pub program: Option<PathBuf>,
    /// Arguments before those of the launch.
    pub args: Vec<OsString>,
    /// The working directory, in place of the launch's.
    pub cwd: Option<PathBuf>,
    /// Environment variables, which those of the launch override.
    pub env: Vec<(OsString, OsString)>,
    /// Folders to put at the front of `LD_LIBRARY_PATH`.
    pub library_path: Vec<PathBuf>,
}

/// Runs a build.
///
/// # Errors
/// The build was cancelled or failed, or there is nothing to debug.
pub fn build(plan: &Plan, context: &mut BuildContext) -> Result<Built, Unbuilt> {
    match plan {
        Plan::Cargo(plan) => cargo::build(plan, context),
        Plan::Command(plan) => shell::build(plan, context),
        Plan::Source(path, language) => source::build(path, *language, context),
    }
}

impl Built {
    /// Adds the result to the options of the launch.
    pub fn add_to(mut self, options: &mut LaunchOptions) {
        if let Some(program) = self.program {
            options.program = program;
        }
        self.args.append(&mut options.args);
        options.args = self.args;
        if self.cwd.is_some() {
            options.cwd = self.cwd;
        }
        const LIBRARIES: &str = "LD_LIBRARY_PATH";
        let given = options.env.iter().rfind(|(name, _)| name == LIBRARIES);
        let before = match given {
            Some((_, value)) => value.clone(),
            None => std::env::var_os(LIBRARIES),
        };
        let libraries = joined_library_path(&self.library_path, before.as_deref());
        let own = self
            .env
            .into_iter()
            .map(|(name, value)| (name, Some(value)));
        options.env.splice(..0, own);
        if libraries.is_some() {
            options.env.push((LIBRARIES.into(), libraries));
        }
    }
}

/// `LD_LIBRARY_PATH` with these folders in front; `None` if it stays as it is.
fn joined_library_path(folders: &[PathBuf], before: Option<&OsStr>) -> Option<OsString> {
    if folders.is_empty() {
        return None;
    }
    let before = before.filter(|before| !before.is_empty());
    let before = before.into_iter().flat_map(std::env::split_paths);
    // A folder with a colon in its name can't be part of the variable, which is left as it is then.
    let sound = folders.iter().cloned().chain(before);
    std::env::join_paths(sound).ok()
}
