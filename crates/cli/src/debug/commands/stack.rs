//! Frames and threads.

use anyhow::bail;

use super::{Argument, Command, Flow, number};
use crate::debug::render;
use crate::debug::session::Session;
use crate::debug::style::Role;

/// Frames that a backtrace shows unless told otherwise.
const USUAL_FRAMES: usize = 50;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "backtrace",
        aliases: &["bt", "where"],
        usage: "[N]",
        summary: "show who called whom",
        details: "`bt 5` shows the innermost five frames.",
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
];

fn backtrace(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let count = if argument.is_empty() {
        USUAL_FRAMES
    } else {
        number(argument, "a number of frames")?
    };
    // One more than shown, to know whether there are more.
    session.load_frames(count.saturating_add(1))?;
    let stop = session.stop()?;
    let style = session.screen.style;
    let mut text = String::new();
    for (index, frame) in stop.frames.iter().enumerate().take(count) {
        text += &render::frame_line(index, frame, index == stop.selected, style);
        text.push('\n');
    }
    if stop.frames.len() > count {
        text += &style.paint(
            Role::Aside,
            &format!("  … `bt {}` shows more", count.saturating_mul(2)),
        );
    }
    session.screen.say(&text);
    Ok(Flow::Go)
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
    if id != current {
        session.select_thread(id)?;
    }
    session.screen.say(&render::thread(id, &threads));
    session.show_selected()?;
    Ok(Flow::Go)
}
