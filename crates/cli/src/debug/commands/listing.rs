//! The command that lists source text.

use anyhow::Context;

use super::breakpoints::find_place;
use super::{Argument, Command, Flow};
use crate::debug::breakpoints::Place;
use crate::debug::render;
use crate::debug::session::{Session, State};

/// How many lines one `list` shows.
const LINES: usize = 11;
/// The most lines that `list` shows for a given range.
const MOST: usize = 1000;

pub static COMMANDS: &[Command] = &[Command {
    name: "list",
    aliases: &["l"],
    usage: "[LINE | FIRST,LAST | FILE:LINE | FUNCTION]",
    summary: "show source text",
    details: "Without an argument, goes on from where it was, or around where the program is.",
    argument: Argument::Location,
    repeats: true,
    run: list,
}];

fn list(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let current = match &session.process.state {
        State::Stopped(stop) => stop.frame().and_then(render::source_of),
        _ => None,
    };
    let mut lines = LINES;
    let mut place = argument;
    // gdb's `list 10,20`.
    if let Some((first, last)) = argument.split_once(',')
        && let Ok(last) = last.trim().parse::<usize>()
    {
        place = first.trim();
        let from = place.rsplit(':').next().unwrap_or_default();
        let from: usize = super::number(from, "the number of a line")?;
        if last < from {
            anyhow::bail!("`list {argument}` would end before it begins");
        }
        lines = (last - from + 1).min(MOST);
    }
    let is_range = place != argument;
    let (file, first) = if argument.is_empty() {
        match (
            session.process.listed.clone(),
            &current,
            &session.program.source,
        ) {
            (Some((file, last)), _, _) => (file, last + 1),
            (None, Some((file, line)), _) => (file.clone(), line.saturating_sub(LINES / 2).max(1)),
            (None, None, Some(file)) => (file.clone(), 1),
            (None, None, None) => {
                anyhow::bail!("no source is in view; say which: `list FILE:LINE`")
            }
        }
    } else {
        let (Place::Line(file, line)
        | Place::Column(file, line, _)
        | Place::Definition(file, line)) = find_place_in_text(session, place)?
        else {
            anyhow::bail!("this adapter finds functions only for breakpoints; use FILE:LINE");
        };
        let line = usize::try_from(line)?;
        let first = match is_range {
            true => line,
            false => line.saturating_sub(LINES / 2),
        };
        (file, first.max(1))
    };
    let count = session
        .sources
        .lines(&file)
        .with_context(|| "there is no text to list")?
        .len();
    if first > count {
        // No error, because repeating `list` leads here.
        session.screen.print(&format!(
            "that was the end: {} has {count} lines",
            render::path(&file)
        ));
        return Ok(Flow::Go);
    }
    let marked = current
        .filter(|(path, _)| *path == file)
        .map(|(_, line)| line);
    session.show_lines(&file, first, first + lines - 1, marked)?;
    Ok(Flow::Go)
}

/// As [`find_place`], but searches the known source texts for a function first, because `list` shows the
/// function's text.
fn find_place_in_text(session: &mut Session, argument: &str) -> anyhow::Result<Place> {
    match super::breakpoints::find_function(session, argument) {
        Ok(place) => Ok(place),
        Err(_) => find_place(session, argument),
    }
}
