//! Help, and leaving the session.

use std::fmt::Write;

use super::{Argument, Command, Flow, find};
use crate::debug::session::{Session, State};
use crate::debug::style::{Role, Style};

pub static COMMANDS: &[Command] = &[
    Command {
        name: "help",
        aliases: &["h"],
        usage: "[COMMAND]",
        summary: "explain a command, or list them",
        details: "",
        argument: Argument::Command,
        repeats: false,
        run: help,
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
        overview(style)
    } else {
        explain(find(argument)?, style)
    };
    session.screen.print(&text);
    Ok(Flow::Go)
}

fn overview(style: Style) -> String {
    let mut text = String::new();
    let all = || super::COMMANDS.iter().copied().flatten();
    let width = all().map(|command| names(command).len()).max().unwrap_or(0);
    for command in all() {
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
    text += "An empty line repeats a step, `list` and the like. Ctrl-C pauses the program. `help COMMAND` says more.";
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
        session.disconnect()?;
        session.report_end();
    }
    Ok(Flow::Quit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_explains_every_command() {
        let text = overview(Style::plain());
        for command in crate::debug::commands::COMMANDS.iter().copied().flatten() {
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
