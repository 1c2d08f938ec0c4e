//! The table of commands, from which dispatch, help and completion are derived.
//!
//! A command is one entry; its code is in the module of its subject. A command is found by its name, an alias, or an unambiguous prefix.

mod assigning;
mod backtrace;
mod backwards;
mod breakpoints;
mod console;
mod core_file;
mod data;
mod displaying;
mod exceptions;
mod expression_text;
mod foreign_commands;
mod formatted;
mod help;
mod history;
mod launching;
mod listing;
mod locks;
mod machine;
mod memory;
mod memory_format;
mod moving;
mod number_format;
mod place_syntax;
mod presentation;
mod programs;
mod running;
mod saving;
mod scripting;
mod searching;
mod skipping;
mod stack;
mod switching;
mod symbols;
mod tasks;
mod threads;
mod value_history;
mod watching;

use anyhow::bail;

use super::session::Session;

pub use data::{locals_at_stop, returned, variables_of};
pub use displaying::{Display, show_displays};
pub use foreign_commands::page;
pub use machine::show_instruction;
pub use memory::Examined;
pub use programs::is_aside;
pub use running::waits_for_stop;
pub use scripting::lines_of;
pub use value_history::Values;
pub use watching::Watch;

/// Whether the session goes on after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It goes on.
    Go,
    /// It ends.
    Quit,
}

/// The kind of a command's argument, for completion.
#[derive(Debug, Clone, Copy)]
pub enum Argument {
    /// Nothing worth completing.
    None,
    /// A file and line, or a function.
    Location,
    /// An expression over the selected frame's variables.
    Expression,
    /// One of these words.
    Topic(&'static [&'static str]),
    /// A command.
    Command,
}

/// A command.
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// Other names for it, mostly shorter.
    pub aliases: &'static [&'static str],
    /// The syntax of the arguments.
    pub usage: &'static str,
    /// A summary in half a line.
    pub summary: &'static str,
    /// Further explanation; may be empty.
    pub details: &'static str,
    /// The kind of its argument.
    pub argument: Argument,
    /// Whether an empty line repeats it.
    pub repeats: bool,
    /// The code that runs it.
    pub run: fn(&mut Session, &str) -> anyhow::Result<Flow>,
}

/// All commands, in the order in which `help` lists them.
pub static COMMANDS: &[&[Command]] = &[
    running::COMMANDS,
    launching::COMMANDS,
    backwards::COMMANDS,
    history::COMMANDS,
    moving::COMMANDS,
    skipping::COMMANDS,
    breakpoints::COMMANDS,
    switching::COMMANDS,
    watching::COMMANDS,
    exceptions::COMMANDS,
    backtrace::COMMANDS,
    stack::COMMANDS,
    threads::COMMANDS,
    tasks::COMMANDS,
    data::COMMANDS,
    formatted::COMMANDS,
    displaying::COMMANDS,
    machine::COMMANDS,
    memory::COMMANDS,
    core_file::COMMANDS,
    console::COMMANDS,
    programs::COMMANDS,
    presentation::COMMANDS,
    listing::COMMANDS,
    scripting::COMMANDS,
    saving::COMMANDS,
    help::COMMANDS,
];

fn all() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().copied().flatten()
}

/// Splits a line into the command's name and its argument. The name ends at the first character that is neither a letter nor a hyphen, so
/// `p/x` and `b*` need no space.
fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    if let Some(text) = line.strip_prefix(console::NAME) {
        return (&line[..console::NAME.len_utf8()], text.trim());
    }
    let end = line
        .find(|c: char| !c.is_ascii_alphabetic() && c != '-')
        .unwrap_or(line.len());
    let (name, argument) = if end == 0 {
        (line, "")
    } else {
        line.split_at(end)
    };
    (name, argument.trim())
}

/// Finds a command by name.
///
/// # Errors
/// No command matches, or several do; the message names those, or a similar one.
pub fn find(name: &str) -> anyhow::Result<&'static Command> {
    if let Some(command) =
        all().find(|command| command.name == name || command.aliases.contains(&name))
    {
        return Ok(command);
    }
    let starting: Vec<_> = all()
        .filter(|command| command.name.starts_with(name))
        .collect();
    match starting[..] {
        [command] if !name.is_empty() => return Ok(command),
        [_, _, ..] if !name.is_empty() => {
            let names: Vec<_> = starting.iter().map(|command| command.name).collect();
            bail!("`{name}` could be {}", names.join(" or "));
        }
        _ => {}
    }
    match nearest(name) {
        Some(known) => bail!("there is no command `{name}`; did you mean `{known}`?"),
        None => bail!("there is no command `{name}`; `help` lists them"),
    }
}

