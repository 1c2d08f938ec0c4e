//! The `disconnect` request: ends the session, and kills the program, detaches from it or leaves it stopped.

use crate::adapter::{Adapter, Phase};
use crate::console::say;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::DisconnectArguments;
use dapple_engine::session::Leave;

/// Ends the session. By default a launched program is killed, and an attached process is detached from; the arguments can change that.
pub fn disconnect(
    adapter: &mut Adapter,
    arguments: DisconnectArguments,
    context: &mut Context,
) -> Result<Empty, Failure> {
    context.outbox().shed_output();
    let (launched, process) = match (&adapter.debuggee, &adapter.untraced) {
        (Some(debuggee), _) => {
            let process = debuggee.process();
            (process.of_launched, Some(process.pid))
        }
        (None, Some(untraced)) => (true, untraced.process().map(|process| process.pid)),
        (None, None) => (false, None),
    };
    let kill = arguments.terminate_debuggee.unwrap_or(launched);
    adapter.leave = match (kill, arguments.suspend_debuggee) {
        (true, _) => Leave::Kill,
        (false, Some(true)) => Leave::Suspend,
        (false, _) => Leave::Detach,
    };
    let is_left = launched && !kill && adapter.phase != Phase::Ended;
    if let Some(process) = process.filter(|_| is_left) {
        let how = match adapter.leave {
            Leave::Suspend => format!("stopped: `kill -CONT {process}` has it go on"),
            _ => "running".to_owned(),
        };
        let sentence = format!(
            "process {process} is left {how}; what it writes to the debug console is dropped from now on"
        );
        say(context.outbox(), &sentence);
    }
    adapter.end();
    Ok(Empty)
}
