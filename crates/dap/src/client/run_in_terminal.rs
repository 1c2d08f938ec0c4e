//! A ready-made answer to `runInTerminal`: the program is started as a child of this process.
//!
//! There is no terminal: the program gets no standard input and output, those of this process, or what a callback sets. The programs end
//! with the client, after the adapter. See [`RunInTerminal`].

use std::collections::BTreeMap;
use std::fmt;
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
#[cfg(windows)]
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use rustix::process::Pid;

use super::Client;
use super::dispatch::Runs;
use super::spawn::{cannot_start, end_child};
use crate::failure::Failure;
use crate::message::Raw;
use crate::types::{RunInTerminalRequest, RunInTerminalRequestArguments, RunInTerminalResponse};

/// The client capability for arguments that a shell interprets.
pub(crate) const BY_SHELL: &str = "supportsArgsCanBeInterpretedByShell";

type Prepare =
    dyn Fn(&RunInTerminalRequestArguments, &mut Command) -> Result<(), Failure> + Send + Sync;
type Started = dyn Fn(&RunInTerminalRequestArguments, &mut Child) + Send + Sync;

/// The arguments with an empty `cwd` if they have none or `null`. The protocol requires it; lldb-dap 22 leaves it out. `None`: they have one.
pub(crate) fn with_cwd(arguments: &Raw) -> Option<Raw> {
    let mut fields = arguments.decode::<BTreeMap<String, Raw>>().ok()?;
    if fields.get("cwd").is_some_and(|cwd| cwd.text() != "null") {
        return None;
    }
    fields.insert("cwd".to_owned(), Raw::new("").ok()?);
    Raw::new(&fields).ok()
}

/// How programs are started for an adapter's `runInTerminal` requests.
///
/// The adapter's `cwd`, `env` (`null` removes a variable) and `args` are applied. Without `cwd`, it is this process's. The answer has the
/// id of the process; of a shell that [interprets the arguments](Self::with_shell), it is `shellProcessId`.
///
/// The callbacks run on a thread of their own for each program: they may wait for the user or the adapter.
///
/// ```
/// use std::process::Stdio;
/// use dapple_dap::client::RunInTerminal;
/// # use dapple_dap::{Client, Connection};
///
/// # let (connection, _adapter) = Connection::memory();
/// # let client = Client::new(connection);
/// // Before `initialize`, which announces that programs can be started.
/// client.on_run_in_terminal(RunInTerminal::new().prepare(|_, command| {
///     command.stdout(Stdio::inherit());
///     Ok(())
/// }));
/// ```
#[derive(Clone, Default)]
pub struct RunInTerminal {
    inherits: bool,
    shell: bool,
    prepare: Option<Arc<Prepare>>,
    started: Option<Arc<Started>>,
}

impl fmt::Debug for RunInTerminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunInTerminal")
            .field("inherits", &self.inherits)
            .field("shell", &self.shell)
            .finish_non_exhaustive()
    }
}

impl RunInTerminal {
    /// Programs without input, whose output is discarded. On Unix, each leads a process group of its own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the programs the standard input, output and error of this process. They stay in its process group: in a terminal, another
    /// one could not read.
    #[must_use]
    pub fn inherit_stdio(mut self) -> Self {
        self.inherits = true;
        self
    }

    /// Announces `supportsArgsCanBeInterpretedByShell`. Adapters may then leave the arguments to a shell (`sh -c`; on Windows `cmd /C`), as
    /// one line: for redirections and the like.
    #[must_use]
    pub fn with_shell(mut self) -> Self {
        self.shell = true;
        self
    }

    /// Calls `prepare` with each command that is about to be started, to set where its input comes from and its output goes, or to refuse
    /// it. A second call replaces the first.
    #[must_use]
    pub fn prepare(
        mut self,
        prepare: impl Fn(&RunInTerminalRequestArguments, &mut Command) -> Result<(), Failure>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    /// Calls `started` with each program that was started, before the adapter gets its answer: to take its pipes. It must not wait for the
    /// program's end. If it panics, the program is ended. A second call replaces the first.
    #[must_use]
    pub fn started(
        mut self,
        started: impl Fn(&RunInTerminalRequestArguments, &mut Child) + Send + Sync + 'static,
    ) -> Self {
        self.started = Some(Arc::new(started));
        self
    }

    /// The client capabilities beyond that of the request itself.
    pub(crate) fn announced(&self) -> Option<&'static str> {
        self.shell.then_some(BY_SHELL)
    }

