//! Shows values with parts: on one line if the adapter's one-line text is short and complete, otherwise as a tree.
//!
//! The tree is bounded in depth, children and lines, whatever the debuggee contains, and says what it leaves out.

use dapple_dap::types::{
    EvaluateResponse, SetExpressionResponse, Variable, VariablesArguments,
    VariablesArgumentsFilter, VariablesRequest,
};

use dapple_adapter::styling;

use super::render::assignment;
use super::session::Session;
use super::style::Role;
use super::styled::Styled;

/// The widest line, in characters, before a value is shown as a tree.
const WIDTH: usize = 90;
/// The deepest level of the tree.
const DEPTH: usize = 4;
/// How many parts of one value are shown, besides the `[raw]` one.
const CHILDREN: usize = 64;
/// The most lines of a tree.
const LINES: usize = 300;
/// The customary name of the part that shows a value without its visualizer.
const RAW: &str = "[raw]";

/// A value as the adapter gave it.
#[derive(Debug, Clone)]
pub struct Value {
    /// The value in one line.
    text: String,
    /// Whether the text may contain colours, which the protocol allows in a variable's value, but not in an evaluation's result.
    may_be_styled: bool,
    /// The `variablesReference` of its parts; 0 if it has none.
    pub reference: i64,
    /// How many named and how many indexed parts it has. `None` if the adapter doesn't report the number of indexed parts.
    counts: Option<(i64, i64)>,
}

impl Value {
    fn new(text: &str, reference: i64, named: Option<i64>, indexed: Option<i64>) -> Value {
        Value {
            text: text.to_owned(),
            may_be_styled: false,
            reference,
            counts: indexed.map(|indexed| (named.unwrap_or(0), indexed)),
        }
    }
}

impl From<&Variable> for Value {
    fn from(it: &Variable) -> Self {
        let (named, indexed) = (it.named_variables, it.indexed_variables);
        let value = Value::new(&it.value, it.variables_reference, named, indexed);
        Value {
            may_be_styled: true,
            ..value
        }
    }
}

impl From<&EvaluateResponse> for Value {
    fn from(it: &EvaluateResponse) -> Self {
        let (named, indexed) = (it.named_variables, it.indexed_variables);
        Value::new(&it.result, it.variables_reference, named, indexed)
    }
}

impl From<&SetExpressionResponse> for Value {
    fn from(it: &SetExpressionResponse) -> Self {
        let (named, indexed) = (it.named_variables, it.indexed_variables);
        let reference = it.variables_reference.unwrap_or(0);
        Value::new(&it.value, reference, named, indexed)
    }
}

/// `name = value`, as a tree if the one-line text is too long or not complete.
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

/// `name = value` on one line, which is cut if it is too long.
pub fn line(session: &Session, name: &str, value: &Value) -> String {
    cut_line(session, name, &shown(session, value), value.reference)
}

fn cut_line(session: &Session, name: &str, shown: &Styled, reference: i64) -> String {
    const LONGEST: usize = 200;
    let style = session.screen.style;
    match shown.text().chars().count() {
        0 if reference > 0 => assignment(name, &Styled::plain("{…}"), style),
        0..=LONGEST => assignment(name, shown, style),
        _ => assignment(name, &shown.first(LONGEST), style) + "…",
    }
}

/// A value's text. It has the adapter's colours where the adapter was asked for them, else the client's own. It is plain if colours are off.
fn shown(session: &Session, value: &Value) -> Styled {
    if value.may_be_styled && session.takes_styling() {
        return Styled::of(&value.text);
    }
    if session.screen.style.is_enabled() {
        return Styled::of(&styling::value(&value.text));
    }
    Styled::plain(&value.text)
}

