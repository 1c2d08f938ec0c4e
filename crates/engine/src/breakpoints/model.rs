//! The breakpoints that the user asked for, and where they are in the modules loaded now.
//!
//! Each breakpoint stores the modules' answers about its line or function. A module is asked when it is loaded or the breakpoint is set,
//! and again once it has an index, if the index may find more. A distribution's library isn't asked if a module of the user's has the line
//! or function. An answer is forgotten when its module is unloaded. The resolution is always made from all answers together.

mod answers;
mod decided;
mod temporaries;

use crate::breakpoints::condition::Here;
use crate::breakpoints::function::{self, Places};
use crate::breakpoints::indirect_function::IndirectFunction;
use crate::breakpoints::options::{Act, BreakpointOptions, Rules};
use crate::breakpoints::passes::Passes;
use crate::breakpoints::refusal::Refusal;
use crate::breakpoints::temporary::Temporary;
use crate::breakpoints::wanted::{
    Asked, BreakpointState, FunctionBreakpoint, InstructionBreakpoint, LineBreakpoint, Resolution,
};
use crate::{Address, Error};
use answers::{Answer, Location, Said, ask_copies, ask_function, ask_line};
use dapple_inspect::modules::{LoadedModule, Modules};
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::names::{NameExpression, NamePattern};
use dapple_symbols::source_copies::Contents;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a breakpoint is set on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Spec {
    Line {
        file: PathBuf,
        line: u32,
        column: Option<u32>,
        /// Whether the breakpoint is set in copies of the file, too.
        copies: bool,
    },
    Function {
        name: String,
    },
    /// An address that was given as a function's name: `*0x401136`.
    Pointed {
        name: String,
        address: Address,
    },
    Address(Address),
}

impl Spec {
    /// The address, if the breakpoint is set on one.
    fn address(&self) -> Option<Address> {
        match self {
            Spec::Address(address) | Spec::Pointed { address, .. } => Some(*address),
            Spec::Line { .. } | Spec::Function { .. } => None,
        }
    }

    /// The file, if the breakpoint is set in copies of it, too.
    fn copied(&self) -> Option<&Path> {
        match self {
            Spec::Line {
                file, copies: true, ..
            } => Some(file),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct Breakpoint {
    id: i64,
    spec: Spec,
    rules: Rules,
    answers: Vec<Answer>,
    /// If the breakpoint is set in copies of its file, too: the contents by which a file is recognized as a copy.
    contents: Contents,
    /// What [`Model::decide`] needs to know of each address, cached when a thread first gets there.
    places: FxHashMap<Address, Place>,
    /// If the breakpoint is set on an address: the source position there.
    position: Option<SourcePosition>,
    /// The locations at which the breakpoint could not be inserted, and why.
    refused: BTreeMap<Address, Refusal>,
    state: Option<BreakpointState>,
    /// `None`: the breakpoint is in one of the client's lists. A temporary one isn't, and is removed when it has stopped a thread.
    temporary: Option<Temporary>,
}

/// Where a thread that a breakpoint stops at an address is shown to be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// How many of the inlined calls at the address count as not entered yet: see [`Model::calls_not_entered`].
    pub(crate) not_entered: usize,
    pub(crate) position: Option<SourcePosition>,
}

/// All breakpoints of the user.
#[derive(Debug, Default)]
pub(crate) struct Model {
    list: Vec<Breakpoint>,
    last_id: i64,
}

/// One location of the breakpoint `id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arm {
    pub(crate) address: Address,
    pub(crate) id: i64,
}

impl Model {
    /// Replaces the breakpoints in `file`; returns the new ones' ids in the order of `wanted`. A breakpoint with the same line, column and
    /// `copies` as one that existed before gets that one's id and hit count.
    pub(crate) fn set_lines(
        &mut self,
        file: &Path,
        wanted: &[LineBreakpoint],
        modules: &Modules,
    ) -> Vec<i64> {
        let spec = |w: &LineBreakpoint| {
            let spec = Spec::Line {
                file: file.to_owned(),
                line: w.line,
                column: w.column,
                copies: w.copies,
            };
            (spec, w.options.clone())
        };
        let here = |spec: &Spec| matches!(spec, Spec::Line { file: f, .. } if f == file);
        self.replace(wanted.iter().map(spec).collect(), here, modules)
    }

