//! The children of a value, by position, with expressions that evaluate to them.

use super::entries::{Entries, Entry};
use super::render::ALIASES;
use super::view::{ALL, Field, Limit, Record, View};
use super::{Contents, NamedValue, Reader, Value, cpp, names, rust};
use crate::eval::ANONYMOUS_NAMESPACE;
use crate::natvis::{Elements, Parts, Presented};
use dapple_symbols::functions::Language;
use std::borrow::Cow;
use std::ops::Range;

/// The most children that one request makes.
const MAX_CHILDREN: u64 = 10_000;

/// A container has at most this many named children.
const FEW: u64 = 8;

/// The name of the child that shows a library's type with its actual fields.
pub const RAW: &str = "[raw]";

impl Reader<'_> {
    /// Children by position: named ones first (0..named), then indexed ones (named..named+indexed). `range` is clamped to those that exist.
    /// `expression` gives the parent; the children's expressions are made from it.
    pub fn children(
        &self,
        value: &Value,
        expression: Option<&str>,
        range: Range<u64>,
    ) -> Vec<NamedValue> {
        self.known.presentation().begin_value();
        let end = range.end.min(range.start.saturating_add(MAX_CHILDREN));
        // A container's entries come after its named children, so the position of an entry among the children is larger than its index, by
        // a few.
        let most = Limit {
            entries: ALL.entries.saturating_add(FEW as usize),
            ..ALL
        };
        let limit = most.page(range.start.saturating_sub(FEW), end);
        let (value, view, extras) = self.seen_through(value, limit);
        if let View::Presented(presented) = view {
            return self.presented_children(&value, *presented, most, range.start..end);
        }
        let mut named = self.named_children(&value, &view, expression);
        if !extras.is_empty() {
            named.retain(|child| child.name != RAW);
            named.extend(extras);
        }
        let (_, indexed) = self.count(&view);
        let element = |index: u64| self.indexed_child(&value, &view, expression, index);
        page(named, indexed, element, range.start..end)
    }

    /// The children of a value with a natvis presentation.
    fn presented_children(
        &self,
        value: &Value,
        mut presented: Presented,
        most: Limit,
        range: Range<u64>,
    ) -> Vec<NamedValue> {
        let named_of = |parts: &Parts| parts.fields.len() as u64 + u64::from(parts.raw);
        let mut parts = self.parts(&presented);
        let count = named_of(&parts);
        if count > FEW {
            presented.limit = most.page(range.start.saturating_sub(count), range.end);
            parts = self.parts(&presented);
        }
        let child = |name: String, value: Value| NamedValue {
            name,
            value,
            expression: None,
            kind: None,
        };
        let fields = std::mem::take(&mut parts.fields).into_iter();
        let mut named: Vec<NamedValue> =
            fields.map(|field| child(field.name, field.value)).collect();
        named.extend(parts.raw.then(|| raw(value)));
        let element = |index: u64| {
            let (group, index) = parts.group_of(index)?;
            let label = || group.index(index);
            let (name, value) = match &group.elements {
                Elements::Together(sequence) => (label(), sequence.at(index)),
                Elements::Apart(entries) => self.entry(entries, index, value, &label)?,
            };
            Some(child(format!("[{name}]"), value))
        };
        page(named, parts.elements(), element, range)
    }

    /// As [`Reader::view`]. A natvis presentation that consists of elements is shown as the elements.
    pub(crate) fn contents_view(&self, value: &Value, limit: Limit) -> View {
        let view = self.view(value, limit);
        let View::Presented(presented) = &view else {
            return view;
        };
        let mut parts = match presented.text {
            None => self.parts(presented),
            Some(_) => return view,
        };
        match (parts.fields.is_empty(), parts.groups.pop()) {
            (true, Some(group)) if parts.groups.is_empty() => match group.elements {
                Elements::Together(sequence) => View::Sequence(sequence),
                Elements::Apart(entries) => View::Entries(entries),
            },
            _ => view,
        }
    }

    /// An element of a value with a natvis presentation, if the view's limit includes it.
    pub(crate) fn element_of(&self, presented: &Presented, index: u64) -> Option<Value> {
        let parts = self.parts(presented);
        let (group, index) = parts.group_of(index)?;
        match &group.elements {
            Elements::Together(sequence) => Some(sequence.at(index)),
            Elements::Apart(entries) => entries.at(index).map(|entry| entry.value.clone()),
        }
    }

    /// The label and value of an element that isn't contiguous with others. If it can't be read, the reason is in place of the value.
    fn entry(
        &self,
        entries: &Entries,
        index: u64,
        value: &Value,
        label: &dyn Fn() -> String,
    ) -> Option<(String, Value)> {
        match (entries.at(index), &entries.broken) {
            (Some(Entry { key, value }), _) => {
                let name = key.as_ref().map(|key| self.label(key));
                Some((name.unwrap_or_else(label), value.clone()))
            }
            (None, Some(reason)) => {
                let reason = Contents::Unavailable(reason.clone());
                Some((label(), value.sibling(None, reason)))
            }
            (None, None) => None,
        }
    }

    /// Follows references and other aliases to the value whose children are shown; expressions follow them too. Returns that value, its
    /// view, and the additional children of the first value on the way that has such children.
    pub(super) fn seen_through<'v>(
        &self,
        value: &'v Value,
        limit: Limit,
    ) -> (Cow<'v, Value>, View, Vec<NamedValue>) {
        let mut value = Cow::Borrowed(value);
        let mut view = self.view(&value, limit);
        let mut extras = self.extras(&value, &view);
        for _ in 0..ALIASES {
            let View::Alias(target) = view else {
                break;
            };
            view = self.view(&target, limit);
            value = Cow::Owned(target);
            if extras.is_empty() {
                extras = self.extras(&value, &view);
            }
        }
        (value, view, extras)
    }

    /// Children that a value has in addition to those of its view.
    pub(super) fn extras(&self, value: &Value, view: &View) -> Vec<NamedValue> {
        let is_other = matches!(
            view,
            View::Alias(_) | View::Pointer { .. } | View::Leaf(_) | View::Missing(_)
        );
        if is_other && cpp::has_fields(self, value) {
            return vec![raw(value)];
        }
        let extras = rust::extras(self, value);
        match extras.is_empty() && is_other && rust::is_seen_through(self, value) {
            true => vec![raw(value)],
            false => extras,
        }
    }

    fn named_children(
        &self,
        value: &Value,
        view: &View,
        expression: Option<&str>,
    ) -> Vec<NamedValue> {
        let fields = |value: &Value, record: &Record, expression: Option<&str>, access: &str| {
            let fields = record.fields.iter();
            let mut children: Vec<NamedValue> = fields
                .map(|field| field_child(field, record, expression, access))
                .collect();
            let prefix = expression
                .filter(|_| record.reachable)
                .map(|e| format!("{}{access}", operand(e)));
            children.extend(self.static_children(value, record, prefix.as_deref()));
            children.extend(record.raw.then(|| raw(value)));
            children
        };
        match view {
            View::Leaf(_) | View::Missing(_) | View::Alias(_) => Vec::new(),
            View::Sequence(sequence) if !sequence.container => Vec::new(),
            View::Text { .. } | View::Broken(_) | View::Sequence(_) | View::Entries(_) => {
                vec![raw(value)]
            }
            View::Record(record) => fields(value, record, expression, "."),
            // Made by `presented_children`.
            View::Presented(_) => Vec::new(),
            View::Pointer { address: 0, .. } | View::Pointer { target: None, .. } => Vec::new(),
            View::Pointer {
                target: Some(target),
                ..
            } => match self.pointee_record(target) {
                Some(record) if value.language == Language::Rust => {
                    let expression = expression.map(|e| format!("(*{})", operand(e)));
                    fields(target, &record, expression.as_deref(), ".")
                }
                Some(record) => fields(target, &record, expression, "->"),
                None if self.is_readable_value(target) => vec![NamedValue {
                    name: "*".to_owned(),
                    value: target.clone(),
                    expression: expression.map(|e| format!("*{}", operand(e))),
                    kind: None,
                }],
                None => Vec::new(),
            },
        }
    }

    fn indexed_child(
        &self,
        value: &Value,
        view: &View,
        expression: Option<&str>,
        index: u64,
    ) -> Option<NamedValue> {
        match view {
            View::Sequence(sequence) => Some(NamedValue {
                name: format!("[{index}]"),
                value: sequence.at(index),
                expression: expression.map(|e| format!("{}[{index}]", operand(e))),
                kind: None,
            }),
            View::Entries(entries) => {
                let (name, subscript, value) = match (entries.at(index), &entries.broken) {
                    (Some(Entry { key, value: entry }), _) => {
                        let name = key.as_ref().map(|key| self.label(key));
                        let subscript = match &name {
                            Some(key) if is_literal(key) && !self.repeats_keys(value) => {
                                Some(key.clone())
                            }
                            Some(_) => None,
                            None => Some(index.to_string()),
                        };
                        (name, subscript, entry.clone())
                    }
                    (None, Some(reason)) => {
                        let reason = Contents::Unavailable(reason.clone());
                        (None, None, value.sibling(None, reason))
                    }
                    (None, None) => return None,
                };
                let expression = expression.zip(subscript);
                Some(NamedValue {
                    name: format!("[{}]", name.unwrap_or_else(|| index.to_string())),
                    value,
                    expression: expression.map(|(e, at)| format!("{}[{at}]", operand(e))),
                    kind: None,
                })
            }
            _ => None,
        }
    }
}

