//! Compares the values of an optimized program with those of the same program without optimization.

use std::collections::BTreeMap;

/// Reasons why a value that the program no longer needs is missing.
const REASONS: [&str; 3] = [
    "<optimized out>",
    "<not in scope here>",
    "<points to something that has no address>",
];

/// Counts of the comparisons.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Variables that are shown completely, with their children.
    pub same: usize,
    /// Variables that are missing, completely or in parts.
    pub missing: usize,
    /// Variables that the optimized program's debug information doesn't name.
    pub unnamed: usize,
    /// All other variables.
    pub wrong: Vec<String>,
}

/// A line of a listing, with its indented lines.
struct Shown<'a> {
    name: &'a str,
    text: &'a str,
    below: Vec<Shown<'a>>,
}

/// Parses a listing by its indentation.
fn tree<'a>(lines: &mut std::iter::Peekable<std::str::Lines<'a>>, level: usize) -> Vec<Shown<'a>> {
    let mut all = Vec::new();
    let indent = |line: &str| (line.len() - line.trim_start_matches(' ').len()) / 2;
    while let Some(line) = lines.next_if(|line| indent(line) >= level) {
        let line = line.trim_start_matches(' ');
        let (name, text) = line.split_once(": ").unwrap_or((line, ""));
        all.push(Shown {
            name,
            text,
            below: tree(lines, level + 1),
        });
    }
    all
}

/// By name and, among equal names, by position.
fn by_name<'t, 'a>(all: &'t [Shown<'a>]) -> BTreeMap<(&'a str, usize), &'t Shown<'a>> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut named = BTreeMap::new();
    for one in all {
        let nth = seen.entry(one.name).or_default();
        named.insert((one.name, *nth), one);
        *nth += 1;
    }
    named
}

/// Whether there is only a reason instead of a value. The compiler may have changed the type of an omitted value, too.
fn is_gone(shown: &Shown<'_>) -> bool {
    let value = shown.text.split_once(" = ").map(|(_, value)| value);
    value.is_some_and(|value| REASONS.contains(&value))
}

/// Whether two texts are the same except for reasons in place of some parts.
fn is_but_for_reasons(text: &str, whole: &str) -> bool {
    let found = |text: &str| {
        let places = REASONS
            .iter()
            .map(|reason| (text.find(reason), reason.len()));
        places.filter_map(|(at, length)| Some((at?, length))).min()
    };
    let Some((at, length)) = found(text) else {
        return text == whole;
    };
    let (before, after) = (&text[..at], &text[at + length..]);
    let Some(rest) = whole.strip_prefix(before) else {
        return false;
    };
    (0..=rest.len()).any(|skipped| {
        rest.get(skipped..)
            .is_some_and(|rest| is_but_for_reasons(after, rest))
    })
}

/// Whether a value is complete. `None` if it is wrong.
fn is_whole(shown: &Shown<'_>, expected: &Shown<'_>) -> Option<bool> {
    let mut whole = shown.text == expected.text;
    if !whole && is_gone(shown) {
        return Some(false);
    }
    if !is_but_for_reasons(shown.text, expected.text) {
        return None;
    }
    let (below, wanted) = (by_name(&shown.below), by_name(&expected.below));
    for (name, expected) in &wanted {
        match below.get(name) {
            Some(shown) => whole &= is_whole(shown, expected)?,
            // A missing value has no children.
            None if shown.text == expected.text => return None,
            None => whole = false,
        }
    }
    below
        .keys()
        .all(|name| wanted.contains_key(name))
        .then_some(whole)
}

/// Compares the variables of one listing with those of another.
pub fn compare(optimised: &str, expected: &str, comparison: &mut Comparison) {
    let shown = tree(&mut optimised.lines().peekable(), 0);
    let wanted = tree(&mut expected.lines().peekable(), 0);
    let (shown, wanted) = (by_name(&shown), by_name(&wanted));
    for (name, one) in &shown {
        let expected = wanted.get(name);
        match expected.and_then(|expected| is_whole(one, expected)) {
            Some(true) => comparison.same += 1,
            Some(false) => comparison.missing += 1,
            None => {
                let instead = expected.map_or("nothing", |expected| expected.text);
                let text = format!("{}: {}, instead of {instead}", one.name, one.text);
                comparison.wrong.push(text);
            }
        }
    }
    comparison.unnamed += wanted
        .keys()
        .filter(|name| !shown.contains_key(*name))
        .count();
}