    /// Replaces the breakpoints on functions, as [`Model::set_lines`] does those of a file.
    pub(crate) fn set_functions(
        &mut self,
        wanted: &[FunctionBreakpoint],
        modules: &Modules,
    ) -> Vec<i64> {
        let spec = |w: &FunctionBreakpoint| {
            let spec = function_spec(&w.name);
            (spec, w.options.clone())
        };
        let functions = |spec: &Spec| matches!(spec, Spec::Function { .. } | Spec::Pointed { .. });
        self.replace(wanted.iter().map(spec).collect(), functions, modules)
    }

    /// Replaces the breakpoints on addresses, as [`Model::set_lines`] does those of a file.
    pub(crate) fn set_addresses(&mut self, wanted: &[InstructionBreakpoint]) -> Vec<i64> {
        let spec = |w: &InstructionBreakpoint| (Spec::Address(w.address), w.options.clone());
        let addresses = |spec: &Spec| matches!(spec, Spec::Address(_));
        self.replace(
            wanted.iter().map(spec).collect(),
            addresses,
            &Modules::default(),
        )
    }

    fn replace(
        &mut self,
        specs: Vec<(Spec, BreakpointOptions)>,
        replaced: impl Fn(&Spec) -> bool,
        modules: &Modules,
    ) -> Vec<i64> {
        let (mut old, kept): (Vec<Breakpoint>, Vec<Breakpoint>) = std::mem::take(&mut self.list)
            .into_iter()
            .partition(|b| b.temporary.is_none() && replaced(&b.spec));
        self.list = kept;
        let mut ids = Vec::new();
        for (spec, options) in specs {
            // A line may be in a request twice. Then it has two breakpoints, and each goes to the old one with the same options, if any.
            let same = |b: &Breakpoint| b.spec == spec;
            let kept = old
                .iter()
                .position(|b| same(b) && *b.rules.asked() == options)
                .or_else(|| old.iter().position(same));
            let breakpoint = match kept {
                Some(index) => {
                    let mut breakpoint = old.remove(index);
                    breakpoint.rules.replace(options);
                    breakpoint
                }
                None => {
                    self.last_id += 1;
                    Breakpoint::new(self.last_id, spec, options, modules)
                }
            };
            ids.push(breakpoint.id);
            self.list.push(breakpoint);
        }
        ids
    }

    /// An id that no breakpoint has or had.
    pub(crate) fn new_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    /// Asks a module that was just loaded about all breakpoints.
    pub(crate) fn module_loaded(&mut self, module: &LoadedModule) {
        self.forget_places();
        for breakpoint in &mut self.list {
            if let Some(file) = breakpoint.spec.copied() {
                breakpoint.contents.add_compiled(&module.module, file);
            }
            breakpoint.ask(module);
        }
    }

    /// Asks `module` again about the breakpoints for which its answer was incomplete for lack of an index. Returns whether there were any.
    pub(crate) fn complete(&mut self, module: &LoadedModule) -> bool {
        let mut asked = false;
        for breakpoint in &mut self.list {
            let incomplete = |answer: &Answer| answer.incomplete && answer.module == module.id;
            if breakpoint.answers.iter().any(incomplete) {
                breakpoint.forget_places();
                breakpoint.answers.retain(|answer| !incomplete(answer));
                breakpoint.ask(module);
                asked = true;
            }
        }
        asked
    }

    /// Whether an index might make a module's answer more complete.
    pub(crate) fn wants_indexes(&self) -> bool {
        let mut answers = self.list.iter().flat_map(|b| &b.answers);
        answers.any(|answer| answer.incomplete)
    }

    /// Empties the caches of all places.
    fn forget_places(&mut self) {
        self.list.iter_mut().for_each(Breakpoint::forget_places);
    }

    /// Forgets the answers of a module.
    pub(crate) fn module_unloaded(&mut self, module: u64) {
        self.forget_places();
        for breakpoint in &mut self.list {
            breakpoint.answers.retain(|a| a.module != module);
        }
    }

    /// The indirect functions that breakpoints are set on.
    pub(crate) fn indirect_functions(&self) -> Vec<IndirectFunction> {
        let places = self.list.iter().flat_map(Breakpoint::places);
        let mut indirect_functions: Vec<IndirectFunction> = Vec::new();
        for choice in places.flat_map(Places::indirect_functions) {
            if !indirect_functions.contains(choice) {
                indirect_functions.push(choice.clone());
            }
        }
        indirect_functions
    }

