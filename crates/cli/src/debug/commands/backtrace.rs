//! `backtrace`: who called whom, with folded runs of library frames, and with the variables of each frame if asked.

use anyhow::bail;
use dapple_dap::types::StackFrame;

use super::data::variables_of_frame;
use super::stack::{is_label, is_others, is_subtle};
use super::{Argument, Command, Flow, number};
use crate::debug::results::{self, Item};
use crate::debug::screen::printable;
use crate::debug::session::Session;
use crate::debug::value_tree;

/// How many frames a backtrace shows by default.
const USUAL_FRAMES: usize = 50;
/// So many frames are loaded for each line of a backtrace in which runs of frames are folded.
const FOLDED: usize = 10;
/// This many frames of libraries in a row are shown as one line.
const FEW: usize = 3;
/// How many variables of a frame `bt full` shows.
const VARIABLES: usize = 30;

pub static COMMANDS: &[Command] = &[Command {
    name: "backtrace",
    aliases: &["bt", "where"],
    usage: "[full] [-args] [N | -N | N-M | all]",
    summary: "show who called whom",
    details: "`bt 5` shows the innermost five frames, `bt -5` the outermost five, `bt 100-199` those of these numbers, `bt all` all of them. `bt full` adds the arguments and variables of \
              each frame, `bt -args` the arguments behind the function's name. Without a number, runs of frames of libraries, \
              dependencies and code without source are one line each.",
    argument: Argument::Topic(&["full", "-args", "all"]),
    repeats: false,
    run: backtrace,
}];

/// Which frames are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// The innermost lines' worth, with runs of library frames folded.
    Usual,
    /// This many of the innermost.
    Innermost(usize),
    /// This many of the outermost.
    Outermost(usize),
    /// Those from a number to another.
    Between(usize, usize),
}

/// What is shown of the stack.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    which: Which,
    /// The variables of each frame.
    full: bool,
    /// The arguments, in the frame's line.
    arguments: bool,
}

/// Parses `full 3`, `-full -3` and the like; lldb's `-c 3` is `3`.
fn wanted(argument: &str) -> anyhow::Result<Wanted> {
    let mut wanted = Wanted {
        which: Which::Usual,
        full: false,
        arguments: false,
    };
    for word in argument.split_whitespace() {
        match word {
            "full" | "-full" => wanted.full = true,
            "-args" => wanted.arguments = true,
            "-c" | "--count" => {}
            // The most that the protocol can request.
            "all" => wanted.which = Which::Innermost(i32::MAX as usize),
            _ if wanted.which != Which::Usual => bail!("one number of frames is enough"),
            count => {
                let what = "a number of frames";
                wanted.which = match count.split_once('-') {
                    Some(("", outermost)) => Which::Outermost(number(outermost, what)?),
                    Some((first, last)) => {
                        Which::Between(number(first, what)?, number(last, what)?)
                    }
                    None => Which::Innermost(number(count, what)?),
                }
            }
        }
    }
    Ok(wanted)
}

fn backtrace(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let wanted = wanted(argument)?;
    if wanted.arguments && !session.offers(|it| it.supports_value_formatting_options)? {
        bail!("this adapter can't show arguments in the stack; `bt full` lists them below");
    }
    let (count, folds) = match wanted.which {
        Which::Usual => (USUAL_FRAMES, true),
        Which::Innermost(count) => (count, false),
        Which::Outermost(count) => {
            outermost(session, count, &wanted)?;
            return Ok(Flow::Go);
        }
        Which::Between(first, last) => {
            between(session, first, last, &wanted)?;
            return Ok(Flow::Go);
        }
    };
    // Runs of libraries' frames take one line each, so more frames are loaded than lines are shown. And one more, to know whether there are
    // more.
    let most = if folds { count * FOLDED } else { count };
    session.load_frames(most.saturating_add(1))?;
    let stop = session.stop()?;
    let loaded = stop.frames.len();
    let shown = match loaded > most {
        true => most,
        false if !folds => loaded,
        false => {
            let folded = outer_library_frames(&stop.frames);
            (loaded - folded).max((stop.selected + 1).min(loaded))
        }
    };
    let rows = rows(&stop.frames[..shown], count, folds, Some(stop.selected));
    let index = rows.last().map_or(0, |row| row.end());
    let mut stack = told(session, &rows, &wanted)?;
    if index < shown || loaded > most {
        stack.rest = Some(format!("bt {}", index.saturating_mul(2)));
    } else if shown < loaded {
        stack.libraries_below = loaded - shown;
        stack.rest = Some("bt all".to_owned());
    }
    session.screen.show(Item::Stack(stack));
    Ok(Flow::Go)
}

/// Shows the outermost frames, of which none is folded.
fn outermost(session: &mut Session, count: usize, wanted: &Wanted) -> anyhow::Result<()> {
    session.load_frames(i32::MAX as usize)?;
    let stop = session.stop()?;
    let all = stop.frames.len();
    let first = all.saturating_sub(count);
    let rows: Vec<Row> = (first..all).map(Row::Frame).collect();
    let mut stack = told(session, &rows, wanted)?;
    stack.further_in = first;
    session.screen.show(Item::Stack(stack));
    Ok(())
}

/// Shows the frames from a number to another, of which none is folded.
fn between(
    session: &mut Session,
    first: usize,
    last: usize,
    wanted: &Wanted,
) -> anyhow::Result<()> {
    // One more, to know whether there are more.
    session.load_frames(last.saturating_add(2))?;
    let loaded = session.stop()?.frames.len();
    let end = last.saturating_add(1).min(loaded);
    let rows: Vec<Row> = (first..end).map(Row::Frame).collect();
    let mut stack = told(session, &rows, wanted)?;
    stack.further_in = first.min(loaded);
    if end < loaded {
        let next = end.saturating_add(end.saturating_sub(first));
        stack.rest = Some(format!("bt {end}-{}", next - 1));
    }
    session.screen.show(Item::Stack(stack));
    Ok(())
}

