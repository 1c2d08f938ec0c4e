//! What the user asked for, and where that is in the modules loaded now.
//!
//! Each breakpoint remembers what every module said about its line or function. A module that comes is asked once, one that goes
//! is forgotten, and the resolution is always made of all answers together.

use crate::Address;
use crate::breakpoints::function::{self, Absence, Places};
use crate::modules::{LoadedModule, Modules};
use crate::session::{Asked, BreakpointState, FunctionBreakpoint, LineBreakpoint, Resolution};
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::lines::LineLookup;
use dapple_symbols::names::NamePattern;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a breakpoint is set on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Spec {
    Line { file: PathBuf, line: u32 },
    Function { name: String },
    Address(Address),
}

/// What a module said.
#[derive(Debug)]
struct Answer {
    module: u64,
    /// What is found in it isn't looked for in a distribution's libraries.
    is_users: bool,
    /// There may be more once the module has an index.
    incomplete: bool,
    said: Said,
}

impl Answer {
    fn is_found(&self) -> bool {
        matches!(self.said, Said::Found(_) | Said::Functions(_))
    }
}

/// What a module said of a line or a function.
#[derive(Debug)]
enum Said {
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

#[derive(Debug, Clone)]
struct Location {
    address: Address,
    line: u32,
    stop_line: u32,
    column: u32,
}

#[derive(Debug)]
struct Breakpoint {
    id: i64,
    spec: Spec,
    answers: Vec<Answer>,
    /// Why a location could not be armed.
    refused: Option<String>,
    state: Option<BreakpointState>,
}

/// All breakpoints of the user.
#[derive(Debug, Default)]
pub(crate) struct Model {
    list: Vec<Breakpoint>,
    last_id: i64,
}

/// A breakpoint's location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arm {
    pub(crate) address: Address,
    pub(crate) id: i64,
}

impl Model {
    /// Replaces the breakpoints of `file`; gives their ids in the order of `wanted`. A line that was there before keeps
    /// its breakpoint.
    pub(crate) fn set_lines(
        &mut self,
        file: &Path,
        wanted: &[LineBreakpoint],
        modules: &Modules,
    ) -> Vec<i64> {
        let specs: Vec<Spec> = wanted
            .iter()
            .map(|w| Spec::Line {
                file: file.to_owned(),
                line: w.line,
            })
            .collect();
        let here = |spec: &Spec| matches!(spec, Spec::Line { file: f, .. } if f == file);
        self.replace(&specs, here, modules)
    }

    /// Replaces the breakpoints on functions, as [`Model::set_lines`] does those of a file.
    pub(crate) fn set_functions(
        &mut self,
        wanted: &[FunctionBreakpoint],
        modules: &Modules,
    ) -> Vec<i64> {
        let specs: Vec<Spec> = wanted
            .iter()
            .map(|w| Spec::Function {
                name: w.name.clone(),
            })
            .collect();
        self.replace(
            &specs,
            |spec| matches!(spec, Spec::Function { .. }),
            modules,
        )
    }

    /// Replaces the breakpoints on addresses.
    pub(crate) fn set_addresses(&mut self, wanted: &[Address]) -> Vec<i64> {
        let specs: Vec<Spec> = wanted.iter().map(|a| Spec::Address(*a)).collect();
        self.replace(
            &specs,
            |spec| matches!(spec, Spec::Address(_)),
            &Modules::default(),
        )
    }

    fn replace(
        &mut self,
        specs: &[Spec],
        replaced: impl Fn(&Spec) -> bool,
        modules: &Modules,
    ) -> Vec<i64> {
        let (mut old, kept): (Vec<Breakpoint>, Vec<Breakpoint>) = std::mem::take(&mut self.list)
            .into_iter()
            .partition(|b| replaced(&b.spec));
        self.list = kept;
        let mut ids = Vec::new();
        for spec in specs {
            // The same twice in one request is two breakpoints at one place.
            let breakpoint = match old.iter().position(|b| b.spec == *spec) {
                Some(index) => old.swap_remove(index),
                None => {
                    self.last_id += 1;
                    let mut breakpoint = Breakpoint {
                        id: self.last_id,
                        spec: spec.clone(),
                        answers: Vec::new(),
                        refused: None,
                        state: None,
                    };
                    for module in modules.iter() {
                        breakpoint.ask(module);
                    }
                    breakpoint
                }
            };
            ids.push(breakpoint.id);
            self.list.push(breakpoint);
        }
        ids
    }

