//! What the user asked for, and where that is in the modules loaded now.
//!
//! Each breakpoint remembers what every module said about its line. A module that comes is asked once, one that goes
//! is forgotten, and the resolution is always made of all answers together.

use crate::Address;
use crate::modules::{LoadedModule, Modules};
use crate::session::{BreakpointState, LineBreakpoint, Resolution};
use dapple_symbols::lines::LineLookup;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a breakpoint is set on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Spec {
    Line { file: PathBuf, line: u32 },
    Address(Address),
}

/// What a module said of a line.
#[derive(Debug)]
enum Answer {
    Found(Vec<Location>),
    NoCode {
        before: Option<u32>,
        after: Option<u32>,
    },
    NoFile {
        similar: Vec<PathBuf>,
    },
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
    answers: Vec<(u64, Answer)>,
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

/// A breakpoint's location to arm or disarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arm {
    pub(crate) address: Address,
    pub(crate) id: i64,
}

impl Model {
    /// Replaces the breakpoints of `file`; gives their ids in the order of `wanted`, and what is to be disarmed.
    /// A line that was there before keeps its breakpoint.
    pub(crate) fn set_lines(
        &mut self,
        file: &Path,
        wanted: &[LineBreakpoint],
        modules: &Modules,
    ) -> (Vec<i64>, Vec<Arm>) {
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

    /// Replaces the breakpoints on addresses.
    pub(crate) fn set_addresses(&mut self, wanted: &[Address]) -> (Vec<i64>, Vec<Arm>) {
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
    ) -> (Vec<i64>, Vec<Arm>) {
        let (old, kept) = std::mem::take(&mut self.list)
            .into_iter()
            .partition(|b| replaced(&b.spec));
        self.list = kept;
        let mut old: Vec<Breakpoint> = old;
        let mut ids = Vec::new();
        for spec in specs {
            // The same line twice in one request is two breakpoints at one place.
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
        let mut disarm: Vec<Arm> = Vec::new();
        for breakpoint in old {
            let id = breakpoint.id;
            disarm.extend(
                breakpoint
                    .addresses()
                    .into_iter()
                    .map(|address| Arm { address, id }),
            );
        }
        (ids, disarm)
    }

    /// Asks a module that was just loaded.
    pub(crate) fn module_loaded(&mut self, module: &LoadedModule) {
        for breakpoint in &mut self.list {
            breakpoint.ask(module);
        }
    }

    /// Forgets what a module said.
    pub(crate) fn module_unloaded(&mut self, module: u64) {
        for breakpoint in &mut self.list {
            breakpoint.answers.retain(|(id, _)| *id != module);
        }
    }

    /// All locations, for arming.
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

    /// The line breakpoints whose state is another than when last asked.
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

    /// The state of a line breakpoint, as last computed.
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
        let Spec::Line { file, line } = &self.spec else {
            return;
        };
        // A distribution's library is not built from the user's files. Asking it nevertheless, when the line has been
        // found, costs more than starting the program: libc's detached debug information is compressed.
        if module.module.has_detached_debug_info() && !self.locations().is_empty() {
            return;
        }
        let answer = match module.module.lookup_line(file, *line) {
            LineLookup::Found(locations) => Answer::Found(
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
            LineLookup::NoCode { before, after } => Answer::NoCode { before, after },
            LineLookup::NoFile { similar } => Answer::NoFile { similar },
        };
        self.answers.push((module.id, answer));
    }

    /// The locations of the best line: the one asked for, else the first after it that any module has.
    fn locations(&self) -> Vec<&Location> {
        let all = || {
            self.answers.iter().flat_map(|(_, answer)| match answer {
                Answer::Found(locations) => locations.as_slice(),
                Answer::NoCode { .. } | Answer::NoFile { .. } => &[],
            })
        };
        let best = all().map(|l| l.line).min();
        all().filter(|l| Some(l.line) == best).collect()
    }

    fn addresses(&self) -> Vec<Address> {
        match self.spec {
            Spec::Address(address) => vec![address],
            Spec::Line { .. } => {
                let mut addresses: Vec<Address> =
                    self.locations().iter().map(|l| l.address).collect();
                addresses.sort_unstable();
                addresses.dedup();
                addresses
            }
        }
    }

    fn resolve(&self) -> Option<BreakpointState> {
        let Spec::Line { file, line } = &self.spec else {
            return None;
        };
        let resolution = match (self.locations().first(), &self.refused) {
            (Some(_), Some(why)) => Resolution::Failed(why.clone()),
            (Some(first), None) => Resolution::Resolved {
                line: first.stop_line,
                column: first.column,
                addresses: self.addresses(),
            },
            (None, _) => self.unresolved(file, *line),
        };
        Some(BreakpointState {
            id: self.id,
            file: file.clone(),
            requested_line: *line,
            resolution,
        })
    }

    fn unresolved(&self, file: &Path, line: u32) -> Resolution {
        let name = file.display();
        let mut similar: Vec<String> = Vec::new();
        for (_, answer) in &self.answers {
            match answer {
                Answer::NoCode { before, after } => {
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
                Answer::NoFile { similar: more } => {
                    similar.extend(more.iter().map(|p| p.display().to_string()));
                }
                Answer::Found(_) => {}
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
