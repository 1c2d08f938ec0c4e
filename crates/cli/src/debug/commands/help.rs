//! Help, and leaving the session.

use std::fmt::Write;

use anyhow::bail;

use super::{Argument, Command, Flow, find, foreign_commands};
use crate::debug::session::{Session, State};
use crate::debug::style::{Role, Style};

pub static COMMANDS: &[Command] = &[
    Command {
        name: "help",
        aliases: &["h"],
        usage: "[COMMAND]",
        summary: "explain a command, or list them",
        details: "Those of gdb, lldb and delve, too: `help info sharedlibrary`.",
        argument: Argument::Command,
        repeats: false,
        run: help,
    },
    Command {
        name: "apropos",
        aliases: &[],
        usage: "WORD",
        summary: "list the commands in whose help a word is",
        details: "",
        argument: Argument::None,
        repeats: false,
        run: apropos,
    },
    Command {
        name: "quit",
        aliases: &["q", "exit"],
        usage: "",
        summary: "leave; the program is ended, or let go if it was attached to",
        details: "So does Ctrl-D.",
        argument: Argument::None,
        repeats: false,
        run: quit,
    },
];

fn help(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let style = session.screen.style;
    let text = if argument.is_empty() {
        overview(super::all(), style) + CLOSING
    } else if let Some((text, ours)) = foreign_commands::explained(argument) {
        match ours {
            Some(command) => format!("{text}\n{}", explain(command, style)),
            None => text,
        }
    } else {
        // The first word is enough: `info locals`.
        let first = argument.split_whitespace().next().unwrap_or_default();
        explain(find(first)?, style)
    };
    session.screen.print(&text);
    Ok(Flow::Go)
}

fn apropos(session: &mut Session, word: &str) -> anyhow::Result<Flow> {
    if word.is_empty() {
        bail!("about what? `apropos thread`");
    }
    let word = word.to_lowercase();
    let is_about = |command: &&Command| {
        let texts = [
            command.name,
            command.usage,
            command.summary,
            command.details,
        ];
        let mut texts = texts.iter().chain(command.aliases);
        texts.any(|text| text.to_lowercase().contains(&word))
    };
    let found = super::all().filter(is_about);
    let text = overview(found, session.screen.style);
    if text.is_empty() {
        bail!("no command's help has `{word}`; `help` lists them all");
    }
    session.screen.print(&text);
    Ok(Flow::Go)
}

/// What is said below the list of all commands.
const CLOSING: &str = "An empty line repeats a step, `list` and the like. Ctrl-C pauses the program. `help COMMAND` says more.";

/// The names and summaries of commands, one a line.
fn overview(commands: impl Iterator<Item = &'static Command>, style: Style) -> String {
    let mut text = String::new();
    let commands: Vec<_> = commands.collect();
    let widths = commands.iter().map(|command| names(command).len());
    let width = widths.max().unwrap_or(0);
    for command in commands {
        let names = names(command);
        let padding = " ".repeat(width + 2 - names.len());
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "  {}{padding}{}",
            style.paint(Role::Name, &names),
            command.summary
        );
    }
    text
}

fn explain(command: &Command, style: Style) -> String {
    let usage = format!("{} {}", command.name, command.usage);
    let mut text = format!(
        "{}: {}",
        style.paint(Role::Name, usage.trim_end()),
        command.summary
    );
    if !command.aliases.is_empty() {
        let _ = write!(text, "\nIn short: {}", command.aliases.join(", "));
    }
    if !command.details.is_empty() {
        let _ = write!(text, "\n{}", command.details);
    }
    text
}

fn names(command: &Command) -> String {
    match command.aliases.first() {
        Some(short) => format!("{short}, {}", command.name),
        None => command.name.to_owned(),
    }
}

fn quit(session: &mut Session, _: &str) -> anyhow::Result<Flow> {
    if matches!(session.process.state, State::Stopped(_) | State::Running) {
        match session.disconnect() {
            Ok(()) => session.report_end(),
            // Whoever wants to leave isn't kept by that.
            Err(error) if session.leaves_at_once() => {
                session.screen.print_error(&format!("{error:#}"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Flow::Quit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_explains_every_command() {
        let text = overview(crate::debug::commands::all(), Style::plain());
        for command in crate::debug::commands::all() {
            assert!(
                text.contains(command.summary),
                "`{}` is not in the overview",
                command.name
            );
            let explained = explain(command, Style::plain());
            assert!(explained.starts_with(command.name), "{explained}");
        }
    }
}
