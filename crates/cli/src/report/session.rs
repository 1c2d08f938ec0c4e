//! The session with Dapple's own adapter: attaches to the process or opens the core file, and asks what is there.
//!
//! Its end detaches: a process goes on as before.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use crossbeam_channel::Receiver;
use dapple_adapter::{ListedModule, ModulesRequest};
use dapple_dap::Event;
use dapple_dap::client::{Client, EventMessage};
use dapple_dap::message::{Empty, Raw, Request};
use dapple_dap::transport;
use dapple_dap::types::{
    AttachRequest, AttachRequestArguments, DisassembleArguments, DisassembleRequest,
    DisassembledInstruction, DisconnectArguments, DisconnectRequest, ExceptionInfoArguments,
    ExceptionInfoRequest, ExceptionInfoResponse, InitializeRequest, InitializeRequestArguments,
    ModulesArguments, OutputEvent, OutputEventCategory, ProcessEvent, Scope, ScopesArguments,
    ScopesRequest, StackFrame, StackTraceArguments, StackTraceRequest, StoppedEvent,
    StoppedEventBody, TerminatedEvent, Thread, ThreadsRequest, Variable, VariablesArguments,
    VariablesRequest,
};

use super::Target;
use crate::own_adapter;

/// How long an answer may take: reading the debug information of a large program takes a while.
const PATIENCE: Duration = Duration::from_secs(600);
/// The argument that the adapter asks for where the program is missing.
const ARGUMENT: &str = " (`program`)";
/// A part of what the adapter says of a process that a signal has stopped, and what a report says.
const STOPPED: &str = " is stopped by a signal; ";
const STAYS_STOPPED: &str = "a signal has stopped the process, and it stays stopped";
/// How many warnings of the adapter are kept.
const WARNINGS: usize = 50;

/// A stopped process or an opened core file.
pub struct Session {
    client: Client,
    host: JoinHandle<()>,
    events: Receiver<EventMessage>,
    program: Option<String>,
}

impl Session {
    /// Attaches to the process and stops it, or opens the core file. Returns why it is stopped.
    ///
    /// # Errors
    /// The adapter's sentence: there is no such process, it may not be debugged, the file is no core file.
    pub fn open(target: &Target) -> anyhow::Result<(Session, StoppedEventBody)> {
        let mut arguments = AttachRequestArguments::new();
        let mut set = |name: &str, value: Raw| arguments.other.insert(name.to_owned(), value);
        match target {
            Target::Process(pid) => {
                set("pid", Raw::new(pid)?);
                set("stopOnEntry", Raw::new(&true)?);
            }
            Target::Core { file, program } => {
                let file = std::path::absolute(file).context("the working directory is gone")?;
                set("coreFile", Raw::new(text_of(&file)?)?);
                if let Some(program) = program {
                    // A name alone is also looked for elsewhere.
                    let here = std::path::absolute(program).ok();
                    let here = here.filter(|path| path.is_file());
                    let program = here.as_deref().unwrap_or(program);
                    set("program", Raw::new(text_of(program)?)?);
                }
            }
        }
        set("separateScopes", Raw::new(&true)?);
        let (client, host) = own_adapter::start(transport::Options::new())?;
        let client = client.with_timeout(PATIENCE);
        let events = client.subscribe();
        let mut session = Session {
            client,
            host,
            events,
            program: None,
        };
        match session.begin(arguments) {
            Ok(stop) => Ok((session, stop)),
            Err(error) => {
                // The first error is the one to report.
                let _ = session.close();
                Err(reworded(&error, target))
            }
        }
    }

    fn begin(&mut self, arguments: AttachRequestArguments) -> anyhow::Result<StoppedEventBody> {
        let client = &self.client;
        let mut initialize = InitializeRequestArguments::new("dapple".to_owned());
        initialize.client_id = Some("dapple".to_owned());
        initialize.client_name = Some("dapple report".to_owned());
        initialize.supports_variable_type = Some(true);
        client.request::<InitializeRequest>(initialize)?;
        let attach = client.start::<AttachRequest>(arguments)?;
        client.configured(attach)?;
        let names = [StoppedEvent::EVENT, TerminatedEvent::EVENT];
        let event = client.wait_for_any(PATIENCE, &names)?;
        let name = client.wait_for::<ProcessEvent>(Duration::ZERO, |_| true);
        self.program = name.ok().map(|process| process.name);
        match event.decode::<StoppedEvent>() {
            Some(stop) => Ok(stop?),
            None => bail!("the process has ended"),
        }
    }

    fn request<R: Request>(&self, arguments: R::Arguments) -> anyhow::Result<R::Response> {
        Ok(self.client.request::<R>(arguments)?)
    }

