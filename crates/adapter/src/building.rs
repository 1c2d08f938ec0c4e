//! Programs that are built before they are debugged: by cargo, by a command of the user's, or from one source file.
//!
//! A [`Plan`] says what is to be built; [`build`] does it, on a thread beside the session, and says what is to be debugged then. All that is
//! outside is a [`Site`]: where output and progress go, and whether the build is still wanted. Nothing here knows the session.

pub mod arguments;
pub mod cargo;
mod first_error;
pub mod shell;
mod site;
pub mod source;

pub use site::{Site, Unbuilt};

use crate::styling;
use dapple_engine::launch::LaunchOptions;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// What is to be built.
#[derive(Debug, Clone)]
pub enum Plan {
    /// A cargo package's program.
    Cargo(Box<cargo::CargoPlan>),
    /// Whatever a command of the user's makes.
    Command(shell::CommandPlan),
    /// A program of one source file.
    Source(PathBuf, source::Language),
}

impl Plan {
    /// What is said of it while it is done.
    pub fn title(&self) -> String {
        match self {
            Plan::Cargo(plan) => plan.title(),
            Plan::Command(plan) => plan.title(),
            Plan::Source(path, _) => format!("Compiling {}", path.display()),
        }
    }
}

/// What a build says of what is to be debugged.
#[derive(Debug, Default)]
pub struct Built {
    /// The program, unless the launch names it.
    pub program: Option<PathBuf>,
    /// Its arguments in front of those of the launch.
    pub args: Vec<OsString>,
    /// Its working directory, in place of the launch's.
    pub cwd: Option<PathBuf>,
    /// Variables that it is run with; those of the launch come after them.
    pub env: Vec<(OsString, OsString)>,
    /// Folders in front of those that `LD_LIBRARY_PATH` has.
    pub library_path: Vec<PathBuf>,
}

/// Builds.
///
/// # Errors
/// It was given up, or a sentence of why there is nothing to debug.
pub fn build(plan: &Plan, site: &mut Site) -> Result<Built, Unbuilt> {
    match plan {
        Plan::Cargo(plan) => cargo::build(plan, site),
        Plan::Command(plan) => shell::build(plan, site),
        Plan::Source(path, language) => source::build(path, *language, site),
    }
}

impl Built {
    /// Completes what is to be started.
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

/// `LD_LIBRARY_PATH` with these folders in front; `None` when there are none.
fn joined_library_path(folders: &[PathBuf], before: Option<&OsStr>) -> Option<OsString> {
    if folders.is_empty() {
        return None;
    }
    let before = before.filter(|before| !before.is_empty());
    let before = before.into_iter().flat_map(std::env::split_paths);
    // A folder with a colon in its name can't be in there.
    let sound = folders.iter().cloned().chain(before);
    std::env::join_paths(sound).ok()
}
