//! A client of any adapter. At each stop, it prints the innermost frame and the frame's variables:
//!
//!     stops LAUNCH-ARGUMENTS-AS-JSON [FILE:LINE…] -- ADAPTER [ARGUMENT…]

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use dapple_dap::types::*;
use dapple_dap::{Client, Raw};

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = words.splitn(2, |word| word == "--");
    let ours = parts.next().and_then(<[String]>::split_first);
    let (launch, places) = ours.context("the arguments of `launch` are missing")?;
    let adapter = parts.next().and_then(<[String]>::split_first);
    let (adapter, arguments) = adapter.context("`-- ADAPTER` is missing")?;
    let client = Client::spawn(Command::new(adapter).args(arguments))?;
    let events = client.subscribe();
    client.request::<InitializeRequest>(InitializeRequestArguments::new("any"))?;
    let launch = client.start::<LaunchRequest>(LaunchRequestArguments::of(&Raw::from_text(
        launch.as_str(),
    )?)?)?;
    let mut breakpoints = BTreeMap::<_, Vec<_>>::new();
    for place in places {
        let (file, line) = place.rsplit_once(':').context("a place is FILE:LINE")?;
        let in_file = breakpoints.entry(file).or_default();
        in_file.push(SourceBreakpoint::new(line.parse()?));
        let file = SetBreakpointsArguments::new(Source::new().with_path(file));
        client.request::<SetBreakpointsRequest>(file.with_breakpoints(in_file.clone()))?;
    }
    client.configured(launch)?;
    let mut exit_code = 0;
    for event in events {
        match event.decode_any()? {
            AnyEvent::Stopped(stopped) => print_stop(&client, &stopped)?,
            AnyEvent::Output(log) if log.category == Some(OutputEventCategory::Telemetry) => {}
            AnyEvent::Output(output) => print!("{}", output.output),
            AnyEvent::Exited(exited) => exit_code = exited.exit_code,
            AnyEvent::Terminated(_) => break,
            _ => {}
        }
    }
    client.request::<DisconnectRequest>(DisconnectArguments::new())?;
    Ok(ExitCode::from(exit_code as u8))
}

fn print_stop(client: &Client, stopped: &StoppedEventBody) -> Result<()> {
    let thread = stopped.thread_id.context("a stop without a thread")?;
    let frame = client.stack(thread).next().context("no frames")??;
    println!("{}: {} at line {}", stopped.reason, frame.name, frame.line);
    let scopes = client.request::<ScopesRequest>(ScopesArguments::new(frame.id))?;
    for variable in client.variables(scopes.scopes.first().context("no scopes")?) {
        let variable = variable?;
        println!("  {} = {}", variable.name, variable.value);
    }
    client.request::<ContinueRequest>(ContinueArguments::new(thread))?;
    Ok(())
}
