//! Commands that start, resume, step and end the program.

use anyhow::bail;
use dapple_dap::types::{
    ContinueArguments, ContinueRequest, NextArguments, NextRequest, StackFrame, StepInArguments,
    StepInRequest, StepOutArguments, StepOutRequest, SteppingGranularity,
};

use super::{Argument, Command, Flow};
use crate::debug::breakpoints::Lifetime;
use crate::debug::link::Attach;
use crate::debug::session::{Finishing, Session, State};

/// The argument of a step by statements.
const STATEMENT: &str = "statement";

pub static COMMANDS: &[Command] = &[
    Command {
        name: "run",
        aliases: &["r"],
        usage: "",
        summary: "start the program, or start it again",
        details: "Breakpoints stay. A program that is already there is ended first.",
        argument: Argument::None,
        repeats: false,
        run,
    },
    Command {
        name: "start",
        aliases: &[],
        usage: "",
        summary: "start the program and stop in its main function",
        details: "The same as a temporary breakpoint there and `run`.",
        argument: Argument::None,
        repeats: false,
        run: start,
    },
    Command {
        name: "continue",
        aliases: &["c"],
        usage: "",
        summary: "go on until something stops the program",
        details: "Ctrl-C pauses it.",
        argument: Argument::None,
        repeats: true,
        run: continue_,
    },
    Command {
        name: "next",
        aliases: &["n"],
        usage: "[statement]",
        summary: "go to the next line, over calls",
        details: "`next statement` goes to the next of several statements on a line.",
        argument: Argument::Topic(&[STATEMENT]),
        repeats: true,
        run: next,
    },
    Command {
        name: "step",
        aliases: &["s"],
        usage: "[NAME | statement]",
        summary: "go to the next line, into calls",
        details: "`step total` goes into that call of the line, over the others; `targets` lists what there is. `step statement` goes to the next \
            of several statements on a line.",
        argument: Argument::Topic(&[STATEMENT]),
        repeats: true,
        run: step,
    },
    Command {
        name: "finish",
        aliases: &["fin", "out"],
        usage: "",
        summary: "go on until the selected frame returns",
        details: "What it returned is shown, where the adapter tells. `up 2` and `finish` is out of the two functions further in as well.",
        argument: Argument::None,
        repeats: true,
        run: finish,
    },
    Command {
        name: "stepi",
        aliases: &["si"],
        usage: "",
        summary: "execute one machine instruction",
        details: "",
        argument: Argument::None,
        repeats: true,
        run: step_instruction,
    },
    Command {
        name: "nexti",
        aliases: &["ni"],
        usage: "",
        summary: "execute one machine instruction, over calls",
        details: "",
        argument: Argument::None,
        repeats: true,
        run: next_instruction,
    },
    Command {
        name: "until",
        aliases: &["u", "advance"],
        usage: "LINE | FILE:LINE | FUNCTION",
        summary: "go on until the program gets there",
        details: "A breakpoint there that is gone as soon as the program stops, there or elsewhere, and `continue`.",
        argument: Argument::Location,
        repeats: false,
        run: until,
    },
    Command {
        name: "kill",
        aliases: &["k"],
        usage: "",
        summary: "end the program, or let it go if it was attached to; stay here",
        details: "",
        argument: Argument::None,
        repeats: false,
        run: kill,
    },
    Command {
        name: "detach",
        aliases: &[],
        usage: "",
        summary: "let the program run on without a debugger, stay here",
        details: "",
        argument: Argument::None,
        repeats: false,
        run: detach,
    },
];

fn run(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    if let Some(attach) = &session.program.attach {
        if let Attach::Core { .. } = attach {
            bail!("a core file can only be looked at; `dapple debug PROGRAM` runs the program");
        }
        if !matches!(session.process.state, State::Over) {
            bail!("the program runs already; `c` lets it go on");
        }
        session.sources.clear();
        session.start()?;
        return Ok(Flow::Go);
    }
    if matches!(session.process.state, State::Stopped(_) | State::Running) {
        session.disconnect()?;
        session
            .screen
            .print("the program was ended to start it again");
    }
    if matches!(session.process.state, State::Over) {
        session.sources.clear();
        session.start()?;
    }
    session.finish_configuration()?;
    Ok(Flow::Go)
}

fn start(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    super::breakpoints::set(session, "main", Lifetime::Once)?;
    run(session, "")
}

fn continue_(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    let thread = session.stop()?.thread;
    session.request::<ContinueRequest>(ContinueArguments::new(thread))?;
    session.resumed();
    session.select_stopped_process();
    Ok(Flow::Go)
}

