//! `dapple debug`: a debug-adapter client for the terminal.
//!
//! It drives any adapter through the protocol, Dapple's own by default. It uses nothing that an editor could not use, and doesn't depend on
//! the engine. This module turns the options into a [`session::Session`]. `session` is the event loop, `commands` has the user's commands,
//! `link` the connection to the adapter, and `screen` and `input` the terminal.

mod breakpoints;
mod commands;
mod complete;
mod exceptions;
mod input;
mod interrupts;
mod link;
mod render;
mod screen;
mod session;
mod source_view;
pub mod style;
mod styled;
mod value_tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use dapple_adapter::building::Unbuilt;
use dapple_adapter::building::source::{Language, compile};
use dapple_dap::lifecycle::Side;

use complete::Completer;
use input::{Input, Then};
pub use link::SourceFolders;
use link::{Adapter, Attach, FollowForks, Program};
use screen::Screen;
use session::Session;
use style::{Color, Role, Style};

use crate::wire_log::WireLog;

/// The options of `dapple debug`.
#[derive(Args, Default)]
pub struct Options {
    /// Run this command at the start; may be given again, in order
    #[arg(long = "ex", value_name = "COMMAND")]
    pub commands: Vec<String>,

    /// Leave after the last --ex command, with the program's exit code, or with 1 at the first command that fails
    #[arg(long)]
    pub batch: bool,

    /// Use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: Color,

    /// Drive another debug adapter, started by this shell command
    #[arg(long, value_name = "COMMAND")]
    pub adapter: Option<String>,

    /// Append every message between us and the adapter to this file, which only you can read
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Ask debuginfod servers (DEBUGINFOD_URLS) for the debug information of modules that have none
    #[arg(long)]
    pub debuginfod: bool,

    /// Which process to debug when the program forks; the other runs free
    #[arg(long, value_enum, value_name = "WHICH", default_value = "parent")]
    pub follow_forks: FollowForks,

    /// Record what the program does, so that it can be run backwards (`rc`, `rn`, `who`); its threads run one at a time
    #[arg(long)]
    pub record: bool,

    /// Sources that were in folder FROM when the program was compiled are in folder TO here; may be given again
    #[arg(long, value_name = "FROM=TO", value_parser = source_folders)]
    pub source_map: Vec<SourceFolders>,

    /// Show values of your types as this Natvis file says; may be given again
    #[arg(long, value_name = "FILE")]
    pub natvis: Vec<PathBuf>,

    /// Debug a process that runs: its id, or the name or path of its program; leaving lets it go on
    #[arg(long, value_name = "PID|NAME", conflicts_with = "program")]
    pub attach: Option<String>,

    /// With --attach, wait for the next process of that name to start
    #[arg(long, requires = "attach")]
    pub wait: bool,

    /// Look at a core file, which a program that has ended left; PROGRAM is where that is now, if not where it was
    #[arg(long, value_name = "FILE", conflicts_with = "attach")]
    pub core: Option<PathBuf>,

    /// Debug what cargo builds: what follows are the arguments of `cargo run`, `test`, `bench` or `build`
    #[arg(long, conflicts_with_all = ["attach", "core"])]
    pub cargo: bool,

    /// The recording to replay in place of a program (`dapple replay`)
    #[arg(skip)]
    pub replay: Option<PathBuf>,

    /// The program to debug, a .rs, .c or .cpp file to compile and debug, or a folder with a Cargo.toml; and its arguments, passed on as they are
    // One list, because only then are options after the program taken as the program's.
    #[arg(
        value_names = ["PROGRAM", "ARGS"],
        required_unless_present_any = ["attach", "core", "cargo"],
        num_args = 1..,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub program: Vec<OsString>,
}

