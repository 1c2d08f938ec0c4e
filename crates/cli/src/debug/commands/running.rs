//! Commands that start, resume, step and end the program.

use anyhow::bail;
use dapple_dap::types::{
    ContinueArguments, ContinueRequest, StackFrame, StepInArguments, StepInRequest,
    StepOutArguments, StepOutRequest,
};

use super::{Argument, Command, Flow, number};
use crate::debug::breakpoints::Lifetime;
use crate::debug::link::Attach;
use crate::debug::session::{By, Finishing, Session, State, Way};

/// The argument of a step by statements.
const STATEMENT: &str = "statement";

pub static COMMANDS: &[Command] = &[
    Command {
        name: "run",
        aliases: &["r"],
        usage: "[ARGS]",
        summary: "start the program, or start it again",
        details: "Breakpoints stay. A program that is already there is ended first. `run --port 80 'a b' < input > output` starts it with these arguments, \
                  quoted as in a shell, and with these files (also `>>`, `2>`, `&>`, `2>&1`). They stay for the next `run`; `set args` changes them, \
                  without arguments to none.",
        argument: Argument::None,
        repeats: false,
        run,
    },
    Command {
        name: "start",
        aliases: &[],
        usage: "[ARGS]",
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
        usage: "[COUNT | statement]",
        summary: "go to the next line, over calls",
        details: "`next 5` does that five times, unless something else stops the program. `next statement` goes to the next of several statements on a line.",
        argument: Argument::Topic(&[STATEMENT]),
        repeats: true,
        run: next,
    },
    Command {
        name: "step",
        aliases: &["s"],
        usage: "[COUNT | NAME | statement]",
        summary: "go to the next line, into calls",
        details: "`step 5` does that five times, unless something else stops the program. `step total` goes into that call of the line, over the others; `targets` lists what there is. `step statement` goes to the next \
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
        usage: "[COUNT]",
        summary: "execute one machine instruction",
        details: "",
        argument: Argument::None,
        repeats: true,
        run: step_instruction,
    },
    Command {
        name: "nexti",
        aliases: &["ni"],
        usage: "[COUNT]",
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
        name: "interrupt",
        aliases: &[],
        usage: "",
        summary: "stop the program where it is",
        details: "For programs that type commands with --json: they are read while the program runs, too, and this one acts at once. Where you type, \
                  Ctrl-C does it.",
        argument: Argument::None,
        repeats: false,
        run: interrupt,
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

fn run(session: &mut Session, arguments: &str) -> anyhow::Result<Flow> {
    if !arguments.is_empty() {
        super::launching::set_arguments(session, arguments)?;
    }
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
    } else if matches!(session.process.state, State::Ready) && session.program.is_changed {
        // It is loaded with what was set before.
        session.disconnect()?;
    }
    if matches!(session.process.state, State::Over) {
        session.sources.clear();
        session.program.is_changed = false;
        session.start()?;
    }
    session.finish_configuration()?;
    Ok(Flow::Go)
}

fn start(session: &mut Session, arguments: &str) -> anyhow::Result<Flow> {
    super::breakpoints::set(session, "main", Lifetime::Once)?;
    run(session, arguments)
}

fn continue_(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    let thread = session.stop()?.thread;
    session.request::<ContinueRequest>(ContinueArguments::new(thread))?;
    session.resumed();
    session.select_stopped_process();
    Ok(Flow::Go)
}

fn next(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (by, count) = match argument {
        STATEMENT => (By::Statement, 1),
        "" => (By::Line, 1),
        count if is_count(count) => (By::Line, steps(count)?),
        _ => bail!("next what? `{argument}` is neither a number nor `{STATEMENT}`"),
    };
    session.step(Way::Over, by, count)?;
    Ok(Flow::Go)
}

fn is_count(argument: &str) -> bool {
    argument.starts_with(|first: char| first.is_ascii_digit() || first == '-')
}

/// How often a step is done, which is once without a number.
pub(super) fn steps(argument: &str) -> anyhow::Result<u64> {
    match argument {
        "" => Ok(1),
        count => number(count, "a number of steps"),
    }
}

fn step(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    match argument {
        "" => session.step(Way::Into, By::Line, 1)?,
        STATEMENT => session.step(Way::Into, By::Statement, 1)?,
        count if is_count(count) => session.step(Way::Into, By::Line, steps(count)?)?,
        name => {
            let mut arguments = StepInArguments::new(session.stop()?.thread);
            arguments.target_id = Some(super::moving::target(session, name)?);
            session.request::<StepInRequest>(arguments)?;
            session.resumed();
        }
    }
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

fn step_instruction(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    session.step(Way::Into, By::Instruction, steps(argument)?)?;
    Ok(Flow::Go)
}

fn next_instruction(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    session.step(Way::Over, By::Instruction, steps(argument)?)?;
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

fn interrupt(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    if !matches!(session.process.state, State::Running) {
        bail!("the program does not run");
    }
    session.pause_for_command();
    Ok(Flow::Go)
}

/// Whether a command, given while the program runs, is for the next stop.
pub fn waits_for_stop(line: &str) -> bool {
    let line = super::foreign_commands::translate(line.trim()).unwrap_or_default();
    let (name, _) = super::split(&line);
    let acts_at_once = ["interrupt", "aside", "input"];
    !super::find(name).is_ok_and(|command| acts_at_once.contains(&command.name))
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
