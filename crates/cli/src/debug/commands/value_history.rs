//! Values that were printed (`$`, `$$`, `$1`), and variables of the user's own (`$name`), for use in later expressions.
//!
//! An adapter knows neither. So their names are replaced by the values: numbers, texts and pointers. Another value can only be shown again.

use std::collections::BTreeMap;

use anyhow::{Context, bail};

use super::expression_text::unquoted;

/// How many values `show values` lists.
const LISTED: usize = 10;
/// Values of several languages that are words.
const WORDS: &[&str] = &[
    "true",
    "false",
    "True",
    "False",
    "None",
    "null",
    "nil",
    "undefined",
];

/// A value, as the adapter showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Its text.
    pub text: String,
    /// Its type, if the adapter gave it.
    pub type_name: Option<String>,
}

impl Remembered {
    /// How it is written in an expression.
    fn in_expression(&self) -> Option<String> {
        let text = self.text.trim();
        let is_quoted = |quote: char| {
            let inner = text
                .strip_prefix(quote)
                .and_then(|it| it.strip_suffix(quote));
            inner.is_some_and(|inner| !inner.is_empty() && !text.contains('…'))
        };
        if WORDS.contains(&text) || is_quoted('"') || is_quoted('\'') {
            return Some(text.to_owned());
        }
        let word = text.split_whitespace().next()?;
        let digits = word.strip_prefix('-').unwrap_or(word);
        let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
            && digits
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
        if !is_number {
            return None;
        }
        let type_name = self.type_name.as_deref().unwrap_or_default().trim();
        if type_name.ends_with('*') {
            return Some(format!("(({type_name}){word})"));
        }
        let pointer = match type_name.strip_prefix('&') {
            Some(target) => Some(format!("*const {}", target.trim_start_matches("mut "))),
            None if type_name.starts_with("*const ") || type_name.starts_with("*mut ") => {
                Some(type_name.to_owned())
            }
            None => None,
        };
        match pointer {
            Some(pointer) if word.starts_with("0x") => Some(format!("({word} as {pointer})")),
            _ => Some(format!("({word})")),
        }
    }
}

/// The values that were printed, and the user's own variables.
#[derive(Debug, Default)]
pub struct Values {
    history: Vec<Remembered>,
    variables: BTreeMap<String, Remembered>,
}

impl Values {
    /// Keeps a value that was printed.
    pub fn remember(&mut self, text: &str, type_name: Option<&str>) {
        if !text.is_empty() {
            self.history.push(Remembered {
                text: text.to_owned(),
                type_name: type_name.map(str::to_owned),
            });
        }
    }

    /// Sets a variable of the user's own; its name is without the `$`.
    pub fn set(&mut self, name: &str, value: Remembered) {
        self.variables.insert(name.to_owned(), value);
    }

