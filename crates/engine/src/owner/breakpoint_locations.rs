//! The lines and columns of a source file at which breakpoints can be set.

use super::Owner;
use dapple_inspect::inspect::Inspect;
use dapple_inspect::modules::LoadedModule;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

impl Owner {
    pub(crate) fn breakpoint_places(
        &self,
        file: &Path,
        lines: RangeInclusive<u32>,
    ) -> Vec<(u32, u32)> {
        let own = |module: &&Arc<LoadedModule>| !module.is_distributions();
        let own = places(self.modules().iter().filter(own), file, &lines);
        if !own.is_empty() {
            return own;
        }
        // Distributions' libraries are searched only if no other module has code of these lines. `Model` does the same.
        let foreign = |module: &&Arc<LoadedModule>| module.is_distributions();
        places(self.modules().iter().filter(foreign), file, &lines)
    }
}

fn places<'a>(
    modules: impl Iterator<Item = &'a Arc<LoadedModule>>,
    file: &Path,
    lines: &RangeInclusive<u32>,
) -> Vec<(u32, u32)> {
    let mut found: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    for module in modules {
        for place in module.module.breakpoint_locations(file, lines.clone()) {
            *found.entry((place.line, place.column)).or_default() |= place.is_stmt;
        }
    }
    // Positions at which no statement begins are left out on lines that have a statement.
    let has_statement = |line: u32| {
        let mut on_line = found.range((line, 0)..=(line, u32::MAX));
        on_line.any(|(_, is_stmt)| *is_stmt)
    };
    found
        .iter()
        .filter(|((line, _), is_stmt)| **is_stmt || !has_statement(*line))
        .map(|(place, _)| *place)
        .collect()
}
