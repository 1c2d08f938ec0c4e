//! Reports problems with debug information and with the user's presentation of types.

use super::Owner;
use crate::Event;
use dapple_inspect::inspect::Inspect;
use std::path::Path;

impl Owner {
    /// Reports the problems that were found since the last time.
    pub(super) fn tell_warnings(&mut self) {
        self.tell_presentation();
        let mut reported = std::mem::take(&mut self.loading.warnings);
        let news = reported.news_of(self.modules());
        self.loading.warnings = reported;
        for warnings in news {
            self.tell(Event::DebugInfoWarnings(warnings));
        }
    }

    /// Reports problems with the user's presentation of types.
    fn tell_presentation(&mut self) {
        let problems = self.known.presentation().take_problems();
        if !problems.is_empty() {
            self.tell(Event::PresentationWarnings(problems));
        }
    }

    /// Reports that a module's file, or the debug file fetched for it, can't be used.
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
