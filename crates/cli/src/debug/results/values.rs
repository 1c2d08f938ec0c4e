//! Values and their parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::{is_false, is_zero};
use crate::debug::render::assignment;
use crate::debug::style::{Role, Style};
use crate::debug::styled::Styled;
use crate::debug::value_tree::heading_of;

/// The most lines of a value that is shown with its parts.
pub const LINES: usize = 300;
/// The most characters of a value in one line.
const LONGEST: usize = 200;
/// The most bytes of a value's text in an object.
const LONGEST_TEXT: usize = 4096;

/// A value.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Value {
    /// Its name, or the expression.
    pub name: String,
    /// The value as the adapter shows it. That of a large value is only the beginning, or names its type: see its parts.
    pub value: String,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The expression that stands for it, if it can be evaluated again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Its parts, if they are shown: fields, elements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Value>,
    /// How many more parts it has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_parts: usize,
    /// Whether it has parts, shown or not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_parts: bool,
    /// By what `parts` shows its parts, until the program runs on.
    #[serde(default, skip_serializing_if = "is_no_reference")]
    pub reference: i64,
    /// Whether `value` doesn't say all, and its parts aren't shown either.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut: bool,
    /// The command that shows the rest, where something is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// Whether it is the value as the type has it inside, behind a summary.
    #[serde(default, skip_serializing_if = "is_false")]
    pub raw: bool,
    /// The text for a terminal, with colours.
    #[serde(skip)]
    pub shown: Styled,
    /// What stands for the text where the parts are shown below.
    #[serde(skip)]
    pub heading: Styled,
}

fn is_no_reference(reference: &i64) -> bool {
    *reference == 0
}

/// Values that belong together.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Values {
    /// What they are: `locals`, `arguments`, `registers`.
    pub what: String,
    /// They.
    pub values: Vec<Value>,
}

/// What a function has returned.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Returned {
    /// The value.
    pub value: Value,
}

impl Returned {
    /// `returned name = value`.
    pub fn text(&self, style: Style) -> String {
        format!("returned {}", self.value.line(style))
    }
}

/// A value that is shown at each stop.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Display {
    /// The number of the display.
    pub number: u32,
    /// The value.
    pub value: Value,
}

impl Display {
    /// `2: name = value`.
    pub fn text(&self, style: Style) -> String {
        let number = style.paint(Role::Aside, &format!("{}: ", self.number));
        number + &self.value.text(style)
    }
}

impl Value {
    /// A value by its text, without parts.
    pub fn of(name: &str, shown: Styled) -> Value {
        Value {
            name: name.to_owned(),
            value: shown.text(),
            shown,
            ..Value::default()
        }
    }

    /// Cuts the text, if it is too long for an object, and says how the rest is got. `elements`: how many of the parts are elements of a list, the
    /// first of which is at index 0.
    pub fn bounded(mut self, elements: usize) -> Value {
        let is_elided = is_elided(&self.value);
        if self.value.len() > LONGEST_TEXT {
            let is_boundary = |at: &usize| self.value.is_char_boundary(*at);
            let end = (0..=LONGEST_TEXT).rfind(is_boundary).unwrap_or(0);
            self.value.truncate(end);
            self.cut = true;
        }
        let is_text = self.value.ends_with('…') || self.value.ends_with("...");
        self.cut |= is_elided && (is_text || self.parts.is_empty());
        // What has a format or a number of elements of its own can't be taken further.
        let base = self.expression.as_deref();
        let Some(base) = base.filter(|base| !base.contains(['@', ',', '/'])) else {
            return self;
        };
        self.rest = if self.cut && (is_text || !self.has_parts) {
            Some(format!("p -full {base}"))
        } else if self.more_parts > 0 && elements > 0 {
            let is_name = |c: char| c.is_alphanumeric() || "_.:[]".contains(c);
            let base = match base.chars().all(is_name) {
                true => base.to_owned(),
                false => format!("({base})"),
            };
            Some(format!("p {base}[{elements}]@{}", self.more_parts))
        } else if self.has_parts && (self.cut || self.value.is_empty()) {
            Some(format!("p {base}"))
        } else {
            None
        };
        self
    }

    /// `name = value`, with its parts below if they are shown.
    pub fn text(&self, style: Style) -> String {
        let mut lines = Vec::new();
        self.push(style, 0, &mut lines);
        if lines.len() > LINES {
            lines.truncate(LINES);
            lines.push(style.paint(Role::Aside, "  … and more; print a part of it"));
        }
        lines.join("\n")
    }

