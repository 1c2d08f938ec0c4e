//! The commands by which panes are filled, and what is not answered yet.
//!
//! A query is given only while the debugger has answered everything, so that what the user types never waits for more than one. An answer that is
//! for an earlier stop, or for another frame, is dropped.

use std::collections::VecDeque;

use super::pane::Pane;
use super::tree::{PAGE, WantedParts};

/// How many frames or threads are asked for at once.
pub const ROWS: usize = 100;
/// How many more instructions are asked for.
const INSTRUCTIONS: usize = 100;

/// What a pane needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Frames, from this number on.
    Frames(usize),
    /// The variables of the frame.
    Locals,
    /// The values that are shown at each stop.
    Watches,
    /// Threads, from this place in the list on.
    Threads(usize),
    /// Breakpoints.
    Breakpoints,
    /// The instructions around the next one.
    Disassembly,
    /// Instructions from this address on.
    Code(String),
    /// Registers.
    Registers,
    /// Memory, by a command.
    Memory(String),
    /// At which exceptions the program stops.
    Exceptions,
    /// Parts of a value, in a pane with values.
    Parts(Pane, WantedParts),
    /// The source to begin with, by the argument of `list`.
    Main(&'static str),
}

impl Query {
    /// The command.
    pub fn line(&self) -> String {
        let range = |from: &usize| format!("{from}-{}", from + ROWS - 1);
        let command = match self {
            Query::Frames(from) => format!("bt {}", range(from)),
            Query::Locals => "info locals all".to_owned(),
            Query::Watches => "display".to_owned(),
            Query::Threads(from) => format!("info threads {}", range(from)),
            Query::Breakpoints => "info breakpoints".to_owned(),
            Query::Disassembly => "disassemble".to_owned(),
            Query::Code(address) => format!("disassemble {address} {INSTRUCTIONS}"),
            Query::Registers => "registers".to_owned(),
            Query::Memory(command) => command.clone(),
            Query::Exceptions => "catch".to_owned(),
            Query::Parts(_, wanted) => {
                format!("parts {} {} {PAGE}", wanted.reference, wanted.from)
            }
            Query::Main(what) => format!("list {what}"),
        };
        format!("aside {command}")
    }

    /// The pane that it is for.
    pub fn pane(&self) -> Pane {
        match self {
            Query::Frames(_) => Pane::Stack,
            Query::Locals => Pane::Locals,
            Query::Watches => Pane::Watches,
            Query::Threads(_) => Pane::Threads,
            Query::Breakpoints => Pane::Breakpoints,
            Query::Disassembly | Query::Code(_) => Pane::Disassembly,
            Query::Registers => Pane::Registers,
            Query::Memory(_) => Pane::Memory,
            Query::Exceptions => Pane::Exceptions,
            Query::Parts(pane, _) => *pane,
            Query::Main(_) => Pane::Source,
        }
    }
}

/// A command that the debugger has not answered yet.
#[derive(Debug)]
pub struct Asked {
    line: String,
    /// What is to be filled. `None`: the user has given it.
    pub query: Option<Query>,
    /// What was looked at then.
    pub look: u64,
}

/// What is not answered yet.
#[derive(Debug, Default)]
pub struct Dialogue {
    unanswered: VecDeque<Asked>,
}

impl Dialogue {
    /// Notes a command that is given.
    pub fn ask(&mut self, line: &str, query: Option<Query>, look: u64) {
        self.unanswered.push_back(Asked {
            line: line.trim().to_owned(),
            query,
            look,
        });
    }

    /// Takes what a command was given for. Commands are answered in order, but for those that act at once.
    pub fn answered(&mut self, command: &str) -> Option<Asked> {
        let is_it = |asked: &Asked| asked.line == command.trim();
        let at = self.unanswered.iter().position(is_it)?;
        self.unanswered.remove(at)
    }

    /// Whether everything is answered.
    pub fn is_quiet(&self) -> bool {
        self.unanswered.is_empty()
    }

    /// How many commands of the user's wait for their answers.
    pub fn waiting(&self) -> usize {
        let typed = self.unanswered.iter().filter(|asked| asked.query.is_none());
        typed.count()
    }
}
