//! Telling what of the debug information and of the user's presentation can't be used.

use super::Owner;
use crate::Event;
use std::path::Path;

impl Owner {
    /// Tells what the modules have met since the last time.
    pub(super) fn tell_warnings(&mut self) {
        self.tell_presentation();
        for warnings in self.loading.warnings.news_of(&self.modules) {
            self.tell(Event::DebugInfoWarnings(warnings));
        }
    }

    /// Tells what is wrong with the user's own presentation of types.
    fn tell_presentation(&mut self) {
        let problems = self.known.presentation().take_problems();
        if !problems.is_empty() {
            self.tell(Event::PresentationWarnings(problems));
        }
    }

    /// Tells of a file that can't be read at all.
    pub(super) fn warn_of_module(&mut self, path: &Path, problem: &dapple_symbols::Error) {
        let warnings = self
            .loading
            .warnings
            .news(path, std::iter::once(problem.to_string()));
        if !warnings.is_empty() {
            self.tell(Event::DebugInfoWarnings(warnings));
        }
    }
}
