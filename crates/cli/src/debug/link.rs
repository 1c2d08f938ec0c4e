//! The connection to the adapter, which is Dapple's own on a thread of this process or another program; and the launch or attach request.
//!
//! The adapter's messages become [`Event`]s of the session. Each has the number of its run, because an adapter that was closed may still
//! send something.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use crossbeam_channel::Sender;
use dapple_adapter::building::source::Language;
use dapple_adapter::{OwnStdin, ProcessGroup, ServeOptions};
use dapple_dap::Failure;
use dapple_dap::client::{Client, Pending};
use dapple_dap::message::{Empty, Raw, Request};
use dapple_dap::transport;
use dapple_dap::types::{
    AttachRequest, AttachRequestArguments, CancelArguments, CancelRequest, Capabilities,
    InitializeRequest, InitializeRequestArguments, LaunchRequest, LaunchRequestArguments,
    StartDebuggingRequest, StartDebuggingRequestArguments, StartDebuggingRequestArgumentsRequest,
};

use super::session::Event;
use super::style::Style;

/// Which adapter to drive.
#[derive(Debug, Clone)]
pub enum Adapter {
    /// Dapple's, on a thread of this process.
    Own,
    /// Another program that speaks the protocol on its stdio, as a shell command.
    Command(String),
}

/// What is debugged.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The executable, or the source or directory from which Dapple's adapter builds it; absolute. Empty if cargo builds it. With `attach`, the
    /// core file, or the process as the user named it.
    pub path: PathBuf,
    /// The arguments for cargo, if cargo builds the program.
    pub cargo: Option<Vec<String>>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The source that the program was compiled from, if known.
    pub source: Option<PathBuf>,
    /// The language of that source.
    pub language: Option<Language>,
    /// Whether to ask debuginfod servers for missing debug information.
    pub debuginfod: bool,
    /// Where its sources are.
    pub source_map: Vec<SourceFolders>,
    /// Natvis files, absolute.
    pub visualizers: Vec<PathBuf>,
    /// Which process is debugged when it forks.
    pub follow_forks: FollowForks,
    /// Whether it is recorded.
    pub record: bool,
    /// The recording that is replayed in place of a program; absolute.
    pub replay: Option<PathBuf>,
    /// The process or core file, if the program is not launched.
    pub attach: Option<Attach>,
}

/// A directory in which sources were when the program was compiled, and where they are on this machine.
#[derive(Debug, Clone)]
pub struct SourceFolders {
    /// The directory's path in the debug information.
    pub from: String,
    /// The directory on this machine, absolute.
    pub to: String,
}

/// What is debugged instead of a launched program.
#[derive(Debug, Clone)]
pub enum Attach {
    /// A running process.
    Process {
        /// Its id, or the name or path of its executable.
        target: String,
        /// Whether to wait for the next process of that name to start.
        wait: bool,
    },
    /// A core file.
    Core {
        /// The file.
        file: PathBuf,
        /// The path of the program that left the core file, if that path has changed.
        program: Option<PathBuf>,
    },
}

/// Which process is debugged when the program forks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FollowForks {
    /// The program; its children run free.
    #[default]
    Parent,
    /// The child, and the program runs free.
    Child,
    /// All of them, each in a session of its own.
    Both,
}

/// Whether the program may have this process's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramStdin {
    /// It may, and its output goes directly to the user's terminal.
    Terminal,
    /// It may.
    Inherit,
    /// It may not: commands are read from it.
    Null,
}

/// What a new session debugs.
#[derive(Debug, Clone, Copy)]
pub enum Start<'s> {
    /// The program, and the patterns of code that steps don't enter.
    Program(&'s Program, &'s [String]),
    /// The process for which another session's adapter has requested a session.
    Child(&'s StartDebuggingRequestArguments),
}

/// A connection to an adapter that was sent a launch or attach request.
pub struct Link {
    client: Client,
    thread: Cell<Option<i64>>,
    /// The thread of Dapple's adapter.
    host: Option<JoinHandle<()>>,
}