fn next(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    one_step("next", argument)?;
    if !matches!(argument, "" | STATEMENT) {
        bail!("next what? `{argument}` is neither nothing nor `{STATEMENT}`");
    }
    let thread = session.stop()?.thread;
    let mut arguments = NextArguments::new(thread);
    if argument == STATEMENT {
        arguments.granularity = Some(by_statement(session)?);
    }
    session.request::<NextRequest>(arguments)?;
    session.resumed();
    Ok(Flow::Go)
}

/// Refuses a repeat count, as in gdb's `next 5`.
fn one_step(command: &str, argument: &str) -> anyhow::Result<()> {
    if argument.parse::<u64>().is_ok() {
        bail!("`{command}` goes one step; an empty line does it again, `until LINE` goes further");
    }
    Ok(())
}

fn by_statement(session: &Session) -> anyhow::Result<SteppingGranularity> {
    if session.link()?.capabilities().supports_stepping_granularity != Some(true) {
        bail!("this adapter steps by lines only");
    }
    Ok(SteppingGranularity::Statement)
}

fn step(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let thread = session.stop()?.thread;
    let mut arguments = StepInArguments::new(thread);
    match argument {
        "" => {}
        STATEMENT => arguments.granularity = Some(by_statement(session)?),
        count if count.parse::<u64>().is_ok() => one_step("step", count)?,
        name => arguments.target_id = Some(super::moving::target(session, name)?),
    }
    session.request::<StepInRequest>(arguments)?;
    session.resumed();
    Ok(Flow::Go)
}

fn finish(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    let (thread, selected) = (session.stop()?.thread, session.stop()?.selected);
    session.load_frames(selected + 2)?;
    if is_suspended(session)? {
        session.request::<StepOutRequest>(StepOutArguments::new(thread))?;
        session.resumed();
        return Ok(Flow::Go);
    }
    let frames = session.stop()?.frames.iter().take(selected + 2);
    if selected > 0 && frames.len() < selected + 2 {
        bail!("frame {selected} is the outermost: it returns to nothing");
    }
    let addresses = frames.map(|frame| frame.instruction_pointer_reference.clone());
    let finishing = Finishing {
        addresses: addresses.collect(),
        reached: 0,
    };
    session.request::<StepOutRequest>(StepOutArguments::new(thread))?;
    session.resumed();
    session.process.finishing = Some(finishing);
    Ok(Flow::Go)
}

/// Whether the selected frame is the innermost one of a suspended task: it has no address in the code. Fails if it is another one, from which
/// there is no way out without the inner ones.
fn is_suspended(session: &Session) -> anyhow::Result<bool> {
    let stop = session.stop()?;
    let has_address = |frame: &StackFrame| frame.instruction_pointer_reference.is_some();
    // Other adapters may give no addresses at all.
    if !session.is_own_adapter() || stop.frames.iter().any(has_address) {
        return Ok(false);
    }
    let is_own = |frame: &StackFrame| frame.presentation_hint.is_none();
    let innermost = stop.frames.iter().position(is_own).unwrap_or(0);
    if stop.selected > innermost {
        bail!(
            "a suspended function returns only after the inner ones; `frame {innermost}` selects the innermost"
        );
    }
    Ok(true)
}

fn step_instruction(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    let thread = session.stop()?.thread;
    if session.link()?.capabilities().supports_stepping_granularity != Some(true) {
        bail!("this adapter can't step by single instructions");
    }
    let arguments = StepInArguments::new(thread).with_granularity(SteppingGranularity::Instruction);
    session.request::<StepInRequest>(arguments)?;
    session.resumed();
    session.process.by_instruction = true;
    Ok(Flow::Go)
}

fn next_instruction(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    let thread = session.stop()?.thread;
    if session.link()?.capabilities().supports_stepping_granularity != Some(true) {
        bail!("this adapter can't step by single instructions");
    }
    let arguments = NextArguments::new(thread).with_granularity(SteppingGranularity::Instruction);
    session.request::<NextRequest>(arguments)?;
    session.resumed();
    session.process.by_instruction = true;
    Ok(Flow::Go)
}

fn until(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    session.stop()?;
    if argument.is_empty() {
        bail!("until where? `until 12`, `until file.rs:12` or `until function`");
    }
    super::breakpoints::set(session, argument, Lifetime::NextStop)?;
    continue_(session, "")
}

fn kill(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    if matches!(session.process.state, State::Over) {
        bail!("the program is not running");
    }
    session.disconnect()?;
    session.report_end();
    Ok(Flow::Go)
}

fn detach(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    if !matches!(session.process.state, State::Stopped(_) | State::Running) {
        bail!("the program is not running");
    }
    session.detach()?;
    Ok(Flow::Go)
}
