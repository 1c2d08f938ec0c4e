//! Commands that run a recorded program backwards.

use anyhow::bail;
use dapple_adapter::{Further, StepBackFurtherArguments, StepBackFurtherRequest};
use dapple_dap::types::{ReverseContinueArguments, ReverseContinueRequest};

use super::running::steps;
use super::{Argument, Command, Flow};
use crate::debug::breakpoints::Lifetime;
use crate::debug::session::{By, Session, Way};

pub static COMMANDS: &[Command] = &[
    Command {
        name: "reverse-continue",
        aliases: &["rc"],
        usage: "",
        summary: "go back to what stopped the program before, or would have: breakpoints, watched data, signals",
        details: "For programs that are recorded (`dapple debug --record`), or replayed by a stub. From the past, `continue` leads to the present again.",
        argument: Argument::None,
        repeats: true,
        run: reverse_continue,
    },
    Command {
        name: "reverse-next",
        aliases: &["rn"],
        usage: "[COUNT]",
        summary: "go back to the line before in this function, or to the call",
        details: "For programs that are recorded (`dapple debug --record`), or replayed by a stub.",
        argument: Argument::None,
        repeats: true,
        run: reverse_next,
    },
    Command {
        name: "reverse-step",
        aliases: &["rs"],
        usage: "[COUNT]",
        summary: "go back to the line that ran before, also in a function that was called",
        details: "From behind a call, that is the last line of the function; `rn` goes over it.",
        argument: Argument::None,
        repeats: true,
        run: reverse_step,
    },
    Command {
        name: "reverse-finish",
        aliases: &["rfin"],
        usage: "",
        summary: "go back to the call of this function",
        details: "",
        argument: Argument::None,
        repeats: true,
        run: reverse_finish,
    },
    Command {
        name: "reverse-until",
        aliases: &["ru"],
        usage: "LINE | FILE:LINE | FUNCTION",
        summary: "go back until the program is there",
        details: "A breakpoint there that is gone as soon as the program stops, there or elsewhere, and `reverse-continue`.",
        argument: Argument::Location,
        repeats: false,
        run: reverse_until,
    },
    Command {
        name: "reverse-nexti",
        aliases: &["rni"],
        usage: "[COUNT]",
        summary: "go back by one machine instruction of this function, over calls",
        details: "",
        argument: Argument::None,
        repeats: true,
        run: reverse_next_instruction,
    },
];

/// The thread that is shown, of a program that can run backwards.
pub(super) fn thread(session: &Session) -> anyhow::Result<i64> {
    let thread = session.stop()?.thread;
    if session.offers(|it| it.supports_step_back)? {
        return Ok(thread);
    }
    match session.is_own_adapter() {
        true => bail!(
            "the program is not recorded; `record on` does that from here on, `dapple debug --record` from the beginning"
        ),
        false => bail!("this adapter runs programs forwards only"),
    }
}

fn reverse_continue(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    let thread = thread(session)?;
    session.request::<ReverseContinueRequest>(ReverseContinueArguments::new(thread))?;
    session.resumed();
    Ok(Flow::Go)
}

fn reverse_next(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    thread(session)?;
    session.step(Way::BackOver, By::Line, steps(argument)?)?;
    Ok(Flow::Go)
}

/// Fails for adapters that have only the protocol's step back.
fn check_further(session: &Session) -> anyhow::Result<i64> {
    let thread = thread(session)?;
    if !session.is_own_adapter() {
        bail!("this adapter steps back over calls only: `rn`");
    }
    Ok(thread)
}

fn reverse_step(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    check_further(session)?;
    session.step(Way::BackInto, By::Line, steps(argument)?)?;
    Ok(Flow::Go)
}

fn reverse_finish(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    let thread_id = check_further(session)?;
    let how = Further::Out;
    session.request::<StepBackFurtherRequest>(StepBackFurtherArguments { thread_id, how })?;
    session.resumed();
    Ok(Flow::Go)
}

fn reverse_until(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    thread(session)?;
    if argument.is_empty() {
        bail!("back until where? `ru 12`, `ru file.rs:12` or `ru function`");
    }
    super::breakpoints::set(session, argument, Lifetime::NextStop)?;
    reverse_continue(session, "")
}

fn reverse_next_instruction(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    thread(session)?;
    session.step(Way::BackOver, By::Instruction, steps(argument)?)?;
    Ok(Flow::Go)
}
