//! Commands that select frames, threads and processes.

use anyhow::bail;
use dapple_dap::types::{StackFrame, StackFramePresentationHint};

use super::{Argument, Command, Flow, number};
use crate::debug::render;
use crate::debug::session::Session;
use crate::debug::style::Role;

/// How many frames a backtrace shows by default.
const USUAL_FRAMES: usize = 50;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "backtrace",
        aliases: &["bt", "where"],
        usage: "[N | all]",
        summary: "show who called whom",
        details: "`bt 5` shows the innermost five frames. Without a number, what is below the last frame that has a source \
                  here is only counted: the language's own start, most of the time.",
        argument: Argument::None,
        repeats: false,
        run: backtrace,
    },
    Command {
        name: "frame",
        aliases: &["f"],
        usage: "[N]",
        summary: "select a frame and show where it is",
        details: "Without a number, shows the selected one again.",
        argument: Argument::None,
        repeats: false,
        run: frame,
    },
    Command {
        name: "up",
        aliases: &[],
        usage: "[N]",
        summary: "select the frame that called this one",
        details: "",
        argument: Argument::None,
        repeats: true,
        run: up,
    },
    Command {
        name: "down",
        aliases: &[],
        usage: "[N]",
        summary: "select the frame that this one called",
        details: "",
        argument: Argument::None,
        repeats: true,
        run: down,
    },
    Command {
        name: "thread",
        aliases: &["t"],
        usage: "[N]",
        summary: "select a thread",
        details: "`info threads` has the numbers.",
        argument: Argument::None,
        repeats: false,
        run: thread,
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

fn backtrace(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (count, is_told) = match argument {
        "" => (USUAL_FRAMES, false),
        // The most that the protocol can request.
        "all" => (i32::MAX as usize, true),
        count => (number(count, "a number of frames")?, true),
    };
    // One more than shown, to know whether there are more.
    session.load_frames(count.saturating_add(1))?;
    let stop = session.stop()?;
    let style = session.screen.style;
    let frames = &stop.frames;
    let shown = match frames.len() > count {
        true => count,
        false if is_told => frames.len(),
        false => frames.len() - outer_library_frames(frames),
    };
    let mut text = String::new();
    for (index, frame) in frames.iter().enumerate().take(shown) {
        text += &render::frame_line(index, frame, index == stop.selected, style);
        text.push('\n');
    }
    if frames.len() > count {
        let more = format!("  … `bt {}` shows more", count.saturating_mul(2));
        text += &style.paint(Role::Aside, &more);
    } else if shown < frames.len() {
        let rest = frames.len() - shown;
        let more =
            format!("  … and {rest} below of libraries or without a source; `bt all` shows them");
        text += &style.paint(Role::Aside, &more);
    }
    session.screen.print(&text);
    Ok(Flow::Go)
}

/// How many of the outermost frames belong to libraries or have no source here. 0 if fewer than three do, or if all frames do.
fn outer_library_frames(frames: &[StackFrame]) -> usize {
    let is_subtle =
        |frame: &&StackFrame| frame.presentation_hint == Some(StackFramePresentationHint::Subtle);
    match frames.iter().rev().take_while(is_subtle).count() {
        0..3 => 0,
        all if all == frames.len() => 0,
        count => count,
    }
}

fn frame(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let index = if argument.is_empty() {
        session.stop()?.selected
    } else {
        number(argument, "a frame's number")?
    };
    session.select_frame(index)?;
    Ok(Flow::Go)
}

fn up(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let by: usize = if argument.is_empty() {
        1
    } else {
        number(argument, "a number of frames")?
    };
    let index = session.stop()?.selected.saturating_add(by);
    session.select_frame(index)?;
    Ok(Flow::Go)
}

fn down(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let by: usize = if argument.is_empty() {
        1
    } else {
        number(argument, "a number of frames")?
    };
    let Some(index) = session.stop()?.selected.checked_sub(by) else {
        bail!("this is the innermost frame")
    };
    session.select_frame(index)?;
    Ok(Flow::Go)
}

fn thread(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let current = session.stop()?.thread;
    let threads = session.threads()?;
    let id: i64 = if argument.is_empty() {
        current
    } else {
        number(argument, "a thread's number")?
    };
    if !threads.iter().any(|thread| thread.id == id) {
        bail!("there is no thread {id}; `info threads` lists them");
    }
    session.screen.print(&render::thread(id, &threads));
    if id != current {
        session.select_thread(id)?;
    }
    session.show_selected()?;
    Ok(Flow::Go)
}

fn process(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.is_empty() {
        let lines = session.process_lines();
        if lines.is_empty() {
            bail!("the program is not running; `run` starts it");
        }
        session.screen.print(&lines.join("\n"));
    } else {
        session.select_process(number(argument, "a process's number")?)?;
    }
    Ok(Flow::Go)
}
