//! Starting: `launch` and `configurationDone`, in either order.

use crate::adapter::{Adapter, Phase, say};
use crate::handlers::exceptions;
use crate::launch_arguments::LaunchArguments;
use crate::main_loop::OwnStdin;
use crate::to_dap;
use dapple_dap::message::Empty;
use dapple_dap::server::{ClientConventions, Context, Failure, Outbox};
use dapple_dap::types::{
    ConfigurationDoneArguments, InitializedEvent, LaunchRequestArguments, ProcessEvent,
    TerminatedEvent,
};
use dapple_engine::Session;
use dapple_engine::launch::Stdin;

/// Starts the program and holds it. A launch that fails ends the session.
pub fn launch(
    adapter: &mut Adapter,
    arguments: LaunchRequestArguments,
    context: &mut Context,
) -> Result<Empty, Failure> {
    not_begun(adapter)?;
    let launched = start(adapter, &arguments, context);
    if launched.is_err() {
        adapter.end();
        context
            .outbox()
            .event::<TerminatedEvent>(Default::default());
    }
    launched.map_err(|sentence| sentence.show_user())?;
    Ok(Empty)
}

/// A session has one program.
///
/// # Errors
/// It has had it.
pub fn not_begun(adapter: &Adapter) -> Result<(), Failure> {
    let refused = match adapter.phase {
        Phase::New => return Ok(()),
        Phase::Ended => "the session has ended; start a new one",
        _ => "a program is launched already; a session has one",
    };
    Err(Failure::new(refused).show_user())
}

/// Starts the program and holds it.
///
/// # Errors
/// The arguments are wrong, or it can't be started.
pub fn start(
    adapter: &mut Adapter,
    arguments: &LaunchRequestArguments,
    context: &mut Context,
) -> Result<(), Failure> {
    let launch = LaunchArguments::read(&arguments.other).map_err(Failure::new)?;
    let mut options = launch.options;
    if options.stdin == Stdin::Inherit && adapter.options.own_stdin == OwnStdin::Taken {
        return Err(Failure::new(
            "launch: `stdin` cannot be \"inherit\" here, the debugger's own standard input is in use; name a file, or \"null\"",
        ));
    }
    options.process_group = adapter.options.process_group;
    options.index_cache = adapter.options.index_cache.clone();
    adapter.stop_on_entry = launch.stop_on_entry;
    adapter.exceptions.set_launch_signals(launch.signals);
    adapter.no_debug = arguments.no_debug.unwrap_or(false);
    for warning in &launch.warnings {
        say(context.outbox(), warning);
    }
    adapter.takes_input = options.terminal || options.stdin == Stdin::Sent;
    adapter.launched_with = Some(arguments.clone());
    let events = adapter
        .engine_events
        .take()
        .ok_or_else(|| Failure::new("the session has ended; start a new one"))?;
    let debuggee = Session::launch_kept(options, events, adapter.keep())
        .map_err(|error| to_dap::failure(&error))?;
    begin(adapter, debuggee, context.outbox(), context.conventions())
}

/// The program is there and held: it gets what was asked for so far, and runs if that was all.
///
/// # Errors
/// It has ended.
pub fn begin(
    adapter: &mut Adapter,
    debuggee: Session,
    outbox: &Outbox,
    client: &ClientConventions,
) -> Result<(), Failure> {
    outbox.event::<ProcessEvent>(to_dap::process(debuggee.process()));
    adapter.debuggee = Some(debuggee);
    adapter.phase = Phase::Held;
    exceptions::apply(adapter)?;
    set_early_breakpoints(adapter, outbox, client)?;
    if !std::mem::replace(&mut adapter.told_initialized, true) {
        outbox.event::<InitializedEvent>(Empty);
    }
    adapter.start_when_ready(outbox)
}

/// Arms what was asked for before there was a program, and tells what became of it.
fn set_early_breakpoints(
    adapter: &mut Adapter,
    outbox: &Outbox,
    client: &ClientConventions,
) -> Result<(), Failure> {
    if adapter.no_debug {
        return Ok(());
    }
    for (file, wanted) in adapter.breakpoints.lines() {
        let lines = wanted.iter().map(|wanted| wanted.what.clone());
        let states = adapter
            .debuggee()?
            .set_line_breakpoints(&file, lines.collect())
            .map_err(|error| to_dap::failure(&error))?;
        for (state, wanted) in states.iter().zip(wanted) {
            adapter.breakpoints.bind(state.id, wanted.id);
            adapter.tell_breakpoint(state, outbox, client);
        }
    }
    super::data_breakpoints::set_early(adapter, outbox)?;
    let wanted = adapter.breakpoints.functions().to_vec();
    if wanted.is_empty() {
        return Ok(());
    }
    let functions = wanted.iter().map(|wanted| wanted.what.clone());
    let states = adapter
        .debuggee()?
        .set_function_breakpoints(functions.collect())
        .map_err(|error| to_dap::failure(&error))?;
    for (state, wanted) in states.iter().zip(wanted) {
        adapter.breakpoints.bind(state.id, wanted.id);
        adapter.tell_breakpoint(state, outbox, client);
    }
    Ok(())
}

/// The client has configured: the program may run.
pub fn configuration_done(
    adapter: &mut Adapter,
    _: ConfigurationDoneArguments,
    context: &mut Context,
) -> Result<Empty, Failure> {
    adapter.configured = true;
    adapter.start_when_ready(context.outbox())?;
    Ok(Empty)
}