impl Link {
    /// Starts the adapter and sends it the launch or attach request. The adapter's `initialized` follows as an event, its answer to the
    /// request as [`Event::Launched`].
    ///
    /// # Errors
    /// The adapter can't be started, or fails the `initialize` request.
    pub fn open(
        adapter: &Adapter,
        options: transport::Options,
        start: Start<'_>,
        follow_forks: FollowForks,
        stdin: ProgramStdin,
        style: Style,
        (run, events): (u32, &Sender<Event>),
    ) -> anyhow::Result<Self> {
        let (client, host) = match adapter {
            Adapter::Own => host_own(options)?,
            Adapter::Command(command) => (spawn(command, options)?, None),
        };
        let link = Self {
            client,
            thread: Cell::new(None),
            host,
        };
        link.forward_events(run, events.clone());
        let sender = events.clone();
        link.client.on::<StartDebuggingRequest>(move |arguments| {
            if follow_forks != FollowForks::Both {
                return Err(Failure::new(
                    "`dapple debug` opens other sessions only with --follow-forks both",
                ));
            }
            // Sending fails only after the session has ended.
            let _ = sender.send(Event::StartDebugging(run, Box::new(arguments)));
            Ok(Empty)
        });
        let mut arguments = InitializeRequestArguments::new("dapple".to_owned());
        arguments.client_id = Some("dapple".to_owned());
        arguments.client_name = Some("dapple debug".to_owned());
        arguments.lines_start_at1 = Some(true);
        arguments.columns_start_at1 = Some(true);
        arguments.supports_variable_type = Some(true);
        arguments.supports_ansi_styling = Some(style.is_enabled());
        arguments.supports_start_debugging_request = Some(follow_forks == FollowForks::Both);
        link.request::<InitializeRequest>(arguments)
            .context("the adapter did not start")?;
        match start {
            Start::Program(program, skip) => match &program.attach {
                Some(attach) => {
                    let mut arguments = attach_arguments(attach, program)?;
                    add_skip(&mut arguments.other, skip, adapter)?;
                    add_scopes(&mut arguments.other, adapter)?;
                    link.attach(arguments, run, events)?;
                }
                None => {
                    let mut arguments = launch_arguments(program, stdin, adapter)?;
                    add_skip(&mut arguments.other, skip, adapter)?;
                    add_scopes(&mut arguments.other, adapter)?;
                    link.launch(arguments, run, events)?;
                }
            },
            Start::Child(child) => {
                let configuration = child.configuration.clone();
                if child.request == StartDebuggingRequestArgumentsRequest::Launch {
                    let mut arguments = LaunchRequestArguments::new();
                    arguments.other = configuration;
                    link.launch(arguments, run, events)?;
                } else {
                    let mut arguments = AttachRequestArguments::new();
                    arguments.other = configuration;
                    link.attach(arguments, run, events)?;
                }
            }
        }
        Ok(link)
    }

    fn launch(
        &self,
        arguments: LaunchRequestArguments,
        run: u32,
        events: &Sender<Event>,
    ) -> anyhow::Result<()> {
        let answer = self.client.send::<LaunchRequest>(arguments)?;
        forward_answer(answer, run, events.clone());
        Ok(())
    }

    fn attach(
        &self,
        arguments: AttachRequestArguments,
        run: u32,
        events: &Sender<Event>,
    ) -> anyhow::Result<()> {
        let answer = self.client.send::<AttachRequest>(arguments)?;
        forward_answer(answer, run, events.clone());
        Ok(())
    }

    fn forward_events(&self, run: u32, events: Sender<Event>) {
        let received = self.client.subscribe();
        thread::spawn(move || {
            for event in received {
                // Malformed events are ignored; the session goes on.
                let Ok(event) = event.any() else { continue };
                if events.send(Event::Adapter(run, Box::new(event))).is_err() {
                    return;
                }
            }
            // Sending fails only after the session has ended.
            let _ = events.send(Event::AdapterEnded(run));
        });
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The adapter's own message if it refused, or that it has ended.
    pub fn request<R: Request>(&self, arguments: R::Arguments) -> anyhow::Result<R::Response> {
        Ok(self.client.request::<R>(arguments)?)
    }

    /// Sends a request without waiting for its answer, so that it can be cancelled.
    ///
    /// # Errors
    /// The adapter has ended.
    pub fn send<R: Request>(&self, arguments: R::Arguments) -> anyhow::Result<Pending<R>> {
        Ok(self.client.send::<R>(arguments)?)
    }

    /// Asks the adapter to cancel a request, if it supports that. The answer to that request says whether it was cancelled.
    pub fn cancel(&self, request: i64) {
        if self.capabilities().supports_cancel_request == Some(true) {
            let arguments = CancelArguments::new().with_request_id(request);
            let _ = self.client.send::<CancelRequest>(arguments);
        }
    }

    /// The adapter's capabilities.
    pub fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }

    /// The id of a thread that the adapter has named, for requests that need one while the program runs. It may have ended meanwhile.
    pub fn known_thread(&self) -> Option<i64> {
        self.thread.get()
    }

    /// Records the id of a thread for [`Link::known_thread`].
    pub fn set_known_thread(&self, thread: i64) {
        self.thread.set(Some(thread));
    }

    /// Closes the connection and waits for the adapter to end, so that no process of the program is left behind.
    pub fn close(self) {
        drop(self.client);
        if let Some(host) = self.host {
            // A panic there has printed its own message.
            let _ = host.join();
        }
    }
}

/// Waits for the answer on a thread, because some adapters answer the launch only once `configurationDone` lets the program run.
fn forward_answer<R: Request>(launch: Pending<R>, run: u32, events: Sender<Event>)
where
    Pending<R>: Send + 'static,
{
    thread::spawn(move || {
        let outcome = launch
            .wait_for(Duration::MAX)
            .map(|_| ())
            .map_err(|error| error.to_string());
        // Sending fails only after the session has ended.
        let _ = events.send(Event::Launched(run, outcome));
    });
}

