//! The breakpoints the user asked for, under the numbers the user sees.
//!
//! An adapter is told all breakpoints of a source at once and numbers them itself; this list keeps what was asked, so
//! that it can be told again to a new run, and finds ours by the adapter's ids.

use std::path::{Path, PathBuf};

use dapple_dap::types::{self, BreakpointReason, FunctionBreakpoint, SourceBreakpoint};

/// Where a breakpoint was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line of a file.
    Line(PathBuf, i64),
    /// A line and a column of a file, both from 1.
    Column(PathBuf, i64, i64),
    /// The line where a function's text begins, found by its name. Only where the adapter takes no names.
    Definition(PathBuf, i64),
    /// A function, by name. Only where the adapter takes those.
    Function(String),
}

impl Place {
    /// The file it is in, where that was asked for.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Place::Line(file, _) | Place::Column(file, ..) | Place::Definition(file, _) => {
                Some(file)
            }
            Place::Function(_) => None,
        }
    }
}

/// The adapter's mode for a breakpoint in all copies of its file.
pub const COPIES: &str = "file";

/// How long a breakpoint stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// Until it is deleted.
    Always,
    /// Until it is hit.
    Once,
    /// Until the program stops, there or elsewhere, or ends.
    NextStop,
}

/// What a breakpoint does besides stopping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Stops only where this holds.
    pub condition: Option<String>,
    /// Stops in all copies of the file.
    pub copies: bool,
    /// Stops only this thread.
    pub thread: Option<i64>,
    /// Stops only where no function of this name is a caller.
    pub not_from: Option<String>,
    /// Stops only on these hits: `5`, `>= 5`, `% 3`.
    pub hits: Option<String>,
    /// Writes this instead of stopping.
    pub log: Option<String>,
}

impl Options {
    /// The condition that the adapter is told.
    fn condition(&self) -> Option<String> {
        let thread = self.thread.map(|thread| format!("$thread == {thread}"));
        let not_from = self.not_from.as_ref().map(|function| {
            let function = function.replace('\\', "\\\\").replace('"', "\\\"");
            format!("!$called_from(\"{function}\")")
        });
        // What is cheap comes first.
        let alone = thread.is_none() && not_from.is_none();
        let condition = self.condition.as_ref().map(|condition| match alone {
            true => condition.clone(),
            false => format!("({condition})"),
        });
        let parts: Vec<String> = [thread, condition, not_from]
            .into_iter()
            .flatten()
            .collect();
        (!parts.is_empty()).then(|| parts.join(" && "))
    }
}

/// A breakpoint of the user's.
#[derive(Debug, Clone)]
pub struct Breakpoint {
    /// Its number, from 1, never used twice.
    pub number: u32,
    /// Where it was asked for.
    pub place: Place,
    /// How long it stays.
    pub stay: Stay,
    /// What it does besides stopping.
    pub options: Options,
    /// How often it has stopped the program.
    pub hits: u32,
    /// What the adapter made of it; `None` before it was told.
    pub answer: Option<Answer>,
}

/// What the adapter made of a breakpoint.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The adapter's number for it.
    pub id: Option<i64>,
    /// Whether it is in place.
    pub verified: bool,
    /// Whether it never will be.
    pub failed: bool,
    /// Why not, or what else there is to say.
    pub message: Option<String>,
    /// The file it is in.
    pub path: Option<PathBuf>,
    /// The line it is on.
    pub line: Option<i64>,
}

impl From<types::Breakpoint> for Answer {
    fn from(breakpoint: types::Breakpoint) -> Self {
        Self {
            id: breakpoint.id,
            verified: breakpoint.verified,
            failed: breakpoint.reason == Some(BreakpointReason::Failed),
            message: breakpoint.message,
            path: breakpoint
                .source
                .and_then(|source| source.path)
                .map(PathBuf::from),
            line: breakpoint.line,
        }
    }
}

impl Breakpoint {
    /// Where it is as far as known: the answer's place, else the one asked for.
    pub fn location(&self) -> (Option<&Path>, Option<i64>) {
        let answer = self.answer.as_ref();
        let (path, line) = match &self.place {
            Place::Line(path, line)
            | Place::Column(path, line, _)
            | Place::Definition(path, line) => (Some(path.as_path()), Some(*line)),
            Place::Function(_) => (None, None),
        };
        let answered = answer.and_then(|answer| answer.path.as_deref());
        (
            answered.or(path),
            answer.and_then(|answer| answer.line).or(line),
        )
    }
}

/// All breakpoints of a session.
#[derive(Debug, Default)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    last: u32,
}

impl Breakpoints {
    /// A number that none has had.
    pub fn take_number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Has a number free again if it was the last.
    pub fn give_number_back(&mut self, number: u32) {
        if self.last == number {
            self.last -= 1;
        }
    }

    /// Adds one and returns its number.
    pub fn add(&mut self, place: Place, stay: Stay, options: Options) -> u32 {
        let number = self.take_number();
        self.list.push(Breakpoint {
            number,
            place,
            stay,
            options,
            hits: 0,
            answer: None,
        });
        number
    }

    /// Takes one back that could not be placed.
    pub fn take_back(&mut self, number: u32) {
        self.remove(number);
        self.give_number_back(number);
    }

    /// Removes one and returns it.
    pub fn remove(&mut self, number: u32) -> Option<Breakpoint> {
        let index = self
            .list
            .iter()
            .position(|breakpoint| breakpoint.number == number)?;
        Some(self.list.remove(index))
    }

