//! The `restart` request: launches the program again within the session.

use super::launch::start;
use crate::adapter::events::send_module;
use crate::adapter::{Adapter, Phase};
use crate::arguments::LaunchArguments;
use crate::to_dap::OrFail;
use dapple_dap::server::{Context, Failure, Responder};
use dapple_dap::types::{
    Capabilities, InitializeRequestArguments, LaunchRequestArguments, ModuleEventReason,
    RestartArguments, RestartRequest,
};
use dapple_engine::Event;
use dapple_engine::session::Leave;

/// The error for references to values of the previous run.
const RESTARTED: &str = "this value was of the run before: the program was started again";

/// Whether `supportsRestartRequest` is hidden from this client, so that it starts a new session in place of a restart. VS Code shows stale state
/// after a restart within a session.
fn is_better_left_to(client: &InitializeRequestArguments) -> bool {
    let id = client.client_id.as_deref().unwrap_or_default();
    id.starts_with("vscode") || id.starts_with("visualstudio")
}

/// What isn't offered to this client at first.
pub fn offered(client: &InitializeRequestArguments, capabilities: &mut Capabilities) {
    if is_better_left_to(client) {
        capabilities.supports_restart_request = None;
    }
    // Sent once a program is recorded.
    capabilities.supports_step_back = None;
}

/// Kills the program and launches it again, with the same or new arguments. Breakpoints stay and keep their ids.
pub fn restart(
    adapter: &mut Adapter,
    arguments: RestartArguments,
    responder: Responder<RestartRequest>,
    context: &mut Context,
) {
    let has_arguments = arguments.arguments.is_some();
    match again(adapter, arguments) {
        Ok(launch) => {
            adapter.visualizers_requested &= !has_arguments;
            end_quietly(adapter, context);
            let finish = Box::new(|outcome| responder.finish(outcome));
            start(adapter, &launch, context, finish);
        }
        Err(failure) => responder.fail(failure.show_user()),
    }
}

/// The arguments of the next launch. They are checked here, before the running program is killed.
fn again(
    adapter: &Adapter,
    arguments: RestartArguments,
) -> Result<LaunchRequestArguments, Failure> {
    let Some(before) = adapter.launched_with.clone() else {
        return Err(Failure::new(match adapter.phase {
            Phase::New | Phase::Starting => "no program is launched yet",
            _ => "a process that was attached to can't be started again; it isn't the debugger's",
        }));
    };
    match adapter.phase {
        Phase::Ended => return Err(Failure::new("the session has ended; start a new one")),
        Phase::Starting if adapter.building.is_some() => {
            return Err(Failure::new("the program is being built"));
        }
        Phase::Starting => return Err(Failure::new("the program is being started")),
        _ => {}
    }
    let launch = match arguments.arguments {
        Some(raw) => raw
            .decode::<LaunchRequestArguments>()
            .map_err(|error| Failure::new(format!("restart: {error}")))?,
        None => before,
    };
    let read = LaunchArguments::read(&launch.other).map_err(Failure::new)?;
    // A recording names its program itself.
    if read.plans.is_empty() && read.options.replay.is_none() {
        let checked = read.options.check();
        checked.or_fail()?;
    }
    Ok(launch)
}

/// Kills the program. The client gets its last output and the events for its threads and modules, but no `exited` or `terminated`: the session
/// goes on.
fn end_quietly(adapter: &mut Adapter, context: &mut Context) {
    let (outbox, client) = (context.outbox().clone(), *context.conventions());
    if let Some(debuggee) = adapter.debuggee.take() {
        for module in debuggee.modules().unwrap_or_default() {
            send_module(&outbox, ModuleEventReason::Removed, &module);
            adapter.sources_go(module.id, &outbox, &client);
        }
        adapter.sources.next_round();
        debuggee.leave(Leave::Kill);
    }
    if let Some(untraced) = adapter.untraced.take() {
        untraced.leave(Leave::Kill);
    }
    for event in adapter.renew_engine() {
        if matches!(event, Event::ThreadExited(_) | Event::Output { .. }) {
            adapter.send_event(event, &outbox, &client);
        }
    }
    adapter.resumed();
    adapter.kept.end(RESTARTED);
    adapter.breakpoints.forget_engine();
    adapter.asked_to_end = false;
    adapter.patience = None;
    adapter.phase = Phase::New;
}
