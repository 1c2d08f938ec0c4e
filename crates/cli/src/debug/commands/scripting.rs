//! Commands that read commands from files, and make new ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};

use super::breakpoints::LAST;
use super::{Argument, Command, Flow};
use crate::debug::session::{BlockOf, Origin, Scripted, Session};

/// The most bytes of a file with commands.
const LARGEST: u64 = 1 << 20;

pub static COMMANDS: &[Command] = &[
    Command {
        name: "source",
        aliases: &[],
        usage: "FILE",
        summary: "run the commands of a file",
        details: "One a line; what begins with `#` is a comment. The first that fails ends it. `~/.config/dapple/init` is read at the start.",
        argument: Argument::None,
        repeats: false,
        run: source,
    },
    Command {
        name: "commands",
        aliases: &[],
        usage: "[N [COMMAND]]",
        summary: "run commands whenever a breakpoint stops the program",
        details: "Without a number, of the breakpoint that was set last. Without a command, the lines that follow up to `end` are the breakpoint's. `commands 1 p total` has one. A `continue` among them \
            lets the program go on, and ends them. `commands 1` with no lines before `end` removes them.",
        argument: Argument::None,
        repeats: false,
        run: commands,
    },
    Command {
        name: "define",
        aliases: &[],
        usage: "NAME",
        summary: "make a command of several",
        details: "The lines that follow up to `end` are run when NAME is typed. In them, `$arg0`, `$arg1` and so on are the words behind the name, `$argc` \
            their number.",
        argument: Argument::None,
        repeats: false,
        run: define,
    },
    Command {
        name: "alias",
        aliases: &[],
        usage: "[NAME = COMMAND]",
        summary: "give a command another name, or list those names",
        details: "`alias pl = info locals`. What follows the name follows the command. `alias pl =` removes the name.",
        argument: Argument::None,
        repeats: false,
        run: alias,
    },
    Command {
        name: "echo",
        aliases: &[],
        usage: "[TEXT]",
        summary: "print a text",
        details: "",
        argument: Argument::None,
        repeats: false,
        run: |session, text| {
            session.screen.print(text);
            Ok(Flow::Go)
        },
    },
];

fn source(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.is_empty() {
        bail!("the commands of which file? `source FILE`");
    }
    let path = match argument.strip_prefix("~/") {
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        None => PathBuf::from(argument),
    };
    let lines = lines_of(&path, Origin::File)?;
    session.interpose(lines)?;
    Ok(Flow::Go)
}

/// The commands of a file. `origin`: of what kind they are.
///
/// # Errors
/// It can't be read.
pub fn lines_of(
    path: &Path,
    origin: impl Fn(Arc<PathBuf>, usize) -> Origin,
) -> anyhow::Result<Vec<Scripted>> {
    let shown = path.display();
    let is_large = std::fs::metadata(path).is_ok_and(|about| about.len() > LARGEST);
    if is_large {
        bail!("{shown} is too large for a file with commands");
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("can't read {shown}"))?;
    let file = Arc::new(path.to_owned());
    let lines = (1..)
        .zip(text.lines())
        .map(|(number, line)| Scripted::new(line, origin(Arc::clone(&file), number)));
    // An empty line would do the last command again.
    let lines = lines.filter(|it| !it.line.trim().is_empty());
    let end = Scripted::end_of_file(origin(Arc::clone(&file), text.lines().count()));
    Ok(lines.chain([end]).collect())
}

fn commands(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    let (which, command) = argument
        .split_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    let which = super::breakpoints::which(session, if which.is_empty() { LAST } else { which })?;
    if session.breakpoints.get(which).is_none() {
        bail!("there is no breakpoint {which}");
    }
    let of = BlockOf::Breakpoint(which);
    match command.trim() {
        "" => session.begin_block(of),
        command => session.set_lines(of, vec![command.to_owned()])?,
    }
    Ok(Flow::Go)
}

fn define(session: &mut Session, name: &str) -> anyhow::Result<Flow> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(is_name) {
        bail!("define which command? `define NAME`, its commands, and `end`");
    }
    check_free(name)?;
    session.begin_block(BlockOf::Command(name.to_owned()));
    Ok(Flow::Go)
}

/// Fails if a name is that of a command.
fn check_free(name: &str) -> anyhow::Result<()> {
    let known = super::COMMANDS.iter().copied().flatten();
    let mut known = known.filter(|it| it.name == name || it.aliases.contains(&name));
    match known.next() {
        Some(command) => bail!("`{name}` is the command `{}` already", command.name),
        None => Ok(()),
    }
}

fn alias(session: &mut Session, argument: &str) -> anyhow::Result<Flow> {
    if argument.is_empty() {
        let all = session.scripts.aliases();
        let lines: Vec<String> = all
            .map(|(name, command)| format!("{name} = {command}"))
            .collect();
        let text = match lines.is_empty() {
            true => "there are no other names".to_owned(),
            false => lines.join("\n"),
        };
        session.screen.print(&text);
        return Ok(Flow::Go);
    }
    let Some((name, command)) = argument.split_once('=') else {
        bail!("a name for which command? `alias pl = info locals`");
    };
    let (name, command) = (name.trim(), command.trim());
    if name.is_empty() || name.contains(char::is_whitespace) {
        bail!("a name is one word: `alias pl = info locals`");
    }
    if command.is_empty() {
        if !session.scripts.remove_alias(name) {
            bail!("there is no name `{name}`; `alias` lists them");
        }
        return Ok(Flow::Go);
    }
    check_free(name)?;
    super::find(command.split_whitespace().next().unwrap_or_default())?;
    session
        .scripts
        .set_alias(name.to_owned(), command.to_owned());
    Ok(Flow::Go)
}