/// Runs the session until the user leaves it, and returns the exit code: with `--batch` the program's own, if it has ended; otherwise 0.
///
/// # Errors
/// There is nothing to debug, the adapter failed, or, with `--batch`, a command failed.
pub fn run(options: Options) -> anyhow::Result<u8> {
    let mut screen = Screen::new(Style::new(options.color));
    let adapter = options.adapter.map_or(Adapter::Own, Adapter::Command);
    let what = ProgramOptions {
        words: options.program,
        attach: options.attach,
        wait: options.wait,
        core: options.core,
        cargo: options.cargo,
        replay: options.replay,
    };
    let mut program = what.program(&adapter, &mut screen)?;
    program.debuginfod = options.debuginfod;
    program.source_map = options.source_map;
    program.visualizers = absolute(&options.natvis)?;
    program.follow_forks = options.follow_forks;
    program.record = options.record;
    let log = WireLog::open_if(options.log.as_deref(), Side::Client)?;
    let (sender, events) = crossbeam_channel::unbounded();
    interrupts::forward(sender.clone())?;
    let completer = Completer::default();
    let then = if options.batch {
        Then::End
    } else {
        Then::Interactive
    };
    let input = Input::new(options.commands, then, completer.clone(), sender.clone());
    if !options.batch {
        let greeting = greeting(&program, screen.style);
        screen.print(&greeting);
    }
    let mut session = Session::new(
        screen,
        program,
        adapter,
        log,
        input,
        completer,
        (sender, events),
    );
    session.run()?;
    Ok(session
        .exit_code
        .filter(|_| options.batch)
        .map_or(0, exit_code))
}

/// The options that say what to debug.
struct ProgramOptions {
    words: Vec<OsString>,
    attach: Option<String>,
    wait: bool,
    core: Option<PathBuf>,
    cargo: bool,
    replay: Option<PathBuf>,
}

impl ProgramOptions {
    /// Determines the program, the process, the core file or cargo's target.
    fn program(self, adapter: &Adapter, screen: &mut Screen) -> anyhow::Result<Program> {
        if let Some(file) = self.replay {
            let path = std::path::absolute(&file)
                .with_context(|| format!("can't replay {}", file.display()))?;
            return Ok(Program {
                replay: Some(path.clone()),
                path,
                ..Program::default()
            });
        }
        let mut words = self.words.into_iter();
        let wait = self.wait;
        // clap doesn't enforce `requires` if the required option conflicts with another one that is present.
        if wait && self.attach.is_none() {
            bail!("--wait is for --attach: which program's start is to be waited for?");
        }
        let given = words.next().map(PathBuf::from).unwrap_or_default();
        if given.as_os_str().as_encoded_bytes().starts_with(b"-") {
            bail!(
                "there is no option {}; `dapple debug --help` lists them",
                given.display()
            );
        }
        let core = self.core.map(|file| {
            let program = Some(given.clone()).filter(|path| !path.as_os_str().is_empty());
            (file.clone(), Attach::Core { file, program })
        });
        let process = self.attach.map(|target| {
            let path = PathBuf::from(&target);
            (path, Attach::Process { target, wait })
        });
        match core.or(process) {
            Some((path, attach)) => Ok(Program {
                path,
                attach: Some(attach),
                ..Program::default()
            }),
            None if self.cargo => {
                if !matches!(adapter, Adapter::Own) {
                    bail!("--cargo is for our own adapter; build the program first, and give that");
                }
                let given = Some(given.into_os_string()).filter(|word| !word.is_empty());
                let words = texts(given.into_iter().chain(words))?;
                Ok(Program {
                    cargo: Some(if words.is_empty() {
                        vec!["run".to_owned()]
                    } else {
                        words
                    }),
                    language: Some(Language::Rust),
                    ..Program::default()
                })
            }
            None => find_program(&given, texts(words)?, adapter, screen),
        }
    }
}

/// Makes paths absolute, because the adapter's working directory may differ.
fn absolute(files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let absolute = |file: &PathBuf| {
        std::path::absolute(file).with_context(|| format!("--natvis {}", file.display()))
    };
    files.iter().map(absolute).collect()
}

