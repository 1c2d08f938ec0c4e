//! Commands for threads: a list with the place of each, and commands for several of them.
//!
//! Where many threads wait at the same place, their stacks are equal: those are shown once, with the threads that have them.

use anyhow::{Context, bail};
use dapple_dap::types::{StackFrame, StackTraceArguments, StackTraceRequest, Thread};

use super::{Argument, Command, Flow, number};
use crate::debug::render;
use crate::debug::results::{self, Item, ThreadLine};
use crate::debug::session::{Session, Stop};
use crate::debug::style::Role;

/// How many frames of a thread are searched for one of the user's own code.
const SEARCHED: i64 = 20;
/// How many frames of each stack are read by default.
const USUAL_FRAMES: i64 = 500;

pub static COMMANDS: &[Command] = &[Command {
    name: "thread",
    aliases: &["t"],
    usage: "[N | apply N … COMMAND | apply all COMMAND]",
    summary: "select a thread, or do something in several",
    details: "`info threads` has the numbers. `thread apply all p id` shows a value in each thread; `thread apply all bt` shows their stacks, equal ones once.",
    argument: Argument::Topic(&["apply", "all"]),
    repeats: false,
    run: thread,
}];

fn thread(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if let Some(rest) = argument.strip_prefix("apply") {
        return apply(session, rest.trim());
    }
    let current = session.stop()?.thread;
    let threads = session.threads()?;
    let id: i64 = if argument.is_empty() {
        current
    } else {
        number(argument, "a thread's number")?
    };
    check(id, &threads)?;
    let shown = results::Thread::of(id, &threads);
    session.screen.show(Item::Thread(shown));
    if id != current {
        session.select_thread(id)?;
    }
    session.show_selected()?;
    Ok(Flow::Go)
}

fn check(id: i64, threads: &[Thread]) -> anyhow::Result<()> {
    if !threads.iter().any(|thread| thread.id == id) {
        bail!("there is no thread {id}; `info threads` lists them");
    }
    Ok(())
}

/// `info threads`: each thread with where it is. `100-199` are those of these places in the list: where there are thousands, all take a while.
pub(super) fn list(session: &mut Session, range: &str) -> anyhow::Result<()> {
    let selected = session.stop()?.thread;
    let threads = session.threads()?;
    let what = "a place in the list, as in `info threads 100-199`";
    let (first, last) = match range.split_once('-') {
        _ if range.is_empty() => (0, threads.len()),
        Some((first, last)) => (number(first, what)?, number(last, what)?),
        None => (number(range, what)?, number(range, what)?),
    };
    let shown = threads.iter().skip(first);
    for thread in shown.take(last.saturating_add(1).saturating_sub(first)) {
        // A thread that runs on, or has just ended, has no frames.
        let frames = frames_of(session, thread.id, SEARCHED).unwrap_or_default();
        let line = ThreadLine {
            thread: results::Thread::of(thread.id, &threads),
            selected: thread.id == selected,
            frame: own(&frames).map(results::Frame::of),
        };
        session.screen.show(Item::ThreadLine(line));
    }
    Ok(())
}

/// The frame of the user's own code that is furthest in, or else the innermost.
fn own(frames: &[StackFrame]) -> Option<&StackFrame> {
    let own = frames
        .iter()
        .find(|frame| frame.presentation_hint.is_none());
    own.or(frames.first())
}

fn frames_of(session: &Session, thread: i64, levels: i64) -> anyhow::Result<Vec<StackFrame>> {
    let arguments = StackTraceArguments::new(thread).with_levels(levels);
    Ok(session
        .request::<StackTraceRequest>(arguments)?
        .stack_frames)
}

fn apply(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let threads = session.threads()?;
    let (chosen, command) = chosen(argument, &threads)?;
    if command.is_empty() {
        bail!("apply which command? `thread apply all bt`");
    }
    let mut words = command.split_whitespace();
    // Frames with their variables are never equal, and shown for each thread.
    if matches!(words.next(), Some("bt" | "backtrace" | "where"))
        && words
            .clone()
            .all(|word| !word.starts_with('-') && word != "full")
    {
        let (levels, folds) = match words.next() {
            None => (USUAL_FRAMES, true),
            Some("all") => (i64::from(i32::MAX), false),
            Some(count) => (number(count, "a number of frames")?, false),
        };
        stacks(session, &threads, &chosen, levels, folds)?;
        return Ok(Flow::Go);
    }
    in_each(session, &threads, &chosen, command)
}

