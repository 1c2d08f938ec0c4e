//! Builds with cargo: `cargo run`, `test`, `bench` and `build`, with the program debugged instead of run.
//!
//! The paths of programs come from cargo's messages (`--message-format=json`) and are never guessed. `choosing` selects one of several
//! programs, `harness` finds tests by name. The program gets the environment that cargo would give it, from its package and build
//! (`environment`) and from cargo's configuration files (`configuration`), which are read here because cargo doesn't report them.

mod choosing;
mod configuration;
mod environment;
mod harness;
mod messages;
mod metadata;
mod toolchain;
mod words;

pub use choosing::{Filter, Kind};
pub use words::CommandLine;

use super::context::{BuildContext, LineOutput, Unbuilt};
use super::first_error::FirstError;
use super::shell::set_up;
use super::{Built, styling};
use cargo_metadata::{Artifact, ArtifactDebuginfo, BuildScript, Message};
use configuration::Configuration;
use dapple_engine::event::{ExitStatus, Stream};
use metadata::Metadata;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolchain::Toolchain;
use words::Verb;

/// A build with cargo.
#[derive(Debug, Clone, Default)]
pub struct CargoPlan {
    /// The command line after `cargo`.
    pub line: CommandLine,
    /// The working directory; `None`: the debugger's.
    pub cwd: Option<PathBuf>,
    /// Changes to the debugger's environment for cargo; `None` removes a variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Which of several programs to debug.
    pub filter: Filter,
    /// Whether cargo runs in the launch's `cwd`, because the argument `cargo` has none. Tests then run in the folder of their package, as under
    /// cargo.
    pub cwd_is_cargos: bool,
}

impl CargoPlan {
    /// The title of its progress.
    pub fn title(&self) -> String {
        self.line.shown()
    }

    /// Whether the program has tests or benchmarks.
    pub fn is_test(&self) -> bool {
        self.line.verb.is_test()
    }

    /// A cargo command with these arguments.
    fn command(
        &self,
        cargo: &Path,
        words: &[&str],
        context: &BuildContext,
    ) -> Result<Command, String> {
        let mut command = Command::new(cargo);
        command.args(&self.line.before).args(words);
        if !self.line.names_colours {
            let colours = if context.is_styled() {
                "always"
            } else {
                "never"
            };
            command.env("CARGO_TERM_COLOR", colours);
        }
        set_up(&mut command, self.cwd.as_ref(), &self.env)
            .map_err(|sentence| format!("cargo: {sentence}"))?;
        if let Some(folder) = cargo.parent() {
            command.env("PATH", self.path_with(folder));
        }
        Ok(command)
    }

    /// An environment variable, as cargo gets it.
    fn variable(&self, name: &str) -> Option<OsString> {
        let changed = self.env.iter().rfind(|(changed, _)| changed == name);
        match changed {
            Some((_, value)) => value.clone(),
            None => std::env::var_os(name),
        }
    }

    /// `PATH`, with `folder` in front if `PATH` doesn't contain it.
    fn path_with(&self, folder: &Path) -> OsString {
        let path = self.variable("PATH").unwrap_or_default();
        if std::env::split_paths(&path).any(|known| known == folder) {
            return path;
        }
        let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
        std::env::join_paths(folders).unwrap_or(path)
    }

