//! Commands that select frames, threads and processes.

use anyhow::bail;
use dapple_dap::types::{StackFrame, StackFramePresentationHint};

use super::{Argument, Command, Flow, number};
use crate::debug::render;
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::style::Role;

/// How many frames a backtrace shows by default.
const USUAL_FRAMES: usize = 50;
/// So many frames are loaded for each line of a backtrace in which runs of frames are folded.
const FOLDED: usize = 10;
/// This many frames of libraries in a row are shown as one line.
const FEW: usize = 3;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "backtrace",
        aliases: &["bt", "where"],
        usage: "[N | all]",
        summary: "show who called whom",
        details: "`bt 5` shows the innermost five frames, `bt all` all of them. Without a number, runs of frames of libraries, \
                  dependencies and code without source are one line each.",
        argument: Argument::None,
        repeats: false,
        run: backtrace,
    },
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
    // Runs of libraries' frames take one line each, so more frames are loaded than lines are shown. And one more, to know whether there are
    // more.
    let most = if is_told { count } else { count * FOLDED };
    session.load_frames(most.saturating_add(1))?;
    let stop = session.stop()?;
    let style = session.screen.style;
    let frames = &stop.frames;
    let shown = match frames.len() > most {
        true => most,
        false if is_told => frames.len(),
        false => {
            let folded = outer_library_frames(frames);
            (frames.len() - folded).max((stop.selected + 1).min(frames.len()))
        }
    };
    let mut text = String::new();
    let (mut index, mut lines) = (0, 0);
    while index < shown && lines < count {
        let folded = match is_told {
            true => 0,
            false => foldable(&frames[index..shown], stop.selected.checked_sub(index)),
        };
        if folded > 0 {
            let run = &frames[index..index + folded];
            text += &style.paint(Role::Aside, &format!("  … {}", whose(run)));
            index += folded;
        } else if is_label(&frames[index]) && index != stop.selected {
            text += &style.paint(
                Role::Aside,
                &format!("  {}", printable(&frames[index].name)),
            );
            index += 1;
        } else {
            text += &render::frame_line(index, &frames[index], index == stop.selected, style);
            index += 1;
        }
        text.push('\n');
        lines += 1;
    }
    if index < shown || frames.len() > most {
        let more = format!("  … `bt {}` shows more", index.saturating_mul(2));
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
    match frames.iter().rev().take_while(is_subtle).count() {
        0..FEW => 0,
        all if all == frames.len() => 0,
        count => count,
    }
}

/// How many frames from the first on are shown as one line: those of libraries and dependencies, if there are several, down to the selected
/// one (`selected` counts from the first).
fn foldable(frames: &[StackFrame], selected: Option<usize>) -> usize {
    let run = frames.iter().take_while(is_others).count();
    match selected.map_or(run, |selected| run.min(selected)) {
        0..FEW => 0,
        count => count,
    }
}

/// `12 frames of tokio-1.54.1, 3 of standard library`.
fn whose(frames: &[StackFrame]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for frame in frames {
        let origin = frame
            .source
            .as_ref()
            .and_then(|source| source.origin.as_deref());
        let origin = printable(origin.unwrap_or("code without source"));
        match counts.iter_mut().find(|(known, _)| *known == origin) {
            Some((_, count)) => *count += 1,
            None => counts.push((origin, 1)),
        }
    }
    let mut parts = counts.iter();
    let first = parts.next().map(|(origin, count)| match count {
        1 => format!("1 frame of {origin}"),
        count => format!("{count} frames of {origin}"),
    });
    let rest = parts.map(|(origin, count)| format!("{count} of {origin}"));
    first.into_iter().chain(rest).collect::<Vec<_>>().join(", ")
}

/// Whether a frame is subtle because it is in a library or a dependency, or has no source at all. The source of another subtle frame is only
/// not on this machine.
fn is_others(frame: &&StackFrame) -> bool {
    let source = frame.source.as_ref();
    is_subtle(frame) && source.is_none_or(|it| it.origin.is_some() || it.path.is_none())
}

/// Whether `up` and `down` pass a frame.
fn is_passed(frame: &&StackFrame) -> bool {
    is_others(frame) || is_label(frame)
}

/// Whether it is only a text between frames.
fn is_label(frame: &StackFrame) -> bool {
    frame.presentation_hint == Some(StackFramePresentationHint::Label)
}

fn is_subtle(frame: &&StackFrame) -> bool {
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
        let end = next.saturating_add(USUAL_FRAMES);
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