    /// Adds the function at `target`, which the IFUNC resolver at `resolver` has returned, to the breakpoints on that indirect function.
    /// Returns whether any of them didn't have it yet.
    pub(crate) fn chosen(&mut self, resolver: Address, target: Address, modules: &Modules) -> bool {
        let answers = self.list.iter_mut().flat_map(|b| &mut b.answers);
        let mut new = false;
        for answer in answers {
            if let Said::Functions(places) = &mut answer.said {
                new |= places.chosen(resolver, target, modules);
            }
        }
        new
    }

    /// All locations at which breakpoints are to be inserted, also those that were refused before. A breakpoint whose options are wrong has
    /// none.
    pub(crate) fn wanted(&mut self, modules: &Modules) -> BTreeSet<Arm> {
        let mut wanted = BTreeSet::new();
        for breakpoint in &mut self.list {
            breakpoint.refused.clear();
            let addresses = breakpoint.addresses();
            if let Some(address) = breakpoint.spec.address() {
                breakpoint.position = position_at(address, modules);
            }
            breakpoint.rules.check(&addresses, modules);
            if breakpoint.rules.problem().is_none() {
                let id = breakpoint.id;
                let temporary = breakpoint.temporary.as_ref();
                let addresses = addresses
                    .into_iter()
                    .chain(temporary.and_then(Temporary::return_to));
                wanted.extend(addresses.map(|address| Arm { address, id }));
            }
        }
        wanted
    }

    /// Stores why the breakpoint could not be inserted at a location.
    pub(crate) fn refused(&mut self, arm: Arm, refusal: Refusal) {
        if let Some(breakpoint) = self.list.iter_mut().find(|b| b.id == arm.id) {
            breakpoint.refused.insert(arm.address, refusal);
        }
    }

    /// Whether there are locations at which no breakpoint could be inserted. Inserting may have become possible since.
    pub(crate) fn has_refusals(&self) -> bool {
        self.list.iter().any(|b| !b.refused.is_empty())
    }

    /// Whether a breakpoint is on an address that the user has given. Anything may be there, not only the beginning of an instruction.
    pub(crate) fn is_on_address(&self, id: i64) -> bool {
        let breakpoint = self.list.iter().find(|b| b.id == id);
        breakpoint.is_some_and(|b| b.spec.address().is_some())
    }

    /// The addresses that the user has given.
    pub(crate) fn given_addresses(&self) -> impl Iterator<Item = Address> {
        self.list.iter().filter_map(|b| b.spec.address())
    }

    /// Decides what a breakpoint does with a thread that has reached it at `address`. `here` describes the thread, given the place. `holds`
    /// is the condition's value, if an inferior call has found it already. Also returns the place, if the decision needed it.
    pub(crate) fn decide<'a>(
        &mut self,
        id: i64,
        address: Address,
        modules: &Modules,
        here: impl FnOnce(&Place) -> Here<'a>,
        holds: Option<Result<bool, Error>>,
        passes: Option<&Passes>,
    ) -> (Act, Option<Place>) {
        let Some(breakpoint) = self.list.iter_mut().find(|b| b.id == id) else {
            return (Act::GoOn, None);
        };
        if breakpoint.rules.look_at_nothing() {
            return (breakpoint.rules.count_hit(passes), None);
        }
        let place = breakpoint.known_place(address, modules);
        let act = breakpoint.rules.decide(&here(&place), holds, passes);
        (act, Some(place))
    }

    /// The rules of a breakpoint whose options call functions of the program, and its place at `address`. `None`: the breakpoint is gone.
    pub(crate) fn calling(&mut self, id: i64, address: Address) -> Option<(&mut Rules, Place)> {
        let breakpoint = self.list.iter_mut().find(|b| b.id == id)?;
        let place = breakpoint.places.get(&address).cloned();
        Some((&mut breakpoint.rules, place.unwrap_or_default()))
    }

    /// How many of the inlined calls at `address` count as not entered by a thread that these breakpoints have stopped there. For example, a
    /// stop at a function's breakpoint shows that function, and not one inlined into its first line. The fewest, if the breakpoints differ.
    pub(crate) fn calls_not_entered(
        &self,
        ids: &[i64],
        address: Address,
        module: &LoadedModule,
    ) -> usize {
        let here = self.list.iter().filter(|b| ids.contains(&b.id));
        here.map(|b| b.calls_not_entered(address, module))
            .min()
            .unwrap_or(0)
    }

