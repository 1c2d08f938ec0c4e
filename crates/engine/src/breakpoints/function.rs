//! Where functions with a given name begin in a module, and which of these places the user means.

use crate::Address;
use crate::breakpoints::indirect_function::IndirectFunction;
use crate::breakpoints::wanted::Resolution;
use dapple_inspect::modules::{LoadedModule, Modules};
use dapple_symbols::FileAddress;
use dapple_symbols::functions::{InlinedCall, SourcePosition};
use dapple_symbols::names::{NameExpression, NamePattern, readable_name};
use dapple_symbols::queries::matching::Whose;
use dapple_symbols::queries::{FoundFunction, Instance, SimilarName, sort_out};
use dapple_symbols::sources::is_others_source;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// The places in a module that fit the name best. The module's other places are left out.
#[derive(Debug)]
pub(crate) struct Places {
    rank: Rank,
    /// How many more functions of the name the module has from libraries' sources.
    in_libraries: usize,
    /// How many more functions a regular expression matches than one breakpoint takes.
    beyond: usize,
    list: Vec<Place>,
    /// The source position of the first place. If a call inlined into the function begins there, the position of that call.
    position: Option<SourcePosition>,
    names: Vec<String>,
    /// The indirect functions that fit the name best.
    indirect_functions: Vec<IndirectFunction>,
}

/// Where a function begins.
#[derive(Debug)]
struct Place {
    /// After the function's prologue, if it has one.
    address: Address,
    /// If the place is a copy inlined into another function: the copy's address ranges, and the name of the inlined function.
    inlined: Option<(Vec<Range<FileAddress>>, String)>,
}

/// How well places fit a name; the smallest rank fits best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The places are only in the symbol table. If other functions of the name have debug information, those are the user's, and these are
    /// a library's, or the `main` that rustc makes to call the user's. A stop at these shows no source.
    symbol: bool,
    /// The places are copies inlined into a distribution's library. The user hardly means these: the dynamic linker, for one, has a `malloc`
    /// for its own use.
    inlined_elsewhere: bool,
    /// The places are a library's, and the name is bare: a bare name means the user's own functions if there are any.
    library: bool,
    /// How many namespaces the function is in, if the name is `main`; 0 for other names. The program's own `main` is in no namespace
    /// (C, C++) or in the crate's only (Rust: `NAME::main`).
    depth: usize,
}

/// Why a module doesn't have the function.
#[derive(Debug)]
pub(crate) enum Absence {
    /// Names in the module that may have been meant, nearest first; perhaps none.
    Similar(Vec<SimilarName>),
    /// The module's functions of the name have other parameters. The list has them with their parameters.
    Overloads(Vec<String>),
    /// The debug information has the function, but the compiler left no code of it.
    NoCode,
    /// The name is a type's.
    Type { has_functions: bool },
    /// The name is a variable's.
    Variable,
}

/// Where the functions that a regular expression matches are in a module. `None`: it matches none.
pub(crate) fn matching(module: &LoadedModule, expression: &NameExpression) -> Option<Places> {
    // An expression with a path says itself whose functions it means.
    let whose = match expression.text().contains("::") {
        true => Whose::All,
        false => Whose::OwnFirst,
    };
    let matches = match module.is_distributions() {
        // Only symbols: to read all the debug information of a distribution's library would take long, and its functions are not meant.
        true => module.module.symbols_matching(expression),
        false => module.module.functions_matching(expression, whose),
    };
    let places = find(module, EXPRESSION, matches.functions)?;
    Some(Places {
        in_libraries: matches.of_libraries,
        beyond: matches.omitted,
        ..places
    })
}

/// What [`find`] gets as the name if a regular expression was asked for. As it isn't a bare name, libraries' functions rank like others.
const EXPRESSION: &str = "/re";

/// Selects those functions that fit the name best from `found`, the module's functions that have the name. `None`: `found` is empty.
pub(crate) fn find(module: &LoadedModule, name: &str, found: Vec<FoundFunction>) -> Option<Places> {
    let mut found: Vec<(Rank, FoundFunction)> = found
        .into_iter()
        .map(|function| (rank(module, &function, name), function))
        .collect();
    let best = found.iter().map(|(rank, _)| *rank).min()?;
    let in_libraries = match best.library {
        true => 0,
        false => {
            let theirs = found.iter().filter(|(rank, _)| rank.library);
            let names: FxHashSet<&str> =
                theirs.map(|(_, function)| function.name.as_str()).collect();
            names.len()
        }
    };
    found.retain(|(rank, _)| *rank == best);
    // A function in fewer namespaces is more likely the user's.
    found.sort_by_key(|(_, function)| (is_inlined(function), namespaces(&function.name)));
    let names = names(found.iter().map(|(_, function)| function), readable_name);
    let indirect = found.extract_if(.., |(_, function)| function.indirect);
    let indirect_functions = indirect
        .map(|(_, function)| IndirectFunction::new(&function, module.to_process(function.entry)))
        .collect();
    let place = |(_, function): (Rank, FoundFunction)| Place {
        address: module.to_process(function.breakpoint),
        inlined: is_inlined(&function).then_some((function.ranges, function.name)),
    };
    let list: Vec<Place> = found.into_iter().map(place).collect();
    Some(Places {
        rank: best,
        in_libraries,
        beyond: 0,
        position: list.first().and_then(|place| place.position(module)),
        list,
        names,
        indirect_functions,
    })
}

