//! Finds functions by a regular expression on their full names. Any function may match, so all names of a module are
//! composed, once for all copies of a function. The number of results is limited.

use super::{FoundFunction, Queries, at_symbol, parameters_behind};
use crate::decoded::Decoded;
use crate::demangle::{demangle, demangle_path};
use crate::dwarf::entries::Chain;
use crate::dwarf::name_index::EntryKind;
use crate::names::NameExpression;
use crate::sources::is_others_source;
use gimli::UnitOffset;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Matching functions beyond this number are only counted.
const MOST_FUNCTIONS: usize = 1000;

/// When this many places are found, further functions are only counted.
const MOST_PLACES: usize = 10_000;

/// Which functions to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The user's own if any match; otherwise those of libraries. The path of a function's source decides which it is.
    OwnFirst,
    /// All matching functions.
    All,
}

/// The functions of a module that match an expression.
#[derive(Debug, Default)]
pub struct Matches {
    /// The places where the functions begin, in the order of their entry addresses.
    pub functions: Vec<FoundFunction>,
    /// The number of matching functions that were left out because of the limits.
    pub omitted: usize,
    /// The number of matching library functions that were left out because the user's own match.
    pub of_libraries: usize,
}

/// Whether a function matches, and whose it is; kept for all copies of the function. The number is a hash of its name.
#[derive(Clone, Copy)]
enum Known {
    Other,
    Own(u64),
    Libraries(u64),
}

/// The matching functions of the user, or those of libraries.
#[derive(Default)]
struct Selection {
    /// Hashes of the names of the returned functions.
    names: FxHashSet<u64>,
    omitted: FxHashSet<u64>,
    functions: Vec<FoundFunction>,
}

impl Selection {
    /// Counts the function with this name (a hash; for symbols, the address) and tells whether to return its places.
    fn takes(&mut self, name: u64) -> bool {
        let full = self.names.len() >= MOST_FUNCTIONS || self.functions.len() >= MOST_PLACES;
        let taken = self.names.contains(&name) || (!full && self.names.insert(name));
        if !taken {
            self.omitted.insert(name);
        }
        taken
    }

    fn into_matches(mut self, of_libraries: usize) -> Matches {
        self.functions.sort_by_key(|function| function.entry);
        Matches {
            functions: self.functions,
            omitted: self.omitted.len(),
            of_libraries,
        }
    }
}

impl<'a> Queries<'_, 'a> {
    pub(crate) fn matching(&self, expression: &NameExpression, whose: Whose) -> Matches {
        let (mut own, mut libraries) = (Selection::default(), Selection::default());
        let mut known: FxHashMap<(u32, usize), Known> = FxHashMap::default();
        for kind in [EntryKind::Function, EntryKind::InlinedCall] {
            for (unit, offset) in self.all(kind) {
                let chain = self.dwarf.chain(unit, UnitOffset(offset));
                let Some((last, entry)) = chain.links.last() else {
                    continue;
                };
                let key = (last.index, entry.offset().0);
                let known = known
                    .entry(key)
                    .or_insert_with(|| self.look(expression, &chain, whose));
                let (taken, name) = match *known {
                    Known::Other => continue,
                    Known::Own(name) => (&mut own, name),
                    Known::Libraries(name) => (&mut libraries, name),
                };
                if taken.takes(name) {
                    let parameters = self.parameters(&chain);
                    let name = self.dwarf.function_name(&chain);
                    let found = self.found_function(unit, offset, &chain, name, kind, parameters);
                    taken.functions.extend(found);
                }
            }
        }
        match own.functions.is_empty() {
            true => libraries.into_matches(0),
            false => {
                let count = libraries.names.len() + libraries.omitted.len();
                own.into_matches(count)
            }
        }
    }

    fn look(&self, expression: &NameExpression, chain: &Chain<'_, 'a>, whose: Whose) -> Known {
        let name = self.dwarf.function_name(chain);
        if !expression.matches(&name, || self.parameters(chain)) {
            return Known::Other;
        }
        let mut hasher = FxHasher::default();
        name.hash(&mut hasher);
        let hash = hasher.finish();
        let declaration = || self.dwarf.declaration(chain);
        let is_libraries = whose == Whose::OwnFirst
            && declaration().is_some_and(|place| is_others_source(&place.file));
        match is_libraries {
            true => Known::Libraries(hash),
            false => Known::Own(hash),
        }
    }
}

pub(crate) fn matching_symbols(decoded: &Decoded<'_>, expression: &NameExpression) -> Matches {
    let is_code = |address| decoded.files().main.elf.is_code(address);
    let mut taken = Selection::default();
    for symbol in decoded.symbols().functions() {
        let name = String::from_utf8_lossy(symbol.name);
        let path = demangle_path(&name);
        let parameters = || parameters_behind(&path, &demangle(&name));
        if !is_code(symbol.address) || !expression.matches(&path, parameters) {
            continue;
        }
        // Aliases of one address count as one function.
        if taken.takes(symbol.address) {
            let full = demangle(&name);
            let parameters = parameters_behind(&path, &full);
            let found = at_symbol(decoded, &symbol, path, &full, parameters);
            taken.functions.push(found);
        }
    }
    let mut matches = taken.into_matches(0);
    matches.functions.dedup_by_key(|function| function.entry);
    matches
}
