//! Commands that switch breakpoints off and on, and that remove those of a place.

use std::path::Path;

use anyhow::bail;

use super::breakpoints::{change, find_place, which};
use super::{Argument, Command, Flow, number};
use crate::debug::breakpoints::Place;
use crate::debug::session::Session;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "disable",
        aliases: &["dis"],
        usage: "[N …]",
        summary: "have breakpoints stop nowhere, until they are enabled again",
        details: "Without a number, all of them.",
        argument: Argument::None,
        repeats: false,
        run: |session, argument| switch(session, argument, true),
    },
    Command {
        name: "enable",
        aliases: &["en"],
        usage: "[N …]",
        summary: "have disabled breakpoints stop again",
        details: "Without a number, all of them.",
        argument: Argument::None,
        repeats: false,
        run: |session, argument| switch(session, argument, false),
    },
    Command {
        name: "ignore",
        aliases: &[],
        usage: "N COUNT",
        summary: "have a breakpoint pass its next COUNT hits",
        details: "The same as `hits N > COUNT`: hits are counted from now on, and those count for which the condition holds. `ignore N 0` has it stop each time.",
        argument: Argument::None,
        repeats: false,
        run: ignore,
    },
    Command {
        name: "clear",
        aliases: &[],
        usage: "[LINE | FILE:LINE | FUNCTION]",
        summary: "remove the breakpoints of a place",
        details: "Without a place, those of the line where the program is. `delete N` removes one by its number.",
        argument: Argument::Location,
        repeats: false,
        run: clear,
    },
];

fn switch(session: &mut Session, argument: &str, disabled: bool) -> anyhow::Result<Flow> {
    let numbers: Vec<u32> = match argument {
        "" | "all" => session.breakpoints.iter().map(|it| it.number).collect(),
        some => { some.split_whitespace() }
            .map(|text| which(session, text))
            .collect::<Result<_, _>>()?,
    };
    if numbers.is_empty() {
        session.screen.print("there are no breakpoints");
    }
    for number in numbers {
        change(session, number, |options| options.disabled = disabled)?;
    }
    Ok(Flow::Go)
}

fn ignore(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let mut words = argument.split_whitespace();
    let (Some(word), Some(count), None) = (words.next(), words.next(), words.next()) else {
        bail!("`ignore` how many hits of which breakpoint? `ignore 1 5`");
    };
    let which = which(session, word)?;
    let count: u64 = number(count, "a number of hits")?;
    change(session, which, |options| {
        options.hits = (count > 0).then(|| format!("> {count}"));
    })
}

fn clear(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let numbers = match argument {
        "" => at_line_of_stop(session)?,
        place => at_place(session, place)?,
    };
    if numbers.is_empty() {
        bail!("there is no breakpoint there; `info breakpoints` lists them");
    }
    for number in numbers {
        session.delete_breakpoint(number)?;
        session
            .screen
            .print(&format!("breakpoint {number} deleted"));
    }
    Ok(Flow::Go)
}

/// The breakpoints at the line of the selected frame.
fn at_line_of_stop(session: &mut Session) -> anyhow::Result<Vec<u32>> {
    match find_place(session, "+0")? {
        Place::Line(file, line) => Ok(at_line(session, &file, line)),
        _ => Ok(Vec::new()),
    }
}

/// The breakpoints at a place that the user names.
fn at_place(session: &mut Session, text: &str) -> anyhow::Result<Vec<u32>> {
    Ok(match find_place(session, text)? {
        Place::Line(file, line) => at_line(session, &file, line),
        place => {
            let same = session.breakpoints.iter().filter(|it| it.place == place);
            same.map(|it| it.number).collect()
        }
    })
}

/// The breakpoints that were asked for or are at a line.
fn at_line(session: &Session, file: &Path, line: i64) -> Vec<u32> {
    let all = session.breakpoints.iter();
    let there = all.filter(|it| {
        let answer = session.breakpoints.answer(it.number);
        it.location(None) == (Some(file), Some(line))
            || it.location(answer) == (Some(file), Some(line))
    });
    there.map(|it| it.number).collect()
}
