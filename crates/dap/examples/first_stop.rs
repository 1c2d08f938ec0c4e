//! Drives any debug adapter to its first stop and prints threads, stack and variables.
//!
//!     cargo run -p dapple-dap --example first_stop -- '{"program":"/bin/true","stopOnEntry":true}' gdb -i dap
//!
//! The first argument is the adapter's arguments of `launch`; the rest is the adapter's command line.

use std::process::{Command, ExitCode};
use std::time::Duration;

use dapple_dap::message::Raw;
use dapple_dap::types::*;
use dapple_dap::{Client, ClientError, Event};

const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [launch, adapter, adapter_arguments @ ..] = arguments.as_slice() else {
        eprintln!("usage: first_stop LAUNCH-ARGUMENTS-AS-JSON ADAPTER [ARGUMENTS…]");
        return ExitCode::FAILURE;
    };
    let launch =
        match Raw::from_text(launch.as_str()).map(|raw| raw.decode::<LaunchRequestArguments>()) {
            Ok(Ok(launch)) => launch,
            Ok(Err(error)) => return failed(&error),
            Err(error) => return failed(&error),
        };
    let client = match Client::spawn(Command::new(adapter).args(adapter_arguments)) {
        Ok(client) => client,
        Err(error) => return failed(&error),
    };
    let outcome = first_stop(&client, launch);
    for violation in client.violations() {
        println!("the adapter broke a rule: {violation}");
    }
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

fn first_stop(client: &Client, launch: LaunchRequestArguments) -> Result<(), ClientError> {
    let who = InitializeRequestArguments::new("any").with_client_id("first_stop");
    let capabilities = client.request::<InitializeRequest>(who)?;
    // An adapter may answer `launch` only after the configuration.
    let launch = client.send::<LaunchRequest>(launch)?;
    client.wait_for_during::<InitializedEvent, _>(&launch, PATIENCE)?;
    if capabilities.supports("supportsFunctionBreakpoints") {
        let main = vec![FunctionBreakpoint::new("main")];
        client
            .request::<SetFunctionBreakpointsRequest>(SetFunctionBreakpointsArguments::new(main))?;
    }
    if capabilities.supports("supportsConfigurationDoneRequest") {
        client.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new())?;
    }
    launch.wait()?;

    let Some(stopped) = stopped_or_ended(client)? else {
        println!("the program ended without a stop");
        client.request::<DisconnectRequest>(DisconnectArguments::new())?;
        return Ok(());
    };
    println!("stopped: {}", stopped.reason);
    for thread in client.request::<ThreadsRequest>(Empty)?.threads {
        println!("thread {}: {}", thread.id, thread.name);
    }
    if let Some(thread) = stopped.thread_id {
        let stack = client
            .request::<StackTraceRequest>(StackTraceArguments::new(thread).with_levels(20))?;
        for frame in &stack.stack_frames {
            let path = frame
                .source
                .as_ref()
                .and_then(|source| source.path.as_deref())
                .unwrap_or("?");
            println!("  {} at {path}:{}", frame.name, frame.line);
        }
        if let Some(frame) = stack.stack_frames.first() {
            print_variables(client, frame.id)?;
        }
    }
    client
        .request::<DisconnectRequest>(DisconnectArguments::new().with_terminate_debuggee(true))?;
    Ok(())
}

/// Waits for the stop; `None` if the program ended instead.
fn stopped_or_ended(client: &Client) -> Result<Option<StoppedEventBody>, ClientError> {
    let names = [StoppedEvent::EVENT, TerminatedEvent::EVENT];
    let event = client.wait_for_any(PATIENCE, &names)?;
    Ok(event.body::<StoppedEvent>())
}

fn print_variables(client: &Client, frame: i64) -> Result<(), ClientError> {
    for scope in client
        .request::<ScopesRequest>(ScopesArguments::new(frame))?
        .scopes
    {
        println!("{}:", scope.name);
        if scope.expensive {
            continue;
        }
        let arguments = VariablesArguments::new(scope.variables_reference);
        for variable in client.request::<VariablesRequest>(arguments)?.variables {
            println!("  {} = {}", variable.name, variable.value);
        }
    }
    Ok(())
}
