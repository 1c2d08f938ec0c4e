//! Suggestions for a name that isn't found.

use super::Queries;
use crate::dwarf::name_index::EntryKind;
use crate::names::{NamePattern, short_name};
use crate::sources::is_library_source;
use gimli::UnitOffset;

/// The maximum of suggestions.
const SIMILAR_LIMIT: usize = 5;
/// The maximum of functions with one base name whose full names are compared.
const SIMILAR_PER_BASE: usize = 20;
/// The maximum of base names that are compared because they start with the pattern's base name, or the other way round.
const MOST_BEGINNINGS: usize = 100;
/// Shorter common beginnings don't count as similar.
const SHORTEST_BEGINNING: usize = 4;

/// A suggested name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SimilarName {
    /// Whether the name is a library's, judged by the path of its source. Also `true` if the source is unknown.
    pub is_library: bool,
    /// The edit distance. If one base name is the beginning of the other, at most 2.
    pub distance: usize,
    /// The short name.
    pub name: String,
}

/// Keeps the best suggestions, each name once: the user's own before those of libraries, each nearest first. Of libraries,
/// only names nearer than the user's own nearest one. May be called with the names of several modules together.
pub fn sort_out(found: &mut Vec<SimilarName>) {
    found.sort();
    let mut told: Vec<SimilarName> = Vec::new();
    for similar in found.drain(..) {
        let known = |told: &SimilarName| told.name == similar.name;
        let own = told.first().filter(|first| !first.is_library);
        let nearer = own.is_some_and(|own| similar.is_library && own.distance <= similar.distance);
        if !nearer && !told.iter().any(known) && told.len() < SIMILAR_LIMIT {
            told.push(similar);
        }
    }
    *found = told;
}

impl Queries<'_, '_> {
    /// Full names similar to the pattern, best first (see [`sort_out`]).
    pub fn similar(&self, pattern: &NamePattern) -> Vec<SimilarName> {
        let base = pattern.base();
        let lower = base.to_lowercase();
        let is_beginning = |other: &str| {
            let (one, other) = (lower.as_str(), other.to_lowercase());
            one.len().min(other.len()) >= SHORTEST_BEGINNING
                && (other.starts_with(one) || one.starts_with(&other))
        };
        let near = |other: &str| {
            let allowed = base.chars().count().div_ceil(3).min(4);
            let close = base.len().abs_diff(other.len()) <= allowed
                && other.len() > allowed.min(base.len().saturating_sub(1));
            close && strsim::osa_distance(&lower, &other.to_lowercase()) <= allowed
        };
        let depth = pattern.text().matches("::").count();
        let mut found = Vec::new();
        for kind in [
            EntryKind::Function,
            EntryKind::InlinedCall,
            EntryKind::Type,
            EntryKind::Variable,
        ] {
            let mut beginnings = 0;
            let mut wanted = |other: &[u8]| {
                std::str::from_utf8(other).is_ok_and(|other| near(other) || is_beginning(other))
            };
            let mut bases = self.index.base_names(kind, &mut wanted);
            bases.sort_unstable();
            for other in bases {
                let text = String::from_utf8_lossy(&other).into_owned();
                if !near(&text) {
                    beginnings += 1;
                    if beginnings > MOST_BEGINNINGS {
                        continue;
                    }
                }
                let places = self.index.entries_named(&other, kind);
                for place in places.into_iter().take(SIMILAR_PER_BASE) {
                    let Some(unit) = self.dwarf.unit(place.unit) else {
                        continue;
                    };
                    let chain = self.dwarf.chain(unit, UnitOffset(place.offset));
                    let name = match kind {
                        EntryKind::Function | EntryKind::InlinedCall => {
                            Some(self.dwarf.function_name(&chain))
                        }
                        _ => self.dwarf.qualified_name(&chain),
                    };
                    let Some(name) = name.map(|name| short_name(&name)) else {
                        continue;
                    };
                    let end: Vec<&str> = name.rsplitn(depth + 2, "::").collect();
                    let end: Vec<&str> = end.into_iter().take(depth + 1).rev().collect();
                    let distance = strsim::osa_distance(pattern.text(), &end.join("::"));
                    let declaration = self.dwarf.declaration(&chain);
                    found.push(SimilarName {
                        is_library: declaration.is_none_or(|at| is_library_source(&at.file)),
                        distance: match is_beginning(&text) {
                            true => distance.min(2),
                            false => distance,
                        },
                        name,
                    });
                }
            }
        }
        sort_out(&mut found);
        found
    }
}
