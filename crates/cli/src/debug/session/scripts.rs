//! Lines that don't come from the user's fingers: of a file (`source`), of a breakpoint (`commands`), of a command of the user's own (`define`).
//!
//! They are put in front of those that wait, and the event loop takes one after the other, each when the program stands still. A line that fails
//! ends all of them. If a line of a breakpoint lets the program run, the breakpoint's rest is dropped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;

use super::Session;

/// How deeply scripts are nested at most, so that a command that calls itself ends.
const DEEPEST: u32 = 100;
/// The word that ends a block.
const END: &str = "end";

/// Where a scripted line comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// `--ex`, or the prompt.
    #[default]
    Option,
    /// Stdin, read while the program ran.
    Input,
    /// A line of the file of `--script`, from 1.
    Script(Arc<PathBuf>, usize),
    /// A line of another file, from 1.
    File(Arc<PathBuf>, usize),
    /// The commands of a breakpoint.
    Breakpoint,
    /// A command of the user's own.
    Defined,
}

impl Origin {
    /// The file and the number of the line, if it is of a file.
    pub fn place(&self) -> Option<(&Path, usize)> {
        match self {
            Origin::Script(file, number) | Origin::File(file, number) => Some((file, *number)),
            _ => None,
        }
    }
}

/// A scripted line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripted {
    /// The line.
    pub line: String,
    /// Where it comes from.
    pub origin: Origin,
    /// How many scripts have led to it.
    pub depth: u32,
    /// Whether it is no line, but the end of the file.
    pub ends_file: bool,
}

impl Scripted {
    /// A line of a script that the user has asked for.
    pub fn new(line: &str, origin: Origin) -> Self {
        Self {
            line: line.to_owned(),
            origin,
            depth: 0,
            ends_file: false,
        }
    }

    /// The end of a file whose last line has this origin.
    pub fn end_of_file(origin: Origin) -> Self {
        Self {
            ends_file: true,
            ..Self::new("", origin)
        }
    }
}

/// What a block of lines is for, up to `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockOf {
    /// A breakpoint.
    Breakpoint(u32),
    /// A command of the user's own.
    Command(String),
}

/// Lines that are being taken down.
#[derive(Debug)]
struct Block {
    of: BlockOf,
    lines: Vec<String>,
    /// How many blocks have begun within this one.
    within: usize,
    /// The line that has begun it, and where that came from.
    begun_by: (String, Origin),
}

/// The user's own commands and names of commands, and the block that is being taken down.
#[derive(Debug, Default)]
pub struct Scripts {
    defined: BTreeMap<String, Vec<String>>,
    aliases: BTreeMap<String, String>,
    block: Option<Block>,
    /// The depth of the line that runs.
    pub(super) depth: u32,
    /// The line that runs, and where it comes from.
    pub(super) running: (String, Origin),
}

impl Scripts {
    /// Gives a command another name.
    pub fn set_alias(&mut self, name: String, command: String) {
        self.aliases.insert(name, command);
    }

    /// Removes a name. Returns whether there was one.
    pub fn remove_alias(&mut self, name: &str) -> bool {
        self.aliases.remove(name).is_some()
    }

    /// All names, with what they stand for.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.aliases.iter();
        all.map(|(name, command)| (name.as_str(), command.as_str()))
    }

    /// A line in which a name at the start is replaced by what it stands for.
    pub fn expanded(&self, line: &str) -> String {
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match self.aliases.get(first) {
            Some(command) => format!("{command} {rest}").trim_end().to_owned(),
            None => line.to_owned(),
        }
    }

    /// Whether lines are being taken down.
    pub fn takes_down(&self) -> bool {
        self.block.is_some()
    }

    /// Takes down no more lines, and forgets those of the block.
    pub(super) fn drop_block(&mut self) {
        self.block = None;
    }

    /// At the end of a file: drops a block that has begun in it, and returns the line that has begun it. At the end of all lines (`None`), any block.
    pub(super) fn unended(&mut self, file: Option<&Path>) -> Option<(String, Origin)> {
        let is_unended = |block: &mut Block| {
            let begun_in = block.begun_by.1.place().map(|(file, _)| file);
            file.is_none() || begun_in == file
        };
        self.block.take_if(is_unended).map(|block| block.begun_by)
    }
}

impl Session {
    /// Takes down the lines that follow, up to `end`.
    pub fn begin_block(&mut self, of: BlockOf) {
        self.scripts.block = Some(Block {
            of,
            lines: Vec::new(),
            within: 0,
            begun_by: self.scripts.running.clone(),
        });
    }