/// Parses `FROM=TO`. TO may be relative to the working directory. FROM is a folder in the debug information, and may have any form.
pub fn source_folders(text: &str) -> Result<SourceFolders, String> {
    let (from, to) = text
        .split_once('=')
        .ok_or("it takes two folders, as in /build=/home/me/project")?;
    if from.is_empty() || to.is_empty() {
        return Err("a folder has a name; `.` is for relative ones".into());
    }
    let to = std::path::absolute(to).map_err(|error| format!("{to}: {error}"))?;
    if !to.is_dir() {
        return Err(format!("there is no folder {} here", to.display()));
    }
    let to = to
        .into_os_string()
        .into_string()
        .map_err(|to| format!("the protocol can't carry the path {to:?}: it is not UTF-8"))?;
    let from = from.to_owned();
    Ok(SourceFolders { from, to })
}

/// Converts words to Unicode, which JSON requires.
fn texts(words: impl Iterator<Item = OsString>) -> anyhow::Result<Vec<String>> {
    let text = |word: OsString| {
        word.into_string().map_err(|word| {
            anyhow::anyhow!("the protocol can't carry the argument {word:?}: it is not UTF-8")
        })
    };
    words.map(text).collect()
}

/// Determines what to debug. Dapple's adapter compiles source files itself; for other adapters they are compiled here.
fn find_program(
    given: &Path,
    args: Vec<String>,
    adapter: &Adapter,
    screen: &mut Screen,
) -> anyhow::Result<Program> {
    let kind = match std::fs::metadata(given) {
        Ok(kind) => kind,
        Err(error) => bail!("can't debug {}: {}", given.display(), plain(&error)),
    };
    let path = given
        .canonicalize()
        .with_context(|| format!("can't debug {}", given.display()))?;
    let program = Program {
        args,
        ..Program::default()
    };
    if kind.is_dir() {
        if !matches!(adapter, Adapter::Own) || !path.join("Cargo.toml").is_file() {
            bail!("{} is a directory, not a program", given.display());
        }
        return Ok(Program { path, ..program });
    }
    let Some(language) = Language::of(given) else {
        return Ok(Program { path, ..program });
    };
    let program = Program {
        source: Some(path.clone()),
        language: Some(language),
        ..program
    };
    if matches!(adapter, Adapter::Own) {
        return Ok(Program { path, ..program });
    }
    let folder = crate::folders::programs()
        .context("neither XDG_CACHE_HOME nor HOME says where the cache is")?;
    match compile(given, language, &folder, &mut |line| screen.print(line)) {
        Ok(path) => Ok(Program { path, ..program }),
        Err(Unbuilt::Failed(sentence)) => bail!(sentence),
        Err(Unbuilt::Cancelled) => bail!("interrupted"),
    }
}

/// The program's exit code as the exit code of this process. Linux keeps eight bits, but another adapter may report any number; whatever isn't 0
/// must not become 0.
fn exit_code(code: i64) -> u8 {
    u8::try_from(code).unwrap_or(1)
}

/// An I/O error in words, without its number.
fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

fn greeting(program: &Program, style: Style) -> String {
    let name = program.path.file_name().unwrap_or_default();
    let name = match &program.cargo {
        Some(words) => format!("`cargo {}`", words.join(" ")),
        None => name.to_string_lossy().into_owned(),
    };
    let language = program
        .language
        .map(|language| format!(" ({})", language.name()))
        .unwrap_or_default();
    let attaches = match program.attach {
        None if program.replay.is_some() => Some(("Replaying", "`b main`, `run` and `rc`")),
        None => None,
        Some(Attach::Process { .. }) => Some(("Attaching to", "`bt` and `c`")),
        Some(Attach::Core { .. }) => Some(("Looking at the core file", "`bt` and `locals`")),
    };
    if let Some((what, commands)) = attaches {
        let hint = format!("{commands} are a good start, `help` lists the commands.");
        let hint = style.paint(Role::Aside, &hint);
        return format!("{what} {name}. {hint}");
    }
    let hint = "`b main` and `run` are a good start, `help` lists the commands.";
    format!(
        "Debugging {name}{language}. {}",
        style.paint(Role::Aside, hint)
    )
}
