//! `dapple debug`: a debug-adapter client for the terminal.
//!
//! It drives any adapter through the protocol, Dapple's own by default. It uses nothing that an editor could not use, and doesn't depend on
//! the engine. This module turns the options into a [`session::Session`]. `session` is the event loop, `commands` has the user's commands,
//! `link` the connection to the adapter, and `screen` and `input` the terminal.

mod adapters;
mod breakpoints;
mod commands;
mod complete;
mod exceptions;
mod full_screen;
mod hosting;
mod input;
mod interrupts;
mod link;
mod name_search;
mod render;
pub mod results;
mod screen;
mod sent;
mod session;
mod shell_words;
pub mod source_colours;
pub mod source_view;
pub mod style;
mod styled;
mod value_tree;

use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use dapple_adapter::building::Unbuilt;
use dapple_adapter::building::source::{Language, compile};
use dapple_dap::lifecycle::Side;
use serde_json::Value;

use adapters::arguments::{Given, Kind};
pub use adapters::presets::Preset;
use adapters::{Adapter, Address, launch_json};
use complete::Completer;
use input::{Input, Then};
pub use input::{earlier_lines, remember_lines};
pub use link::SourceFolders;
use link::{Attach, FollowForks, Program};
use screen::Screen;
pub use screen::printable;
use session::{CommandFailed, Origin, Scripted, Session, TimeOver};
pub use shell_words::quoted;
use style::{Color, Role, Style};

use crate::on::Place;
use crate::wire_log::WireLog;

/// The options of `dapple debug`.
#[derive(Args, Default)]
pub struct Options {
    /// Run this command at the start; may be given again, in order
    #[arg(long = "ex", value_name = "COMMAND")]
    pub commands: Vec<String>,

    /// Run the commands of this file at the start, after those of --ex
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Leave after the last command of --ex and --script, or the first that fails, with an exit code that tells how it went
    #[arg(
        long,
        long_help = "Leave after the last command of --ex and --script, or the first that fails. The exit code is the program's own if it has ended, \
                     123 if it is stopped by an exception or a signal, 124 after --timeout, 125 if a command has failed, 126 if the program or the \
                     adapter can't be started or is gone, and otherwise 0."
    )]
    pub batch: bool,

    /// With --batch, go on after a command that has failed
    #[arg(long, requires = "batch")]
    pub keep_going: bool,

    /// Leave after this many seconds, with exit code 124
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// Write an object of JSON a line for each command, stop and output, in place of text; commands are read from stdin, also while the program runs
    #[arg(long)]
    pub json: bool,

    /// With --json, add to each object what a terminal shows of it
    #[arg(long, requires = "json", hide = true)]
    pub json_text: bool,

    /// Debug on the full screen, as `dapple tui` does
    #[arg(long, conflicts_with_all = ["json", "batch"])]
    pub tui: bool,

    /// With --json, give the program a terminal of its own, whose output is in records; the command `input` types into it
    #[arg(long, requires = "json", conflicts_with = "batch")]
    pub pty: bool,

    /// Print what the objects of --json have in them, as a JSON schema
    #[arg(long)]
    pub json_schema: bool,

    /// Print what commands of other debuggers are here, as the page docs/terminal-commands.md
    #[arg(long, hide = true)]
    pub command_table: bool,

    /// Don't run the commands of ~/.config/dapple/init at the start
    #[arg(long)]
    pub no_init: bool,

    /// Use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: Color,

    /// Drive another debug adapter: lldb, gdb, codelldb, debugpy, delve or js, or one that this shell command starts
    #[arg(long, value_name = "NAME|COMMAND")]
    pub adapter: Option<String>,

    /// Drive the adapter that listens there: HOST:PORT, a port, or unix:PATH; with --adapter, it is started first
    #[arg(long, value_name = "ADDRESS", value_parser = Address::parse)]
    pub connect: Option<Address>,

    /// Debug on another machine or in a container, where PROGRAM, PID and FILE are meant: ssh://USER@HOST:PORT, docker://NAME, podman://NAME,
    /// kubectl://NAMESPACE/POD/CONTAINER, or a command that runs others there, as in exec:'nsenter -t 1234 -a'
    #[arg(long, value_name = "PLACE", value_parser = Place::parse, conflicts_with_all = ["adapter", "connect"])]
    pub on: Option<Place>,

    /// With --on, send this executable there in place of this one, as one that needs no libraries
    #[arg(long, value_name = "FILE")]
    pub far_binary: Option<PathBuf>,

    /// Launch with these arguments for the adapter: JSON, @FILE with JSON, or launch.json:NAME for VS Code's configuration of that name
    #[arg(long, value_name = "JSON|@FILE|launch.json:NAME", conflicts_with_all = ["attach", "attach_with", "core", "cargo"])]
    pub launch: Option<String>,

    /// Attach with these arguments for the adapter, given as for --launch
    #[arg(long, value_name = "JSON|@FILE", conflicts_with_all = ["program", "attach", "core", "cargo"])]
    pub attach_with: Option<String>,

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

    /// Debug what is behind a stub, such as gdbserver or QEMU: HOST:PORT, unix:PATH, /dev/DEVICE[@SPEED], or |COMMAND; PROGRAM is its file on this machine
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["attach", "core", "launch", "attach_with"])]
    pub target: Option<String>,

    /// With --target, a folder with a copy of the other machine's libraries
    #[arg(long, value_name = "DIR", requires = "target")]
    pub sysroot: Option<PathBuf>,

    /// Debug what cargo builds: what follows are the arguments of `cargo run`, `test`, `bench` or `build`
    #[arg(long, conflicts_with_all = ["attach", "core", "target"])]
    pub cargo: bool,

    /// The recording to replay in place of a program (`dapple replay`)
    #[arg(skip)]
    pub replay: Option<PathBuf>,

    /// The program to debug, a .rs, .c or .cpp file to compile and debug, or a folder with a Cargo.toml; and its arguments, passed on as they are
    // One list, because only then are options after the program taken as the program's.
    #[arg(
        value_names = ["PROGRAM", "ARGS"],
        required_unless_present_any = ["attach", "core", "target", "cargo", "launch", "attach_with", "json_schema", "command_table"],
        num_args = 1..,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub program: Vec<OsString>,
}