/// The command whose name is most similar to a misspelt one, including names from other debuggers.
fn nearest(name: &str) -> Option<String> {
    /// Longer names, in bytes, are not compared.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let names = all()
        .flat_map(|command| command.aliases.iter().copied().chain([command.name]))
        .map(|known| (known, known.to_owned()));
    let topics = data::TOPICS
        .iter()
        .map(|topic| (*topic, format!("info {topic}")));
    let others = foreign_commands::single_words().map(|(word, command)| (word, command.to_owned()));
    let known = names
        .chain(topics)
        .chain(others)
        .filter(|(known, _)| known.len() > 2);
    let (distance, known, meant) = known
        .map(|(known, meant)| (strsim::levenshtein(name, known), known, meant))
        .min_by_key(|(distance, ..)| *distance)?;
    (distance <= known.len().div_ceil(3)).then_some(meant)
}

/// Runs the command on a line.
///
/// # Errors
/// There is no such command, or it failed.
pub fn run(session: &mut Session, line: &str) -> anyhow::Result<Flow> {
    let line = foreign_commands::translate(line.trim())?;
    let (name, argument) = split(&line);
    let command = find(name)?;
    if command.usage.is_empty() && !argument.is_empty() {
        bail!("`{}` takes no argument", command.name);
    }
    (command.run)(session, argument)
}

/// The name of a line's command; `None` if it has none.
pub fn name_of(line: &str) -> Option<&'static str> {
    let line = foreign_commands::translate(line.trim()).ok()?;
    find(split(&line).0).ok().map(|command| command.name)
}

/// What an empty line after this one does: the same again or, after `list` and `x`, what follows. `None` if it does nothing.
pub fn repeated(line: &str) -> Option<String> {
    let translated = foreign_commands::translate(line.trim()).ok()?;
    let command = find(split(&translated).0).ok()?;
    match command.name {
        "list" | "x" => Some(command.name.to_owned()),
        _ => command.repeats.then(|| line.to_owned()),
    }
}

/// The kind of the argument at the end of a line; `None` if the line has no such command. Commands of other debuggers take what ours does.
pub fn argument_of(line: &str) -> Option<Argument> {
    let (typed, rest) = split(line);
    let line = match rest.is_empty() {
        // `frame variable` is `print`, as soon as something follows.
        true => foreign_commands::translate(&format!("{line} _")),
        false => foreign_commands::translate(line),
    };
    let line = line.ok()?;
    let name = split(&line).0;
    let known = find(name).or_else(|_| find(typed)).ok()?;
    Some(known.argument)
}

/// The command names, not the aliases, that begin with `start`.
pub fn names_starting_with(start: &str) -> Vec<String> {
    all()
        .map(|command| command.name)
        .filter(|name| name.starts_with(start))
        .map(str::to_owned)
        .collect()
}

/// Parses a number that a command needs.
fn number<T: std::str::FromStr>(text: &str, what: &str) -> anyhow::Result<T> {
    match text.trim().parse() {
        Ok(number) => Ok(number),
        Err(_) => bail!("`{}` is not {what}", text.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_name_and_alias_means_one_command() {
        let mut seen = HashSet::new();
        for command in all() {
            for name in command.aliases.iter().chain([&command.name]) {
                assert!(seen.insert(*name), "`{name}` stands for two commands");
                assert_eq!(find(name).unwrap().name, command.name);
            }
        }
    }

    #[test]
    fn the_names_people_have_in_their_fingers_are_there() {
        let names = "b r c n s fin bt f p l i q si u tb d t k h";
        for name in names.split(' ') {
            assert!(find(name).is_ok(), "`{name}` is missing");
        }
    }

    #[test]
    fn the_start_of_a_name_is_enough_where_it_is_unique() {
        assert_eq!(find("brea").unwrap().name, "break");
        let error = |name| find(name).err().unwrap().to_string();
        assert_eq!(
            error("contniue"),
            "there is no command `contniue`; did you mean `continue`?"
        );
        assert_eq!(
            error("frobnicate"),
            "there is no command `frobnicate`; `help` lists them"
        );
        assert_eq!(
            error("locls"),
            "there is no command `locls`; did you mean `info locals`?"
        );
        assert_eq!(error("ste"), "`ste` could be step or stepi");
    }

    #[test]
    fn a_line_is_a_name_and_the_rest() {
        assert_eq!(split("  b  tour.rs:12 "), ("b", "tour.rs:12"));
        assert_eq!(split("p*order"), ("p", "*order"));
        assert_eq!(split("12"), ("12", ""));
        assert_eq!(split(">register read"), (">", "register read"));
    }
}
