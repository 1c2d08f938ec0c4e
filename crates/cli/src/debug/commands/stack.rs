//! Commands that select frames and processes.

use anyhow::bail;
use dapple_dap::types::{StackFrame, StackFramePresentationHint};

use super::{Argument, Command, Flow, number};
use crate::debug::results::Item;
use crate::debug::session::Session;

/// How many frames are loaded at once in search of one of the user's own code.
const PAGE: usize = 50;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "frame",
        aliases: &["f"],
        usage: "[N]",
        summary: "select a frame and show where it is",
        details: "Without a number, shows the selected one again. The function's name and the path are shown whole.",
        argument: Argument::None,
        repeats: false,
        run: frame,
    },
    Command {
        name: "up",
        aliases: &[],
        usage: "[N]",
        summary: "select the frame that called this one",
        details: "Frames of libraries and dependencies are skipped; `frame N` selects them.",
        argument: Argument::None,
        repeats: true,
        run: up,
    },
    Command {
        name: "down",
        aliases: &[],
        usage: "[N]",
        summary: "select the frame that this one called",
        details: "Frames of libraries and dependencies are skipped; `frame N` selects them.",
        argument: Argument::None,
        repeats: true,
        run: down,
    },
    Command {
        name: "process",
        aliases: &[],
        usage: "[N]",
        summary: "select a process of a program that has children",
        details: "With --follow-forks both each child is one; `info processes` has the numbers. Breakpoints are for all of them. One that stops while the                   selected one runs is selected; after `continue` another one that is stopped.",
        argument: Argument::None,
        repeats: false,
        run: process,
    },
];

/// Whether a frame is subtle because it is in a library or a dependency, or has no source at all. The source of another subtle frame is only
/// not on this machine.
pub(super) fn is_others(frame: &&StackFrame) -> bool {
    let source = frame.source.as_ref();
    is_subtle(frame) && source.is_none_or(|it| it.origin.is_some() || it.path.is_none())
}

/// Whether `up` and `down` pass a frame.
fn is_passed(frame: &&StackFrame) -> bool {
    is_others(frame) || is_label(frame)
}

/// Whether it is only a text between frames.
pub(super) fn is_label(frame: &StackFrame) -> bool {
    frame.presentation_hint == Some(StackFramePresentationHint::Label)
}

pub(super) fn is_subtle(frame: &&StackFrame) -> bool {
    frame.presentation_hint == Some(StackFramePresentationHint::Subtle)
}

fn frame(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let index = if argument.is_empty() {
        session.stop()?.selected
    } else {
        number(argument, "a frame's number")?
    };
    session.show_whole_frame(index)?;
    Ok(Flow::Go)
}

fn up(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let mut index = session.stop()?.selected;
    for moved in 0..frames_to_move(argument)? {
        let Some(next) = own_caller(session, index)? else {
            let frames = &session.stop()?.frames;
            let is_own = frames.get(index).is_some_and(|frame| !is_others(&frame));
            if !is_own || frames.len() == index + 1 {
                index += 1;
            } else if moved == 0 {
                bail!("the frames further out are of libraries; `frame N` selects them");
            }
            break;
        };
        index = next;
    }
    session.select_frame(index)?;
    Ok(Flow::Go)
}

/// The first frame outside of `index` that isn't a library's or a dependency's.
fn own_caller(session: &mut Session, index: usize) -> anyhow::Result<Option<usize>> {
    let mut next = index.saturating_add(1);
    loop {
        let end = next.saturating_add(PAGE);
        session.load_frames(end)?;
        let frames = &session.stop()?.frames;
        let mut callers = (next..).zip(frames.iter().skip(next));
        if let Some((own, _)) = callers.find(|(_, frame)| !is_passed(frame)) {
            return Ok(Some(own));
        }
        if frames.len() < end {
            return Ok(None);
        }
        next = end;
    }
}

fn down(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let by = frames_to_move(argument)?;
    let stop = session.stop()?;
    let mut index = stop.selected;
    for _ in 0..by {
        let Some(next) = index.checked_sub(1) else {
            bail!("this is the innermost frame")
        };
        let own = (0..=next).rfind(|at| !stop.frames.get(*at).is_some_and(|it| is_passed(&it)));
        index = own.unwrap_or(next);
    }
    session.select_frame(index)?;
    Ok(Flow::Go)
}

/// How many frames `up` and `down` move. Frames of libraries don't count.
fn frames_to_move(argument: &str) -> anyhow::Result<usize> {
    match argument {
        "" => Ok(1),
        count => number(count, "a number of frames"),
    }
}

fn process(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.is_empty() {
        let listed = session.listed_processes();
        if listed.is_empty() {
            bail!("the program is not running; `run` starts it");
        }
        for process in listed {
            session.screen.show(Item::ProcessLine(process));
        }
    } else {
        session.select_process(number(argument, "a process's number")?)?;
    }
    Ok(Flow::Go)
}
