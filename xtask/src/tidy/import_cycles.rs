//! Finds import cycles among the modules of a crate: modules that all need each other can only be understood, changed and built together.
//!
//! Only modules at a crate's root count. An import is a path that begins with `crate::` in shipped code; a name that the root re-exports
//! counts as an import of its module.

use super::source::Source;
use super::{Finding, Rule};
use std::collections::{BTreeMap, BTreeSet};

/// The most modules of a cycle.
const MAX_MODULES: usize = 3;

/// Crates that may have larger cycles, with the size and the reason.
const LARGER: [(&str, usize, &str); 2] = [
    (
        "inspect",
        5,
        "values, expressions and presentations are one subject: see the front of its lib.rs",
    ),
    (
        "symbols",
        4,
        "a unit finds its entries by the index, which is made of units and is checked against them",
    ),
];

/// The modules that each module of a crate imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Finds cycles that are larger than their crate may have, and exceptions that allow more than necessary.
pub(super) fn check(sources: &[Source], findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "import cycles",
        remedy: "move what both need to a module below them, or invert the import by a trait or a function argument",
    };
    let names: BTreeSet<&str> = sources
        .iter()
        .filter_map(|it| place(&it.path))
        .map(|it| it.0)
        .collect();
    for name in names {
        let largest = cycles(&imports(sources, name))
            .into_iter()
            .max_by_key(BTreeSet::len);
        let largest = largest.unwrap_or_default();
        let allowed = LARGER.iter().find(|(larger, ..)| *larger == name);
        let most = allowed.map_or(MAX_MODULES, |(_, most, _)| *most);
        let path = format!("crates/{name}/src");
        if largest.len() > most {
            let modules = largest.iter().map(String::as_str).collect::<Vec<_>>();
            let what = format!(
                "{} modules import each other, {most} may: {}",
                modules.len(),
                modules.join(", ")
            );
            findings.push(Finding::new(&path, 0, rule, what));
        } else if allowed.is_some() && largest.len() < most {
            let what = format!(
                "the largest cycle has {} modules, {most} are allowed in xtask: lower the limit",
                largest.len()
            );
            findings.push(Finding::new(&path, 0, rule, what));
        }
    }
}

/// The crate of a file, and the module at the crate's root that the file belongs to; `None` if it is not shipped code of a crate.
fn place(path: &str) -> Option<(&str, &str)> {
    let (name, file) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let is_test = file.ends_with("tests.rs") || file.contains("/tests/");
    let module = file.split('/').next()?;
    (!name.contains('/') && file.ends_with(".rs") && !is_test)
        .then(|| (name, module.strip_suffix(".rs").unwrap_or(module)))
}

/// The imports between the modules of a crate.
fn imports(sources: &[Source], name: &str) -> Imports {
    let of_crate = || {
        let of = sources
            .iter()
            .filter_map(|source| Some((place(&source.path)?, source)));
        of.filter(|((its, _), _)| *its == name)
    };
    let is_root = |module: &str| matches!(module, "lib" | "main");
    let mut imports = Imports::new();
    let mut exported = BTreeMap::new();
    for ((_, module), source) in of_crate() {
        if is_root(module) {
            exported.extend(re_exports(&source.code));
        } else {
            imports.entry(module.to_owned()).or_default();
        }
    }
    for ((_, module), source) in of_crate().filter(|((_, module), _)| !is_root(module)) {
        let shipped = source
            .code
            .lines()
            .take(source.tests_from)
            .collect::<Vec<_>>()
            .join("\n");
        let named = named(&shipped).into_iter();
        let modules = named.map(|name| exported.get(&name).cloned().unwrap_or(name));
        let others: Vec<String> = modules
            .filter(|other| other != module && imports.contains_key(other))
            .collect();
        imports.entry(module.to_owned()).or_default().extend(others);
    }
    imports
}

/// The names that the crate's root re-exports, with the module of each.
fn re_exports(code: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for part in code.split("pub use ").skip(1) {
        let path = part.split(';').next().unwrap_or_default();
        let Some((module, names)) = path.split_once("::") else {
            continue;
        };
        for name in words(names) {
            found.push((name.to_owned(), module.trim().to_owned()));
        }
    }
    found
}