/// The words of a line, as a shell takes them. Nothing is expanded.
///
/// # Errors
/// A quote has no end, or a character means something that only a shell can do.
pub fn words_of(line: &str) -> anyhow::Result<Vec<String>> {
    let words = shell_words::split(line)?;
    if words.streams != Default::default() {
        bail!("files for its input and output are not possible here");
    }
    Ok(words.args)
}

/// The name of a line's command, if it is one, whatever abbreviation it has.
pub fn command_name(line: &str) -> Option<&'static str> {
    commands::name_of(line)
}

/// What an empty line after this one does, if anything.
pub fn repeated(line: &str) -> Option<String> {
    commands::repeated(line)
}

/// The names of the commands that begin with a text.
pub fn commands_starting_with(start: &str) -> Vec<String> {
    commands::names_starting_with(start)
}

/// A path for people.
pub fn shown_path(path: &Path) -> String {
    render::path(path)
}

/// Exit codes of `--batch`, beside the program's own.
pub mod exit_codes {
    /// The program is stopped by an exception or a signal.
    pub const AT_FAILURE: u8 = 123;
    /// The session took too long.
    pub const TIME_OVER: u8 = 124;
    /// A command has failed.
    pub const COMMAND_FAILED: u8 = 125;
    /// There is nothing to debug, or no adapter.
    pub const NOTHING_TO_DEBUG: u8 = 126;
}