    /// Asks a module that was just loaded.
    pub(crate) fn module_loaded(&mut self, module: &LoadedModule) {
        for breakpoint in &mut self.list {
            breakpoint.ask(module);
        }
    }

    /// Asks a module again where it had no index to answer by; whether there was something to ask.
    pub(crate) fn complete(&mut self, module: &LoadedModule) -> bool {
        let mut asked = false;
        for breakpoint in &mut self.list {
            let incomplete = |answer: &Answer| answer.incomplete && answer.module == module.id;
            if breakpoint.answers.iter().any(incomplete) {
                breakpoint.answers.retain(|answer| !incomplete(answer));
                breakpoint.ask(module);
                asked = true;
            }
        }
        asked
    }

    /// Whether an index would tell more.
    pub(crate) fn wants_indexes(&self) -> bool {
        let mut answers = self.list.iter().flat_map(|b| &b.answers);
        answers.any(|answer| answer.incomplete)
    }

    /// Forgets what a module said.
    pub(crate) fn module_unloaded(&mut self, module: u64) {
        for breakpoint in &mut self.list {
            breakpoint.answers.retain(|a| a.module != module);
        }
    }

    /// All locations: what is to be armed, and nothing else.
    pub(crate) fn wanted(&self) -> BTreeSet<Arm> {
        let arms = |b: &Breakpoint| {
            let id = b.id;
            b.addresses()
                .into_iter()
                .map(move |address| Arm { address, id })
        };
        self.list.iter().flat_map(arms).collect()
    }

    /// A location could not be armed.
    pub(crate) fn refused(&mut self, id: i64, why: String) {
        if let Some(breakpoint) = self.list.iter_mut().find(|b| b.id == id) {
            breakpoint.refused = Some(why);
        }
    }

    /// How many of the inlined calls at `address` a thread that was stopped there by these breakpoints is still to begin:
    /// who stops in a function wants to see that, and not what its first line calls.
    pub(crate) fn calls_begun(
        &self,
        ids: &[i64],
        address: Address,
        module: &LoadedModule,
    ) -> usize {
        let here = self.list.iter().filter(|b| ids.contains(&b.id));
        let begun = |b: &Breakpoint| match b.spec {
            Spec::Function { .. } => b
                .places()
                .iter()
                .filter_map(|p| p.calls_begun(address, module))
                .min(),
            Spec::Line { .. } | Spec::Address(_) => None,
        };
        here.map(|b| begun(b).unwrap_or(0)).min().unwrap_or(0)
    }

    /// The breakpoints on lines and functions whose state is another than when last asked.
    pub(crate) fn changed(&mut self) -> Vec<BreakpointState> {
        let mut changed = Vec::new();
        for breakpoint in &mut self.list {
            let state = breakpoint.resolve();
            if state != breakpoint.state {
                changed.extend(state.clone());
                breakpoint.state = state;
            }
        }
        changed
    }

    /// The state of a breakpoint on a line or function, as last computed.
    pub(crate) fn state(&self, id: i64) -> Option<BreakpointState> {
        self.list.iter().find(|b| b.id == id)?.state.clone()
    }

    /// Why a breakpoint could not be armed.
    pub(crate) fn refusal(&self, id: i64) -> Option<String> {
        self.list.iter().find(|b| b.id == id)?.refused.clone()
    }
}

impl Breakpoint {
    fn ask(&mut self, module: &LoadedModule) {
        // A distribution's library is not built from the user's files. Asking it nevertheless, when the line or function
        // has been found elsewhere, costs more than starting the program: libc's detached debug information is compressed.
        let foreign = module.is_distributions();
        if foreign && self.answers.iter().any(|a| a.is_users && a.is_found()) {
            return;
        }
        let (said, incomplete) = match &self.spec {
            Spec::Line { file, line } => (ask_line(module, file, *line), false),
            Spec::Function { name } => ask_function(module, name),
            Spec::Address(_) => return,
        };
        self.answers.push(Answer {
            module: module.id,
            is_users: !foreign && !module.is_vdso(),
            incomplete,
            said,
        });
    }