    /// Starts the program that the adapter asks for.
    pub(crate) fn start(
        &self,
        asked: &RunInTerminalRequestArguments,
        programs: &Arc<Programs>,
    ) -> Result<RunInTerminalResponse, Failure> {
        let by_shell = self.shell && asked.args_can_be_interpreted_by_shell == Some(true);
        let mut command = match (&asked.args[..], by_shell) {
            ([], _) => return Err(Failure::new("`args` is empty: it names no program")),
            (args, true) => shell(&args.join(" ")),
            ([program, rest @ ..], false) => {
                let mut command = Command::new(program);
                command.args(rest);
                command
            }
        };
        if !asked.cwd.is_empty() {
            command.current_dir(&asked.cwd);
        }
        for (name, value) in asked.env.iter().flatten() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if !self.inherits {
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            #[cfg(unix)]
            command.process_group(0);
        }
        if let Some(prepare) = &self.prepare {
            prepare(asked, &mut command)?;
        }
        let child = command
            .spawn()
            .map_err(|error| not_started(&command, &error))?;
        let process = i64::from(child.id());
        let mut child = NewProgram(Some(child));
        if let (Some(started), Some(child)) = (&self.started, &mut child.0) {
            started(asked, child);
        }
        if let Some(child) = child.0.take() {
            programs.add(child)?;
        }
        let response = RunInTerminalResponse::new();
        Ok(match by_shell {
            true => response.with_shell_process_id(process),
            false => response.with_process_id(process),
        })
    }
}

/// A program that [`Programs`] does not have yet. Dropping this ends the program.
struct NewProgram(Option<Child>);

impl Drop for NewProgram {
    fn drop(&mut self) {
        let ended = self
            .0
            .as_mut()
            .map(|child| end_child(child, Duration::ZERO));
        if let Some(Err(error)) = ended {
            tracing::warn!(%error, "a program cannot be reaped");
        }
    }
}

/// Also names the directory, since the system's error may be about either.
fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    let failure = Failure::from(cannot_start(command.get_program(), error));
    match command.get_current_dir().filter(|cwd| !cwd.is_dir()) {
        Some(cwd) => {
            let sentence = format!("{}: no directory {}", failure.sentence(), cwd.display());
            failure.with_sentence(sentence)
        }
        None => failure,
    }
}

#[cfg(not(windows))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

#[cfg(windows)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.arg("/C").raw_arg(line);
    command
}

/// The programs that were started for an adapter and have not ended.
#[derive(Debug)]
pub(crate) struct Programs {
    /// `None` once the client has ended: no more programs are started.
    children: Mutex<Option<Vec<Child>>>,
}

impl Programs {
    pub(crate) fn new() -> Arc<Self> {
        let children = Mutex::new(Some(Vec::new()));
        Arc::new(Self { children })
    }

    /// Takes a program that was just started.
    fn add(self: &Arc<Self>, mut child: Child) -> Result<(), Failure> {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(children) = &mut *children else {
            end_child(&mut child, Duration::ZERO)?;
            return Err(Failure::new("the client has ended"));
        };
        #[cfg(target_os = "linux")]
        self.reap_at_end(&child);
        children.push(child);
        Ok(())
    }

    /// Reaps a program when it ends, on a thread that waits for that: other processes are to see that it has ended. One that has left
    /// processes in the group that it leads stays unreaped, for [`end`](Self::end) to find these.
    #[cfg(target_os = "linux")]
    fn reap_at_end(self: &Arc<Self>, child: &Child) {
        use super::spawn::{End, leads_others};

        let leader = Pid::from_child(child);
        let Some(end) = End::of(leader) else { return };
        let programs = Arc::downgrade(self);
        let waiting = std::thread::Builder::new().name("dap-program".to_owned());
        let thread = waiting.spawn(move || {
            end.wait();
            let Some(programs) = programs.upgrade() else {
                return;
            };
            let mut children = programs
                .children
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if !leads_others(leader) {
                let id = leader.as_raw_nonzero().get().unsigned_abs();
                children
                    .iter_mut()
                    .flatten()
                    .filter(|child| child.id() == id)
                    .for_each(|child| drop(child.try_wait()));
                children
                    .iter_mut()
                    .for_each(|all| all.retain(|child| child.id() != id));
            }
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "a program is not reaped before the client ends");
        }
    }

    /// Ends the programs as [`end_child`] does. `grace` is for all of them together.
    pub(crate) fn end(&self, grace: Duration) {
        let children = self
            .children
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let until = Instant::now() + grace;
        for mut child in children.into_iter().flatten() {
            let left = until.saturating_duration_since(Instant::now());
            if let Err(error) = end_child(&mut child, left) {
                tracing::warn!(%error, "a program cannot be reaped");
            }
        }
    }

    /// True if no program runs, so that [`end`](Self::end) returns at once.
    #[cfg(feature = "tokio")]
    pub(crate) fn is_empty(&self) -> bool {
        let children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.as_ref().is_none_or(Vec::is_empty)
    }
}

impl Client {
    /// Answers `runInTerminal` by starting the program. Call it before `initialize`, which then announces it. When the client is dropped, the
    /// programs are ended after the adapter, as by [`end_child`]: they have a second to end by themselves.
    pub fn on_run_in_terminal(&self, starting: RunInTerminal) {
        let programs = self.shared.programs().clone();
        if let Some(capability) = starting.announced() {
            self.shared.announce(capability);
        }
        let answer = move |asked| starting.start(&asked, &programs);
        self.shared
            .on::<RunInTerminalRequest>(Runs::Elsewhere, answer);
    }
}