/// The names that follow `crate::`, alone or in a list.
fn named(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        let Some(list) = part.strip_prefix('{') else {
            found.extend(words(part).next().map(str::to_owned));
            continue;
        };
        let (mut depth, mut first) = (0, true);
        for token in tokens(list) {
            match token {
                "{" => depth += 1,
                "}" if depth == 0 => break,
                "}" => depth -= 1,
                "," if depth == 0 => first = true,
                word if first => {
                    found.insert(word.to_owned());
                    first = false;
                }
                _ => {}
            }
        }
    }
    found
}

/// The words of a text, and its braces and commas.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| matches!(c, '{' | '}' | ',');
    text.split_inclusive(is_mark).flat_map(move |part| {
        let (rest, mark) = match part.ends_with(is_mark) {
            true => part.split_at(part.len() - 1),
            false => (part, ""),
        };
        words(rest).chain((!mark.is_empty()).then_some(mark))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !joins(c))
        .filter(|word| !word.is_empty())
}

/// The sets of two or more modules that can all reach each other.
fn cycles(imports: &Imports) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<String>> = imports
        .keys()
        .map(|module| (module, reach(imports, module)))
        .collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (module, far) in &reached {
        let mutual = far.iter().filter(|other| reached[other].contains(*module));
        let cycle: BTreeSet<String> = mutual.cloned().collect();
        if cycle.len() > 1 && !found.contains(&cycle) {
            found.push(cycle);
        }
    }
    found
}

/// All modules that a module imports, directly or indirectly.
fn reach(imports: &Imports, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut left = vec![from];
    while let Some(module) = left.pop() {
        for next in imports.get(module).into_iter().flatten() {
            if reached.insert(next.clone()) {
                left.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new(path, text))
            .collect();
        let mut findings = Vec::new();
        check(&sources, &mut findings);
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_cycle_is_found_however_its_imports_are_written() {
        let files = [
            (
                "crates/new/src/lib.rs",
                "pub mod a;\npub use d::{End as Last, Other};\n",
            ),
            ("crates/new/src/a.rs", "use crate::b::{self, C};\n"),
            (
                "crates/new/src/b/deep.rs",
                "use crate::{unknown::{a, d}, c::X};\n",
            ),
            ("crates/new/src/c.rs", "fn f() -> crate::Other { todo() }\n"),
            ("crates/new/src/d.rs", "use crate::a;\n"),
            ("crates/new/src/e.rs", "use crate::a;\n"),
        ];
        let expected = "4 modules import each other, 3 may: a, b, c, d";
        assert_eq!(found(&files), [expected]);
        // A cycle of three is allowed.
        assert_eq!(found(&[&files[..3], &files[4..]].concat()), [""; 0]);
    }

    #[test]
    fn comments_tests_and_other_crates_make_no_cycle() {
        let files = [
            ("crates/new/src/a.rs", "use crate::b::X;\n"),
            ("crates/new/src/b.rs", "use crate::c::X;\n"),
            ("crates/new/src/c.rs", "use crate::d::X;\n"),
            (
                "crates/new/src/d.rs",
                "/// As [`crate::a`].\nfn f() {}\n#[cfg(test)]\nmod tests {\n use crate::a;\n}\n",
            ),
            ("crates/new/src/d/tests.rs", "use crate::a;\n"),
            ("crates/new/src/d_tests.rs", "use crate::a;\n"),
            ("crates/other/src/d.rs", "use crate::a;\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn an_allowance_that_is_larger_than_the_cycle_is_found() {
        let files = [
            ("crates/symbols/src/a.rs", "use crate::b::X;\n"),
            ("crates/symbols/src/b.rs", "use crate::a::X;\n"),
        ];
        let expected = "the largest cycle has 2 modules, 4 are allowed in xtask: lower the limit";
        assert_eq!(found(&files), [expected]);
    }
}
