//! How the user's own types are shown, according to Natvis files.
//!
//! `parse` reads a file into a `model`. `patterns` decides which types an entry applies to. `present` and `expand` make the view of a
//! value from its entry: a line of text and children, like the built-in views. Expressions are evaluated inside the value (`eval::scope`).
//! Files are untrusted: errors are reported with their line, and the cost of expressions is limited.

use crate::eval::scope::Outside;
use crate::modules::LoadedModule;
use crate::natvis::problem::PresentationProblem;
use builtin::Package;
use dapple_symbols::types::TypeId;
use model::{Place, TypeEntry, Version};
use present::Candidate;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod builtin;
mod code;
mod custom;
mod embedded;
mod evaluate;
mod expand;
mod model;
mod nodes;
mod numbers;
mod parse;
mod patterns;
mod present;
pub mod problem;

pub(crate) use evaluate::{Wanted, wanted_view};
pub(crate) use expand::{Elements, Parts};
pub(crate) use present::{Presented, pointer_in, view};

/// The most expressions evaluated for one request.
const MOST_WORK: u64 = 1_000_000;
/// The most expressions evaluated for one value of a request. It is less than [`MOST_WORK`], so that some are left for other values.
const MOST_SHARE: u64 = 400_000;
/// The most different problems reported.
const MOST_PROBLEMS: usize = 100;

/// The user's own presentation of types.
#[derive(Debug, Default)]
pub struct Presentation {
    has_entries: AtomicBool,
    /// Whether a plain pointer is shown as its target.
    has_pointees: AtomicBool,
    state: Mutex<State>,
    /// Cached results for names in expressions that aren't members.
    outside: Outside,
    /// The number of expressions that may still be evaluated for the request.
    left: AtomicU64,
    /// The same for the current value.
    share: AtomicU64,
}

/// An entry used for a type: the entry's address, the module's id, the type.
type Use = (usize, u64, TypeId);

#[derive(Debug, Default)]
struct State {
    /// The entries of each file, in order of precedence.
    files: Vec<(PathBuf, Vec<Arc<TypeEntry>>)>,
    /// The version of the set of modules that `candidates` and `usable` were computed for.
    version: u64,
    /// The entries for a type, by the ids of the type's module and of the type.
    candidates: FxHashMap<(u64, TypeId), Arc<[Candidate]>>,
    /// Whether an entry can be used for a type: whether the type has all names that the entry uses.
    usable: FxHashMap<Use, bool>,
    /// The entries that Dapple brings along, by their packages. Parsed when they are needed.
    builtin: FxHashMap<Package, Arc<[Arc<TypeEntry>]>>,
    /// The versions of crates, by the module's id and the crate's name in paths, as far as the path of the crate's sources says them.
    versions: FxHashMap<(u64, String), Version>,
    /// Modules whose crates were already searched for Natvis files.
    asked: FxHashSet<u64>,
    problems: Vec<PresentationProblem>,
    told: FxHashSet<PresentationProblem>,
    /// Files whose problems aren't told: those of crates that Dapple can show without them.
    quiet: FxHashSet<PathBuf>,
    /// Packages whose types aren't as the description has them.
    unknown_packages: FxHashSet<Package>,
}

impl Presentation {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_entries.load(Ordering::Relaxed)
    }

    /// Whether plain pointers are shown as their targets.
    pub(crate) fn has_pointees(&self) -> bool {
        self.has_pointees.load(Ordering::Relaxed)
    }

    /// Sets whether plain pointers are shown as their targets, or only as addresses.
    pub fn show_pointees(&self, shown: bool) {
        self.has_pointees.store(shown, Ordering::Relaxed);
    }

    /// Replaces the files, in order of precedence. [`Presentation::take_problems`] returns what is wrong with them.
    pub fn load(&self, files: &[PathBuf]) {
        let mut state = self.state();
        *state = State::default();
        for file in files {
            state.add(file);
        }
        self.changed(&state);
    }

    /// Adds the files that a module's crates name, after those given to `load`. Done once for each module, because it looks at all of its
    /// units.
    fn load_embedded(&self, module: &LoadedModule) {
        if !self.state().asked.insert(module.id) {
            return;
        }
        let roots = embedded::roots(module);
        for (root, name) in &roots {
            if let Some(version) = embedded::version_in(root) {
                let mut state = self.state();
                state.versions.insert((module.id, name.clone()), version);
            }
            let mut named = embedded::named_in(root);
            if builtin::has_file(name) {
                // Packages may lack the files that they name, and their scripts aren't needed.
                named.natvis.retain(|file| file.is_file());
                self.state().quiet.extend(named.natvis.iter().cloned());
                named.scripts.clear();
            }
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

    /// The problems that haven't been reported yet. Each is reported once.
    pub fn take_problems(&self) -> Vec<PresentationProblem> {
        std::mem::take(&mut self.state().problems)
    }

    /// Records a problem at a place in a file.
    fn tell(&self, place: &Place, what: &str) {
        let problem = PresentationProblem::Inside(format!("{place}: {what}"));
        let mut state = self.state();
        if !state.quiet.contains(&*place.file) {
            state.tell(problem);
        }
    }

    /// Begins a request: resets the limits.
    pub fn begin(&self) {
        self.left.store(MOST_WORK, Ordering::Relaxed);
        self.share.store(MOST_SHARE, Ordering::Relaxed);
    }

    /// Begins the next value of a request: resets its limit.
    pub(crate) fn begin_value(&self) {
        self.share.store(MOST_SHARE, Ordering::Relaxed);
    }

    /// Counts one more expression. Returns whether it may be evaluated.
    fn may_work(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        let take = |of: &AtomicU64| {
            let left = of.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            left.is_ok()
        };
        take(&self.share) && take(&self.left)
    }

    /// Records that a package's types don't have the members that the description of the package names.
    fn tell_unknown_version(&self, package: Package, place: &Place, what: &str) {
        let mut state = self.state();
        if state.unknown_packages.insert(package) {
            state.tell(PresentationProblem::UnknownVersion {
                package,
                what: format!("{place}: {what}"),
            });
        }
    }

    /// Whether an entry is for the version of a crate that a module has. If the version is not known, only entries for all versions are.
    fn is_for_version(&self, entry: &TypeEntry, module: u64, package: Package) -> bool {
        let (first, end) = entry.versions;
        if (first, end) == (None, None) {
            return true;
        }
        let Package::Crate(name) = package else {
            return false;
        };
        let state = self.state();
        let version = state.versions.get(&(module, name.to_owned()));
        version.is_some_and(|version| {
            first.is_none_or(|first| first <= *version) && end.is_none_or(|end| *version < end)
        })
    }

    /// The entries that Dapple brings along for a package.
    fn builtin(&self, package: Package) -> Arc<[Arc<TypeEntry>]> {
        let mut state = self.state();
        let entries = state.builtin.entry(package);
        Arc::clone(entries.or_insert_with(|| builtin::entries(package).into()))
    }

    /// The entries for a type of a module. `version` is that of the set of modules; `find` computes entries that aren't cached.
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
                let is_quiet = self.quiet.contains(path);
                for problem in file.problems.into_iter().filter(|_| !is_quiet) {
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
    // Reading a pipe could block.
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