    /// The path of the program's file, if it is known.
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref().filter(|path| !path.is_empty())
    }

    /// The threads.
    pub fn threads(&self) -> anyhow::Result<Vec<Thread>> {
        Ok(self.request::<ThreadsRequest>(Empty)?.threads)
    }

    /// Up to `most` of a thread's innermost frames.
    pub fn frames(&self, thread: i64, most: usize) -> anyhow::Result<Vec<StackFrame>> {
        let levels = i64::try_from(most)?;
        let arguments = StackTraceArguments::new(thread).with_levels(levels);
        Ok(self.request::<StackTraceRequest>(arguments)?.stack_frames)
    }

    /// The signal or exception that a thread has stopped for.
    pub fn exception(&self, thread: i64) -> anyhow::Result<ExceptionInfoResponse> {
        self.request::<ExceptionInfoRequest>(ExceptionInfoArguments::new(thread))
    }

    /// The scopes of a frame.
    pub fn scopes(&self, frame: i64) -> anyhow::Result<Vec<Scope>> {
        Ok(self
            .request::<ScopesRequest>(ScopesArguments::new(frame))?
            .scopes)
    }

    /// Up to `most` of the first variables of a scope or parts of a value.
    pub fn variables(&self, reference: i64, most: usize) -> anyhow::Result<Vec<Variable>> {
        let arguments = VariablesArguments::new(reference)
            .with_start(0)
            .with_count(i64::try_from(most)?);
        Ok(self.request::<VariablesRequest>(arguments)?.variables)
    }

    /// Instructions around an address: `before` in front of it, and `count` in all.
    pub fn instructions(
        &self,
        address: &str,
        before: i64,
        count: i64,
    ) -> anyhow::Result<Vec<DisassembledInstruction>> {
        let arguments = DisassembleArguments::new(address, count)
            .with_instruction_offset(-before)
            .with_resolve_symbols(true);
        Ok(self.request::<DisassembleRequest>(arguments)?.instructions)
    }

    /// Up to `most` modules, and how many there are.
    pub fn modules(&self, most: usize) -> anyhow::Result<(Vec<ListedModule>, usize)> {
        let arguments = ModulesArguments::new().with_module_count(i64::try_from(most)?);
        let answer = self.request::<ModulesRequest>(arguments)?;
        let total = usize::try_from(answer.total_modules).unwrap_or(0);
        Ok((answer.modules, total))
    }

    /// What the adapter has said so far of what it misses.
    pub fn warnings(&self) -> Vec<String> {
        let said = self.events.try_iter().filter_map(|event| {
            let output = event.decode::<OutputEvent>()?.ok()?;
            let is_console = matches!(
                output.category,
                None | Some(OutputEventCategory::Console | OutputEventCategory::Important)
            );
            let text = output.output.trim();
            let text = text.strip_prefix("warning: ").unwrap_or(text);
            let text = text.strip_suffix(ARGUMENT).unwrap_or(text);
            let text = text
                .split_once(STOPPED)
                .map_or(text, |(_, _)| STAYS_STOPPED);
            (is_console && !text.is_empty()).then(|| text.to_owned())
        });
        said.take(WARNINGS).collect()
    }

    /// Detaches, and waits until the adapter has ended.
    ///
    /// # Errors
    /// The adapter is gone, or has not answered.
    pub fn close(self) -> anyhow::Result<()> {
        let arguments = DisconnectArguments::new().with_terminate_debuggee(false);
        let answer = self.request::<DisconnectRequest>(arguments);
        drop(self.client);
        // A panic there has printed its own message.
        let _ = self.host.join();
        answer.map(|_| ())
    }
}

/// An error of the adapter without the names of its arguments.
fn reworded(error: &anyhow::Error, target: &Target) -> anyhow::Error {
    let text = format!("{error:#}");
    let text = text.strip_suffix(ARGUMENT).unwrap_or(&text);
    let named = match target {
        Target::Process(pid) => format!("attach: `pid` {pid}: "),
        Target::Core { .. } => "attach: `coreFile` ".to_owned(),
    };
    match (text.strip_prefix(&named), target) {
        (Some(rest), Target::Process(pid)) => anyhow!("process {pid}: {rest}"),
        (Some(rest), Target::Core { .. }) => anyhow!("core file {rest}"),
        (None, _) => anyhow!("{text}"),
    }
}

/// A path as text, because JSON can only carry Unicode.
fn text_of(path: &Path) -> anyhow::Result<&str> {
    let text = path.to_str();
    text.with_context(|| format!("the path {} is not UTF-8", path.display()))
}