    /// All, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.list.iter()
    }

    /// The one with this number.
    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.list
            .iter()
            .find(|breakpoint| breakpoint.number == number)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Breakpoint> {
        self.list
            .iter_mut()
            .find(|breakpoint| breakpoint.number == number)
    }

    /// The one that the adapter calls `id`.
    pub fn by_id(&mut self, id: i64) -> Option<&mut Breakpoint> {
        self.list.iter_mut().find(|breakpoint| {
            breakpoint
                .answer
                .as_ref()
                .is_some_and(|answer| answer.id == Some(id))
        })
    }

    /// Those that stay until the program stops.
    pub fn until_next_stop(&self) -> impl Iterator<Item = u32> {
        let until = |breakpoint: &&Breakpoint| breakpoint.stay == Stay::NextStop;
        self.list.iter().filter(until).map(|found| found.number)
    }

    /// The program has ended: so have those that stay until it stops.
    pub fn program_ended(&mut self) {
        self.list
            .retain(|breakpoint| breakpoint.stay != Stay::NextStop);
    }

    /// Forgets the adapter's answers: it is a new one, or none.
    pub fn forget_answers(&mut self) {
        self.list
            .iter_mut()
            .for_each(|breakpoint| breakpoint.answer = None);
    }

    /// Has the answers of another adapter, each with the number of its breakpoint, and gives those that are here for them.
    pub fn exchange_answers(&mut self, others: &mut Vec<(u32, Answer)>) {
        let mut taken = std::mem::take(others);
        for breakpoint in &mut self.list {
            let index = taken
                .iter()
                .position(|(number, _)| *number == breakpoint.number);
            let answer = index.map(|index| taken.swap_remove(index).1);
            let before = std::mem::replace(&mut breakpoint.answer, answer);
            others.extend(before.map(|before| (breakpoint.number, before)));
        }
    }

    /// The files that have breakpoints, each once.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for breakpoint in &self.list {
            if let Some(path) = breakpoint.place.file()
                && !files.iter().any(|known| known == path)
            {
                files.push(path.to_owned());
            }
        }
        files
    }

    /// What to tell the adapter about a file.
    pub fn in_file(&self, file: &Path) -> Vec<SourceBreakpoint> {
        self.at(file)
            .filter_map(|breakpoint| match &breakpoint.place {
                Place::Line(_, line) | Place::Column(_, line, _) | Place::Definition(_, line) => {
                    let mut wanted = SourceBreakpoint::new(*line);
                    if let Place::Column(_, _, column) = &breakpoint.place {
                        wanted.column = Some(*column);
                    }
                    wanted.mode = breakpoint.options.copies.then(|| COPIES.to_owned());
                    wanted.condition = breakpoint.options.condition();
                    wanted.hit_condition.clone_from(&breakpoint.options.hits);
                    wanted.log_message.clone_from(&breakpoint.options.log);
                    Some(wanted)
                }
                Place::Function(_) => None,
            })
            .collect()
    }

    /// What to tell the adapter about functions.
    pub fn functions(&self) -> Vec<FunctionBreakpoint> {
        self.list
            .iter()
            .filter_map(|breakpoint| match &breakpoint.place {
                Place::Function(name) => {
                    let mut wanted = FunctionBreakpoint::new(name.clone());
                    wanted.condition = breakpoint.options.condition();
                    wanted.hit_condition.clone_from(&breakpoint.options.hits);
                    Some(wanted)
                }
                Place::Line(..) | Place::Column(..) | Place::Definition(..) => None,
            })
            .collect()
    }

    /// Keeps the adapter's answers, which come in the order of what it was told: a file's, or those of functions.
    pub fn answered(&mut self, file: Option<&Path>, answers: Vec<types::Breakpoint>) {
        let asked = self
            .list
            .iter_mut()
            .filter(|breakpoint| breakpoint.place.file() == file);
        for (breakpoint, answer) in asked.zip(answers) {
            breakpoint.answer = Some(answer.into());
        }
    }

    fn at<'a>(&'a self, file: &'a Path) -> impl Iterator<Item = &'a Breakpoint> {
        self.list
            .iter()
            .filter(move |breakpoint| breakpoint.place.file() == Some(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_find_their_breakpoints_by_order_and_later_by_id() {
        let mut breakpoints = Breakpoints::default();
        let (a, b) = (PathBuf::from("/a.rs"), PathBuf::from("/b.rs"));
        breakpoints.add(Place::Line(a.clone(), 3), Stay::Always, Options::default());
        breakpoints.add(Place::Line(b, 4), Stay::Always, Options::default());
        let options = Options {
            condition: Some("x > 1".into()),
            ..Options::default()
        };
        breakpoints.add(Place::Line(a.clone(), 9), Stay::Once, options);
        let told = breakpoints.in_file(&a);
        assert_eq!(
            told.iter().map(|told| told.line).collect::<Vec<_>>(),
            [3, 9]
        );
        assert_eq!(told[1].condition.as_deref(), Some("x > 1"));

        let answers = vec![
            types::Breakpoint::new(true).with_id(71),
            types::Breakpoint::new(true).with_id(72),
        ];
        breakpoints.answered(Some(&a), answers);
        assert_eq!(breakpoints.by_id(72).map(|found| found.number), Some(3));
        assert!(
            breakpoints
                .get(2)
                .is_some_and(|other| other.answer.is_none())
        );
    }

    #[test]
    fn a_number_is_used_once_unless_its_breakpoint_never_was() {
        let mut breakpoints = Breakpoints::default();
        let number = breakpoints.add(
            Place::Function("main".into()),
            Stay::Always,
            Options::default(),
        );
        breakpoints.take_back(number);
        assert_eq!(
            breakpoints.add(
                Place::Function("f".into()),
                Stay::Always,
                Options::default()
            ),
            1
        );
        breakpoints.remove(1);
        assert_eq!(
            breakpoints.add(
                Place::Function("g".into()),
                Stay::Always,
                Options::default()
            ),
            2
        );
    }
}
