//! The user's breakpoints, by the numbers that the user sees.
//!
//! This list has what the user wants, for the adapters of all processes and of the next run. What the selected process's adapter makes of it is in
//! [`Breakpoints::placed`], under the same numbers.

use std::path::{Path, PathBuf};

use dapple_dap::client::breakpoints::{self as placed, BreakpointId, Set, Update, Wanted};
use dapple_dap::types::{
    self, BreakpointReason, Capabilities, FunctionBreakpoint, SourceBreakpoint,
};

use super::adapters::presets::{BreakpointRules, HitNumber};

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
    /// Stops nowhere, until it is enabled again.
    pub disabled: bool,
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
    /// What is run when it does.
    pub commands: Vec<String>,
}

impl Breakpoint {
    /// Its file and line: those of the adapter's answer, or else the requested ones.
    pub fn location<'a>(
        &'a self,
        answer: Option<&'a types::Breakpoint>,
    ) -> (Option<&'a Path>, Option<i64>) {
        let (path, line) = match &self.place {
            Place::Line(path, line)
            | Place::Column(path, line, _)
            | Place::Definition(path, line) => (Some(path.as_path()), Some(*line)),
            Place::Function(_) => (None, None),
        };
        let source = answer.and_then(|answer| answer.source.as_ref());
        let answered = source.and_then(|source| source.path.as_deref());
        (
            answered.map(Path::new).or(path),
            answer.and_then(|answer| answer.line).or(line),
        )
    }

    /// Whether it stops the program at each hit.
    fn stops_always(&self) -> bool {
        let options = &self.options;
        let is_limited = options.condition().is_some() || options.hits.is_some();
        !is_limited && options.log.is_none()
    }

    /// What the adapter is to be sent. `number`: what hits are to it, if it takes only a number. `always`: it is to stop at each hit.
    fn wanted(&self, number: Option<HitNumber>, always: bool) -> Wanted {
        let condition = self.options.condition().filter(|_| !always);
        let hits = self.options.hits.as_deref().filter(|_| !always);
        let hits = hits.and_then(|hits| match number {
            None => Some(hits.to_owned()),
            Some(HitNumber::First) => first_hit(hits).map(|first| first.to_string()),
            Some(HitNumber::Passed) => {
                first_hit(hits).map(|first| first.saturating_sub(1).to_string())
            }
        });
        let (file, line) = match &self.place {
            Place::Function(name) => {
                let mut wanted = FunctionBreakpoint::new(name.clone());
                wanted.condition = condition;
                wanted.hit_condition = hits;
                return Wanted::Function(wanted);
            }
            Place::Line(file, line)
            | Place::Column(file, line, _)
            | Place::Definition(file, line) => (file, *line),
        };
        let mut wanted = SourceBreakpoint::new(line);
        if let Place::Column(_, _, column) = &self.place {
            wanted.column = Some(*column);
        }
        wanted.mode = self.options.copies.then(|| COPIES.to_owned());
        wanted.condition = condition;
        wanted.hit_condition = hits;
        wanted.log_message.clone_from(&self.options.log);
        Wanted::in_file(file.to_string_lossy(), wanted)
    }
}

/// The first hit that stops the program, of `>= 5` and `> 4`. `None`: it is not so that it stops at each from one on.
pub fn first_hit(hits: &str) -> Option<u64> {
    let hits = hits.trim();
    match (hits.strip_prefix(">="), hits.strip_prefix('>')) {
        (Some(first), _) => first.trim().parse().ok(),
        (None, Some(last)) => last.trim().parse::<u64>().ok()?.checked_add(1),
        (None, None) => None,
    }
}

/// Why the adapter can never set the breakpoint that it has answered so; `None` if it has, or may do so later.
pub fn failure(answer: &types::Breakpoint) -> Option<String> {
    let failed = answer.reason == Some(BreakpointReason::Failed) && !answer.verified;
    let none = || "there is no such place in the program".to_owned();
    failed.then(|| answer.message.clone().unwrap_or_else(none))
}

/// All breakpoints of a session.
#[derive(Debug, Default)]
pub struct Breakpoints {
    /// What the selected process's adapter was sent, and what it has said.
    pub placed: placed::Breakpoints,
    /// What is different about the adapter's.
    pub rules: BreakpointRules,
    list: Vec<Breakpoint>,
    last: u32,
}

impl Breakpoints {
    /// There are none yet. `rules`: what is different about the adapter's.
    pub fn new(rules: BreakpointRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

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
            commands: Vec::new(),
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
        let number = self.placed.with_adapter_id(id).next()?.id.0;
        self.get_mut(number)
    }

