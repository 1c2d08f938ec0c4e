//! Checks a whole session as an editor would run it: starts the adapter, and debugs a small program to a breakpoint and to its end.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use dapple_dap::client::{Client, Pending};
use dapple_dap::message::Raw;
use dapple_dap::types::{
    ConfigurationDoneRequest, ContinueArguments, ContinueRequest, EvaluateArguments,
    EvaluateRequest, ExitedEvent, InitializeRequest, InitializeRequestArguments, InitializedEvent,
    LaunchRequest, LaunchRequestArguments, SetBreakpointsArguments, SetBreakpointsRequest, Source,
    SourceBreakpoint, StackTraceArguments, StackTraceRequest, StoppedEvent,
};

use super::Finding;
use super::compilers::{Compiled, LINE};

const CHECK: &str = "session";
/// How long the adapter may take to answer a request or to send an event.
const PATIENCE: Duration = Duration::from_secs(20);

/// Debugs the program that a compiler has produced or, if none has produced one, `dapple` itself.
pub fn check(compiled: Option<&Compiled>, report: &mut dyn FnMut(Finding)) {
    let outcome = match compiled {
        Some(compiled) => debug(compiled),
        None => debug_own(),
    };
    report(match outcome {
        Ok(says) => Finding::ok(CHECK, says),
        Err(error) => Finding::problem(
            CHECK,
            format!("a small program can't be debugged: {error:#}"),
        )
        .with_remedy("what it says, and the problems above, are to be put right first"),
    });
}

/// Starts an adapter as an editor does.
fn start() -> anyhow::Result<Client> {
    let own = std::env::current_exe().context("this program's own file can't be found")?;
    let client =
        Client::spawn(Command::new(own).arg("dap")).context("the adapter does not start")?;
    let client = client.with_timeout(PATIENCE);
    client.request::<InitializeRequest>(InitializeRequestArguments::new("dapple".to_owned()))?;
    Ok(client)
}

/// Ends the configuration, and waits for the answer to the launch and for the first stop. Returns the thread that stopped.
fn first_stop(client: &Client, launched: Pending<LaunchRequest>) -> anyhow::Result<i64> {
    client.request::<ConfigurationDoneRequest>(Default::default())?;
    launched.wait()?;
    let stopped = client.wait_for::<StoppedEvent>(PATIENCE, |_| true)?;
    stopped.thread_id.context("the stop has no thread")
}

/// Continues the program, and waits for its exit. Left to itself the program exits with 0, so another code is an error.
fn run_to_the_end(client: &Client, thread: i64) -> anyhow::Result<()> {
    client.request::<ContinueRequest>(ContinueArguments::new(thread))?;
    let code = client
        .wait_for::<ExitedEvent>(PATIENCE, |_| true)?
        .exit_code;
    ensure!(code == 0, "it ends with code {code} instead of 0");
    Ok(())
}

fn debug(compiled: &Compiled) -> anyhow::Result<String> {
    let begun = Instant::now();
    let client = start()?;
    let mut arguments = LaunchRequestArguments::new();
    let program = compiled
        .program
        .to_str()
        .context("the temporary folder has no name in UTF-8")?;
    arguments
        .other
        .insert("program".to_owned(), Raw::new(program)?);
    let launched = client.send::<LaunchRequest>(arguments)?;
    client.wait_for_caused::<InitializedEvent, LaunchRequest>(&launched, PATIENCE)?;
    let source = Source::new().with_path(compiled.source.display().to_string());
    let breakpoints =
        SetBreakpointsArguments::new(source).with_breakpoints(vec![SourceBreakpoint::new(LINE)]);
    client.request::<SetBreakpointsRequest>(breakpoints)?;
    let thread = first_stop(&client, launched)?;
    let took = begun.elapsed();
    let stack = client.request::<StackTraceRequest>(StackTraceArguments::new(thread))?;
    let frame = stack
        .stack_frames
        .first()
        .context("the stop has no stack")?;
    ensure!(
        frame.line == LINE,
        "it stops at line {} instead of {LINE}",
        frame.line
    );
    let answer = EvaluateArguments::new("answer".to_owned()).with_frame_id(frame.id);
    let answer = client.request::<EvaluateRequest>(answer)?.result;
    ensure!(
        answer == "41",
        "its variable `answer` is {answer} instead of 41"
    );
    run_to_the_end(&client, thread)?;
    Ok(format!(
        "a program was debugged, with {} ms from the adapter's start to the first stop",
        took.as_millis()
    ))
}

/// Debugs `dapple --version`: stops it at its entry and lets it run to its end.
fn debug_own() -> anyhow::Result<String> {
    let begun = Instant::now();
    let client = start()?;
    let own = std::env::current_exe()?;
    let own = own.to_str().context("this program's path is not UTF-8")?;
    let mut arguments = LaunchRequestArguments::new();
    arguments.other.insert("program".to_owned(), Raw::new(own)?);
    arguments
        .other
        .insert("args".to_owned(), Raw::new(&["--version"])?);
    arguments
        .other
        .insert("stopOnEntry".to_owned(), Raw::new(&true)?);
    let launched = client.send::<LaunchRequest>(arguments)?;
    client.wait_for_caused::<InitializedEvent, LaunchRequest>(&launched, PATIENCE)?;
    let thread = first_stop(&client, launched)?;
    let took = begun.elapsed();
    run_to_the_end(&client, thread)?;
    Ok(format!(
        "this program was debugged for want of a compiler, with {} ms from the adapter's start to the first stop",
        took.as_millis()
    ))
}
