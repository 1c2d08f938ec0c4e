//! What a name without a path can mean at the frame's location, and messages that name the entities elsewhere with that name.
//!
//! Debug information doesn't say what a source file has imported, so everything in the user's own code that could have been imported counts
//! as in scope. Methods can't be imported: those of C++ are in scope in methods of their class and of derived ones, those of Rust never. A
//! library's function in a namespace or module is in scope only in a library's code.

use super::Runner;
use crate::modules::LoadedModule;
use crate::values::Value;
use crate::values::view::{LONG, View};
use dapple_symbols::functions::{Function, Language, SourcePosition};
use dapple_symbols::names::NamePattern;
use dapple_symbols::scopes::Variable;
use dapple_symbols::sources::is_others_source;
use dapple_symbols::types::TypeKind;
use std::sync::Arc;

/// When a variant is searched by its name: the most types of a unit that are looked at.
const MAX_TYPES: usize = 2000;

/// Whether a name is written without a path.
fn is_bare(name: &str) -> bool {
    !name.contains("::")
}

fn is_others(declaration: Option<&SourcePosition>) -> bool {
    declaration.is_some_and(|place| is_others_source(&place.file))
}

fn is_others_function(function: &Function, module: &LoadedModule) -> bool {
    is_others(function.declaration.as_ref()) || {
        let row = module.module.row_at(function.entry);
        row.is_some_and(|row| is_others_source(&row.file))
    }
}

/// A function's name without generic arguments at its end.
fn without_arguments(name: &str) -> &str {
    let mut depth = 0_usize;
    for (at, sign) in name.bytes().enumerate().rev() {
        match sign {
            b'>' => depth += 1,
            b'<' if depth == 1 => return &name[..at],
            b'<' => depth = depth.saturating_sub(1),
            _ if depth == 0 => break,
            _ => {}
        }
    }
    name
}

/// Whether a Rust path ends in a type, judging by its spelling: `shop::Order`, `shop::{impl#2}`, `Vec<T>`.
fn is_in_type(path: &str) -> bool {
    let is_sign = |first: char| first.is_uppercase() || matches!(first, '<' | '{');
    path.ends_with('>')
        || path
            .rsplit("::")
            .next()
            .is_some_and(|last| last.starts_with(is_sign))
}