    /// What the adapter has said of a breakpoint; `None` before the breakpoint was sent.
    pub fn answer(&self, number: u32) -> Option<&types::Breakpoint> {
        self.placed.get(BreakpointId(number))?.answer.as_ref()
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

    /// The request for the breakpoints of a file, or for those of functions if `file` is `None`. `None`: the adapter doesn't have such breakpoints.
    pub fn update(&mut self, file: Option<&Path>, capabilities: &Capabilities) -> Option<Update> {
        let known: Vec<BreakpointId> = self.placed.iter().map(|entry| entry.id).collect();
        for id in known {
            if self.get(id.0).is_none() {
                self.placed.remove(id);
            }
        }
        for breakpoint in &self.list {
            let id = BreakpointId(breakpoint.number);
            match breakpoint.options.disabled {
                true => drop(self.placed.remove(id)),
                false => {
                    let is_hidden = self.stops_beside(breakpoint).is_some();
                    let wanted = breakpoint.wanted(self.rules.hit_number, is_hidden);
                    self.placed.put(id, wanted);
                }
            }
        }
        let set = match file {
            Some(file) => Wanted::line(file.to_string_lossy(), 1).set(),
            None => Set::Function,
        };
        // Sent even without a change: the adapter may have been asked for something else meanwhile.
        self.placed.resend(set.clone());
        let mut updates = self.placed.updates(capabilities).into_iter();
        updates.find(|update| *update.set() == set)
    }

    /// The one that stops each time on the line of one that doesn't, where the adapter has one breakpoint a line: that one has to stop each time, too.
    pub fn stops_beside(&self, breakpoint: &Breakpoint) -> Option<u32> {
        let is_limited = breakpoint.options.log.is_none() && !breakpoint.stops_always();
        if !self.rules.has_one_a_line || !is_limited {
            return None;
        }
        let place = breakpoint.location(None);
        let is_beside = |other: &&Breakpoint| {
            !other.options.disabled && other.stops_always() && other.location(None) == place
        };
        // Of functions, the line is not known.
        place.0?;
        self.list.iter().find(is_beside).map(|other| other.number)
    }

    /// The function breakpoints, for the adapter.
    pub fn functions(&self) -> Vec<FunctionBreakpoint> {
        let enabled = self.list.iter().filter(|it| !it.options.disabled);
        let wanted = enabled.map(|breakpoint| breakpoint.wanted(self.rules.hit_number, false));
        wanted
            .filter_map(|wanted| match wanted {
                Wanted::Function(wanted) => Some(wanted),
                _ => None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the adapter is sent for the breakpoint with a number.
    fn sent(breakpoints: &mut Breakpoints, number: u32) -> String {
        let capabilities = Capabilities::new();
        breakpoints.update(Some(Path::new("/a.rs")), &capabilities);
        let entry = breakpoints.placed.get(BreakpointId(number));
        match &entry.expect("it was put there").wanted {
            Some(Wanted::Source(_, breakpoint)) => {
                let [condition, hits] = [&breakpoint.condition, &breakpoint.hit_condition]
                    .map(|it| it.as_deref().unwrap_or("-"));
                format!("{condition} {hits}")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hits_are_a_number_where_the_adapter_takes_nothing_else() {
        for (number, expected) in [
            (None, "- > 4"),
            (Some(HitNumber::First), "- 5"),
            (Some(HitNumber::Passed), "- 4"),
        ] {
            let mut breakpoints = Breakpoints::new(BreakpointRules {
                hit_number: number,
                ..BreakpointRules::default()
            });
            let options = Options {
                hits: Some("> 4".to_owned()),
                ..Options::default()
            };
            let place = Place::Line(PathBuf::from("/a.rs"), 3);
            let limited = breakpoints.add(place, Lifetime::Always, options);
            assert_eq!(sent(&mut breakpoints, limited), expected);
        }
        assert_eq!(first_hit(">=5"), Some(5));
        for other in ["5", "== 5", "% 3", "< 5", "> x", ""] {
            assert_eq!(first_hit(other), None, "{other}");
        }
    }

    #[test]
    fn a_condition_hides_no_other_breakpoint_of_its_line() {
        let mut breakpoints = Breakpoints::new(BreakpointRules {
            has_one_a_line: true,
            ..BreakpointRules::default()
        });
        let place = || Place::Line(PathBuf::from("/a.rs"), 3);
        let options = Options {
            condition: Some("i == 1".to_owned()),
            ..Options::default()
        };
        let limited = breakpoints.add(place(), Lifetime::Always, options);
        assert_eq!(sent(&mut breakpoints, limited), "i == 1 -");
        let until = breakpoints.add(place(), Lifetime::NextStop, Options::default());
        assert_eq!(sent(&mut breakpoints, limited), "- -");
        let found = breakpoints.get(limited).expect("it is there");
        assert_eq!(breakpoints.stops_beside(found), Some(until));
        breakpoints.remove(until);
        assert_eq!(sent(&mut breakpoints, limited), "i == 1 -");
        // Elsewhere, each has its own.
        breakpoints.rules.has_one_a_line = false;
        breakpoints.add(place(), Lifetime::NextStop, Options::default());
        assert_eq!(sent(&mut breakpoints, limited), "i == 1 -");
    }

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
        let update = breakpoints
            .update(Some(&a), &Capabilities::new())
            .expect("files are always supported");
        let placed::Arguments::Source(sent) = update.arguments() else {
            panic!("{update:?}");
        };
        let sent = sent.breakpoints.as_deref().unwrap_or_default();
        assert_eq!(
            sent.iter().map(|sent| sent.line).collect::<Vec<_>>(),
            [3, 9]
        );
        assert_eq!(sent[1].condition.as_deref(), Some("x > 1"));

        let answers = vec![
            types::Breakpoint::new(true).with_id(71),
            types::Breakpoint::new(true).with_id(72),
        ];
        breakpoints.placed.answered(&update, answers);
        assert_eq!(breakpoints.by_id(72).map(|found| found.number), Some(3));
        assert_eq!(breakpoints.answer(2), None);
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