    /// Takes down a line of a block.
    ///
    /// # Errors
    /// The block has ended, and what it was for is gone.
    pub(super) fn take_down(&mut self, line: &str) -> anyhow::Result<()> {
        let Some(block) = &mut self.scripts.block else {
            return Ok(());
        };
        let first = line.split_whitespace().next().unwrap_or_default();
        if first != END || block.within > 0 {
            block.within += usize::from(begins_block(line));
            block.within -= usize::from(first == END);
            block.lines.push(line.to_owned());
            return Ok(());
        }
        if let Some(Block { of, lines, .. }) = self.scripts.block.take() {
            self.set_lines(of, lines)?;
        }
        Ok(())
    }

    /// Sets the lines of a breakpoint or of a command of the user's own.
    ///
    /// # Errors
    /// There is no such breakpoint.
    pub fn set_lines(&mut self, of: BlockOf, lines: Vec<String>) -> anyhow::Result<()> {
        match of {
            BlockOf::Command(name) => drop(self.scripts.defined.insert(name, lines)),
            BlockOf::Breakpoint(number) => match self.breakpoints.get_mut(number) {
                Some(breakpoint) => breakpoint.commands = lines,
                None => bail!("there is no breakpoint {number}"),
            },
        }
        Ok(())
    }

    /// Puts lines in front of those that wait.
    ///
    /// # Errors
    /// The line that asks for that is nested too deeply.
    pub fn interpose(&mut self, mut lines: Vec<Scripted>) -> anyhow::Result<()> {
        let depth = self.scripts.depth + 1;
        if depth > DEEPEST {
            bail!("scripts are nested {DEEPEST} times; does one call itself?");
        }
        for line in &mut lines {
            line.depth = depth;
        }
        self.input.interpose(lines);
        Ok(())
    }

    /// If a line calls a command of the user's own, puts its lines in front, with `$arg0` and so on replaced by the words of the line. Returns
    /// whether it does.
    pub(super) fn calls_defined(&mut self, line: &str) -> anyhow::Result<bool> {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let Some(lines) = self.scripts.defined.get(first) else {
            return Ok(false);
        };
        let words: Vec<&str> = words.collect();
        let lines = lines.iter().map(|line| {
            let line = with_arguments(line, &words);
            Scripted::new(&line, Origin::Defined)
        });
        let lines = lines.collect();
        self.interpose(lines)?;
        Ok(true)
    }

    /// The commands of breakpoints.
    pub(super) fn commands_of(&self, numbers: &[u32]) -> Vec<Scripted> {
        let all = numbers.iter();
        let lines = all.filter_map(|number| self.breakpoints.get(*number));
        let lines = lines.flat_map(|breakpoint| breakpoint.commands.iter());
        let lines = lines.map(|line| Scripted::new(line, Origin::Breakpoint));
        lines.collect()
    }

    /// Puts the commands of breakpoints that were hit in front.
    pub(super) fn run_commands(&mut self, lines: Vec<Scripted>) {
        self.scripts.depth = 0;
        if let Err(error) = self.interpose(lines) {
            self.screen.print_error(&format!("{error:#}"));
        }
    }
}

/// Whether the lines behind this one belong to it, up to `end`.
fn begins_block(line: &str) -> bool {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("define") => true,
        // `commands 1 p x` is whole.
        Some("commands") => words.nth(1).is_none(),
        _ => false,
    }
}

/// A line with `$arg0` and so on, and `$argc`, replaced.
fn with_arguments(line: &str, words: &[&str]) -> String {
    let mut line = line.replace("$argc", &words.len().to_string());
    for (index, word) in words.iter().enumerate().rev() {
        line = line.replace(&format!("$arg{index}"), word);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_replaced_the_longest_names_first() {
        let words: Vec<String> = (0..12).map(|index| format!("w{index}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(
            with_arguments("p $arg1 + $arg11 + $argc + $arg12", &words),
            "p w1 + w11 + 12 + w12"
        );
    }

    #[test]
    fn a_name_stands_for_a_command_only_at_the_start() {
        let mut scripts = Scripts::default();
        scripts.set_alias("pl".to_owned(), "info locals".to_owned());
        assert_eq!(scripts.expanded("pl"), "info locals");
        assert_eq!(scripts.expanded("p pl"), "p pl");
        assert_eq!(scripts.expanded("plx"), "plx");
    }
}