    /// Cargo's home directory.
    fn home(&self) -> Option<PathBuf> {
        let usual = || Some(PathBuf::from(self.variable("HOME")?).join(".cargo"));
        self.variable("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(usual)
    }

    /// Cargo's configuration for the build's folder.
    fn configuration(&self) -> Configuration {
        let folder = self.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
        // Cargo looks for its files from the folder's path without symbolic links.
        match folder.canonicalize() {
            Ok(folder) => Configuration::read(&folder, self.home(), &self.line.configured()),
            Err(_) => Configuration::default(),
        }
    }

    /// The target triple; `None`: the compiler's host.
    fn target(&self, configuration: &Configuration) -> Option<String> {
        let given = self.line.target.clone();
        let variable = || self.variable("CARGO_BUILD_TARGET")?.into_string().ok();
        given.or_else(variable).or_else(|| configuration.target())
    }

    /// The path of cargo: from `PATH`, or where rustup installs it, because programs started from a desktop often lack that folder in their `PATH`.
    fn cargo(&self) -> Result<PathBuf, String> {
        let path = self.variable("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .chain(self.home().map(|home| home.join("bin")))
            .map(|folder| folder.join("cargo"))
            .find(|cargo| cargo.is_file())
            .ok_or_else(|| {
                "cargo: there is no `cargo` in PATH, nor in ~/.cargo/bin; install Rust (https://rustup.rs), or say where it is: \
                 \"cargo\": {\"env\": {\"PATH\": \"…\"}}"
                    .to_owned()
            })
    }
}

/// The result of a cargo run.
#[derive(Debug, Default)]
struct Outcome {
    artifacts: Vec<Artifact>,
    scripts: Vec<BuildScript>,
}

/// Runs cargo, and finds the program to debug.
///
/// # Errors
/// The build was cancelled or failed, or made no program to debug. Or it made several, and the plan doesn't say which is meant.
pub fn build(plan: &CargoPlan, context: &mut BuildContext) -> Result<Built, Unbuilt> {
    let cargo = plan.cargo()?;
    let metadata = read_manifests(plan, &cargo, context)?;
    let default = default_program(plan, &metadata);
    let outcome = run_cargo(plan, &cargo, default.as_deref(), context)?;
    let chosen = choosing::candidates(&outcome.artifacts, plan.line.verb, &plan.filter)
        .map_err(|sentence| format!("cargo: {sentence}"))?;
    let configuration = plan.configuration();
    let target = plan.target(&configuration);
    let toolchain = Toolchain::of(plan, target.as_deref(), context)?;
    let launchable = |artifact: &Artifact| {
        let package = metadata.package(&artifact.package_id.repr);
        let mut env =
            environment::variables(artifact, package, &outcome.scripts, &outcome.artifacts);
        env.push(("CARGO".into(), toolchain.cargo(&cargo).into()));
        if let Some(name) = plan
            .line
            .before
            .iter()
            .find_map(|word| word.strip_prefix('+'))
        {
            env.push(("RUSTUP_TOOLCHAIN".into(), name.into()));
        }
        environment::add_configured(&mut env, configuration.variables());
        if plan.is_test() && !environment::has(&env, "RUST_TEST_NOCAPTURE".as_ref()) {
            env.push(("RUST_TEST_NOCAPTURE".into(), "1".into()));
        }
        let libraries = toolchain.libraries.clone();
        Built {
            program: artifact.executable.clone().map(PathBuf::from),
            args: plan
                .line
                .program_arguments()
                .into_iter()
                .map(OsString::from)
                .collect(),
            cwd: (plan.is_test() && plan.cwd_is_cargos)
                .then(|| messages::folder(artifact).to_owned()),
            env,
            library_path: environment::library_path(artifact, &outcome.scripts, libraries),
        }
    };
    let artifact = match chosen.as_slice() {
        [only] => {
            if plan.is_test() {
                harness::require_the_test(&plan.line, only, &launchable, context)?;
            }
            *only
        }
        several if plan.is_test() => {
            harness::with_the_test(&plan.line, several, &launchable, context)?
        }
        several => {
            return Err(Unbuilt::Failed(format!(
                "cargo: {} programs were built; say in `args`, or with `filter`, which one is meant:{}",
                several.len(),
                choosing::listed(several)
            )));
        }
    };
    if let Some(warning) = without_debug_info(artifact, plan) {
        context.say(&warning);
    }
    if let Some(warning) = without_runner(plan, &configuration, &toolchain) {
        context.say(&warning);
    }
    Ok(launchable(artifact))
}

/// Reads the manifests.
fn read_manifests(
    plan: &CargoPlan,
    cargo: &Path,
    context: &mut BuildContext,
) -> Result<Metadata, Unbuilt> {
    let mut words = vec!["metadata", "--no-deps", "--format-version=1"];
    if let Some(manifest) = &plan.line.manifest {
        words.extend(["--manifest-path", manifest]);
    }
    words.extend(plan.line.common.iter().map(String::as_str));
    let command = plan.command(cargo, &words, context)?;
    let (mut text, mut complaint) = (String::new(), String::new());
    let mut first = FirstError::default();
    let status = context
        .run(command, &mut |stream, line, _| match stream {
            Stream::Stdout => text.push_str(line),
            Stream::Stderr => {
                first.look(line);
                complaint.push_str(line);
                complaint.push('\n');
            }
        })
        .map_err(|error| cannot_run(cargo, &error))??;
    if status != ExitStatus::Code(0) {
        context.show(&complaint);
        return Err(Unbuilt::Failed(match first.sentence() {
            Some(error) => format!("cargo: {error}"),
            None => "cargo: the manifest can't be read; cargo's output says why".to_owned(),
        }));
    }
    // The metadata may be unreadable: the build works without.
    Ok(serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::warn!(%error, "cargo's metadata has another form");
        Metadata::default()
    }))
}

/// The `default-run` program, for a `cargo run` that names no target and has no filter. `None` for any other plan, and if not exactly one of the
/// selected packages has a `default-run`.
fn default_program(plan: &CargoPlan, metadata: &Metadata) -> Option<String> {
    if plan.line.verb != Verb::Run || plan.line.names_target || plan.filter != Filter::default() {
        return None;
    }
    let folder = plan.cwd.clone().or_else(|| std::env::current_dir().ok())?;
    let manifest = match &plan.line.manifest {
        Some(manifest) => Some(folder.join(manifest)),
        None => metadata::manifest_of(&folder),
    };
    let meant = metadata.meant(&plan.line.packages, manifest.as_deref());
    let mut defaults = meant
        .into_iter()
        .filter_map(|package| package.default_run.clone());
    let default = defaults.next()?;
    defaults.next().is_none().then_some(default)
}

