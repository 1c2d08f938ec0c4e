//! The commands that speak to the adapter's own console, and to a stub through it.

use anyhow::bail;
use dapple_dap::types::{EvaluateArguments, EvaluateArgumentsContext, EvaluateRequest};

use super::{Argument, Command, Flow};
use crate::debug::session::{Session, State};
use crate::debug::styled::Styled;

/// The name, which needs no space behind it.
pub(super) const NAME: char = '>';

pub static COMMANDS: &[Command] = &[
    Command {
        name: ">",
        aliases: &[],
        usage: "TEXT",
        summary: "send a text to the adapter's own console",
        details: "For what an adapter has commands of its own for, as in an editor's debug console: `> register read` with lldb, `> import sys` with debugpy. \
                  Dapple's adapter takes expressions there.",
        argument: Argument::Expression,
        repeats: false,
        run: send,
    },
    Command {
        name: "monitor",
        aliases: &[],
        usage: "TEXT",
        summary: "have a stub carry out a command of its own",
        details: "For programs behind a stub (`--target`): `monitor help` of gdbserver, `monitor leak_check` of valgrind, `monitor reset halt` of OpenOCD.",
        argument: Argument::Expression,
        repeats: false,
        run: monitor,
    },
];

fn monitor(session: &mut Session, text: &str) -> anyhow::Result<Flow> {
    if text.is_empty() {
        bail!("which command of the stub? `monitor help` lists them, where it has that");
    }
    send(session, &format!("monitor {text}"))
}

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
