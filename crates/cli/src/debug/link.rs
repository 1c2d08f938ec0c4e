//! The connection to the adapter, which is Dapple's own on a thread of this process or another program.
//!
//! The adapter's messages become [`Event`]s of the session. Each has the number of its run, because an adapter that was closed may still
//! send something.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use crossbeam_channel::Sender;
use dapple_adapter::building::source::Language;
use dapple_dap::Failure;
use dapple_dap::client::breakpoints::Update;
use dapple_dap::client::{Client, ClientError, Pending, RunInTerminal};
use dapple_dap::launch::Start as SessionStart;
use dapple_dap::message::{Empty, Request};
use dapple_dap::transport;
use dapple_dap::types::{
    AttachRequest, AttachRequestArguments, Breakpoint, CancelArguments, CancelRequest,
    Capabilities, DisconnectArguments, DisconnectRequest, InitializeRequest,
    InitializeRequestArguments, LaunchRequest, LaunchRequestArguments, Source, SourceArguments,
    SourceRequest, StartDebuggingRequest, StartDebuggingRequestArguments,
};

use super::adapters::arguments::{self, Given, Streams};
use super::adapters::process::{AdapterProcess, Listener, Written};
use super::adapters::{Adapter, Way, chatter};
use super::interrupts::Interrupts;
use super::name_search::NameSearch;
use super::session::Event;
use super::style::Style;
use crate::{on, own_adapter};

/// How long it may take to end a session without a program.
const DISCONNECTING_IDLE: Duration = Duration::from_secs(1);
/// How long another adapter may take to end the program.
const DISCONNECTING: Duration = Duration::from_secs(10);

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
    /// Whether it gets a terminal of its own, whose output comes as events.
    pub pty: bool,
    /// The recording that is replayed in place of a program; absolute.
    pub replay: Option<PathBuf>,
    /// The process or core file, if the program is not launched.
    pub attach: Option<Attach>,
    /// The arguments that the user has given.
    pub given: Option<Given>,
    /// The program's working directory, absolute, if it is not this process's.
    pub cwd: Option<PathBuf>,
    /// Variables of the program's environment that differ from this process's; `None` for those that are removed.
    pub env: BTreeMap<String, Option<String>>,
    /// Where the program's streams are redirected to.
    pub streams: Streams,
    /// Whether what it is started with was changed since the last start.
    pub is_changed: bool,
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
    /// What the arguments say that the user has given.
    Given,
    /// A running process.
    Process {
        /// Its id, or the name or path of its executable.
        target: String,
        /// Whether to wait for the next process of that name to start.
        wait: bool,
    },
    /// What is behind a stub of gdb's remote protocol.
    Stub {
        /// Where the stub is.
        address: String,
        /// The program's file on this machine, absolute.
        program: Option<PathBuf>,
        /// A folder with a copy of the other machine's files, absolute.
        sysroot: Option<PathBuf>,
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
    client: Arc<Client>,
    thread: Cell<Option<i64>>,
    /// The thread of Dapple's adapter.
    host: Option<JoinHandle<()>>,
    /// The process of another adapter, which serves several sessions if it listens.
    process: Option<Arc<AdapterProcess>>,
    interrupts: Interrupts,
}

/// What a connection is opened with.
pub struct Opening<'o> {
    /// The adapter.
    pub adapter: &'o Adapter,
    /// The process of the adapter that has asked for this session.
    pub process: Option<Arc<AdapterProcess>>,
    /// The connection's options.
    pub options: transport::Options,
    /// What is debugged.
    pub start: Start<'o>,
    /// Which process is debugged when the program forks.
    pub follow_forks: FollowForks,
    /// Whether the program gets our input.
    pub stdin: ProgramStdin,
    /// Whether what the adapter has us start may write to our stdout.
    pub shares_stdout: bool,
    /// Whether colours are shown.
    pub style: Style,
    /// The number of the run.
    pub run: u32,
    /// Where events go.
    pub events: &'o Sender<Event>,
    /// Ctrl-C.
    pub interrupts: &'o Interrupts,
}

