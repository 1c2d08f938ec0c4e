//! Reports what part of the debug information can't be used.
//!
//! Debug information is read piece by piece, as it is needed, and its problems appear then. After each command the modules are asked
//! for new problems; that reads nothing.

use dapple_inspect::modules::Modules;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// The most problems that are reported of a module: one with more is broken, as the user knows by then.
const MOST: usize = 10;

/// The reported problems by module file: a library that is loaded again has the same problems.
#[derive(Debug, Default)]
pub(crate) struct Reported(FxHashMap<PathBuf, Vec<String>>);

impl Reported {
    /// The modules' new problems since the last call, one list for each module that has any.
    pub(crate) fn news_of(&mut self, modules: &Modules) -> Vec<Vec<String>> {
        let mut all = Vec::new();
        for loaded in modules.iter() {
            let count = loaded.module.warning_count();
            if loaded.warnings_seen(count) {
                continue;
            }
            let problems = loaded.module.warnings().into_iter();
            let problems = problems.map(|problem| problem.to_string());
            let warnings = self.news(loaded.module.path(), problems);
            if !warnings.is_empty() {
                all.push(warnings);
            }
        }
        all
    }

    /// Those of `problems` that were not reported of the file at `path` yet. If there are too many, the last sentence says so.
    pub(crate) fn news(
        &mut self,
        path: &Path,
        problems: impl Iterator<Item = String>,
    ) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_told_once_and_not_too_many() {
        let mut told = Reported::default();
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
