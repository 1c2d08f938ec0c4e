//! The names in the loaded modules that match a regular expression.

use super::sources::SourcesOf;
use dapple_symbols::module::{DebugInfo, ModuleKind};
use dapple_symbols::queries::matching::Whose;
use dapple_symbols::sources::is_others_source;
use std::collections::BTreeSet;

pub use dapple_symbols::names::NameExpression;
pub use dapple_symbols::queries::listing::{ListedName, ListedNames};

/// What kind of thing has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// Functions, with their parameters' types in C and C++.
    Functions,
    /// Variables of static storage.
    Variables,
    /// Types.
    Types,
}

/// The matching names of all modules together, sorted: the user's own if any match, otherwise those of libraries. Libraries of the system are
/// looked at only if nothing else matches, and only for functions. `None`: `is_cancelled` has said so between two modules.
pub fn matching_names(
    modules: &[SourcesOf],
    kind: NameKind,
    expression: &NameExpression,
    is_cancelled: impl Fn() -> bool,
) -> Option<ListedNames> {
    let of = |of_system: bool| {
        let modules = modules.iter().filter(|of| of.is_of_system() == of_system);
        let found = modules.map(|of| (!is_cancelled()).then(|| of.names(kind, expression)));
        found.collect::<Option<Vec<ListedNames>>>()
    };
    let mut all = together(of(false)?);
    if all.names.is_empty() && kind == NameKind::Functions {
        all = together(of(true)?);
    }
    Some(all)
}

/// The names of several modules together.
fn together(found: Vec<ListedNames>) -> ListedNames {
    let has_own = found.iter().any(|one| one.are_own && !one.names.is_empty());
    let mut all = ListedNames {
        are_own: has_own,
        ..ListedNames::default()
    };
    for one in found {
        all.of_libraries += one.of_libraries;
        if has_own && !one.are_own {
            all.of_libraries += one.names.len() + one.omitted;
        } else {
            all.names.extend(one.names);
            all.omitted += one.omitted;
        }
    }
    all.names.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

impl SourcesOf {
    fn names(&self, kind: NameKind, expression: &NameExpression) -> ListedNames {
        match kind {
            NameKind::Functions => self.functions(expression),
            NameKind::Variables => self.symbols.variables_matching(expression),
            NameKind::Types => self.symbols.types_matching(expression),
        }
    }

    /// Whether it is a library whose names are not the user's: its debug information is separate, as distributions provide it, or it has none, as
    /// the vDSO.
    fn is_of_system(&self) -> bool {
        let symbols = &self.symbols;
        symbols.kind() == ModuleKind::SharedObject
            && (symbols.has_detached_debug_info() || symbols.debug_info() != DebugInfo::Dwarf)
    }

    fn functions(&self, expression: &NameExpression) -> ListedNames {
        let found = match self.is_of_system() {
            // To read all the debug information of a distribution's library would take long.
            true => self.symbols.symbols_matching(expression),
            false => self.symbols.functions_matching(expression, Whose::OwnFirst),
        };
        // They are all the user's, or all of libraries.
        let declaration = { found.functions.first() }.and_then(|one| one.declaration.as_ref());
        let are_own = !declaration.is_some_and(|place| is_others_source(&place.file));
        let mut seen = BTreeSet::new();
        let mut names = Vec::new();
        for function in found.functions {
            let parameters = function.parameters.map(|list| format!("({list})"));
            let name = function.name + &parameters.unwrap_or_default();
            let line = function.declaration.as_ref().map(|place| place.line);
            if seen.insert((name.clone(), line)) {
                names.push(ListedName {
                    name,
                    type_name: None,
                    declaration: function.declaration,
                });
            }
        }
        ListedNames {
            names,
            are_own,
            omitted: found.omitted,
            of_libraries: found.of_libraries,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_libraries_are_counted_if_another_module_has_the_users_own() {
        let named = |name: &str, are_own| {
            let name = ListedName {
                name: name.to_owned(),
                type_name: None,
                declaration: None,
            };
            ListedNames {
                names: vec![name],
                are_own,
                omitted: 2,
                of_libraries: 0,
            }
        };
        let shown = |all: &ListedNames| -> Vec<String> {
            all.names.iter().map(|one| one.name.clone()).collect()
        };
        let all = together(vec![named("theirs", false), named("ours", true)]);
        assert_eq!(shown(&all), ["ours"]);
        assert_eq!((all.omitted, all.of_libraries), (2, 3));
        let all = together(vec![named("b", false), named("a", false)]);
        assert_eq!(shown(&all), ["a", "b"]);
        assert_eq!((all.omitted, all.of_libraries), (4, 0));
    }
}
