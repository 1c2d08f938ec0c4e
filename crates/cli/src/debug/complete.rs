//! Completion at the prompt: command names, and their arguments.
//!
//! The line editor runs on a thread of its own, so it completes from a copy of the names, which the session updates at each stop.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustyline::completion::Pair;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use super::commands::{self, Argument};
use super::name_search::NameSearch;

/// The names that can be completed now.
#[derive(Debug, Default)]
pub struct Names {
    /// Variables of the selected frame.
    pub variables: Vec<String>,
    /// Source files seen so far.
    pub files: Vec<PathBuf>,
    /// Functions in these files.
    pub functions: Vec<String>,
}

/// Completes from the command table and the shared names.
#[derive(Debug, Clone, Default)]
pub struct Completer {
    names: Arc<Mutex<Names>>,
    search: Arc<Mutex<NameSearch>>,
    typed: Arc<Mutex<String>>,
}

impl Completer {
    /// Locks the names for an update.
    pub fn names(&self) -> MutexGuard<'_, Names> {
        // After a panic elsewhere, the names are at worst out of date.
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks another connection for names from now on.
    pub fn set_search(&self, search: NameSearch) {
        *self.search.lock().unwrap_or_else(PoisonError::into_inner) = search;
    }

    /// What has been typed at the prompt so far.
    pub fn typed(&self) -> String {
        self.typed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The start of the word before the cursor, and its possible completions.
    fn candidates(&self, line: &str) -> (usize, Vec<String>) {
        let first = line.len() - line.trim_start().len();
        let argument = commands::argument_of(line.trim_start());
        let is_of_word = match argument {
            // Names have colons and parts: `list.h:`, `cart::total`.
            Some(Argument::Location) => |c: char| !c.is_whitespace() && c != '*',
            _ => is_word,
        };
        let start = line.rfind(|c: char| !is_of_word(c)).map_or(0, |at| {
            at + line[at..].chars().next().map_or(1, char::len_utf8)
        });
        let word = &line[start..];
        let Some(argument) = argument.filter(|_| start > first) else {
            return (start, commands::names_starting_with(word));
        };
        let mut candidates = match argument {
            Argument::Location => self.places(word),
            Argument::Expression => self.names().variables.clone(),
            Argument::Topic(topics) => topics.iter().map(ToString::to_string).collect(),
            Argument::Command => commands::names_starting_with(""),
            Argument::None => Vec::new(),
        };
        candidates.retain(|name| name.starts_with(word));
        candidates.sort();
        candidates.dedup();
        (start, candidates)
    }

    /// The files and functions that are known at the prompt, and those of the program.
    fn places(&self, word: &str) -> Vec<String> {
        let mut search = self.search.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places = search.places(word);
        let names = self.names();
        let files = { names.files.iter() }
            .filter_map(|path| path.file_name()?.to_str().map(|name| format!("{name}:")));
        places.extend(files.chain(names.functions.iter().cloned()));
        places
    }
}

/// Whether a character belongs to a word. A path is one word: `src/main.rs`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_/.-$".contains(c)
}

impl rustyline::completion::Completer for Completer {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, names) = self.candidates(line.get(..pos).unwrap_or(line));
        let pairs = names
            .into_iter()
            .map(|name| Pair {
                display: name.clone(),
                replacement: name,
            })
            .collect();
        Ok((start, pairs))
    }
}

impl Helper for Completer {}
impl Highlighter for Completer {}
impl Validator for Completer {}
/// Gives no hints. The line editor asks for one after each change, which is how the typed line is recorded.
impl Hinter for Completer {
    type Hint = String;

    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        line.clone_into(&mut self.typed.lock().unwrap_or_else(PoisonError::into_inner));
        None
    }
}

/// The names of the functions that a source text appears to define.
pub fn functions_in(path: &Path, lines: &[String]) -> Vec<String> {
    let rust = path.extension().is_some_and(|extension| extension == "rs");
    let defined = |line: &String| -> Option<String> {
        let before = if rust {
            line.split_once("fn ")?.1
        } else {
            line.split_once('(')?.0
        };
        if !rust && (line.starts_with([' ', '#', '/']) || line.trim_end().ends_with(';')) {
            return None;
        }
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let name = if rust {
            before.split(|c| !is_name(c)).next()?
        } else {
            before.rsplit(|c| !is_name(c)).next()?
        };
        (!name.is_empty()).then(|| name.to_owned())
    };
    lines.iter().filter_map(defined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completer() -> Completer {
        let completer = Completer::default();
        *completer.names() = Names {
            variables: vec!["order".into(), "orders".into(), "sum".into()],
            files: vec!["/src/tour.rs".into()],
            functions: vec!["total".into()],
        };
        completer
    }

    #[test]
    fn the_first_word_is_a_command() {
        let (start, names) = completer().candidates("br");
        assert_eq!((start, names), (0, vec!["break".to_owned()]));
    }

    #[test]
    fn arguments_follow_the_command() {
        let completer = completer();
        assert_eq!(
            completer.candidates("p *ord"),
            (3, vec!["order".to_owned(), "orders".to_owned()])
        );
        assert_eq!(
            completer.candidates("b to"),
            (2, vec!["total".to_owned(), "tour.rs:".to_owned()])
        );
        assert_eq!(
            completer.candidates("info loca"),
            (5, vec!["locals".to_owned()])
        );
        assert_eq!(completer.candidates("next x"), (5, vec![]));
        assert_eq!(
            completer.candidates("rbreak to").1,
            ["total", "tour.rs:"],
            "what other debuggers call it"
        );
        assert_eq!(completer.candidates("fr v ord").1, ["order", "orders"]);
        assert_eq!(completer.candidates("b *to").1, ["total", "tour.rs:"]);
        assert_eq!(completer.candidates("info sh").1, Vec::<String>::new());
        assert_eq!(completer.candidates("é").1, Vec::<String>::new());
    }

    #[test]
    fn functions_are_found_by_the_look_of_their_definition() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            functions_in(
                Path::new("a.rs"),
                &lines("pub fn total<T>() {\nlet x = y();")
            ),
            ["total"]
        );
        let c = lines("int area(int w);\nint main(void)\n{\n  area(1);\n}");
        assert_eq!(functions_in(Path::new("a.c"), &c), ["main"]);
    }
}
