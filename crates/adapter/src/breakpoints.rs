//! The breakpoints that the client has requested, and their ids.
//!
//! Breakpoints may be set before the launch, when there is no engine. This table keeps them for the launch, and maps the engine's ids to the
//! ids that the client got first. Resolving and inserting breakpoints is the engine's.

use dapple_engine::session::{FunctionBreakpoint, InstructionBreakpoint, LineBreakpoint};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// A requested breakpoint with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted<T> {
    /// The breakpoint.
    pub what: T,
    /// The id that the client knows.
    pub id: i64,
}

/// All requested breakpoints.
#[derive(Debug, Default)]
pub struct Breakpoints<Source> {
    last_id: i64,
    files: BTreeMap<PathBuf, InFile<Source>>,
    /// Files that ever had breakpoints: the client has these files, even if they are not on this machine.
    named: BTreeSet<PathBuf>,
    /// In the client's order.
    functions: Vec<Wanted<FunctionBreakpoint>>,
    /// Instruction breakpoints.
    instructions: Vec<Wanted<InstructionBreakpoint>>,
    /// Breakpoints on lines of disassembly, by the source's reference, with their lines.
    listed: BTreeMap<i64, Vec<Wanted<(u32, InstructionBreakpoint)>>>,
    from_engine: HashMap<i64, i64>,
}

/// The breakpoints in one file.
#[derive(Debug)]
struct InFile<Source> {
    /// The source as the client sent it, which responses repeat.
    source: Source,
    /// In the client's order.
    lines: Vec<Wanted<LineBreakpoint>>,
}

impl<Source: Clone> Breakpoints<Source> {
    /// Replaces the breakpoints of `file`. A breakpoint on the same line and column keeps its id, even if its options differ.
    pub fn replace(
        &mut self,
        file: &Path,
        source: Source,
        lines: Vec<LineBreakpoint>,
    ) -> Vec<Wanted<LineBreakpoint>> {
        let before = self.files.remove(file);
        let before = before.map_or_else(Vec::new, |wanted| wanted.lines);
        let same = |one: &LineBreakpoint, other: &LineBreakpoint| {
            (one.line, one.column) == (other.line, other.column)
        };
        let wanted = self.with_ids(lines, before, same);
        if !wanted.is_empty() {
            let lines = wanted.clone();
            self.named.insert(file.to_owned());
            self.files.insert(file.to_owned(), InFile { source, lines });
        }
        wanted
    }

    /// Whether the client has ever set breakpoints in a file.
    pub fn has_named(&self, file: &Path) -> bool {
        self.named.contains(file)
    }

    /// The client knows a file only by a reference, whatever it has set there.
    pub fn is_unnamed(&mut self, file: &Path) {
        self.named.remove(file);
    }

    /// Replaces the function breakpoints. A breakpoint on the same name keeps its id.
    pub fn replace_functions(
        &mut self,
        functions: Vec<FunctionBreakpoint>,
    ) -> Vec<Wanted<FunctionBreakpoint>> {
        let before = std::mem::take(&mut self.functions);
        let same = |one: &FunctionBreakpoint, other: &FunctionBreakpoint| one.name == other.name;
        self.functions = self.with_ids(functions, before, same);
        self.functions.clone()
    }

    /// Gives each breakpoint the id of an equal one in `before`, or else of one at the same place (`same`), or else a new id.
    pub fn with_ids<T: PartialEq>(
        &mut self,
        wanted: Vec<T>,
        mut before: Vec<Wanted<T>>,
        same: impl Fn(&T, &T) -> bool,
    ) -> Vec<Wanted<T>> {
        let mut with_id = |what: T| {
            let kept = before
                .iter()
                .position(|other| other.what == what)
                .or_else(|| before.iter().position(|other| same(&other.what, &what)));
            let id = match kept {
                Some(index) => before.remove(index).id,
                None => self.new_id(),
            };
            Wanted { what, id }
        };
        wanted.into_iter().map(&mut with_id).collect()
    }

