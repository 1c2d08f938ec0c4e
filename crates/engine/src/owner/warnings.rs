//! Telling what of the debug information can't be used.
//!
//! It is read bit by bit, as it is needed, and so its problems come up then. After each command the modules are asked for
//! what is new; that reads nothing.

use super::Owner;
use crate::Event;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// A module with more problems than that is broken, and its user knows.
const MOST: usize = 10;

/// What was told, by module file: a library that comes back has the same problems.
#[derive(Debug, Default)]
pub(super) struct Told(FxHashMap<PathBuf, Vec<String>>);

impl Told {
    /// Those of the problems that are to be told now, and the last word when there are too many.
    fn news(&mut self, path: &Path, problems: impl Iterator<Item = String>) -> Vec<String> {
        let told = self.0.entry(path.to_owned()).or_default();
        let mut news = Vec::new();
        for problem in problems {
            if told.len() > MOST || told.contains(&problem) {
                continue;
            }
            let enough = told.len() == MOST;
            told.push(problem.clone());
            news.push(match enough {
                false => problem,
                true => format!("{}: there are more such problems", path.display()),
            });
        }
        news
    }
}

impl Owner {
    /// Tells what the modules have met since the last time.
    pub(super) fn tell_warnings(&mut self) {
        self.tell_presentation();
        for loaded in self.modules.iter() {
            let count = loaded.module.warning_count();
            if loaded.warnings_seen(count) {
                continue;
            }
            let problems = loaded.module.warnings().into_iter();
            let problems = problems.map(|problem| problem.to_string());
            let warnings = self.told.news(loaded.module.path(), problems);
            if !warnings.is_empty() {
                self.tell(Event::DebugInfoWarnings(warnings));
            }
        }
    }

    /// Tells what is wrong with the user's own presentation of types.
    fn tell_presentation(&mut self) {
        let problems = self.modules.presentation().take_problems();
        if !problems.is_empty() {
            self.tell(Event::PresentationWarnings(problems));
        }
    }

    /// Tells of a file that can't be read at all.
    pub(super) fn warn_of_module(&mut self, path: &Path, problem: &dapple_symbols::Error) {
        let warnings = self.told.news(path, std::iter::once(problem.to_string()));
        if !warnings.is_empty() {
            self.tell(Event::DebugInfoWarnings(warnings));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_told_once_and_not_too_many() {
        let mut told = Told::default();
        let mut news = |problems: std::ops::Range<usize>| {
            let problems = problems.map(|number| format!("problem {number}"));
            told.news(Path::new("/lib/a.so"), problems)
        };
        assert_eq!(news(0..2), ["problem 0", "problem 1"]);
        assert_eq!(news(0..3), ["problem 2"]);
        let last = news(0..40);
        assert_eq!(last.len(), MOST - 3 + 1);
        assert_eq!(
            last.last().map(String::as_str),
            Some("/lib/a.so: there are more such problems")
        );
        assert!(news(0..80).is_empty());
    }
}
