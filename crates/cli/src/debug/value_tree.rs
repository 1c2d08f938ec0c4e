//! Values that have parts: on one line where that says it all, opened up as a tree where it does not.
//!
//! The adapter's one-line text is taken if it is short and whole. Opening is bounded in depth, in children and in lines,
//! whatever the debuggee holds; what is left out says so.

use dapple_dap::types::{Variable, VariablesArguments, VariablesRequest};

use super::render::assignment;
use super::screen::printable;
use super::session::Session;
use super::style::Role;

/// How wide a line may be before the value is opened up.
const WIDTH: usize = 90;
/// How deep a value is opened.
const DEPTH: usize = 4;
/// How many parts of one value are shown.
const CHILDREN: usize = 64;
/// How many lines a value may take in all.
const LINES: usize = 300;

/// A value as the adapter gave it.
#[derive(Debug, Clone)]
pub struct Value {
    /// It in one line.
    pub text: String,
    /// Where to ask for its parts; 0 if it has none.
    pub reference: i64,
}

impl From<&Variable> for Value {
    fn from(variable: &Variable) -> Self {
        Self {
            text: variable.value.clone(),
            reference: variable.variables_reference,
        }
    }
}

/// `name = value`, opened up where the line does not say it all.
pub fn open(session: &Session, name: &str, value: &Value) -> String {
    let mut lines = Vec::new();
    push(session, name, value, 0, &mut lines);
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push(
            session
                .screen
                .style
                .paint(Role::Aside, "  … and more; print a part of it"),
        );
    }
    lines.join("\n")
}

/// `name = value` on one line, cut off where it gets too long.
pub fn line(session: &Session, name: &str, value: &Value) -> String {
    let text = printable(&value.text).replace('\n', " ");
    let mut text = if text.is_empty() && value.reference > 0 {
        "{…}".to_owned()
    } else {
        text
    };
    const LONGEST: usize = 200;
    if let Some((cut, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(cut);
        text.push('…');
    }
    assignment(name, &text, session.screen.style)
}

fn push(session: &Session, name: &str, value: &Value, depth: usize, lines: &mut Vec<String>) {
    if lines.len() > LINES {
        return;
    }
    let indent = "  ".repeat(depth);
    let style = session.screen.style;
    let fits = indent.len() + name.chars().count() + 3 + value.text.chars().count() <= WIDTH;
    if value.reference <= 0 || depth >= DEPTH || (fits && says_it_all(&value.text)) {
        lines.push(indent + &line(session, name, value));
        return;
    }
    let parts = session.request::<VariablesRequest>(VariablesArguments::new(value.reference));
    let parts = match parts {
        Ok(answer) if !answer.variables.is_empty() => answer.variables,
        _ => {
            lines.push(indent + &line(session, name, value));
            return;
        }
    };
    lines.push(format!(
        "{indent}{}",
        assignment(name, &heading(&value.text), style)
    ));
    for part in parts.iter().take(CHILDREN) {
        push(session, &part.name, &Value::from(part), depth + 1, lines);
    }
    if parts.len() > CHILDREN {
        lines.push(style.paint(
            Role::Aside,
            &format!("{indent}  … {} more", parts.len() - CHILDREN),
        ));
    }
}

/// Whether a one-line text leaves nothing out. A bare type name, an address or a `{…}` does.
fn says_it_all(text: &str) -> bool {
    let elided = text.contains('…') || text.contains("...");
    let has_contents = text.contains(['{', '[', '(', '"', '\'']) || text.parse::<f64>().is_ok();
    !elided && has_contents && !text.contains('\n')
}

/// What stands before the parts, without the parts themselves: `Order` of `Order { customer: …`, `len = 2` of `len = 2 [`.
fn heading(text: &str) -> String {
    let end = text.find(['{', '[', '(']).unwrap_or(text.len());
    let head = text[..end].trim_end();
    let kept = match text.chars().next() {
        Some('[') if head.is_empty() => "[…]",
        Some('{') if head.is_empty() => "{…}",
        Some('(') if head.is_empty() => "(…)",
        _ => head,
    };
    printable(kept).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_summary_says_it_all() {
        assert!(says_it_all("Point { x: 1, y: 2 }"));
        assert!(says_it_all("len = 2 [1, 2]"));
        assert!(!says_it_all("Order { customer: \"Ada\", … }"));
        assert!(!says_it_all("tour::Order"));
        assert!(!says_it_all("0x7ffe0010"));
    }

    #[test]
    fn a_heading_leaves_the_parts_out() {
        assert_eq!(heading("Order { customer: \"Ada\" }"), "Order");
        assert_eq!(heading("len = 2 [1, 2]"), "len = 2");
        assert_eq!(heading("{1, 2}"), "{…}");
        assert_eq!(heading("tour::Order"), "tour::Order");
    }
}
