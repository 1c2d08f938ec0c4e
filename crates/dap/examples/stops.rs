//! A client for any adapter: stops at a line, prints the stack and the locals of each stop, and continues to the program's end.
//!
//!     stops LAUNCH-ARGUMENTS-AS-JSON FILE:LINE ADAPTER [ARGUMENTS…]

use std::error::Error;
use std::process::Command;
use std::time::Duration;

use dapple_dap::Client;
use dapple_dap::message::Raw;
use dapple_dap::types::*;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [launch, place, adapter, adapter_arguments @ ..] = arguments.as_slice() else {
        return Err("usage: stops LAUNCH-ARGUMENTS-AS-JSON FILE:LINE ADAPTER [ARGUMENTS…]".into());
    };
    let (file, line) = place.rsplit_once(':').ok_or("the place is FILE:LINE")?;
    let launch: LaunchRequestArguments = Raw::from_text(launch.as_str())?.decode()?;

    let client = Client::spawn(Command::new(adapter).args(adapter_arguments))?;
    let patience = Duration::from_secs(30);
    let capabilities =
        client.request::<InitializeRequest>(InitializeRequestArguments::new("stops"))?;
    // The adapter may answer `launch` only after the configuration.
    let launch = client.send::<LaunchRequest>(launch)?;
    client.wait_for_during::<InitializedEvent, _>(&launch, patience)?;
    let breakpoints = vec![SourceBreakpoint::new(line.parse()?)];
    let source = Source::new().with_path(std::path::absolute(file)?.to_string_lossy());
    let arguments = SetBreakpointsArguments::new(source).with_breakpoints(breakpoints);
    for breakpoint in client
        .request::<SetBreakpointsRequest>(arguments)?
        .breakpoints
    {
        println!(
            "breakpoint at {file}:{line}: verified {}",
            breakpoint.verified
        );
    }
    let events = client.subscribe();
    if capabilities.supports("supportsConfigurationDoneRequest") {
        client.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new())?;
    }
    launch.wait()?;

    while let Ok(event) = events.recv_timeout(patience) {
        match event.any()? {
            AnyEvent::Stopped(stopped) => {
                println!("stopped: {}", stopped.reason);
                let thread = stopped.thread_id.ok_or("a stop without a thread")?;
                print_stack(&client, thread)?;
                client.request::<ContinueRequest>(ContinueArguments::new(thread))?;
            }
            AnyEvent::Output(output) => print!("{}", output.output),
            AnyEvent::Terminated(_) => break,
            _ => {}
        }
    }
    client.request::<DisconnectRequest>(DisconnectArguments::new())?;
    Ok(())
}

fn print_stack(client: &Client, thread: i64) -> Result<(), Box<dyn Error>> {
    let stack = client
        .request::<StackTraceRequest>(StackTraceArguments::new(thread))?
        .stack_frames;
    for frame in &stack {
        println!("  {} at line {}", frame.name, frame.line);
    }
    let top = stack.first().ok_or("a thread without frames")?;
    let scopes = client
        .request::<ScopesRequest>(ScopesArguments::new(top.id))?
        .scopes;
    for scope in scopes.iter().filter(|scope| !scope.expensive) {
        let arguments = VariablesArguments::new(scope.variables_reference);
        for variable in client.request::<VariablesRequest>(arguments)?.variables {
            println!("    {} = {}", variable.name, variable.value);
        }
    }
    Ok(())
}