    /// The locations of the best line: the one asked for, else the first after it that any module has.
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

    /// The places of the function.
    fn places(&self) -> Vec<&Places> {
        function::best(self.answers.iter().filter_map(|answer| match &answer.said {
            Said::Functions(places) => Some(places),
            _ => None,
        }))
    }

    /// Each once; of a function's first the one that is told.
    fn addresses(&self) -> Vec<Address> {
        let mut addresses: Vec<Address> = match self.spec {
            Spec::Address(address) => vec![address],
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

    fn resolve(&self) -> Option<BreakpointState> {
        let (asked, position, functions) = match &self.spec {
            Spec::Line { file, line } => {
                let position = self.locations().first().map(|first| SourcePosition {
                    file: file.as_path().into(),
                    line: first.stop_line,
                    column: first.column,
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
            Spec::Address(_) => return None,
        };
        let addresses = self.addresses();
        let resolution = match &self.refused {
            _ if addresses.is_empty() => self.unresolved(),
            Some(why) => Resolution::Failed(why.clone()),
            None => Resolution::Resolved {
                position,
                addresses,
                functions,
            },
        };
        Some(BreakpointState {
            id: self.id,
            asked,
            resolution,
        })
    }

    fn unresolved(&self) -> Resolution {
        match &self.spec {
            Spec::Line { file, line } => self.line_unresolved(file, *line),
            Spec::Function { name } => {
                let pattern = NamePattern::new(name);
                if let Some(problem) = pattern.problem() {
                    return Resolution::Failed(problem);
                }
                let said = self.answers.iter().filter_map(|answer| match &answer.said {
                    Said::NoFunction(absence) => Some(absence),
                    _ => None,
                });
                Resolution::Pending(function::not_found(&pattern.shown(), said))
            }
            Spec::Address(address) => Resolution::Pending(format!("no memory at {address}")),
        }
    }

    fn line_unresolved(&self, file: &Path, line: u32) -> Resolution {
        let name = file.display();
        let mut similar: Vec<String> = Vec::new();
        for answer in &self.answers {
            match &answer.said {
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
                Said::NoFile { similar: more } => {
                    similar.extend(more.iter().map(|p| p.display().to_string()));
                }
                Said::Found(_) | Said::Functions(_) | Said::NoFunction(_) => {}
            }
        }
        similar.sort_unstable();
        similar.dedup();
        similar.truncate(3);
        let hint = if similar.is_empty() {
            String::new()
        } else {
            format!("; there is {}", similar.join(", "))
        };
        Resolution::Pending(format!(
            "no module that is loaded names a source file {name}{hint}"
        ))
    }
}

fn ask_line(module: &LoadedModule, file: &Path, line: u32) -> Said {
    match module.module.lookup_line(file, line) {
        LineLookup::Found(locations) => Said::Found(
            locations
                .into_iter()
                .map(|l| Location {
                    address: module.to_process(l.address),
                    line: l.line,
                    stop_line: l.stop_line,
                    column: l.column,
                })
                .collect(),
        ),
        LineLookup::NoCode { before, after } => Said::NoCode { before, after },
        LineLookup::NoFile { similar } => Said::NoFile { similar },
    }
}

/// What the module says, and whether it may say more once it has an index.
fn ask_function(module: &LoadedModule, name: &str) -> (Said, bool) {
    let pattern = NamePattern::new(name);
    if pattern.problem().is_some() {
        return (Said::NoFunction(Absence::Similar(Vec::new())), false);
    }
    let (found, complete) = module.module.find_functions_soon(&pattern);
    let said = match function::find(module, &pattern, found) {
        Some(places) => Said::Functions(places),
        None => Said::NoFunction(function::absence(module, &pattern)),
    };
    (said, !complete)
}
