//! The command that speaks to the adapter's own console.

use anyhow::bail;
use dapple_dap::types::{EvaluateArguments, EvaluateArgumentsContext, EvaluateRequest};

use super::{Argument, Command, Flow};
use crate::debug::session::{Session, State};
use crate::debug::styled::Styled;

/// The name, which needs no space behind it.
pub(super) const NAME: char = '>';

pub static COMMANDS: &[Command] = &[Command {
    name: ">",
    aliases: &[],
    usage: "TEXT",
    summary: "send a text to the adapter's own console",
    details: "For what an adapter has commands of its own for, as in an editor's debug console: `> register read` with lldb, `> import sys` with debugpy. \
              Dapple's adapter takes expressions there.",
    argument: Argument::Expression,
    repeats: false,
    run: send,
}];

fn send(session: &mut Session, text: &str) -> anyhow::Result<Flow> {
    if text.is_empty() {
        bail!("send what? `> register read` is a command of lldb");
    }
    let mut arguments = EvaluateArguments::new(text);
    // Consoles also work before the program runs.
    if let State::Stopped(stop) = &session.process.state {
        arguments.frame_id = stop.frame().map(|frame| frame.id);
    }
    arguments.context = Some(EvaluateArgumentsContext::Repl);
    let answer = session.request_that_runs::<EvaluateRequest>(arguments)?;
    let shown = Styled::of(answer.result.trim_end()).painted(session.screen.style, None);
    if !shown.is_empty() {
        session.screen.print(&shown);
    }
    Ok(Flow::Go)
}
