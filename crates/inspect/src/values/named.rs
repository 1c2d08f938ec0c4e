//! Looks up types by name, for values that give only the name of a type.

use super::Reader;
use crate::modules::LoadedModule;
use dapple_symbols::functions::Language;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::FoundType;
use dapple_symbols::types::TypeId;
use std::sync::Arc;

impl Reader<'_> {
    /// The type with a full name, definitions before declarations. Skips distributions' debug information, because it is large.
    pub(crate) fn type_anywhere(
        &self,
        name: &str,
        language: Language,
    ) -> Option<(Arc<LoadedModule>, TypeId)> {
        self.type_among(self.modules.iter(), name, language)
    }

    /// As [`Reader::type_anywhere`], but searches `module` first.
    pub(crate) fn type_named(
        &self,
        name: &str,
        language: Language,
        module: &Arc<LoadedModule>,
    ) -> Option<(Arc<LoadedModule>, TypeId)> {
        let is_other = |other: &&Arc<LoadedModule>| !Arc::ptr_eq(other, module);
        let others = self.modules.iter().filter(is_other);
        self.type_among(std::iter::once(module).chain(others), name, language)
    }

    fn type_among<'m>(
        &self,
        modules: impl Iterator<Item = &'m Arc<LoadedModule>>,
        name: &str,
        language: Language,
    ) -> Option<(Arc<LoadedModule>, TypeId)> {
        let pattern = NamePattern::new(&format!("::{name}"));
        let mut declared = None;
        for module in modules.filter(|module| !module.is_distributions()) {
            let found = module.module.find_types(&pattern);
            let is_wanted = |found: &FoundType| found.language == language;
            for found in found.into_iter().filter(is_wanted) {
                if !found.only_declared {
                    return Some((Arc::clone(module), found.id));
                }
                declared.get_or_insert((Arc::clone(module), found.id));
            }
        }
        declared
    }
}