/// Runs the session until the user leaves it, and returns the exit code: with `--batch` one of [`exit_codes`] or the program's own; otherwise 0.
///
/// # Errors
/// There is nothing to debug, or the adapter failed.
pub fn run(options: Options) -> anyhow::Result<u8> {
    let printed = match (options.json_schema, options.command_table) {
        (true, _) => Some(results::schema()),
        (_, true) => Some(commands::page()),
        _ => None,
    };
    if let Some(text) = printed {
        // Whoever reads it may have seen enough.
        let _ = std::io::stdout().write_all(text.as_bytes());
        return Ok(0);
    }
    let (is_batch, is_json) = (options.batch, options.json);
    if options.timeout.is_some() && !is_batch && !is_json {
        bail!("--timeout is for --batch and --json");
    }
    let mut screen = match is_json {
        true => Screen::json(options.json_text),
        false => Screen::new(Style::new(options.color)),
    };
    let session = begin(options, &mut screen);
    let mut session = match session {
        Ok(begun) => begun(screen),
        Err(error) if is_batch || is_json => {
            return Ok(tell_end(
                &mut screen,
                Some(&error),
                exit_codes::NOTHING_TO_DEBUG,
            ));
        }
        Err(error) => return Err(error),
    };
    let outcome = session.run();
    let code = match &outcome {
        Err(_) if session.is_time_over() => exit_codes::TIME_OVER,
        Err(error) if is_of_command(error) => exit_codes::COMMAND_FAILED,
        Err(_) => exit_codes::NOTHING_TO_DEBUG,
        Ok(()) if !is_batch => 0,
        Ok(()) if session.failed_commands > 0 => exit_codes::COMMAND_FAILED,
        Ok(()) => match session.exit_code {
            Some(code) => exit_code(code),
            None if session.has_ended_at_failure => exit_codes::AT_FAILURE,
            None => 0,
        },
    };
    match outcome {
        Err(error) if !is_batch && !is_json && code != exit_codes::TIME_OVER => Err(error),
        Err(_) if code == exit_codes::TIME_OVER => {
            let error = TimeOver.into();
            Ok(tell_end(&mut session.screen, Some(&error), code))
        }
        outcome => Ok(tell_end(&mut session.screen, outcome.as_ref().err(), code)),
    }
}

/// Whether a session has ended by a command that has failed, and not by an adapter that is gone.
fn is_of_command(error: &anyhow::Error) -> bool {
    let failed = error.downcast_ref::<CommandFailed>();
    failed.is_some_and(|CommandFailed(error)| {
        results::Failure::of(error).reason != results::FailureKind::AdapterGone
    })
}

/// Says why the session has ended, if it has failed. Returns the exit code.
fn tell_end(screen: &mut Screen, error: Option<&anyhow::Error>, code: u8) -> u8 {
    screen.record_notice();
    let failure = error.map(|error| match error.downcast_ref::<CommandFailed>() {
        Some(CommandFailed(of_command)) => results::Failure::of(of_command),
        None => results::Failure::of_session(error),
    });
    match failure {
        Some(failure) if !screen.is_json() => screen.print_error(&failure.message),
        error => screen.record(&results::Record::End(results::End { code, error })),
    }
    code
}

/// Makes what a session needs. What is returned makes the session.
fn begin(
    options: Options,
    screen: &mut Screen,
) -> anyhow::Result<impl FnOnce(Screen) -> Session + use<>> {
    let (sender, events) = crossbeam_channel::unbounded();
    let is_typed = !options.batch && !options.json && std::io::stdin().is_terminal();
    let interrupts = interrupts::forward(sender.clone(), is_typed)?;
    if options.json && !options.batch {
        let sender = sender.clone();
        std::thread::spawn(move || {
            screen::wait_until_left();
            // The program may run for ever, and nobody would be told.
            let _ = sender.send(session::Event::Line(input::Line::End));
        });
    }
    if let Some(time) = options.timeout {
        interrupts.end_after(time, sender.clone(), options.json);
    }
    let (given, adapter) = chosen(&options)?;
    let what = ProgramOptions {
        given,
        words: options.program,
        attach: options.attach,
        wait: options.wait,
        core: options.core,
        target: options.target,
        sysroot: options.sysroot,
        cargo: options.cargo,
        replay: options.replay,
    };
    let mut program = what.program(&adapter, screen)?;
    program.debuginfod = options.debuginfod;
    program.source_map = options.source_map;
    program.visualizers = match adapter.place() {
        Some(_) => options.natvis,
        None => absolute(&options.natvis)?,
    };
    program.follow_forks = options.follow_forks;
    program.record = options.record;
    program.pty = options.pty;
    let log = WireLog::open_if(options.log.as_deref(), Side::Client)?;
    let completer = Completer::default();
    let then = if options.batch {
        Then::End
    } else {
        Then::Interactive
    };
    let given = options.commands.iter();
    let mut commands: Vec<_> = given
        .map(|line| Scripted::new(line, Origin::Option))
        .collect();
    if let Some(file) = &options.script {
        commands.extend(commands::lines_of(file, Origin::Script)?);
    }
    let initial = match options.no_init {
        true => Vec::new(),
        false => commands_of_user()?,
    };
    let mut input = Input::new(
        commands,
        then,
        completer.clone(),
        sender.clone(),
        options.json,
    );
    input.interpose(initial);
    if !options.batch && !options.json {
        let greeting = greeting(&program, screen.style);
        screen.print(&greeting);
    }
    let keeps_going = options.keep_going;
    Ok(move |screen| {
        let channels = (sender, events, interrupts);
        let mut session = Session::new(screen, program, adapter, log, input, completer, channels);
        session.keeps_going = keeps_going;
        session
    })
}

