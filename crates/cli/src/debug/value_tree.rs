//! Shows values with parts: on one line if the adapter's one-line text is short and complete, otherwise as a tree.
//!
//! The tree is bounded in depth, children and lines, whatever the debuggee contains, and says what it leaves out.

use dapple_dap::types::{
    EvaluateResponse, SetExpressionResponse, SetVariableResponse, Variable, VariablesArguments,
    VariablesArgumentsFilter, VariablesRequest,
};

use dapple_adapter::styling;

use super::results;
use super::session::Session;
use super::styled::Styled;

/// The widest line, in characters, before a value is shown as a tree.
const WIDTH: usize = 90;
/// The deepest level of the tree.
const DEPTH: usize = 4;
/// How many parts of one value are shown, besides the `[raw]` one.
const CHILDREN: usize = 64;
/// The most lines of a value that is shown with its parts, and one more, by which it is known that there are others.
const LINES: usize = results::LINES + 1;
/// The customary name of the part that shows a value without its visualizer.
pub const RAW: &str = "[raw]";

/// A value as the adapter gave it.
#[derive(Debug, Clone)]
pub struct Value {
    /// The value in one line.
    text: String,
    /// Whether the text may contain colours, which the protocol allows in a variable's value, but not in an evaluation's result.
    may_be_styled: bool,
    /// The `variablesReference` of its parts; 0 if it has none.
    pub reference: i64,
    /// Its type.
    type_name: Option<String>,
    /// The expression that stands for it.
    expression: Option<String>,
    /// How many named and how many indexed parts it has. `None` if the adapter doesn't report the number of indexed parts.
    counts: Option<(i64, i64)>,
}

impl Value {
    /// The same, as what an expression stands for.
    pub fn of_expression(self, expression: &str) -> Value {
        let expression = Some(expression.to_owned());
        Value { expression, ..self }
    }

    fn new(text: &str, reference: i64, named: Option<i64>, indexed: Option<i64>) -> Value {
        Value {
            text: text.to_owned(),
            may_be_styled: false,
            reference,
            type_name: None,
            expression: None,
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
            type_name: it.r#type.clone(),
            expression: it.evaluate_name.clone(),
            ..value
        }
    }
}

impl From<&EvaluateResponse> for Value {
    fn from(it: &EvaluateResponse) -> Self {
        let (named, indexed) = (it.named_variables, it.indexed_variables);
        let value = Value::new(&it.result, it.variables_reference, named, indexed);
        Value {
            type_name: it.r#type.clone(),
            ..value
        }
    }
}

impl From<&SetVariableResponse> for Value {
    fn from(it: &SetVariableResponse) -> Self {
        let (named, indexed) = (it.named_variables, it.indexed_variables);
        let reference = it.variables_reference.unwrap_or(0);
        let value = Value::new(&it.value, reference, named, indexed);
        Value {
            type_name: it.r#type.clone(),
            ..value
        }
    }
}

impl From<&SetExpressionResponse> for Value {
    fn from(it: &SetExpressionResponse) -> Self {
        let (named, indexed) = (it.named_variables, it.indexed_variables);
        let reference = it.variables_reference.unwrap_or(0);
        let value = Value::new(&it.value, reference, named, indexed);
        Value {
            type_name: it.r#type.clone(),
            ..value
        }
    }
}

/// A value, with its parts if the one-line text is too long or not complete.
pub fn open(session: &Session, name: &str, value: &Value) -> results::Value {
    let mut left = LINES;
    let built = build(session, name, value, 0, &mut left);
    built.unwrap_or_else(|| line(session, name, value))
}

/// A value without its parts.
pub fn line(session: &Session, name: &str, value: &Value) -> results::Value {
    unopened(session, name, value).bounded(0)
}

fn unopened(session: &Session, name: &str, value: &Value) -> results::Value {
    let mut shown = results::Value::of(name, shown(session, value));
    shown.has_parts = value.reference > 0;
    shown.reference = value.reference.max(0);
    shown.r#type.clone_from(&value.type_name);
    shown.expression.clone_from(&value.expression);
    shown
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

/// A value, with its parts where these are to be shown. `left`: how many lines there may be yet; `None`: none.
fn build(
    session: &Session,
    name: &str,
    value: &Value,
    depth: usize,
    left: &mut usize,
) -> Option<results::Value> {
    *left = left.checked_sub(1)?;
    let whole = unopened(session, name, value);
    let text = whole.shown.text();
    let fits = 2 * depth + name.chars().count() + 3 + text.chars().count() <= WIDTH;
    let is_leaf = value.reference <= 0 || depth >= DEPTH;
    if is_leaf || (fits && is_complete(&text)) {
        return Some(whole.bounded(0));
    }
    let (parts, count) = parts(session, value);
    if parts.iter().all(|part| part.name == RAW) {
        return Some(whole.bounded(0));
    }
    let heading = heading_of(&whole.shown);
    // The `[raw]` part, a type's internal layout, is only one line.
    let (raw, plain): (Vec<&Variable>, Vec<&Variable>) =
        parts.iter().partition(|part| part.name == RAW);
    let mut shown: Vec<results::Value> = { plain.iter().take(CHILDREN) }
        .map_while(|part| build(session, &part.name, &Value::from(*part), depth + 1, left))
        .collect();
    let named = value
        .counts
        .map_or(shown.len(), |(named, _)| named as usize);
    let elements = shown.len().saturating_sub(named);
    let more_parts = count.saturating_sub(raw.len() + shown.len());
    shown.extend(raw.iter().map(|part| results::Value {
        raw: true,
        ..line(session, &part.name, &Value::from(*part))
    }));
    let whole = results::Value {
        heading,
        parts: shown,
        more_parts,
        ..whole
    };
    Some(whole.bounded(elements))
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

/// What is shown of a value whose parts are below.
pub fn heading_of(shown: &Styled) -> Styled {
    match heading(&shown.text()) {
        Ok(length) => shown.first(length),
        Err(elided) => Styled::plain(elided),
    }
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