/// The threads that a command is for, and the command.
fn chosen<'a>(argument: &'a str, threads: &[Thread]) -> anyhow::Result<(Vec<i64>, &'a str)> {
    if let Some(command) = argument.strip_prefix("all") {
        let all = threads.iter().map(|thread| thread.id).collect();
        return Ok((all, command.trim()));
    }
    let mut chosen = Vec::new();
    let mut rest = argument;
    while rest.starts_with(|first: char| first.is_ascii_digit()) {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let id = number(word, "a thread's number")?;
        check(id, threads)?;
        chosen.push(id);
        rest = after.trim_start();
    }
    if chosen.is_empty() {
        bail!("apply to which threads? `thread apply all bt`, or `thread apply 1 2 bt`");
    }
    Ok((chosen, rest))
}

/// Runs a command in each thread. The thread and frame that were selected are selected again.
fn in_each(
    session: &mut Session,
    threads: &[Thread],
    chosen: &[i64],
    command: &str,
) -> anyhow::Result<Flow> {
    let before = std::mem::replace(session.stop_mut()?, Stop::of(0));
    for id in chosen {
        let Ok(stop) = session.stop_mut() else {
            bail!("the program runs after `{command}` in one thread");
        };
        *stop = Stop::of(*id);
        let title = results::Thread::of(*id, threads);
        if session.screen.is_json() {
            session.screen.show(Item::Thread(title));
        } else {
            let title = session.screen.style.paint(Role::Reason, &title.text());
            session.screen.print(&title);
        }
        let ran = session
            .load_frames(1)
            .and_then(|()| super::run(session, command));
        match ran {
            Ok(Flow::Go) => {}
            Ok(Flow::Quit) => return Ok(Flow::Quit),
            // What means nothing in one thread may mean something in the next.
            Err(error) => session.screen.print_error(&format!("{error:#}")),
        }
    }
    if let Ok(stop) = session.stop_mut() {
        *stop = before;
    }
    Ok(Flow::Go)
}

/// Shows the stacks of threads, those that are equal once. `folds`: runs of frames of libraries are one line.
fn stacks(
    session: &mut Session,
    threads: &[Thread],
    chosen: &[i64],
    levels: i64,
    folds: bool,
) -> anyhow::Result<()> {
    let mut groups: Vec<(Vec<i64>, Vec<StackFrame>)> = Vec::new();
    for id in chosen {
        let frames = frames_of(session, *id, levels)
            .with_context(|| format!("the stack of thread {id} can't be read"))?;
        match groups
            .iter_mut()
            .find(|(_, known)| are_alike(known, &frames))
        {
            Some((ids, _)) => ids.push(*id),
            None => groups.push((vec![*id], frames)),
        }
    }
    for (ids, frames) in groups {
        let threads: Vec<results::Thread> = { ids.iter() }
            .map(|id| results::Thread::of(*id, threads))
            .collect();
        let stack = match folds {
            true => super::backtrace::folded(&frames, usize::MAX, None),
            false => super::backtrace::unfolded(&frames),
        };
        let is_cut = stack.libraries_below > 0;
        session.screen.show(Item::Stack(results::Stack {
            threads,
            is_titled: true,
            rest: is_cut.then(|| "thread apply all bt all".to_owned()),
            ..stack
        }));
    }
    Ok(())
}

/// Whether two stacks are at the same lines, or instructions where none are known, whatever their variables are.
fn are_alike(one: &[StackFrame], other: &[StackFrame]) -> bool {
    let place = |frame: &StackFrame| {
        let line = render::source_of(frame);
        let address = frame.instruction_pointer_reference.clone();
        (frame.name.clone(), address.filter(|_| line.is_none()), line)
    };
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| place(a) == place(b))
}
