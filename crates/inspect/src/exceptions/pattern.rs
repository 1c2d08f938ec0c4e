//! Selects exceptions: by names with `*` and `?`, as in `std::out_of_range, my::*, !my::Retry`, and by a condition, as in
//! `my::Error if retries > 3`.

use crate::eval::Parsed;
use dapple_symbols::functions::Language;
use wildmatch::WildMatch;

/// A list of patterns, optionally with a condition. An empty list matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patterns {
    wanted: Vec<String>,
    unwanted: Vec<String>,
    expression: Option<String>,
    /// Only `choices` can make an exception match; `wanted` doesn't.
    only_choices: bool,
    choices: Vec<Choice>,
}

/// Includes or excludes some exceptions, whatever the list of patterns and earlier choices say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Patterns of their names. An empty list matches all exceptions.
    pub names: Vec<String>,
    /// Selects the exceptions that none of `names` matches instead. Has no effect if `names` is empty.
    pub others: bool,
    /// Whether the exceptions are included.
    pub included: bool,
}

impl Patterns {
    /// Patterns that match only what [`Patterns::choosing`] adds.
    pub fn nothing() -> Patterns {
        Patterns {
            only_choices: true,
            ..Patterns::default()
        }
    }

    /// Adds choices. For each exception, the last choice that selects it decides.
    #[must_use]
    pub fn choosing(mut self, choices: impl IntoIterator<Item = Choice>) -> Patterns {
        self.choices.extend(choices);
        self
    }

    /// Parses patterns separated by commas. A `!` excludes what the pattern matches. After `if` follows a condition, which is evaluated in
    /// the innermost frame with the user's source.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Patterns, String> {
        let mut patterns = Patterns::default();
        let (list, expression) = cut(text);
        if let Some(expression) = expression {
            let cpp = Parsed::new(expression, Language::Cpp);
            if let (Err(error), Err(_)) = (cpp, Parsed::new(expression, Language::Rust)) {
                return Err(format!("`{expression}`: {error}"));
            }
            patterns.expression = Some(expression.to_owned());
        }
        for part in split(list)? {
            let (list, pattern) = match part.strip_prefix('!') {
                Some(rest) => (&mut patterns.unwanted, rest.trim()),
                None => (&mut patterns.wanted, part),
            };
            if pattern.is_empty() {
                return Err(format!("there is an empty pattern in `{text}`"));
            }
            list.push(pattern.to_owned());
        }
        Ok(patterns)
    }

    /// The condition, if there is one.
    pub fn expression(&self) -> Option<&str> {
        self.expression.as_deref()
    }

    /// Whether an exception is selected, without its condition. `is` says whether a pattern matches the exception.
    pub fn selects(&self, is: impl Fn(&str) -> bool) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| is(pattern));
        for choice in self.choices.iter().rev() {
            if choice.names.is_empty() || any(&choice.names) != choice.others {
                return choice.included;
            }
        }
        let wanted = self.wanted.is_empty() || any(&self.wanted);
        !self.only_choices && wanted && !any(&self.unwanted)
    }
}

/// Splits a text into the patterns and the condition after `if`.
fn cut(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    if let Some(expression) = text.strip_prefix("if ") {
        return ("", Some(expression.trim()));
    }
    match text.split_once(" if ") {
        Some((list, expression)) => (list, Some(expression.trim())),
        None => (text, None),
    }
}

/// Splits at commas outside brackets.
fn split(text: &str) -> Result<Vec<&str>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(format!("a bracket is not closed in `{text}`"));
    }
    parts.push(text[start..].trim());
    Ok(parts)
}

/// Whether `text` matches a pattern with `*` (any text) and `?` (any character).
pub fn matches(pattern: &str, text: &str) -> bool {
    WildMatch::new(pattern).matches(text)
}

/// Whether a pattern matches a type: its full name, or the end of its path.
pub fn means_type(pattern: &str, name: &str) -> bool {
    let arguments = name.find(['<', '(']).unwrap_or(name.len());
    let path = &name[..arguments];
    let ends = path
        .match_indices("::")
        .map(|(at, colons)| at + colons.len());
    matches(pattern, name) || ends.into_iter().any(|end| matches(pattern, &name[end..]))
}

/// Whether a pattern matches a text: all of it if the pattern has wildcards, else any part of it.
pub fn means_text(pattern: &str, text: &str) -> bool {
    match pattern.contains(['*', '?']) {
        true => matches(pattern, text),
        false => text.contains(pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text) in [
            ("std::*", "std::out_of_range"),
            ("*range*", "std::out_of_range"),
            ("a*b*c", "aXbYbZc"),
            ("?bc", "abc"),
            ("*", ""),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("std::*", "my::std::x"),
            ("a*b", "abc"),
            ("?", ""),
            ("abc", "ab"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_type_is_meant_by_the_end_of_its_path_but_not_of_its_name() {
        assert!(means_type("out_of_range", "std::out_of_range"));
        assert!(!means_type("range", "std::out_of_range"));
        assert!(means_type("std::out_of_range", "std::out_of_range"));
        assert!(means_type("out_of_*", "std::out_of_range"));
        assert!(means_type("Box<a::B>", "my::Box<a::B>") && !means_type("B>", "my::Box<a::B>"));
    }

    #[test]
    fn lists_have_exceptions() {
        let patterns = Patterns::parse("std::*, pair<int, int>, !std::bad_alloc").expect("valid");
        let means = |name: &str| patterns.selects(|pattern| means_type(pattern, name));
        assert!(means("std::logic_error") && means("pair<int, int>"));
        assert!(!means("std::bad_alloc") && !means("my::Error"));
        let all_but = Patterns::parse("!Retry").expect("valid");
        assert!(all_but.selects(|pattern| means_type(pattern, "Other")));
        assert!(!all_but.selects(|pattern| means_type(pattern, "my::Retry")));
        let with = Patterns::parse("my::* if a > 3").expect("valid");
        assert_eq!(with.expression(), Some("a > 3"));
        let only = Patterns::parse("if a == 2").expect("valid");
        assert!(only.selects(|_| false) && only.expression().is_some());
        let choice = |names: &[&str], others: bool, included: bool| Choice {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            others,
            included,
        };
        let chosen = Patterns::nothing().choosing([
            choice(&["std::*"], false, true),
            choice(&["bad_alloc", "logic_error"], false, false),
            choice(&["std::bad_alloc"], false, true),
        ]);
        let means = |name: &str| chosen.selects(|pattern| means_type(pattern, name));
        assert!(means("std::bad_alloc") && means("std::range_error"));
        assert!(!means("std::logic_error") && !means("my::Error"));
        let others = Patterns::nothing().choosing([choice(&["my::*"], true, true)]);
        let means = |name: &str| others.selects(|pattern| means_type(pattern, name));
        assert!(means("std::bad_alloc") && !means("my::Error"));
        for wrong in ["my::* if a >", "a,,b", "pair<int", "!", ","] {
            assert!(Patterns::parse(wrong).is_err(), "{wrong}");
        }
    }
}
