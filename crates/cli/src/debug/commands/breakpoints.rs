//! Where to stop.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Argument, Command, Flow, number};
use crate::debug::breakpoints::{Place, Stay};
use crate::debug::render;
use crate::debug::session::Session;
use crate::debug::source_view;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "break",
        aliases: &["b"],
        usage: "LINE | FILE:LINE | FUNCTION [if CONDITION]",
        summary: "stop there",
        details: "A bare line is one of the file in view. `b 12 if n > 3` stops only where the condition holds. \
            A function is named by its path or the end of it; template arguments, parameters and `*` may be part of that.",
        argument: Argument::Location,
        repeats: false,
        run: |session, argument| set(session, argument, Stay::Always),
    },
    Command {
        name: "tbreak",
        aliases: &["tb"],
        usage: "LINE | FILE:LINE | FUNCTION [if CONDITION]",
        summary: "stop there once",
        details: "",
        argument: Argument::Location,
        repeats: false,
        run: |session, argument| set(session, argument, Stay::Once),
    },
    Command {
        name: "delete",
        aliases: &["d"],
        usage: "N | all",
        summary: "remove a breakpoint, or all of them",
        details: "`info breakpoints` has the numbers.",
        argument: Argument::Topic(&["all"]),
        repeats: false,
        run: delete,
    },
];

/// Sets a breakpoint and says where it came to be.
pub fn set(session: &mut Session, argument: &str, stay: Stay) -> anyhow::Result<Flow> {
    let (place, condition) = match argument.split_once(" if ") {
        Some((place, condition)) => (place.trim(), Some(condition.trim().to_owned())),
        None => (argument, None),
    };
    let place = if place.is_empty() {
        here(session)?
    } else {
        find_place(session, place)?
    };
    if condition.is_some()
        && session
            .link()
            .is_ok_and(|link| link.capabilities().supports_conditional_breakpoints != Some(true))
    {
        bail!("this adapter has no conditional breakpoints");
    }
    let file = place.file().map(Path::to_owned);
    let number = session.breakpoints.add(place, stay, condition);
    let told = match &file {
        Some(file) => session.tell_breakpoints(file),
        None => session.tell_function_breakpoints(),
    };
    let failed = session
        .breakpoints
        .get(number)
        .and_then(|breakpoint| breakpoint.answer.as_ref())
        .filter(|answer| answer.failed && !answer.verified)
        .map(|answer| {
            answer
                .message
                .clone()
                .unwrap_or_else(|| "there is no such place in the program".to_owned())
        });
    if told.is_err() || failed.is_some() {
        session.breakpoints.take_back(number);
    }
    told?;
    if let Some(message) = failed {
        // The adapter has to forget it as well.
        match &file {
            Some(file) => session.tell_breakpoints(file)?,
            None => session.tell_function_breakpoints()?,
        }
        bail!("no breakpoint set: {message}");
    }
    if let Some(breakpoint) = session.breakpoints.get(number) {
        let text = render::breakpoint(breakpoint, session.screen.style);
        session.screen.say(&text);
    }
    Ok(Flow::Go)
}

/// The line of the selected frame.
fn here(session: &Session) -> anyhow::Result<Place> {
    let frame = session
        .stop()
        .ok()
        .and_then(|stop| stop.frame())
        .and_then(render::source_of);
    let (file, line) = frame.context("break where? `b 12`, `b file.rs:12` or `b function`")?;
    Ok(Place::Line(file, i64::try_from(line)?))
}

/// What the user means by `12`, `tour.rs:12` or `total`.
pub fn find_place(session: &mut Session, text: &str) -> anyhow::Result<Place> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let file = session
            .current_file()
            .context("which file? None is in view yet, so a line needs its file: `b FILE:LINE`")?;
        return Ok(Place::Line(file, line_number(text)?));
    }
    // A function may have colons as well: `Order::total`.
    if let Some((file, line)) = text.rsplit_once(':')
        && !line.is_empty()
        && line.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Ok(Place::Line(find_file(session, file)?, line_number(line)?));
    }
    if session
        .link()
        .is_ok_and(|link| link.capabilities().supports_function_breakpoints == Some(true))
    {
        return Ok(Place::Function(text.to_owned()));
    }
    find_function(session, text)
}

fn line_number(text: &str) -> anyhow::Result<i64> {
    let line = number::<i64>(text, "a line number")?;
    if line == 0 {
        bail!("lines are counted from 1");
    }
    Ok(line)
}

/// A file by the end of its path: one in view or with breakpoints, else one on the disk, else left to the adapter.
fn find_file(session: &Session, name: &str) -> anyhow::Result<PathBuf> {
    let named = PathBuf::from(name);
    if named.is_absolute() {
        return Ok(named);
    }
    let known = session.known_files();
    if let Some(file) = known.iter().find(|file| file.ends_with(&named)) {
        return Ok(file.clone());
    }
    if let Ok(file) = named.canonicalize() {
        return Ok(file);
    }
    let beside = known
        .iter()
        .filter_map(|file| file.parent())
        .map(|directory| directory.join(&named));
    for file in beside {
        if let Ok(file) = file.canonicalize() {
            return Ok(file);
        }
    }
    bail!("there is no file {name} here; give its path")
}

/// A function by the look of the sources in view, for adapters that can't find it themselves.
pub fn find_function(session: &mut Session, name: &str) -> anyhow::Result<Place> {
    let simple = name.rsplit("::").next().unwrap_or(name);
    let files = session.known_files();
    for file in &files {
        let Ok(lines) = session.sources.lines(file) else {
            continue;
        };
        if let Some(line) = source_view::find_definition(&lines, simple) {
            return Ok(Place::Definition(file.clone(), i64::try_from(line)?));
        }
    }
    match files.first() {
        Some(file) => bail!(
            "{} defines no function `{name}`, and this adapter can't look for it elsewhere; use FILE:LINE",
            render::path(file)
        ),
        None => bail!(
            "this adapter can't look for functions, and no source is in view yet; use FILE:LINE"
        ),
    }
}

fn delete(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.is_empty() {
        bail!("delete which? `delete 1`, or `delete all`");
    }
    let numbers: Vec<u32> = if argument == "all" {
        session
            .breakpoints
            .iter()
            .map(|breakpoint| breakpoint.number)
            .collect()
    } else {
        argument
            .split_whitespace()
            .map(|text| number(text, "a breakpoint's number"))
            .collect::<Result<_, _>>()?
    };
    if numbers.is_empty() {
        session.screen.say("there are no breakpoints");
    }
    for number in numbers {
        session.delete_breakpoint(number)?;
        session.screen.say(&format!("breakpoint {number} deleted"));
    }
    Ok(Flow::Go)
}
