//! Lists variables and types by a regular expression on their full names. As any may match, all names of a module are composed.
//! The number of results is limited.

use super::Queries;
use crate::dwarf::functions::{Language, SourcePosition};
use crate::dwarf::name_index::EntryKind;
use crate::dwarf::scopes::VariableKind;
use crate::dwarf::types::TypeId;
use crate::names::NameExpression;
use crate::sources::is_others_source;
use gimli::UnitOffset;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::Arc;

/// Matching names beyond this number are only counted.
const MOST: usize = 1000;

/// The crates of Rust's standard library, whose types have no source position.
const STANDARD: [&str; 6] = ["core", "std", "alloc", "proc_macro", "test", "hashbrown"];

/// A variable or type of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedName {
    /// The full name.
    pub name: String,
    /// A variable's type.
    pub type_name: Option<String>,
    /// The position of its declaration. Rust's compiler gives none to types.
    pub declaration: Option<SourcePosition>,
}

/// The names of a module that match an expression.
#[derive(Debug, Default)]
pub struct ListedNames {
    /// The names, sorted: the user's own if any match, otherwise those of libraries.
    pub names: Vec<ListedName>,
    /// Whether they are the user's own.
    pub are_own: bool,
    /// The number of matching names that were left out because of the limit.
    pub omitted: usize,
    /// The number of matching names of libraries that were left out because the user's own match.
    pub of_libraries: usize,
}

/// A file and line.
type Place = (Arc<Path>, u32);

/// The matching names so far.
#[derive(Default)]
struct Found {
    own: Vec<ListedName>,
    libraries: Vec<ListedName>,
    seen: FxHashSet<(String, Option<Place>)>,
    omitted: usize,
    of_libraries: usize,
}

impl Found {
    /// Whether a name at this place is new.
    fn is_new(&mut self, name: &str, declaration: Option<&SourcePosition>) -> bool {
        let place = declaration.map(|place| (place.file.clone(), place.line));
        self.seen.insert((name.to_owned(), place))
    }

    fn push(&mut self, one: ListedName, is_own: bool) {
        let list = match is_own {
            true => &mut self.own,
            false => {
                self.of_libraries += 1;
                &mut self.libraries
            }
        };
        match list.len() < MOST {
            true => list.push(one),
            false if is_own => self.omitted += 1,
            false => {}
        }
    }

    fn into_names(self) -> ListedNames {
        let are_own = !self.own.is_empty();
        let (mut names, omitted, of_libraries) = match are_own {
            true => (self.own, self.omitted, self.of_libraries),
            false => {
                let omitted = self.of_libraries - self.libraries.len();
                (self.libraries, omitted, 0)
            }
        };
        names.sort_by(|a, b| a.name.cmp(&b.name));
        ListedNames {
            names,
            are_own,
            omitted,
            of_libraries,
        }
    }
}

/// Whether something declared there is the user's own. What has no position is made by the compiler, except for Rust's types.
fn is_own(declaration: Option<&SourcePosition>) -> bool {
    declaration.is_some_and(|place| !is_others_source(&place.file))
}

/// Whether a Rust type is of a crate other than the standard library's.
fn is_of_other_crate(name: &str) -> bool {
    let first = name.split_once("::").map(|(first, _)| first);
    let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    first.is_some_and(|first| is_word(first) && !STANDARD.contains(&first))
}

impl Queries<'_, '_> {
    /// The variables of static storage that match.
    pub(crate) fn variables_matching(&self, expression: &NameExpression) -> ListedNames {
        let mut found = Found::default();
        for (unit, offset) in self.all(EntryKind::Variable) {
            let variable = self
                .dwarf
                .variable(unit, offset, VariableKind::Static, 0, None);
            let Some(variable) = variable.filter(|it| expression.matches(&it.name, || None)) else {
                continue;
            };
            if found.is_new(&variable.name, variable.declaration.as_ref()) {
                let is_own = is_own(variable.declaration.as_ref());
                let type_name = variable.type_id.map(|id| self.dwarf.type_name(id));
                let one = ListedName {
                    name: variable.name,
                    type_name,
                    declaration: variable.declaration,
                };
                found.push(one, is_own);
            }
        }
        found.into_names()
    }

    /// The types that match, with their definitions.
    pub(crate) fn types_matching(&self, expression: &NameExpression) -> ListedNames {
        let mut found = Found::default();
        for (unit, offset) in self.all(EntryKind::Type) {
            let chain = self.dwarf.chain(unit, UnitOffset(offset));
            let name = self.dwarf.qualified_name(&chain);
            let Some(name) = name.filter(|name| expression.matches(name, || None)) else {
                continue;
            };
            let declaration = self.dwarf.declaration(&chain);
            if found.is_new(&name, declaration.as_ref()) {
                let is_own = match &declaration {
                    None if unit.language() == Language::Rust => is_of_other_crate(&name),
                    declaration => is_own(declaration.as_ref()),
                };
                let id = TypeId {
                    unit: unit.index,
                    offset,
                };
                let one = ListedName {
                    name: self.dwarf.type_name(id),
                    type_name: None,
                    declaration,
                };
                found.push(one, is_own);
            }
        }
        found.into_names()
    }
}
