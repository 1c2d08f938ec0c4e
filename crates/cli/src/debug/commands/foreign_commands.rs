//! Commands of gdb, lldb and delve that users are accustomed to: each works here, is translated to one of Dapple's, or is answered with what to do
//! instead.
//!
//! The tables are also the page `docs/terminal-commands.md` ([`page`]). So a command that is missing there is missing here.

mod breakpoint_set;
mod gdb;
mod lldb;
mod others;
mod page;

use anyhow::bail;

pub use page::page;

/// The meaning of another debugger's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// A command of Dapple's has the same name.
    Ours,
    /// A command of Dapple's, which gets the same arguments. `info locals` with arguments becomes `print`.
    Same(&'static str),
    /// A command of Dapple's has the same name, and does something else, which the text says.
    Differs(&'static str),
    /// Something else does it, which the text says.
    Advice(&'static str),
    /// Nothing does it; the text says why, or what comes nearest.
    Missing(&'static str),
}

use Meaning::{Advice, Missing, Ours, Same};

/// Commands of another debugger about one subject.
struct Group {
    /// The subject; empty if it is the only one.
    title: &'static str,
    /// What stands in front of each name.
    prefixes: &'static [&'static str],
    /// The names, separated by a comma and a blank, and what they mean.
    rows: &'static [(&'static str, Meaning)],
}

const ATTACH: &str = "`dapple debug --attach PID|NAME` attaches to a process";
const CORE: &str = "`dapple debug --core FILE` looks at a core file";
const PROGRAM: &str = "the program is given at the start: `dapple debug PROGRAM`";
const ALIAS: &str = "`alias NAME = COMMAND` gives a command another name";
const REMOTE: &str = "`dapple debug --target HOST:PORT PROGRAM` debugs what is behind a stub, `--connect HOST:PORT` drives an adapter \
                      that listens elsewhere";
const NO_LEAVING: &str = "a function can't be left early; `finish` goes on until it returns, `jump LINE` leaves lines out";
const NO_SHELL: &str = "it runs no other programs; Ctrl-Z puts it aside";
const NO_SYMBOL_FILES: &str = "modules are found by themselves, with their debug information beside them or by \
                               `dapple debug --debuginfod`";
const NO_WINDOWS: &str = "`tui` shows the session on the full screen, whose layouts F2 changes";
const SETTING: &str = "there is nothing to set; `help` lists the commands";
const SINGLE: &str = "all threads run during a step; `break LINE thread N` stops in one of them";

/// All tables. Where two have the same name, the first has precedence.
fn tables() -> impl Iterator<Item = &'static Group> {
    let own = others::SHORT.iter();
    { gdb::GROUPS.iter() }
        .chain(lldb::GROUPS)
        .chain(others::DELVE)
        .chain(own)
}

/// All names with their meanings, in the parts that a name is made of: the group's prefix and the rest.
fn names() -> impl Iterator<Item = (&'static str, &'static str, Meaning)> {
    tables().flat_map(|group| {
        group.prefixes.iter().flat_map(|prefix| {
            group.rows.iter().flat_map(move |(names, meaning)| {
                names.split(", ").map(move |name| (*prefix, name, *meaning))
            })
        })
    })
}

/// A line that begins with the words of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found<'l> {
    /// How many bytes of the line these words are.
    length: usize,
    rest: &'l str,
    meaning: Meaning,
}

/// The longest words of the tables that a line begins with.
fn find(line: &str) -> Option<Found<'_>> {
    let mut best: Option<Found<'_>> = None;
    for (prefix, name, meaning) in names() {
        let Some(rest) = rest_behind(line, prefix, name) else {
            continue;
        };
        let length = prefix.len() + name.len();
        // `set width = 3` is for a variable of the program.
        let assigns = !prefix.is_empty() && is_operator(rest);
        if !assigns && best.is_none_or(|best| best.length < length) {
            best = Some(Found {
                length,
                rest,
                meaning,
            });
        }
    }
    best
}

fn is_operator(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    rest.starts_with('=') || rest.starts_with(['.', '['])
}

/// The rest of a line that begins with these words; `None` if it doesn't. A format may follow without a space: `memory read/4x p`.
fn rest_behind<'l>(line: &'l str, prefix: &str, name: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(prefix)?.strip_prefix(name)?;
    let ends = rest
        .chars()
        .next()
        .is_none_or(|next| next.is_whitespace() || next == '/');
    (ends || matches!(name, "!" | "|")).then(|| rest.trim())
}