/// A line of the backtrace.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Row {
    /// The frame with this number.
    Frame(usize),
    /// A text between frames, at this number.
    Label(usize),
    /// A run of library frames.
    Folded(std::ops::Range<usize>),
}

impl Row {
    /// The number of the next frame.
    fn end(&self) -> usize {
        match self {
            Row::Frame(index) | Row::Label(index) => index + 1,
            Row::Folded(run) => run.end,
        }
    }
}

/// Up to `count` rows for frames. `folds`: runs of frames of libraries are one row, except the selected one.
fn rows(frames: &[StackFrame], count: usize, folds: bool, selected: Option<usize>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut index = 0;
    while index < frames.len() && rows.len() < count {
        let before_selected = selected.and_then(|selected| selected.checked_sub(index));
        let folded = match folds {
            true => foldable(&frames[index..], before_selected),
            false => 0,
        };
        let row = if folded > 0 {
            Row::Folded(index..index + folded)
        } else if is_label(&frames[index]) && selected != Some(index) {
            Row::Label(index)
        } else {
            Row::Frame(index)
        };
        index = row.end();
        rows.push(row);
    }
    rows
}

/// A row as it is told.
fn told_row(frames: &[StackFrame], row: &Row, selected: Option<usize>) -> results::Row {
    match row {
        Row::Frame(index) => {
            let frame = results::Frame::of(&frames[*index]);
            results::Row::Frame(Box::new(frame.numbered(*index, selected == Some(*index))))
        }
        Row::Label(index) => results::Row::Label(results::Label {
            text: frames[*index].name.clone(),
        }),
        Row::Folded(run) => results::Row::Folded(results::Folded {
            first: run.start,
            count: run.len(),
            whose: whose(&frames[run.clone()]),
        }),
    }
}

/// Rows of the selected thread's stack, with what else is wanted of each frame. Ctrl-C ends it.
fn told(session: &mut Session, rows: &[Row], wanted: &Wanted) -> anyhow::Result<results::Stack> {
    let stop = session.stop()?;
    let (thread, selected) = (stop.thread, Some(stop.selected));
    let frames = stop.frames.clone();
    let mut calls = Vec::new();
    if wanted.arguments
        && let Some(last) = rows.last()
    {
        calls = session.calls_with_arguments(last.end())?;
    }
    let mut stack = results::Stack {
        threads: vec![results::Thread {
            id: thread,
            name: String::new(),
        }],
        ..results::Stack::default()
    };
    for row in rows {
        let mut told = told_row(&frames, row, selected);
        if let results::Row::Frame(frame) = &mut told {
            frame.call = frame.index.and_then(|index| calls.get(index).cloned());
        }
        if let (Row::Frame(index), true, results::Row::Frame(frame)) = (row, wanted.full, &mut told)
        {
            if session.was_interrupted() {
                stack.rows.push(told);
                stack.interrupted = true;
                break;
            }
            (frame.variables, frame.more_variables) = variables(session, &frames[*index]);
        }
        stack.rows.push(told);
    }
    Ok(stack)
}

/// A frame's arguments and variables, and how many more there are.
fn variables(session: &Session, frame: &StackFrame) -> (Vec<results::Value>, usize) {
    // A frame of a library may have none.
    let all = variables_of_frame(session, frame);
    let shown = all.iter().take(VARIABLES);
    let values =
        shown.map(|one| value_tree::line(session, &one.name, &value_tree::Value::from(one)));
    (values.collect(), all.len().saturating_sub(VARIABLES))
}

/// A stack as `backtrace` shows it, of a thread or a time that isn't selected, with at most `count` rows. `marked`: the frame that is marked in it.
pub(super) fn folded(frames: &[StackFrame], count: usize, marked: Option<usize>) -> results::Stack {
    let outer = outer_library_frames(frames);
    let shown = (frames.len() - outer).max(marked.map_or(0, |index| index + 1));
    let rows = rows(&frames[..shown], count, true, marked);
    let end = rows.last().map_or(0, Row::end);
    results::Stack {
        rows: rows
            .iter()
            .map(|row| told_row(frames, row, marked))
            .collect(),
        libraries_below: if end == shown { frames.len() - end } else { 0 },
        ..results::Stack::default()
    }
}

/// A whole stack of a thread that isn't selected, with each of its frames.
pub(super) fn unfolded(frames: &[StackFrame]) -> results::Stack {
    let rows = (0..frames.len()).map(|index| told_row(frames, &Row::Frame(index), None));
    results::Stack {
        rows: rows.collect(),
        ..results::Stack::default()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_from_either_end() {
        let asked = |text| wanted(text).map_err(|error| error.to_string());
        let of = |which, full, arguments| {
            Ok(Wanted {
                which,
                full,
                arguments,
            })
        };
        assert_eq!(asked(""), of(Which::Usual, false, false));
        assert_eq!(asked("5"), of(Which::Innermost(5), false, false));
        assert_eq!(asked("10-19"), of(Which::Between(10, 19), false, false));
        assert_eq!(asked("full -3"), of(Which::Outermost(3), true, false));
        assert_eq!(asked("-c 4 -args"), of(Which::Innermost(4), false, true));
        assert!(asked("4 5").is_err_and(|error| error.contains("one number")));
        assert!(asked("many").is_err_and(|error| error.contains("`many`")));
    }
}