impl Runner<'_> {
    /// Whether the frame is in the source of a library. There, the code of libraries is in scope.
    fn is_in_others(&self) -> bool {
        is_others(self.frame.position.as_ref())
    }

    /// Whether `name` may mean `found`, a static variable of another unit.
    pub(super) fn may_mean_static(
        &self,
        name: &str,
        found: &Variable,
        module: &Arc<LoadedModule>,
    ) -> bool {
        if !is_bare(name) {
            return true;
        }
        match self.frame.language {
            Language::C => is_bare(&found.name),
            Language::Rust => {
                let is_own_module = Arc::ptr_eq(module, &self.module);
                let is_others = module.is_distributions() || is_others(found.declaration.as_ref());
                (is_own_module && self.is_in_others()) || !is_others
            }
            _ => true,
        }
    }

    /// The function that `name` means, with its module. The first module with a candidate decides. If that module has several candidates,
    /// takes the one whose path begins with the most parts of the path of the frame's function.
    pub(super) fn resolve_function(
        &self,
        name: &str,
    ) -> Option<(Arc<LoadedModule>, Arc<Function>)> {
        let own = self.frame.function.as_deref().unwrap_or_default();
        let in_common = |function: &Function| {
            let pairs = function.name.split("::").zip(own.split("::"));
            pairs.take_while(|(one, other)| one == other).count()
        };
        self.reader.modules.iter().find_map(|module| {
            let mut functions = module.module.functions_named(name);
            functions.retain(|function| self.is_candidate(name, function, module));
            // `max_by_key` returns the last of several equals; the first is wanted.
            let function = functions.into_iter().rev().max_by_key(|it| in_common(it))?;
            Some((Arc::clone(module), function))
        })
    }

    fn is_candidate(&self, name: &str, function: &Function, module: &LoadedModule) -> bool {
        let path = without_arguments(&function.name).strip_suffix(name);
        let Some(path) = path.and_then(|path| path.strip_suffix("::")) else {
            return true;
        };
        // The function is a constructor: it has its class's name, and so the name was found.
        if path == name || path.ends_with(&format!("::{name}")) {
            return false;
        }
        if !is_bare(name) {
            return true;
        }
        let is_rust = self.frame.language == Language::Rust;
        if self.frame.language == Language::C
            || (is_rust && is_in_type(path))
            || (is_others_function(function, module) && !self.is_in_others())
        {
            return false;
        }
        match self.type_named(path) {
            None => true,
            Some(_) if is_rust => false,
            Some((_, class)) => {
                let locals = self.locals();
                let this = locals.iter().find(|local| local.name == "this");
                let this = this.map(|this| self.variable(this, &self.module));
                let Some(View::Pointer {
                    target: Some(object),
                    ..
                }) = this.map(|this| self.reader.view(&this, LONG))
                else {
                    return false;
                };
                self.base_in(&object, class, 0).is_some()
            }
        }
    }

    /// A clause for a message: it names an entity called `name` that isn't in scope. `None`: there is no such entity, or `name` is a path.
    pub(super) fn elsewhere(&self, name: &str) -> Option<String> {
        if !is_bare(name) || name.is_empty() {
            return None;
        }
        let variant = || self.variant_called(name);
        variant()
            .map(|path| format!("`{path}` is a variant of that name"))
            .or_else(|| self.function_elsewhere(name))
            .or_else(|| self.static_elsewhere(name))
    }

    fn function_elsewhere(&self, name: &str) -> Option<String> {
        let mut theirs = None;
        for module in self.reader.modules.iter() {
            for function in module.module.functions_named(name) {
                if is_bare(&function.name) {
                    continue;
                }
                let told = format!("`{}` is a function of that name", function.name);
                match is_others_function(&function, module) {
                    false => return Some(told),
                    true => theirs = theirs.or(Some(told)),
                }
            }
        }
        theirs
    }

    fn static_elsewhere(&self, name: &str) -> Option<String> {
        self.reader.modules.iter().find_map(|module| {
            let found = module.module.statics_named(name).into_iter().next()?;
            let path = match is_bare(&found.name) {
                true => format!("::{}", found.name),
                false => found.name,
            };
            let file = module.module.path().file_name()?.to_string_lossy();
            Some(format!("`{path}` is a variable of that name in {file}"))
        })
    }

    /// The path of a variant called `name` of an enumeration in the frame's unit.
    fn variant_called(&self, name: &str) -> Option<String> {
        let lookup = self.module.to_file(self.frame.physical.lookup);
        let all = NamePattern::new("*");
        let types = self.module.module.find_types_near(lookup, &all);
        types.into_iter().take(MAX_TYPES).find_map(|found| {
            let type_ = self.module.module.strip_aliases(found.id).ok()??;
            let has = match &type_.kind {
                TypeKind::Enumeration { values, .. } => values.iter().any(|(it, _)| **it == *name),
                TypeKind::Aggregate(aggregate) => {
                    let mut variants = aggregate.variants.iter().flat_map(|part| &part.variants);
                    variants.any(|variant| *variant.name == *name)
                }
                _ => false,
            };
            has.then(|| format!("{}::{name}", found.short_name))
        })
    }

    /// The static variable that a name means, of any module and unit.
    pub(super) fn static_meant(&self, name: &str) -> Option<Value> {
        let global = name.strip_prefix("::");
        // A variable that the linker has removed is returned only if there is no other. Its value then says that it was removed.
        let mut dropped = None;
        for module in self.reader.modules.iter() {
            let found = module.module.statics_named(name);
            let is_meant = |found: &&Variable| {
                global.is_none_or(|name| found.name == name)
                    && self.may_mean_static(name, found, module)
            };
            for found in found.iter().filter(is_meant) {
                if !found.dropped {
                    return Some(self.variable(found, module));
                }
                dropped.get_or_insert_with(|| self.variable(found, module));
            }
        }
        dropped
    }
}