/// Runs the build.
fn run_cargo(
    plan: &CargoPlan,
    cargo: &Path,
    default: Option<&str>,
    context: &mut BuildContext,
) -> Result<Outcome, Unbuilt> {
    let format = match context.is_styled() {
        true => "--message-format=json-diagnostic-rendered-ansi",
        false => "--message-format=json",
    };
    let mut words = vec![plan.line.subcommand.as_str(), format];
    if plan.is_test() {
        words.push("--no-run");
    }
    if let Some(default) = default {
        words.extend(["--bin", default]);
    }
    words.extend(plan.line.options.iter().map(String::as_str));
    let mut command = plan.command(cargo, &words, context)?;
    // Without this, cargo shows no progress, because its output is no terminal.
    command.env("CARGO_TERM_PROGRESS_WHEN", "always");
    command.env("CARGO_TERM_PROGRESS_WIDTH", "80");
    context.say(&plan.title());
    let mut outcome = Outcome::default();
    let (mut diagnosed, mut complained) = (FirstError::default(), FirstError::default());
    let mut shown = HashSet::new();
    let status = context
        .run(command, &mut |stream, line, output| {
            if stream == Stream::Stderr {
                return for_people(line, &mut complained, output);
            }
            match serde_json::from_str(line) {
                Ok(Message::CompilerArtifact(artifact)) => outcome.artifacts.push(artifact),
                Ok(Message::BuildScriptExecuted(script)) => outcome.scripts.push(script),
                Ok(Message::CompilerMessage(said)) => {
                    let message = said.message;
                    if messages::is_error(&message) {
                        diagnosed.note(messages::place(&message), &message.message);
                    }
                    // Code that is compiled twice, with and without the test harness, has the same diagnostics twice.
                    if let Some(text) = message.rendered.filter(|text| shown.insert(text.clone())) {
                        output.show(&text);
                    }
                }
                Ok(_) => {}
                Err(_) if line.starts_with('{') => {
                    tracing::warn!(line, "a message of cargo's that is not understood");
                }
                // Procedural macros may print lines that are no JSON.
                Err(_) => output.show(line),
            }
        })
        .map_err(|error| cannot_run(cargo, &error))??;
    if status == ExitStatus::Code(0) {
        return Ok(outcome);
    }
    let error = diagnosed.sentence().or_else(|| complained.sentence());
    Err(Unbuilt::Failed(match (error, status) {
        (Some(error), _) => format!("`{}` failed: {error}", plan.title()),
        (None, ExitStatus::Code(code)) => format!(
            "`{}` failed with exit code {code}; its output says why",
            plan.title()
        ),
        (None, ExitStatus::Signal(signal)) => format!(
            "`{}` was killed by {}",
            plan.title(),
            dapple_engine::signals::name(signal)
        ),
    }))
}

/// Shows a line of cargo's standard error, as progress or as text.
fn for_people(line: &str, first: &mut FirstError, output: &mut LineOutput) {
    match messages::progress(&styling::without(line)) {
        Some((done, total, doing)) => {
            let percentage = 100.0 * f64::from(done) / f64::from(total.max(1));
            output.progress(Some(doing.to_owned()), Some(percentage));
        }
        None => {
            first.look(line);
            output.show(line);
        }
    }
}

fn cannot_run(program: &Path, error: &io::Error) -> String {
    format!("{} can't be run: {error}", program.display())
}

/// A hint for a program without enough debug information.
fn without_debug_info(artifact: &Artifact, plan: &CargoPlan) -> Option<String> {
    use ArtifactDebuginfo::{Limited, LineDirectivesOnly, LineTablesOnly, None as Nothing};
    let missing = match artifact.profile.debuginfo {
        LineTablesOnly | LineDirectivesOnly | Limited => "local variables can't be shown",
        Nothing => "neither lines nor variables can be shown",
        _ => return None,
    };
    let profile = match (&plan.line.profile, plan.line.verb) {
        (Some(profile), _) => profile.as_str(),
        (None, Verb::Bench) => "bench",
        (None, _) => "dev",
    };
    Some(format!(
        "warning: `{}` was built with little debug information, so that {missing}; with `debug = \"full\"` under `[profile.{profile}]` in Cargo.toml it has all",
        artifact.target.name
    ))
}

/// A warning for a program that cargo would run by a `runner`, because the debugger runs the program itself.
fn without_runner(
    plan: &CargoPlan,
    configuration: &Configuration,
    toolchain: &Toolchain,
) -> Option<String> {
    let target = toolchain.target()?;
    let in_capitals = target.to_uppercase().replace(['-', '.'], "_");
    let variable = format!("CARGO_TARGET_{in_capitals}_RUNNER");
    let runner = match plan.variable(&variable) {
        Some(_) => format!("`{variable}` in the environment"),
        None => {
            let (key, place) = configuration.runner(target, &toolchain.conditions)?;
            format!("`{key}` in {place}")
        }
    };
    (plan.line.verb != Verb::Build).then(|| {
        format!("warning: cargo runs programs with a runner ({runner}), which isn't used: the program itself is debugged")
    })
}
