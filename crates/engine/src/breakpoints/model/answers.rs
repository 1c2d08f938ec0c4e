//! Modules' answers about a breakpoint: where the breakpoint's line or function is in the module, or why it isn't there.

use crate::Address;
use crate::breakpoints::function::{self, Absence, Places};
use dapple_inspect::modules::LoadedModule;
use dapple_symbols::lines::{LineLocation, LineLookup};
use dapple_symbols::names::{NameExpression, NamePattern};
use dapple_symbols::source_copies::Contents;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A module's answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) module: u64,
    /// The module is neither a distribution's nor the vDSO. If the line or function is found in it, distributions' libraries aren't asked.
    pub(super) is_users: bool,
    /// The module may find more once it has an index.
    pub(super) incomplete: bool,
    pub(super) said: Said,
}

impl Answer {
    pub(super) fn is_found(&self) -> bool {
        matches!(self.said, Said::Found(_) | Said::Functions(_))
    }
}

/// A module's answer about a line or a function.
#[derive(Debug)]
pub(super) enum Said {
    Found(Vec<Location>),
    NoCode {
        before: Option<u32>,
        after: Option<u32>,
    },
    NoFile {
        similar: Vec<PathBuf>,
    },
    Functions(Places),
    NoFunction(Absence),
}

impl Said {
    /// Combines the answers about a source and about a copy of it: the locations of both. If neither has any: the answer that says more
    /// about why.
    fn or(self, copy: Said) -> Said {
        match (self, copy) {
            (Said::Found(mut locations), Said::Found(more)) => {
                // Asking about the source may have found the copy already, because its path is similar.
                let known = |l: &Location| locations.iter().any(|k| k.address == l.address);
                let new: Vec<Location> = more.into_iter().filter(|l| !known(l)).collect();
                locations.extend(new);
                Said::Found(locations)
            }
            (found @ Said::Found(_), _) | (_, found @ Said::Found(_)) => found,
            (Said::NoFile { .. }, copy) => copy,
            (own, _) => own,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Location {
    /// The path in the debug information.
    pub(super) file: Arc<Path>,
    pub(super) address: Address,
    pub(super) line: u32,
    pub(super) stop_line: u32,
    pub(super) column: u32,
    /// How many inlined calls the location is in: see [`LineLocation::calls_around`].
    pub(super) calls_around: usize,
}

/// Asks a module about a line of a source. If `column` is in a statement after the line's first, asks only about that statement.
pub(super) fn ask_line(module: &LoadedModule, file: &Path, line: u32, column: Option<u32>) -> Said {
    let location = |l: LineLocation| Location {
        file: l.file,
        address: module.to_process(l.address),
        line: l.line,
        stop_line: l.stop_line,
        column: l.column,
        calls_around: l.calls_around,
    };
    let in_line = column.map(|column| module.module.lookup_column(file, line, column));
    if let Some(found) = in_line.filter(|found| !found.is_empty()) {
        return Said::Found(found.into_iter().map(location).collect());
    }
    match module.module.lookup_line(file, line) {
        LineLookup::Found(found) => Said::Found(found.into_iter().map(location).collect()),
        LineLookup::NoCode { before, after } => Said::NoCode { before, after },
        LineLookup::NoFile { similar } => Said::NoFile {
            similar: match similar.is_empty() && !module.is_distributions() {
                true => module.module.files_nearly_called(file),
                false => similar,
            },
        },
    }
}

/// As [`ask_line`], but asks also about other sources that have the base name of `file` and these contents.
pub(super) fn ask_copies(
    module: &LoadedModule,
    file: &Path,
    contents: &Contents,
    line: u32,
    column: Option<u32>,
) -> Said {
    let own = ask_line(module, file, line, column);
    let copies = module.module.copies(file, contents);
    let copies = copies
        .iter()
        .map(|copy| ask_line(module, copy, line, column));
    copies.fold(own, Said::or)
}

/// Asks a module about a function. Also returns whether the module may find more once it has an index.
pub(super) fn ask_function(module: &LoadedModule, name: &str) -> (Said, bool) {
    let nothing = || Said::NoFunction(Absence::Similar(Vec::new()));
    match NameExpression::read(name) {
        Some(Ok(expression)) => {
            let places = function::matching(module, &expression);
            return (places.map_or_else(nothing, Said::Functions), false);
        }
        Some(Err(_)) => return (nothing(), false),
        None => {}
    }
    let pattern = NamePattern::new(name);
    if pattern.problem().is_some() {
        return (nothing(), false);
    }
    let (found, complete) = module.module.find_functions_soon(&pattern);
    let said = match function::find(module, pattern.text(), found) {
        Some(places) => Said::Functions(places),
        None => Said::NoFunction(function::absence(module, &pattern)),
    };
    (said, !complete)
}