impl Link {
    /// Starts the adapter and sends it the launch or attach request. The adapter's `initialized` follows as an event, its answer to the
    /// request as [`Event::Launched`].
    ///
    /// # Errors
    /// The adapter can't be started, or fails the `initialize` request, or Ctrl-C was pressed before that was answered.
    pub fn open(opening: Opening<'_>) -> anyhow::Result<Self> {
        let Opening {
            adapter,
            options,
            start,
            follow_forks,
            stdin,
            run,
            events,
            interrupts,
            ..
        } = opening;
        let (client, host, process) = match adapter {
            Adapter::Own => {
                let (client, host) = own_adapter::start(options)?;
                (client, Some(host), None)
            }
            other => {
                let removed = match start {
                    Start::Program(program, _) => arguments::removed(program),
                    Start::Child(_) => Vec::new(),
                };
                let running = opening.process;
                let listener = listener(other, stdin, events);
                let (client, process) =
                    connect(other, running, &removed, options, (&listener, interrupts))?;
                (client, None, Some(process))
            }
        };
        let link = Self {
            client: Arc::new(client),
            thread: Cell::new(None),
            host,
            process,
            interrupts: interrupts.clone(),
        };
        link.forward_events(run, events.clone());
        let sender = events.clone();
        // Some adapters debug no program in the first session, but only in those that they ask for.
        let takes_others = follow_forks == FollowForks::Both || link.process.is_some();
        link.client.on::<StartDebuggingRequest>(move |arguments| {
            if !takes_others {
                return Err(Failure::new(
                    "`dapple debug` opens other sessions only with --follow-forks both",
                ));
            }
            // Sending fails only after the session has ended.
            let _ = sender.send(Event::StartDebugging(run, Box::new(arguments)));
            Ok(Empty)
        });
        if link.process.is_some() && stdin != ProgramStdin::Null && opening.shares_stdout {
            let terminal = RunInTerminal::new().inherit_stdio();
            link.client.on_run_in_terminal(terminal);
        }
        link.initialize(adapter, opening.style, takes_others)?;
        link.begin(adapter, start, stdin, (run, events))?;
        Ok(link)
    }

    /// Tells the adapter what we can do.
    fn initialize(
        &self,
        adapter: &Adapter,
        style: Style,
        takes_others: bool,
    ) -> anyhow::Result<()> {
        let mut arguments = InitializeRequestArguments::new("dapple".to_owned());
        arguments.client_id = Some("dapple".to_owned());
        arguments.client_name = Some("dapple debug".to_owned());
        arguments.lines_start_at1 = Some(true);
        arguments.columns_start_at1 = Some(true);
        arguments.supports_variable_type = Some(true);
        arguments.supports_ansi_styling = Some(style.is_enabled());
        arguments.supports_start_debugging_request = Some(takes_others);
        let answer = self.request::<InitializeRequest>(arguments);
        let hint = { adapter.preset() }.and_then(|preset| preset.hint);
        answer
            .map_err(|error| match (hint, error.downcast_ref()) {
                (Some(hint), Some(ClientError::Disconnected)) => {
                    anyhow::anyhow!("it has ended at once; {hint}")
                }
                _ => error,
            })
            .context("the adapter did not start")?;
        Ok(())
    }

    /// Sends the launch or attach request.
    fn begin(
        &self,
        adapter: &Adapter,
        start: Start<'_>,
        stdin: ProgramStdin,
        (run, events): (u32, &Sender<Event>),
    ) -> anyhow::Result<()> {
        match start {
            Start::Program(program, skip) => {
                let mut arguments = match &program.attach {
                    Some(attach) => arguments::attach(attach, program, adapter)?,
                    None => arguments::launch(program, stdin, adapter)?,
                };
                arguments::add_own(&mut arguments, skip, adapter)?;
                match &program.attach {
                    Some(_) => {
                        let mut attach = AttachRequestArguments::new();
                        attach.other = arguments;
                        self.attach(attach, run, events)?;
                    }
                    None => {
                        let mut launch = LaunchRequestArguments::new();
                        launch.other = arguments;
                        self.launch(launch, run, events)?;
                    }
                }
            }
            Start::Child(child) => match child.start()? {
                SessionStart::Launch(arguments) => self.launch(arguments, run, events)?,
                SessionStart::Attach(arguments) => self.attach(arguments, run, events)?,
            },
        }
        Ok(())
    }

    /// What asks an adapter on another machine for the text of a source by its path there. It keeps the connection no longer than this does.
    pub fn source_texts(&self) -> impl Fn(&Path) -> Option<String> + use<> {
        let (client, interrupts) = (Arc::downgrade(&self.client), self.interrupts.clone());
        move |path| {
            let source = Source::new().with_path(path.to_str()?);
            let arguments = SourceArguments::new(0).with_source(source);
            let client = client.upgrade()?;
            let ask = move || client.send::<SourceRequest>(arguments)?.wait();
            let answer = interrupts.wait(SourceRequest::COMMAND, ask).ok()?;
            Some(answer.ok()?.content)
        }
    }

