//! The children of a value, by position, and the expressions that give them again.

use super::entries::Entry;
use super::render::ALIASES;
use super::view::{ALL, Record, View};
use super::{Contents, NamedValue, Reader, Value};
use dapple_symbols::functions::Language;
use std::ops::Range;

/// The most children one call makes.
const MAX_CHILDREN: u64 = 10_000;

/// The name of the child that shows a library's type as it is laid out.
const RAW: &str = "[raw]";

impl Reader<'_> {
    /// Children by position: named first (0..named), then indexed (named..named+indexed). Clamped to what exists.
    /// `expression` is the parent's, from which the children's are made.
    pub fn children(
        &self,
        value: &Value,
        expression: Option<&str>,
        range: Range<u64>,
    ) -> Vec<NamedValue> {
        let mut value = value.clone();
        // What has entries has one named child, or none.
        let limit = ALL.page(range.start.saturating_sub(1), range.end);
        let mut view = self.view(&value, limit);
        // A reference's children are its target's, and so are the expressions: both languages see through it.
        for _ in 0..ALIASES {
            let View::Alias(target) = view else {
                break;
            };
            view = self.view(&target, limit);
            value = target;
        }
        let (named, indexed) = self.count(&view);
        let end = range.end.min(named.saturating_add(indexed));
        let end = end.min(range.start.saturating_add(MAX_CHILDREN));
        let is_rust = value.language == Language::Rust;
        let child = |position: u64| -> Option<NamedValue> {
            match &view {
                View::Leaf(_) | View::Alias(_) => None,
                View::Text { .. } | View::Broken(_) => Some(raw(&value)),
                View::Sequence(sequence) => {
                    if position < named {
                        return Some(raw(&value));
                    }
                    let index = position - named;
                    Some(NamedValue {
                        name: format!("[{index}]"),
                        value: sequence.at(index),
                        expression: expression.map(|e| format!("{}[{index}]", operand(e))),
                        kind: None,
                    })
                }
                View::Entries(entries) => {
                    if position < named {
                        return Some(raw(&value));
                    }
                    let index = position - named;
                    let (name, value) = match (entries.at(index), &entries.broken) {
                        (Some(Entry { key, value }), _) => {
                            let name = key.as_ref().map(|key| self.render(key).text);
                            (name, value.clone())
                        }
                        (None, Some(reason)) => {
                            let reason = Contents::Unavailable(reason.clone());
                            (None, value.sibling(None, reason))
                        }
                        (None, None) => return None,
                    };
                    Some(NamedValue {
                        name: format!("[{}]", name.unwrap_or_else(|| index.to_string())),
                        value,
                        expression: None,
                        kind: None,
                    })
                }
                View::Record(record) => self.field_child(&value, record, expression, ".", position),
                View::Pointer { target, .. } => {
                    let target = target.as_ref()?;
                    match self.pointee_record(target) {
                        Some(record) if is_rust => {
                            let expression = expression.map(|e| format!("(*{})", operand(e)));
                            self.field_child(target, &record, expression.as_deref(), ".", position)
                        }
                        Some(record) => {
                            self.field_child(target, &record, expression, "->", position)
                        }
                        None => Some(NamedValue {
                            name: "*".to_owned(),
                            value: target.clone(),
                            expression: expression.map(|e| format!("*{}", operand(e))),
                            kind: None,
                        }),
                    }
                }
            }
        };
        (range.start..end).filter_map(child).collect()
    }

    fn field_child(
        &self,
        value: &Value,
        record: &Record,
        expression: Option<&str>,
        access: &str,
        position: u64,
    ) -> Option<NamedValue> {
        let Some(field) = record.fields.get(usize::try_from(position).ok()?) else {
            return Some(raw(value));
        };
        let expression = expression
            .filter(|_| record.reachable && !field.base && is_name(&field.name))
            .map(|e| format!("{}{access}{}", operand(e), field.name));
        Some(NamedValue {
            name: field.name.clone(),
            value: field.value.clone(),
            expression,
            kind: None,
        })
    }
}

fn raw(value: &Value) -> NamedValue {
    let mut value = value.clone();
    value.raw = true;
    NamedValue {
        name: RAW.to_owned(),
        value,
        expression: None,
        kind: None,
    }
}

/// Whether an expression can name a field so.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// An expression in brackets where what is put behind it would bind tighter than itself.
fn operand(expression: &str) -> String {
    let is_plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '[' | ']' | '(' | ')' | '$' | '#')
    };
    let is_simple = expression.replace("->", ".").chars().all(is_plain)
        || (expression.starts_with('(')
            && expression.ends_with(')')
            && expression.matches('(').count() == 1);
    if is_simple {
        expression.to_owned()
    } else {
        format!("({expression})")
    }
}

#[cfg(test)]
mod tests {
    use super::operand;

    #[test]
    fn expressions_keep_their_meaning_as_operands() {
        assert_eq!(operand("p->next.items[3]"), "p->next.items[3]");
        assert_eq!(operand("*p"), "(*p)");
        assert_eq!(operand("(*p)"), "(*p)");
        assert_eq!(operand("a + b"), "(a + b)");
    }
}