impl Reader<'_> {
    /// Whether a container's keys may repeat, so that a key doesn't identify an entry.
    fn repeats_keys(&self, container: &Value) -> bool {
        let type_ = self.resolve(container).map(|resolved| resolved.type_);
        type_.is_none_or(|type_| names::base_name(&type_.name).contains("multi"))
    }
}

/// The children at a range of positions. First come the `named` ones, then `indexed` ones, each of which `element` makes from its index.
fn page(
    named: Vec<NamedValue>,
    indexed: u64,
    element: impl Fn(u64) -> Option<NamedValue>,
    range: Range<u64>,
) -> Vec<NamedValue> {
    let count = named.len() as u64;
    let end = range.end.min(count.saturating_add(indexed));
    let elements = range.start.max(count)..end;
    let named = (0..count).zip(named);
    named
        .filter(|(position, _)| (range.start..end).contains(position))
        .map(|(_, child)| child)
        .chain(elements.filter_map(|position| element(position - count)))
        .collect()
}

fn field_child(
    field: &Field,
    record: &Record,
    expression: Option<&str>,
    access: &str,
) -> NamedValue {
    let expression = expression.filter(|_| record.reachable);
    let expression = match field.base {
        false => expression
            .filter(|_| is_name(&field.name))
            .map(|e| format!("{}{access}{}", operand(e), field.name)),
        true => expression.and_then(|e| part_of_object(e, field, access)),
    };
    NamedValue {
        name: field.name.clone(),
        value: field.value.clone(),
        expression,
        kind: None,
    }
}

