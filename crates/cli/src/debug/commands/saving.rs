//! The command that writes the breakpoints to a file, as commands that set them again.

use std::fmt::Write;

use anyhow::{Context, bail};

use super::breakpoints::LAST;
use super::{Argument, Command, Flow};
use crate::debug::breakpoints::{Breakpoint, Lifetime, Place};
use crate::debug::render;
use crate::debug::session::Session;
use crate::debug::shell_words;

/// What can be saved.
const BREAKPOINTS: &str = "breakpoints";

pub static COMMANDS: &[Command] = &[Command {
    name: "save",
    aliases: &[],
    usage: "breakpoints FILE",
    summary: "write the breakpoints to a file, for `source FILE`",
    details: "With their conditions, hit counts, messages and commands. Watches are not written: what they watch is gone in the next run.",
    argument: Argument::Topic(&[BREAKPOINTS]),
    repeats: false,
    run: save,
}];

fn save(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let words = shell_words::split(argument)?.args;
    let [what, file] = &words[..] else {
        bail!("save to which file? `save breakpoints FILE`");
    };
    if what.len() < 2 || !BREAKPOINTS.starts_with(what.as_str()) {
        bail!("`{what}` can't be saved, only `breakpoints`");
    }
    let kept = |it: &&Breakpoint| it.lifetime != Lifetime::NextStop;
    let kept: Vec<&Breakpoint> = session.breakpoints.iter().filter(kept).collect();
    if kept.is_empty() {
        bail!("there are no breakpoints");
    }
    let text: String = kept.iter().map(|breakpoint| lines(breakpoint)).collect();
    let path = std::path::absolute(file)?;
    std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))?;
    let count = match kept.len() {
        1 => "1 breakpoint".to_owned(),
        count => format!("{count} breakpoints"),
    };
    let text = format!("{count} written to {}", render::path(&path));
    session.screen.print(&text);
    Ok(Flow::Go)
}

/// The commands that set a breakpoint again.
fn lines(breakpoint: &Breakpoint) -> String {
    let place = match &breakpoint.place {
        Place::Line(file, line) | Place::Definition(file, line) => {
            format!("{}:{line}", file.display())
        }
        Place::Column(file, line, column) => format!("{}:{line}:{column}", file.display()),
        Place::Function(name) => name.clone(),
    };
    let options = &breakpoint.options;
    let mut text = match &options.log {
        Some(message) => format!("log {place} {message}\n"),
        None => break_line(breakpoint, &place),
    };
    // The number is not known beforehand.
    let mut add = |line: String| text.extend([line.as_str(), "\n"]);
    if options.log.is_some()
        && let Some(condition) = &options.condition
    {
        add(format!("condition {LAST} {condition}"));
    }
    if let Some(hits) = &options.hits {
        add(format!("hits {LAST} {hits}"));
    }
    if options.disabled {
        add(format!("disable {LAST}"));
    }
    if !breakpoint.commands.is_empty() {
        add(format!("commands {LAST}"));
        breakpoint.commands.iter().cloned().for_each(&mut add);
        add("end".to_owned());
    }
    text
}

/// `break PLACE …` with the options that it takes.
fn break_line(breakpoint: &Breakpoint, place: &str) -> String {
    let options = &breakpoint.options;
    let command = match breakpoint.lifetime {
        Lifetime::Once => "tbreak",
        _ => "break",
    };
    let mut line = format!("{command} {place}");
    if options.copies {
        line += " copies";
    }
    // Writing to a string can't fail.
    if let Some(thread) = options.thread {
        let _ = write!(line, " thread {thread}");
    }
    if let Some(caller) = &options.not_from {
        let _ = write!(line, " not from {caller}");
    }
    if let Some(condition) = &options.condition {
        let _ = write!(line, " if {condition}");
    }
    line + "\n"
}
