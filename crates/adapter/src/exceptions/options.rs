//! `exceptionOptions`: break modes for parts of the tree of exceptions.
//!
//! The first segment of a path is a category. The other segments name exceptions in it: C++ types, panic messages, kinds of sanitizer
//! reports, signals. If several options apply to an exception, the last one wins.

use dapple_dap::types::{ExceptionBreakMode, ExceptionOptions, ExceptionPathSegment};
use dapple_engine::exceptions::{Choice, Patterns};
use dapple_engine::signals::{self, SignalTable, When};

/// The most names that a path may expand to.
const MOST_NAMES: usize = 1_000;

/// The categories, which are the roots of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// C++ exceptions, by their types.
    Cpp,
    /// Rust panics, by their messages and places.
    Rust,
    /// Sanitizer reports, by their kinds and texts.
    Sanitizers,
    /// Signals, by their names.
    Signals,
}

impl Category {
    const ALL: [(Category, &'static str); 4] = [
        (Category::Cpp, "C++"),
        (Category::Rust, "Rust"),
        (Category::Sanitizers, "Sanitizers"),
        (Category::Signals, "Signals"),
    ];

    /// The category with this name, which may have a word behind it: `C++`, `C++ Exceptions`, `Rust Panics`.
    fn named(name: &str) -> Option<Category> {
        let first = name.split_whitespace().next()?;
        let mut all = Category::ALL.into_iter();
        let same = |known: &str| first.eq_ignore_ascii_case(known);
        all.find(|(category, known)| same(known) || (*category == Category::Cpp && same("cpp")))
            .map(|(category, _)| category)
    }
}

/// What one option says about one category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    category: Category,
    /// The names; an empty list means the whole category.
    names: Vec<String>,
    /// Whether the rule applies to all but these names.
    others: bool,
    mode: ExceptionBreakMode,
}

/// Reads an option.
///
/// # Errors
/// A message about an invalid path.
pub fn read(options: &ExceptionOptions) -> Result<Vec<Rule>, String> {
    let path = options.path.as_deref().unwrap_or_default();
    let categories = match path.first() {
        None => Category::ALL.map(|(category, _)| category).to_vec(),
        Some(first) => categories(first)?,
    };
    let names = path.get(1..).unwrap_or_default();
    let others = names.last().is_some_and(|last| last.negate == Some(true));
    let mut rules = Vec::new();
    for category in categories {
        let names = joined(names, category)?;
        if category == Category::Signals {
            for name in &names {
                signals::number(name)?;
            }
        }
        rules.push(Rule {
            category,
            names,
            others,
            mode: options.break_mode.clone(),
        });
    }
    Ok(rules)
}

fn categories(first: &ExceptionPathSegment) -> Result<Vec<Category>, String> {
    let mut named = Vec::new();
    for name in &first.names {
        named.push(Category::named(name).ok_or_else(|| {
            let known = Category::ALL.map(|(_, name)| name).join(", ");
            format!("`{name}` is no category of exceptions; a path begins with one of: {known}")
        })?);
    }
    let all = Category::ALL.into_iter().map(|(category, _)| category);
    let is_negated = first.negate == Some(true);
    Ok(all
        .filter(|category| named.contains(category) != is_negated)
        .collect())
}

/// The names that the segments after the category make: `std`, `out_of_range` make `std::out_of_range`. An empty list stands for the
/// whole category.
fn joined(steps: &[ExceptionPathSegment], category: Category) -> Result<Vec<String>, String> {
    let Some((last, before)) = steps.split_last() else {
        return Ok(Vec::new());
    };
    if !before.is_empty() && category != Category::Cpp {
        return Err("only names of C++ types have more than one step behind the category".into());
    }
    if before.iter().any(|step| step.negate == Some(true)) {
        return Err("only the last step of a path can be negated".into());
    }
    if last.names.is_empty() && last.negate == Some(true) {
        return Ok(Vec::new());
    }
    let mut names = vec![String::new()];
    for step in steps {
        if step.names.is_empty() || step.names.iter().any(|name| name.trim().is_empty()) {
            return Err("a step of a path has no name".into());
        }
        let longer = names.iter().flat_map(|name| {
            step.names.iter().map(move |next| match name.as_str() {
                "" => next.trim().to_owned(),
                name => format!("{name}::{}", next.trim()),
            })
        });
        names = longer.take(MOST_NAMES + 1).collect();
        if names.len() > MOST_NAMES {
            return Err(format!("a path may stand for {MOST_NAMES} names at most"));
        }
    }
    Ok(names)
}

