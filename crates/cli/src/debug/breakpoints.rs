//! The user's breakpoints, by the numbers that the user sees.
//!
//! An adapter receives all breakpoints of a source at once and assigns its own ids. This list keeps the requests, so that they can be sent
//! again to the adapter of the next run, and maps the adapter's ids to the user's numbers.

use std::path::{Path, PathBuf};

use dapple_dap::types::{self, BreakpointReason, FunctionBreakpoint, SourceBreakpoint};

/// Where the user requested a breakpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line of a file.
    Line(PathBuf, i64),
    /// A line and a column of a file, both from 1.
    Column(PathBuf, i64, i64),
    /// The line at which a function's text begins, found by its name; for adapters without function breakpoints.
    Definition(PathBuf, i64),
    /// A function, by name; for adapters with function breakpoints.
    Function(String),
}

impl Place {
    /// The file that was requested, if it was a place in a file.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Place::Line(file, _) | Place::Column(file, ..) | Place::Definition(file, _) => {
                Some(file)
            }
            Place::Function(_) => None,
        }
    }
}

/// The breakpoint mode of Dapple's adapter for a breakpoint in all copies of a file.
pub const COPIES: &str = "file";

/// How long a breakpoint exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Until it is deleted.
    Always,
    /// Until it is hit.
    Once,
    /// Until the program stops for any reason, or ends.
    NextStop,
}

/// The options of a breakpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Stops only if this condition holds; Dapple's adapter stops also if it can't be evaluated.
    pub condition: Option<String>,
    /// Stops in all copies of the file.
    pub copies: bool,
    /// Stops only when this thread hits it.
    pub thread: Option<i64>,
    /// Stops only if no caller is a function of this name.
    pub not_from: Option<String>,
    /// Stops only on these hits: `5`, `>= 5`, `% 3`.
    pub hits: Option<String>,
    /// Writes this instead of stopping.
    pub log: Option<String>,
}

impl Options {
    /// The complete condition for the adapter.
    fn condition(&self) -> Option<String> {
        let thread = self.thread.map(|thread| format!("$thread == {thread}"));
        let not_from = self.not_from.as_ref().map(|function| {
            let function = function.replace('\\', "\\\\").replace('"', "\\\"");
            format!("!$called_from(\"{function}\")")
        });
        // The cheap tests come first.
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

/// One of the user's breakpoints.
#[derive(Debug, Clone)]
pub struct Breakpoint {
    /// Its number, from 1. Only the number of a discarded breakpoint is used again.
    pub number: u32,
    /// The requested place.
    pub place: Place,
    /// How long it exists.
    pub lifetime: Lifetime,
    /// Its options.
    pub options: Options,
    /// How often it has stopped the program.
    pub hits: u32,
    /// The adapter's answer; `None` before the breakpoint was sent.
    pub answer: Option<Answer>,
}

/// The adapter's answer for a breakpoint.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The adapter's id of the breakpoint.
    pub id: Option<i64>,
    /// Whether the breakpoint is set.
    pub verified: bool,
    /// Whether the breakpoint can never be set.
    pub failed: bool,
    /// Why it isn't set, or another remark.
    pub message: Option<String>,
    /// The file in which it was set.
    pub path: Option<PathBuf>,
    /// The line on which it was set.
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
    /// Its file and line: the adapter's, or else the requested ones.
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
    /// Takes the next unused number.
    pub fn allocate_number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Makes a number available again if it is the newest.
    pub fn release_number(&mut self, number: u32) {
        if self.last == number {
            self.last -= 1;
        }
    }

    /// Adds a breakpoint and returns its number.
    pub fn add(&mut self, place: Place, lifetime: Lifetime, options: Options) -> u32 {
        let number = self.allocate_number();
        self.list.push(Breakpoint {
            number,
            place,
            lifetime,
            options,
            hits: 0,
            answer: None,
        });
        number
    }

    /// Removes a breakpoint that could not be set, and makes its number available again if it is the newest.
    pub fn discard(&mut self, number: u32) {
        self.remove(number);
        self.release_number(number);
    }

    /// Removes a breakpoint and returns it.
    pub fn remove(&mut self, number: u32) -> Option<Breakpoint> {
        let index = self
            .list
            .iter()
            .position(|breakpoint| breakpoint.number == number)?;
        Some(self.list.remove(index))
    }

    /// All breakpoints, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.list.iter()
    }

    /// The breakpoint with this number.
    pub fn get(&self, number: u32) -> Option<&Breakpoint> {
        self.list
            .iter()
            .find(|breakpoint| breakpoint.number == number)
    }

    /// The breakpoint with this number, for changes.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Breakpoint> {
        self.list
            .iter_mut()
            .find(|breakpoint| breakpoint.number == number)
    }

    /// The breakpoint with this id of the adapter's.
    pub fn by_id(&mut self, id: i64) -> Option<&mut Breakpoint> {
        self.list.iter_mut().find(|breakpoint| {
            breakpoint
                .answer
                .as_ref()
                .is_some_and(|answer| answer.id == Some(id))
        })
    }

    /// The numbers of the breakpoints that exist until the program stops.
    pub fn until_next_stop(&self) -> impl Iterator<Item = u32> {
        let until = |breakpoint: &&Breakpoint| breakpoint.lifetime == Lifetime::NextStop;
        self.list.iter().filter(until).map(|found| found.number)
    }

    /// Call when the program has ended: removes the breakpoints that exist only until it stops.
    pub fn program_ended(&mut self) {
        self.list
            .retain(|breakpoint| breakpoint.lifetime != Lifetime::NextStop);
    }

    /// Forgets all answers, because the adapter has ended or is a new one.
    pub fn forget_answers(&mut self) {
        self.list
            .iter_mut()
            .for_each(|breakpoint| breakpoint.answer = None);
    }

    /// Exchanges the stored answers for `others`: answers of another adapter, each with its breakpoint's number. Afterwards, `others` has
    /// the answers that were stored here.
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

    /// The breakpoints of a file, for the adapter.
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

    /// The function breakpoints, for the adapter.
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

    /// Stores the adapter's answers for a file, or for functions if `file` is `None`. They are in the order of the request.
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
        breakpoints.add(
            Place::Line(a.clone(), 3),
            Lifetime::Always,
            Options::default(),
        );
        breakpoints.add(Place::Line(b, 4), Lifetime::Always, Options::default());
        let options = Options {
            condition: Some("x > 1".into()),
            ..Options::default()
        };
        breakpoints.add(Place::Line(a.clone(), 9), Lifetime::Once, options);
        let sent = breakpoints.in_file(&a);
        assert_eq!(
            sent.iter().map(|sent| sent.line).collect::<Vec<_>>(),
            [3, 9]
        );
        assert_eq!(sent[1].condition.as_deref(), Some("x > 1"));

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
            Lifetime::Always,
            Options::default(),
        );
        breakpoints.discard(number);
        assert_eq!(
            breakpoints.add(
                Place::Function("f".into()),
                Lifetime::Always,
                Options::default()
            ),
            1
        );
        breakpoints.remove(1);
        assert_eq!(
            breakpoints.add(
                Place::Function("g".into()),
                Lifetime::Always,
                Options::default()
            ),
            2
        );
    }
}
