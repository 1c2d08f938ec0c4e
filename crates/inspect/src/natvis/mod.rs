//! How the user's own types are shown: Natvis files, which say it by expressions.
//!
//! `parse` reads a file into a `model`, `patterns` tell which types an entry is for, and `present` and `expand` make a view of a value by its
//! entry: a line and children, as the project's own views are. Expressions are evaluated inside the value (`eval::scope`).
//! A file comes from anywhere: what is wrong in it is told with its line, and how much its expressions may cost is bounded.

use crate::eval::scope::Outside;
use crate::modules::LoadedModule;
use crate::natvis::problem::PresentationProblem;
use dapple_symbols::types::TypeId;
use model::{Place, TypeEntry};
use present::Candidate;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod code;
mod custom;
mod embedded;
mod evaluate;
mod expand;
mod model;
mod nodes;
mod parse;
mod patterns;
mod present;
pub mod problem;

pub(crate) use evaluate::{Wanted, wanted_view};
pub(crate) use expand::{Elements, Parts};
pub(crate) use present::{Presented, pointer_in, view};

/// Expressions that are evaluated for one request.
const MOST_WORK: u64 = 1_000_000;
/// And for one of its values, so that something is left for the others.
const MOST_SHARE: u64 = 400_000;
/// Different problems told.
const MOST_PROBLEMS: usize = 100;

/// The user's own presentation of types.
#[derive(Debug, Default)]
pub struct Presentation {
    has_entries: AtomicBool,
    /// Whether a plain pointer shows what it points to.
    has_pointees: AtomicBool,
    state: Mutex<State>,
    /// What expressions name that is no member.
    outside: Outside,
    /// Expressions that may still be evaluated.
    left: AtomicU64,
    /// And for the value that is being looked at.
    share: AtomicU64,
}

/// An entry for a type: the entry's address, the module's id, the type.
type Use = (usize, u64, TypeId);

#[derive(Debug, Default)]
struct State {
    /// The entries of each file, those of one that was asked for first coming first.
    files: Vec<(PathBuf, Vec<Arc<TypeEntry>>)>,
    /// The set of modules that the rest was found in.
    version: u64,
    candidates: FxHashMap<(u64, TypeId), Arc<[Candidate]>>,
    /// Whether an entry can be used for a type.
    usable: FxHashMap<Use, bool>,
    /// Modules whose crates were asked for files of their own.
    asked: FxHashSet<u64>,
    problems: Vec<PresentationProblem>,
    told: FxHashSet<PresentationProblem>,
}

impl Presentation {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there are no entries at all.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_entries.load(Ordering::Relaxed)
    }

    /// Whether plain pointers show what they point to.
    pub(crate) fn has_pointees(&self) -> bool {
        self.has_pointees.load(Ordering::Relaxed)
    }

    /// Shows what plain pointers point to, or only their addresses.
    pub fn show_pointees(&self, shown: bool) {
        self.has_pointees.store(shown, Ordering::Relaxed);
    }

    /// Uses these files, in this order, in place of those before. What is wrong with them is told ([`Presentation::take_problems`]).
    pub fn load(&self, files: &[PathBuf]) {
        let mut state = self.state();
        *state = State::default();
        for file in files {
            state.add(file);
        }
        self.changed(&state);
    }

    /// Uses the files that the crates of a module name, behind those that were given. Once: that takes a look at all of its units.
    fn ask(&self, module: &LoadedModule) {
        if !self.state().asked.insert(module.id) {
            return;
        }
        let roots = embedded::roots(module);
        let named = roots.iter().map(|root| (root, embedded::named_in(root)));
        for (root, named) in named {
            let mut state = self.state();
            if named.natvis.is_empty() {
                for script in &named.scripts {
                    let (root, script) = (root.display(), script.display());
                    state.tell(PresentationProblem::Inside(format!(
                        "{root}: the script {script} shows types in gdb only; a `natvis_file` would here"
                    )));
                }
                continue;
            }
            for file in &named.natvis {
                state.add(file);
            }
            state.candidates.clear();
            state.usable.clear();
            self.changed(&state);
        }
    }

    fn changed(&self, state: &State) {
        let has_entries = state.files.iter().any(|(_, types)| !types.is_empty());
        self.has_entries.store(has_entries, Ordering::Relaxed);
        self.outside.forget();
    }

    /// What is to be told, each once.
    pub fn take_problems(&self) -> Vec<PresentationProblem> {
        std::mem::take(&mut self.state().problems)
    }

    /// Tells what is wrong with a place in a file.
    fn tell(&self, place: &Place, what: &str) {
        let problem = PresentationProblem::Inside(format!("{place}: {what}"));
        self.state().tell(problem);
    }

    /// A request begins.
    pub fn begin(&self) {
        self.left.store(MOST_WORK, Ordering::Relaxed);
        self.share.store(MOST_SHARE, Ordering::Relaxed);
    }

    /// The next value of a request begins.
    pub(crate) fn begin_value(&self) {
        self.share.store(MOST_SHARE, Ordering::Relaxed);
    }

    /// Whether one more expression may be evaluated.
    fn may_work(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        let take = |of: &AtomicU64| {
            let left = of.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            left.is_ok()
        };
        take(&self.share) && take(&self.left)
    }

    /// The entries for a type of a module, found in the set of modules of a version.
    fn candidates(
        &self,
        version: u64,
        module: &Arc<LoadedModule>,
        id: TypeId,
        find: impl FnOnce(&[Arc<TypeEntry>]) -> Arc<[Candidate]>,
    ) -> Arc<[Candidate]> {
        let mut state = self.state();
        if state.version != version {
            state.version = version;
            state.candidates.clear();
            state.usable.clear();
            self.outside.forget();
        }
        if let Some(known) = state.candidates.get(&(module.id, id)) {
            return Arc::clone(known);
        }
        let all: Vec<Arc<TypeEntry>> = state
            .files
            .iter()
            .flat_map(|(_, all)| all)
            .cloned()
            .collect();
        drop(state);
        let found = find(&all);
        let mut state = self.state();
        state.candidates.insert((module.id, id), Arc::clone(&found));
        found
    }

    fn is_usable(&self, used: Use) -> Option<bool> {
        self.state().usable.get(&used).copied()
    }

    fn set_usable(&self, used: Use, usable: bool) {
        self.state().usable.insert(used, usable);
    }
}

impl State {
    fn tell(&mut self, problem: PresentationProblem) {
        if self.told.len() < MOST_PROBLEMS && self.told.insert(problem.clone()) {
            self.problems.push(problem);
        }
    }

    fn add(&mut self, path: &Path) {
        if self.files.iter().any(|(known, _)| known == path) {
            return;
        }
        match text_of(path) {
            Ok(text) => {
                let file = parse::parse(&text, path);
                for problem in file.problems {
                    self.tell(PresentationProblem::Inside(problem));
                }
                let types = file.types.into_iter().map(Arc::new).collect();
                self.files.push((path.to_owned(), types));
            }
            Err(reason) => self.tell(PresentationProblem::Unreadable {
                file: path.to_owned(),
                reason,
            }),
        }
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    // What is a pipe would be waited for.
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let mut file = file.take(parse::MAX_FILE + 1);
    file.read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > parse::MAX_FILE {
        return Err(format!("it is larger than {} MiB", parse::MAX_FILE >> 20));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        format!("line {} is no UTF-8", line + 1)
    })
}