    /// The adapter's process, for other sessions with it.
    pub fn process(&self) -> Option<Arc<AdapterProcess>> {
        self.process.clone()
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
                let Ok(event) = event.decode_any() else {
                    continue;
                };
                if events.send(Event::Adapter(run, Box::new(event))).is_err() {
                    return;
                }
            }
            // Sending fails only after the session has ended.
            let _ = events.send(Event::AdapterEnded(run));
        });
    }

    /// Sends a request and waits for its answer. Ctrl-C ends the wait.
    ///
    /// # Errors
    /// The adapter's own message if it refused, that it has ended, or that it hasn't answered yet.
    pub fn request<R: Request>(&self, arguments: R::Arguments) -> anyhow::Result<R::Response>
    where
        R::Response: Send + 'static,
        Pending<R>: Send + 'static,
    {
        let client = Arc::clone(&self.client);
        let ask = move || client.send::<R>(arguments)?.wait();
        let answer = self.interrupts.wait(R::COMMAND, ask)?;
        answer.map_err(|error| self.plain(error))
    }

    /// An error as it is shown: of another adapter's, without the stack of the adapter's own code.
    pub fn plain(&self, error: ClientError) -> anyhow::Error {
        match error {
            ClientError::Failed(mut failure) if self.process.is_some() => {
                failure.sentence = chatter::of_error(&failure.sentence);
                ClientError::Failed(failure).into()
            }
            error => error.into(),
        }
    }

    /// Sends breakpoints, and returns what the adapter answers for each.
    ///
    /// # Errors
    /// As of [`Link::request`].
    pub fn update(&self, update: &Update) -> anyhow::Result<Vec<Breakpoint>> {
        let (client, update) = (Arc::clone(&self.client), update.clone());
        let answer = self
            .interrupts
            .wait("breakpoints", move || update.send(&client))?;
        Ok(answer?)
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

    /// Asks for names on another thread than the session's.
    pub fn name_search(&self) -> NameSearch {
        NameSearch::new(&self.client, self.host.is_some())
    }

    /// The id of a thread that the adapter has named, for requests that need one while the program runs. It may have ended meanwhile.
    pub fn known_thread(&self) -> Option<i64> {
        self.thread.get()
    }

    /// Records the id of a thread for [`Link::known_thread`].
    pub fn set_known_thread(&self, thread: i64) {
        self.thread.set(Some(thread));
    }

    /// Asks the adapter to end the program or to let it go. `is_idle`: there is no program in this session.
    ///
    /// # Errors
    /// As of [`Link::request`]; it may also take too long.
    pub fn disconnect(&self, arguments: DisconnectArguments, is_idle: bool) -> anyhow::Result<()> {
        let client = Arc::clone(&self.client);
        let patience = match self.process {
            // It may write a recording.
            None => Duration::MAX,
            Some(_) if is_idle => DISCONNECTING_IDLE,
            Some(_) => DISCONNECTING,
        };
        let ask = move || {
            let pending = client.send::<DisconnectRequest>(arguments)?;
            pending.wait_at_most(patience)
        };
        self.interrupts.wait(DisconnectRequest::COMMAND, ask)??;
        Ok(())
    }

    /// Closes the connection and waits for the adapter to end, so that no process of the program is left behind.
    pub fn close(self) {
        // Somebody may still wait for an answer, on a thread.
        let is_closed = Arc::into_inner(self.client).is_some();
        if let Some(host) = self.host.filter(|_| is_closed) {
            // A panic there has printed its own message.
            let _ = host.join();
        }
    }

    /// How the adapter's process has ended, as the end of a sentence: `, with exit code 1`. Empty if that isn't known.
    pub fn how_ended(&self) -> String {
        let how = self.process.as_ref().and_then(|process| process.ended());
        how.map(|how| format!(", {how}")).unwrap_or_default()
    }
}

/// Waits for the answer on a thread, because some adapters answer the launch only once `configurationDone` lets the program run.
fn forward_answer<R: Request>(launch: Pending<R>, run: u32, events: Sender<Event>)
where
    Pending<R>: Send + 'static,
{
    thread::spawn(move || {
        let outcome = launch
            .wait_at_most(Duration::MAX)
            .map(|_| ())
            .map_err(|error| error.to_string());
        // Sending fails only after the session has ended.
        let _ = events.send(Event::Launched(run, outcome));
    });
}

/// Takes what an adapter writes beside the protocol. Where commands are typed, that is shown above the prompt.
fn listener(adapter: &Adapter, stdin: ProgramStdin, events: &Sender<Event>) -> Listener {
    let events = events.clone();
    let repeats = adapter.preset().is_some_and(|preset| preset.repeats_errors);
    Listener {
        takes_errors: stdin == ProgramStdin::Terminal,
        told: Arc::new(move |written: Written, text: String| {
            if written == Written::Errors && repeats {
                return;
            }
            // Sending fails only after the session has ended.
            let _ = events.send(Event::AdapterWrote(written, text));
        }),
    }
}

/// Starts another adapter without these variables of our environment, or connects to the one that runs.
fn connect(
    adapter: &Adapter,
    running: Option<Arc<AdapterProcess>>,
    removed: &[&str],
    options: transport::Options,
    (listener, interrupts): (&Listener, &Interrupts),
) -> anyhow::Result<(Client, Arc<AdapterProcess>)> {
    if let Some(process) = running
        && process.listens()
    {
        let connection = process.connect(options, interrupts)?;
        return Ok((Client::new(connection), process));
    }
    let way = match adapter {
        Adapter::Own => bail!("our own adapter is no other program"),
        Adapter::On(place, far_binary) => Way::Stdio(on::command(place, far_binary.as_deref())?),
        Adapter::Known(preset) => preset.way().map_err(anyhow::Error::msg)?,
        Adapter::Command(command) => {
            let words = ["sh".into(), "-c".into(), format!("exec {command}").into()];
            Way::Stdio(words.to_vec())
        }
        Adapter::At(address, command) => Way::Listening(address.clone(), command.clone()),
    };
    let (process, connection) =
        AdapterProcess::start(&way, removed, options, listener, interrupts)?;
    Ok((Client::new(connection), process))
}