    /// The function breakpoints.
    pub fn functions(&self) -> &[Wanted<FunctionBreakpoint>] {
        &self.functions
    }

    /// Whether a client's id is that of a function breakpoint.
    pub fn is_function(&self, id: i64) -> bool {
        self.functions.iter().any(|wanted| wanted.id == id)
    }

    /// Forgets the engine's ids, because the next engine begins with new ones.
    pub fn forget_engine(&mut self) {
        self.from_engine.clear();
    }

    /// Replaces the instruction breakpoints. A breakpoint at the same address keeps its id.
    pub fn replace_instructions(
        &mut self,
        instructions: Vec<InstructionBreakpoint>,
    ) -> Vec<Wanted<InstructionBreakpoint>> {
        let before = std::mem::take(&mut self.instructions);
        let same = |one: &InstructionBreakpoint, other: &InstructionBreakpoint| {
            one.address == other.address
        };
        self.instructions = self.with_ids(instructions, before, same);
        self.instructions.clone()
    }

    /// Replaces the breakpoints on lines (from 1) of a disassembly source, given with their instructions. A breakpoint on the same line keeps
    /// its id. Returns the ids in the same order.
    pub fn replace_listed(
        &mut self,
        reference: i64,
        lines: Vec<(u32, InstructionBreakpoint)>,
    ) -> Vec<i64> {
        let before = self.listed.remove(&reference).unwrap_or_default();
        let lines = self.with_ids(lines, before, |(one, _), (other, _)| one == other);
        let ids = lines.iter().map(|wanted| wanted.id).collect();
        if !lines.is_empty() {
            self.listed.insert(reference, lines);
        }
        ids
    }

    /// The disassembly source and the line in it of the breakpoint with the client's id.
    pub fn listed_at(&self, id: i64) -> Option<(i64, u32)> {
        self.listed.iter().find_map(|(reference, lines)| {
            let wanted = lines.iter().find(|wanted| wanted.id == id)?;
            Some((*reference, wanted.what.0))
        })
    }

    /// The instruction breakpoints, then those on lines of disassembly.
    pub fn instructions(&self) -> Vec<Wanted<InstructionBreakpoint>> {
        let listed = self.listed.values().flatten().map(|wanted| Wanted {
            what: wanted.what.1.clone(),
            id: wanted.id,
        });
        self.instructions.iter().cloned().chain(listed).collect()
    }

    /// Whether a client's id is that of an instruction breakpoint that isn't on a line of disassembly.
    pub fn is_instruction(&self, id: i64) -> bool {
        self.instructions.iter().any(|wanted| wanted.id == id)
    }

    /// Maps the engine's id to the client's.
    pub fn bind(&mut self, engine_id: i64, id: i64) {
        self.from_engine.insert(engine_id, id);
    }

    /// The client's id for the engine's; `None` for a breakpoint that the client doesn't know.
    pub fn known_id(&self, engine_id: i64) -> Option<i64> {
        self.from_engine.get(&engine_id).copied()
    }

    /// The client's id for the engine's, made now if the client has none.
    pub fn client_id(&mut self, engine_id: i64) -> i64 {
        if let Some(id) = self.from_engine.get(&engine_id) {
            return *id;
        }
        let id = self.new_id();
        self.from_engine.insert(engine_id, id);
        id
    }

    /// The source of `file` as the client sent it.
    pub fn source(&self, file: &Path) -> Option<Source> {
        self.files.get(file).map(|wanted| wanted.source.clone())
    }

    /// The source of the line breakpoint with the client's id, as the client sent it.
    pub fn source_of(&self, id: i64) -> Option<Source> {
        let mut files = self.files.values();
        let file = files.find(|file| file.lines.iter().any(|wanted| wanted.id == id))?;
        Some(file.source.clone())
    }

    /// All line breakpoints, by file.
    pub fn lines(&self) -> Vec<(PathBuf, Vec<Wanted<LineBreakpoint>>)> {
        self.files
            .iter()
            .map(|(file, wanted)| (file.clone(), wanted.lines.clone()))
            .collect()
    }