fn push(session: &Session, name: &str, value: &Value, depth: usize, lines: &mut Vec<String>) {
    if lines.len() > LINES {
        return;
    }
    let indent = "  ".repeat(depth);
    let style = session.screen.style;
    let all = shown(session, value);
    let text = all.text();
    let fits = indent.len() + name.chars().count() + 3 + text.chars().count() <= WIDTH;
    let whole = || cut_line(session, name, &all, value.reference);
    if value.reference <= 0 || depth >= DEPTH || (fits && is_complete(&text)) {
        lines.push(indent + &whole());
        return;
    }
    let (parts, count) = parts(session, value);
    if parts.iter().all(|part| part.name == RAW) {
        lines.push(indent + &whole());
        return;
    }
    let heading = match heading(&text) {
        Ok(length) => all.first(length),
        Err(elided) => Styled::plain(elided),
    };
    lines.push(format!("{indent}{}", assignment(name, &heading, style)));
    // The `[raw]` part, a type's internal layout, comes last, and only as one line.
    let (raw, plain): (Vec<&Variable>, Vec<&Variable>) =
        parts.iter().partition(|part| part.name == RAW);
    for part in plain.iter().take(CHILDREN) {
        push(session, &part.name, &Value::from(*part), depth + 1, lines);
    }
    let left = count.saturating_sub(raw.len() + plain.len().min(CHILDREN));
    if left > 0 {
        lines.push(style.paint(Role::Aside, &format!("{indent}  … {left} more")));
    }
    for part in raw {
        let text = shown(session, &Value::from(part)).text();
        let (plain, reference) = (Styled::plain(&text), part.variables_reference);
        let text = cut_line(session, &part.name, &plain, reference);
        lines.push(style.paint(Role::Aside, &format!("{indent}  {text}")));
    }
}

/// The parts of a value, and the number of all its parts. Of many indexed parts, only the first [`CHILDREN`] are requested. If a request
/// fails, its parts are missing.
fn parts(session: &Session, value: &Value) -> (Vec<Variable>, usize) {
    let ask = |arguments| {
        let answer = session.request::<VariablesRequest>(arguments);
        answer.map_or_else(|_| Vec::new(), |answer| answer.variables)
    };
    let all = VariablesArguments::new(value.reference);
    match value.counts {
        Some((named, indexed)) if indexed > CHILDREN as i64 => {
            let of = |filter| all.clone().with_filter(filter);
            let mut parts = match named {
                0 => Vec::new(),
                _ => ask(of(VariablesArgumentsFilter::Named)),
            };
            let page = of(VariablesArgumentsFilter::Indexed).with_start(0);
            parts.extend(ask(page.with_count(CHILDREN as i64)));
            let count = named.saturating_add(indexed);
            (parts, usize::try_from(count).unwrap_or(usize::MAX))
        }
        _ => {
            let parts = ask(all);
            let count = parts.len();
            (parts, count)
        }
    }
}

/// Whether a one-line text appears to be complete. A bare type name, an address or a `{…}` is not.
fn is_complete(text: &str) -> bool {
    let elided = text.contains('…') || text.contains("...");
    let has_contents = text.contains(['{', '[', '(', '"', '\'']) || text.parse::<f64>().is_ok();
    !elided && has_contents && !text.contains('\n')
}

/// How many characters precede the parts: `Order` of `Order { customer: …`, `len = 2` of `len = 2 [`. If the text begins with the parts,
/// the error is the heading to show instead.
fn heading(text: &str) -> Result<usize, &'static str> {
    let bracket = text.find(['{', '[', '(']);
    // Only a bracket before the first quote can begin the parts. A later one is in a quoted string, or in what describes the string.
    let quote = text.find('"');
    let end = bracket.filter(|at| quote.is_none_or(|quote| *at < quote));
    let end = end.unwrap_or(text.len());
    let head = text[..end].trim_end();
    match text.chars().next() {
        Some('[') if head.is_empty() => Err("[…]"),
        Some('{') if head.is_empty() => Err("{…}"),
        Some('(') if head.is_empty() => Err("(…)"),
        _ => Ok(head.chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_summary_is_complete() {
        assert!(is_complete("Point { x: 1, y: 2 }"));
        assert!(is_complete("len = 2 [1, 2]"));
        assert!(!is_complete("Order { customer: \"Ada\", … }"));
        assert!(!is_complete("tour::Order"));
        assert!(!is_complete("0x7ffe0010"));
    }

    #[test]
    fn a_heading_leaves_the_parts_out() {
        assert_eq!(
            heading("Örder { customer: \"Ada\" }"),
            Ok("Örder".chars().count())
        );
        assert_eq!(heading("len = 2 [1, 2]"), Ok("len = 2".len()));
        assert_eq!(heading("{1, 2}"), Err("{…}"));
        assert_eq!(heading("tour::Order"), Ok("tour::Order".len()));
    }
}