/// A time in seconds, of `--timeout`.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().map_err(|_| "it is not a number".to_owned())?;
    let time = Duration::try_from_secs_f64(number).map_err(|error| error.to_string())?;
    match time.is_zero() {
        true => Err("it has to be more than 0".to_owned()),
        false => Ok(time),
    }
}

/// The commands that the user wants to be run at the start: those in `$XDG_CONFIG_HOME/dapple/init` or `~/.config/dapple/init`.
fn commands_of_user() -> anyhow::Result<Vec<Scripted>> {
    let folder = crate::folders::user_directory("XDG_CONFIG_HOME", ".config");
    let file = folder.map(|folder| folder.join("init"));
    match file.filter(|file| file.is_file()) {
        Some(file) => commands::lines_of(&file, Origin::File),
        None => Ok(Vec::new()),
    }
}

/// The arguments that the user has given, and the adapter.
fn chosen(options: &Options) -> anyhow::Result<(Option<Given>, Adapter)> {
    let named = match &options.on {
        Some(place) => Adapter::On(place.clone(), options.far_binary.clone()),
        None => Adapter::of(options.adapter.clone(), options.connect.clone()),
    };
    let text = match (&options.launch, &options.attach_with) {
        (Some(text), _) => Some((Kind::Launch, text, "--launch")),
        (None, Some(text)) => Some((Kind::Attach, text, "--attach-with")),
        (None, None) => None,
    };
    let Some((kind, text, option)) = text else {
        return Ok((None, named));
    };
    let Some((file, name)) = launch_json::named(text) else {
        let given = Given::parse(kind, text).context(option)?;
        return placed(given, named, &options.far_binary);
    };
    let open = options.program.first().map(Path::new);
    let found = launch_json::read(&file, name, open, !options.json).context(option)?;
    let adapter = match named {
        Adapter::Own => found.adapter,
        named => named,
    };
    placed(found.given, adapter, &options.far_binary)
}

/// The adapter at the place that the arguments name (`on`), if they do: it is for us, and not for the adapter.
fn placed(
    mut given: Given,
    adapter: Adapter,
    far_binary: &Option<PathBuf>,
) -> anyhow::Result<(Option<Given>, Adapter)> {
    let named = given.arguments.get("on").filter(|_| adapter.is_here());
    let Some(named) = named else {
        return Ok((Some(given), adapter));
    };
    let text = match named {
        Value::String(text) => text.clone(),
        words => words.to_string(),
    };
    let place = Place::parse(&text).map_err(|error| anyhow::anyhow!("`on`: {error}"))?;
    given.arguments.remove("on");
    Ok((Some(given), Adapter::On(place, far_binary.clone())))
}