/// The expression for a base of an object, or for `[Derived]`, the object that contains the base: in both cases a cast of `expression`.
fn part_of_object(expression: &str, field: &Field, access: &str) -> Option<String> {
    let is_class = |name: &str| {
        let name = name.replace(ANONYMOUS_NAMESPACE, "unnamed");
        !name.is_empty() && !name.contains(['{', '(', '['].as_slice())
    };
    let whole = field
        .name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    match (whole, access) {
        (Some(class), "->") if is_class(class) => {
            Some(format!("(*dynamic_cast<{class} *>({expression}))"))
        }
        (Some(class), _) if is_class(class) => Some(format!(
            "(*dynamic_cast<{class} *>(&{}))",
            operand(expression)
        )),
        (None, "->") if is_class(&field.name) => Some(format!(
            "static_cast<{} &>(*{})",
            field.name,
            operand(expression)
        )),
        (None, _) if is_class(&field.name) => {
            Some(format!("static_cast<{} &>({expression})", field.name))
        }
        _ => None,
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

/// Whether a key's text is a literal: a number, or a text that isn't cut.
fn is_literal(key: &str) -> bool {
    let is_text = key.len() > 1 && key.starts_with('"') && key.ends_with('"');
    is_text && !key.contains('…') || key.parse::<i128>().is_ok()
}

/// Whether an expression can name a field by this name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// `expression`, in parentheses if a postfix operator after it would otherwise apply to only a part of it.
fn operand(expression: &str) -> String {
    let is_plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '[' | ']' | '(' | ')' | '$' | '#')
    };
    let plain = expression
        .replace("->", ".")
        .replace(ANONYMOUS_NAMESPACE, "unnamed");
    let is_simple = plain.chars().all(is_plain)
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
