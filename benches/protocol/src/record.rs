//! Records the corpus: drives a real adapter as an editor does, and keeps every message as it was sent.
//!
//! One message per line, in the order of transmission. The script `record` shows how the checked-in files were made.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use dapple_dap::client::Client;
use dapple_dap::message::Raw;
use dapple_dap::testing::Recorder;
use dapple_dap::types::*;

const PATIENCE: Duration = Duration::from_secs(60);

/// How many variables of each scope are opened at each stop.
const OPENED: usize = 2;

/// What to debug: the launch arguments as JSON, and a breakpoint.
pub struct Session<'a> {
    pub launch: &'a str,
    pub source: &'a str,
    pub line: i64,
    /// How many stops are inspected.
    pub stops: usize,
}

/// Runs one session with the adapter and writes its messages to `path`.
pub fn record(path: &Path, session: &Session<'_>, adapter: &[String]) -> Result<()> {
    let recorder = Recorder::new();
    let done = drive(&recorder, session, adapter);
    let mut file = BufWriter::new(File::create(path)?);
    for message in recorder.messages() {
        writeln!(file, "{}", message.text)?;
    }
    file.flush()?;
    done
}

fn drive(recorder: &Recorder, session: &Session<'_>, adapter: &[String]) -> Result<()> {
    let (name, arguments) = adapter.split_first().context("no adapter given")?;
    let mut command = Command::new(name);
    command
        .args(arguments)
        .env("DEBUGINFOD_URLS", "")
        .stderr(Stdio::null());
    let client = Client::spawn_with(&mut command, recorder.options())?.with_timeout(PATIENCE);

    // The arguments that VS Code sends.
    let about = InitializeRequestArguments::new("bench")
        .with_client_id("vscode")
        .with_client_name("Visual Studio Code")
        .with_locale("en")
        .with_path_format(InitializeRequestArgumentsPathFormat::Path)
        .with_lines_start_at1(true)
        .with_columns_start_at1(true)
        .with_supports_variable_type(true)
        .with_supports_variable_paging(true)
        .with_supports_run_in_terminal_request(true)
        .with_supports_progress_reporting(true)
        .with_supports_invalidated_event(true)
        .with_supports_memory_event(true)
        .with_supports_args_can_be_interpreted_by_shell(true)
        .with_supports_start_debugging_request(true);
    let capabilities = client.request::<InitializeRequest>(about)?;
    let launch = client.send::<LaunchRequest>(serde_json::from_str(session.launch)?)?;
    client.wait_for_caused::<InitializedEvent, _>(&launch, PATIENCE)?;
    let source = Source::new()
        .with_name(
            Path::new(session.source)
                .file_name()
                .unwrap_or_default()
                .to_string_lossy(),
        )
        .with_path(session.source);
    let mut breakpoints = SetBreakpointsArguments::new(source.clone())
        .with_breakpoints(vec![SourceBreakpoint::new(session.line)])
        .with_source_modified(false);
    breakpoints.lines = Some(vec![session.line]);
    client.request::<SetBreakpointsRequest>(breakpoints)?;
    if capabilities.supports("supportsFunctionBreakpoints") {
        client.request::<SetFunctionBreakpointsRequest>(SetFunctionBreakpointsArguments::new(
            Vec::new(),
        ))?;
    }
    client
        .request::<SetExceptionBreakpointsRequest>(
            SetExceptionBreakpointsArguments::new(Vec::new()),
        )
        .ok();
    client.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new())?;
    launch.wait()?;

    for step in 1..=session.stops {
        let stop = client.wait_for::<StoppedEvent>(PATIENCE, |_| true)?;
        let thread = stop.thread_id.context("the stop names no thread")?;
        look(&client, &capabilities, thread, step)?;
        match step {
            last if last == session.stops => {}
            2 => drop(client.request::<StepInRequest>(StepInArguments::new(thread))?),
            _ => drop(client.request::<NextRequest>(NextArguments::new(thread))?),
        }
    }
    let mut end = DisconnectArguments::new();
    end.terminate_debuggee = Some(true);
    client.request::<DisconnectRequest>(end)?;
    Ok(())
}

/// Makes the requests of an editor at a stop. Not every adapter supports all of them: errors are part of the corpus.
fn look(client: &Client, capabilities: &Capabilities, thread: i64, step: usize) -> Result<()> {
    client.request::<ThreadsRequest>(Empty)?;
    let first = StackTraceArguments::new(thread)
        .with_start_frame(0)
        .with_levels(1);
    let frames = client.request::<StackTraceRequest>(first)?.stack_frames;
    let all = StackTraceArguments::new(thread)
        .with_start_frame(1)
        .with_levels(19);
    client.request::<StackTraceRequest>(all)?;
    let frame = frames.first().context("a stop without a frame")?;
    let scopes = client
        .request::<ScopesRequest>(ScopesArguments::new(frame.id))?
        .scopes;
    for scope in scopes.iter().filter(|scope| !scope.expensive) {
        let arguments = VariablesArguments::new(scope.variables_reference);
        let variables = client.request::<VariablesRequest>(arguments)?.variables;
        for variable in variables
            .iter()
            .filter(|variable| variable.variables_reference > 0)
            .take(OPENED)
        {
            let mut arguments = VariablesArguments::new(variable.variables_reference);
            arguments.start = Some(0);
            arguments.count = Some(100);
            client.request::<VariablesRequest>(arguments).ok();
        }
        for variable in variables.iter().take(2) {
            let hover = EvaluateArguments::new(variable.name.clone())
                .with_frame_id(frame.id)
                .with_context(EvaluateArgumentsContext::Hover);
            client.request::<EvaluateRequest>(hover).ok();
        }
    }
    if step == 2
        && capabilities.supports("supportsDisassembleRequest")
        && let Some(address) = &frame.instruction_pointer_reference
    {
        let mut window = DisassembleArguments::new(address.clone(), 40);
        window.instruction_offset = Some(-20);
        window.resolve_symbols = Some(true);
        client.request::<DisassembleRequest>(window).ok();
    }
    if step == 2 && capabilities.supports("supportsModulesRequest") {
        client
            .request::<ModulesRequest>(ModulesArguments::new())
            .ok();
    }
    Ok(())
}

/// Checks that the launch arguments are JSON, before an adapter is started.
pub fn check(launch: &str) -> Result<()> {
    Raw::from_text(launch)
        .map(drop)
        .context("the launch arguments are not JSON")
}