    /// A new id.
    pub fn new_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dapple_engine::session::BreakpointOptions;

    fn lines(lines: &[u32]) -> Vec<LineBreakpoint> {
        let line = |line: &u32| LineBreakpoint {
            line: *line,
            ..LineBreakpoint::default()
        };
        lines.iter().map(line).collect()
    }

    fn names(names: &[&str]) -> Vec<FunctionBreakpoint> {
        let named = |name: &&str| FunctionBreakpoint {
            name: name.to_string(),
            ..FunctionBreakpoint::default()
        };
        names.iter().map(named).collect()
    }

    fn ids<T>(wanted: Vec<Wanted<T>>) -> Vec<i64> {
        wanted.into_iter().map(|wanted| wanted.id).collect()
    }

    #[test]
    fn a_line_that_is_wanted_again_keeps_its_id() {
        let mut table = Breakpoints::default();
        let file = Path::new("/a.c");
        assert_eq!(ids(table.replace(file, "a", lines(&[10, 20]))), [1, 2]);
        assert_eq!(
            ids(table.replace(file, "a", lines(&[20, 30, 10]))),
            [2, 3, 1]
        );
        assert_eq!(ids(table.replace(file, "a", lines(&[30]))), [3]);
        assert_eq!(ids(table.replace(file, "a", lines(&[10, 30]))), [4, 3]);
        let all = table.lines();
        assert_eq!(all.len(), 1);
        let ids: Vec<_> = all[0].1.iter().map(|w| (w.what.line, w.id)).collect();
        assert_eq!(ids, [(10, 4), (30, 3)]);
    }

    #[test]
    fn a_line_keeps_its_id_when_its_condition_becomes_another() {
        let mut table = Breakpoints::default();
        let file = Path::new("/a.c");
        let with = |condition: &str| LineBreakpoint {
            line: 7,
            options: BreakpointOptions {
                condition: Some(condition.into()),
                ..BreakpointOptions::default()
            },
            ..LineBreakpoint::default()
        };
        assert_eq!(
            ids(table.replace(file, "a", vec![with("a"), with("b")])),
            [1, 2]
        );
        assert_eq!(ids(table.replace(file, "a", vec![with("b")])), [2]);
        assert_eq!(ids(table.replace(file, "a", vec![with("c")])), [2]);
    }

    #[test]
    fn the_same_line_twice_has_two_ids() {
        let mut table = Breakpoints::default();
        let file = Path::new("/a.c");
        assert_eq!(ids(table.replace(file, (), lines(&[5, 5]))), [1, 2]);
        assert_eq!(ids(table.replace(file, (), lines(&[5, 5]))), [1, 2]);
    }

    #[test]
    fn a_function_that_is_wanted_again_keeps_its_id() {
        let mut table: Breakpoints<()> = Breakpoints::default();
        assert_eq!(ids(table.replace(Path::new("/a.c"), (), lines(&[5]))), [1]);
        assert_eq!(
            ids(table.replace_functions(names(&["f", "g", "f"]))),
            [2, 3, 4]
        );
        assert_eq!(
            ids(table.replace_functions(names(&["g", "h", "f"]))),
            [3, 5, 2]
        );
        assert!(table.is_function(5) && !table.is_function(4) && !table.is_function(1));
    }

    #[test]
    fn ids_told_before_the_launch_stay_good_after_it() {
        let mut table = Breakpoints::default();
        table.replace(Path::new("/b.c"), "b", lines(&[7]));
        let wanted = table.replace(Path::new("/a.c"), "a", lines(&[1]));
        table.bind(1, wanted[0].id);
        assert_eq!(table.client_id(1), 2);
        assert_eq!((table.known_id(1), table.known_id(9)), (Some(2), None));
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
        table.replace(Path::new("/a.c"), (), lines(&[1]));
        table.replace(Path::new("/a.c"), (), lines(&[]));
        assert!(table.lines().is_empty());
    }
}
