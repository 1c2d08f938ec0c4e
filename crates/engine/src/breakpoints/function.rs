//! Where a function's name is in a module, and which of all places are meant.

use crate::Address;
use crate::modules::LoadedModule;
use dapple_symbols::functions::SourcePosition;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::{FoundFunction, Instance};

/// A place where a function of the name begins.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Past the prologue.
    pub(crate) address: Address,
    /// The source there.
    pub(crate) position: Option<SourcePosition>,
    rank: Rank,
}

/// How well a place fits the name; of all places only those are taken that fit best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// It is only in the symbol table. Beside functions with debug information of the same name these are
    /// others' (a library's, the `main` that rustc makes to call the user's) and a stop there shows no source.
    symbol: bool,
    /// For `main`, how many namespaces are around it: the program's own is C's and C++'s `main`, or a Rust crate's
    /// `NAME::main`, and not one further inside.
    depth: usize,
}

/// All places of the name in a module, those with code of their own first.
pub(crate) fn places(module: &LoadedModule, pattern: &NamePattern) -> Vec<Place> {
    let mut found = module.module.find_functions(pattern);
    found.sort_by_key(|function| matches!(function.instance, Instance::Inlined { .. }));
    let place = |function: &FoundFunction| Place {
        address: module.to_process(function.breakpoint),
        position: position(module, function),
        rank: Rank {
            symbol: function.instance == Instance::Symbol,
            depth: match pattern.text() {
                "main" => function.name.matches("::").count(),
                _ => 0,
            },
        },
    };
    found.iter().map(place).collect()
}

/// The line that a stop is on, as frames tell it.
fn position(module: &LoadedModule, function: &FoundFunction) -> Option<SourcePosition> {
    let row = module.module.row_at(function.breakpoint);
    let row = row.filter(|row| row.line != 0)?;
    Some(SourcePosition {
        file: row.file,
        line: row.line,
        column: row.column,
    })
}

/// Those of all places that are meant.
pub(crate) fn best<'a>(all: impl Iterator<Item = &'a Place> + Clone) -> Vec<&'a Place> {
    let best = all.clone().map(|place| place.rank).min();
    all.filter(|place| Some(place.rank) == best).collect()
}

/// Why a name can't be any function's.
pub(crate) fn problem(name: &str) -> Option<String> {
    let name = name.trim();
    if name.is_empty() {
        return Some("the function's name is empty".to_owned());
    }
    None
}

/// Why a name is nowhere yet.
pub(crate) fn not_found<'a>(name: &str, similar: impl Iterator<Item = &'a String>) -> String {
    /// "At most a few".
    const LIMIT: usize = 3;
    let mut names: Vec<&str> = Vec::new();
    for name in similar {
        if names.len() < LIMIT && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let hint = match names.as_slice() {
        [] => String::new(),
        [one] => format!("; a similar name is {one}"),
        several => format!("; similar names are {}", several.join(", ")),
    };
    format!("no module that is loaded has a function {name}{hint}")
}