    /// The text for a terminal. A value that was read from a record has none of its own.
    fn shown(&self) -> Styled {
        match self.shown == Styled::default() {
            true => Styled::plain(&self.value),
            false => self.shown.clone(),
        }
    }

    /// What stands for the text above the parts.
    fn heading(&self) -> Styled {
        match self.heading == Styled::default() {
            true => heading_of(&self.shown()),
            false => self.heading.clone(),
        }
    }

    /// `name = value` on one line, which is cut if it is too long.
    pub fn line(&self, style: Style) -> String {
        let shown = self.shown();
        match shown.text().chars().count() {
            0 if self.has_parts => assignment(&self.name, &Styled::plain("{…}"), style),
            0..=LONGEST => assignment(&self.name, &shown, style),
            _ => assignment(&self.name, &shown.first(LONGEST), style) + "…",
        }
    }

    fn push(&self, style: Style, depth: usize, lines: &mut Vec<String>) {
        if lines.len() > LINES {
            return;
        }
        let indent = "  ".repeat(depth);
        if self.raw {
            let plain = Value {
                shown: Styled::plain(&self.shown().text()),
                ..self.clone()
            };
            let text = plain.line(style);
            lines.push(style.paint(Role::Aside, &format!("{indent}{text}")));
            return;
        }
        if self.parts.is_empty() {
            lines.push(indent + &self.line(style));
            return;
        }
        lines.push(format!(
            "{indent}{}",
            assignment(&self.name, &self.heading(), style)
        ));
        // A type's internal layout comes last.
        let (raw, plain): (Vec<&Value>, Vec<&Value>) = self.parts.iter().partition(|part| part.raw);
        for part in plain {
            part.push(style, depth + 1, lines);
        }
        if self.more_parts > 0 {
            let more = format!("{indent}  … {} more", self.more_parts);
            lines.push(style.paint(Role::Aside, &more));
        }
        for part in raw {
            part.push(style, depth + 1, lines);
        }
    }
}

/// Whether an adapter's text says that something is left out, elsewhere than in a text of the program's.
fn is_elided(text: &str) -> bool {
    let (mut quoted, mut is_escaped, mut dots) = (None, false, 0);
    for c in text.chars() {
        match quoted {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(quote) if c == quote => quoted = None,
            Some(_) => {}
            None if c == '"' => quoted = Some(c),
            None => {
                dots = if c == '.' { dots + 1 } else { 0 };
                if c == '…' || dots == 3 {
                    return true;
                }
            }
        }
    }
    false
}

impl Values {
    /// A line for each, or more where the parts are shown.
    pub fn text(&self, style: Style) -> String {
        if self.values.is_empty() {
            return format!("there are no {} here", self.what);
        }
        let lines: Vec<String> = self.values.iter().map(|value| value.text(style)).collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_told_from_dots_in_a_text() {
        for elided in [
            "len = 9 [0, 0, …]",
            "\"xx\"...",
            "\"a\\\"b\"…",
            "{...}",
            "Order { id: 1, … }",
        ] {
            assert!(is_elided(elided), "{elided}");
        }
        for whole in ["\"loading...\"", "\"a…\"", "1.5", "0..2", "Point { x: 1 }"] {
            assert!(!is_elided(whole), "{whole}");
        }
    }

    #[test]
    fn the_rest_is_a_command_that_works() {
        let value = |expression: &str, text: &str| Value {
            expression: Some(expression.to_owned()),
            has_parts: true,
            more_parts: 36,
            ..Value::of("name", Styled::plain(text))
        };
        let rest = |value: Value, elements| value.bounded(elements).rest;
        assert_eq!(
            rest(value("many", "[0, 0]"), 64).as_deref(),
            Some("p many[64]@36")
        );
        assert_eq!(
            rest(value("*p", "[0, 0]"), 64).as_deref(),
            Some("p (*p)[64]@36")
        );
        assert_eq!(rest(value("many[64]@100", "[0, 0]"), 64), None);
        assert_eq!(
            rest(value("map", "len = 100 {…}"), 0).as_deref(),
            Some("p map")
        );
        assert_eq!(
            rest(value("text", "\"xxx\"…"), 64).as_deref(),
            Some("p -full text")
        );
        let unnamed = Value {
            expression: None,
            ..value("", "[0, …]")
        };
        assert_eq!(rest(unnamed, 2), None);
    }
}