/// Runs Dapple's adapter on a thread. The program shares this process's terminal, and therefore its process group.
fn host_own(options: transport::Options) -> anyhow::Result<(Client, Option<JoinHandle<()>>)> {
    let (ours, theirs) = options.memory();
    let options = ServeOptions {
        process_group: ProcessGroup::Shared,
        own_stdin: OwnStdin::Free,
        index_cache: crate::cache::open_if_possible(),
        programs: crate::folders::programs(),
        ..ServeOptions::default()
    };
    let host = thread::Builder::new()
        .name("adapter".to_owned())
        .spawn(move || {
            if let Err(error) = dapple_adapter::serve(theirs, options) {
                tracing::error!(%error, "the debug adapter has ended");
            }
        });
    Ok((
        Client::new(ours),
        Some(host.context("can't start a thread for the adapter")?),
    ))
}

/// Starts another adapter in a process group of its own, because Ctrl-C is meant for the program, not for the adapter.
fn spawn(command: &str, options: transport::Options) -> anyhow::Result<Client> {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("exec {command}"))
        .process_group(0);
    Client::spawn_with(&mut shell, options)
        .with_context(|| format!("can't start the adapter `{command}`"))
}

/// The launch arguments. `program`, `args`, `cwd` and `stopOnEntry` have the same meaning in all known native adapters; `stdin` is specific
/// to Dapple.
fn launch_arguments(
    program: &Program,
    stdin: ProgramStdin,
    adapter: &Adapter,
) -> anyhow::Result<LaunchRequestArguments> {
    let mut arguments = LaunchRequestArguments::new();
    let cwd = std::env::current_dir().context("the working directory is gone")?;
    let mut set = |name: &str, value: Raw| arguments.other.insert(name.to_owned(), value);
    if let Some(file) = &program.replay {
        set("replay", Raw::new(text_of(file)?)?);
        set("stopOnEntry", Raw::new(&false)?);
        add_common(&mut arguments.other, program)?;
        return Ok(arguments);
    }
    match &program.cargo {
        Some(words) => set("cargo", Raw::new(words)?),
        None => set("program", Raw::new(text_of(&program.path)?)?),
    };
    set("args", Raw::new(&program.args)?);
    set("cwd", Raw::new(text_of(&cwd)?)?);
    set("stopOnEntry", Raw::new(&false)?);
    if program.record {
        set("record", Raw::new(&true)?);
    }
    if matches!(adapter, Adapter::Own) && stdin != ProgramStdin::Null {
        set("stdin", Raw::new("inherit")?);
    }
    if matches!(adapter, Adapter::Own) && stdin == ProgramStdin::Terminal {
        // If the program's output were a pipe, the C library would buffer it, and it would appear late or only at the end.
        for stream in ["stdout", "stderr"] {
            set(stream, Raw::new("/dev/tty")?);
        }
    }
    add_common(&mut arguments.other, program)?;
    Ok(arguments)
}

/// The attach arguments. `stopOnEntry` stops the process where it is, so that the user can look at it.
fn attach_arguments(attach: &Attach, program: &Program) -> anyhow::Result<AttachRequestArguments> {
    let mut arguments = AttachRequestArguments::new();
    let mut set = |name: &str, value: Raw| arguments.other.insert(name.to_owned(), value);
    match attach {
        Attach::Process { target, wait } => {
            match target.parse::<i32>() {
                Ok(pid) if !wait => set("pid", Raw::new(&pid)?),
                _ => set("program", Raw::new(target)?),
            };
            if *wait {
                set("waitFor", Raw::new(&true)?);
            }
            set("stopOnEntry", Raw::new(&true)?);
        }
        Attach::Core { file, program } => {
            set("coreFile", Raw::new(file)?);
            if let Some(program) = program {
                set("program", Raw::new(program)?);
            }
        }
    }
    add_common(&mut arguments.other, program)?;
    Ok(arguments)
}

/// Adds the arguments that launch and attach have in common.
fn add_common(arguments: &mut BTreeMap<String, Raw>, program: &Program) -> anyhow::Result<()> {
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

/// Requests separate scopes for arguments and return values, which `info args` and `finish` need. Only Dapple's adapter has that argument.
fn add_scopes(arguments: &mut BTreeMap<String, Raw>, adapter: &Adapter) -> anyhow::Result<()> {
    if matches!(adapter, Adapter::Own) {
        arguments.insert("separateScopes".to_owned(), Raw::new(&true)?);
    }
    Ok(())
}

/// Adds the patterns of code that steps don't enter, which only Dapple's adapter takes.
fn add_skip(
    arguments: &mut BTreeMap<String, Raw>,
    skip: &[String],
    adapter: &Adapter,
) -> anyhow::Result<()> {
    if matches!(adapter, Adapter::Own) {
        arguments.insert("skip".to_owned(), Raw::new(skip)?);
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