/// A filter's patterns, with the rules about its category applied. `means` are the break modes that enable the filter. `None`: the
/// filter is off, and no rule enables it.
pub fn with_rules(
    filter: Option<Patterns>,
    rules: &[Rule],
    category: Category,
    means: &[ExceptionBreakMode],
) -> Option<Patterns> {
    let about = rules.iter().filter(|rule| rule.category == category);
    let choices: Vec<Choice> = about
        .map(|rule| Choice {
            names: rule.names.clone(),
            others: rule.others,
            included: means.contains(&rule.mode),
        })
        .collect();
    if filter.is_none() && !choices.iter().any(|choice| choice.included) {
        return None;
    }
    Some(filter.unwrap_or_else(Patterns::nothing).choosing(choices))
}

/// Applies the rules about signals to a table.
pub fn change_signals(table: &mut SignalTable, rules: &[Rule]) {
    for rule in rules
        .iter()
        .filter(|rule| rule.category == Category::Signals)
    {
        let when = match rule.mode {
            ExceptionBreakMode::Always => When::Always,
            ExceptionBreakMode::Never => When::Never,
            _ => When::Fatal,
        };
        if rule.names.is_empty() && when == When::Always {
            table.stop_at_most();
            continue;
        }
        let named: Vec<i32> = rule
            .names
            .iter()
            .flat_map(|name| signals::number(name))
            .collect();
        let is_meant = |signal: &i32| named.is_empty() || named.contains(signal) != rule.others;
        for signal in signals::all().filter(is_meant) {
            table.stop(signal, when);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(path: &[(&[&str], bool)], mode: ExceptionBreakMode) -> ExceptionOptions {
        let steps = path.iter().map(|(names, negate)| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            ExceptionPathSegment::new(names).with_negate(*negate)
        });
        ExceptionOptions::new(mode).with_path(steps.collect())
    }

    #[test]
    fn a_path_names_categories_and_what_is_in_them() {
        let of = |path: &[(&[&str], bool)]| {
            let rules = read(&option(path, ExceptionBreakMode::Always)).expect("valid");
            let shown = rules
                .into_iter()
                .map(|rule| (rule.category, rule.names, rule.others));
            shown.collect::<Vec<_>>()
        };
        let none = Vec::<String>::new;
        assert_eq!(of(&[]).len(), 4);
        assert_eq!(
            of(&[(&["c++ Exceptions"], false)]),
            [(Category::Cpp, none(), false)]
        );
        assert_eq!(
            of(&[(&["Signals", "Rust", "sanitizers"], true)]),
            [(Category::Cpp, none(), false)]
        );
        let names = vec!["std::a".to_owned(), "std::b".to_owned()];
        assert_eq!(
            of(&[(&["cpp"], false), (&["std"], false), (&["a", "b"], true)]),
            [(Category::Cpp, names, true)]
        );
    }

    #[test]
    fn what_is_wrong_with_a_path_is_said() {
        let many: Vec<&str> = vec!["a"; 40];
        for (path, part) in [
            (vec![(&["Java"][..], false)], "`Java` is no category"),
            (
                vec![(&["Signals"][..], false), (&["SIGFOO"], false)],
                "SIGFOO",
            ),
            (
                vec![(&["Rust"][..], false), (&["a"], false), (&["b"], false)],
                "more than one step",
            ),
            (
                vec![(&["C++"][..], false), (&["a"], true), (&["b"], false)],
                "negated",
            ),
            (vec![(&["C++"][..], false), (&[], false)], "no name"),
            (
                vec![(&["C++"][..], false), (&many, false), (&many, false)],
                "1000 names",
            ),
        ] {
            let error = read(&option(&path, ExceptionBreakMode::Always)).expect_err("refused");
            assert!(error.contains(part), "{error}");
        }
    }
}