fn rank(module: &LoadedModule, function: &FoundFunction, name: &str) -> Rank {
    // An indirect function only has a symbol. It counts as one with debug information if its IFUNC resolver has some.
    let has_chooser = || {
        let resolver = module.module.function_at(function.entry);
        function.indirect && resolver.is_some_and(|resolver| resolver.entry == function.entry)
    };
    Rank {
        symbol: function.instance == Instance::Symbol && !has_chooser(),
        inlined_elsewhere: is_inlined(function) && module.is_distributions(),
        library: is_bare(name)
            && (function.declaration.as_ref()).is_some_and(|place| is_others_source(&place.file)),
        depth: match name {
            "main" => namespaces(&function.name),
            _ => 0,
        },
    }
}

/// Whether a name has no path, parameters or wildcards.
fn is_bare(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn is_inlined(function: &FoundFunction) -> bool {
    matches!(function.instance, Instance::Inlined { .. })
}

fn namespaces(name: &str) -> usize {
    name.matches("::").count()
}

/// How many names of functions are listed at most for a module.
const MOST_NAMES: usize = 6;

/// The functions' names in the form that `shown` gives them, in C and C++ with their parameters: each once, and no more than
/// [`MOST_NAMES`].
fn names<'a>(
    functions: impl Iterator<Item = &'a FoundFunction>,
    shown: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for function in functions {
        if names.len() == MOST_NAMES {
            break;
        }
        let name = shown(&function.short_name);
        let name = match &function.parameters {
            Some(parameters) => format!("{name}({parameters})"),
            None => name,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

impl Place {
    /// The calls inlined into the function whose code includes the breakpoint's address, outermost first. A thread that the breakpoint
    /// stops counts as not having entered them.
    fn calls(&self, module: &LoadedModule) -> Vec<InlinedCall> {
        let mut calls = module.module.inlined_at(module.to_file(self.address));
        let own = self.inlined.as_ref().and_then(|(ranges, name)| {
            let same = |call: &InlinedCall| call.ranges == *ranges && call.name == *name;
            calls.iter().position(same)
        });
        calls.drain(..own.map_or(0, |own| own + 1));
        calls
    }

    /// The source position of the place. If a call inlined into the function begins there, the position of that call.
    fn position(&self, module: &LoadedModule) -> Option<SourcePosition> {
        if let Some(call) = self.calls(module).first() {
            return call.call_site.clone();
        }
        let row = module.module.row_at(module.to_file(self.address));
        let row = row.filter(|row| row.line != 0)?;
        Some(SourcePosition {
            file: row.file,
            line: row.line,
            column: row.column,
        })
    }
}

/// Selects from the places of several modules those that fit the name best.
pub(crate) fn best<'a>(all: impl Iterator<Item = &'a Places> + Clone) -> Vec<&'a Places> {
    let best = all.clone().map(|places| places.rank).min();
    all.filter(|places| Some(places.rank) == best).collect()
}

impl Places {
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Address> {
        self.list.iter().map(|place| place.address)
    }

    /// How many calls inlined into the function begin at `address`: a thread that its breakpoint stops there hasn't entered them. The
    /// fewest, if several places are at `address`. `None`: no place is there.
    pub(crate) fn calls_not_entered(
        &self,
        address: Address,
        module: &LoadedModule,
    ) -> Option<usize> {
        let here = self.list.iter().filter(|place| place.address == address);
        here.map(|place| place.calls(module).len()).min()
    }

    pub(crate) fn indirect_functions(&self) -> &[IndirectFunction] {
        &self.indirect_functions
    }

    /// Adds the function at `target`, which the IFUNC resolver at `resolver` has returned. Returns whether it was added: it isn't if the
    /// resolver has returned it before, if no function here has that resolver, or if no module is at `target`.
    pub(crate) fn chosen(&mut self, resolver: Address, target: Address, modules: &Modules) -> bool {
        let Some(module) = modules.at(target) else {
            return false;
        };
        let mut new = false;
        for choice in &mut self.indirect_functions {
            if choice.resolver == resolver && !choice.chosen.contains(&target) {
                choice.chosen.push(target);
                new = true;
            }
        }
        if new {
            let entry = module.to_file(target);
            let place = Place {
                address: module.to_process(module.module.after_prologue(entry)),
                inlined: None,
            };
            self.position = self.position.take().or_else(|| place.position(module));
            self.list.push(place);
        }
        new
    }

    pub(crate) fn position(&self) -> Option<&SourcePosition> {
        self.position.as_ref()
    }

    /// The functions' names for display, in C and C++ with their parameters: each once, and no more than [`MOST_NAMES`].
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}

/// The remark about functions of the name in which the breakpoint doesn't stop: libraries' functions, and those that are more than one
/// breakpoint takes. `None`: there are no such functions.
pub(crate) fn remark(name: &str, meant: &[&Places]) -> Option<String> {
    let name = name.trim();
    let is_expression = NameExpression::read(name).is_some();
    let count = |of: fn(&Places) -> usize| meant.iter().map(|places| of(places)).sum::<usize>();
    let beyond = count(|places| places.beyond);
    let beyond = (beyond > 0).then(|| {
        format!("it matches {beyond} functions more, in which it does not stop: there are too many")
    });
    let libraries = count(|places| places.in_libraries);
    let libraries = (libraries > 0).then(|| match is_expression {
        true => format!(
            "libraries have {libraries} more functions that it matches: an expression with `::` is about those, too"
        ),
        false => format!(
            "libraries have {libraries} more functions of that name: **::{name} is all of them"
        ),
    });
    let both: Vec<String> = [beyond, libraries].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// Finds out why a module has no function that `pattern` matches.
pub(crate) fn absence(module: &LoadedModule, pattern: &NamePattern) -> Absence {
    // A distribution's library has similar names for whatever name is asked for, but users mean their own code.
    if module.is_distributions() {
        return Absence::Similar(Vec::new());
    }
    if let Some(any) = pattern.without_parameters() {
        let overloads = module.module.find_functions(&any);
        if !overloads.is_empty() {
            // The user may type one of them.
            return Absence::Overloads(names(overloads.iter(), str::to_owned));
        }
    }
    let similar = module.module.similar_names(pattern);
    // Whether the name is a type's or a variable's is worth asking only if the module has the name at all.
    if !similar.iter().any(|similar| pattern.matches(&similar.name)) {
        return Absence::Similar(similar);
    }
    if !module.module.find_types(pattern).is_empty() {
        let functions = NamePattern::new(&format!("{}::*", pattern.text()));
        Absence::Type {
            has_functions: !module.module.find_functions(&functions).is_empty(),
        }
    } else if !module.module.find_variables(pattern).is_empty() {
        Absence::Variable
    } else {
        Absence::NoCode
    }
}

/// The message for a text that can't be a function's name, but looks like something else. `None`: it may be a function's name.
pub(crate) fn no_name(name: &str) -> Option<String> {
    let name = name.trim();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if name.starts_with(|c: char| c.is_ascii_digit()) && Address::parse(name).is_some() {
        return Some(format!("{name} is no name; an address is written *{name}"));
    }
    if let Some((file, line)) = name.rsplit_once(':')
        && is_number(line)
        && !file.ends_with(':')
        && (file.contains('.') || is_number(file))
    {
        return Some(format!("{name} is a line and not a function"));
    }
    if name.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-')) {
        return Some(format!(
            "{name} is no function's name: none begins like that; a line needs its file"
        ));
    }
    let is_condition = name.ends_with(" if") || name.contains(" if ");
    if is_condition {
        return Some(format!(
            "{name} is no function's name; a condition is a breakpoint's own, beside the name"
        ));
    }
    let source = name.rsplit_once('.').map(|(_, ending)| ending);
    source
        .filter(|ending| SOURCES.contains(ending) && !name.contains(['(', '<', '*']))
        .map(|_| format!("{name} is a file and not a function; a breakpoint in it needs a line"))
}

/// File name extensions of sources.
const SOURCES: &[&str] = &[
    "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inl", "rs", "s", "S", "asm",
];

/// The resolution if no function matches yet.
pub(crate) fn matches_nothing(expression: &NameExpression) -> Resolution {
    Resolution::Pending(format!(
        "no module that is loaded has a function whose full name matches the regular expression `{}`",
        expression.text()
    ))
}

/// The message that says why no module has a function `name` yet. `said` has each module's reason.
pub(crate) fn not_found<'a>(name: &str, said: impl Iterator<Item = &'a Absence>) -> String {
    /// How many names are shown at most.
    const LIMIT: usize = 3;
    let mut similar: Vec<SimilarName> = Vec::new();
    for absence in said {
        match absence {
            Absence::Overloads(names) => {
                let names = names.get(..LIMIT).unwrap_or(names);
                return format!(
                    "no function {name} has these parameters; there is {}",
                    names.join(", ")
                );
            }
            Absence::NoCode => {
                return format!(
                    "no module that is loaded has code of {name}: the compiler has left none"
                );
            }
            Absence::Type { has_functions } => {
                let hint = match has_functions {
                    true => format!("; {name}::* are its functions"),
                    false => String::new(),
                };
                return format!("{name} is a type and not a function{hint}");
            }
            Absence::Variable => return format!("{name} is a variable and not a function"),
            Absence::Similar(names) => {
                similar.extend_from_slice(names);
            }
        }
    }
    sort_out(&mut similar);
    let similar: Vec<&str> = similar
        .iter()
        .map(|similar| similar.name.as_str())
        .collect();
    let hint = match similar.get(..LIMIT).unwrap_or(&similar) {
        [] => String::new(),
        [one] => format!("; a similar name is {one}"),
        several => format!("; similar names are {}", several.join(", ")),
    };
    format!("no module that is loaded has a function {name}{hint}")
}