    /// The stop line of the first of these breakpoints that is set on a line and has a location at `address`.
    pub(crate) fn line_at(&self, ids: &[i64], address: Address) -> Option<SourcePosition> {
        let here = self.list.iter().filter(|b| ids.contains(&b.id));
        let mut locations = here.flat_map(Breakpoint::locations);
        let location = locations.find(|location| location.address == address)?;
        Some(SourcePosition {
            file: location.file.clone(),
            line: location.stop_line,
            column: location.column,
        })
    }

    /// The breakpoints whose state has changed since the last call.
    pub(crate) fn changed(&mut self) -> Vec<BreakpointState> {
        let mut changed = Vec::new();
        for breakpoint in &mut self.list {
            let state = breakpoint.resolve();
            if Some(&state) != breakpoint.state.as_ref() {
                // Changes of a temporary breakpoint are not reported: its state is in the answer to the request that sets it.
                if breakpoint.temporary.is_none() {
                    changed.push(state.clone());
                }
                breakpoint.state = Some(state);
            }
        }
        changed
    }

    /// The state of a breakpoint, as last computed.
    pub(crate) fn state(&self, id: i64) -> Option<BreakpointState> {
        self.list.iter().find(|b| b.id == id)?.state.clone()
    }
}

impl Breakpoint {
    fn new(id: i64, spec: Spec, options: BreakpointOptions, modules: &Modules) -> Breakpoint {
        let mut breakpoint = Breakpoint {
            id,
            spec,
            rules: Rules::new(options),
            answers: Vec::new(),
            contents: Contents::default(),
            places: FxHashMap::default(),
            position: None,
            refused: BTreeMap::new(),
            state: None,
            temporary: None,
        };
        if let Some(file) = breakpoint.spec.copied() {
            breakpoint.contents = Contents::of_file(file);
            for module in modules.iter() {
                breakpoint.contents.add_compiled(&module.module, file);
            }
        }
        for module in modules.iter() {
            breakpoint.ask(module);
        }
        breakpoint
    }

    fn forget_places(&mut self) {
        self.places.clear();
        self.rules.forget();
    }

    fn calls_not_entered(&self, address: Address, module: &LoadedModule) -> usize {
        let begun = match self.spec {
            Spec::Function { .. } => self
                .places()
                .iter()
                .filter_map(|p| p.calls_not_entered(address, module))
                .min(),
            Spec::Line { .. } => {
                let locations = self.locations().into_iter();
                let calls = module.module.inlined_at(module.to_file(address)).len();
                let around = locations.filter(|l| l.address == address);
                around.map(|l| calls.saturating_sub(l.calls_around)).min()
            }
            Spec::Address(_) | Spec::Pointed { .. } => None,
        };
        begun.unwrap_or(0)
    }

    /// The place at `address`, found when it is first asked for.
    fn known_place(&mut self, address: Address, modules: &Modules) -> Place {
        if let Some(place) = self.places.get(&address) {
            return place.clone();
        }
        let place = self.place(address, modules);
        self.places.insert(address, place.clone());
        place
    }

    fn place(&self, address: Address, modules: &Modules) -> Place {
        let module = modules.at(address);
        Place {
            not_entered: module.map_or(0, |module| self.calls_not_entered(address, module)),
            position: position_at(address, modules),
        }
    }

    fn ask(&mut self, module: &LoadedModule) {
        // A distribution's library is not built from the user's files. Asking it nevertheless, when the line or function
        // has been found elsewhere, costs more than starting the program: libc's detached debug information is compressed.
        let foreign = module.is_distributions();
        if foreign && self.answers.iter().any(|a| a.is_users && a.is_found()) {
            return;
        }
        let (said, incomplete) = match &self.spec {
            Spec::Line {
                file,
                line,
                column,
                copies,
            } => {
                let said = match copies {
                    true => ask_copies(module, file, &self.contents, *line, *column),
                    false => ask_line(module, file, *line, *column),
                };
                (said, false)
            }
            Spec::Function { name } => ask_function(module, name),
            Spec::Address(_) | Spec::Pointed { .. } => return,
        };
        self.answers.push(Answer {
            module: module.id,
            is_users: !foreign && !module.is_vdso(),
            incomplete,
            said,
        });
    }

    /// A line breakpoint's locations on the best line: the line asked for if any module has code of it, else the next that any module has.
    fn locations(&self) -> Vec<&Location> {
        let all = || {
            self.answers.iter().flat_map(|answer| match &answer.said {
                Said::Found(locations) => locations.as_slice(),
                _ => &[],
            })
        };
        let best = all().map(|l| l.line).min();
        all().filter(|l| Some(l.line) == best).collect()
    }