/// The words of the tables that a line's first words are the beginnings of, if all that fit mean the same: `th b`, `info sh`. Words that Dapple has a
/// command for begin no line of this kind, unless the second word says that lldb is meant.
fn abbreviated(line: &str) -> Option<Found<'_>> {
    const FAMILIES: [&str; 4] = ["thread", "frame", "process", "info"];
    let first = line.split_whitespace().next()?;
    let is_ours =
        |command: &super::Command| command.name == first || command.aliases.contains(&first);
    if first.len() < 2 || (super::all().any(is_ours) && !FAMILIES.contains(&first)) {
        return None;
    }
    let mut best: Option<Found<'_>> = None;
    for (prefix, name, meaning) in names() {
        if !prefix.is_empty() || !name.contains(' ') {
            continue;
        }
        let Some(length) = abbreviation_of(line, name) else {
            continue;
        };
        let rest = line[length..].trim();
        let found = Found {
            length,
            rest,
            meaning,
        };
        match best {
            Some(best) if best.length > length => {}
            Some(best) if best.length == length && best.meaning != meaning => return None,
            _ => best = Some(found),
        }
    }
    best
}

/// How much of a line is an abbreviation of a name: each word is the beginning of the name's.
fn abbreviation_of(line: &str, name: &str) -> Option<usize> {
    let mut rest = line;
    for word in name.split(' ') {
        let start = rest.trim_start();
        let typed = start
            .split(|c: char| c.is_whitespace() || c == '/')
            .next()?;
        if typed.is_empty() || !word.starts_with(typed) {
            return None;
        }
        rest = &start[typed.len()..];
    }
    Some(line.len() - rest.len())
}

/// Translates a line into Dapple's commands. A line that begins with no entry of the tables stays as it is.
///
/// # Errors
/// There is no equivalent; the message says what to use instead.
pub fn translate(line: &str) -> anyhow::Result<String> {
    let whole = with_info(line);
    let line = whole.as_str();
    if let Some(command) = breakpoint_set::translated(line)? {
        return Ok(command);
    }
    let exact = find(line);
    let is_family =
        exact.is_none_or(|found| found.meaning == Ours && !line[..found.length].contains(' '));
    let is_topic = line
        .strip_prefix("info ")
        .and_then(|rest| rest.split_whitespace().next())
        .is_some_and(|word| !super::data::topics(word).is_empty());
    let shorter = match is_family && !is_topic {
        true => abbreviated(line),
        false => None,
    };
    let Some(Found {
        length,
        rest,
        meaning,
    }) = shorter.or(exact)
    else {
        return Ok(line.to_owned());
    };
    match meaning {
        Ours | Meaning::Differs(_) => Ok(line.to_owned()),
        Same("info locals") if !rest.is_empty() => Ok(format!("print {rest}")),
        Same(command) => Ok(format!("{command} {rest}").trim_end().to_owned()),
        Advice(instead) | Missing(instead) => {
            bail!("there is no command `{}`: {instead}", &line[..length])
        }
    }
}

/// The line with `info` written out.
fn with_info(line: &str) -> String {
    let short = ["i ", "in ", "inf "];
    let rest = short.iter().find_map(|short| line.strip_prefix(short));
    rest.map_or_else(
        || line.to_owned(),
        |rest| format!("info {}", rest.trim_start()),
    )
}

/// What another debugger's command is here, for `help`, and the command of ours to explain with it. `None` if no table has it, or it is ours as it is.
pub fn explained(name: &str) -> Option<(String, Option<&'static super::Command>)> {
    let name = with_info(name);
    let found = find(&name).filter(|found| found.rest.is_empty())?;
    let ours = |line: &str| super::find(line.split(' ').next().unwrap_or_default()).ok();
    match found.meaning {
        Ours => None,
        Same(command) => Some((format!("`{name}` is `{command}` here"), ours(command))),
        Meaning::Differs(text) => Some((format!("not as elsewhere: {text}"), ours(&name))),
        Advice(text) | Missing(text) => {
            Some((format!("there is no command `{name}`: {text}"), None))
        }
    }
}

/// The single-word entries that have a command of Dapple's, with that command.
pub fn single_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    names().filter_map(|(prefix, name, meaning)| match meaning {
        Same(command) if prefix.is_empty() && !name.contains(' ') => Some((name, command)),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
