//! The client's view of its breakpoints: which ids it was told, and what it asked for before there was a program.
//!
//! Resolving and arming is the engine's. This table bridges two gaps: breakpoints may be set before `launch`, when there
//! is no engine to ask, and the ids given then must stay good once the engine has its own.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The ids and what was asked for: lines by file, and functions.
#[derive(Debug, Default)]
pub struct Breakpoints<Source> {
    last_id: i64,
    files: BTreeMap<PathBuf, Wanted<Source>>,
    /// The functions in the client's order with the ids it was told.
    functions: Vec<(String, i64)>,
    from_engine: HashMap<i64, i64>,
}

/// What a client wants in one file.
#[derive(Debug)]
struct Wanted<Source> {
    /// The source as the client wrote it, to be given back.
    source: Source,
    /// The lines in the client's order with the ids it was told.
    lines: Vec<(u32, i64)>,
}

impl<Source: Clone> Breakpoints<Source> {
    /// Replaces what is wanted in `file`; the ids in the same order. A line that was wanted before keeps its id.
    pub fn replace(&mut self, file: &Path, source: Source, lines: &[u32]) -> Vec<i64> {
        let before = self
            .files
            .remove(file)
            .map_or_else(Vec::new, |wanted| wanted.lines);
        let lines = self.with_ids(lines, before);
        let ids = lines.iter().map(|(_, id)| *id).collect();
        if !lines.is_empty() {
            let wanted = Wanted { source, lines };
            self.files.insert(file.to_owned(), wanted);
        }
        ids
    }

    /// Replaces the wanted functions; the ids in the same order. A name that was wanted before keeps its id.
    pub fn replace_functions(&mut self, names: &[String]) -> Vec<i64> {
        let before = std::mem::take(&mut self.functions);
        self.functions = self.with_ids(names, before);
        self.functions.iter().map(|(_, id)| *id).collect()
    }

    /// Gives what is wanted its id from before, or a new one.
    fn with_ids<T: Clone + PartialEq>(
        &mut self,
        wanted: &[T],
        mut before: Vec<(T, i64)>,
    ) -> Vec<(T, i64)> {
        let mut with_id = |one: &T| {
            let kept = before.iter().position(|(other, _)| other == one);
            let id = kept.map(|index| before.swap_remove(index).1);
            (one.clone(), id.unwrap_or_else(|| self.new_id()))
        };
        wanted.iter().map(&mut with_id).collect()
    }

    /// The wanted functions with their ids.
    pub fn functions(&self) -> &[(String, i64)] {
        &self.functions
    }

    /// Whether the id that the client was told is a function's.
    pub fn is_function(&self, id: i64) -> bool {
        self.functions.iter().any(|(_, other)| *other == id)
    }

    /// Notes that the engine calls `id` by `engine_id`.
    pub fn bind(&mut self, engine_id: i64, id: i64) {
        self.from_engine.insert(engine_id, id);
    }

    /// The id the client knows for the engine's.
    pub fn client_id(&mut self, engine_id: i64) -> i64 {
        if let Some(id) = self.from_engine.get(&engine_id) {
            return *id;
        }
        let id = self.new_id();
        self.from_engine.insert(engine_id, id);
        id
    }

    /// The source of `file` as the client wrote it.
    pub fn source(&self, file: &Path) -> Option<Source> {
        self.files.get(file).map(|wanted| wanted.source.clone())
    }

    /// All wanted lines: each file with its lines and their ids.
    pub fn lines(&self) -> Vec<(PathBuf, Vec<(u32, i64)>)> {
        self.files
            .iter()
            .map(|(file, wanted)| (file.clone(), wanted.lines.clone()))
            .collect()
    }

    fn new_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_wanted_again_keeps_its_id() {
        let mut table = Breakpoints::default();
        let file = Path::new("/a.c");
        assert_eq!(table.replace(file, "a", &[10, 20]), [1, 2]);
        assert_eq!(table.replace(file, "a", &[20, 30, 10]), [2, 3, 1]);
        assert_eq!(table.replace(file, "a", &[30]), [3]);
        assert_eq!(table.replace(file, "a", &[10, 30]), [4, 3]);
        assert_eq!(table.lines(), [(file.to_owned(), vec![(10, 4), (30, 3)])]);
    }

    #[test]
    fn the_same_line_twice_has_two_ids() {
        let mut table = Breakpoints::default();
        assert_eq!(table.replace(Path::new("/a.c"), (), &[5, 5]), [1, 2]);
        assert_eq!(table.replace(Path::new("/a.c"), (), &[5, 5]), [1, 2]);
    }

    #[test]
    fn a_function_that_is_wanted_again_keeps_its_id() {
        let mut table: Breakpoints<()> = Breakpoints::default();
        let names =
            |names: &[&str]| -> Vec<String> { names.iter().map(|n| n.to_string()).collect() };
        assert_eq!(table.replace(Path::new("/a.c"), (), &[5]), [1]);
        assert_eq!(table.replace_functions(&names(&["f", "g", "f"])), [2, 3, 4]);
        assert_eq!(table.replace_functions(&names(&["g", "h", "f"])), [3, 5, 2]);
        assert!(table.is_function(5) && !table.is_function(4) && !table.is_function(1));
    }

    #[test]
    fn ids_told_before_the_launch_stay_good_after_it() {
        let mut table = Breakpoints::default();
        table.replace(Path::new("/b.c"), "b", &[7]);
        let ids = table.replace(Path::new("/a.c"), "a", &[1]);
        table.bind(1, ids[0]);
        assert_eq!(table.client_id(1), 2);
        assert_eq!(
            table.client_id(9),
            3,
            "a new one of the engine's gets a new id"
        );
        assert_eq!(table.client_id(9), 3);
        assert_eq!(table.source(Path::new("/a.c")), Some("a"));
    }

    #[test]
    fn a_file_without_lines_is_forgotten() {
        let mut table = Breakpoints::default();
        table.replace(Path::new("/a.c"), (), &[1]);
        table.replace(Path::new("/a.c"), (), &[]);
        assert!(table.lines().is_empty());
    }
}