/// The options that say what to debug.
struct ProgramOptions {
    given: Option<Given>,
    words: Vec<OsString>,
    attach: Option<String>,
    wait: bool,
    core: Option<PathBuf>,
    target: Option<String>,
    sysroot: Option<PathBuf>,
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
        if let Some(from) = self.given {
            return given_program(from, &given, texts(words)?, adapter);
        }
        let core = self.core.map(|file| {
            let program = Some(given.clone()).filter(|path| !path.as_os_str().is_empty());
            (file.clone(), Attach::Core { file, program })
        });
        let process = self.attach.map(|target| {
            let path = PathBuf::from(&target);
            (path, Attach::Process { target, wait })
        });
        let stub = match self.target {
            Some(address) => Some(stub(address, &given, self.sysroot)?),
            None => None,
        };
        match core.or(process).or(stub) {
            Some((path, attach)) => Ok(Program {
                path,
                attach: Some(attach),
                ..Program::default()
            }),
            None if self.cargo => {
                if !adapter.is_own() {
                    bail!("--cargo is for our own adapter; build the program first, and give that");
                }
                let given = Some(given.into_os_string()).filter(|word| !word.is_empty());
                let mut words = texts(given.into_iter().chain(words))?;
                if words.is_empty() {
                    words.push("run".to_owned());
                }
                if let Some(place) = adapter.place() {
                    let asks = std::io::stdin().is_terminal() && !screen.is_json();
                    return sent::program(&words, place, asks);
                }
                Ok(Program {
                    cargo: Some(words),
                    language: Some(Language::Rust),
                    ..Program::default()
                })
            }
            None => find_program(&given, texts(words)?, adapter, screen),
        }
    }
}

/// What is behind a stub, and the program's file if it is given.
fn stub(
    address: String,
    program: &Path,
    sysroot: Option<PathBuf>,
) -> anyhow::Result<(PathBuf, Attach)> {
    let program = match program.as_os_str().is_empty() {
        true => None,
        false => {
            let path = program.canonicalize();
            Some(path.with_context(|| format!("can't debug {}", program.display()))?)
        }
    };
    let sysroot = match sysroot {
        Some(folder) => {
            let path = folder.canonicalize();
            Some(path.with_context(|| format!("--sysroot {}", folder.display()))?)
        }
        None => None,
    };
    let path = PathBuf::from(&address);
    Ok((
        path,
        Attach::Stub {
            address,
            program,
            sysroot,
        },
    ))
}

/// A program, or a process, for which the user has given arguments. Perhaps the program is given beside them.
fn given_program(
    given: Given,
    path: &Path,
    args: Vec<String>,
    adapter: &Adapter,
) -> anyhow::Result<Program> {
    let attach = (given.kind == Kind::Attach).then_some(Attach::Given);
    let path = match path.as_os_str().is_empty() {
        true => PathBuf::new(),
        false if adapter.place().is_some() => path.to_owned(),
        false => {
            { path.canonicalize() }.with_context(|| format!("can't debug {}", path.display()))?
        }
    };
    let named = given.arguments.get("program").and_then(Value::as_str);
    let source = match path.as_os_str().is_empty() {
        true => named.map(PathBuf::from),
        false => Some(path.clone()),
    };
    Ok(Program {
        path,
        source: source.filter(|path| path.is_absolute() && is_text(path)),
        args,
        attach,
        given: Some(given),
        ..Program::default()
    })
}

/// Whether a program is a script, and so its own source.
fn is_text(path: &Path) -> bool {
    let mut begin = [0; 64];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut begin));
    read.is_ok_and(|count| !begin[..count].contains(&0))
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
    if adapter.place().is_some() {
        return Ok(Program {
            path: given.to_owned(),
            args,
            ..Program::default()
        });
    }
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
    let preset = adapter.preset();
    if preset.is_some_and(|preset| !preset.compiles) {
        let source = Some(path.clone()).filter(|path| is_text(path));
        return Ok(Program {
            path,
            source,
            ..program
        });
    }
    if kind.is_dir() {
        if !adapter.is_own() || !path.join("Cargo.toml").is_file() {
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
    if adapter.is_own() {
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
        None if name.is_empty() => {
            let given = program.given.as_ref().and_then(Given::name);
            screen::printable(&given.unwrap_or_else(|| "a program".to_owned()))
        }
        None => name.to_string_lossy().into_owned(),
    };
    let language = program
        .language
        .map(|language| format!(" ({})", language.name()))
        .unwrap_or_default();
    let attaches = match program.attach {
        None if program.replay.is_some() => Some(("Replaying", "`b main`, `run` and `rc`")),
        None => None,
        Some(Attach::Process { .. } | Attach::Given) => Some(("Attaching to", "`bt` and `c`")),
        Some(Attach::Stub { .. }) => Some(("Connecting to", "`bt` and `c`")),
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