    /// The remark that libraries have more functions of the name, or that the regular expression matches more functions than one breakpoint
    /// takes.
    fn others(&self) -> Option<String> {
        let Spec::Function { name } = &self.spec else {
            return None;
        };
        function::remark(name, &self.places())
    }

    /// The places of the function, in the modules that fit its name best.
    fn places(&self) -> Vec<&Places> {
        function::best(self.answers.iter().filter_map(|answer| match &answer.said {
            Said::Functions(places) => Some(places),
            _ => None,
        }))
    }

    /// The breakpoint's own addresses, each once, also those that were refused. For a function, the reported position is that of the first.
    fn addresses(&self) -> Vec<Address> {
        let mut addresses: Vec<Address> = match self.spec {
            Spec::Address(address) | Spec::Pointed { address, .. } => vec![address],
            Spec::Line { .. } => {
                let locations = self.locations().into_iter();
                let sorted: BTreeSet<Address> = locations.map(|l| l.address).collect();
                sorted.into_iter().collect()
            }
            Spec::Function { .. } => {
                let places = self.places().into_iter();
                places.flat_map(|p| p.addresses()).collect()
            }
        };
        let mut seen = FxHashSet::default();
        addresses.retain(|address| seen.insert(*address));
        addresses
    }

    fn resolve(&self) -> BreakpointState {
        let (asked, position, functions) = match &self.spec {
            Spec::Line { file, line, .. } => {
                // A lambda's opening line also has a location in the function around the lambda. Prefer a location that stops on the line.
                let locations = self.locations();
                let there = locations.iter().find(|place| place.stop_line == *line);
                let position = there.or(locations.first()).map(|place| SourcePosition {
                    file: file.as_path().into(),
                    line: place.stop_line,
                    column: place.column,
                });
                let asked = Asked::Line {
                    file: file.clone(),
                    line: *line,
                };
                (asked, position, Vec::new())
            }
            Spec::Function { name } => {
                let places = self.places();
                let position = places.first().and_then(|p| p.position()).cloned();
                let names = places.iter().flat_map(|p| p.names()).cloned();
                let asked = Asked::Function { name: name.clone() };
                (asked, position, names.collect())
            }
            Spec::Pointed { name, .. } => {
                let asked = Asked::Function { name: name.clone() };
                (asked, self.position.clone(), Vec::new())
            }
            Spec::Address(address) => (Asked::Address(*address), self.position.clone(), Vec::new()),
        };
        let mut addresses = self.addresses();
        let all = addresses.len();
        addresses.retain(|address| !self.refused.contains_key(address));
        let resolution = if let Some(problem) = self.rules.problem() {
            Resolution::Failed(problem.to_owned())
        } else if all == 0 {
            self.unresolved()
        } else if let (true, Some(refusal)) = (addresses.is_empty(), self.refused.values().next()) {
            refusal.resolution()
        } else {
            Resolution::Resolved {
                position,
                remark: self
                    .moved()
                    .or_else(|| self.partly(all))
                    .or_else(|| self.others())
                    .or_else(|| self.copies()),
                addresses,
                functions,
            }
        };
        BreakpointState {
            id: self.id,
            asked,
            similar: match resolution {
                Resolution::Pending(_) => self.similar_files(),
                Resolution::Resolved { .. } | Resolution::Failed(_) => Vec::new(),
            },
            resolution,
        }
    }

    fn partly(&self, all: usize) -> Option<String> {
        let refusal = self.refused.values().next()?;
        let refused = self.refused.len();
        Some(format!(
            "in {} of {all} places: {refusal}",
            all - refused.min(all)
        ))
    }

