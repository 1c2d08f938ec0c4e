//! The `gotoTargets` and `goto` requests: moving a thread to another line of its function.

use crate::adapter::Adapter;
use crate::console::say;
use crate::from_dap;
use crate::to_dap::OrFail;
use dapple_dap::message::Empty;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{GotoArguments, GotoTarget, GotoTargetsArguments, GotoTargetsResponse};

/// Lists the addresses of a line. Whether a thread can go there is checked by `goto`.
pub fn goto_targets(
    adapter: &mut Adapter,
    arguments: GotoTargetsArguments,
    context: &mut Context,
) -> Result<GotoTargetsResponse, Failure> {
    let client = context.conventions();
    let file = adapter
        .path_of(&arguments.source, client)
        .ok_or_else(|| Failure::new("the source has no path"))?;
    let file = adapter.source_map.in_debuggee(&file);
    let line = from_dap::line(arguments.line, client).map_err(Failure::new)?;
    let targets = adapter
        .partly_stopped()?
        .goto_targets(&file, line)
        .or_fail()?;
    if targets.is_empty() {
        let file = file.display();
        return Err(Failure::new(format!(
            "no code on line {} of {file} to go to",
            arguments.line
        )));
    }
    let mut shown = Vec::with_capacity(targets.len());
    for target in targets {
        let line = client.line_to_client(i64::from(target.position.line));
        let label = match &target.function {
            Some(function) => {
                format!("{line} in {}", adapter.function_names.name(function))
            }
            None => format!("{line} at {}", target.address),
        };
        let address = target.address.to_string();
        let id = adapter.gotos.insert(target.address)?;
        let target = GotoTarget::new(id, label, line);
        shown.push(target.with_instruction_pointer_reference(address));
    }
    Ok(GotoTargetsResponse::new(shown))
}

/// Moves a thread to a target. The `stopped` event that follows has the new position.
pub fn goto(
    adapter: &mut Adapter,
    arguments: GotoArguments,
    context: &mut Context,
) -> Result<Empty, Failure> {
    let thread = from_dap::thread(arguments.thread_id)?;
    let Ok(target) = adapter.gotos.get(arguments.target_id).copied() else {
        return Err(Failure::new(format!(
            "there is no target {} to go to any more; targets are good until the program runs on",
            arguments.target_id
        )));
    };
    let debuggee = adapter.stopped()?;
    let expected = debuggee.goto(thread, target).or_fail()?;
    if !expected.is_empty() {
        let registers = expected.join(", ");
        say(
            context.outbox(),
            &format!(
                "the code there uses what the code before it has left in registers ({registers}), which is something else now; \
                 the program may go wrong"
            ),
        );
    }
    adapter.resumed();
    Ok(Empty)
}