    /// Whether there is a variable of this name.
    pub fn has(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// The value that a whole expression names. `None` if it is something else.
    ///
    /// # Errors
    /// No value has that number.
    pub fn named(&self, expression: &str) -> anyhow::Result<Option<&Remembered>> {
        match expression.strip_prefix('$') {
            Some(rest) if name_in(rest) == Some(rest) => self.value(rest),
            _ => Ok(None),
        }
    }

    /// The value that a name behind a `$` stands for. `None` if the name isn't known here.
    fn value(&self, name: &str) -> anyhow::Result<Option<&Remembered>> {
        let count = self.history.len();
        // Numbers from 1 on.
        let number = match name.strip_prefix('$') {
            _ if name.is_empty() => count,
            Some("") => count.saturating_sub(1),
            Some(back) => count.saturating_sub(back.parse().unwrap_or(usize::MAX)),
            None if name.starts_with(|first: char| first.is_ascii_digit()) => {
                name.parse().unwrap_or(usize::MAX)
            }
            None => return Ok(self.variables.get(name)),
        };
        let found = number
            .checked_sub(1)
            .and_then(|index| self.history.get(index));
        match found {
            Some(value) => Ok(Some(value)),
            None if count == 0 => bail!("there is no value `${name}`: none has been printed yet"),
            None => bail!("there is no value `${name}`; the last is `${count}`"),
        }
    }

    /// An expression in which the names of values are replaced. Those that aren't known here, such as registers, stay; so does what is in
    /// quotes.
    ///
    /// # Errors
    /// No value has that number, or it can't be written in an expression.
    pub fn expanded(&self, expression: &str) -> anyhow::Result<String> {
        let mut expanded = String::with_capacity(expression.len());
        let mut copied = 0;
        for (at, ..) in unquoted(expression).filter(|(_, c, _)| *c == '$') {
            // JavaScript has it inside of names, too.
            let is_inside = expression[..at].ends_with(|c| c == '$' || is_of_name(c));
            let Some(name) = name_in(&expression[at + 1..]).filter(|_| !is_inside) else {
                continue;
            };
            let Some(value) = self.value(name)? else {
                continue;
            };
            let text = value.in_expression().with_context(|| {
                format!(
                    "`${name}` is {}: only numbers, texts and pointers can be used in an expression",
                    value.text
                )
            })?;
            expanded += &expression[copied..at];
            expanded += &text;
            copied = at + 1 + name.len();
        }
        expanded += &expression[copied..];
        Ok(expanded)
    }

    /// The last values that were printed, for `show values`.
    pub fn listed(&self) -> Vec<String> {
        let skipped = self.history.len().saturating_sub(LISTED);
        let numbered = (1..).zip(&self.history).skip(skipped);
        let line = |(number, value): (usize, &Remembered)| format!("${number} = {}", value.text);
        numbered.map(line).collect()
    }

    /// The user's own variables, for `show convenience`.
    pub fn listed_variables(&self) -> Vec<String> {
        let line = |(name, value): (&String, &Remembered)| format!("${name} = {}", value.text);
        self.variables.iter().map(line).collect()
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name at the start of what is behind a `$`: nothing, `$` with or without digits, digits, or an identifier. `None` if it means something in the
/// program's language: `${` in texts, `$(` and `$$name`.
fn name_in(text: &str) -> Option<&str> {
    let word = |text: &str| text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    let (start, end) = match text.strip_prefix('$') {
        Some(rest) => (1, 1 + word(rest)),
        None => (0, word(text)),
    };
    let (name, after) = text.split_at(end);
    let digits = &name[start..];
    let is_number = digits.chars().all(|c| c.is_ascii_digit());
    let is_identifier = start == 0 && !digits.starts_with(|c: char| c.is_ascii_digit());
    let is_foreign = digits.is_empty() && after.starts_with(['{', '(']);
    ((is_number || is_identifier) && !is_foreign).then_some(name)
}

/// The name of a variable of the user's own, if that is all that a place is.
pub fn variable_name(place: &str) -> Option<&str> {
    let name = place.strip_prefix('$')?;
    let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    (is_name && name_in(name) == Some(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        let mut values = Values::default();
        values.remember("3", Some("int"));
        values.remember("0x10 \"text\"", Some("char *"));
        values.remember("{a = 1}", Some("struct s"));
        values.remember("-7", None);
        let (text, type_name) = ("0x20 5".to_owned(), Some("&mut u32".to_owned()));
        values.set("it", Remembered { text, type_name });
        values
    }

    #[test]
    fn names_of_values_are_replaced() {
        let values = values();
        let expanded = |text: &str| values.expanded(text).map_err(|error| error.to_string());
        for (text, expected) in [
            ("$1 + $", "(3) + (-7)"),
            ("$$3*2", "(3)*2"),
            ("$2[1]", "((char *)0x10)[1]"),
            ("*$it", "*(0x20 as *const u32)"),
            ("$rax + \"$1 \\\"$\" + '$'", "$rax + \"$1 \\\"$\" + '$'"),
            ("x as &'a T + $1", "x as &'a T + (3)"),
            // Of other languages.
            ("`${a}$b` + $$c + a$1", "`${a}$b` + $$c + a$1"),
            ("$('p') + $1", "$('p') + (3)"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(expected));
        }
        let error = expanded("$$ + 1").unwrap_err();
        assert!(
            error.starts_with("`$$` is {a = 1}: only numbers"),
            "{error}"
        );
        assert_eq!(
            expanded("$9").unwrap_err(),
            "there is no value `$9`; the last is `$4`"
        );
        let none = Values::default().expanded("$").unwrap_err();
        assert!(none.to_string().ends_with("none has been printed yet"));
    }

    #[test]
    fn a_whole_expression_may_be_a_value() {
        let values = values();
        assert_eq!(values.named("$3").unwrap().unwrap().text, "{a = 1}");
        assert_eq!(values.named("$$").unwrap().unwrap().text, "{a = 1}");
        assert_eq!(values.named("$3.a").unwrap(), None);
        assert_eq!(values.named("$rip").unwrap(), None);
        assert_eq!(variable_name("$i"), Some("i"));
        assert_eq!(variable_name("$1"), None);
        assert_eq!(variable_name("$i.x"), None);
    }
}