    /// The remark that says in which copies of its file the breakpoint is, too.
    fn copies(&self) -> Option<String> {
        /// How many copies are named; further ones are only counted.
        const LIMIT: usize = 3;
        let own = self.spec.copied()?;
        let locations = self.locations();
        let copies = locations.iter().filter(|l| *l.file != *own);
        let copies: BTreeSet<&Path> = copies.map(|l| &*l.file).collect();
        let names: Vec<String> = (copies.iter().take(LIMIT))
            .map(|copy| copy.display().to_string())
            .collect();
        let more = match copies.len().saturating_sub(LIMIT) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!names.is_empty())
            .then(|| format!("also in copies of the file: {}{more}", names.join(", ")))
    }

    fn moved(&self) -> Option<String> {
        let Spec::Line { line, .. } = self.spec else {
            return None;
        };
        let locations = self.locations();
        let first = locations.first()?;
        // Some locations may stop on another line: the line of a lambda has one inside the lambda and one where its object is made.
        if locations.iter().any(|location| location.stop_line == line) {
            return None;
        }
        let stop = first.stop_line;
        let (what, why) = match first.line == line {
            true => ("a function begins", "where its arguments are in place"),
            // The next function begins after the line, but its member initializers, where it stops, are written before the line.
            false if stop < line => ("no code", "where the next function has its arguments"),
            false => ("no code", "the next one with code"),
        };
        Some(format!(
            "{what} on line {line}; moved to line {stop}, {why}"
        ))
    }

    fn unresolved(&self) -> Resolution {
        match &self.spec {
            Spec::Line { file, line, .. } => self.line_unresolved(file, *line),
            Spec::Function { name } => {
                match NameExpression::read(name) {
                    Some(Ok(expression)) => return function::matches_nothing(&expression),
                    Some(Err(problem)) => return Resolution::Failed(problem),
                    None => {}
                }
                let pattern = NamePattern::new(name);
                if let Some(problem) = function::no_name(name).or_else(|| pattern.problem()) {
                    return Resolution::Failed(problem);
                }
                if !self.places().is_empty() {
                    return Resolution::Pending(format!(
                        "the program has yet to choose which code {} is (an indirect function)",
                        pattern.shown()
                    ));
                }
                let said = self.answers.iter().filter_map(|answer| match &answer.said {
                    Said::NoFunction(absence) => Some(absence),
                    _ => None,
                });
                Resolution::Pending(function::not_found(&pattern.shown(), said))
            }
            Spec::Address(address) | Spec::Pointed { address, .. } => {
                Refusal::no_memory(*address).resolution()
            }
        }
    }

    /// Modules' source files that the user may have meant, at most a few; those with the file name asked for come first.
    fn similar_files(&self) -> Vec<PathBuf> {
        /// How many files are named at most.
        const LIMIT: usize = 3;
        let Spec::Line { file, .. } = &self.spec else {
            return Vec::new();
        };
        let said = self.answers.iter().filter_map(|answer| match &answer.said {
            Said::NoFile { similar } => Some(similar),
            _ => None,
        });
        let mut similar: Vec<PathBuf> = said.flatten().cloned().collect();
        similar.sort_by_cached_key(|other| (other.file_name() != file.file_name(), other.clone()));
        similar.dedup();
        similar.truncate(LIMIT);
        similar
    }

    fn line_unresolved(&self, file: &Path, line: u32) -> Resolution {
        let name = file.display();
        for answer in &self.answers {
            match &answer.said {
                Said::NoCode { .. } if line == 0 => {
                    return Resolution::Failed("lines are counted from 1".to_owned());
                }
                Said::NoCode { before, after } => {
                    let near = match (before, after) {
                        (Some(b), Some(a)) => {
                            format!("; the nearest lines with code are {b} and {a}")
                        }
                        (Some(near), None) | (None, Some(near)) => {
                            format!("; the nearest line with code is {near}")
                        }
                        (None, None) => String::new(),
                    };
                    return Resolution::Failed(format!("no code on line {line} of {name}{near}"));
                }
                Said::NoFile { .. } | Said::Found(_) | Said::Functions(_) | Said::NoFunction(_) => {
                }
            }
        }
        let similar = self.similar_files();
        let similar: Vec<String> = similar.iter().map(|p| p.display().to_string()).collect();
        let hint = match similar.is_empty() {
            true => String::new(),
            false => format!("; there is {}", similar.join(", ")),
        };
        Resolution::Pending(format!(
            "no module that is loaded names a source file {name}{hint}"
        ))
    }
}

fn function_spec(name: &str) -> Spec {
    let named = name.to_owned();
    match pointed(name) {
        Some(address) => Spec::Pointed {
            name: named,
            address,
        },
        None => Spec::Function { name: named },
    }
}

/// The address in a function's name of the form `*0x401136`. `None`: the name has another form.
fn pointed(name: &str) -> Option<Address> {
    Address::parse(name.trim().strip_prefix('*')?)
}

fn position_at(address: Address, modules: &Modules) -> Option<SourcePosition> {
    let module = modules.at(address)?;
    let row = module.module.row_at(module.to_file(address))?;
    (row.line != 0).then_some(SourcePosition {
        file: row.file,
        line: row.line,
        column: row.column,
    })
}
